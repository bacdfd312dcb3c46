"""Every policy, and what it did to the files, the log and the properties that were really written."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from headwater.delta import (
    Append,
    Delete,
    Merge,
    Overwrite,
    Update,
    commit,
    commit_mutation,
    compute_content,
    list_files,
    note_of,
    same_keys,
    snapshot_info,
    write_policy,
)
from headwater.errors import MutationRefused, PolicyRefused
from headwater.policies import write_policy_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.delta.conftest import Table

    from headwater.delta import SnapshotInfo
    from headwater.runtime import RunSession


def killed(*_arguments: object) -> None:
    raise KeyboardInterrupt


BIG = "SELECT id, hash(id) AS h, CAST(id % 3 AS INT) AS k, concat('s', id) AS s FROM range(60000)"


def written(table: Table) -> list[Path]:
    """The data files of the newest version."""
    return [table.path / each.path for each in list_files(table.session, table.head.pin("t"))]


def statistics(table: Table) -> list[dict[str, Any]]:
    """What the newest commit's files say of their columns."""
    log = table.path / "_delta_log" / f"{table.version:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    return [json.loads(each["add"]["stats"]) for each in actions if "add" in each]


def described(table: Table) -> SnapshotInfo:
    return snapshot_info(table.session, table.uri)


def clustering(table: Table) -> list[str]:
    return list(table.sql("DESCRIBE DETAIL {t}").collect()[0]["clusteringColumns"])


def overlaps(ranges: list[tuple[int, int]]) -> bool:
    ordered = sorted(ranges)
    return any(one[1] > other[0] for one, other in itertools.pairwise(ordered))


def test_files_are_about_as_large_as_they_should_be(table: Table) -> None:
    rows = table.values(BIG)
    table.change(Overwrite, rows, policy=write_policy(target_file_size="64kb"))
    sizes = [each.stat().st_size for each in written(table)]
    assert len(sizes) > 5
    assert max(sizes) <= 2 * 64 * 1024
    assert described(table).table_properties["delta.targetFileSize"] == str(64 * 1024)
    table.change(Overwrite, rows, policy=write_policy(target_file_size="64mb"))
    assert len(written(table)) == 1


def test_partitions_are_folders_and_change_only_with_the_whole_table(table: Table) -> None:
    policy = write_policy(partition_by=["K"])
    table.change(Append, table.values(BIG), policy=policy)
    assert {each.parent.name for each in written(table)} == {"k=0", "k=1", "k=2"}
    assert described(table).partition_columns == ("k",)
    table.change(Append, table.values(BIG), policy=policy)
    with pytest.raises(PolicyRefused):
        table.change(Append, table.values(BIG), policy=write_policy(partition_by=["h"]))
    table.change(Overwrite, table.values(BIG), policy=write_policy(), schema_mode="overwrite")
    assert described(table).partition_columns == ()


def test_rows_stand_in_order_within_files_and_from_file_to_file(table: Table) -> None:
    table.change(Overwrite, table.values(BIG), policy=write_policy(order_by=["h"], target_file_size="64kb"))
    ranges: list[tuple[int, int]] = []
    for each in written(table):
        values: list[Any] = pq.read_table(each, columns=["h"]).column("h").to_pylist()
        assert values == sorted(values)
        ranges.append((values[0], values[-1]))
    assert len(ranges) > 3
    assert not overlaps(ranges)


def test_a_curve_brings_rows_together_by_several_columns(table: Table) -> None:
    def part_of_range(column: str) -> float:
        """How much of a column's range a file spans, on the average."""
        found = [(each["minValues"][column], each["maxValues"][column]) for each in statistics(table)]
        whole = max(high for _, high in found) - min(low for low, _ in found)
        return sum(high - low for low, high in found) / whole / len(found)

    rows = table.values("SELECT hash(id) AS a, hash(id + 1) AS b FROM range(60000)")
    table.change(Overwrite, rows.repartition(8), policy=write_policy())
    assert min(part_of_range("a"), part_of_range("b")) > 0.9
    table.change(Overwrite, rows, policy=write_policy(zorder_by=["a", "b"], target_file_size="64kb"))
    assert max(part_of_range("a"), part_of_range("b")) < 0.8
    table.change(Overwrite, rows, policy=write_policy(cluster_by=["a", "b"], target_file_size="64kb"))
    assert max(part_of_range("a"), part_of_range("b")) < 0.8
    assert clustering(table) == ["a", "b"]


