from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.functions import lit

from headwater.delta import ReadOptions, list_files, preview_scan, read_head, read_pinned
from headwater.errors import FileNotInSnapshot, ScanNotResolved, VersionNotFound
from headwater.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pyspark.sql import DataFrame, Row

    from headwater.names import TablePin
    from headwater.runtime import RunSession, SessionRuntime

ODD = ("x y", "100%", "a:b", "é ü 日", "%41", "a/b", "a=b", "it's", 'q"t', "#h?", "+")


@pytest.fixture(scope="module")
def shared(runtime: SessionRuntime) -> Generator[RunSession]:
    with runtime.checkout() as session:
        yield session


@pytest.fixture(scope="module")
def pin(shared: RunSession, tmp_path_factory: pytest.TempPathFactory) -> TablePin:
    """Partitions with nulls, deletion vectors, row ids, and columns that the log knows by other names."""
    path = tmp_path_factory.mktemp("files") / "a %20 table ü"
    name = f"delta.`{path}`"
    shared.spark.sql(
        f"CREATE TABLE {name} (id BIGINT, word STRING, g STRING, at STRUCT<x: INT>, late STRING) USING delta"
        " PARTITIONED BY (g) TBLPROPERTIES ('delta.columnMapping.mode' = 'name',"
        " 'delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true',"
        " 'delta.dataSkippingStatsColumns' = 'id,word,at')"
    )
    for low in (0, 20, 40):
        shared.spark.sql(
            f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ IF(id % 10 = 9, NULL, id), IF(id % 4 = 3, NULL,"
            " 'w' || id % 5), IF(id % 3 = 0, NULL, 'p ' || id % 3), named_struct('x', CAST(id AS INT) % 20),"
            f" 'l' || id FROM range({low}, {low + 20})"
        )
    shared.spark.sql(f"DELETE FROM {name} WHERE id % 7 = 3")
    shared.spark.sql(f"ALTER TABLE {name} RENAME COLUMN g TO grp")
    shared.spark.sql(f"ALTER TABLE {name} RENAME COLUMN word TO `the word`")
    return read_head(path.as_uri()).pin("orders")


@pytest.fixture(scope="module")
def odd(shared: RunSession, tmp_path_factory: pytest.TempPathFactory) -> TablePin:
    path = tmp_path_factory.mktemp("odd")
    rows = shared.spark.createDataFrame(
        [(place, value) for place, value in enumerate(ODD)], "id INT, p STRING"
    )
    rows.write.format("delta").partitionBy("p").save(str(path))
    return read_head(path.as_uri()).pin("odd")


def text_of(row: Row) -> str:
    values: dict[str, Any] = row.asDict(recursive=True)
    return json.dumps({name: value for name, value in values.items() if name != "of"}, sort_keys=True)


def counted(rows: DataFrame) -> Counter[str]:
    return Counter(text_of(row) for row in rows.collect())


def rows_by_file(session: RunSession, pin: TablePin) -> Counter[str]:
    rows = read_pinned(session, pin, ReadOptions(file_column="file"))
    return Counter(str(row["file"]) for row in rows.collect())


def scanned(rows: Any) -> dict[str, int]:
    """What the scan of a query counted when it was really run."""
    query = rows._jdf.queryExecution()
    rows._jdf.queryExecution().executedPlan().execute().count()
    node = query.executedPlan()
    while not node.children().isEmpty():
        node = node.children().apply(0)
    metrics = node.metrics()
    return {key: int(metrics.apply(key).value()) for key in ("numFiles", "filesSize", "numOutputRows")}


def test_a_file_has_its_live_rows_and_the_tables_names(shared: RunSession, pin: TablePin) -> None:
    files = list_files(shared, pin)
    assert [each.path for each in files] == sorted(each.path for each in files)
    assert len(files) == 9
    assert {each.path: each.rows for each in files} == rows_by_file(shared, pin)
    assert sum(each.deleted_rows for each in files) > 0
    assert [tuple(each.partition) for each in files] == [("grp",)] * 9
    assert Counter(each.partition["grp"] for each in files) == {None: 3, "p 1": 3, "p 2": 3}


def test_a_file_that_nobody_counted_has_no_rows_to_tell(shared: RunSession, tmp_path: Path) -> None:
    setting = "spark.databricks.delta.stats.collect"
    shared.spark.conf.set(setting, "false")
    try:
        shared.spark.range(3).coalesce(1).write.format("delta").save(str(tmp_path))
    finally:
        shared.spark.conf.unset(setting)
    pin = read_head(tmp_path.as_uri()).pin("t")
    assert [each.rows for each in list_files(shared, pin)] == [None]
    preview = preview_scan(shared, pin, filters=["id > 100"])
    assert (preview.files_kept, preview.rows_kept, preview.rows_total) == (1, None, None)


def test_files_of_a_pin_that_is_gone_are_not_listed(shared: RunSession, tmp_path: Path) -> None:
    shared.spark.range(3).write.format("delta").save(str(tmp_path))
    pin = read_head(tmp_path.as_uri()).pin("t")
    commit = tmp_path / "_delta_log" / f"{0:020}.json"
    commit.write_bytes(commit.read_bytes() + b"\n")
    with pytest.raises(VersionNotFound):
        list_files(shared, pin)


@pytest.mark.parametrize(
    ("filters", "kept", "used", "unused"),
    [
        ((), 9, (), ()),
        (("grp = 'p 1'",), 3, ("(grp = 'p 1')", "(grp IS NOT NULL)"), ()),
        (("grp IS NULL", "id >= 40"), 1, ("(grp IS NULL)", "(id >= 40L)", "(id IS NOT NULL)"), ()),
        (("id BETWEEN 25 AND 30",), 3, ("(id <= 30L)", "(id >= 25L)", "(id IS NOT NULL)"), ()),
        (("at.x > 100",), 0, ("(at.`x` > 100)", "(at.`x` IS NOT NULL)"), ()),
        (("late = 'l3'",), 9, (), ("(late = 'l3')", "(late IS NOT NULL)")),
        (("`the word` LIKE '%3'",), 9, ("(`the word` IS NOT NULL)",), ("endswith(`the word`, '3')",)),
        (("id > 45", "id < 12"), 0, ("(id < 12L)", "(id > 45L)", "(id IS NOT NULL)"), ()),
        (("grp = 'p 1'", "grp = 'p 2'"), 0, (), ()),
        (("1 = 2",), 0, (), ()),
    ],
)
def test_a_preview_tells_which_files_filters_leave(
    shared: RunSession,
    pin: TablePin,
    filters: tuple[str, ...],
    kept: int,
    used: tuple[str, ...],
    unused: tuple[str, ...],
) -> None:
    files = list_files(shared, pin)
    preview = preview_scan(shared, pin, columns=["id"], filters=filters)
    assert (preview.snapshot, preview.columns, preview.filters) == (pin.key, ("id",), filters)
    assert preview.files_kept == len(preview.kept) == kept
    assert preview.files_total == 9
    assert (preview.used_filters, preview.unused_filters) == (used, unused)
    assert preview.bytes_total == sum(each.size for each in files)
    assert preview.bytes_kept == sum(each.size for each in preview.kept)
    assert preview.rows_total == sum(each.rows or 0 for each in files)
    assert preview.rows_kept == sum(each.rows or 0 for each in preview.kept)


@pytest.mark.parametrize("condition", ["grp = 'p 1'", "id > 45", "late = 'l3'", "at.x < 3", "id IS NULL"])
def test_a_preview_agrees_with_what_a_run_reads(shared: RunSession, pin: TablePin, condition: str) -> None:
    preview = preview_scan(shared, pin, filters=[condition])
    # AQE would wrap the plan, and Parquet's own skipping would leave rows of a file out.
    shared.spark.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        found = scanned(read_pinned(shared, pin, ReadOptions(pushdown=False)).where(condition))
    finally:
        shared.spark.conf.unset("spark.sql.adaptive.enabled")
    assert (found["numFiles"], found["filesSize"]) == (preview.files_kept, preview.bytes_kept)
    # A scan reads deleted rows and drops them at once.
    deleted = sum(each.deleted_rows for each in preview.kept)
    assert found["numOutputRows"] == (preview.rows_kept or 0) + deleted
    kept = ReadOptions(files=tuple(each.path for each in preview.kept))
    assert len(read_pinned(shared, pin, kept).collect()) == preview.rows_kept


def test_a_preview_looks_at_files_whatever_is_cached(shared: RunSession, pin: TablePin) -> None:
    rows = read_pinned(shared, pin).cache()
    try:
        rows.collect()
        assert preview_scan(shared, pin).files_kept == 9
    finally:
        rows.unpersist(blocking=True)


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ({"filters": ["nobody = 1"]}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ({"filters": ["id >"]}, "PARSE_SYNTAX_ERROR"),
        ({"filters": ["id + 1"]}, "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"),
        ({"columns": ["nobody"]}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ({"filters": ["id IN (SELECT 1)"]}, None),
        ({"filters": ["rand() > 0.5"]}, None),
        ({"columns": ["count(*)"]}, None),
    ],
)
def test_what_does_not_fit_the_table_is_refused(
    shared: RunSession, pin: TablePin, options: dict[str, Any], condition: str | None
) -> None:
    with pytest.raises(ScanNotResolved) as caught:
        preview_scan(shared, pin, **options)
    assert (caught.value.dataset, caught.value.condition) == ("orders", condition)


def test_paths_with_odd_characters_are_found_again(shared: RunSession, odd: TablePin) -> None:
    files = list_files(shared, odd)
    assert {each.partition["p"] for each in files} == set(ODD)
    assert preview_scan(shared, odd).kept == files
    for each in files:
        value = each.partition["p"] or ""
        literal = value.replace("'", "\\'")
        assert preview_scan(shared, odd, filters=[f"p = '{literal}'"]).kept == (each,)
        rows = read_pinned(shared, odd, ReadOptions(files=(each.path,), file_column="file")).collect()
        assert [tuple(row) for row in rows] == [(ODD.index(value), value, each.path)]


def test_thousands_of_files_are_previewed(shared: RunSession, tmp_path: Path) -> None:
    """The log says there are files; nothing reads them."""
    shared.spark.range(1).coalesce(1).write.format("delta").save(str(tmp_path))
    commit: dict[str, Any] = {"commitInfo": {"timestamp": 1, "operation": "WRITE", "operationParameters": {}}}
    added: list[dict[str, Any]] = [
        {
            "path": f"part%20{number}.parquet",
            "partitionValues": {},
            "size": 10,
            "modificationTime": 1,
            "dataChange": True,
            "stats": json.dumps(
                {
                    "numRecords": 1,
                    "minValues": {"id": number},
                    "maxValues": {"id": number},
                    "nullCount": {"id": 0},
                }
            ),
        }
        for number in range(10, 5010)
    ]
    lines = [commit, *({"add": each} for each in added)]
    log = tmp_path / "_delta_log" / f"{1:020}.json"
    log.write_text("".join(json.dumps(each) + "\n" for each in lines))
    pin = read_head(tmp_path.as_uri()).pin("t")
    preview = preview_scan(shared, pin, filters=["id >= 1010"])
    assert (preview.files_total, preview.files_kept, preview.rows_kept) == (5001, 4000, 4000)
    several = tuple(each.path for each in preview.kept)
    assert len(read_pinned(shared, pin, ReadOptions(files=several)).inputFiles()) == 4000


def test_a_read_of_some_files_has_their_rows_and_ids(shared: RunSession, pin: TablePin) -> None:
    chosen = {each.path for each in list_files(shared, pin)[::2]}
    with_ids = ("id", "`the word`", "grp", "at", "_metadata.row_id AS row", "file")
    everything = read_pinned(shared, pin, ReadOptions(file_column="file")).selectExpr(*with_ids)
    some = ReadOptions(files=tuple(chosen), file_column="file")
    expected = counted(everything.where(everything["file"].isin(sorted(chosen))))
    assert counted(read_pinned(shared, pin, some).selectExpr(*with_ids)) == expected
    assert 0 < expected.total() < counted(everything).total()


def test_no_files_give_no_rows(shared: RunSession, pin: TablePin) -> None:
    rows = read_pinned(shared, pin, ReadOptions(files=()))
    assert rows.columns == ["id", "the word", "grp", "at", "late"]
    assert rows.collect() == []


def test_a_file_that_the_version_does_not_have_is_refused(shared: RunSession, pin: TablePin) -> None:
    there, origin = list_files(shared, pin)[0].path, Origin(path="views/a.py", line=1)
    with pytest.raises(FileNotInSnapshot) as caught:
        read_pinned(shared, pin, ReadOptions(files=(there, "z.parquet")), origin)
    assert (caught.value.file, caught.value.version, caught.value.origin) == (
        "z.parquet",
        pin.version,
        origin,
    )


COMPARED = st.sampled_from(["=", "<=>", "<", ">=", "<>"])
UNKNOWN = "CAST(NULL AS BOOLEAN)"  # a bare NULL is no condition to Spark
CONDITIONS = st.one_of(
    st.builds("id {} {}".format, COMPARED, st.integers(-1, 61)),
    st.builds("at.x {} {}".format, COMPARED, st.integers(0, 21)),
    st.builds("grp {} 'p {}'".format, COMPARED, st.integers(0, 3)),
    st.builds("`the word` {} 'w{}'".format, COMPARED, st.integers(0, 5)),
    st.builds("late {} 'l{}'".format, COMPARED, st.integers(0, 60)),
    st.builds(
        "{} IS {}NULL".format, st.sampled_from(["id", "grp", "`the word`"]), st.sampled_from(["", "NOT "])
    ),
    st.builds("id IN ({}, {}, NULL)".format, st.integers(0, 60), st.integers(0, 60)),
    st.sampled_from(["upper(grp) = 'P 2'", "id % 2 = 0", "startswith(`the word`, 'w1')", UNKNOWN, "true"]),
)
FILTERS = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("(NOT {})".format, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(condition=FILTERS)
def test_the_kept_files_hold_all_that_a_filter_finds(
    shared: RunSession, pin: TablePin, condition: str
) -> None:
    preview = preview_scan(shared, pin, filters=[condition])
    kept = tuple(each.path for each in preview.kept)
    of_all, of_kept = (
        read_pinned(shared, pin, ReadOptions(files=files, file_column="file")).where(condition)
        for files in (None, kept)
    )
    both = of_all.withColumn("of", lit("all")).unionByName(of_kept.withColumn("of", lit("kept"))).collect()
    found = {name: Counter(text_of(row) for row in both if row["of"] == name) for name in ("all", "kept")}
    assert found["kept"] == found["all"]
    assert {str(row["file"]) for row in both} <= set(kept)
