"""What members are told, and how."""

from __future__ import annotations

import sys
from functools import partial, wraps
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from library.books import Book
    from library.members import Member


def counted(function):
    """Counts how often a function is called."""

    @wraps(function)
    def counting(*args, **kwargs):
        counting.calls += 1
        return function(*args, **kwargs)

    counting.calls = 0
    return counting


def silent(member: Member, book: Book) -> None:
    return None


@counted
def written(member: Member, book: Book, *, out) -> None:
    out.write(f"{member.greeting()}: {book.title}\n")


printed = partial(written, out=sys.stdout)