def test_clustering_is_the_tables_and_comes_and_goes_with_the_policy(table: Table) -> None:
    rows = table.values("SELECT id, id % 3 AS k FROM range(10)")
    table.change(Append, rows, policy=write_policy(cluster_by=["id"]))
    assert clustering(table) == ["id"]
    table.change(Append, rows)
    assert clustering(table) == ["id"]
    table.change(Append, rows, policy=write_policy(cluster_by=["k"]))
    assert clustering(table) == ["k"]
    table.change(Overwrite, rows, policy=write_policy(partition_by=["k"]), schema_mode="overwrite")
    assert clustering(table) == []
    assert described(table).partition_columns == ("k",)
    with pytest.raises(PolicyRefused) as caught:
        table.change(Append, rows, policy=write_policy(cluster_by=["k"]))
    assert "partitioned by k" in caught.value.message
    receipt = table.change(Overwrite, rows, policy=write_policy(cluster_by=["k"]), schema_mode="overwrite")
    assert (clustering(table), described(table).partition_columns) == (["k"], ())
    assert receipt.version == table.version
    assert note_of(table.head.user_metadata) is not None


def test_a_clustered_table_that_is_overwritten_stays_clustered(table: Table) -> None:
    """Delta itself drops the clustering of whatever it overwrites."""
    rows = table.values("SELECT id, id % 3 AS k FROM range(10)")
    policy = write_policy(cluster_by=["id"])
    for mode in ("overwrite", None, "merge"):
        before = table.version
        receipt = table.change(Overwrite, rows, policy=policy, schema_mode=mode)
        assert clustering(table) == ["id"]
        assert receipt.content == compute_content(table.session, receipt.pin)
        assert receipt.version == before + (1 if before >= 0 else 2)  # the first one makes the table
    mutation = table.meant(Overwrite, policy=policy, schema_mode="overwrite", exact=True)
    other = rows.selectExpr("k", "id", "1 AS more")
    receipt = commit_mutation(table.session, mutation, other)
    assert (clustering(table), receipt.version, receipt.rows) == (["id"], table.version, 10)
    table.sql("ALTER TABLE {t} CLUSTER BY NONE")
    assert table.rows("more") == [(1,)] * 10


