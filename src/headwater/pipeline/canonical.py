"""A view's plan as bytes: the ones Spark runs, and the ones that say whether the view is still the same.

Two builds of one view differ in what pyspark counts up (plan ids, lambda names, names of inlined frames), in
where the lines stood, and in how a function was pickled. All of that is taken out here, with the marks that
functions of the catalogue leave, and nothing else.
Not here: what the plan means. Analysis, lineage and determinism rules work on Catalyst's tree.
"""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pyspark.sql.connect.proto import base_pb2

from headwater.digest import digest_of_bytes
from headwater.errors import NotInAView, ViewNotReproducible
from headwater.functions import functions_mentioned, take_mark
from headwater.messages import CALLS, children_of, is_stream, messages_of, put, text_of, value_of
from headwater.pipeline.code import function_digest
from headwater.pipeline.difference import first_difference
from headwater.pipeline.offline_mode import resumed_mode
from headwater.pipeline.purity import is_pure
from headwater.pipeline.refusal import not_in_a_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from google.protobuf.message import Message
    from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
    from pyspark.sql.dataframe import DataFrame

_LAMBDA = "spark.connect.Expression.LambdaFunction"
_EXPRESSION_TEXT = "spark.connect.Expression.ExpressionString"
_LAMBDA_VARIABLE = "spark.connect.Expression.UnresolvedNamedLambdaVariable"
_PYTHON_FUNCTIONS = frozenset(
    {"spark.connect.PythonUDF", "spark.connect.PythonUDTF", "spark.connect.PythonDataSource"}
)
_INLINE_FUNCTIONS = frozenset(
    {
        "spark.connect.CommonInlineUserDefinedFunction",
        "spark.connect.CommonInlineUserDefinedTableFunction",
    }
)
_ORIGINS = ("origin", "source_info")
# pyspark names a frame given to spark.sql(..., name=frame) by a random uuid, in the text and in an alias.
_INLINED_FRAME = re.compile(r"_pyspark_connect_temp_view_[0-9a-f]{32}")
_INLINED_FRAME_FIELDS = {"spark.connect.SQL": "query", "spark.connect.SubqueryAlias": "alias"}
_DIGESTED = b"headwater:function:"
_PURE = b"pure:"
_SUBQUERY = re.compile(r"\bselect\b", re.IGNORECASE)
_QUOTED_NAME = re.compile(r"`(\w+)`")

