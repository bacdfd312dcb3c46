"""A plan as a value: the nodes of Catalyst's tree, with all their fields and what each puts out.

Inner plans and expressions stand in a node's fields, where Catalyst has them; `expressions_in` and
`plans_in` find them. Not here: where a tree comes from, and what it means.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

# How pyspark names a frame that is handed to spark.sql("... {f}", f=frame); its plan is part of the query.
INLINED_FRAME = "_pyspark_connect_temp_view_"
# Frames of Python's for a tree as deep as the deepest plan message that is accepted.
_DEEPEST = 60_000

# A type as Spark writes it in JSON: a name, or an object with a "type" of struct, array, map or udt.
SparkType = str | Mapping[str, Any]
_NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of some node's output."""

    id: int
    name: str
    type: SparkType
    nullable: bool
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A plan node or an expression.

    Attributes:
        kind: The class's name, short for Catalyst's own classes.
        sort: Whether it is a plan or an expression.
        fields: The fields by name: nodes, `Opaque`, `Struct`, `ExprId`, `TypeOf`, texts, numbers, tuples.
        output: The ids of the columns that a plan puts out.
        id: The id of a named expression.
        name: The name of a named expression, or of a view.
        type: The type of an expression, if it has one.
        literal: The value of a literal, as text.
        written: A literal as it stood in the SQL.
        rows: How many rows a literal relation has, and their digest.
        columns: What a view calls the columns that it puts out; those above may write them otherwise.
        paths: Where a scan reads.
        temporary: Whether a view is registered in the session alone.
    """

    kind: str
    sort: Literal["plan", "expression"]
    fields: Mapping[str, Any]
    output: tuple[int, ...] = ()
    id: int | None = None
    name: str | None = None
    type: SparkType | None = None
    literal: str | None = None
    written: str | None = None
    rows: tuple[int, str] | None = None
    columns: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    temporary: bool = True

    @property
    def is_boundary(self) -> bool:
        """Whether this is a registered name that the plan reads: where another dataset begins."""
        return self.kind == "View" and not (self.name or "").startswith(INLINED_FRAME)

    def plan(self, name: str) -> Node:
        """A field that is a node."""
        return cast("Node", self.fields[name])

    def nodes(self, name: str) -> tuple[Node, ...]:
        """A field that is a list of nodes."""
        return cast("tuple[Node, ...]", self.fields[name])


@dataclass(frozen=True, slots=True)
class ExprId:
    """The id of an expression, standing alone in a field."""

    id: int


@dataclass(frozen=True, slots=True)
class TypeOf:
    """A type, standing in a field."""

    type: SparkType


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    """A case class that is neither plan nor expression: a join type, a frame's kind, an alias."""

    kind: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of which only the class is known."""

    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class PlanTree:
    """A whole plan."""

    root: Node
    attributes: Mapping[int, Attribute] = field(default_factory=dict[int, Attribute])

    @property
    def columns(self) -> tuple[Attribute, ...]:
        """What the plan puts out."""
        return tuple(self.attributes[each] for each in self.root.output)

    def nodes(self) -> Iterator[Node]:
        """Every node, plans and expressions, from the top."""
        return nodes_below(self.root)


def tree_of(document: Mapping[str, Any]) -> PlanTree:
    """The tree of what the JVM's reader has written."""
    types = cast("list[SparkType]", document["types"])
    nodes: list[Node] = []
    for each in cast("list[dict[str, Any]]", document["nodes"]):
        nodes.append(_node(each, types, nodes))
    listed = cast("list[tuple[int, str, int, bool, dict[str, Any]]]", document["attributes"])
    attributes = {
        number: Attribute(number, name, types[kind], nullable, metadata)
        for number, name, kind, nullable, metadata in listed
    }
    return PlanTree(nodes[int(document["root"]["node"])], attributes)


def _node(each: Mapping[str, Any], types: Sequence[SparkType], nodes: Sequence[Node]) -> Node:
    fields = each.get("fields")
    kind = cast("int | None", each.get("type"))
    is_plan = "plan" in each
    return Node(
        kind=each["plan"] if is_plan else each["expression"],
        sort="plan" if is_plan else "expression",
        fields={key: _value(value, types, nodes) for key, value in fields.items()} if fields else _NO_FIELDS,
        output=tuple(each.get("output", ())),
        id=each.get("id"),
        name=each.get("name"),
        type=None if kind is None else types[kind],
        literal=each.get("literal"),
        written=each.get("written"),
        rows=(each["rows"], each["digest"]) if "rows" in each else None,
        columns=tuple(each.get("columns", ())),
        paths=tuple(each.get("paths", ())),
        temporary=each.get("temporary", True),
    )


def _value(value: Any, types: Sequence[SparkType], nodes: Sequence[Node]) -> Any:
    if isinstance(value, list):
        return tuple(_value(each, types, nodes) for each in cast("list[Any]", value))
    if not isinstance(value, dict):
        return value
    known = cast("dict[str, Any]", value)
    if "node" in known:
        return nodes[int(known["node"])]
    if "value" in known:
        return Struct(known["value"], {key: _value(v, types, nodes) for key, v in known["fields"].items()})
    if "type" in known:
        return TypeOf(types[int(known["type"])])
    if "id" in known:
        return ExprId(known["id"])
    return Opaque(known["opaque"]) if "opaque" in known else Struct("CatalogTable", known)


def inner_nodes(node: Node) -> Iterator[Node]:
    """The nodes that stand in a node's fields, plans and expressions, in their order."""
    for value in node.fields.values():
        yield from nodes_in(value)


def nodes_in(value: object) -> Iterator[Node]:
    """The nodes that stand in a field's value."""
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for each in cast("tuple[object, ...]", value):
            yield from nodes_in(each)
    elif isinstance(value, Struct):
        for each in value.fields.values():
            yield from nodes_in(each)


def expressions_in(node: Node) -> Iterator[Node]:
    """The expressions that stand in a node's fields."""
    return (each for each in inner_nodes(node) if each.sort == "expression")


def plans_in(node: Node) -> Iterator[Node]:
    """The plans that stand in a node's fields."""
    return (each for each in inner_nodes(node) if each.sort == "plan")


def nodes_below(node: Node) -> Iterator[Node]:
    """A node and every node inside it, from the top."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(list(inner_nodes(each))))


@contextmanager
def deep_trees() -> Generator[None]:
    """While entered, functions may follow a tree down to its leaves by calling themselves."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
