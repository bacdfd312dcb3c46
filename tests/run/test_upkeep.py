"""Upkeep of a project's tables: guarded by recorded runs, on record, noticed by builds where it matters."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import headwater
from headwater.artifacts import read_manifests, read_upkeep
from headwater.delta import (
    ChangePin,
    Optimizing,
    compute_content,
    read_changes,
    read_head,
    snapshot_info,
    upkeep_note_of,
)
from headwater.errors import DataFileMissing, ManifestUnreadable, PinsAtRisk, RetentionTooShort
from headwater.names import TablePin
from headwater.run import (
    Checkpoint,
    CleanLog,
    Constraints,
    Export,
    Features,
    Optimize,
    Properties,
    Restore,
    UpkeepRequest,
    Vacuum,
    keep_table,
    locate_table,
)

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.run import RunOutcome, UpkeepDone, UpkeepOperation
    from headwater.runtime import RunSession

BRIEF = Properties(wanted=(("delta.deletedFileRetentionDuration", "interval 0 hours"),))


@pytest.fixture
def folder(kept_folder: Path) -> Path:
    return kept_folder


def build(folder: Path) -> RunOutcome:
    return headwater.open(folder, profile="local").build()


def keep(folder: Path, table: str, wanted: UpkeepOperation, **said: Any) -> UpkeepDone:
    project = headwater.open(folder, profile="local")
    located = locate_table(table, project)
    request = UpkeepRequest(table=located, profile=project.profile, project=project, **said)
    return keep_table(request, wanted)


def held_pins(folder: Path, source: str) -> list[tuple[TablePin, int | None]]:
    uri = (folder / "lake" / "events").as_uri()
    found: list[tuple[TablePin, int | None]] = []
    for manifest in read_manifests(folder / ".headwater"):
        for each in manifest.sources:
            if each.name == source:
                pin = TablePin(name=source, uri=uri, version=each.pin.version, digest=each.pin.digest)
                found.append((pin, each.starting_version))
    return found


def contents(session: RunSession, folder: Path) -> list[object]:
    """Everything that recorded runs read of the lake's table, read again."""
    rows: list[object] = [compute_content(session, pin).text for pin, _ in held_pins(folder, "events")]
    for pin, start in held_pins(folder, "feed"):
        assert start is not None
        feed = read_changes(session, ChangePin(pin=pin, starting_version=start))
        rows.append(sorted(map(str, feed.drop("_commit_timestamp").collect())))
    return rows


def test_after_a_vacuum_that_spares_them_every_pin_and_window_of_a_recorded_run_reads_as_before(
    folder: Path, session: RunSession
) -> None:
    before = contents(session, folder)
    assert len(before) == 4
    keep(folder, "events", BRIEF)
    keep(folder, "events", Optimize())
    keep(folder, "events", Optimize(how=Optimizing(zorder_by=("id",))))
    session.spark.sql(f"INSERT OVERWRITE delta.`{folder / 'lake' / 'events'}` VALUES (1, 'c')")
    with pytest.raises(PinsAtRisk) as caught:
        keep(folder, "events", Vacuum())
    runs = [each.run_id for each in read_manifests(folder / ".headwater")]
    assert all(run in str(caught.value) for run in runs)
    assert contents(session, folder) == before
    done = keep(folder, "events", Vacuum(), keep_pinned=True)
    assert done.receipt.outcome == "done"  # what the first optimizing wrote is nobody's
    assert contents(session, folder) == before
    lost = keep(folder, "events", Vacuum(), force_unsafe="a test").receipt.lost
    assert {each.hold.pin.version for each in lost} >= {1, 3}
    with pytest.raises(DataFileMissing):
        contents(session, folder)


def test_fewer_hours_than_the_table_keeps_are_refused_and_a_dry_run_changes_nothing(folder: Path) -> None:
    shutil.rmtree(folder / ".headwater" / "runs")
    (folder / ".headwater" / "runs").mkdir()
    with pytest.raises(RetentionTooShort) as caught:
        keep(folder, "totals", Vacuum(retention_hours=0))
    assert caught.value.exit_code == 1
    place = folder / ".headwater" / "tables" / "totals"
    before = sorted(str(each) for each in place.rglob("*.parquet"))
    planned = keep(folder, "totals", Vacuum(retention_hours=0), dry_run=True)
    gone = len(planned.receipt.listed)
    assert (planned.receipt.outcome, gone > 0, planned.record) == ("planned", True, None)
    assert sorted(str(each) for each in place.rglob("*.parquet")) == before
    keep(folder, "totals", Vacuum(retention_hours=0), force_unsafe="nobody reads it")
    assert len(list(place.rglob("*.parquet"))) == len(before) - gone
    refused, done = read_upkeep(place)
    assert (refused.status, refused.forced) == ("failed", None)
    assert (done.status, done.forced, done.options) == ("done", "nobody reads it", {"retention_hours": 0})
    assert done.before
    assert done.after
    assert done.after.version > done.before.version


