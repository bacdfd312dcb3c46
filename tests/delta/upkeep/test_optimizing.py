from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import (
    DataFile,
    Optimizing,
    describe_pin,
    file_size_of,
    find_content,
    keep_content,
    list_files,
    optimize_table,
    rows_made_by,
    small_files,
    upkeep_note_of,
)
from headwater.delta.snapshot import open_log
from headwater.delta.upkeep.failing import upkeep_errors
from headwater.errors import CommitConflict, MutationRefused, PolicyRefused

if TYPE_CHECKING:
    from tests.delta.upkeep.conftest import Keep

PARTITIONED = (
    "CREATE TABLE {t} USING delta PARTITIONED BY (g) AS "
    "SELECT /*+ REPARTITION(3) */ id, if(id % 2 = 0, 'a', 'b') AS g FROM range(40)"
)
LARGE = (
    "CREATE TABLE {t} USING delta AS SELECT /*+ REPARTITION(6) */ hash(id) AS a, hash(id + 1) AS b, "
    "hash(id + 2) AS c FROM range(20000)"
)
CLUSTERED = (
    "CREATE TABLE {t} (id BIGINT, k BIGINT) USING delta CLUSTER BY (id)",
    "INSERT INTO {t} SELECT /*+ REPARTITION(2) */ id, hash(id) FROM range(20)",
)


def sizes(keep: Keep) -> list[int]:
    return [each.size for each in list_files(keep.table.session, keep.pin())]


def folders(keep: Keep) -> list[str]:
    return [each.path.partition("/")[0] for each in list_files(keep.table.session, keep.pin())]


def test_small_files_become_one_in_each_partition_and_rows_stay(keep: Keep) -> None:
    keep.start("partitioned", PARTITIONED)
    content, rows = keep.content(), keep.table.rows()
    keep_content(keep.pin(), content)
    planned = optimize_table(keep.task("optimize", dry_run=True))
    assert (planned.outcome, len(planned.listed), planned.after) == ("planned", 6, planned.before)
    assert (keep.table.version, len(keep.files())) == (0, 6)
    receipt = optimize_table(keep.task("optimize"), Optimizing(where="g = 'a'"))
    assert (receipt.outcome, receipt.before.files, receipt.after.files) == ("done", 6, 4)
    assert sorted(folders(keep)) == ["g=a", "g=b", "g=b", "g=b"]
    assert dict(receipt.metrics)["files_removed"] == 3
    note = upkeep_note_of(keep.table.head.user_metadata)
    assert note == keep.task("optimize").note
    receipt = optimize_table(keep.task("optimize"))
    assert (receipt.after.version, receipt.after.files, receipt.after.digest) == (2, 2, keep.pin().digest)
    assert (keep.table.rows(), keep.content()) == (rows, content)
    for version in (1, 2):
        assert find_content(keep.pin(version)) == content
        assert rows_made_by(keep.pin(version)) == keep.pin(0)
    again = optimize_table(keep.task("optimize"))
    assert (again.outcome, again.after, keep.table.version) == ("unchanged", receipt.after, 2)
    assert optimize_table(keep.task("optimize", dry_run=True)).outcome == "unchanged"


def test_a_curve_needs_columns_that_are_there(keep: Keep) -> None:
    keep.start("partitioned", PARTITIONED)
    content = keep.content()
    for wrong in (Optimizing(zorder_by=("nope",)), Optimizing(where="id = 3"), Optimizing(where="nope = 3")):
        with pytest.raises(MutationRefused) as caught:
            optimize_table(keep.task("optimize"), wrong)
        assert caught.value.kind == "optimize"
    with pytest.raises(PolicyRefused) as refused:
        optimize_table(keep.task("optimize"), Optimizing(full=True))
    assert refused.value.key == "full"
    assert keep.table.version == 0
    receipt = optimize_table(keep.task("optimize"), Optimizing(zorder_by=("ID",)))
    assert (receipt.before.files, receipt.after.files) == (6, 2)
    assert "ZORDER" in (keep.table.path / "_delta_log" / f"{1:020}.json").read_text().upper()
    assert keep.content() == content


def test_files_become_as_large_as_is_asked(keep: Keep) -> None:
    keep.start("large", LARGE)
    whole, content = sum(sizes(keep)), keep.content()
    wanted = whole // 3 + 10_000
    receipt = optimize_table(keep.task("optimize"), Optimizing(target_file_size=wanted))
    assert 1 < receipt.after.files < 6
    assert max(sizes(keep)) <= wanted * 1.2
    assert keep.content() == content


