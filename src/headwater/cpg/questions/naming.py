"""What people call a definition, and which it is: a dotted name or the end of one, a symbol, or a place.

Not here: what is asked about it.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from headwater.errors import NameAmbiguous, NameUnknown

if TYPE_CHECKING:
    from headwater.cpg.questions.code import Code

_PLACE = re.compile(r"(?P<path>.+\.pyi?):(?P<line>\d+)")
_MOST_NEAR = 5


def named(code: Code, text: str) -> list[int]:
    """The definitions of the one thing that a text means: several where its name is defined several times.

    Args:
        code: where to look.
        text: a dotted name, its last parts (`Cart.total`), a symbol, or `path:line`: what stands there.

    Raises:
        NameUnknown: there is nothing of that name.
        NameAmbiguous: there are several things; what is in the repository goes before what is outside.
    """
    found = matching(code, text)
    if not found:
        near = ", ".join(_near(code, text))
        raise NameUnknown(name=text, hint=f"Near: {near}. " if near else "")
    own = [each for each in found if not code.is_outside(each)] or found
    names = list(dict.fromkeys(code.names[each] for each in own))
    if len(names) > 1:
        candidates = tuple(place_of(code, code.of_name(each)[0]) for each in names)
        raise NameAmbiguous(name=text, count=len(candidates), candidates=candidates)
    return own


def matching(code: Code, text: str) -> list[int]:
    """All definitions that a text may mean: those of that name, else those whose name ends with it.

    If there are none, it may be what a module imports (`shop.Cart`), or what a class has from a base.
    """
    place = _PLACE.fullmatch(text)
    if place is not None:
        return _standing_at(code, place["path"], int(place["line"]))
    symbol = code.of_symbol(text)
    if symbol is not None:
        return [symbol]
    if exact := code.of_name(text):
        return list(exact)
    ending = f".{text}"
    found = [node for node, name in enumerate(code.names) if name.endswith(ending)]
    return found or _imported(code, text) or _inherited(code, text)


def _imported(code: Code, text: str) -> list[int]:
    """What a module has by that name from another."""
    owner, _, last = text.rpartition(".")
    found = {
        edge.target
        for module in code.of_name(owner)
        if code.kinds[module] == "module" and not code.is_outside(module)
        for edge in code.out_of(module, "IMPORTS")
        if code.kinds[edge.target] != "module" and code.names[edge.target].endswith(f".{last}")
    }
    return sorted(found)


def _inherited(code: Code, text: str) -> list[int]:
    """What a class has by that name from the nearest of its bases (`Child.total`)."""
    owner, dot, last = text.rpartition(".")
    if not dot:
        return []
    starts = [node for node in matching(code, owner) if code.kinds[node] == "class"]
    above = code.reached(starts, lambda node: code.out_of(node, "INHERITS"), into=False, depth=None)
    for node in above:
        if found := code.of_name(f"{code.names[node]}.{last}"):
            return list(found)
    return []


def place_of(code: Code, node: int) -> str:
    """A definition as a line of a list: its name, and where it stands."""
    where = code.dists[node] if code.is_outside(node) else f"{code.paths[node]}:{code.lines[node] or 1}"
    return f"{code.names[node]} ({code.kinds[node]}, {where})"


def _standing_at(code: Code, path: str, line: int) -> list[int]:
    """The innermost definition around a line."""
    around = [
        node
        for node, (own, start, end) in enumerate(zip(code.paths, code.lines, code.ends, strict=True))
        if own == path
        and code.kinds[node] not in {"variable", "lambda"}
        and (code.kinds[node] == "module" or (start or 0) <= line <= (end or 0))
    ]
    return (
        [max(around, key=lambda node: (code.kinds[node] != "module", code.lines[node] or 0))]
        if around
        else []
    )


def _near(code: Code, text: str) -> list[str]:
    """Names that look like it, by their last part."""
    last = text.rsplit(".", 1)[-1]
    short: dict[str, str] = {}
    for node, name in enumerate(code.names):
        if not code.is_outside(node):
            short.setdefault(name.rsplit(".", 1)[-1], name)
    return [short[each] for each in get_close_matches(last, list(short), _MOST_NEAR)]
