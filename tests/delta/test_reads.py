from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from headwater.delta import LatestVersions, read_head, read_pinned
from headwater.errors import NotADeltaTable, VersionNotFound
from headwater.runtime import (
    CacheProfile,
    RunSession,
    RuntimeProfile,
    SessionRuntime,
    cache_policy,
    open_runtime,
)

if TYPE_CHECKING:
    from pathlib import Path


class FixedClock:
    """A clock that is set by hand."""

    seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self):  # noqa: ANN201
        raise AssertionError

    def new_token(self) -> str:
        raise AssertionError


def write(session: RunSession, table: Path, count: int) -> None:
    session.spark.range(count).write.format("delta").mode("overwrite").save(str(table))


def test_a_pinned_read_is_of_its_version(session: RunSession, tmp_path: Path) -> None:
    write(session, tmp_path, 2)
    pin = read_head(tmp_path.as_uri()).pin("t")
    write(session, tmp_path, 5)
    assert read_pinned(session, pin).count() == 2
    assert read_pinned(session, read_head(tmp_path.as_uri()).pin("t")).count() == 5


def test_a_table_made_anew_is_another_table(session: RunSession, tmp_path: Path) -> None:
    table = tmp_path / "t"
    write(session, table, 2)
    pin = read_head(table.as_uri()).pin("t")
    shutil.rmtree(table)
    with pytest.raises(VersionNotFound):
        read_pinned(session, pin)
    write(session, table, 2)
    assert read_head(table.as_uri()).version == pin.version
    with pytest.raises(VersionNotFound) as caught:
        read_pinned(session, pin)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("profile", "seen"),
    [
        ("snapshot_pinned", [1, 1, 1, 1]),
        ("always_latest_ttl30s", [1, 1, 1, 2]),
        ("multi_tenant_strict", [1, 2, 2, 2]),
    ],
)
def test_when_a_commit_from_outside_is_seen(
    runtime: SessionRuntime, tmp_path: Path, profile: CacheProfile, seen: list[int]
) -> None:
    """While the session is open: never, within 30 seconds, at once."""
    opened = open_runtime(replace(RuntimeProfile(master="local[2]", driver_memory="1g"), cache=profile))
    clock = FixedClock()
    latest = LatestVersions(opened.identity.cache, clock)
    with runtime.checkout() as outside, opened.checkout() as session:
        write(outside, tmp_path, 1)

        def count() -> int:
            return read_pinned(session, latest.pin("t", tmp_path.as_uri())).count()

        found = [count()]
        write(outside, tmp_path, 2)
        for second in (0.0, 29.9, 30.0):
            clock.seconds = second
            found.append(count())
    assert found == seen


def test_a_strict_session_uses_no_log_that_others_cached(runtime: SessionRuntime, tmp_path: Path) -> None:
    base = RuntimeProfile(master="local[2]", driver_memory="1g")
    strict = open_runtime(replace(base, cache="multi_tenant_strict"))
    with runtime.checkout() as shared, strict.checkout() as alone:
        write(shared, tmp_path, 1)
        pin = read_head(tmp_path.as_uri()).pin("t")

        def cached_log(session: RunSession) -> int:
            read_pinned(session, pin).count()
            log = session.jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session.jvm_session, str(tmp_path))
            return int(session.jvm.java.lang.System.identityHashCode(log))

        first, second = cached_log(shared), cached_log(shared)
        assert first == second
        third, fourth = cached_log(alone), cached_log(alone)
        assert len({first, third, fourth}) == 3


def test_a_version_just_made_is_remembered(tmp_path: Path, session: RunSession) -> None:
    latest = LatestVersions(cache_policy("snapshot_pinned"), FixedClock())
    write(session, tmp_path, 1)
    old = latest.pin("t", tmp_path.as_uri())
    write(session, tmp_path, 2)
    new = read_head(tmp_path.as_uri()).pin("t")
    assert latest.pin("t", tmp_path.as_uri()) == old
    latest.remember(new)
    assert latest.pin("t", tmp_path.as_uri()) == new


def test_two_names_may_stand_for_one_table(tmp_path: Path, session: RunSession) -> None:
    write(session, tmp_path, 1)
    latest = LatestVersions(cache_policy("snapshot_pinned"), FixedClock())
    assert [latest.pin(name, tmp_path.as_uri()).name for name in ("a", "b")] == ["a", "b"]


def test_a_missing_table_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(NotADeltaTable):
        LatestVersions(cache_policy("snapshot_pinned"), FixedClock()).pin("t", (tmp_path / "x").as_uri())
