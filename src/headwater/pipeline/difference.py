"""The first difference of two plans, in words: what a view's author needs to find the line that caused it.

Not here: deciding whether plans differ; that is done on bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from google.protobuf.message import Message

from headwater.messages import CALLS, is_map, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from google.protobuf.descriptor import FieldDescriptor

_SHOWN = 80


def first_difference(one: Message, two: Message) -> str:
    """The first field, in plan order, in which two messages of one type differ, in words."""
    work: list[tuple[Message, Message, str]] = [(one, two, "")]
    while work:
        first, second, caller = work.pop()
        name = first.DESCRIPTOR.full_name
        if name in CALLS:
            caller = text_of(first, "function_name")
        pairs: list[tuple[Message, Message, str]] = []
        for field in cast("Sequence[FieldDescriptor]", first.DESCRIPTOR.fields):
            found = _difference_in(field, first, second, caller, pairs)
            if found:
                return found
        work.extend(reversed(pairs))
    return "the bytes differ, the messages do not"


def _difference_in(
    field: FieldDescriptor,
    first: Message,
    second: Message,
    caller: str,
    pairs: list[tuple[Message, Message, str]],
) -> str:
    """Words for a difference in `field` itself; messages to compare further are added to `pairs`."""
    place = f"{first.DESCRIPTOR.name}.{field.name}" + (f" (an argument of {caller})" if caller else "")
    ours, theirs = _present(field, first), _present(field, second)
    if len(ours) != len(theirs):
        if field.is_repeated:
            return f"{place} has {len(ours)} entries in one build and {len(theirs)} in the other"
        kinds = " and then ".join(_kind_of(message) for message in (first, second))
        return f"{first.DESCRIPTOR.name} was {kinds}"
    for mine, other in zip(ours, theirs, strict=True):
        if isinstance(mine, Message) and isinstance(other, Message):
            pairs.append((mine, other, caller))
        elif mine != other:
            return f"{place} was {_shown(mine)} and then {_shown(other)}"
    return ""


def _present(field: FieldDescriptor, message: Message) -> list[object]:
    if field.is_repeated:
        value: object = getattr(message, field.name)
        if is_map(field):
            entries = cast("Mapping[object, object]", value)
            return [part for key in sorted(entries, key=str) for part in (key, entries[key])]
        return list(cast("Sequence[object]", value))
    if field.has_presence and not message.HasField(field.name):
        return []
    return [getattr(message, field.name)]


def _kind_of(message: Message) -> str:
    return ", ".join(field.name for field, _ in message.ListFields() if field.name != "common") or "empty"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
