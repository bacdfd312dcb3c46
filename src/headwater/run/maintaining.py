"""Policies obeyed: what each table of a project is due for, why, and doing it. Only when asked to.

    due_for         what one table is due for
    maintain        does what is due for all tables, or for one; a dry run says what that is

Not here: how each operation goes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.artifacts import read_upkeep
from headwater.clock import Clock, SystemClock
from headwater.datasets import milliseconds_of
from headwater.delta import (
    Optimizing,
    clustering_of,
    commits_since_checkpoint,
    commits_since_clustered,
    describe_pin,
    file_size_of,
    first_kept,
    last_vacuumed,
    list_files,
    list_log,
    read_head,
    retention_of,
    small_files,
    wider_properties,
)
from headwater.errors import HeadwaterError, RecordUnreadable, UnknownSetting
from headwater.names import near_hint
from headwater.pipeline import EVERY_TABLE
from headwater.run.outcome import Listener, Progress, ignore_progress
from headwater.run.sessions import opened_session
from headwater.run.tables import tables_of
from headwater.run.upkeep import (
    Checkpoint,
    CleanLog,
    Optimize,
    Properties,
    UpkeepRequest,
    Vacuum,
    keep_table_in,
)
from headwater.runtime import local_path_of
from headwater.upkeep import UpkeepPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from headwater.delta import SnapshotInfo
    from headwater.names import TablePin
    from headwater.run.project import Project
    from headwater.run.upkeep import UpkeepDone, UpkeepOperation
    from headwater.runtime import RunSession, RuntimeProfile

_HOUR = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """An operation that a policy asks for, and why it is due."""

    wanted: UpkeepOperation
    reason: str


@dataclass(frozen=True, kw_only=True)
class Maintained:
    """One operation on one table: why, and what came of it, or the error that ended it.

    Without `due`, the error came up before it was known what is due.
    """

    table: str
    due: Due | None
    done: UpkeepDone | None = None
    error: HeadwaterError | None = None


@dataclass(frozen=True, kw_only=True)
class MaintainRequest:
    """Tables that are to be kept by their policies; `keep_pinned` is always meant."""

    profile: RuntimeProfile
    requests: tuple[tuple[UpkeepRequest, UpkeepPolicy], ...]
    spark: SparkSession | None = None


def maintain_request(
    over: Project | UpkeepRequest, *, reason: str = "", dry_run: bool = False
) -> MaintainRequest:
    """What is to be kept by its policy: the tables of a project, or the one table of a request.

    Of a project, those are the tables in its warehouse and the sources that `[maintenance]` names.

    Raises:
        UnknownSetting: `[maintenance]` names something that the project does not have.
    """
    if isinstance(over, UpkeepRequest):
        return MaintainRequest(profile=over.profile, requests=((over, _policy_of(over)),), spark=over.spark)
    config, known = over.config, tables_of(over)
    for name in config.maintenance:
        if name != EVERY_TABLE and name not in known:
            origin = config.origin_of("maintenance", name)
            hint = near_hint(name, known) or "It names no table that a run has made or read. "
            raise UnknownSetting(key=name, where="[maintenance]", hint=hint, origin=origin)
    tables = over.warehouse.table_path("").resolve()
    chosen = [
        each
        for name, each in sorted(known.items())
        if name in config.maintenance or local_path_of(each.uri).is_relative_to(tables)
    ]
    requests = [
        UpkeepRequest(table=each, profile=over.profile, project=over, reason=reason, dry_run=dry_run)
        for each in chosen
    ]
    pairs = tuple((each, config.upkeep_of(each.table.name)) for each in requests)
    return MaintainRequest(profile=over.profile, requests=pairs, spark=over.spark)


def _policy_of(request: UpkeepRequest) -> UpkeepPolicy:
    """The policy of a name that the project has for a table, best one that it speaks of; or the usual."""
    if request.project is None:
        return UpkeepPolicy()
    config, located = request.project.config, tables_of(request.project)
    names = [name for name, each in located.items() if each.uri == request.table.uri]
    said = [name for name in names if name in config.maintenance]
    return config.upkeep_of((said or names)[0]) if names else UpkeepPolicy()


def maintain(
    wanted: MaintainRequest, listen: Listener = ignore_progress, clock: Clock | None = None
) -> tuple[Maintained, ...]:
    """Does what is due, table by table; what fails is told, and the others go on.

    What recorded runs need is always spared.
    """
    found: list[Maintained] = []
    now = clock or SystemClock()
    if len(wanted.requests) == 1:
        read_head(wanted.requests[0][0].table.uri)  # without Spark: most mistakes are in the name
    with opened_session(wanted.profile, listen, wanted.spark) as session:
        for at, (request, policy) in enumerate(wanted.requests):
            name = request.table.name
            listen(Progress(message=f"looking at {name}", done=at, total=len(wanted.requests)))
            found += _maintained(session, replace(request, keep_pinned=True), policy, listen, now)
    return tuple(found)


def _maintained(
    session: RunSession, request: UpkeepRequest, policy: UpkeepPolicy, listen: Listener, clock: Clock
) -> Iterator[Maintained]:
    name = request.table.name
    now_ms = int(clock.now().timestamp() * 1000)
    try:
        every = due_for(session, request, policy, now_ms)
    except HeadwaterError as error:
        yield Maintained(table=name, due=None, error=error)
        return
    for due in every:
        asked = replace(request, reason="; ".join(filter(None, (due.reason, request.reason))))
        try:
            done = keep_table_in(session, asked, due.wanted, listen, clock)
        except HeadwaterError as error:
            yield Maintained(table=name, due=due, error=error)
        else:
            yield Maintained(table=name, due=due, done=done)


def due_for(session: RunSession, request: UpkeepRequest, policy: UpkeepPolicy, now_ms: int) -> list[Due]:
    """What a table is due for, in the order in which it is to be done."""
    uri = request.table.uri
    pin = read_head(uri).pin(request.table.name)
    snapshot = describe_pin(session, pin)
    found = [
        _retaining(policy, snapshot),
        _rearranging(session, policy, pin, snapshot),
        _checkpointing(policy, uri),
        _vacuuming(policy, uri, snapshot, now_ms),
        _cleaning(policy, uri, snapshot, now_ms),
    ]
    return [each for each in found if each is not None]


def _retaining(policy: UpkeepPolicy, snapshot: SnapshotInfo) -> Due | None:
    if policy.retain_hours is None:
        return None
    wanted = wider_properties(snapshot.table_properties, policy.retain_hours)
    if not wanted:
        return None
    present, days = retention_of(snapshot.table_properties), policy.retain_hours / 24
    if present.deleted_files_hours < policy.retain_hours:
        kept = f"it keeps replaced files for {present.deleted_files_hours / 24:g}"
    elif present.log_hours < policy.retain_hours:
        kept = f"it keeps its log for {present.log_hours / 24:g}"
    else:
        kept = "whoever writes to it may clean its log"
    reason = f"versions are to stay readable for {days:g} days, and {kept}"
    return Due(wanted=Properties(wanted=tuple(wanted.items())), reason=reason)


def _kept_hours(policy: UpkeepPolicy, said: float) -> float:
    """How long something is kept, whether or not the table says so yet: what a step before was to see to."""
    return max(policy.retain_hours or 0, said)


def _rearranging(
    session: RunSession,
    policy: UpkeepPolicy,
    pin: TablePin,
    snapshot: SnapshotInfo,
) -> Due | None:
    """Clustering if it is due, since it compacts by the way; else compacting."""
    clustering = clustering_of(session, pin.uri, snapshot)
    limit = policy.cluster_after_commits
    how = Optimizing(
        zorder_by=() if clustering else policy.zorder_by, target_file_size=policy.target_file_size
    )
    if limit is not None and (clustering or policy.zorder_by):
        since = commits_since_clustered(pin.uri)
        if since >= limit:
            by = ", ".join(clustering or policy.zorder_by)
            reason = f"{since} commits changed rows since it was clustered by {by}; the limit is {limit}"
            return Due(wanted=Optimize(how=how), reason=reason)
    if policy.compact_small_files is None:
        return None
    size = file_size_of(snapshot, policy.target_file_size)
    small = small_files(list_files(session, pin), size)
    if len(small) < policy.compact_small_files:
        return None
    reason = (
        f"{len(small)} files are less than half of {size} bytes; the limit is {policy.compact_small_files}"
    )
    return Due(wanted=Optimize(how=replace(how, zorder_by=())), reason=reason)


def _checkpointing(policy: UpkeepPolicy, uri: str) -> Due | None:
    limit, since = policy.checkpoint_after_commits, commits_since_checkpoint(list_log(uri))
    if limit is None or since < limit:
        return None
    reason = f"{since} commits came after the last checkpoint; the limit is {limit}"
    return Due(wanted=Checkpoint(), reason=reason)


def _vacuuming(policy: UpkeepPolicy, uri: str, snapshot: SnapshotInfo, now_ms: int) -> Due | None:
    every = policy.vacuum_every_hours
    if every is None:
        return None
    ended, first = last_vacuumed(uri)
    # With nothing to delete there is no commit that says so, but a record.
    looked: list[int] = []
    with suppress(RecordUnreadable):  # a date is all that is wanted of it
        looked += [
            milliseconds_of(each.finished_at)
            for each in read_upkeep(local_path_of(uri))
            if each.operation == "vacuum" and each.status == "done" and each.finished_at
        ]
    times: list[int] = looked if ended is None else [*looked, ended]
    last = max(times, default=None)
    hours = (now_ms - (first if last is None else last)) / _HOUR
    if hours < every:
        return None
    words = "it was vacuumed" if last is not None else "its first commit was made, and it was never vacuumed"
    kept = _kept_hours(policy, retention_of(snapshot.table_properties).deleted_files_hours)
    reason = f"{hours / 24:.1f} days ago {words}; the limit is {every / 24:g}"
    return Due(wanted=Vacuum(retention_hours=kept), reason=reason)


def _cleaning(policy: UpkeepPolicy, uri: str, snapshot: SnapshotInfo, now_ms: int) -> Due | None:
    if not policy.cleanup_log:
        return None
    hours = _kept_hours(policy, retention_of(snapshot.table_properties).log_hours)
    files = list_log(uri)
    first, oldest = first_kept(files, now_ms - int(hours * _HOUR)), files.commits[0][0]
    if first <= oldest:
        return None
    reason = f"the commits of {first - oldest} versions are older than the {hours / 24:g} days it keeps"
    return Due(wanted=CleanLog(retention_hours=hours), reason=reason)
