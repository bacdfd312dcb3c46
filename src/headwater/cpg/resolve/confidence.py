"""How sure a candidate of a call is: one table, by how it was found and by how many others there are.

    resolver   found by
    value      where values go: the function is among those that the called expression may be
    class      the same, and it is a class whose instances are made without code of the repository
    builtin    the same, and it is a builtin function, type or method
    external   the same, and it is outside of the repository, by the name that it is imported with
    name       nothing but its name: no other method of the repository is called so, or few are

Candidates that agree share what they have; outside names count little beside functions of the repository,
since what is outside may have any attribute. What comes from a variable with too much in it is never sure.
Not here: which candidates there are.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Resolution: TypeAlias = Literal["exact", "likely", "ambiguous", "dynamic", "unresolved", "external"]

# By resolver: up to how many candidates, and how sure each of them is then.
CONFIDENCE: dict[str, tuple[tuple[int, float], ...]] = {
    "value": ((1, 0.95), (3, 0.85), (8, 0.7), (16, 0.55), (1_000_000, 0.4)),
    "class": ((1, 0.95), (3, 0.85), (8, 0.7), (16, 0.55), (1_000_000, 0.4)),
    "builtin": ((1, 0.95), (3, 0.85), (8, 0.7), (1_000_000, 0.4)),
    "external": ((1, 0.9), (3, 0.7), (8, 0.5), (1_000_000, 0.3)),
    "name": ((1, 0.45), (3, 0.3), (1_000_000, 0.1)),
}
BESIDE_OWN = 0.3  # something outside where a function of the repository is a candidate, too
WIDE = 0.45  # at most, where not all candidates could be kept
EXPORT_THRESHOLD = 0.5  # from which on a candidate counts as called, unless another is asked for


def confidence_of(resolver: str, count: int, *, is_beside_own: bool = False, is_wide: bool = False) -> float:
    """How sure a candidate is among so many.

    >>> confidence_of("value", 1), confidence_of("value", 2), confidence_of("external", 1, is_beside_own=True)
    (0.95, 0.85, 0.3)
    """
    found = next(sure for most, sure in CONFIDENCE[resolver] if count <= most)
    if is_beside_own:
        found = min(found, BESIDE_OWN)
    return min(found, WIDE) if is_wide else found


def resolution_of(resolver: str, count: int, *, is_wide: bool) -> Resolution:
    """What a call is said to be whose best candidate was found so."""
    if is_wide:
        return "dynamic"
    if count > 1:
        return "ambiguous"
    if resolver == "external":
        return "external"
    return "likely" if resolver == "name" else "exact"
