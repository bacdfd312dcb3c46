"""Whether two types agree: each member of the one is, or inherits from, a member of the other.

Not here: which of them is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from headwater.cpg.resolve.canonical import Type

_ITERABLE = frozenset({"collections.abc.Iterable", "object"})
_COLLECTION = _ITERABLE | {"collections.abc.Collection", "collections.abc.Container", "collections.abc.Sized"}
_SEQUENCE = _COLLECTION | {"collections.abc.Sequence", "collections.abc.Reversible"}
_MUTABLE = frozenset({"collections.abc.MutableSequence"})
# What instances of builtin types are, too.
_ALSO: dict[str, AbstractSet[str]] = {
    "bool": frozenset({"int", "float", "complex"}),
    "int": frozenset({"float", "complex"}),
    "float": frozenset({"complex"}),
    "list": _SEQUENCE | _MUTABLE,
    "tuple": _SEQUENCE,
    "str": _SEQUENCE,
    "bytes": _SEQUENCE,
    "set": _COLLECTION | {"collections.abc.Set", "collections.abc.MutableSet"},
    "frozenset": _COLLECTION | {"collections.abc.Set"},
    "dict": _COLLECTION | {"collections.abc.Mapping", "collections.abc.MutableMapping"},
    "collections.abc.Iterator": _ITERABLE,
    "collections.abc.Generator": _ITERABLE | {"collections.abc.Iterator"},
}
_NOTHING: AbstractSet[str] = frozenset()


def agree(one: Type, other: Type, bases_of: Callable[[str], AbstractSet[str]]) -> bool:
    """Whether either type covers the other; `Any` and what is unknown agree with nothing.

    Args:
        one: a type
        other: another
        bases_of: the full names of the classes that a class of the repository inherits from
    """
    if one.text == other.text:
        return one.form not in {"any", "unknown"}
    heads, others = _heads(one), _heads(other)
    return _covers(heads, others, bases_of) or _covers(others, heads, bases_of)


def _heads(type_: Type) -> AbstractSet[str]:
    """The members without their arguments; of what is a class, it matters which."""
    members = type_.args if type_.form == "union" else (type_,)
    return {
        each.text if each.name == "type" else each.name or each.form
        for each in members
        if each.form not in {"none", "any", "unknown"}
    }


def _covers(
    wide: AbstractSet[str], narrow: AbstractSet[str], bases_of: Callable[[str], AbstractSet[str]]
) -> bool:
    return bool(narrow) and all(
        each in wide or not _ALSO.get(each, _NOTHING).isdisjoint(wide) or not bases_of(each).isdisjoint(wide)
        for each in narrow
    )
