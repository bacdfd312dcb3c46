from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from headwater.datasets import timestamp_of
from headwater.delta import (
    alter_constraints,
    alter_properties,
    checkpoint_table,
    clean_log,
    commits_since_checkpoint,
    enable_features,
    first_kept,
    list_log,
    optimize_table,
    pin_version,
    read_commit,
    vacuum_table,
)
from headwater.delta.history import commit_time
from headwater.delta.log_files import check_readable, log_folder
from headwater.delta.snapshot import forget_log, open_log
from headwater.delta.upkeep.log import files_before
from headwater.errors import MutationRefused, PinsAtRisk, RetentionTooShort, VersionNotFound

if TYPE_CHECKING:
    from tests.delta.upkeep.conftest import Keep

    from headwater.delta import Operation, UpkeepTask


def last_checkpoint(keep: Keep) -> int:
    found: dict[str, Any] = json.loads((log_folder(keep.table.uri) / "_last_checkpoint").read_text())
    return int(found["version"])


def loaded_anew(keep: Keep, version: int) -> Any:
    """The rows of a version, with nothing of the log in memory."""
    forget_log(keep.table.session, keep.table.uri)
    return keep.seen(keep.hold(version))


def test_a_checkpoint_is_whole_and_takes_nothing_out(keep: Keep) -> None:
    """Delta's own checkpoint would clean the log of what is as old as this."""
    keep.lived().age(40)
    log, task = keep.log(), keep.task("checkpoint")
    assert commits_since_checkpoint(list_log(keep.table.uri)) == 6
    assert checkpoint_table(keep.task("checkpoint", dry_run=True)).outcome == "planned"
    assert keep.log() == log
    seen = keep.seen(keep.hold(5))
    receipt = checkpoint_table(task)
    assert (receipt.outcome, dict(receipt.metrics)) == ("done", {"commits_since_last": 6})
    files = list_log(keep.table.uri)
    assert [(each.version, each.is_complete) for each in files.checkpoints] == [(5, True)]
    assert (last_checkpoint(keep), commits_since_checkpoint(files)) == (5, 0)
    assert (keep.commits(), keep.table.version) == ([0, 1, 2, 3, 4, 5], 5)
    assert loaded_anew(keep, 5) == seen
    again = checkpoint_table(task)
    assert (again.outcome, again.after) == ("unchanged", receipt.after)


def test_commits_that_are_young_stay(keep: Keep) -> None:
    keep.lived()
    log = keep.log()
    receipt = clean_log(keep.task("cleanup-log", holds=[keep.hold(0)]))
    assert (receipt.outcome, receipt.listed, receipt.lost, keep.log()) == ("unchanged", (), (), log)


def test_what_is_taken_is_what_lies_before_the_limit(keep: Keep) -> None:
    keep.lived().age(40, [0, 1, 2])
    seen = {version: keep.seen(keep.hold(version)) for version in (2, 3, 5)}
    open_log(keep.table.session, keep.table.uri).createCheckpointAtVersion(1)
    named = {"version": 1, "size": 8}
    (log_folder(keep.table.uri) / "_last_checkpoint").write_text(json.dumps(named))
    planned = clean_log(keep.task("cleanup-log", dry_run=True))
    assert (planned.outcome, keep.commits()) == ("planned", [0, 1, 2, 3, 4, 5])
    receipt = clean_log(keep.task("cleanup-log"))
    assert (receipt.outcome, dict(receipt.metrics)["first_version"]) == ("done", 2)
    assert receipt.listed == planned.listed
    assert keep.commits() == [2, 3, 4, 5]
    assert all(int(each[:20]) >= 2 for each in keep.log())
    checkpoints = {each.version for each in list_log(keep.table.uri).checkpoints if each.is_complete}
    assert 2 in checkpoints
    assert last_checkpoint(keep) in checkpoints
    for version, rows in seen.items():
        assert loaded_anew(keep, version) == rows
    time = commit_time(keep.table.uri, 3)
    assert pin_version("t", keep.table.uri, timestamp=timestamp_of(time + 1)) == keep.pin(3)
    reader = keep.table.session.spark.read.format("delta").option("timestampAsOf", timestamp_of(time + 1))
    assert sorted(reader.load(str(keep.table.path)).collect(), key=str) == seen[3][0]
    with pytest.raises(VersionNotFound):
        keep.pin(1)
    assert clean_log(keep.task("cleanup-log")).outcome == "unchanged"


