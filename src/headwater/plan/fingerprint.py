"""The identity of a planned view, kept in parts so that a difference can be named.

Not here: what each part is made of, which a bundle knows, and what differs, which `diff` says.
"""

from __future__ import annotations

import msgspec

from headwater.digest import digest_of

PARTS = ("code", "functions", "settings", "policies", "inputs")


class Fingerprint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Digests of what decides a view's rows and how they are written.

    Attributes:
        code: The canonical analysed plan.
        functions: What its functions compute: those of the catalogue, and those in Python.
        settings: The settings and versions that results depend on.
        policies: How its table is written, and the gates of what it reads.
        inputs: What it reads, at which version, or by which plan.
    """

    code: str
    functions: str
    settings: str
    policies: str
    inputs: str

    @property
    def digest(self) -> str:
        """All parts together: the cache key of a view's rows."""
        return digest_of([self.code, self.functions, self.settings, self.policies, self.inputs])

    def differing(self, other: Fingerprint) -> tuple[str, ...]:
        """The parts in which two differ, in a fixed order."""
        return tuple(part for part in PARTS if getattr(self, part) != getattr(other, part))