_UNREPLAYABLE: Mapping[str, tuple[str, str]] = {
    "relation_changes": (
        "spark.read.changes",
        "Read the table by its name; the engine works out what changed.",
    ),
    "cached_remote_relation": ("a checkpointed DataFrame", "Leave the checkpoint out."),
    "crosstab": ("DataFrame.crosstab", "Use groupBy(...).pivot('k', ['a', 'b']) with the values listed."),
    "transpose": ("DataFrame.transpose", "Use groupBy(...).pivot('k', ['a', 'b']) with the values listed."),
    "catalog": ("spark.catalog", "Read tables by name."),
    "ml_relation": ("pyspark.ml", "Train outside of the pipeline."),
    "extension": ("a relation from a Connect plugin", "Use relations that Spark itself knows."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanBytes:
    """One build of a view.

    Attributes:
        executable: A serialised Connect `Plan` that Spark can run: pickled functions and origins are in it.
        canonical: The same plan without accidents; equal bytes mean an equal view, on every machine.
        digest: sha256 of `canonical`.
        reads: Names of the tables read through the DataFrame API, as written, sorted; `name` without quotes.
        sql: Texts of the SQL relations, in order of appearance; then a SELECT of each expression, given as a
            text, that has a subquery or a function of the catalogue in it.
        functions: Names of the functions called, sorted: Spark's, and those of the catalogue that made a part
            of the plan; those inside SQL texts are not among them.
        python: The functions in Python that are part of the plan, each by its name and its digest, sorted.
        pure: Names of those of them that are declared to depend on their arguments alone, sorted.
    """

    executable: bytes
    canonical: bytes
    digest: str
    reads: tuple[str, ...]
    sql: tuple[str, ...]
    functions: tuple[str, ...]
    python: tuple[tuple[str, str], ...] = ()
    pure: tuple[str, ...] = ()


def plan_bytes_of(frame: DataFrame) -> PlanBytes:
    """The bytes of an offline frame.

    Raises:
        NotInAView: the frame is a stream, or holds something that cannot be replayed.
        FunctionNotIdentifiable: a Python function in it has no stable identity.
    """
    return bytes_of_plan(_built(frame))


def build_twice(build: Callable[[], DataFrame], view: str) -> PlanBytes:
    """The bytes of what `build` returns, after seeing that a second build gives the same.

    May be called from within a `SchemaSource` too: the schema of a view can depend on another view.

    Raises:
        ViewNotReproducible: the two differ; the detail names the message and field that does.
    """
    with resumed_mode():
        first, second = _built(build()), _built(build())
    one, two = canonical_plan(first), canonical_plan(second)
    if one.SerializeToString(deterministic=True) != two.SerializeToString(deterministic=True):
        raise ViewNotReproducible(view=view, detail=first_difference(one, two))
    return bytes_of_plan(first, one)


def executable_plan(plan: base_pb2.Plan) -> base_pb2.Plan:
    """A copy with plan ids, lambda variables and inlined frames named by their place in the plan."""
    return _settled(plan)[0]


def canonical_plan(plan: base_pb2.Plan) -> base_pb2.Plan:
    """A copy without origins, and with each Python function replaced by its digest; not for running."""
    settled = executable_plan(plan)
    _take_accidents(messages_of(settled))
    return settled


def _settled(plan: base_pb2.Plan) -> tuple[base_pb2.Plan, set[str]]:
    """The executable plan, and the functions of the catalogue that left a mark in `plan`."""
    copied = _copy_of(plan)
    names = _Names()
    names.settle(copied)
    return copied, names.marks


def _copy_of(plan: base_pb2.Plan) -> base_pb2.Plan:
    copied = base_pb2.Plan()
    copied.CopyFrom(plan)
    return copied


def _take_accidents(messages: Iterable[Message]) -> None:
    """Takes origins and pickles out of the messages of a plan whose names are settled."""
    for message in messages:
        name = message.DESCRIPTOR.full_name
        if name == "spark.connect.RelationCommon":
            for field in _ORIGINS:
                message.ClearField(field)
        elif name == "spark.connect.Expression":
            # An expression without an origin has no `common` at all: pyspark adds it for that alone.
            message.ClearField("common")
        elif name in _PYTHON_FUNCTIONS:
            _digest_function(message)


def executable_bytes(plan: base_pb2.Plan) -> bytes:
    """What `PlanBytes.executable` is, for a plan that is no whole view."""
    _check_replayable(messages_of(plan))
    return executable_plan(plan).SerializeToString(deterministic=True)


def _built(frame: DataFrame) -> base_pb2.Plan:
    connect = cast("ConnectFrame", frame)
    return base_pb2.Plan(root=connect._plan.plan(connect._session.client))


def bytes_of_plan(plan: base_pb2.Plan, canonical: base_pb2.Plan | None = None) -> PlanBytes:
    """The bytes of a plan that this process built; `canonical` is its canonical plan, if that is at hand."""
    executable, marks = _settled(plan)
    facts = _Facts.of(executable)
    settled = canonical or _copy_of(executable)
    messages = list(messages_of(settled))
    if canonical is None:
        _take_accidents(messages)
    content = settled.SerializeToString(deterministic=True)
    python, pure = _python_functions(messages)
    return PlanBytes(
        executable=executable.SerializeToString(deterministic=True),
        canonical=content,
        digest=digest_of_bytes(content),
        reads=facts.reads,
        sql=facts.sql,
        functions=tuple(sorted({*facts.functions, *marks})),
        python=tuple(sorted(python)),
        pure=tuple(sorted(pure)),
    )


def _python_functions(canonical: Iterable[Message]) -> tuple[set[tuple[str, str]], set[str]]:
    """The plan's functions in Python by name and digest, and the names of those that are declared pure."""
    found: set[tuple[str, str]] = set()
    pure: dict[str, bool] = {}
    for message in canonical:
        if message.DESCRIPTOR.full_name not in _INLINE_FUNCTIONS:
            continue
        for kind in ("python_udf", "python_udtf"):
            if not _has(message, kind):
                continue
            command = cast("bytes", value_of(cast("Message", value_of(message, kind)), "command"))
            content = command.removeprefix(_DIGESTED)
            name = text_of(message, "function_name")
            found.add((name, content.removeprefix(_PURE).decode()))
            pure[name] = pure.get(name, True) and content.startswith(_PURE)
    return found, {name for name, is_declared in pure.items() if is_declared}


def _has(message: Message, field: str) -> bool:
    return field in message.DESCRIPTOR.fields_by_name and message.HasField(field)


# --- names ---------------------------------------------------------------------------------------------


class _Names:
    """Replaces what pyspark counts up by numbers in order of first appearance, and takes marks off."""

    def __init__(self) -> None:
        self.marks: set[str] = set()
        self._plans: dict[int, int] = {}
        self._frames: dict[str, str] = {}

    def settle(self, root: Message) -> None:
        # The scope is a chain of (written name, settled name): a nested lambda sees the outer ones.
        work: list[tuple[Message, Mapping[str, str], int]] = [(root, {}, 0)]
        while work:
            message, scope, depth = work.pop()
            name = message.DESCRIPTOR.full_name
            if name == _LAMBDA:
                scope, depth = _lambda_scope(message, scope, depth), depth + 1
            elif name == _LAMBDA_VARIABLE:
                _rename_variable(message, scope)
            self._settle_fields(message)
            work.extend((child, scope, depth) for child in reversed(children_of(message)))

    def _settle_fields(self, message: Message) -> None:
        mark = take_mark(message)
        if mark is not None:
            self.marks.add(mark)
        descriptor = message.DESCRIPTOR
        plan_id = descriptor.fields_by_name.get("plan_id")
        if plan_id is not None and (not plan_id.has_presence or message.HasField("plan_id")):
            number = cast("int", value_of(message, "plan_id"))
            put(message, "plan_id", self._plans.setdefault(number, len(self._plans)))
        field = _INLINED_FRAME_FIELDS.get(descriptor.full_name)
        if field is not None:
            put(message, field, _INLINED_FRAME.sub(self._frame_name, text_of(message, field)))

    def _frame_name(self, match: re.Match[str]) -> str:
        return self._frames.setdefault(match.group(), f"_pyspark_connect_temp_view_{len(self._frames):032x}")


def _lambda_scope(function: Message, outer: Mapping[str, str], depth: int) -> Mapping[str, str]:
    scope = dict(outer)
    arguments = cast("Sequence[Message]", value_of(function, "arguments"))
    for position, argument in enumerate(arguments):
        parts = cast("Sequence[str]", value_of(argument, "name_parts"))
        scope[parts[0]] = f"x_{depth}_{position}"
    return scope


def _rename_variable(variable: Message, scope: Mapping[str, str]) -> None:
    parts = cast("list[str]", value_of(variable, "name_parts"))
    parts[0] = scope.get(parts[0], parts[0])


# --- functions -----------------------------------------------------------------------------------------


def _digest_function(message: Message) -> None:
    command = cast("bytes", value_of(message, "command"))
    if command.startswith(_DIGESTED):
        return
    # These are the bytes this very process has just written, so reading them runs nobody else's code.
    content: object = pickle.loads(command)  # noqa: S301
    if message.DESCRIPTOR.name == "PythonUDF":
        content = cast("tuple[object, object]", content)[0]
    mark = _PURE if is_pure(content) else b""
    put(message, "command", _DIGESTED + mark + function_digest(content).encode())
    version = text_of(message, "python_ver")
    put(message, "python_ver", ".".join(version.split(".")[:2]))


# --- facts ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    reads: tuple[str, ...]
    sql: tuple[str, ...]
    functions: tuple[str, ...]

    @classmethod
    def of(cls, plan: base_pb2.Plan) -> _Facts:
        messages = list(messages_of(plan))
        _check_replayable(messages)
        reads: set[str] = set()
        sql: list[str] = []
        expressions: list[str] = []
        functions: set[str] = set()
        for message in messages:
            name = message.DESCRIPTOR.full_name
            if name == "spark.connect.Read.NamedTable":
                reads.add(_unquoted(text_of(message, "unparsed_identifier")))
            elif name == "spark.connect.SQL":
                sql.append(text_of(message, "query"))
            elif name == _EXPRESSION_TEXT and _is_telling(text_of(message, "expression")):
                expressions.append(f"SELECT {text_of(message, 'expression')}")
            elif name in CALLS:
                functions.add(text_of(message, "function_name"))
        return cls(reads=tuple(sorted(reads)), sql=(*sql, *expressions), functions=tuple(sorted(functions)))


def _is_telling(expression: str) -> bool:
    """Whether a text might read a table or call a function of the catalogue; only a parser can tell."""
    return _SUBQUERY.search(expression) is not None or bool(functions_mentioned(expression))


def _unquoted(name: str) -> str:
    found = _QUOTED_NAME.fullmatch(name)
    return found.group(1) if found else name


def _check_replayable(messages: Iterable[Message]) -> None:
    for message in messages:
        name = message.DESCRIPTOR.full_name
        if is_stream(message):
            raise not_in_a_view("SparkSession.readStream")
        if name == "spark.connect.Relation":
            kind = message.WhichOneof("rel_type") or ""
            if kind in _UNREPLAYABLE:
                member, remedy = _UNREPLAYABLE[kind]
                raise NotInAView(member=member, remedy=remedy)
        elif name == "spark.connect.Aggregate.Pivot" and not value_of(message, "values"):
            raise not_in_a_view("GroupedData.pivot without values")
