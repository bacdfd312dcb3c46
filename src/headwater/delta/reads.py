"""Pinned reads, and the versions a session believes in: a read without a version does not exist.

Not here: where the name comes from, or what is done with the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.delta.head import read_head
from headwater.digest import digest_of_bytes
from headwater.errors import VersionNotFound
from headwater.runtime import engine_errors, local_path_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.clock import Clock
    from headwater.names import TablePin
    from headwater.runtime import CachePolicy, RunSession


def read_pinned(session: RunSession, pin: TablePin) -> DataFrame:
    """The rows of a table at a pin.

    Raises:
        VersionNotFound: that version is gone, or the table was made anew since.
    """
    path = local_path_of(pin.uri)
    commit = path / "_delta_log" / f"{pin.version:020}.json"
    try:
        content = commit.read_bytes()
    except OSError:
        raise VersionNotFound(path=str(path), version=pin.version) from None
    if digest_of_bytes(content) != pin.digest:
        raise VersionNotFound(path=str(path), version=pin.version)
    if not session.runtime.identity.cache.shares_log_cache:
        _forget_log(session, str(path))
    with engine_errors():
        return session.spark.read.format("delta").option("versionAsOf", pin.version).load(str(path))


class LatestVersions:
    """The newest version of each table as one session sees it, under the session's cache policy.

    `snapshot_pinned` keeps the first answer, `always_latest_ttl30s` looks again after 30 seconds,
    `multi_tenant_strict` looks every time and uses no log that other sessions have cached.
    """

    def __init__(self, policy: CachePolicy, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._seen: dict[str, tuple[float, TablePin]] = {}

    def pin(self, name: str, uri: str) -> TablePin:
        """The table at the version that this session may believe is the newest."""
        now = self._clock.monotonic()
        seen = self._seen.get(uri)
        if seen is not None and self._is_good(now - seen[0]):
            return replace(seen[1], name=name)  # two names may stand for one table
        pin = read_head(uri).pin(name)
        self._seen[uri] = (now, pin)
        return pin

    def remember(self, pin: TablePin) -> None:
        """Takes a version that this session has just made as the newest."""
        self._seen[pin.uri] = (self._clock.monotonic(), pin)

    def _is_good(self, age: float) -> bool:
        ttl = self._policy.ttl_seconds
        return ttl is None or age < ttl


def _forget_log(session: RunSession, path: str) -> None:
    """Delta keeps one log per path and JVM; a session that shares nothing makes its own."""
    session.jvm.org.apache.spark.sql.delta.DeltaLog.invalidateCache(
        session.jvm_session, session.jvm.org.apache.hadoop.fs.Path(path)
    )
