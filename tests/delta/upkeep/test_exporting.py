from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import (
    compute_content,
    describe_pin,
    export_snapshot,
    keep_content,
    read_head,
    upkeep_note_of,
    verify_pin,
)
from headwater.delta.content import NO_ROWS
from headwater.delta.upkeep.holds import needed_files
from headwater.errors import (
    DataFileMissing,
    InvalidSetting,
    MutationRefused,
    RowsDiffer,
    TargetNotEmpty,
    WriteFailed,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.delta.conftest import Table
    from tests.delta.upkeep.conftest import Keep

CREATED = (
    "CREATE TABLE {t} (id BIGINT, old STRING) USING delta CLUSTER BY (id) TBLPROPERTIES "
    "('delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true', "
    "'delta.enableDeletionVectors' = 'true', 'x.y' = 'it''s')"
)
# Timestamps within commits begin at version 2, and a column's name is not the one in files.
RICH = (
    CREATED,
    "INSERT INTO {t} SELECT /*+ REPARTITION(2) */ id, concat('s', id) FROM range(20)",
    "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')",
    "ALTER TABLE {t} RENAME COLUMN old TO `new name`",
    "DELETE FROM {t} WHERE id = 3",
)
ROW_IDS = "SELECT id, _metadata.row_id, _metadata.row_commit_version FROM {t} ORDER BY id"


def exported(keep: Keep, version: int, target: Path) -> Table:
    receipt = export_snapshot(keep.task("export"), keep.pin(version), target)
    assert (receipt.outcome, receipt.after) == ("done", receipt.before)
    assert dict(receipt.metrics)["files_copied"] == len(receipt.listed)
    return replace(keep.table, path=target)


def check_same(keep: Keep, version: int, copy: Table) -> None:
    session, (one, other) = keep.table.session, (keep.pin(version), copy.head.pin("t"))
    assert compute_content(session, one) == compute_content(session, other)
    before, after = describe_pin(session, one), describe_pin(session, other)
    assert (after.schema_json, after.partition_columns) == (before.schema_json, before.partition_columns)
    assert (after.reader_features, after.writer_features) == (before.reader_features, before.writer_features)
    kept = {key: value for key, value in before.table_properties.items() if "TimestampEnablement" not in key}
    assert (after.table_properties, after.version) == (kept, 0)


def test_a_copy_is_the_table_as_it_was_and_stands_alone(keep: Keep, tmp_path: Path) -> None:
    keep.lived()
    copy = exported(keep, 2, tmp_path / "x y" / "copy ü%20")
    check_same(keep, 2, copy)
    rows, _ = keep.seen(keep.hold(2))
    note = upkeep_note_of(copy.head.user_metadata)
    assert note == keep.task("export").note
    assert [each.name for each in sorted(copy.path.parent.iterdir())] == ["copy ü%20"]
    shutil.rmtree(keep.table.path)
    assert verify_pin(copy.session, copy.head.pin("t")).is_whole
    copy.sql("INSERT INTO {t} VALUES (7000, 'ü 50%:x')")
    assert copy.version == 1
    assert sorted(map(str, copy.rows())) == sorted(
        [*(str(tuple(each)) for each in rows), "(7000, 'ü 50%:x')"]
    )


def test_features_of_every_kind_go_with_it(keep: Keep, tmp_path: Path) -> None:
    keep.start("rich", *RICH)
    ids = keep.table.sql(ROW_IDS).collect()
    copy = exported(keep, keep.table.version, tmp_path / "copy")
    check_same(keep, keep.table.version, copy)
    actions: list[dict[str, Any]] = [
        json.loads(line) for line in (copy.path / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    ]
    assert actions[0]["commitInfo"]["inCommitTimestamp"] == keep.table.head.timestamp_ms
    shutil.rmtree(keep.table.path)
    assert copy.sql(ROW_IDS).collect() == ids
    assert list(copy.sql("DESCRIBE DETAIL {t}").collect()[0]["clusteringColumns"]) == ["id"]
    copy.sql("INSERT INTO {t} VALUES (100, 'x')")
    found = copy.sql(ROW_IDS).collect()
    assert found[:-1] == ids
    assert found[-1]["row_id"] not in {each["row_id"] for each in ids}


def test_what_cannot_be_copied_leaves_nothing_behind(keep: Keep, tmp_path: Path) -> None:
    keep.lived()
    target = tmp_path / "there" / "copy"
    planned = export_snapshot(keep.task("export", dry_run=True), keep.pin(1), target)
    assert (planned.outcome, target.parent.exists()) == ("planned", False)
    assert set(planned.listed) == needed_files(keep.table.session, keep.hold(1))
    target.mkdir(parents=True)
    told: list[tuple[int, int]] = []

    def tell(done: int, everything: int) -> None:
        told.append((done, everything))

    keep_content(keep.pin(1), NO_ROWS)
    with pytest.raises(RowsDiffer):
        export_snapshot(keep.task("export"), keep.pin(1), target, tell)
    count = len(planned.listed)
    assert told == [(at, count) for at in range(count)]
    (keep.table.path / next(each for each in planned.listed if each.endswith(".bin"))).unlink()
    with pytest.raises(DataFileMissing) as caught:
        export_snapshot(keep.task("export"), keep.pin(1), target)
    assert caught.value.exit_code == 3
    assert [sorted(each.iterdir()) for each in (target.parent, target)] == [[target], []]
    (target / "mine").write_text("")
    for dry_run in (True, False):
        with pytest.raises(TargetNotEmpty):
            export_snapshot(keep.task("export", dry_run=dry_run), keep.pin(1), target)
    with pytest.raises(WriteFailed):
        export_snapshot(keep.task("export"), keep.pin(0), target / "mine" / "copy")
    assert sorted(target.iterdir()) == [target / "mine"]
    with pytest.raises(InvalidSetting):  # the next vacuum would take it
        export_snapshot(keep.task("export"), keep.pin(0), keep.table.path / "copy")


def test_a_copy_of_a_clone_has_the_files_of_both(keep: Keep, tmp_path: Path) -> None:
    keep.start("plain", "CREATE TABLE {t} USING delta AS SELECT id FROM range(5)")
    source = keep.table.path
    keep.table.path = tmp_path / "a clone"
    keep.table.sql(f"CREATE TABLE {{t}} SHALLOW CLONE delta.`{source}`")
    keep.table.sql("INSERT INTO {t} VALUES (50)")
    copy = exported(keep, 1, tmp_path / "copy")
    check_same(keep, 1, copy)
    shutil.rmtree(source)
    shutil.rmtree(keep.table.path)
    assert copy.rows() == [(0,), (1,), (2,), (3,), (4,), (50,)]
    assert read_head(copy.uri).operation == "EXPORT"


def test_a_clone_with_vectors_of_another_table_is_not_copied(keep: Keep, tmp_path: Path) -> None:
    keep.lived()
    source = keep.table.path
    keep.table.path = tmp_path / "a clone"
    keep.table.sql(f"CREATE TABLE {{t}} SHALLOW CLONE delta.`{source}` VERSION AS OF 1")
    with pytest.raises(MutationRefused) as caught:
        export_snapshot(keep.task("export"), keep.pin(0), tmp_path / "copy")
    assert caught.value.kind == "export"
    assert not (tmp_path / "copy").exists()