def test_tables_are_born_with_what_replaying_them_needs(folder: Path, session: RunSession) -> None:
    info = snapshot_info(session, (folder / ".headwater" / "tables" / "totals").as_uri())
    assert {key: info.table_properties[key] for key in sorted(info.table_properties)} == {
        "delta.deletedFileRetentionDuration": "interval 365 days",
        "delta.enableExpiredLogCleanup": "false",
        "delta.logRetentionDuration": "interval 365 days",
    }


def test_a_build_does_nothing_after_upkeep_and_a_query_reads_the_table_as_it_is_now(folder: Path) -> None:
    for wanted in (
        Optimize(how=Optimizing(zorder_by=("kind",))),
        Properties(wanted=(("team", "blue"),)),
        Constraints(added=(("some", "count > 0"),)),
        Checkpoint(),
    ):
        assert keep(folder, "totals", wanted).receipt.outcome == "done"
    keep(folder, "events", Optimize())
    assert build(folder).status == "unchanged"
    head = read_head((folder / ".headwater" / "tables" / "totals").as_uri())
    assert head.version == 4
    with headwater.open(folder, profile="local").query("SELECT count(*) FROM totals") as found:
        assert [key.version for key in found.snapshots] == [4]
        assert found.read_all().to_pydict() == {"count(1)": [2]}


def test_what_was_only_rearranged_is_not_built_again_when_something_else_is(folder: Path) -> None:
    keep(folder, "totals", Optimize(how=Optimizing(zorder_by=("kind",))))
    keep(folder, "events", Optimize())
    views = folder / "views" / "all.py"
    views.write_text(views.read_text().replace('totals.select("kind")', 'totals.select("kind").distinct()'))
    outcome = build(folder)
    actions = {each.name: each.action for each in outcome.tables}
    assert actions == {"totals": "skipped", "moves": "skipped", "kinds": "built"}
    assert build(folder).status == "unchanged"
    views.write_text(views.read_text().replace(".distinct()", ""))
    assert {each.name: each.action for each in build(folder).tables}["totals"] == "skipped"


def test_a_restored_table_is_a_recorded_commit_that_the_next_build_notices(folder: Path) -> None:
    place = folder / ".headwater" / "tables" / "totals"
    done = keep(folder, "totals", Restore(version=0), reason="a wrong load")
    note = upkeep_note_of(read_head(place.as_uri()).user_metadata)
    assert note is not None
    assert note == done.note
    assert (note.operation, note.reason) == ("restore", "a wrong load")
    assert done.receipt.after.version == done.receipt.before.version + 1
    outcome = build(folder)
    told = {each.name: (each.action, each.reason) for each in outcome.tables}
    assert told["totals"] == ("built", "the table was not as the last run left it")
    assert told["moves"][0] == "skipped"


def test_an_export_stands_alone(folder: Path, tmp_path: Path, session: RunSession) -> None:
    pin = held_pins(folder, "events")[1][0]
    wanted = compute_content(session, pin)
    done = keep(folder, "events", Export(target=tmp_path / "copy", version=3))
    assert done.record is not None
    assert json.loads(done.record.read_text())["operation"] == "export"
    shutil.rmtree(folder)
    copy = read_head((tmp_path / "copy").as_uri())
    assert compute_content(session, copy.pin("copy")) == wanted


def test_a_log_is_cleaned_up_to_what_runs_need(folder: Path, session: RunSession) -> None:
    before = contents(session, folder)
    with pytest.raises(PinsAtRisk):
        keep(folder, "events", CleanLog(retention_hours=0))
    assert (
        keep(folder, "events", CleanLog(retention_hours=0), keep_pinned=True).receipt.outcome == "unchanged"
    )
    assert contents(session, folder) == before
    features = keep(folder, "events", Features(enable=("inCommitTimestamp",)))
    assert features.receipt.outcome == "done"


def test_a_run_that_cannot_be_read_stops_upkeep_unless_it_is_forced(folder: Path) -> None:
    manifest = min((folder / ".headwater" / "runs").glob("*/manifest.json"))
    kept = manifest.read_text()
    manifest.write_text("{")
    with pytest.raises(ManifestUnreadable):
        keep(folder, str(folder / "lake" / "events"), Vacuum())
    project = headwater.open(folder, profile="local")
    manifest.write_text(kept)
    located = locate_table("events", project)
    manifest.write_text("{")
    request = UpkeepRequest(table=located, profile=project.profile, project=project, force_unsafe="lost")
    assert keep_table(request, Vacuum()).receipt.outcome == "unchanged"
