"""Views and pins become frames of one session, all of them, before anything is run.

A stored view is planned as an empty relation with the schema that Delta will give back, so that planning
needs no data and a mistake in the last view is found before the first is written.
Not here: writing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from headwater.delta import (
    check_policy,
    check_storable,
    read_files,
    read_scanned,
    register_changes,
    register_delta,
    register_listing,
    register_table,
)
from headwater.errors import FixpointColumns, FunctionDisabled, NotInAView, OrderMismatch
from headwater.functions import find_function
from headwater.names import TablePin, same_name
from headwater.pipeline import root_property
from headwater.plan import (
    analysed_tree,
    empty_relation,
    names_in_analysed,
    order_of,
    plan_error,
    rehydrate,
    statistics_of,
)
from headwater.runtime import ENGINE_EXCEPTIONS, engine_errors, local_path_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from pyspark.sql import DataFrame

    from headwater.delta import FilePin, Registration
    from headwater.functions import FunctionSnapshot
    from headwater.origin import Origin
    from headwater.pipeline import Fixpoint, SourceSpec, ViewSpec
    from headwater.plan import PlanBundle, StatisticsDecision
    from headwater.policies import WritePolicy
    from headwater.run.bundling import Bundling
    from headwater.run.pins import PinnedSource
    from headwater.runtime import RunSession


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """All names of a pipeline in the order in which they can be made, what each reads, sources and plans.

    `statistics` say of which columns the files of each stored table keep minimum and maximum.
    """

    order: tuple[str, ...]
    reads: Mapping[str, tuple[str, ...]]
    registrations: tuple[Registration, ...] = ()
    bundles: Mapping[str, PlanBundle] = field(default_factory=dict[str, "PlanBundle"])
    statistics: tuple[StatisticsDecision, ...] = ()

    def needs(self, name: str) -> tuple[str, ...]:
        """What a name reads itself, each as it is spelt where it is defined."""
        return tuple(self._spelt[same_name(each)] for each in self.reads[name])

    @cached_property
    def _spelt(self) -> Mapping[str, str]:
        return {same_name(each): each for each in self.reads}


def check_enabled(spec: ViewSpec | SourceSpec, functions: Iterable[str], enabled: FunctionSnapshot) -> None:
    """Raises FunctionDisabled for the first of the functions that a session of this profile does not have."""
    there = {definition.name for definition in enabled.definitions}
    for name in functions:
        definition = find_function(name)
        if definition is not None and name not in there:
            off = next(tag for tag in definition.tags if tag in enabled.disabled)
            raise FunctionDisabled(view=spec.name, function=name, family=off, origin=spec.origin)


def compile_views(
    session: RunSession,
    views: Iterable[ViewSpec],
    sources: Iterable[PinnedSource],
    reads: Mapping[str, tuple[str, ...]],
    bundling: Bundling | None = None,
    there: Container[str] = frozenset(),
) -> Compiled:
    """Plans everything in `session` and leaves each name registered there; with `bundling`, as bundles, too.

    `there` are names that are registered already, without regard to case as `same_name` has them.

    Raises:
        UnknownTable, Cycle: the names do not add up.
        SqlSyntax, AnalysisFailed, UnpinnedRead: a view cannot be planned.
        OrderMismatch: an analysed plan reads other names than it was ordered by.
    """
    by_name = {view.name: view for view in views}
    pinned = {source.spec.name: source for source in sources}
    everything = {**dict.fromkeys(pinned, ()), **{name: reads[name] for name in by_name}}
    origins = {name: view.origin for name, view in by_name.items()}
    waiting = {name: tuple(e for e in each if same_name(e) not in there) for name, each in everything.items()}
    order = order_of(waiting, origins)
    registered: list[Registration] = []
    bundles: dict[str, PlanBundle] = {}
    schemas: dict[str, StructType] = {}
    for name in order:
        if name not in pinned:
            schemas[name], bundle = _plan_view(session, by_name[name], everything[name], bundling)
            bundles |= {name: bundle} if bundle else {}
        elif (done := register_source(session, pinned[name])) is not None:
            registered.append(done)
    return Compiled(
        order=order,
        reads=everything,
        registrations=tuple(registered),
        bundles=bundles,
        statistics=statistics_of(
            bundles.values(), {name: view.policy for name, view in by_name.items()}, schemas
        ),
    )


def register_source(session: RunSession, source: PinnedSource) -> Registration | None:
    """Makes a source readable under its name; rows that are still to be made are planned as empty."""
    spec, pin = source.spec, source.pin
    if source.files is not None:
        return _register_files(session, spec, source.files)
    if source.changes is not None:
        return register_changes(session, source.changes, spec.read, spec.origin)
    if pin is not None and spec.kind == "memory" and spec.plan is not None:
        rows = rehydrate(session, spec.plan.executable, spec.name, spec.origin)
        return register_table(session, "memory", pin, rows, provider_kind="memory")
    if pin is not None:
        return register_delta(session, pin, spec.read, spec.origin)
    if spec.plan is not None:
        made = rehydrate(session, spec.plan.executable, spec.name, spec.origin)
        if names_in_analysed(analysed_tree(made), spec.name, spec.origin):
            remedy = "A source starts from nothing but spark; make it a view."
            raise NotInAView(member="a table that a source reads", remedy=remedy, origin=spec.origin)
        _register_planned(session, spec.name, made, spec.origin)
    return None


def _register_files(session: RunSession, spec: SourceSpec, files: FilePin) -> Registration:
    if spec.kind == "files":
        place = str(local_path_of(files.pin.uri))
        session.spark.sparkContext.setLocalProperty(root_property(spec.name), place)
        rows = read_scanned(session, files)
        return register_table(session, "listing", files.pin, rows, provider_kind="listing")
    rows = read_files(
        session,
        files,
        file_format=spec.file_format or "",
        schema=spec.schema,
        options=spec.options,
        origin=spec.origin,
    )
    effective = {"format": spec.file_format, "schema": spec.schema, **dict(spec.options)}
    return register_listing(session, files, rows, effective, spec.origin)


def rehydrate_view(session: RunSession, view: ViewSpec) -> DataFrame:
    """The frame of a view over what is registered in `session` now."""
    return rehydrate(session, view.plan.executable, view.name, view.origin)


def _plan_view(
    session: RunSession, view: ViewSpec, promised: tuple[str, ...], bundling: Bundling | None
) -> tuple[StructType, PlanBundle | None]:
    frame = (
        rehydrate_view(session, view) if view.fixpoint is None else _plan_step(session, view, view.fixpoint)
    )
    tree = analysed_tree(frame)
    found = names_in_analysed(tree, view.name, view.origin)
    itself = {same_name(view.name)} if view.fixpoint is not None else set[str]()
    if {same_name(name) for name in found} - itself != {same_name(name) for name in promised}:
        raise OrderMismatch(view=view.name, promised=promised, found=found, origin=view.origin)
    bundle = bundling.add(view, tree, promised) if bundling else None
    if view.stored:
        try:
            _register_planned(session, view.name, frame, view.origin, view.policy)
        except ENGINE_EXCEPTIONS as error:
            raise plan_error(error, view.name, view.origin) from error
    else:
        if view.cache == "delta_staging":
            check_storable(frame.schema, view.name, view.origin)
        with engine_errors(view.origin):
            frame.createOrReplaceTempView(view.name)
    return frame.schema, bundle


def _plan_step(session: RunSession, view: ViewSpec, fixpoint: Fixpoint) -> DataFrame:
    """A fixpoint's step over no rows of its own, each row once.

    Raises:
        FixpointColumns: it makes other columns than it declares.
    """
    register_empty(session, view.name, fixpoint.columns)
    made = rehydrate_view(session, view).distinct()
    declared, found = _shown_columns(fixpoint.columns), _shown_columns(made.schema)
    if declared != found:
        raise FixpointColumns(view=view.name, declared=declared, found=found, origin=view.origin)
    return made


def register_empty(session: RunSession, name: str, columns: StructType) -> None:
    """Lets a name stand for no rows of a table that is not made yet."""
    empty = empty_relation(session, as_stored(columns), name)
    planned = TablePin(name=name, uri=f"planned:{name}", version=0, digest="")
    register_table(session, "memory", planned, empty, provider_kind="planned")


def _shown_columns(schema: StructType) -> tuple[str, ...]:
    return tuple(f"{each.name} {each.dataType.simpleString()}" for each in schema.fields)


def _register_planned(
    session: RunSession, name: str, frame: DataFrame, origin: Origin, policy: WritePolicy | None = None
) -> None:
    check_storable(frame.schema, name, origin)
    if policy is not None:
        frame = check_policy(session, policy, frame, name, origin)
    register_empty(session, name, frame.schema)


def as_stored(schema: StructType) -> StructType:
    """The schema that Delta gives back: everything may be null."""
    return StructType([StructField(f.name, _nullable(f.dataType), True, f.metadata) for f in schema.fields])


def _nullable(kind: DataType) -> DataType:
    if isinstance(kind, StructType):
        return as_stored(kind)
    if isinstance(kind, ArrayType):
        return ArrayType(_nullable(kind.elementType), True)
    if isinstance(kind, MapType):
        return MapType(_nullable(kind.keyType), _nullable(kind.valueType), True)
    return kind
