"""Functions in whole projects: what a build records of them, refuses, and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import headwater
from headwater import functions as H
from headwater.artifacts import last_manifest
from headwater.errors import FunctionDisabled
from headwater.functions import FAMILIES, FUNCTIONS, SEMANTIC_TYPE_KEY, function_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.run import RunOutcome
    from headwater.runtime import SessionRuntime

pytestmark = pytest.mark.usefixtures("runtime")
HEADER = """\
import headwater
from headwater import functions as H
from pyspark.sql import DataFrame, functions as F


"""
ROWS = """\
@headwater.source
def rows(spark):
    return spark.createDataFrame([("a", 1), ("b", 2)], "a STRING, n INT")
"""


def build(folder: Path, **settings: str) -> RunOutcome:
    return headwater.open(folder, settings={"master": "local[2]", "driver_memory": "2g", **settings}).build()


def view(body: str, name: str = "made") -> str:
    return (
        f"{HEADER}{ROWS}\n\n@headwater.table\ndef {name}(rows: DataFrame) -> DataFrame:\n    return {body}\n"
    )


def recorded(folder: Path) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    manifest = last_manifest(folder / ".headwater")
    assert manifest is not None
    return {each.name: (tuple(each.functions), tuple(each.tags)) for each in manifest.views}


def schema_of(runtime: SessionRuntime, folder: Path, table: str) -> Any:
    with runtime.checkout() as session:
        path = str(folder / ".headwater" / "tables" / table)
        return session.spark.read.format("delta").load(path).schema


def test_a_build_records_which_functions_each_view_uses(project_folder: Callable[..., Path]) -> None:
    nested = "H.node_id(H.span_len(H.span_make('n', 'n')))"
    folder = project_folder(
        python_py=view(
            f"rows.select({nested}, F.expr('utf8_null_if_blank(a) AS t'), F.upper('a').alias('up'))", "python"
        ),
        plain_py=f"{HEADER}@headwater.view\ndef plain(rows: DataFrame) -> DataFrame:\n"
        "    return rows.groupBy().agg(F.collect_set('a'), F.count_if(F.col('n') > 1), F.lit('node_id(1)'))"
        "\n",
        sql_sql="-- headwater: table\nSELECT Map_Normalize(map(a, n)) AS m, "
        "count_if(n > 1) OVER () AS c FROM rows\n",
        inner_sql="SELECT n FROM rows WHERE n IN (SELECT cdf_change_rank('insert') FROM rows)\n",
    )
    outcome = build(folder)
    assert outcome.status == "done", outcome.error
    found = recorded(folder)
    assert found["python"][0] == ("node_id", "span_len", "span_make", "utf8_null_if_blank")
    assert found["python"][1] == ("hash", "id", "position_encoding", "span", "string_norm", "symbol")
    assert found["sql"] == (("map_normalize",), ("map", "nested"))
    assert found["inner"][0] == ("cdf_change_rank",)
    assert found["plain"] == ((), ())
    manifest = last_manifest(folder / ".headwater")
    assert manifest is not None
    assert tuple(manifest.families) == FAMILIES
    assert manifest.function_digest == function_snapshot().digest
    assert build(folder).status == "unchanged"


def test_a_column_that_a_file_makes_as_it_is_imported_counts_too(
    project_folder: Callable[..., Path],
) -> None:
    made = view("rows.select(LENGTH)").replace("\n\n", "\n\nLENGTH = H.span_len(H.span_make('n', 'n'))\n", 1)
    folder = project_folder(made_py=made)
    outcome = build(folder)
    assert outcome.status == "done", outcome.error
    assert recorded(folder)["made"][0] == ("span_len", "span_make")


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"made_py": view("rows.select(H.map_normalize(F.create_map('a', 'n')).alias('m'))")}, 12),
        ({"made_py": view("rows.select(F.expr('map_normalize(map(a, n)) AS m'))")}, 12),
        ({"made_py": view("rows.selectExpr('map_normalize (map(a, n)) AS m')")}, 12),
        (
            {
                "made_py": view(
                    "rows.select(F.call_function('map_normalize', F.create_map('a', 'n')).alias('m'))"
                )
            },
            12,
        ),
        (
            {
                "made_sql": "-- headwater: table\nSELECT map_normalize(map(a, n)) AS m FROM rows\n",
                "rows_py": HEADER + ROWS,
            },
            1,
        ),
        (
            {
                "made_py": f"{HEADER}@headwater.source\ndef made(spark):\n"
                "    return spark.range(1).select(H.map_normalize(F.create_map('id', 'id')).alias('m'))\n",
                "other_sql": "-- headwater: table\nSELECT * FROM made\n",
            },
            6,
        ),
    ],
    ids=["python", "expr", "selectExpr", "call_function", "sql", "source"],
)
def test_a_project_that_uses_a_disabled_family_is_refused_at_the_line(
    project_folder: Callable[..., Path], files: dict[str, str], line: int
) -> None:
    folder = project_folder(**files)
    with pytest.raises(FunctionDisabled) as caught:
        build(folder, disabled_families="map,cdf")
    error = caught.value
    found = (error.code, error.view, error.function, error.family)
    assert found == ("HW-PLAN-007", "made", "map_normalize", "map")
    assert error.origin is not None
    assert "made." in error.origin.path
    assert abs(error.origin.line - line) <= 2
    assert not (folder / ".headwater" / "tables" / "made").exists()


def test_one_that_does_not_use_it_builds(project_folder: Callable[..., Path]) -> None:
    folder = project_folder(made_py=view("rows.select(H.node_id('a').alias('id'))"))
    outcome = build(folder, disabled_families="cdf,map,span")
    assert outcome.status == "done", outcome.error
    manifest = last_manifest(folder / ".headwater")
    assert manifest is not None
    gone = {"cdf", "delta", "incremental", "map", "nested", "position_encoding", "span"}
    assert tuple(manifest.families) == tuple(each for each in FAMILIES if each not in gone)


def test_a_semantic_type_survives_whatever_keeps_the_column(
    project_folder: Callable[..., Path], runtime: SessionRuntime
) -> None:
    body = (
        "rows.withColumn('node', H.node_id('a').alias('x').alias('y')).where('n > 0')"
        ".select('*', H.file_id('a').alias('file'))"
        ".join(rows.select(F.col('a').alias('k'), H.edge_id('a', 'n').alias('edge')), "
        "F.col('a') == F.col('k')).unionByName(rows.selectExpr('a', 'n', 'node_id(n) AS node', "
        "'file_id(n) AS file', 'a AS k', 'edge_id(a) AS edge'))"
    )
    folder = project_folder(
        made_py=view(body),
        grouped_sql="-- headwater: table\nSELECT node AS key, count(*) AS c, "
        "any_value_det(span_id('r', a, span_make(n, n))) AS spot, max(file) AS text "
        "FROM made GROUP BY node\n",
    )
    outcome = build(folder)
    assert outcome.status == "done", outcome.error
    made, grouped = (schema_of(runtime, folder, name) for name in ("made", "grouped"))
    kinds = {field.name: field.metadata.get(SEMANTIC_TYPE_KEY) for field in (*made, *grouped)}
    assert kinds == {
        **dict.fromkeys(("a", "n", "k", "c", "text")),
        "node": "NodeId",
        "file": "FileId",
        "edge": "EdgeId",
        "key": "NodeId",
        "spot": "SpanId",
    }
    assert "headwater.function" not in made.json() + grouped.json()


def test_a_semantic_type_goes_wherever_spark_carries_the_column(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a", 1), ("b", 2)], "a STRING, n INT")
    named = rows.withColumn("id", H.node_id("a"))
    named.createOrReplaceTempView("named")
    frames = {
        "withColumn": named,
        "select": named.select("id"),
        "alias": rows.select(H.node_id("a").alias("x").alias("id")),
        "renamed": named.withColumnRenamed("id", "x").withColumnRenamed("x", "id"),
        "filter": named.where("n > 1").orderBy("id").limit(1),
        "join": rows.join(named.select("id", "n"), "n", "left"),
        "union": named.select("id").union(rows.select("a")),
        "key of a group": named.groupBy("id").count(),
        "distinct": named.select("id").distinct(),
        "view": spark.table("named"),
        "sql": spark.sql("WITH t AS (SELECT id FROM named) SELECT t.id FROM t"),
        "window": spark.sql("SELECT id, row_number() OVER (PARTITION BY id ORDER BY n) FROM named"),
        "aggregate": spark.sql("SELECT arg_max_det(id, n) AS id FROM named"),
    }
    kinds = {way: frame.schema["id"].metadata.get(SEMANTIC_TYPE_KEY) for way, frame in frames.items()}
    assert kinds == dict.fromkeys(frames, "NodeId")
    other = spark.sql("SELECT upper(id) AS id FROM named")
    assert SEMANTIC_TYPE_KEY not in other.schema["id"].metadata


def test_every_function_works_in_a_view_and_leaves_no_mark(
    project_folder: Callable[..., Path], runtime: SessionRuntime
) -> None:
    """Offline-built views, too: the mark is for the record, not for Spark."""
    span = "H.span_make('n', F.col('n') + 1)"
    columns = {
        "i": "H.stable_id_parts('x', 'a', 'n')",
        "h": "H.stable_hash_any('a')",
        "s": span,
        "o": f"H.span_overlaps({span}, {span})",
        "u": "H.utf8_normalize('a', 'NFC', True)",
        "q": "H.qname_normalize('a')",
        "m": "H.map_normalize(F.create_map('a', 'n'))",
        "l": "H.list_unique_sorted(F.array('n'))",
        "p": f"H.struct_pick({span}, 'bend')",
        "c": "H.cdf_is_upsert(F.lit('insert'))",
    }
    selected = ", ".join(f"{made}.alias('{name}')" for name, made in columns.items())
    folder = project_folder(made_py=view(f"rows.select({selected})"))
    outcome = build(folder)
    assert outcome.status == "done", outcome.error
    schema = schema_of(runtime, folder, "made")
    assert schema.names == list(columns)
    assert "headwater" not in schema.json()
    manifest = last_manifest(folder / ".headwater")
    assert manifest is not None
    assert all("headwater.function" not in each.schema for each in manifest.schemas)
    assert {"utf8_normalize", "struct_pick"} <= set(recorded(folder)["made"][0])


def test_the_catalogue_is_what_a_session_of_the_default_profile_has(runtime: SessionRuntime) -> None:
    assert len(runtime.identity.functions.definitions) == len(FUNCTIONS)
