"""What lists of what is resolved are made of, and made from.

Not here: any list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.cpg.resolution.aliases import Aliases
    from headwater.cpg.resolution.outside import Outside
    from headwater.cpg.resolution.places import Places
    from headwater.cpg.resolution.reading import Repository
    from headwater.cpg.resolve import ResolvedRows

_THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Listed:
    """The entries of a list: of each the row of its file, and its columns."""

    rows: Sequence[int]
    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is at hand while entries are made."""

    repo_id: str
    repository: Repository
    outside: Outside
    places: Places
    aliases: Aliases
    found: ResolvedRows


def thousandths(shares: Sequence[float]) -> list[int]:
    """Confidences as they are stored."""
    return [round(each * _THOUSAND) for each in shares]


def numbers_within(paths: Sequence[str]) -> list[int]:
    """The number of each entry among those of its file; entries of a file stand together."""
    numbers: list[int] = []
    last, number = None, 0
    for path in paths:
        number = number + 1 if path == last else 0
        last = path
        numbers.append(number)
    return numbers
