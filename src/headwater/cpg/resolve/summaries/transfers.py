"""From which variable to which values go inside of defs: the part of value facts that summaries need.

Not here: what follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.cpg.extract.values.facts import (
    ARG,
    ATTR,
    AWAIT,
    CALL,
    COPY,
    ELEMENT,
    ENTER,
    FORMATTED,
    ITEM,
    ITEM_BY,
    ITERATE,
    OPERATOR,
    RETURNS,
    SPREAD,
    UNPACK,
    YIELDS,
)
from headwater.cpg.resolve.defining import variables_of
from headwater.cpg.resolve.flow.heap import path_of_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.cpg.resolve.resolution import Program

ANY = "[*]"
# By which path, whether the value stays the same.
Way: TypeAlias = "tuple[str | None, bool]"


@dataclass(slots=True)
class Transfers:
    """By variable where its value goes; and for returned variables the functions, and whether they yield.

    There are so many of them that each is two entries of `out`: where to, and how, which many share.
    """

    out: dict[int, list[Any]] = field(default_factory=dict[int, "list[Any]"])
    ways: dict[Way, Way] = field(default_factory=dict["Way", "Way"])
    returned: dict[int, list[tuple[int, bool]]] = field(default_factory=dict[int, "list[tuple[int, bool]]"])

    def add(self, source: int, target: int, path: str | None, *, is_same: bool) -> None:
        """One more."""
        way = (path, is_same)
        way = self.ways.setdefault(way, way)
        known = self.out.get(source)
        if known is None:
            self.out[source] = [target, way]
        else:
            known += (target, way)

    def of(self, source: int) -> Iterator[tuple[int, Way]]:
        """Where a value goes, and how."""
        found = iter(self.out.get(source, ()))
        return zip(found, found, strict=True)


def find_transfers(program: Program) -> Transfers:  # noqa: C901, PLR0912  one loop, run for every fact
    """Go through the value facts of all files once."""
    found = Transfers()
    for file, base in zip(program.files, program.bases, strict=True):
        variable = variables_of(file, base).__getitem__
        targets, sources = map(variable, file.target), map(variable, file.source)
        call = -1  # the operator that arguments belong to; those of calls go by what is called
        for op, to, of, text in zip(file.op, targets, sources, file.text, strict=True):
            if op not in _WANTED or of == -1:
                call = -1 if op == CALL else call
                continue
            if op == ARG:
                if call >= 0:
                    found.add(of, call, None, is_same=False)
            elif op == CALL:
                call = -1
            elif op == OPERATOR:
                call = to
                found.add(of, to, None, is_same=False)
            elif op == ATTR:
                found.add(of, to, f".{text}", is_same=True)
            elif op in _KEYED:
                found.add(of, to, path_of_key(text), is_same=True)
            elif op in _ITEMS:
                found.add(of, to, ANY, is_same=True)
            elif op in _SAME:
                found.add(of, to, None, is_same=True)
            elif op in _INTO:
                found.add(of, to, None, is_same=False)
            else:
                found.returned.setdefault(of, []).append((to, op != RETURNS))
    return found


_KEYED = frozenset({ITEM, ITEM_BY})
_ITEMS = frozenset({UNPACK, ITERATE})
_SAME = frozenset({COPY, AWAIT})
_INTO = frozenset({ELEMENT, SPREAD, ENTER, FORMATTED})
_WANTED = frozenset({ARG, CALL, OPERATOR, ATTR, RETURNS, YIELDS}) | _KEYED | _ITEMS | _SAME | _INTO
