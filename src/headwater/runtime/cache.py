"""How long a session may believe what it last saw of a table.

Not here: the tables; `delta` asks this policy before it looks at a log again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.runtime.profile import CacheProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePolicy:
    """A cache profile in numbers: how many seconds a version stays good, and whether sessions share it.

    `ttl_seconds` None means for as long as the session lives.
    """

    name: CacheProfile
    ttl_seconds: float | None
    shares_log_cache: bool


_POLICIES: dict[CacheProfile, CachePolicy] = {
    "snapshot_pinned": CachePolicy(name="snapshot_pinned", ttl_seconds=None, shares_log_cache=True),
    "always_latest_ttl30s": CachePolicy(name="always_latest_ttl30s", ttl_seconds=30, shares_log_cache=True),
    "multi_tenant_strict": CachePolicy(name="multi_tenant_strict", ttl_seconds=0, shares_log_cache=False),
}


def cache_policy(profile: CacheProfile) -> CachePolicy:
    """The policy behind a profile's name."""
    return _POLICIES[profile]
