"""Rows of types, and of what speaks for each: annotations, stubs, docstrings, values and defaults.

    source       says
    annotation   what is written at a parameter, function or name
    stub         what is written there in the stub beside the file
    docstring    what a docstring says of a parameter, or of what is returned
    inferred     what values may get there, as the solver found it; nothing if one of them has no known type
    default      what the default of a parameter is; None says only that it may be None

The first source in this order that says something wins. One that another agrees with is surer, but never as
sure as the source before it. Not here: how any of it is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.resolve.agreeing import agree
from headwater.cpg.resolve.canonical import NONE, UNKNOWN, union_of
from headwater.cpg.resolve.symbols import builtin_symbol, external_symbol

if TYPE_CHECKING:
    from headwater.cpg.resolve.canonical import Type
    from headwater.cpg.resolve.naming import Naming

# How sure each source is alone, and when another agrees; what is inferred, by how many members it has.
SURE = {
    "annotation": (0.95, 0.98),
    "stub": (0.9, 0.94),
    "docstring": (0.75, 0.85),
    "inferred": (0.6, 0.7),
    "default": (0.4, 0.45),
}
_LESS = 0.5  # for what is inferred where some values are not known, or members are several
_ONLY_NONE = 0.2
SOURCES = tuple(SURE)
_OPTIONAL = union_of([UNKNOWN, NONE])


@dataclass(frozen=True, slots=True)
class TypeRows:
    """One entry per type, by its text.

    `args` are texts: types that are entries themselves, `...`, types with stars before them, lists and
    literals. Those of a callable are its parameters, and last what it returns.
    """

    repr: list[str] = field(default_factory=list[str])
    form: list[str] = field(default_factory=list[str])
    origin_symbol: list[str | None] = field(default_factory=list["str | None"])
    args: list[list[str]] = field(default_factory=list["list[str]"])


@dataclass(frozen=True, slots=True)
class TypeFactRows:
    """One entry per node and source, by path, node and source; `type` is the index of the type.

    Nodes of names are those behind the tree's. Each node has one winner.
    """

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    type: list[int] = field(default_factory=list[int])
    source: list[str] = field(default_factory=list[str])
    confidence: list[float] = field(default_factory=list[float])
    is_winner: list[bool] = field(default_factory=list[bool])


@dataclass(slots=True)
class Said:
    """What is said of a node, by source; `is_partial` if not all of its values are known."""

    by: dict[str, Type] = field(default_factory=dict[str, "Type"])
    is_partial: bool = False
    is_wide: bool = False


@dataclass(slots=True)
class TypeTable:
    """Types so far, by text, and facts about them."""

    naming: Naming
    types: dict[str, Type] = field(default_factory=dict[str, "Type"])
    facts: list[tuple[str, int, str, str, float, bool]] = field(
        default_factory=list["tuple[str, int, str, str, float, bool]"]
    )

    def add(self, path: str, node: int, said: Said) -> None:
        """Add the facts about a node."""
        by = said.by
        is_first = True
        for source in SOURCES:
            type_ = by.get(source)
            if type_ is None:
                continue
            if type_ is NONE and source == "default":
                type_ = _OPTIONAL
            self._keep(type_)
            sure = self._sure(source, type_, said)
            self.facts.append((path, node, type_.text, source, sure, is_first))
            is_first = False

    def _sure(self, source: str, type_: Type, said: Said) -> float:
        if type_ is _OPTIONAL:
            return _ONLY_NONE
        alone, agreed = SURE[source]
        if source == "inferred" and (said.is_partial or said.is_wide or type_.form == "union"):
            alone = _LESS
        if len(said.by) > 1:
            bases = self.naming.bases_of
            for other, its in said.by.items():
                is_same = {source, other} == {"inferred", "default"}  # defaults are values, too
                if other != source and not is_same and agree(type_, its, bases):
                    return agreed
        return alone

    def _keep(self, type_: Type) -> None:
        if type_.text not in self.types:
            self.types[type_.text] = type_
            for each in type_.args:
                self._keep(each)

    def rows(self) -> tuple[TypeRows, TypeFactRows]:
        """All of them, in order."""
        types, facts = TypeRows(), TypeFactRows()
        index: dict[str, int] = {}
        for text in sorted(self.types):
            type_ = self.types[text]
            index[text] = len(types.repr)
            types.repr.append(text)
            types.form.append(type_.form)
            types.origin_symbol.append(self._symbol(type_))
            types.args.append(list(type_.told))
        for path, node, text, source, sure, is_winner in self.facts:
            facts.path.append(path)
            facts.node.append(node)
            facts.type.append(index[text])
            facts.source.append(source)
            facts.confidence.append(sure)
            facts.is_winner.append(is_winner)
        return types, facts

    def _symbol(self, type_: Type) -> str | None:
        name = type_.name
        if not name or type_.form == "unknown":
            return None
        if type_.form == "typevar":
            return self._of(f"~{name}")
        if type_.form == "module":
            return self._of(f"module[{name}]")
        return self._of(name)

    def _of(self, name: str) -> str:
        known = self.naming.symbols.get(name)
        if known is not None:
            return known
        plain = name.strip("`~").removeprefix("module[").removesuffix("]")
        is_outside = "." in plain or name.startswith("module[")
        return external_symbol(plain, self.naming.outcome.names) if is_outside else builtin_symbol(plain)
