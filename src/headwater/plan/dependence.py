"""What a value depends on: columns of datasets, down to the field, each with the kind of dependence.

A `Value` stands for all values of one expression. It knows the input columns that it is a copy of, whose
fields can still be taken apart; what else it depends on as a whole; and the parts it was put together from.
Every operation only ever adds to what is claimed, so nothing is missed where something is not understood.
Not here: which expression does what.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.plan.tree import SparkType

Kind = Literal["value", "filter", "join", "group", "window", "order", "subquery"]
KINDS: tuple[Kind, ...] = ("value", "filter", "join", "group", "window", "order", "subquery")
# How Delta and Spark name what is inside an array and a map.
ELEMENT, KEY, VALUE = "element", "key", "value"


class ColumnPath(NamedTuple):
    """A column of a dataset, or a field inside it; if not `whole`, only whether it is there, and how long."""

    dataset: str
    parts: tuple[str, ...]
    whole: bool = True

    @property
    def column(self) -> str:
        """The path as people write it."""
        return ".".join(f"`{part}`" if "." in part else part for part in self.parts)


class Dependence(NamedTuple):
    """One column and how it matters."""

    path: ColumnPath
    kind: Kind


Dependences = frozenset[Dependence]
NONE: Dependences = frozenset()


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression's values depend on.

    Attributes:
        copies: Input columns that the value is a copy of; a field of it is a field of them.
        others: What the value depends on as a whole.
        parts: What its fields (or `element`; or `key` and `value`) were made of.
    """

    copies: Dependences = NONE
    others: Dependences = NONE
    parts: Mapping[str, Value] = field(default_factory=dict[str, "Value"])

    def all(self) -> Dependences:
        """Everything that the value, with all its parts, depends on."""
        if not self.parts:
            return self.copies | self.others if self.others else self.copies
        return self.copies.union(self.others, *(part.all() for part in self.parts.values()))

    def part(self, name: str) -> Value:
        """A field; or the elements of an array, the keys or values of a map."""
        deeper = frozenset(
            Dependence(path._replace(parts=(*path.parts, name)), kind) for path, kind in self.copies
        )
        inner = self.parts.get(name)
        if inner is None:
            return Value(deeper, self.others)
        return Value(inner.copies | deeper, inner.others | self.others, inner.parts)

    def shape(self) -> Dependences:
        """What decides whether the value is null and how long it is."""
        return self.others | {Dependence(path._replace(whole=False), kind) for path, kind in self.copies}

    def also(self, more: Dependences) -> Value:
        """The same value, depending on more."""
        return Value(self.copies, self.others | more, self.parts) if more else self

    def besides(self, kind: Kind) -> Value:
        """The same value, all of whose dependences are of another kind as well."""
        parts = {name: part.besides(kind) for name, part in self.parts.items()}
        return Value(self.copies | all_as(self.copies, kind), self.others | all_as(self.others, kind), parts)


NOTHING = Value()


def column_value(dataset: str, name: str) -> Value:
    """The values of a dataset's column."""
    return Value(copies=frozenset({Dependence(ColumnPath(dataset, (name,)), "value")}))


def opaque(values: Iterable[Value]) -> Value:
    """A value worked out of others, in whatever way."""
    return Value(others=NONE.union(*(value.all() for value in values)))


def either(values: Iterable[Value]) -> Value:
    """A value that is one of several."""
    copies, others = NONE, NONE
    parts: dict[str, Value] = {}
    for value in values:
        copies |= value.copies
        others |= value.others
        for name, part in value.parts.items():
            parts[name] = either((parts[name], part)) if name in parts else part
    return Value(copies, others, parts)


def made_of(parts: Iterable[tuple[str, Value]]) -> Value:
    """A value put together; of two parts of one name, told apart by their place, each stands for both."""
    return either(Value(parts={name: part}) for name, part in parts)


def in_role(dependences: Dependences, kind: Kind) -> Dependences:
    """Values that are used in some role; what already has another role keeps it."""
    return frozenset(Dependence(path, kind if was == "value" else was) for path, was in dependences)


def all_as(dependences: Dependences, kind: Kind) -> Dependences:
    """The same columns, all of one kind."""
    return frozenset(Dependence(path, kind) for path, _ in dependences)


def without_covered(dependences: Iterable[Dependence]) -> list[Dependence]:
    """Sorted, without what another dependence of the same kind says more exactly.

    That an array's length matters goes without saying where one of its elements' fields does.
    """
    exact = sorted(set(dependences))
    deeper = {
        (path.dataset, path.parts[:size], kind)
        for path, kind in exact
        for size in range(1, len(path.parts) + 1)
        if path.whole or size < len(path.parts)
    }
    return [each for each in exact if each.path.whole or (*each.path[:2], each.kind) not in deeper]


def minimal_paths(dependences: Iterable[Dependence]) -> tuple[ColumnPath, ...]:
    """The columns and fields that must be read, sorted: the coarser path stands for the finer."""
    paths = {path for path, _ in dependences}
    whole = {(path.dataset, path.parts) for path in paths if path.whole}
    inner = {(path.dataset, path.parts[:size]) for path in paths for size in range(1, len(path.parts))}
    covered = inner | whole
    kept = {
        ColumnPath(path.dataset, path.parts)
        for path in paths
        if (path.whole or (path.dataset, path.parts) not in covered)
        and not any((path.dataset, path.parts[:size]) in whole for size in range(1, len(path.parts)))
    }
    return tuple(sorted(kept))


def realigned(value: Value, source: SparkType | None, target: SparkType | None) -> Value:
    """A value seen as another type: fields keep their places, not their names.

    A plain value of another type is no copy: whether it is null depends on more than whether it was.
    """
    if _same_layout(source, target):
        return value
    inner, outer = _parts(source), _parts(target)
    if len(inner) != len(outer) or not inner:
        return opaque((value,))
    pairs = zip(inner, outer, strict=True)
    parts = ((new, realigned(value.part(old), was, now)) for (old, was), (new, now) in pairs)
    return made_of(parts).also(value.shape())


def _same_layout(one: SparkType | None, two: SparkType | None) -> bool:
    """Whether two types differ at most in what may be null."""
    first, second = _parts(one), _parts(two)
    if one == two or not first or not second:
        return one == two
    return [name for name, _ in first] == [name for name, _ in second] and all(
        _same_layout(mine, other) for (_, mine), (_, other) in zip(first, second, strict=True)
    )


def _parts(kind: SparkType | None) -> list[tuple[str, SparkType]]:
    """The parts of a type, by name, in order."""
    if isinstance(kind, str) or kind is None:
        return []
    match kind["type"]:
        case "struct":
            fields = cast("list[dict[str, Any]]", kind["fields"])
            return [(each["name"], each["type"]) for each in fields]
        case "array":
            return [(ELEMENT, kind["elementType"])]
        case "map":
            return [(KEY, kind["keyType"]), (VALUE, kind["valueType"])]
        case _:
            return []


def field_names(kind: SparkType | None) -> list[str]:
    """The names of a struct's fields, in order."""
    return [name for name, _ in _parts(kind)]


def element_type(kind: SparkType | None) -> SparkType | None:
    """The type of an array's elements."""
    return None if isinstance(kind, str) or kind is None else kind.get("elementType")


def is_map(kind: SparkType | None) -> bool:
    """Whether a type is a map."""
    return not isinstance(kind, str) and kind is not None and kind["type"] == "map"
