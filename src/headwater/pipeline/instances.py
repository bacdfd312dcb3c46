"""What a class or an object of the project is made of, without what Python adds to it.

Not here: turning the parts into identities.
"""

from __future__ import annotations

import enum
import types
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Of a class: what Python writes itself, or what does not change what it does.
_NOISE = frozenset(
    {
        "__abstractmethods__",
        "__annotations__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__dict__",
        "__doc__",
        "__firstlineno__",
        "__match_args__",
        "__module__",
        "__orig_bases__",
        "__parameters__",
        "__qualname__",
        "__slotnames__",  # left behind by pickling
        "__slots__",
        "__static_attributes__",
        "__weakref__",
        "_abc_impl",
    }
)
_CONTAINERS: tuple[type, ...] = (tuple, list, set, frozenset, dict, int, float, str, bytes)


def fields_of(cls: type) -> Sequence[tuple[str, str, Sequence[object]]]:
    """Name, type and defaults of a dataclass's fields; nothing for other classes."""
    found: Sequence[Field[object]] = fields(cls) if is_dataclass(cls) else ()
    return [(field.name, str(field.type), _defaults_of(field)) for field in found]


def members_of(cls: type) -> Sequence[tuple[str, object]]:
    """Names and values of what the class defines itself, sorted; of an enumeration, its members first.

    A slot, or a field of a named tuple, has None for a value: its name is all there is to it.
    """
    members: list[tuple[str, object]] = sorted(vars(cls).items())
    if issubclass(cls, enum.Enum):
        # The rest of an enumeration's namespace is Python's own bookkeeping.
        functions = [(name, member) for name, member in members if isinstance(member, types.FunctionType)]
        values = [(name, cast("object", member.value)) for name, member in cls.__members__.items()]
        return [*values, *functions]
    return [
        (name, None if _is_slot(member) else member)
        for name, member in members
        if name not in _NOISE and not _is_generated(member)
    ]


def content_of(value: object) -> object:
    """The content of an object whose class extends a plain one, as that plain one; None for others."""
    for plain in _CONTAINERS:
        if isinstance(value, plain):
            return cast("Callable[[object], object]", plain)(value)
    return None


def state_of(value: object) -> Mapping[str, object]:
    """The attributes of an object, in its dictionary and in its slots."""
    slots = [
        name
        for cls in type(value).__mro__
        for name, member in sorted(vars(cls).items())
        if isinstance(member, types.MemberDescriptorType)
    ]
    held = cast("Mapping[str, object]", getattr(value, "__dict__", {}))
    return {**held, **{name: getattr(value, name) for name in slots if hasattr(value, name)}}


def _defaults_of(field: Field[object]) -> Sequence[object]:
    return [each for each in (field.default, field.default_factory) if each is not MISSING]


def _is_slot(member: object) -> bool:
    slots = (types.MemberDescriptorType, types.GetSetDescriptorType)
    return isinstance(member, slots) or type(member).__name__ == "_tuplegetter"


def _is_generated(member: object) -> bool:
    """Whether a method was written by dataclass or namedtuple: the fields say it all."""
    code = getattr(member, "__code__", None)
    return isinstance(code, types.CodeType) and code.co_filename.startswith("<")
