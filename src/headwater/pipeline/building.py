"""Definitions become values: each function is run twice against the offline session and must say the same.

A function that asks for a schema is answered by an oracle: from what the last run recorded, or by the engine.
Since that needs the views it reads, building is driven by demand; a view that is needed by itself is a cycle.
A fixpoint that asks about itself is told what it declares. Not here: the oracle.
"""

from __future__ import annotations

from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from pyspark.sql import DataFrame
from pyspark.sql.connect.proto import base_pb2
from pyspark.sql.pandas.types import to_arrow_schema

from headwater.errors import (
    Cycle,
    HeadwaterError,
    InvalidSetting,
    NotAFrame,
    NotInAView,
    RuntimeFailure,
    UnknownSetting,
    UsageError,
    ViewRaised,
)
from headwater.names import near_hint, same_name
from headwater.pipeline.canonical import PlanBytes, build_twice, bytes_of_plan, plan_bytes_of
from headwater.pipeline.ddl import parse_ddl
from headwater.pipeline.definition import (
    Definition,
    ExtractorDefinition,
    FunctionDefinition,
    PathDefinition,
    RowsDefinition,
    SqlDefinition,
)
from headwater.pipeline.extracting import FILE_COLUMNS, FILES, ROW_COLUMNS, extraction
from headwater.pipeline.loading import LoadedProject, user_origin
from headwater.pipeline.modules import Home, home_of
from headwater.pipeline.offline import open_offline, pickled_by_value, resume_offline
from headwater.pipeline.offline_mode import resumed_mode
from headwater.pipeline.placing import path_source
from headwater.pipeline.spec import Fixpoint, Pipeline, SourceSpec, ViewSpec
from headwater.pipeline.written import written_function, written_sql
from headwater.policies import WritePolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pyspark.sql.types import StructType

    from headwater.policies import ViewCachePolicy

_Built: TypeAlias = FunctionDefinition | SqlDefinition | RowsDefinition | ExtractorDefinition
_STARTS_FROM_NOTHING = "A source starts from nothing but spark; make it a view."


class SchemaOracle(Protocol):
    """Who is asked when a view wants to know a schema."""

    def names_in(self, sql: str, origin: str) -> tuple[str, ...]:
        """The tables a SQL text reads; `origin` is the name of the view or source that has the text."""
        ...

    def schema_of(self, relation: PlanBytes, reached: Mapping[str, ViewSpec | SourceSpec]) -> StructType:
        """The schema of a relation over the named views and sources, all that can be reached from it."""
        ...


def build_pipeline(
    loaded: LoadedProject, oracle: SchemaOracle, *, settings: Mapping[str, str] | None = None
) -> Pipeline:
    """The project as a value. The definitions must still be open.

    `settings` are the profile's Spark settings that results depend on; without them, those that the
    definitions were opened with.

    Raises:
        ViewRaised, NotAFrame, NotInAView, ViewNotReproducible: a function cannot become a value.
        Cycle: a view asks for a schema that needs the view itself.
        UnknownSetting, InvalidSetting: headwater.toml names what is not there, or says what does not go with
            a definition.
    """
    _check_names(loaded)
    building = _Building(loaded, oracle)
    session = loaded.session
    with pickled_by_value(loaded.modules) as add, resume_offline(session, building, settings):
        session.before_pickling = lambda: add(loaded.modules)
        specs = [building.spec(definition.name) for definition in loaded.definitions]
    return Pipeline(
        name=loaded.config.name,
        views=tuple(each for each in specs if isinstance(each, ViewSpec)),
        sources=tuple(each for each in specs if isinstance(each, SourceSpec)),
    )


