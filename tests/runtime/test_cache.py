from __future__ import annotations

from headwater.runtime import cache_policy


def test_each_profile_has_its_numbers() -> None:
    pinned = cache_policy("snapshot_pinned")
    latest = cache_policy("always_latest_ttl30s")
    strict = cache_policy("multi_tenant_strict")
    assert [each.ttl_seconds for each in (pinned, latest, strict)] == [None, 30, 0]
    assert [each.shares_log_cache for each in (pinned, latest, strict)] == [True, True, False]
