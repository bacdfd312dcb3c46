"""Whether a query only reads: its parsed plan is inspected before analysis, its analysed plan before it runs.

Both are walked whole: every field of every node, so that nothing hides in a subquery, a window, a VALUES
list or a hint. What is not on a list is refused. Catalyst's JSON will not do here: it leaves out lists of
lists and maps, and a subquery inside one would go unseen.
Not here: where the names lead, and running anything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from py4j.java_collections import JavaArray
from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame

from headwater.errors import FunctionDisabled, HeadwaterError, NotReadOnly, NotResolved, SqlSyntax
from headwater.functions import find_function
from headwater.names import near_hint, same_name
from headwater.origin import Origin
from headwater.plan.reviewed import (
    ANALYSED_PLANS,
    CLOSED_PLANS,
    DENIED_EXPRESSIONS,
    DENIED_FUNCTIONS,
    EXPRESSION_PACKAGES,
    FEWER_ARGUMENTS,
    OPAQUE,
    PARSED_PLANS,
    PLAN_PACKAGE,
    TABLE_FUNCTIONS,
)
from headwater.runtime import ENGINE_EXCEPTIONS, engine_error, failure_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from headwater.runtime import RunSession

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical.LogicalPlan"
_EXPRESSION = "org.apache.spark.sql.catalyst.expressions.Expression"
_PRODUCT = "scala.Product"
_SEPARATOR = "\u0000"
_NAMES_ONLY = "Read by name: a stored table, a view or a source of the project."
_UNTOUCHED = {
    "spark.sql.variable.substitute": "false",  # ${env:HOME} in a query is text, not somebody's environment
    "spark.sql.runSQLOnFiles": "false",  # should a path slip by the inspection, it still leads nowhere
}

_Kind = Literal["plan", "expression", "product", "sequence", "opaque", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedQuery:
    """A query whose parsed plan only reads: the names it reads, sorted, as written, and the plan itself."""

    sql: str
    reads: tuple[str, ...]
    plan: Any


def inspect_query(session: RunSession, sql: str) -> InspectedQuery:
    """Parses one statement and looks at all of it; touches neither tables nor files.

    Raises:
        SqlSyntax: it does not parse as one statement.
        NotReadOnly: it is, or has inside it, something other than reading by name.
        NotResolved: it calls a function that is not there.
    """
    reader = session.fresh()
    try:
        for key, value in _UNTOUCHED.items():
            reader.spark.conf.set(key, value)
        with reader.active():
            plan = reader.jvm_session.sessionState().sqlParser().parsePlan(sql)
        look = _ParsedLook(reader)
        if _simple_name(_class_of(plan)) == "DescribeFunction":
            look.check_description(plan)
        else:
            look.at(plan)
    except ENGINE_EXCEPTIONS as error:
        raise _query_error(error) from error
    finally:
        reader.release()
    return InspectedQuery(sql=sql, reads=tuple(sorted(look.reads.values())), plan=plan)


def analyse_query(session: RunSession, query: InspectedQuery, registered: Collection[str]) -> DataFrame:
    """The frame of an inspected query, over names that are registered in `session`; nothing has run yet.

    Raises:
        NotReadOnly: the analysed plan reads, or does, something that the registered names do not explain.
        NotResolved: Spark cannot resolve it.
    """
    try:
        for key, value in _UNTOUCHED.items():
            session.spark.conf.set(key, value)
        skip = session.jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
        analysed = session.jvm_session.sessionState().executePlan(query.plan, skip).analyzed()
        if _simple_name(_class_of(analysed)) != "DescribeFunctionCommand":
            _AnalysedLook(session, registered=registered).at(analysed)
        rows = session.jvm.org.apache.spark.sql.classic.Dataset.ofRows(session.jvm_session, analysed)
        return DataFrame(rows, session.spark)
    except ENGINE_EXCEPTIONS as error:
        raise _query_error(error) from error


@dataclass(slots=True)
class _Look(ABC):
    """A walk over every value that a plan holds; subclasses say what they think of nodes."""

    session: RunSession
    _kinds: dict[str, tuple[_Kind, int]] = field(default_factory=dict[str, "tuple[_Kind, int]"])
    _classes: dict[str, Any] = field(default_factory=dict[str, Any])

    def at(self, plan: Any) -> None:
        """Looks at a plan and all inside it; raises at the first thing that is not allowed."""
        waiting: list[tuple[Any, frozenset[str]]] = [(plan, frozenset())]
        while waiting:
            value, hidden = waiting.pop()
            waiting += self._inside(value, hidden)

    def _inside(self, value: Any, hidden: frozenset[str]) -> Iterator[tuple[Any, frozenset[str]]]:
        if not isinstance(value, JavaObject):
            return iter(())  # text, a number, nothing
        if isinstance(value, JavaArray):
            return ((each, hidden) for each in cast("list[Any]", list(value)))
        name = _class_of(value)
        kind, arity = self._kind_of(name, value)
        match kind:
            case "plan":
                return self._plan(name, value, arity, hidden)
            case "expression":
                return self._expression(name, value, arity, hidden)
            case "sequence":
                return ((each, hidden) for each in _elements(value))
            case "product":
                return _fields(value, arity, hidden)
            case "opaque":
                return iter(())
            case "unknown":
                raise NotReadOnly(found=f"something unknown, {_simple_name(name)}")

    @abstractmethod
    def _plan(
        self, name: str, value: Any, arity: int, hidden: frozenset[str]
    ) -> Iterator[tuple[Any, frozenset[str]]]: ...

    def _expression(
        self, name: str, value: Any, arity: int, hidden: frozenset[str]
    ) -> Iterator[tuple[Any, frozenset[str]]]:
        simple = _simple_name(name)
        if not name.startswith(EXPRESSION_PACKAGES) or simple in DENIED_EXPRESSIONS:
            raise NotReadOnly(found=f"the expression {simple}")
        return iter(()) if simple == "Literal" else _fields(value, arity, hidden)

    def _kind_of(self, name: str, value: Any) -> tuple[_Kind, int]:
        """What a class is, asked once per class and walk."""
        if name not in self._kinds:
            self._kinds[name] = self._new_kind(name, value)
        return self._kinds[name]

    def _new_kind(self, name: str, value: Any) -> tuple[_Kind, int]:
        if self._is(value, _LOGICAL):
            return "plan", int(value.productArity())
        if self._is(value, _EXPRESSION):
            return "expression", int(value.productArity())
        if name.startswith("scala.collection."):
            return "sequence", 0
        if name.startswith(OPAQUE) or name.endswith("$"):
            return "opaque", 0
        return ("product", int(value.productArity())) if self._is(value, _PRODUCT) else ("unknown", 0)

    def _is(self, value: Any, kind: str) -> bool:
        if kind not in self._classes:
            self._classes[kind] = self.session.jvm.java.lang.Class.forName(kind)
        return bool(self._classes[kind].isInstance(value))


@dataclass(slots=True)
class _ParsedLook(_Look):
    """Before analysis: names, functions and statements as they are written."""

    reads: dict[str, str] = field(default_factory=dict[str, str])
    _functions: frozenset[str] | None = None

    def check_description(self, plan: Any) -> None:
        """The one command there is: DESCRIBE FUNCTION, of a function that queries can call."""
        described = plan.child()
        if _simple_name(_class_of(described)) != "UnresolvedFunctionName":
            raise NotReadOnly(found="a description of something other than a function by name")
        parts = _parts(described.multipartIdentifier())
        if len(parts) != 1:
            raise NotReadOnly(found=f"the function {'.'.join(parts)} of another catalog")
        if same_name(parts[0]) not in self._callable() | DENIED_FUNCTIONS.keys() | TABLE_FUNCTIONS:
            raise self._unknown_function(parts[0])

    def _plan(
        self, name: str, value: Any, arity: int, hidden: frozenset[str]
    ) -> Iterator[tuple[Any, frozenset[str]]]:
        simple = _simple_name(name)
        if not name.startswith(PLAN_PACKAGE) or simple not in PARSED_PLANS:
            raise _refusal_of(name)
        match simple:
            case "UnresolvedRelation":
                self._relation(value, hidden)
                return iter(())
            case "UnresolvedTableValuedFunction":
                self._check_table_function(_parts(value.name()))
            case "UnresolvedWith":
                return _common_tables(value, hidden)
            case "LocalRelation":
                return iter(())  # literal rows, evaluated by the parser
            case _:
                pass
        return _fields(value, arity, hidden)

    def _expression(
        self, name: str, value: Any, arity: int, hidden: frozenset[str]
    ) -> Iterator[tuple[Any, frozenset[str]]]:
        match _simple_name(name):
            case "UnresolvedFunction":
                self._check_function(_parts(value.nameParts()), int(value.arguments().size()))
            case "UnresolvedGenerator":
                self._check_function(_parts(value.name().nameParts()), int(value.children().size()))
            case "ExpressionWithUnresolvedIdentifier":
                raise NotReadOnly(found="IDENTIFIER(...)", remedy="Write the name itself.")
            case _:
                pass
        # Not super(): a dataclass with slots is made anew, and the bare super() would mean the old one.
        return _Look._expression(self, name, value, arity, hidden)

    def _relation(self, value: Any, hidden: frozenset[str]) -> None:
        parts = _parts(value.multipartIdentifier())
        if len(parts) != 1:
            raise NotReadOnly(found=f"the path or catalog name {'.'.join(parts)}", remedy=_NAMES_ONLY)
        if value.isStreaming() or not value.options().isEmpty():
            raise NotReadOnly(found=f"options for '{parts[0]}'", remedy=_NAMES_ONLY)
        if same_name(parts[0]) not in hidden:
            self.reads.setdefault(same_name(parts[0]), parts[0])

    def _check_function(self, parts: list[str], arguments: int) -> None:
        name = same_name(parts[-1])
        if len(parts) != 1:
            raise NotReadOnly(found=f"the function {'.'.join(parts)}", remedy="Call functions by plain name.")
        if name in DENIED_FUNCTIONS:
            raise NotReadOnly(found=f"the function {name}, which {DENIED_FUNCTIONS[name]}")
        if arguments > FEWER_ARGUMENTS.get(name, arguments):
            raise NotReadOnly(found=f"options for {name}, which can name files", remedy="Leave them out.")
        if name not in self._callable():
            raise self._unknown_function(parts[-1])

    def _check_table_function(self, parts: list[str]) -> None:
        if len(parts) != 1 or same_name(parts[0]) not in TABLE_FUNCTIONS:
            allowed = ", ".join(sorted(TABLE_FUNCTIONS))
            raise NotReadOnly(
                found=f"the table function {'.'.join(parts)}", remedy=f"These can be used: {allowed}."
            )

    def _callable(self) -> frozenset[str]:
        if self._functions is None:
            registry = self.session.jvm_session.sessionState().functionRegistry()
            listed = str(registry.listFunction().mkString(_SEPARATOR)).split(_SEPARATOR)
            names = frozenset(same_name(each.rpartition(".")[2]) for each in listed)
            self._functions = names - frozenset(DENIED_FUNCTIONS)
        return self._functions

    def _unknown_function(self, name: str) -> NotResolved | FunctionDisabled:
        definition = find_function(name)
        if definition is not None:
            disabled = self.session.runtime.identity.functions.disabled
            family = next(tag for tag in definition.tags if tag in disabled)
            return FunctionDisabled(view="the query", function=definition.name, family=family)
        hint = near_hint(same_name(name), sorted(self._callable()))
        return NotResolved(detail=f"there is no function '{name}'", hint=hint)


@dataclass(slots=True)
class _AnalysedLook(_Look):
    """After analysis: every leaf is a registered name or needs none, every node is one that only reads."""

    registered: Collection[str] = ()

    def _plan(
        self, name: str, value: Any, arity: int, hidden: frozenset[str]
    ) -> Iterator[tuple[Any, frozenset[str]]]:
        simple = _simple_name(name)
        if simple == "View":
            view = str(value.desc().identifier().table())
            known = {same_name(each) for each in self.registered}
            if not value.isTempView() or same_name(view) not in known:
                raise NotReadOnly(found=f"the view {view}", remedy=_NAMES_ONLY)
            return iter(())  # what a registered name stands for is the project's own
        if not name.startswith(PLAN_PACKAGE) or simple not in ANALYSED_PLANS:
            raise _refusal_of(name)
        return iter(()) if simple in CLOSED_PLANS else _fields(value, arity, hidden)

    def _expression(
        self, name: str, value: Any, arity: int, hidden: frozenset[str]
    ) -> Iterator[tuple[Any, frozenset[str]]]:
        # Some of Headwater's own functions run in Python; nobody else's can be called by name.
        if _simple_name(name) == "PythonUDF" and str(value.name()) in _our_workers(self.session):
            return ((each, hidden) for each in _elements(value.children()))
        return _Look._expression(self, name, value, arity, hidden)


def _our_workers(session: RunSession) -> frozenset[str]:
    workers = (each.worker for each in session.runtime.identity.functions.definitions)
    return frozenset(str(getattr(each, "__name__", "")) for each in workers if each is not None)


def _common_tables(value: Any, hidden: frozenset[str]) -> Iterator[tuple[Any, frozenset[str]]]:
    """A common table hides a name from those after it and, if it may be recursive, from itself."""
    recursive = bool(value.allowRecursion())
    for relation in _elements(value.cteRelations()):
        own = frozenset({same_name(str(relation.productElement(0)))})
        yield relation.productElement(1), hidden | own if recursive else hidden
        hidden |= own
    yield value.child(), hidden


def _fields(value: Any, arity: int, hidden: frozenset[str]) -> Iterator[tuple[Any, frozenset[str]]]:
    return ((value.productElement(index), hidden) for index in range(arity))


def _elements(value: Any) -> list[Any]:
    items = value.toSeq()  # sets and maps, too
    return [items.apply(index) for index in range(int(items.size()))]


def _parts(names: Any) -> list[str]:
    return str(names.mkString(_SEPARATOR)).split(_SEPARATOR)


def _class_of(value: Any) -> str:
    return str(value.getClass().getName())


def _simple_name(name: str) -> str:
    return name.rpartition(".")[2].removesuffix("$")


def _refusal_of(name: str) -> NotReadOnly:
    simple = _simple_name(name)
    match simple:
        case "RelationTimeTravel":
            words = "A name is read as the last run left it; build, or use the table's own tools, for others."
            return NotReadOnly(found="a version or time (AS OF)", remedy=words)
        case "PlanWithUnresolvedIdentifier":
            return NotReadOnly(found="IDENTIFIER(...)", remedy="Write the name itself.")
        case "DescribeRelation" | "ShowTables" | "ShowColumns":
            words = (
                "SELECT * FROM a name with --limit 0 shows its columns; a name that is not there, all names."
            )
            return NotReadOnly(found="a command that describes names", remedy=words)
        case "ScriptTransformation":
            return NotReadOnly(found="a program to run (TRANSFORM ... USING)")
        case _:
            return NotReadOnly(found=_command(name))


def _command(name: str) -> str:
    simple = _simple_name(name).removesuffix("Command").removesuffix("Statement")
    return f"{simple}, a command or a read around the project's names"


def _query_error(error: BaseException) -> HeadwaterError:
    failure = failure_of(error)
    if failure.condition == "ENGINE_GONE":
        return engine_error(error)
    if (failure.java_class or "").endswith(".ParseException"):
        return SqlSyntax(
            view="query",
            detail=failure.detail,
            condition=failure.condition,
            sql_state=failure.sql_state,
            origin=Origin("SQL", failure.line_in_sql or 1),
        )
    return NotResolved(detail=failure.detail, condition=failure.condition, sql_state=failure.sql_state)
