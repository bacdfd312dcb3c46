"""Symbols of definitions: texts that are the same wherever the same thing is spoken of.

`headwater python <dist> <version> <descriptors>`, where descriptors go from the module to the thing: a module
ends in `/`, a class in `#`, a function in `().`, anything else in `.`; what is no plain name is between
backticks. The n-th thing of the same name in one place has `(+n)`. Not here: occurrences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.resolve.modules import is_of_python

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cpg.resolve.resolution import Program

_PLAIN = re.compile(r"[A-Za-z0-9_$+-]+")
_NAMES = re.compile(r"`((?:[^`]|``)*)`|([A-Za-z0-9_$+-]+)")
_NO_VERSION = "."
_PYTHON = "python"
_BUILTINS = "builtins"


@dataclass(frozen=True, slots=True, kw_only=True)
class Distributions:
    """The distribution of the repository, and those that modules outside belong to, by their first name."""

    name: str = "."
    version: str = _NO_VERSION
    of_modules: Mapping[str, str] | None = None
    versions: Mapping[str, str] | None = None

    def of(self, module: str) -> tuple[str, str]:
        """The distribution of a module outside, and its version."""
        top = module.partition(".")[0]
        if is_of_python(module):
            return _PYTHON, _NO_VERSION
        found = (self.of_modules or {}).get(top, top)
        return found, (self.versions or {}).get(found, _NO_VERSION)


def symbols_of(program: Program, names: Distributions) -> dict[int, str]:
    """The symbol of each module, class and function, by its variable."""
    solver = program.solver
    prefix = f"headwater python {names.name} {names.version} "
    symbols: dict[int, str] = {}
    counts: dict[tuple[int, str], int] = {}
    for file, base in zip(program.files, program.bases, strict=True):
        symbols[base + 1] = f"{prefix}{_quoted(solver.index.names.get(file.path, file.path))}/"
    defs = sorted([*solver.functions.values(), *solver.classes.values()], key=lambda each: each.variable)
    for each in defs:
        key = (each.around, each.name)
        counts[key] = number = counts.get(key, -1) + 1
        name = _quoted(each.name)
        if each.variable in solver.classes:
            own = f"{name}#" if not number else f"{name}(+{number})#"
        else:
            own = f"{name}()." if not number else f"{name}(+{number})."
        symbols[each.variable] = symbols[each.around] + own
    return symbols


def member_symbol(owner: str, name: str) -> str:
    """The symbol of a variable of a module or class.

    >>> member_symbol("headwater python . . shop/Cart#", "total")
    'headwater python . . shop/Cart#total.'
    """
    return f"{owner}{_quoted(name)}."


def external_symbol(dotted: str, names: Distributions) -> str:
    """The symbol of something outside, from its dotted name.

    >>> external_symbol("json.dumps", Distributions())
    'headwater python python . json/dumps.'
    """
    dist, version = names.of(dotted)
    module, _, rest = dotted.partition(".")
    own = "".join(_descriptor(part) for part in rest.split(".")) if rest else ""
    return f"headwater python {dist} {version} {_quoted(module)}/{own}"


def symbol_parts(symbol: str) -> tuple[str, str, str]:
    """The distribution, the version and the dotted name that a symbol outside is made of.

    >>> symbol_parts("headwater python python . builtins/str#join().")
    ('python', '.', 'builtins.str.join')
    """
    dist, version, descriptors = symbol.split(" ", 4)[2:]
    names = [quoted.replace("``", "`") if quoted else plain for quoted, plain in _NAMES.findall(descriptors)]
    return dist, version, ".".join(names)


def builtin_symbol(name: str, method: str | None = None) -> str:
    """The symbol of a builtin, or of a method of a builtin type."""
    own = f"{_quoted(name)}." if method is None else f"{_quoted(name)}#{_quoted(method)}()."
    return f"headwater python {_PYTHON} {_NO_VERSION} {_BUILTINS}/{own}"


def _descriptor(part: str) -> str:
    is_class = part[:1].isupper() and (len(part) == 1 or not part.isupper())
    return f"{_quoted(part)}{'#' if is_class else '.'}"


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"