def test_a_rewrite_that_was_killed_before_its_end_is_ended_when_it_is_sent_again(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.change(Append, table.session.spark.range(3), policy=write_policy(partition_by=()))
    mutation = table.meant(Overwrite, policy=write_policy(cluster_by=["id"]), schema_mode="overwrite")
    rows = table.session.spark.range(5)
    monkeypatch.setattr(commit, "finish_table", killed)
    with pytest.raises(KeyboardInterrupt):
        commit_mutation(table.session, mutation, rows)
    assert clustering(table) == []
    monkeypatch.undo()
    receipt = commit_mutation(table.session, mutation, rows)
    assert (receipt.outcome, receipt.version, clustering(table)) == ("already_committed", 3, ["id"])
    assert commit_mutation(table.session, mutation, rows).pin == receipt.pin


def test_somebody_elses_clustering_is_left_alone(table: Table) -> None:
    table.sql("CREATE TABLE {t} (id BIGINT) USING delta CLUSTER BY (id)")
    table.change(Append, table.session.spark.range(3), policy=write_policy())
    assert clustering(table) == ["id"]


def test_statistics_are_kept_of_the_columns_that_are_named(table: Table) -> None:
    rows = table.values(
        "SELECT id, id AS k, CAST(id AS STRING) AS s, named_struct('x', id) AS n FROM range(9)"
    )
    table.change(Append, rows, policy=write_policy(stats_policy="explicit", stats_columns=["K", "n.x"]))
    assert set(statistics(table)[0]["minValues"]) == {"k", "n"}
    table.change(Append, rows, policy=write_policy(stats_policy="off"))
    assert all(set(each) == {"numRecords"} for each in statistics(table))
    table.change(Append, rows, policy=write_policy())
    assert set(statistics(table)[0]["minValues"]) == {"id", "k", "s", "n"}


def test_statistics_by_default_are_capped_and_hot_columns_come_first(table: Table) -> None:
    many = ", ".join(f"id + {index} AS c{index}" for index in range(40))
    rows = table.values(f"SELECT {many} FROM range(9)")
    table.change(Overwrite, rows, policy=write_policy())
    assert set(statistics(table)[0]["minValues"]) == {f"c{index}" for index in range(32)}
    table.change(Overwrite, rows, policy=write_policy(order_by=["c39"]))
    assert set(statistics(table)[0]["minValues"]) == {f"c{index}" for index in range(31)} | {"c39"}
    table.change(Overwrite, rows, policy=write_policy(stats_columns=["c38"], stats_max_columns=2))
    assert set(statistics(table)[0]["minValues"]) == {"c38", "c0"}


@pytest.mark.parametrize(
    "fields",
    [
        {"stats_policy": "explicit", "stats_columns": ["nope"]},
        {"stats_policy": "explicit", "stats_columns": ["list"]},
        {"partition_by": ["nope"]},
        {"partition_by": ["list"]},
        {"partition_by": ["id", "list"]},
        {"cluster_by": ["nope"]},
        {"zorder_by": ["nope"]},
        {"order_by": ["nope"]},
        {"bloom_filters": ["nope"]},
        {"dictionary": {"nope": True}},
        {"not_null": ["nope"]},
    ],
    ids=str,
)
def test_a_column_that_is_not_there_or_cannot_be_it_is_refused(table: Table, fields: dict[str, Any]) -> None:
    rows = table.values("SELECT id, array(id) AS list FROM range(3)")
    with pytest.raises(PolicyRefused) as caught:
        table.change(Append, rows, policy=write_policy_of(fields))
    assert caught.value.exit_code == 2
    assert not table.path.exists()


def test_bloom_filters_and_dictionaries_are_in_the_footer(table: Table) -> None:
    policy = write_policy(bloom_filters={"id": 100, "s": 0}, dictionary={"k": False})

    def check(mapped: bool = False) -> None:
        for each in written(table):
            group = pq.ParquetFile(each).metadata.row_group(0)
            names = pq.ParquetFile(each).schema_arrow.names
            assert [mapped] * len(names) == [name.startswith("col-") for name in names]
            chunks: list[Any] = [group.column(index) for index in range(group.num_columns)]
            assert [each.bloom_filter_offset is not None for each in chunks] == [True, False, True]
            assert not any("DICTIONARY" in each for each in chunks[1].encodings)

    rows = table.values("SELECT id, id % 2 AS k, concat('s', id) AS s FROM range(2000)")
    table.change(Append, rows, policy=policy)
    check()
    table.change(Merge, rows.where("id < 5"), on=same_keys("id"), policy=policy)
    table.change(Update, assignments={"k": "7"}, policy=policy)
    check()
    mapped = table.path.parent / "mapped"
    table.path = mapped
    policy = write_policy_of({**policy.identity(), "column_mapping_mode": "name"})
    table.change(Append, rows, policy=policy)
    table.change(Overwrite, rows, policy=policy, schema_mode="overwrite")
    check(mapped=True)
    more = write_policy_of({**policy.identity(), "bloom_filters": ["new"], "dictionary": {}})
    with pytest.raises(PolicyRefused) as caught:
        table.change(Overwrite, rows.selectExpr("id AS new"), policy=more, schema_mode="overwrite")
    assert "column mapping" in caught.value.message


@pytest.mark.parametrize("mode", ["name", "id"])
def test_column_mapping_lets_columns_be_renamed(table: Table, mode: str) -> None:
    table.change(Append, table.session.spark.range(3), policy=write_policy_of({"column_mapping_mode": mode}))
    assert described(table).table_properties["delta.columnMapping.mode"] == mode
    table.sql("ALTER TABLE {t} RENAME COLUMN id TO number")
    assert table.rows("number") == [(0,), (1,), (2,)]


def test_a_delete_does_not_undo_a_policy(table: Table) -> None:
    policy = write_policy(stats_policy="off", properties={"owner.team": "water"})
    table.change(Append, table.session.spark.range(3), policy=policy)
    table.change(Delete, where="id = 1")
    assert described(table).table_properties["owner.team"] == "water"


def test_a_policy_that_is_settled_stays_settled(table: Table) -> None:
    """However Delta spells a property, and whatever its protocol implies without naming it."""
    policy = write_policy(properties={"delta.APPENDONLY": "true"}, enable_features=["invariants"])
    versions = [table.change(Append, table.session.spark.range(1), policy=policy).version for _ in range(3)]
    assert versions == [0, 1, 2]


def test_the_first_rows_bring_along_what_delta_takes_with_rows(table: Table) -> None:
    features = ["changeDataFeed", "deletionVectors", "v2Checkpoint"]
    policy = write_policy(enable_features=features, partition_by=["j"], stats_columns=["id"])
    receipt = table.change(
        Overwrite, table.session.spark.sql("SELECT id, id % 2 AS j FROM range(4)"), policy=policy
    )
    assert (receipt.version, table.rows("id")) == (0, [(0,), (1,), (2,), (3,)])
    table.check(receipt)
    found = described(table)
    assert found.partition_columns == ("j",)
    assert found.table_properties["delta.enableChangeDataFeed"] == "true"
    assert {"changeDataFeed", "deletionVectors", "v2Checkpoint"} <= set(found.writer_features)
    assert (
        table.change(Append, table.session.spark.sql("SELECT 9L AS id, 1L AS j"), policy=policy).version == 1
    )


@pytest.mark.parametrize(
    ("choices", "key", "value"),
    [
        ({"cluster_by": ["id"]}, "delta.headwater.policy", "cluster_by"),
        ({"target_file_size": "64kb"}, "delta.targetFileSize", "65536"),
        ({"column_mapping_mode": "name", "bloom_filters": {"id": 100}}, "delta.columnMapping.mode", "name"),
        ({"properties": {"owner.Team": "water"}}, "owner.Team", "water"),
    ],
    ids=["clustering", "file-size", "mapping", "other-key"],
)
def test_a_table_is_made_before_its_rows_where_delta_takes_no_properties_with_them(
    table: Table, choices: dict[str, Any], key: str, value: str
) -> None:
    receipt = table.change(Append, table.session.spark.range(3), policy=write_policy(**choices))
    assert (receipt.version, table.rows("id")) == (1, [(0,), (1,), (2,)])
    assert described(table).table_properties[key] == value


def test_a_key_that_delta_does_not_know_is_refused_and_leaves_no_table(table: Table) -> None:
    with pytest.raises(MutationRefused):
        table.change(
            Append, table.session.spark.range(3), policy=write_policy(properties={"delta.nope": "1"})
        )
    assert not (table.path / "_delta_log").exists()


def test_what_a_policy_set_before_its_list_was_kept_under_a_key_of_deltas_is_taken_back(table: Table) -> None:
    table.change(Append, table.session.spark.range(3), policy=write_policy(stats_policy="off"))
    listed = described(table).table_properties["delta.headwater.policy"]
    table.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('headwater.policy' = '{listed}')")
    table.sql("ALTER TABLE {t} UNSET TBLPROPERTIES ('delta.headwater.policy')")
    table.change(Append, table.session.spark.range(3), policy=write_policy())
    left = described(table).table_properties
    assert not {"headwater.policy", "delta.headwater.policy", "delta.dataSkippingNumIndexedCols"} & set(left)


def test_fields_inside_columns_and_odd_names_can_be_ordered_by(table: Table) -> None:
    rows = table.values("SELECT named_struct('n', id) AS st, id AS `a-b` FROM range(9)")
    for policy in (
        write_policy(order_by=["st.n"]),
        write_policy(cluster_by=["a-b"]),
        write_policy(cluster_by=["st.n"]),
    ):
        table.path = table.path.with_name(f"t{next(table.numbers)}")
        table.change(Append, rows, policy=policy)
        assert table.change(Append, rows, policy=policy).version == table.version
    assert clustering(table) == ["st.n"]


def pages_of(table: Table, column: int) -> list[int]:
    """How many pages each file has for one of its columns."""
    jvm = table.session.jvm
    parquet, hadoop = jvm.org.apache.parquet.hadoop, jvm.org.apache.hadoop
    found: list[int] = []
    for file in sorted(table.path.glob("*.parquet")):
        path, conf = hadoop.fs.Path(str(file)), hadoop.conf.Configuration()
        reader = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(path, conf))
        try:
            chunk = reader.getRowGroups().get(0).getColumns().get(column)
            found.append(int(reader.readOffsetIndex(chunk).getPageCount()))
        finally:
            reader.close()
    return found


def test_who_looks_for_a_few_rows_of_an_ordered_table_reads_small_pages(table: Table) -> None:
    rows = table.session.spark.range(4000)
    table.change(Append, rows, policy=write_policy(order_by=["id"]))
    assert sum(pages_of(table, 0)) >= 8
    table.path = table.path.with_name("plain")
    table.change(Append, rows)
    assert set(pages_of(table, 0)) == {1}


def test_settings_hold_for_rows_of_another_session(table: Table, session: RunSession) -> None:
    table.change(Append, session.spark.sql(BIG), policy=write_policy(target_file_size="64kb"))
    assert len(written(table)) > 5


def test_names_that_spark_keeps_for_itself_are_no_properties(table: Table) -> None:
    with pytest.raises(PolicyRefused):
        table.change(Append, table.session.spark.range(1), policy=write_policy(properties={"owner": "me"}))
