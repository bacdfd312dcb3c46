"""Policies obeyed: what each table of a project is due for, why, and doing it. Only when asked to.

    due_for         what one table is due for
    maintain        does what is due for all tables, or for one; a dry run says what that is

Not here: how each operation goes.
"""

from __future__ import annotations

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
    retention_properties,
    small_files,
)
from headwater.errors import HeadwaterError, UnknownDataset
from headwater.names import near_hint
from headwater.pipeline import EVERY_TABLE
from headwater.run.outcome import Listener, Progress, ignore_progress
from headwater.run.tables import tables_of
from headwater.run.upkeep import (
    Checkpoint,
    CleanLog,
    Optimize,
    Properties,
    UpkeepRequest,
    Vacuum,
    keep_table_in,
    opened,
)
from headwater.runtime import local_path_of
from headwater.upkeep import UpkeepPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """One operation on one table: why, and what came of it, or the error that ended it."""

    table: str
    due: Due
    done: UpkeepDone | None = None
    error: HeadwaterError | None = None


@dataclass(frozen=True, kw_only=True)
class MaintainRequest:
    """Tables that are to be kept by their policies; `keep_pinned` is always meant."""

    profile: RuntimeProfile
    requests: tuple[tuple[UpkeepRequest, UpkeepPolicy], ...]


def maintain_request(
    over: Project | UpkeepRequest, *, reason: str = "", dry_run: bool = False
) -> MaintainRequest:
    """What is to be kept by its policy: the tables of a project, or the one table of a request.

    Of a project, those are the tables in its warehouse and the sources that `[maintenance]` names.

    Raises:
        UnknownDataset: `[maintenance]` names something that the project does not have.
    """
    if isinstance(over, UpkeepRequest):
        policy = over.project.config.upkeep_of(over.table.name) if over.project else UpkeepPolicy()
        return MaintainRequest(profile=over.profile, requests=((over, policy),))
    config, known = over.config, tables_of(over)
    for name in config.maintenance:
        if name != EVERY_TABLE and name not in known:
            origin = config.origin_of("maintenance", name)
            names = tuple(sorted(each.name for each in known.values()))
            raise UnknownDataset(name=name, known=names, hint=near_hint(name, names), origin=origin)
    tables = str(over.warehouse.table_path("").resolve())
    chosen = [
        each
        for name, each in sorted(known.items())
        if name in config.maintenance or str(local_path_of(each.uri)).startswith(tables)
    ]
    requests = [
        UpkeepRequest(table=each, profile=over.profile, project=over, reason=reason, dry_run=dry_run)
        for each in chosen
    ]
    pairs = tuple((each, config.upkeep_of(each.table.name)) for each in requests)
    return MaintainRequest(profile=over.profile, requests=pairs)


def maintain(
    wanted: MaintainRequest, listen: Listener = ignore_progress, clock: Clock | None = None
) -> tuple[Maintained, ...]:
    """Does what is due, table by table; what fails is told, and the others go on.

    What recorded runs need is always spared.
    """
    found: list[Maintained] = []
    now = clock or SystemClock()
    for request, _ in wanted.requests:
        read_head(request.table.uri)
    with opened(wanted.profile, listen) as session:
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
    for due in due_for(session, request, policy, now_ms):
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
        _vacuuming(policy, uri, now_ms),
        _cleaning(policy, uri, snapshot, now_ms),
    ]
    return [each for each in found if each is not None]


def _retaining(policy: UpkeepPolicy, snapshot: SnapshotInfo) -> Due | None:
    if policy.retain_hours is None:
        return None
    wanted = retention_properties(policy.retain_hours)
    present = retention_of(snapshot.table_properties)
    if present == retention_of(wanted):
        return None
    days = policy.retain_hours / 24
    kept = present.deleted_files_hours / 24
    reason = f"versions are to stay readable for {days:g} days, and it keeps replaced files for {kept:g}"
    if present.deleted_files_ms == retention_of(wanted).deleted_files_ms:
        reason = f"versions are to stay readable for {days:g} days, and its log is not kept so long"
    return Due(wanted=Properties(wanted=tuple(wanted.items())), reason=reason)


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


def _vacuuming(policy: UpkeepPolicy, uri: str, now_ms: int) -> Due | None:
    every = policy.vacuum_every_hours
    if every is None:
        return None
    ended, first = last_vacuumed(uri)
    # With nothing to delete there is no commit that says so, but a record.
    looked = [
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
    return Due(wanted=Vacuum(), reason=f"{hours / 24:.1f} days ago {words}; the limit is {every / 24:g}")


def _cleaning(policy: UpkeepPolicy, uri: str, snapshot: SnapshotInfo, now_ms: int) -> Due | None:
    if not policy.cleanup_log:
        return None
    hours = policy.retain_hours
    said = snapshot.table_properties if hours is None else retention_properties(hours)
    files, kept = list_log(uri), retention_of(said).log_ms
    first, oldest = first_kept(files, now_ms - kept), files.commits[0][0]
    if first <= oldest:
        return None
    reason = (
        f"the commits of {first - oldest} versions are older than the {kept / _HOUR / 24:g} days it keeps"
    )
    return Due(wanted=CleanLog(), reason=reason)
