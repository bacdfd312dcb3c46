"""A plan as text that is equal wherever, whenever and by whomever it was made.

Expression ids are numbered in the order in which the text names them first. Left out is what only a process
or a machine knows (paths, time zones that settings name, how many slices a range is cut into), what names
things for the writer alone (aliases of relations and of lambda variables), and columns of a dataset that
nobody uses. What a dataset's column is called decides, not where it stands.
Not here: trees; and the bytes that Spark runs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from headwater.plan.tree import (
    ExprId,
    Node,
    Opaque,
    PlanTree,
    Struct,
    TypeOf,
    deep_trees,
    nodes_in,
    plans_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from headwater.plan.tree import SparkType

_INDENT = "   "
_BRANCH = "+- "
# Relations that only name the columns below them, or say how they are to be joined.
_NAMING = frozenset({"SubqueryAlias", "ResolvedHint"})
# Operators that take their input's columns by place: which stands where is a part of what they do.
_BY_PLACE = frozenset(
    {"Union", "Intersect", "Except", "Distinct", "CTERelationDef", "UnionLoop", "MapInArrow", "MapInPandas"}
    | {"FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow"}
    | {"ScalarSubquery", "ListQuery", "LateralSubquery"}
)
_LEFT_OUT = frozenset(
    {
        "timeZoneId",  # a setting
        "numSlices",  # the machine's cores
        "exprId",
        "resultId",
        "outerAttrs",  # named in the plan itself
        "replacement",  # what Spark will make of an expression; the expression says it already
        "mode",  # of an aggregate: always the same before planning
        "_resolved",
        "catalogTable",
        "hint",  # says how, not what
        "initialInputBufferOffset",
        "testSpillFrequency",
        "unrequiredChildIndex",
    }
)
# Numbers that a process counts up.
_COUNTED = frozenset({"cteId", "loopId"})
_DEFINES = frozenset({"CTERelationDef", "UnionLoop"})
# What the columns of an operator are made of; an entry that nobody uses says nothing.
_ENTRIES = {"Project": "projectList", "Aggregate": "aggregateExpressions"}
# Spark's arithmetic as the settings have it by default.
_ARITHMETIC = frozenset({"evalMode", "evalContext"})
_USUAL = frozenset({"ANSI", "NumericEvalContext(evalMode=ANSI, allowDecimalPrecisionLoss=True)"})
_NOTES = ("__", "delta.", "headwater.approximate")
_ATOM = re.compile(r"\d+:(.*);", re.DOTALL)
_ID_IN_NAME = re.compile(r"#\d+L?")
# A function's definition in the catalogue has the moment of its making; its body stands below it.
_ONLY_CHILD = frozenset({"SQLScalarFunction", "SQLFunctionNode"})


def canonical_text(tree: PlanTree, names: Mapping[str, str] | None = None) -> str:
    """The text of a plan.

    Args:
        tree: the plan.
        names: of an optimised or physical plan, the datasets behind the places that its scans read.
    """
    with deep_trees():
        return _Printer(tree, names, _used_in(tree)).whole()


def operators_in(text: str) -> list[str]:
    """The lines of a canonical text, one per operator, without their indentation."""
    return [line.strip().removeprefix(_BRANCH).strip() for line in text.splitlines()]


def type_text(kind: SparkType | None) -> str:
    """A type in one word; metadata and comments of fields are no part of it."""
    if kind is None or isinstance(kind, str):
        return str(kind)
    match kind["type"]:
        case "struct":
            fields = cast("list[dict[str, Any]]", kind["fields"])
            inner = ",".join(f"{each['name']}:{type_text(each['type'])}" for each in fields)
            return f"struct<{inner}>"
        case "array":
            return f"array<{type_text(kind['elementType'])}>"
        case "map":
            return f"map<{type_text(kind['keyType'])},{type_text(kind['valueType'])}>"
        case _:
            return str(kind.get("class") or kind.get("pyClass") or kind["type"])


def _used_in(tree: PlanTree) -> frozenset[int]:
    """The columns that something above them uses, seen from the top."""
    used = set(tree.root.output)
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        if node.id is not None and not _ENTRIES.get(node.kind):
            used.add(node.id)
        if node.kind in _BY_PLACE:
            used.update(each for below in plans_in(node) for each in below.output)
        waiting.extend(reversed(list(_inner_used(node, used))))
    return frozenset(used)


def _inner_used(node: Node, used: set[int] | frozenset[int]) -> Iterator[Node]:
    """The nodes inside a node, without entries that nobody uses; plans after what stands beside them."""
    inner = [each for value in _fields(node, used).values() for each in nodes_in(value)]
    yield from (each for each in inner if each.sort == "expression")
    yield from (each for each in inner if each.sort == "plan")


def _fields(node: Node, used: set[int] | frozenset[int]) -> Mapping[str, Any]:
    """The fields of a node, without the columns that nobody uses.

    The entries that stay are sorted by name: where each stood does not matter to those who use it.
    """
    if node.kind == "Expand":
        kept = [place for place, each in enumerate(node.output) if each in used]
        rows: tuple[tuple[Node, ...], ...] = node.fields["projections"]
        return {
            **node.fields,
            "projections": tuple(tuple(row[place] for place in kept) for row in rows),
            "output": (),
        }
    name = _ENTRIES.get(node.kind)
    if name is None:
        return node.fields
    entries = {each.id: each for each in node.nodes(name) if each.id in used}
    return {**node.fields, name: tuple(sorted(entries.values(), key=lambda each: each.name or ""))}


@dataclass(slots=True)
class _Printer:
    tree: PlanTree
    datasets: Mapping[str, str] | None
    used: frozenset[int]
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    tables: dict[int, int] = field(default_factory=dict[int, int])
    names: dict[int, str] = field(default_factory=dict[int, str])

    def __post_init__(self) -> None:
        # A column is called as where it was made: SQL may write its name in other letters each time.
        for node in self.tree.nodes():
            if node.is_boundary:
                self.names |= dict(zip(node.output, node.columns, strict=True))
            elif node.kind == "Alias" and node.id is not None:
                self.names[node.id] = node.name or ""

    def whole(self) -> str:
        columns = ", ".join(
            f"{each.name}#{self.number(each.id)} {type_text(each.type)}{_marks(each.metadata)}"
            for each in self.tree.columns
        )
        return "\n".join([f"[{columns}]", *self.lines(self.tree.root, "")]) + "\n"

    def lines(self, node: Node, indent: str) -> Iterator[str]:
        while node.kind in _NAMING:
            node = node.plan("child")
        head = indent[: -len(_INDENT)] + _BRANCH if indent else ""
        yield head + self.words(node)
        if not node.is_boundary:
            for each in self.plans_below(node):
                yield from self.lines(each, indent + _INDENT)

    def plans_below(self, node: Node) -> Iterator[Node]:
        """The plans of a node, and those of the subqueries in its expressions, in their order."""
        for value in _fields(node, self.used).values():
            for each in nodes_in(value):
                if each.sort == "plan":
                    yield each
                else:
                    yield from self.plans_below(each)

    def words(self, node: Node) -> str:
        kind = node.kind.rpartition(".")[2]
        if node.is_boundary:
            used = sorted(
                (name, each)
                for name, each in zip(node.columns, node.output, strict=True)
                if each in self.used
            )
            columns = [
                f"{self.column(each, name)} {type_text(self.tree.attributes[each].type)}"
                for name, each in used
            ]
            return f"{node.name} [{', '.join(columns)}]"
        if node.rows is not None:
            kind = f"{kind} {node.rows[0]} rows {node.rows[1][:16]}"
        if node.paths:
            names = self.datasets or {}
            kind = " ".join([kind, *sorted({names.get(each, "elsewhere") for each in node.paths})])
        parts = list(self.parts(node))
        if node.kind in _BY_PLACE or node.rows is not None:
            parts += [f"[{self.places(each)}]" for each in (plans_in(node) if node.rows is None else (node,))]
        return f"{kind} {', '.join(parts)}".strip()

    def places(self, node: Node) -> str:
        return ", ".join(self.column(each, self.tree.attributes[each].name) for each in node.output)

    def parts(self, node: Node) -> Iterator[str]:
        """The fields of a node that say something, its plans excepted."""
        for name, value in _fields(node, self.used).items():
            if name in _LEFT_OUT or (node.kind in _ONLY_CHILD and name != "child"):
                continue
            counted = name in _COUNTED or (name == "id" and node.kind in _DEFINES)
            words = str(self.tables.setdefault(value, len(self.tables) + 1)) if counted else self.value(value)
            if words and not (name in _ARITHMETIC and words in _USUAL):
                yield words if isinstance(value, Node) or _is_list_of_nodes(value) else f"{name}={words}"

    def value(self, value: object) -> str:
        """A field in words; nothing for what is absent, empty, false or a plan."""
        if isinstance(value, Node):
            return self.expression(value) if value.sort == "expression" else ""
        if isinstance(value, tuple):
            items = [words for each in cast("tuple[object, ...]", value) if (words := self.value(each))]
            return f"[{', '.join(items)}]" if items else ""
        if isinstance(value, Struct):
            inner = [f"{key}={words}" for key, each in value.fields.items() if (words := self.value(each))]
            is_pair = value.kind.startswith("scala.Tuple")
            name = "" if is_pair else value.kind
            if value.fields and not inner and not is_pair:
                return ""
            return f"{name}({', '.join(inner)})" if inner else name
        if isinstance(value, TypeOf):
            return type_text(value.type)
        if isinstance(value, ExprId | Opaque) or value is None or value is False:
            return ""
        return str(value) if self.datasets is None else _ID_IN_NAME.sub("", str(value))

    def expression(self, node: Node) -> str:
        match node.kind:
            case "AttributeReference" | "NamedLambdaVariable":
                return self.column(node.id or 0, "" if node.kind == "NamedLambdaVariable" else node.name)
            case "Alias":
                return f"{self.expression(node.plan('child'))} AS {self.column(node.id or 0, node.name)}"
            case "Literal":
                return f"{_literal(node)} {type_text(node.type)}"
            case "SortOrder":
                order = " ".join(self.value(node.fields[each]) for each in ("direction", "nullOrdering"))
                return f"{self.expression(node.plan('child'))} {order}"
            case "GetStructField":
                child = node.plan("child")
                fields = cast("Mapping[str, Any]", child.type)["fields"]
                return f"{self.expression(child)}.{fields[int(node.fields['ordinal'])]['name']}"
            case "LambdaFunction":
                names = ", ".join(self.expression(each) for each in node.nodes("arguments"))
                return f"({names}) -> {self.expression(node.plan('function'))}"
            case _:
                parts = [*self.parts(node)]
                if node.kind in _BY_PLACE:
                    parts += [f"[{self.places(each)}]" for each in plans_in(node)]
                return f"{node.kind.rpartition('.')[2]}({', '.join(parts)})"

    def column(self, number: int, name: str | None) -> str:
        known = self.names.get(number, name) if name else ""
        if self.datasets is not None:  # Spark's planner names some columns by the ids of others
            known = _ID_IN_NAME.sub("", known)
        return f"{known}#{self.number(number)}"

    def number(self, column: int) -> int:
        return self.numbers.setdefault(column, len(self.numbers) + 1)


def _literal(node: Node) -> str:
    text = node.literal or ""
    atom = _ATOM.fullmatch(text)
    if atom is None:
        return text.removesuffix(";")
    return json.dumps(atom.group(1), ensure_ascii=False) if node.type == "string" else atom.group(1)


def _is_list_of_nodes(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(each, Node) for each in cast("tuple[object, ...]", value)
    )


def _marks(metadata: Mapping[str, Any]) -> str:
    """What a column says of itself; not what Spark and Delta note there, nor what is said to people."""
    said = {key: value for key, value in metadata.items() if key != "comment" and not key.startswith(_NOTES)}
    return f" {json.dumps(said, sort_keys=True)}" if said else ""


def dot_of(text: str, name: str) -> str:
    """A canonical text as a graph for Graphviz, from the bottom up."""
    nodes: list[str] = []
    edges: list[str] = []
    above: list[tuple[int, int]] = []
    for number, line in enumerate(text.splitlines()[1:]):
        words = line.lstrip().removeprefix(_BRANCH)
        depth = len(line) - len(words)
        nodes.append(f"  n{number} [label={json.dumps(_short(words))}];")
        while above and above[-1][0] >= depth:
            above.pop()
        if above:
            edges.append(f"  n{number} -> n{above[-1][1]};")
        above.append((depth, number))
    return "\n".join([f"digraph {json.dumps(name)} {{", "  rankdir=BT;", *nodes, *edges, "}"]) + "\n"


def _short(words: str, limit: int = 120) -> str:
    return words if len(words) <= limit else words[: limit - 1] + "…"


def first_different_operator(before: Iterable[str], after: Iterable[str]) -> tuple[str, str]:
    """The first operators in which two canonical texts differ; an empty text where one ends."""
    one, two = list(before), list(after)
    for place in range(max(len(one), len(two))):
        mine = one[place] if place < len(one) else ""
        other = two[place] if place < len(two) else ""
        if mine != other:
            return mine, other
    return "", ""
