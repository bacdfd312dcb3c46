"""What is at hand while the value facts of a file are found, and which variable an expression stands for.

Not here: what each kind of node says.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.cpg.extract.sites import mangle
from headwater.cpg.extract.values.facts import (
    CONST,
    COPY,
    FIRST_BINDING,
    IN,
    INT_KEY,
    NOTHING,
    PREFIX_KEY,
    SLICE_KEY,
    TEXT_KEY,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.cpg.extract.walk import Row

Fact: TypeAlias = "tuple[int, int, int, str | None]"

_LONGEST_KEY = 60  # a text that is longer is no key that anybody looks up
_MOST_STEPS = 32  # of names that stand for names; more of them are a loop
_TYPES: dict[type[object], str] = {
    str: "str",
    bytes: "bytes",
    int: "int",
    float: "float",
    complex: "complex",
    bool: "bool",
}


@dataclass(slots=True)
class Gathering:
    """The facts so far, and what names stand for.

    `binding_of` has the binding of each use; `reaching` the definitions that reach a use in its own def;
    `given` what a definition gets, as an expression or as a variable; `shared` are bindings that more than
    one def gives values; `updated` are the values of attributes and items that have just been stored.
    """

    rows: Sequence[Row]
    runners: Sequence[int | None]
    binding_of: Mapping[int, int]
    reaching: Mapping[int, list[int]]
    shared: frozenset[int]
    facts: list[Fact] = field(default_factory=list["Fact"])
    given: dict[int, Any] = field(default_factory=dict[int, Any])
    merged: dict[tuple[int, ...], int] = field(default_factory=dict["tuple[int, ...]", int])
    put_off: dict[int, None] = field(default_factory=dict[int, None])
    updated: dict[int, Any] = field(default_factory=dict[int, Any])
    runner: int | None = None

    def enter(self, row: int) -> None:
        """Say which def runs the node of a row, if it is another than that of the last call."""
        runner = self.runners[row]
        if runner != self.runner and runner is not None:
            self.runner = runner
            self.facts.append((IN, runner, NOTHING, None))

    def variable(self, node: Any) -> int:
        """The variable of an expression that is read."""
        kind = node.__class__
        if kind is ast.Name:
            return self.name(node.row)
        if kind is ast.Constant:
            return self._constant(node)
        if kind is ast.NamedExpr:
            return self.variable(node.value)
        if kind is ast.JoinedStr:
            self.facts.append(
                (CONST, node.row, NOTHING, prefix_text(node.values[0] if node.values else None))
            )
            return node.row
        if kind is ast.Compare:
            return NOTHING
        if kind is ast.UnaryOp and (node.op.__class__ is ast.Not or node.operand.__class__ is ast.Constant):
            return self._signed(node)
        return node.row

    def _signed(self, node: Any) -> int:
        """The variable of a number with its sign; what is only true or false is nothing."""
        value: object = node.operand.value if node.op.__class__ is ast.USub else None
        text = constant_text(-value) if isinstance(value, int | float) else None
        if text is None:
            return NOTHING
        self.facts.append((CONST, node.row, NOTHING, text))
        return node.row

    def name(self, row: int) -> int:
        """The variable of a name that is read at a row."""
        for _ in range(_MOST_STEPS):
            definitions = self.reaching.get(row)
            binding = self.binding_of.get(row)
            if definitions is None:
                return NOTHING if binding is None else FIRST_BINDING - binding
            if len(definitions) > 1 or binding in self.shared:
                return self._merge(row, definitions, binding)
            given: Any = self.given.get(definitions[0])
            if given.__class__ is not ast.Name:
                return self.definition(definitions[0])
            row = given.row
        return NOTHING

    def definition(self, row: int) -> int:
        """The variable of a definition."""
        given = self.given.get(row)
        if given is None:
            return row
        return given if given.__class__ is int else self.variable(given)

    def _merge(self, row: int, definitions: list[int], binding: int | None) -> int:
        """One variable for all definitions that reach a name; the same ones at another place are the same."""
        others = (FIRST_BINDING - binding,) if binding is not None and binding in self.shared else ()
        key = (*sorted(definitions), *others)
        known = self.merged.get(key)
        if known is None:
            self.merged[key] = known = row
            sources = [*(self._merged(each) for each in key[: len(definitions)]), *others]
            self.facts += [(COPY, row, source, None) for source in dict.fromkeys(sources) if source != row]
        return known

    def _merged(self, row: int) -> int:
        """The variable of a definition, put off where it is a name: names of names can go on and on."""
        if self.given.get(row).__class__ is not ast.Name:
            return self.definition(row)
        if row not in self.put_off:
            self.put_off[row] = None
        return row

    def settle(self) -> None:
        """Add the facts that were put off."""
        done = 0
        while done < len(self.put_off):
            for row in list(self.put_off)[done:]:
                done += 1
                self.copy(row, self.definition(row))

    def _constant(self, node: ast.Constant) -> int:
        text = constant_text(node.value)
        if text is None:
            return NOTHING
        row: int = node.__dict__["row"]
        self.facts.append((CONST, row, NOTHING, text))
        return row

    def copy(self, target: int, source: int, text: str | None = None) -> None:
        """The target gets what the source has, if there is anything."""
        if source not in {NOTHING, target}:
            self.facts.append((COPY, target, source, text))

    def attribute(self, node: ast.Attribute) -> str:
        """The name of an attribute as Python knows it."""
        name = node.attr
        if not name.startswith("__") or name.endswith("__"):
            return name
        row: int = node.__dict__["row"]
        while row > 1:
            row = self.rows[row][1]
            around = self.rows[row][0]
            if isinstance(around, ast.ClassDef):
                return mangle(name, around.name)
        return name


def constant_text(value: object) -> str | None:
    """The type of a literal, and its key after a blank if it may be one; nothing for what has no methods."""
    name = _TYPES.get(value.__class__)
    if name is None:
        return None
    key = key_text(value)
    return name if key is None else f"{name} {key}"


def prefix_text(node: ast.expr | None) -> str:
    """A text of which only the begin is known, from its first part or from what it is formatted with."""
    match node:
        case ast.Constant(value=str() as text) if (begin := text.partition("%")[0]).isidentifier():
            return f"str {PREFIX_KEY}{begin}"
        case _:
            return "str"


def key_text(value: object) -> str | None:
    """A key that is known."""
    if value.__class__ is str:
        text = str(value)
        return f"{TEXT_KEY}{text}" if len(text) <= _LONGEST_KEY and text.isprintable() else None
    if value.__class__ is int and -1000 < int(str(value)) < 10_000:  # noqa: PLR2004  no longer is a list
        return f"{INT_KEY}{value}"
    return None


def written_key(node: ast.expr) -> str | None:
    """The key that a subscript is written with, if it can be told: of a slice its begin and its end."""
    match node:
        case ast.Constant(value=value):
            return key_text(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return key_text(-value)
        case ast.Slice(lower=lower, upper=upper, step=None):
            begin, end = _bound(lower), _bound(upper)
            return None if begin is None or end is None else f"{SLICE_KEY}{begin}:{end}"
        case _:
            return None


def _bound(node: ast.expr | None) -> str | None:
    match node:
        case None:
            return ""
        case ast.Constant(value=int() as value):
            return str(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return str(-value)
        case _:
            return None
