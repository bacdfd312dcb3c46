"""How sure a candidate of a call is: one table, by how it was found and by how many others there are.

    resolver   found by
    value      where values go: the function is among those that the called expression may be
    class      the same, and it is a class whose instances are made without code of the repository
    builtin    the same, and it is a builtin function, type or method
    external   the same, and it is outside of the repository, by the name that it is imported with
    declared   its class, or one above it, is that of an annotation; values say something else, or less
    name       nothing but its name: no other method of the repository is called so, or few are

Where the numbers come from: `bench/executed_calls.py` runs the tests of click, flask and jinja2 under a
tracer, and counts, at calls that were executed, how many candidates of each kind were called; it prints this
table again beside what it finds. A number of the table is that share. Neighbours in which more candidates
did better than fewer are one group, so that the table never rises: with four and more functions it is 214 of
491. Of declared types it is 78 of 433 whatever their number, of variables with too much in them 71 of 637, of
outside names beside functions of the repository 42 of 109. A candidate's number of others leaves out those
that are merely declared.

What is not measured: classes without code of their own cannot be traced, and count as functions do; several
outside names mostly share their last part, so that a trace does not tell them apart. Of 20 candidates by
name 13 were called, too few to say more than that; they are put below the threshold. The threshold lets in
what values say, however many there are, unless they were too many to keep; it was chosen with the table,
looking at the same packages.
Not here: which candidates there are.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias

Resolution: TypeAlias = Literal["exact", "likely", "ambiguous", "dynamic", "unresolved", "external"]

# By resolver: up to how many candidates, and how sure each of them is then.
CONFIDENCE: dict[str, tuple[tuple[int, float], ...]] = {
    "value": ((1, 0.98), (3, 0.55), (1_000_000, 0.44)),
    "class": ((1, 0.98), (3, 0.55), (1_000_000, 0.44)),
    "builtin": ((1, 0.99), (1_000_000, 0.97)),
    "external": ((1, 0.95), (3, 0.7), (8, 0.5), (1_000_000, 0.3)),
    "declared": ((1_000_000, 0.18),),
    "name": ((1, 0.39), (3, 0.3), (1_000_000, 0.1)),
}
BESIDE_OWN = 0.39  # something outside where a function of the repository is a candidate, too
WIDE = 0.11  # at most, where not all candidates could be kept
EXPORT_THRESHOLD = 0.4  # from which on a candidate counts as called, unless another is asked for


def confidence_of(resolver: str, count: int, *, is_beside_own: bool = False, is_wide: bool = False) -> float:
    """How sure a candidate is among so many.

    >>> confidence_of("value", 1), confidence_of("value", 2), confidence_of("external", 1, is_beside_own=True)
    (0.98, 0.55, 0.39)
    """
    found = _share(resolver, count)
    if is_beside_own:
        found = min(found, BESIDE_OWN)
    return min(found, WIDE) if is_wide else found


@cache
def _share(resolver: str, count: int) -> float:
    return next(sure for most, sure in CONFIDENCE[resolver] if count <= most)


def resolution_of(resolver: str, count: int, *, is_wide: bool) -> Resolution:
    """What a call is said to be whose best candidate was found so."""
    if is_wide:
        return "dynamic"
    if count > 1:
        return "ambiguous"
    if resolver == "external":
        return "external"
    return "likely" if resolver == "name" else "exact"