def test_holds_refuse_are_spared_or_are_lost(keep: Keep) -> None:
    keep.lived().age(40)
    holds = [keep.hold(3), keep.hold(4, 2, holders=("a",))]
    seen = [keep.seen(each) for each in holds]
    with pytest.raises(PinsAtRisk) as caught:
        clean_log(keep.task("cleanup-log", holds=holds))
    assert caught.value.lost == ("version 3 (run)", "version 4 with changes from 2 (a)")
    assert keep.commits() == [0, 1, 2, 3, 4, 5]
    receipt = clean_log(keep.task("cleanup-log", holds=holds, spare=True))
    assert (receipt.outcome, receipt.lost, keep.commits()) == ("done", (), [2, 3, 4, 5])
    forget_log(keep.table.session, keep.table.uri)
    assert [keep.seen(each) for each in holds] == seen
    assert clean_log(keep.task("cleanup-log", holds=holds, spare=True)).outcome == "unchanged"
    planned = clean_log(keep.task("cleanup-log", holds=holds, dry_run=True))
    assert [each.hold for each in planned.lost] == holds
    newest = keep.seen(keep.hold(5))
    receipt = clean_log(keep.task("cleanup-log", holds=holds, forced=True))
    assert (receipt.lost, keep.commits()) == (planned.lost, [5])
    assert loaded_anew(keep, 5) == newest
    assert read_commit(keep.table.uri, 5).operation == "OPTIMIZE"


def test_a_log_that_lost_the_name_of_its_checkpoint_is_cleaned_all_the_same(keep: Keep) -> None:
    keep.lived()
    checkpoint_table(keep.task("checkpoint"))
    (log_folder(keep.table.uri) / "_last_checkpoint").unlink()
    seen = keep.seen(keep.hold(5))
    receipt = clean_log(keep.task("cleanup-log", forced=True), 1)
    assert (receipt.outcome, keep.commits(), last_checkpoint(keep)) == ("done", [5], 5)
    assert loaded_anew(keep, 5) == seen
    keep.table.sql("INSERT INTO {t} VALUES (7, 'a b')")
    assert (7, "a b") in keep.table.rows()


def test_the_first_version_that_is_kept_is_the_newest_before_the_limit(keep: Keep) -> None:
    keep.lived()
    files = list_log(keep.table.uri)
    times = [commit_time(keep.table.uri, version) for version in range(6)]
    assert [first_kept(files, time) for time in times] == [0, 1, 2, 3, 4, 5]
    assert [first_kept(files, times[0] - 1), first_kept(files, times[3] - 1)] == [0, 2]


def test_checkpoints_that_a_table_protects_are_left_alone(keep: Keep) -> None:
    keep.lived()
    enable_features(keep.task("features"), ["checkpointProtection"])
    log = keep.log()
    with pytest.raises(MutationRefused) as caught:
        clean_log(keep.task("cleanup-log", forced=True), 1)
    assert (caught.value.kind, keep.log()) == ("cleanup-log", log)


def test_no_operation_lets_delta_clean_the_log_of_what_is_held(keep: Keep) -> None:
    """Delta does so with every commit that falls on its interval, if the table allows it."""
    keep.start(
        "often",
        "CREATE TABLE {t} USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2', "
        "'delta.deletedFileRetentionDuration' = 'interval 0 hours') "
        "AS SELECT /*+ REPARTITION(2) */ id FROM range(10)",
        "INSERT OVERWRITE {t} VALUES (10)",
        "INSERT OVERWRITE {t} VALUES (11)",
    )
    keep.age(40)
    hold = keep.hold(0)
    seen, commits = keep.seen(hold), keep.commits()

    def task(operation: Operation, *, spare: bool = False) -> UpkeepTask:
        return keep.task(operation, holds=[hold], spare=spare)

    for refused in (
        lambda: optimize_table(task("optimize")),
        lambda: alter_properties(task("properties"), {"x": "y"}),
        lambda: alter_constraints(task("constraints"), {"some": "id > 0"}),
        lambda: enable_features(task("features"), ["rowTracking"]),
    ):
        with pytest.raises(PinsAtRisk):
            refused()
    done = vacuum_table(task("vacuum", spare=True))
    assert (done.outcome, done.before.version == done.after.version) == ("done", True)
    assert (keep.seen(hold), keep.commits()) == (seen, commits)
    alter_properties(task("properties"), {"delta.enableExpiredLogCleanup": "false"})
    optimize_table(task("optimize"))
    assert keep.seen(hold) == seen


def test_wherever_cleaning_stops_what_is_left_is_a_log(keep: Keep) -> None:
    keep.lived()
    checkpoint_table(keep.task("checkpoint"))
    taken = files_before(keep.table.uri, 5)
    assert len(taken) > 5
    for each in taken:  # as a process that is killed after each of them
        each.unlink()
        check_readable(list_log(keep.table.uri), 5)
    assert keep.commits() == [5]
    assert loaded_anew(keep, 5)


def test_less_time_than_the_table_keeps_its_log_is_refused(keep: Keep) -> None:
    keep.lived()
    keep.age(2)
    with pytest.raises(RetentionTooShort) as caught:
        clean_log(keep.task("cleanup-log"), 1)
    assert caught.value.what == "its log"
    assert keep.commits()[0] == 0