def test_a_table_with_clustering_is_optimized_by_it(keep: Keep) -> None:
    keep.start("clustered", *CLUSTERED)
    content = keep.content()
    with pytest.raises(PolicyRefused) as caught:
        optimize_table(keep.task("optimize"), Optimizing(zorder_by=("k",)))
    assert "it is clustered by id" in caught.value.message
    planned = optimize_table(keep.task("optimize", dry_run=True))
    assert "by its clustering" in planned.summary
    assert keep.table.version == 1
    receipt = optimize_table(keep.task("optimize"))
    assert (receipt.outcome, receipt.before.files, receipt.after.files) == ("done", 2, 1)
    assert optimize_table(keep.task("optimize")).outcome == "unchanged"
    assert keep.content() == content


def test_everything_is_clustered_anew_if_that_is_asked(keep: Keep) -> None:
    keep.start("clustered", *CLUSTERED)
    content = keep.content()
    receipt = optimize_table(keep.task("optimize"), Optimizing(full=True))
    assert (receipt.outcome, receipt.after.files) == ("done", 1)
    assert (keep.content(), rows_made_by(keep.pin())) == (content, keep.pin(1))


def test_a_change_that_came_in_between_is_a_conflict(keep: Keep) -> None:
    keep.start("partitioned", PARTITIONED)
    delta: Any = keep.table.session.jvm.org.apache.spark.sql.delta
    manual = getattr(getattr(delta, "DeltaOperations$ManualUpdate$"), "MODULE$")
    transaction = open_log(keep.table.session, keep.table.uri).startTransaction()
    convert = keep.table.session.jvm.scala.jdk.javaapi.CollectionConverters
    removed = keep.table.session.jvm.java.util.ArrayList()
    for each in convert.asJava(transaction.filterFiles()):
        removed.add(each.remove())
    keep.table.sql("DELETE FROM {t} WHERE g = 'a'")
    with pytest.raises(CommitConflict) as caught, upkeep_errors("optimize", keep.table.uri):
        transaction.commit(convert.asScala(removed).toSeq(), manual)
    assert caught.value.path == str(keep.table.path)
    assert keep.table.version == 1


def test_a_file_size_is_the_callers_or_the_tables_or_deltas(keep: Keep) -> None:
    keep.lived()
    snapshot = describe_pin(keep.table.session, keep.pin())
    own = replace(snapshot, table_properties={"delta.targetFileSize": "5000"})
    assert (file_size_of(own, 7), file_size_of(own), file_size_of(snapshot)) == (7, 5000, 1 << 30)


def file(path: str, size: int, deleted: int = 0, partition: str = "a") -> DataFile:
    return DataFile(path=path, size=size, rows=1, deleted_rows=deleted, partition={"g": partition})


def test_small_are_files_that_have_company_or_deleted_rows() -> None:
    files = (
        file("1", 10),
        file("2", 49),
        file("3", 50),
        file("4", 10, partition="b"),
        file("5", 99, deleted=1, partition="b"),
        file("6", 10, partition="c"),
    )
    assert [each.path for each in small_files(files, 100)] == ["1", "2", "4", "5"]


def test_a_dry_run_foresees_what_is_then_done(keep: Keep) -> None:
    """A file of more than half the size still takes a smaller one in."""
    keep.start("partitioned", PARTITIONED)
    optimize_table(keep.task("optimize"))
    keep.table.sql("INSERT INTO {t} VALUES (100, 'a')")
    small, large = sorted(
        each.size for each in list_files(keep.table.session, keep.pin()) if each.partition == {"g": "a"}
    )
    chosen = Optimizing(target_file_size=small + large)
    planned = optimize_table(keep.task("optimize", dry_run=True), chosen)
    done = optimize_table(keep.task("optimize"), chosen)
    assert (planned.outcome == "unchanged") == (done.outcome == "unchanged")
    assert len(planned.listed) >= dict(done.metrics)["files_removed"]


def test_a_condition_is_not_passed_over_where_everything_is_clustered_anew(keep: Keep) -> None:
    keep.start("clustered", *CLUSTERED)
    with pytest.raises((MutationRefused, PolicyRefused)):
        optimize_table(keep.task("optimize"), Optimizing(full=True, where="id = 3"))


def test_a_file_size_with_a_unit_is_understood(keep: Keep) -> None:
    keep.lived()
    snapshot = describe_pin(keep.table.session, keep.pin())
    odd = replace(snapshot, table_properties={"delta.targetFileSize": "64mb"})
    assert file_size_of(odd) == 64 << 20
