"""Connect plans as trees of protobuf messages: visiting them in a settled order, reading and setting fields.

Not here: what any of the messages mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from google.protobuf.internal import api_implementation
from google.protobuf.message import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from google.protobuf.descriptor import FieldDescriptor

# upb stops at messages a hundred levels deep, which is a view of fifty steps; Spark's own limit is 1024. The
# switch is upb's only one for that, and it is for the whole process.
_upb = cast("Any", getattr(api_implementation, "_c_module", None))
if _upb is not None:
    _upb.SetAllowOversizeProtos(True)


# Messages that call a function by a name in their field `function_name`.
CALLS = frozenset(
    {
        "spark.connect.Expression.UnresolvedFunction",
        "spark.connect.CallFunction",
        "spark.connect.UnresolvedTableValuedFunction",
    }
)


def messages_of(root: Message) -> Iterator[Message]:
    """Every message of the plan, parents first, in an order that only content decides.

    A list of work instead of recursion: a loop of a thousand `withColumn` is a plan that deep.
    """
    work = [root]
    while work:
        message = work.pop()
        yield message
        work.extend(reversed(children_of(message)))


def children_of(message: Message) -> list[Message]:
    """The messages directly below one, in the order of its fields; entries of maps by their key."""
    found: list[Message] = []
    for field, value in message.ListFields():
        if field.message_type is None:  # pyright: ignore[reportUnnecessaryComparison]
            continue  # most are texts and numbers
        if not field.is_repeated:
            found.append(value)
        elif is_map(field):
            entries = cast("Mapping[object, object]", value)
            ordered = (entries[key] for key in sorted(entries, key=str))
            found += [each for each in ordered if isinstance(each, Message)]
        else:
            found += value
    return found


def is_map(field: FieldDescriptor) -> bool:
    """Whether the field is a map, which Python shows as a mapping and not as a sequence."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry  # pyright: ignore[reportUnnecessaryComparison]


def value_of(message: Message, field: str) -> object:
    """A field by its name, for messages known only by their descriptor."""
    return getattr(message, field)


def text_of(message: Message, field: str) -> str:
    """A string field by its name."""
    return cast("str", getattr(message, field))


def put(message: Message, field: str, value: object) -> None:
    """Sets a scalar field by its name."""
    setattr(message, field, value)


def is_streaming(plan: Message) -> bool:
    """Whether any leaf of the plan is a stream."""
    return any(is_stream(message) for message in messages_of(plan))


def is_stream(message: Message) -> bool:
    """Whether this very message reads a stream."""
    return message.DESCRIPTOR.full_name == "spark.connect.Read" and bool(value_of(message, "is_streaming"))
