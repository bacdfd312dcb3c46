"""The order in which Python looks for attributes in a class and its bases (C3).

Not here: which bases a class has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def linearise(class_: int, bases: Sequence[int], order_of: Callable[[int], Sequence[int]]) -> tuple[int, ...]:
    """The class, then all that it inherits from; where Python would refuse, each class where it comes first.

    Args:
        class_: the class
        bases: its bases as they are written; one that is there twice counts once
        order_of: the same for a base

    >>> orders = {1: (1,), 2: (2, 1), 3: (3, 1)}
    >>> linearise(4, [2, 3], orders.__getitem__)
    (4, 2, 3, 1)
    """
    bases = list(dict.fromkeys(base for base in bases if base != class_))
    lists = [list(order_of(base)) for base in bases] + [bases]
    merged = _merge([each for each in lists if each])
    if merged is None:
        merged = list(dict.fromkeys(each for some in lists for each in some))
    return (class_, *(each for each in merged if each != class_))


def _merge(lists: list[list[int]]) -> list[int] | None:
    merged: list[int] = []
    while lists:
        tails = [frozenset(each[1:]) for each in lists]
        head = next((each[0] for each in lists if not any(each[0] in tail for tail in tails)), None)
        if head is None:
            return None
        merged.append(head)
        lists = [rest for each in lists if (rest := each[1:] if each[0] == head else each)]
    return merged
