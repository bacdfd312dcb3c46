from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater.delta import (
    describe_pin,
    find_content,
    keep_content,
    restore_table,
    rows_made_by,
    upkeep_note_of,
)
from headwater.delta.upkeep.holds import needed_files
from headwater.errors import BeyondRetention, DataFileMissing, PinsAtRisk

if TYPE_CHECKING:
    from tests.delta.upkeep.conftest import Keep

CREATED = (
    "CREATE TABLE {t} USING delta TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 28 days') "
    "AS SELECT id FROM range(3)"
)
SHORT = (
    CREATED,
    "INSERT INTO {t} VALUES (10)",
    "INSERT INTO {t} VALUES (20)",
    "INSERT INTO {t} VALUES (30)",
)


def test_a_table_becomes_what_it_was(keep: Keep) -> None:
    keep.lived()
    content, newest = keep.content(1), keep.content(5)
    keep_content(keep.pin(1), content)
    with pytest.raises(BeyondRetention) as caught:
        restore_table(keep.task("restore"), keep.pin(1))
    assert (caught.value.version, caught.value.exit_code) == (1, 3)
    keep.age(1)
    planned = restore_table(keep.task("restore", dry_run=True), keep.pin(1))
    assert (planned.outcome, planned.before, keep.table.version) == ("planned", planned.after, 5)
    receipt = restore_table(keep.task("restore"), keep.pin(1))
    assert (receipt.outcome, receipt.before.version, receipt.after.version) == ("done", 5, 6)
    assert receipt.metrics == planned.metrics
    assert find_content(keep.pin()) == keep.content() == content
    assert upkeep_note_of(keep.table.head.user_metadata) == keep.task("restore").note
    assert rows_made_by(keep.pin()) == keep.pin(6)
    assert keep.content(5) == newest != content
    again = restore_table(keep.task("restore"), keep.pin(6))
    assert (again.outcome, again.after, keep.table.version) == ("unchanged", receipt.after, 6)


@pytest.mark.parametrize("kind", [".parquet", ".bin"])
def test_a_version_that_is_not_whole_is_not_restored(keep: Keep, kind: str) -> None:
    keep.lived().age(1)
    needed = needed_files(keep.table.session, keep.hold(1))
    taken = next(each for each in sorted(needed) if each.endswith(kind))
    (keep.table.path / taken).unlink()
    for dry_run in (True, False):
        with pytest.raises(DataFileMissing) as caught:
            restore_table(keep.task("restore", dry_run=dry_run, forced=True), keep.pin(1))
        assert (caught.value.file, caught.value.exit_code) == (taken, 3)
    assert keep.table.version == 5


def test_a_restore_that_would_clean_the_log_of_what_is_held_is_refused(keep: Keep) -> None:
    """Delta cleans the log by the way of a restore."""
    keep.start("short", *SHORT)
    for version, days in enumerate((40, 35, 20, 10)):
        keep.age(days, [version])
    hold, content, log = keep.hold(0), keep.content(2), keep.log()
    with pytest.raises(PinsAtRisk) as caught:
        restore_table(keep.task("restore", holds=[hold], spare=True), keep.pin(2))
    assert (caught.value.operation, caught.value.lost) == ("restore", ("version 0 (run)",))
    assert keep.log() == log
    keep.age(40)
    receipt = restore_table(keep.task("restore", holds=[hold], forced=True), keep.pin(2))
    assert [each.hold for each in receipt.lost] == [hold]
    assert (keep.content(), keep.commits()) == (content, [4])


def test_a_log_that_nobody_cleans_by_the_way_lets_a_restore_through(keep: Keep) -> None:
    keep.start("short", *SHORT)
    first = keep.table.path / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in first.read_text().splitlines()]
    for each in actions:
        if "metaData" in each:
            each["metaData"]["configuration"]["delta.enableExpiredLogCleanup"] = "false"
    first.write_text("".join(f"{json.dumps(each)}\n" for each in actions))
    for each in sorted(first.parent.glob("*.crc")):
        each.unlink()
    for version, days in enumerate((40, 35, 20, 10)):
        keep.age(days, [version])
    hold, log = keep.hold(0), keep.log()
    seen = keep.seen(hold)
    receipt = restore_table(keep.task("restore", holds=[hold]), keep.pin(2))
    assert (receipt.outcome, receipt.lost) == ("done", ())
    assert set(log) <= set(keep.log())
    assert keep.seen(hold) == seen
    kept = describe_pin(keep.table.session, keep.pin()).table_properties
    assert kept["delta.enableExpiredLogCleanup"] == "false"


def test_a_clone_is_restored_although_its_files_lie_elsewhere(keep: Keep) -> None:
    keep.start("short", *SHORT)
    source = keep.table.path
    keep.table.path = source.with_name("clone")
    keep.table.sql(f"CREATE TABLE {{t}} SHALLOW CLONE delta.`{source}`")
    keep.table.sql("INSERT INTO {t} VALUES (30)")
    receipt = restore_table(keep.task("restore"), keep.pin(0))
    assert (receipt.outcome, receipt.after.files) == ("done", receipt.before.files - 1)