def _check_names(loaded: LoadedProject) -> None:
    """What the project's file says of a name that nothing has would be ignored in silence."""
    sources = [each.name for each in loaded.definitions if isinstance(each, PathDefinition)]
    stored = [each.name for each in loaded.definitions if _is_stored(each)]
    _check_section(loaded, "locations", loaded.config.locations, sources, "source with a path")
    _check_section(loaded, "tables", loaded.config.tables, stored, "table that a build stores")
    passing = [each.name for each in loaded.definitions if _is_passing(each)]
    _check_section(loaded, "cache", loaded.config.cache, passing, "view that is not stored")
    in_sql = [
        each.name for each in loaded.definitions if isinstance(each, SqlDefinition) and _is_stored(each)
    ]
    _check_section(loaded, "fixpoints", loaded.config.fixpoints, in_sql, "table that a SQL file makes")


def _check_section(
    loaded: LoadedProject, section: str, names: Iterable[str], fitting: Iterable[str], what: str
) -> None:
    there = {same_name(each): each for each in fitting}
    defined = {same_name(each.name) for each in loaded.definitions}
    seen: dict[str, str] = {}
    for name in names:
        origin = loaded.config.origin_of(section, name)
        if same_name(name) not in there:
            near = "" if same_name(name) in defined else near_hint(name, there.values())
            hint = near or f"It names no {what}. "
            raise UnknownSetting(key=name, where=f"[{section}]", hint=hint, origin=origin)
        other = seen.setdefault(same_name(name), name)
        if other != name:
            raise InvalidSetting(
                key=name, value=f"beside '{other}'", expected=f"one table in [{section}]", origin=origin
            )


def _is_stored(definition: Definition) -> bool:
    if isinstance(definition, FunctionDefinition | SqlDefinition):
        return definition.kind == "table"
    return isinstance(definition, ExtractorDefinition)


def _is_passing(definition: Definition) -> bool:
    """Whether it is a view that is not stored."""
    return isinstance(definition, FunctionDefinition | SqlDefinition) and definition.kind == "view"


def _policies(loaded: LoadedProject) -> dict[str, WritePolicy]:
    """How each view is written, as its definition says, and before that, the project's file."""
    config = loaded.config
    said = {
        same_name(each.name): each.policy if not isinstance(each, SqlDefinition) else WritePolicy()
        for each in loaded.definitions
        if isinstance(each, FunctionDefinition | SqlDefinition | ExtractorDefinition)
    }
    for name, choices in config.tables.items():
        key = same_name(name)
        try:
            said[key] = said[key].overridden(choices)
        except InvalidSetting as error:
            error.origin = config.origin_of("tables", name, error.key if error.key in choices else "")
            error.expected += "; what the definition says counts, too"
            raise
    return said


def _fixpoints(loaded: LoadedProject) -> dict[str, Fixpoint]:
    """The tables that are made of themselves, as their definitions say, or the project's file."""
    said = {
        same_name(each.name): each.fixpoint
        for each in loaded.definitions
        if isinstance(each, FunctionDefinition) and each.fixpoint is not None
    }
    return said | {same_name(name): each for name, each in loaded.config.fixpoints.items()}


