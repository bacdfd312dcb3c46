"""The catalogue of deterministic SQL primitives: what is installed before any planning.

Not here: the primitives themselves; each family has its own file.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.digest import digest_of


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class FunctionDefinition:
    """One primitive: the statement that installs it, and what names its behaviour."""

    name: str
    version: int
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSnapshot:
    """The functions a session has, and the digest that changes when, and only when, one of them does."""

    definitions: tuple[FunctionDefinition, ...]

    @property
    def digest(self) -> str:
        """The identity of the whole catalogue."""
        return digest_of([[each.name, each.version, each.statement] for each in sorted(self.definitions)])


# No family is part of the product yet; sessions install whatever stands here.
FUNCTIONS: tuple[FunctionDefinition, ...] = ()


def function_snapshot() -> FunctionSnapshot:
    """What every session of this version has."""
    return FunctionSnapshot(definitions=tuple(sorted(FUNCTIONS)))
