"""Symbols in the grammar of SCIP, which those of a graph obey but for classes that are defined again.

Not here: how symbols are made.
"""

from __future__ import annotations

import re

_NAME = r"(?:[A-Za-z0-9_+$-]+|`(?:[^`]|``)+`)"
_PART = re.compile(rf"(?P<name>{_NAME})(?P<suffix>\(\+[0-9]+\)#|\((?:\+[0-9]+)?\)\.|[/#.])")
# The scheme, the manager, the distribution and its version: none of them has a blank.
_PACKAGE = re.compile(r"(?:[^ ]+ ){4}")
_AGAIN = re.compile(r"(\(\+[0-9]+\))#")
_LOCAL = re.compile(r"local [A-Za-z0-9_+$-]+")


def is_local(symbol: str) -> bool:
    """Whether it is known in its own file only."""
    return symbol.startswith("local ")


def scip_symbol(symbol: str) -> str | None:
    """The symbol as SCIP writes it; None if there is no way to.

    The grammar counts methods of one name and nothing else; the number of a class becomes part of its name.

    >>> scip_symbol("headwater python shop 1.0 `shop.cart`/Cart#total().")
    'headwater python shop 1.0 `shop.cart`/Cart#total().'
    >>> scip_symbol("headwater python shop 1.0 shop/Cart(+1)#total().")
    'headwater python shop 1.0 shop/`Cart(+1)`#total().'
    """
    if is_local(symbol):
        return symbol if _LOCAL.fullmatch(symbol) else None
    package = _PACKAGE.match(symbol)
    if not package:
        return None
    place, parts = package.end(), [package.group()]
    while place < len(symbol):
        part = _PART.match(symbol, place)
        if not part:
            return None
        again = _AGAIN.fullmatch(part["suffix"])
        parts.append(f"`{_bare(part['name'])}{again[1]}`#" if again else part.group())
        place = part.end()
    return "".join(parts) if len(parts) > 1 else None


def last_part(symbol: str) -> tuple[str, str]:
    """The name of the last part of a symbol of the grammar, unquoted, and what it ends with.

    >>> last_part("headwater python python . builtins/str#join().")
    ('join', '().')
    """
    package = _PACKAGE.match(symbol)
    *_, part = _PART.finditer(symbol, package.end() if package else 0)
    return _bare(part["name"]).replace("``", "`"), part["suffix"]


def _bare(name: str) -> str:
    return name[1:-1] if name.startswith("`") else name