class _Building:
    """The state of one build: which specs are made, and which are being made right now."""

    def __init__(self, loaded: LoadedProject, oracle: SchemaOracle) -> None:
        self._config = loaded.config
        self._session = loaded.session
        self._definitions = {same_name(each.name): each for each in loaded.definitions}
        self._policies = _policies(loaded)
        said = loaded.config.cache.items()
        self._caches: dict[str, ViewCachePolicy] = {same_name(name): each for name, each in said}
        self._fixpoints = _fixpoints(loaded)
        self._oracle = oracle
        self._made: dict[str, ViewSpec | SourceSpec] = {}
        self._open: list[str] = []
        self._asking: set[str] = set()

    def spec(self, name: str) -> ViewSpec | SourceSpec:
        """The spec of a defined name, built now if it was not yet."""
        key = same_name(name)
        if key not in self._made:
            definition = self._definitions[key]
            if key in self._open and key in self._fixpoints:
                return self._itself(definition, self._fixpoints[key])
            if key in self._open:
                circle = [*self._open[self._open.index(key) :], key]
                path = " -> ".join(self._definitions[each].name for each in circle)
                raise Cycle(path=path, origin=definition.origin)
            self._open.append(key)
            try:
                self._made[key] = self._build(definition)
            finally:
                self._open.pop()
        return self._made[key]

    def schema_of(self, relation: bytes) -> StructType:
        """Answers the offline session; see SchemaSource."""
        plan = bytes_of_plan(base_pb2.Plan.FromString(relation))
        reached: dict[str, ViewSpec | SourceSpec] = {}
        asking = self._definitions[self._open[-1]].name if self._open else "a view"
        self._asking.update(self._open[-1:])
        waiting = [*plan.reads, *self._names_in(plan, asking)]
        while waiting:
            name = waiting.pop()
            if same_name(name) in reached or same_name(name) not in self._definitions:
                continue
            spec = self.spec(name)
            reached[same_name(name)] = spec
            if spec.plan is not None:
                waiting += self._reads(spec, spec.plan)
        return self._oracle.schema_of(plan, reached)

    def _reads(self, spec: ViewSpec | SourceSpec, plan: PlanBytes) -> list[str]:
        """What another view reads; an error in its text is its own, not that of the view that asks."""
        try:
            return [*plan.reads, *self._names_in(plan, spec.name)]
        except (UsageError, RuntimeFailure):
            raise
        except HeadwaterError as error:
            error.origin = error.origin or spec.origin
            raise

    def _names_in(self, plan: PlanBytes, owner: str) -> list[str]:
        return [name for sql in plan.sql for name in self._oracle.names_in(sql, owner)]

    def _build(self, definition: Definition) -> ViewSpec | SourceSpec:
        if isinstance(definition, PathDefinition):
            return path_source(definition, self._config)
        try:
            plan = self._plan(definition)
        except (UsageError, RuntimeFailure):
            raise  # the engine was asked and cannot be had: not the view's fault
        except HeadwaterError as error:
            error.origin = error.origin or user_origin(error, self._config.root) or definition.origin
            raise
        except (Exception, SystemExit) as error:
            origin = user_origin(error, self._config.root) or definition.origin
            detail = f"{type(error).__name__}: {error}"
            raise ViewRaised(view=definition.name, detail=detail, origin=origin) from error
        if isinstance(definition, RowsDefinition):
            return SourceSpec(name=definition.name, origin=definition.origin, kind="memory", plan=plan)
        if isinstance(definition, FunctionDefinition) and definition.kind == "source":
            if plan.reads:
                member = f"reading '{plan.reads[0]}' in the source '{definition.name}'"
                raise NotInAView(member=member, remedy=_STARTS_FROM_NOTHING, origin=definition.origin)
            return SourceSpec(name=definition.name, origin=definition.origin, kind="made", plan=plan)
        language = "sql" if isinstance(definition, SqlDefinition) else "python"
        return ViewSpec(
            name=definition.name,
            origin=definition.origin,
            language=language,
            stored=_is_stored(definition),
            plan=plan,
            policy=self._policies[same_name(definition.name)],
            cache=self._cache(definition),
            files=definition.files if isinstance(definition, ExtractorDefinition) else None,
            fixpoint=self._fixpoints.get(same_name(definition.name)),
            written=self._written(definition),
        )

    def _plan(self, definition: _Built) -> PlanBytes:
        """The plan of a definition; one of a package is tested there: built once, and without lines."""
        if home_of(getattr(getattr(definition, "function", None), "__module__", None)) is Home.INSTALLED:
            with resumed_mode(has_origins=False):
                return plan_bytes_of(self._frame(definition))
        return build_twice(lambda: self._frame(definition), definition.name)

    def _written(self, definition: Definition) -> str | None:
        if isinstance(definition, SqlDefinition):
            return written_sql(definition.text)
        if isinstance(definition, FunctionDefinition) and same_name(definition.name) in self._asking:
            return written_function(definition.function)
        return None

    def _cache(self, definition: Definition) -> ViewCachePolicy:
        """As the project's file says, and if it does not, the definition."""
        said = self._caches.get(same_name(definition.name))
        return said or (definition.cache if isinstance(definition, FunctionDefinition) else "none")

    def _itself(self, definition: Definition, fixpoint: Fixpoint) -> SourceSpec:
        """What a fixpoint is to itself while it is built: no rows of its columns."""
        plan = build_twice(lambda: self._session.createDataFrame([], fixpoint.columns), definition.name)
        return SourceSpec(name=definition.name, origin=definition.origin, kind="memory", plan=plan)

    def _frame(self, definition: _Built) -> DataFrame:
        match definition:
            case ExtractorDefinition():
                return self._extracted(definition)
            case SqlDefinition():
                return self._session.sql(definition.text)
            case RowsDefinition():
                return self._session.createDataFrame(list(definition.rows), definition.schema)
            case FunctionDefinition():
                frame: object = definition.function(**self._arguments(definition))
                if not isinstance(frame, DataFrame):
                    returned = "nothing" if frame is None else f"a {type(frame).__name__}"
                    raise NotAFrame(view=definition.name, returned=returned)
                return frame

    def _extracted(self, definition: ExtractorDefinition) -> DataFrame:
        files = self._definitions.get(same_name(definition.files))
        if not isinstance(files, PathDefinition) or files.file_format != FILES:
            expected = f'the name of a source with format="{FILES}"'
            raise InvalidSetting(
                key="files", value=repr(definition.files), expected=expected, origin=definition.origin
            )
        columns = f"{ROW_COLUMNS}, {definition.schema}"
        own = {same_name(field.name) for field in _schema(definition.schema).fields}
        for field in _schema(ROW_COLUMNS).fields:
            if field.name in own:
                raise InvalidSetting(
                    key="schema",
                    value=repr(field.name),
                    expected="columns besides those that every extractor's table has",
                    origin=definition.origin,
                )
        schema = to_arrow_schema(_schema(columns), timezone="UTC").serialize().to_pybytes()
        listed = self._session.table(definition.files)
        # What every source of files has; pyspark would ask, and start the engine for it.
        cast("Any", listed)._cached_schema = _schema(FILE_COLUMNS)
        extract = extraction(definition.function, definition.files, schema, definition.version)
        return listed.mapInArrow(extract, columns)

    def _arguments(self, definition: FunctionDefinition) -> dict[str, Any]:
        """One frame per parameter, by name; a parameter with a default keeps it."""
        arguments: dict[str, Any] = {}
        for name, parameter in signature(definition.function).parameters.items():
            if parameter.kind in {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD, Parameter.POSITIONAL_ONLY}:
                remedy = "Name each table that the view reads as a parameter of its own."
                raise NotInAView(member=f"the parameter {parameter}", remedy=remedy)
            if definition.kind == "source" and name != "spark":
                member = f"the parameter {parameter} of the source '{definition.name}'"
                raise NotInAView(member=member, remedy=_STARTS_FROM_NOTHING)
            if parameter.default is Parameter.empty:
                arguments[name] = self._session if name == "spark" else self._session.table(name)
        return arguments


def _schema(ddl: str) -> StructType:
    return cast("StructType", parse_ddl(ddl))


def build_plan(function: Callable[[Any], DataFrame], schema: StructType | None = None) -> PlanBytes:
    """The plan of a function of the offline session alone, for those who have no project.

    Every question for a schema is answered with `schema`; without one, asking is refused.
    """
    with open_offline(_OneSchema(schema)) as session:
        return build_twice(lambda: function(session), function.__name__)


class _OneSchema:
    def __init__(self, schema: StructType | None) -> None:
        self._schema = schema

    def schema_of(self, relation: bytes) -> StructType:
        del relation
        if self._schema is None:
            raise NotInAView(member="a schema", remedy="There is no project here that could tell it.")
        return self._schema
