from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from headwater.clock import SystemClock
from headwater.delta import (
    clean_log,
    find_content,
    keep_content,
    read_commit,
    rows_made_by,
    upkeep_note_of,
    vacuum_table,
)
from headwater.errors import DataFileMissing, InvalidSetting, PinsAtRisk, RetentionTooShort

if TYPE_CHECKING:
    from pathlib import Path

    from tests.delta.upkeep.conftest import Keep

HELD = (
    "version 1 (run)",
    "version 2 with changes from 1 (a, b)",
    "version 4 with changes from 4 (run)",
)


def left_behind(keep: Keep, hours: float) -> Path:
    """A file of a write that failed so many hours ago."""
    path = keep.table.path / "g=a b" / f"of {hours} hours.parquet"
    path.write_bytes(b"no version names it")
    time = SystemClock().now().timestamp() - hours * 3600
    os.utime(path, (time, time))
    return path


def test_what_is_held_is_spared_and_reads_as_before(keep: Keep) -> None:
    """Deletes by vectors, updates by files of changes, whole files that went, names of every kind."""
    keep.lived()
    holds = [keep.hold(1), keep.hold(2, 1, holders=("a", "b")), keep.hold(4, 4)]
    seen, content = [keep.seen(each) for each in holds], keep.content()
    keep_content(keep.pin(5), content)
    lonely, young = left_behind(keep, 150), left_behind(keep, 80)
    files = keep.files()
    with pytest.raises(PinsAtRisk) as caught:
        vacuum_table(keep.task("vacuum", holds=holds))
    assert caught.value.lost == HELD
    assert (keep.files(), keep.table.version) == (files, 5)
    receipt = vacuum_table(keep.task("vacuum", holds=holds, spare=True))
    assert (receipt.outcome, receipt.lost, receipt.before.version) == ("done", (), 5)
    assert set(receipt.listed) == files - keep.files()
    assert (lonely.exists(), young.exists()) == (False, True)
    assert dict(receipt.metrics) == {"files_deleted": len(receipt.listed)}
    assert [keep.seen(each) for each in holds] == seen
    for version in range(6, keep.table.version + 1):
        note = upkeep_note_of(read_commit(keep.table.uri, version).user_metadata)
        assert note is not None
        assert (note.operation, note.asked_by, note.reason) == ("vacuum", "ada", "it is due")
    assert receipt.after.version == keep.table.version > 5
    assert (rows_made_by(keep.pin()), find_content(keep.pin())) == (keep.pin(4), content)


def test_who_forces_it_is_told_what_was_lost(keep: Keep) -> None:
    keep.lived()
    content, holds = keep.content(), [keep.hold(1), keep.hold(4, 4), keep.hold(5)]
    young, younger = left_behind(keep, 80), left_behind(keep, 40)
    planned = vacuum_table(keep.task("vacuum", holds=holds, dry_run=True), 50)
    files = keep.files()
    assert (planned.outcome, planned.before, keep.table.version) == ("planned", planned.after, 5)
    receipt = vacuum_table(keep.task("vacuum", holds=holds, forced=True), 50)
    assert receipt.outcome == "done"
    assert receipt.listed == planned.listed
    assert [each.hold for each in receipt.lost] == [each.hold for each in planned.lost] == holds[:2]
    assert files - keep.files() == set(planned.listed)
    assert len(keep.files()) == 3
    assert (young.exists(), younger.exists(), keep.content()) == (False, True, content)
    with pytest.raises(DataFileMissing):
        keep.content(1)


def test_who_forces_the_hours_may_still_spare_what_is_held(keep: Keep) -> None:
    keep.lived()
    holds = [keep.hold(1), keep.hold(4, 4)]
    seen = [keep.seen(each) for each in holds]
    receipt = vacuum_table(keep.task("vacuum", holds=holds, forced=True, spare=True), 50)
    assert (receipt.outcome, receipt.lost) == ("done", ())
    assert [keep.seen(each) for each in holds] == seen


def test_hours_that_are_no_time_are_refused(keep: Keep) -> None:
    keep.lived()
    for hours in (float("inf"), float("nan"), -1.0):
        with pytest.raises(InvalidSetting):
            vacuum_table(keep.task("vacuum"), hours)
        with pytest.raises(InvalidSetting):
            clean_log(keep.task("cleanup-log"), hours)


def test_fewer_hours_than_the_table_keeps_files_are_refused(keep: Keep) -> None:
    keep.lived()
    with pytest.raises(RetentionTooShort) as caught:
        vacuum_table(keep.task("vacuum", spare=True), 99.5)
    assert (caught.value.hours, caught.value.kept, keep.table.version) == ("99.5", "100", 5)


def test_the_hours_that_are_asked_for_decide(keep: Keep) -> None:
    """Delta by itself goes by the table's property, whatever hours it is given."""
    keep.lived()
    files = keep.files()
    receipt = vacuum_table(keep.task("vacuum", holds=[keep.hold(0)]), 200)
    assert (receipt.outcome, receipt.listed, receipt.lost) == ("unchanged", (), ())
    assert (keep.files(), keep.table.version) == (files, 5)


NEW = (
    "CREATE TABLE {t} USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', "
    "'delta.enableDeletionVectors' = 'true', 'delta.deletedFileRetentionDuration' = 'interval 0 hours') "
    "AS SELECT /*+ REPARTITION(2) */ id FROM range(12)"
)
STEPS = {
    "append": "INSERT INTO {t} SELECT id + 100 FROM range(3)",
    "delete": "DELETE FROM {t} WHERE id % 4 = 1",
    "update": "UPDATE {t} SET id = id + 1 WHERE id % 5 = 2",
    "optimize": "OPTIMIZE {t}",
}
WINDOWS = st.lists(st.tuples(st.integers(0, 4), st.none() | st.integers(0, 4)), min_size=1, max_size=2)


@settings(
    max_examples=2,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=4), WINDOWS)
def test_whatever_happened_to_a_table_its_holds_stay_readable(
    keep: Keep, steps: list[str], windows: list[tuple[int, int | None]]
) -> None:
    shutil.rmtree(keep.table.path, ignore_errors=True)
    keep.table.path = keep.table.path.with_name(f"{keep.table.path.name}x")
    keep.start("new", NEW)
    for each in steps:
        keep.table.sql(STEPS[each])
    newest = keep.table.version
    holds = [
        keep.hold(min(end, newest), None if start is None else min(start, end, newest))
        for end, start in windows
    ]
    seen = [keep.seen(each) for each in holds]
    vacuum_table(keep.task("vacuum", holds=holds, spare=True))
    assert [keep.seen(each) for each in holds] == seen
