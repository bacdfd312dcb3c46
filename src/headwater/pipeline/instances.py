"""What a class or an object of the project is made of, without what Python adds to it.

Not here: turning the parts into identities.
"""

from __future__ import annotations

import copyreg
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
# What `dataclass` writes as text and runs; the code's own name says that it did.
_DATACLASS_METHODS = frozenset(
    {
        "__delattr__",
        "__eq__",
        "__ge__",
        "__gt__",
        "__hash__",
        "__init__",
        "__le__",
        "__lt__",
        "__repr__",
        "__setattr__",
    }
)
# Their objects are values, and say of themselves how they are made (__reduce_ex__).
_VALUE_MODULES = frozenset(
    {
        "collections",
        "datetime",
        "decimal",
        "fractions",
        "ipaddress",
        "logging",
        "numpy",
        "operator",
        "pathlib",
        "pyarrow",
        "re",
        "uuid",
        "zoneinfo",
    }
)


def name_of(function: object) -> str:
    """What a function, or an object that is called like one, is called in messages."""
    name = cast("str | None", getattr(function, "__qualname__", None))
    return name or type(function).__qualname__


def description_of(value: object) -> str:
    """What an object is called in messages."""
    kind = type(value)
    return f"an object of {kind.__module__}.{kind.__qualname__}"


def is_value(value: object) -> bool:
    """Whether the object is one that says of itself how it is made."""
    return type(value).__module__.partition(".")[0] in _VALUE_MODULES


def fields_of(cls: type) -> Sequence[tuple[str, str, Sequence[object]]]:
    """Name, type and defaults of a dataclass's fields; nothing for other classes."""
    found: Sequence[Field[object]] = fields(cls) if is_dataclass(cls) else ()
    return [(field.name, str(field.type), _defaults_of(field)) for field in found]


def members_of(cls: type[object]) -> Sequence[tuple[str, object]]:
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
        if name not in _NOISE and not _is_generated(name, member)
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


def reduction_of(value: object) -> tuple[object, object, object, object, object] | None:
    """How a value says it is made: callable, arguments, state, items, pairs; None if it does not."""
    reduce = copyreg.dispatch_table.get(type(value), _reduce)
    try:
        made = reduce(value)
    except TypeError:
        return None
    if isinstance(made, str):
        return None  # a name is what a module's own objects reduce to; this one is not found under it
    callable_, arguments, state, listed, keyed = (*made, None, None, None)[:5]
    return callable_, arguments, state, listed, keyed


def _reduce(value: object) -> str | tuple[object, ...]:
    return value.__reduce_ex__(4)


def _defaults_of(field: Field[object]) -> Sequence[object]:
    # By type: pickling by value makes another object of the one that says "no default".
    found = (field.default, field.default_factory)
    return [each for each in found if not isinstance(each, type(MISSING))]


def _is_slot(member: object) -> bool:
    slots = (types.MemberDescriptorType, types.GetSetDescriptorType)
    return isinstance(member, slots) or type(member).__name__ == "_tuplegetter"


def _is_generated(name: str, member: object) -> bool:
    """Whether a method was written by dataclass: the fields say it all."""
    code = getattr(member, "__code__", None)
    return (
        name in _DATACLASS_METHODS
        and isinstance(code, types.CodeType)
        and code.co_filename == "<string>"
        and code.co_qualname.startswith("__create_fn__.")
    )
