"""Whether a query only reads: its parsed plan is inspected before analysis, its analysed plan before it runs.

Both are walked whole: every field of every node, so that nothing hides in a subquery, a window, a VALUES
list or a hint. What is not on a list is refused, and so is a value that the reader of plans cannot open.
Not here: where the names lead, and running anything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import DataFrame

from headwater.errors import FunctionDisabled, HeadwaterError, NotReadOnly, NotResolved, SqlSyntax
from headwater.functions import find_function
from headwater.names import near_hint, same_name
from headwater.origin import Origin
from headwater.plan.catalyst import read_plan
from headwater.plan.reviewed import (
    ANALYSED_PLANS,
    CLOSED_PLANS,
    DENIED_EXPRESSIONS,
    DENIED_FUNCTIONS,
    FEWER_ARGUMENTS,
    OPAQUE,
    PARSED_PLANS,
    TABLE_FUNCTIONS,
)
from headwater.plan.tree import Node, Opaque, Struct
from headwater.runtime import ENGINE_EXCEPTIONS, ENGINE_GONE, engine_error, failure_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from headwater.runtime import RunSession

_SEPARATOR = "\u0000"
_CALLABLE: dict[str, frozenset[str]] = {}
_NAMES_ONLY = "Read by name: a stored table, a view or a source of the project."
_UNTOUCHED = {
    "spark.sql.variable.substitute": "false",  # ${env:HOME} in a query is text, not somebody's environment
    "spark.sql.runSQLOnFiles": "false",  # should a path slip by the inspection, it still leads nowhere
}


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
        tree = read_plan(reader.spark, plan, is_resolved=False)
        if tree.root.kind == "DescribeFunction":
            look.check_description(tree.root)
        else:
            look.at(tree.root)
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
        tree = read_plan(session.spark, analysed)
        if _simple_name(tree.root.kind) != "DescribeFunctionCommand":
            _AnalysedLook(session, registered=registered).at(tree.root)
        rows = session.jvm.org.apache.spark.sql.classic.Dataset.ofRows(session.jvm_session, analysed)
        return DataFrame(rows, session.spark)
    except ENGINE_EXCEPTIONS as error:
        raise _query_error(error) from error


_Waiting = tuple[object, frozenset[str]]


@dataclass(slots=True)
class _Look(ABC):
    """A walk over every value that a plan holds; subclasses say what they think of nodes."""

    session: RunSession

    def at(self, plan: Node) -> None:
        """Looks at a plan and all inside it; raises at the first thing that is not allowed."""
        waiting: list[_Waiting] = [(plan, frozenset())]
        while waiting:
            value, hidden = waiting.pop()
            waiting += self._inside(value, hidden)

    def _inside(self, value: object, hidden: frozenset[str]) -> Iterator[_Waiting]:
        match value:
            case Node(sort="plan"):
                return self._plan(value, hidden)
            case Node():
                return self._expression(value, hidden)
            case tuple():
                return ((each, hidden) for each in cast("tuple[object, ...]", value))
            case Struct():
                return ((each, hidden) for each in value.fields.values())
            case Opaque() if not value.kind.startswith(OPAQUE) and not value.kind.endswith("$"):
                raise NotReadOnly(found=f"something unknown, {_simple_name(value.kind)}")
            case _:
                return iter(())  # text, a number, a type, nothing

    @abstractmethod
    def _plan(self, node: Node, hidden: frozenset[str]) -> Iterator[_Waiting]: ...

    def _expression(self, node: Node, hidden: frozenset[str]) -> Iterator[_Waiting]:
        # A name with dots is of another package than those that were looked at.
        if "." in node.kind or node.kind in DENIED_EXPRESSIONS:
            raise NotReadOnly(found=f"the expression {_simple_name(node.kind)}")
        return _fields(node, hidden)


@dataclass(slots=True)
class _ParsedLook(_Look):
    """Before analysis: names, functions and statements as they are written."""

    reads: dict[str, str] = field(default_factory=dict[str, str])

    def check_description(self, plan: Node) -> None:
        """The one command there is: DESCRIBE FUNCTION, of a function that queries can call."""
        described = plan.plan("child")
        if described.kind != "UnresolvedFunctionName":
            raise NotReadOnly(found="a description of something other than a function by name")
        parts: tuple[str, ...] = described.fields["multipartIdentifier"]
        if len(parts) != 1:
            raise NotReadOnly(found=f"the function {'.'.join(parts)} of another catalog")
        if same_name(parts[0]) not in self._callable() | DENIED_FUNCTIONS.keys() | TABLE_FUNCTIONS:
            raise self._unknown_function(parts[0])

    def _plan(self, node: Node, hidden: frozenset[str]) -> Iterator[_Waiting]:
        if node.kind not in PARSED_PLANS:
            raise _refusal_of(node.kind)
        match node.kind:
            case "UnresolvedRelation":
                self._relation(node, hidden)
                return iter(())
            case "UnresolvedTableValuedFunction":
                self._check_table_function(node.fields["name"])
            case "UnresolvedWith":
                return _common_tables(node, hidden)
            case _:
                pass
        return _fields(node, hidden)

    def _expression(self, node: Node, hidden: frozenset[str]) -> Iterator[_Waiting]:
        match node.kind:
            case "UnresolvedFunction":
                self._check_function(node.fields["nameParts"], len(node.nodes("arguments")))
            case "UnresolvedGenerator":
                names = node.fields["name"].fields
                parts = [names[key] for key in ("catalog", "database", "funcName") if names.get(key)]
                self._check_function(parts, len(node.nodes("children")))
            case "ExpressionWithUnresolvedIdentifier":
                raise NotReadOnly(found="IDENTIFIER(...)", remedy="Write the name itself.")
            case _:
                pass
        # Not super(): a dataclass with slots is made anew, and the bare super() would mean the old one.
        return _Look._expression(self, node, hidden)

    def _relation(self, node: Node, hidden: frozenset[str]) -> None:
        parts: tuple[str, ...] = node.fields["multipartIdentifier"]
        if len(parts) != 1:
            raise NotReadOnly(found=f"the path or catalog name {'.'.join(parts)}", remedy=_NAMES_ONLY)
        if node.fields["isStreaming"] or node.fields["options"]:
            raise NotReadOnly(found=f"options for '{parts[0]}'", remedy=_NAMES_ONLY)
        if same_name(parts[0]) not in hidden:
            self.reads.setdefault(same_name(parts[0]), parts[0])

    def _check_function(self, parts: Sequence[str], arguments: int) -> None:
        name = same_name(parts[-1])
        if len(parts) != 1:
            raise NotReadOnly(found=f"the function {'.'.join(parts)}", remedy="Call functions by plain name.")
        if name in DENIED_FUNCTIONS:
            raise NotReadOnly(found=f"the function {name}, which {DENIED_FUNCTIONS[name]}")
        if arguments > FEWER_ARGUMENTS.get(name, arguments):
            raise NotReadOnly(found=f"options for {name}, which can name files", remedy="Leave them out.")
        if name not in self._callable():
            raise self._unknown_function(parts[-1])

    def _check_table_function(self, parts: Sequence[str]) -> None:
        if len(parts) != 1 or same_name(parts[0]) not in TABLE_FUNCTIONS:
            allowed = ", ".join(sorted(TABLE_FUNCTIONS))
            raise NotReadOnly(
                found=f"the table function {'.'.join(parts)}", remedy=f"These can be used: {allowed}."
            )

    def _callable(self) -> frozenset[str]:
        return _callable_in(self.session)

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

    def _plan(self, node: Node, hidden: frozenset[str]) -> Iterator[_Waiting]:
        if node.kind == "View":
            view = node.name or ""
            known = {same_name(each) for each in self.registered}
            if not node.temporary or same_name(view) not in known:
                raise NotReadOnly(found=f"the view {view}", remedy=_NAMES_ONLY)
            return iter(())  # what a registered name stands for is the project's own
        if node.kind not in ANALYSED_PLANS:
            raise _refusal_of(node.kind)
        return iter(()) if node.kind in CLOSED_PLANS else _fields(node, hidden)

    def _expression(self, node: Node, hidden: frozenset[str]) -> Iterator[_Waiting]:
        # Some of Headwater's own functions run in Python; nobody else's can be called by name.
        if node.kind == "PythonUDF" and node.fields["name"] in _our_workers(self.session):
            return ((each, hidden) for each in node.nodes("children"))
        return _Look._expression(self, node, hidden)


def _callable_in(session: RunSession) -> frozenset[str]:
    """The functions that a query may call; a list of hundreds, fetched once for sessions that are alike."""
    known = session.runtime.identity.functions.digest
    if known not in _CALLABLE:
        registry = session.jvm_session.sessionState().functionRegistry()
        listed = str(registry.listFunction().mkString(_SEPARATOR)).split(_SEPARATOR)
        names = frozenset(same_name(each.rpartition(".")[2]) for each in listed)
        _CALLABLE[known] = names - frozenset(DENIED_FUNCTIONS)
    return _CALLABLE[known]


def _our_workers(session: RunSession) -> frozenset[str]:
    workers = (each.worker for each in session.runtime.identity.functions.definitions)
    return frozenset(str(getattr(each, "__name__", "")) for each in workers if each is not None)


def _common_tables(node: Node, hidden: frozenset[str]) -> Iterator[_Waiting]:
    """A common table hides a name from those after it and, if it may be recursive, from itself."""
    recursive = bool(node.fields["allowRecursion"])
    for relation in node.fields["cteRelations"]:
        own = frozenset({same_name(relation.fields["_1"])})
        yield relation.fields["_2"], hidden | own if recursive else hidden
        hidden |= own
    yield node.plan("child"), hidden


def _fields(node: Node, hidden: frozenset[str]) -> Iterator[_Waiting]:
    return ((each, hidden) for each in node.fields.values())


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
    if failure.condition == ENGINE_GONE:
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
