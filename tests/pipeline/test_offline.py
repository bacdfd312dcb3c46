"""Every public member of frames and sessions, offline: it works, asks for a schema, or is refused by name."""

# pyright: reportUnknownLambdaType=none, reportUnknownArgumentType=none, reportUnknownVariableType=none

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import Observation, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.connect.dataframe import (
    DataFrame,
    DataFrameNaFunctions,
    DataFrameStatFunctions,
)
from pyspark.sql.connect.group import GroupedData
from pyspark.sql.connect.readwriter import DataFrameReader
from pyspark.sql.connect.session import SparkSession as ConnectSession
from pyspark.sql.types import IntegerType, LongType, StringType, StructType

from headwater.errors import EngineFailed, InvalidDdl, NotInAView
from headwater.pipeline.canonical import plan_bytes_of
from headwater.pipeline.offline import OfflineSession, open_offline

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSource

SCHEMA = StructType().add("id", LongType()).add("k", StringType())
Use = Callable[[Any], object]
OFFLINE, ASKS, REFUSED = "works", "asks for a schema", "is refused"


class Columns:
    """A source of schemas that counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def schema_of(self, relation: bytes) -> StructType:
        assert relation
        self.asked += 1
        return SCHEMA


@pytest.fixture
def columns() -> Columns:
    return Columns()


@pytest.fixture
def spark(columns: Columns) -> Iterator[OfflineSession]:
    with open_offline(columns) as session:
        yield session


def _other(frame: Any) -> Any:
    return frame.sparkSession.table("other")


def _same(batches: Any) -> Any:
    return batches


def _grow(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


FRAME: dict[str, tuple[str, Use]] = {
    "agg": (OFFLINE, lambda f: f.agg(F.sum("id"))),
    "alias": (OFFLINE, lambda f: f.alias("x")),
    "approxQuantile": (REFUSED, lambda f: f.approxQuantile("id", [0.5], 0.1)),
    "asTable": (OFFLINE, lambda f: f.asTable().partitionBy("k")),
    "cache": (REFUSED, lambda f: f.cache()),
    "checkpoint": (REFUSED, lambda f: f.checkpoint()),
    "coalesce": (OFFLINE, lambda f: f.coalesce(1)),
    "colRegex": (OFFLINE, lambda f: f.select(f.colRegex("`i.*`"))),
    "collect": (REFUSED, lambda f: f.collect()),
    "columns": (ASKS, lambda f: f.columns),
    "corr": (REFUSED, lambda f: f.corr("id", "id")),
    "count": (REFUSED, lambda f: f.count()),
    "cov": (REFUSED, lambda f: f.cov("id", "id")),
    "createGlobalTempView": (REFUSED, lambda f: f.createGlobalTempView("x")),
    "createOrReplaceGlobalTempView": (REFUSED, lambda f: f.createOrReplaceGlobalTempView("x")),
    "createOrReplaceTempView": (REFUSED, lambda f: f.createOrReplaceTempView("x")),
    "createTempView": (REFUSED, lambda f: f.createTempView("x")),
    "crossJoin": (OFFLINE, lambda f: f.crossJoin(_other(f))),
    "crosstab": (REFUSED, lambda f: f.crosstab("id", "k")),
    "cube": (OFFLINE, lambda f: f.cube("k").count()),
    "describe": (OFFLINE, lambda f: f.describe("id")),
    "distinct": (OFFLINE, lambda f: f.distinct()),
    "drop": (OFFLINE, lambda f: f.drop("id", f["k"])),
    "dropDuplicates": (OFFLINE, lambda f: f.dropDuplicates(["id"])),
    "dropDuplicatesWithinWatermark": (OFFLINE, lambda f: f.dropDuplicatesWithinWatermark(["id"])),
    "drop_duplicates": (OFFLINE, lambda f: f.drop_duplicates()),
    "dropna": (OFFLINE, lambda f: f.dropna()),
    "dtypes": (ASKS, lambda f: f.dtypes),
    "exceptAll": (OFFLINE, lambda f: f.exceptAll(_other(f))),
    "executionInfo": (REFUSED, lambda f: f.executionInfo),
    "exists": (OFFLINE, lambda f: f.where(_other(f).exists())),
    "explain": (REFUSED, lambda f: f.explain()),
    "fillna": (OFFLINE, lambda f: f.fillna(0)),
    "filter": (OFFLINE, lambda f: f.filter("id > 1")),
    "first": (REFUSED, lambda f: f.first()),
    "foreach": (REFUSED, lambda f: f.foreach(print)),
    "foreachPartition": (REFUSED, lambda f: f.foreachPartition(print)),
    "freqItems": (OFFLINE, lambda f: f.freqItems(["id"])),
    "groupBy": (OFFLINE, lambda f: f.groupBy("k").count()),
    "groupby": (OFFLINE, lambda f: f.groupby("k").count()),
    "groupingSets": (OFFLINE, lambda f: f.groupingSets([["k"], []], "k").agg(F.sum("id"))),
    "head": (REFUSED, lambda f: f.head()),
    "hint": (OFFLINE, lambda f: f.hint("broadcast")),
    "inputFiles": (REFUSED, lambda f: f.inputFiles()),
    "intersect": (OFFLINE, lambda f: f.intersect(_other(f))),
    "intersectAll": (OFFLINE, lambda f: f.intersectAll(_other(f))),
    "isEmpty": (REFUSED, lambda f: f.isEmpty()),
    "isLocal": (REFUSED, lambda f: f.isLocal()),
    "isStreaming": (OFFLINE, lambda f: f.isStreaming),
    "is_cached": (REFUSED, lambda f: f.is_cached),
    "join": (OFFLINE, lambda f: f.join(_other(f), "id", "left")),
    "lateralJoin": (OFFLINE, lambda f: f.lateralJoin(_other(f))),
    "limit": (OFFLINE, lambda f: f.limit(1)),
    "localCheckpoint": (REFUSED, lambda f: f.localCheckpoint()),
    "mapInArrow": (ASKS, lambda f: f.mapInArrow(_same, "id bigint")),
    "mapInPandas": (ASKS, lambda f: f.mapInPandas(_same, "id bigint")),
    "melt": (OFFLINE, lambda f: f.melt(["id"], ["k"], "n", "v")),
    "mergeInto": (REFUSED, lambda f: f.mergeInto("t", F.lit(True))),
    "metadataColumn": (OFFLINE, lambda f: f.select(f.metadataColumn("m"))),
    "na": (OFFLINE, lambda f: f.na.drop()),
    "nearestByJoin": (
        OFFLINE,
        lambda f: f.nearestByJoin(_other(f), F.abs(f["id"] - 1), 1, mode="exact", direction="distance"),
    ),
    "observe": (OFFLINE, lambda f: f.observe("o", F.count(F.lit(1)))),
    "offset": (OFFLINE, lambda f: f.offset(1)),
    "orderBy": (OFFLINE, lambda f: f.orderBy(F.desc("id"))),
    "pandas_api": (REFUSED, lambda f: f.pandas_api()),
    "persist": (REFUSED, lambda f: f.persist()),
    "plot": (REFUSED, lambda f: f.plot),
    "printSchema": (ASKS, lambda f: f.printSchema()),
    "randomSplit": (OFFLINE, lambda f: f.randomSplit([0.5, 0.5], seed=1)[0]),
    "rdd": (REFUSED, lambda f: f.rdd),
    "registerTempTable": (REFUSED, lambda f: _warned(lambda: f.registerTempTable("x"))),
    "repartition": (OFFLINE, lambda f: f.repartition(2, "k")),
    "repartitionById": (OFFLINE, lambda f: f.repartitionById(2, F.col("id").cast("int"))),
    "repartitionByRange": (OFFLINE, lambda f: f.repartitionByRange(2, "k")),
    "replace": (OFFLINE, lambda f: f.replace({1: 2})),
    "rollup": (OFFLINE, lambda f: f.rollup("k").agg(F.max("id"))),
    "sameSemantics": (REFUSED, lambda f: f.sameSemantics(f)),
    "sample": (OFFLINE, lambda f: f.sample(0.5, seed=1)),
    "sampleBy": (OFFLINE, lambda f: f.sampleBy("k", {"a": 0.5}, seed=1)),
    "scalar": (OFFLINE, lambda f: f.withColumn("s", _other(f).agg(F.max("id")).scalar())),
    "schema": (ASKS, lambda f: f.schema),
    "select": (OFFLINE, lambda f: f.select("id", f["*"], f.k)),
    "selectExpr": (OFFLINE, lambda f: f.selectExpr("id + 1 AS n")),
    "semanticHash": (REFUSED, lambda f: f.semanticHash()),
    "show": (REFUSED, lambda f: f.show()),
    "sort": (OFFLINE, lambda f: f.sort("id")),
    "sortWithinPartitions": (OFFLINE, lambda f: f.sortWithinPartitions("id")),
    "sparkSession": (OFFLINE, lambda f: f.sparkSession.table("t")),
    "stat": (OFFLINE, lambda f: f.stat.freqItems(["id"])),
    "storageLevel": (REFUSED, lambda f: f.storageLevel),
    "subtract": (OFFLINE, lambda f: f.subtract(_other(f))),
    "summary": (OFFLINE, lambda f: f.summary()),
    "tail": (REFUSED, lambda f: f.tail(1)),
    "take": (REFUSED, lambda f: f.take(1)),
    "to": (OFFLINE, lambda f: f.to(SCHEMA)),
    "toArrow": (REFUSED, lambda f: f.toArrow()),
    "toDF": (OFFLINE, lambda f: f.toDF("a", "b")),
    "toJSON": (OFFLINE, lambda f: f.toJSON()),
    "toLocalIterator": (REFUSED, lambda f: next(f.toLocalIterator())),
    "toPandas": (REFUSED, lambda f: f.toPandas()),
    "transform": (OFFLINE, lambda f: f.transform(lambda g: g.limit(1))),
    "transpose": (REFUSED, lambda f: f.transpose()),
    "union": (OFFLINE, lambda f: f.union(_other(f))),
    "unionAll": (OFFLINE, lambda f: f.unionAll(_other(f))),
    "unionByName": (OFFLINE, lambda f: f.unionByName(_other(f), allowMissingColumns=True)),
    "unpersist": (REFUSED, lambda f: f.unpersist()),
    "unpivot": (OFFLINE, lambda f: f.unpivot("id", "k", "n", "v")),
    "where": (OFFLINE, lambda f: f.where(f["id"].isin(_other(f).select("id")))),
    "withColumn": (OFFLINE, lambda f: f.withColumn("n", F.lit(1))),
    "withColumnRenamed": (OFFLINE, lambda f: f.withColumnRenamed("id", "n")),
    "withColumns": (OFFLINE, lambda f: f.withColumns({"n": F.lit(1)})),
    "withColumnsRenamed": (OFFLINE, lambda f: f.withColumnsRenamed({"id": "n"})),
    "withMetadata": (OFFLINE, lambda f: f.withMetadata("id", {"a": 1})),
    "withWatermark": (OFFLINE, lambda f: f.withWatermark("t", "1 day")),
    "write": (REFUSED, lambda f: f.write.parquet("x")),
    "writeStream": (REFUSED, lambda f: f.writeStream),
    "writeTo": (REFUSED, lambda f: f.writeTo("t").append()),
    "zipWithIndex": (OFFLINE, lambda f: f.zipWithIndex()),
}

GROUPED: dict[str, tuple[str, Use]] = {
    "agg": (OFFLINE, lambda g: g.agg({"id": "max"})),
    "apply": (ASKS, lambda g: _warned(lambda: g.apply(_grouped_map_udf()))),
    "applyInArrow": (ASKS, lambda g: g.applyInArrow(_same, "id bigint")),
    "applyInPandas": (ASKS, lambda g: g.applyInPandas(_grow, "id bigint")),
    "applyInPandasWithState": (REFUSED, lambda g: g.applyInPandasWithState(print, "a int", "b int", "", "")),
    "avg": (ASKS, lambda g: g.avg("id")),
    "cogroup": (OFFLINE, lambda g: g.cogroup(g).applyInPandas(lambda a, _: a, "id bigint")),
    "count": (OFFLINE, lambda g: g.count()),
    "max": (ASKS, lambda g: g.max()),
    "mean": (ASKS, lambda g: g.mean("id")),
    "min": (ASKS, lambda g: g.min("id")),
    "pivot": (OFFLINE, lambda g: g.pivot("k", ["a", "b"]).agg(F.sum("id"))),  # noqa: PD010
    "sum": (ASKS, lambda g: g.sum("id")),
    "transformWithState": (REFUSED, lambda g: g.transformWithState(None, "a int", "append", "none")),
    "transformWithStateInPandas": (
        REFUSED,
        lambda g: g.transformWithStateInPandas(None, "a int", "append", "none"),
    ),
}

NA: dict[str, tuple[str, Use]] = {
    "drop": (OFFLINE, lambda n: n.drop("all", subset=["id"])),
    "fill": (OFFLINE, lambda n: n.fill({"id": 1})),
    "replace": (OFFLINE, lambda n: n.replace(["a"], ["b"], "k")),
}

STAT: dict[str, tuple[str, Use]] = {
    "approxQuantile": (REFUSED, lambda s: s.approxQuantile("id", [0.5], 0.1)),
    "corr": (REFUSED, lambda s: s.corr("id", "id")),
    "cov": (REFUSED, lambda s: s.cov("id", "id")),
    "crosstab": (REFUSED, lambda s: s.crosstab("id", "k")),
    "freqItems": (OFFLINE, lambda s: s.freqItems(["id"])),
    "sampleBy": (OFFLINE, lambda s: s.sampleBy("k", {"a": 0.1}, 7)),
}

READER: dict[str, tuple[str, Use]] = {
    "changes": (OFFLINE, lambda r: r.option("startingVersion", 1).changes("t").isStreaming),
    "csv": (OFFLINE, lambda r: r.csv("x", schema="a int", header=True)),
    "format": (OFFLINE, lambda r: r.format("delta").load("x")),
    "jdbc": (OFFLINE, lambda r: r.jdbc("jdbc:x", "t", properties={})),
    "json": (OFFLINE, lambda r: r.json("x")),
    "load": (OFFLINE, lambda r: r.load("x", format="parquet")),
    "option": (OFFLINE, lambda r: r.option("a", 1).load("x")),
    "options": (OFFLINE, lambda r: r.options(a=1).load("x")),
    "orc": (OFFLINE, lambda r: r.orc("x")),
    "parquet": (OFFLINE, lambda r: r.parquet("x")),
    "schema": (OFFLINE, lambda r: r.schema(SCHEMA).parquet("x")),
    "table": (OFFLINE, lambda r: r.table("t")),
    "text": (OFFLINE, lambda r: r.text("x")),
    "xml": (OFFLINE, lambda r: r.xml("x", rowTag="a")),
}

SESSION: dict[str, tuple[str, Use]] = {
    "Builder": (OFFLINE, lambda s: s.Builder),
    "Hook": (OFFLINE, lambda s: s.Hook),
    "active": (OFFLINE, lambda s: s.active().table("t")),
    "addArtifact": (REFUSED, lambda s: s.addArtifact("x")),
    "addArtifacts": (REFUSED, lambda s: s.addArtifacts("x", pyfile=True)),
    "addTag": (REFUSED, lambda s: s.addTag("x")),
    "builder": (OFFLINE, lambda s: s.builder.getOrCreate().table("t")),
    "catalog": (REFUSED, lambda s: s.catalog.listTables()),
    "clearProgressHandlers": (REFUSED, lambda s: s.clearProgressHandlers()),
    "clearTags": (REFUSED, lambda s: s.clearTags()),
    "client": (OFFLINE, lambda s: s.client),
    "cloneSession": (REFUSED, lambda s: s.cloneSession()),
    "conf": (OFFLINE, lambda s: s.conf.get("spark.sql.session.timeZone")),
    "copyFromLocalToFs": (REFUSED, lambda s: s.copyFromLocalToFs("a", "b")),
    "createDataFrame": (OFFLINE, lambda s: s.createDataFrame([(1, "a")], "id int, k string")),
    "dataSource": (REFUSED, lambda s: s.dataSource.register(_source())),
    "emptyDataFrame": (OFFLINE, lambda s: s.emptyDataFrame("id int")),
    "getActiveSession": (OFFLINE, lambda s: s.getActiveSession().table("t")),
    "getTags": (REFUSED, lambda s: s.getTags()),
    "interruptAll": (REFUSED, lambda s: s.interruptAll()),
    "interruptOperation": (REFUSED, lambda s: s.interruptOperation("x")),
    "interruptTag": (REFUSED, lambda s: s.interruptTag("x")),
    "is_stopped": (OFFLINE, lambda s: s.is_stopped),
    "profile": (REFUSED, lambda s: s.profile.show()),
    "range": (OFFLINE, lambda s: s.range(3)),
    "read": (OFFLINE, lambda s: s.read.table("t")),
    "readStream": (REFUSED, lambda s: s.readStream.table("t")),
    "registerProgressHandler": (REFUSED, lambda s: s.registerProgressHandler(print)),
    "removeProgressHandler": (REFUSED, lambda s: s.removeProgressHandler(print)),
    "removeTag": (REFUSED, lambda s: s.removeTag("x")),
    "session_id": (OFFLINE, lambda s: s.session_id),
    "sql": (OFFLINE, lambda s: s.sql("SELECT * FROM t WHERE id > :n", {"n": 1}).where("id < 9")),
    "stop": (REFUSED, lambda s: s.stop()),
    "streams": (REFUSED, lambda s: s.streams.active),
    "table": (OFFLINE, lambda s: s.table("t")),
    "tvf": (OFFLINE, lambda s: s.tvf.explode(F.array(F.lit(1)))),
    "udf": (REFUSED, lambda s: s.udf.register("f", len, "int")),
    "udtf": (REFUSED, lambda s: s.udtf.register("f", F.udtf(_Doubled, returnType="a int"))),
    "version": (OFFLINE, lambda s: s.version),
}

# Owners whose refusals carry another name than the member of the table: the one the user's line calls.
RENAMED = {"udf": "UDFRegistration.register", "udtf": "UDTFRegistration.register"}
TABLES: dict[type, tuple[dict[str, tuple[str, Use]], Callable[[OfflineSession], object]]] = {
    DataFrame: (FRAME, lambda s: s.table("t")),
    GroupedData: (GROUPED, lambda s: s.table("t").groupBy("k")),
    DataFrameNaFunctions: (NA, lambda s: s.table("t").na),
    DataFrameStatFunctions: (STAT, lambda s: s.table("t").stat),
    DataFrameReader: (READER, lambda s: s.read),
    ConnectSession: (SESSION, lambda s: s),
}


class _Doubled:
    def eval(self, a: int) -> Iterator[tuple[int]]:
        yield (a * 2,)


def _source() -> type[DataSource]:
    raise AssertionError("refused before this is asked for")


def _grouped_map_udf() -> object:
    return F.pandas_udf(_grow, "id bigint", F.PandasUDFType.GROUPED_MAP)


def _warned(call: Callable[[], object]) -> object:
    with pytest.warns(Warning):  # noqa: PT030 - whichever pyspark gives
        return call()


@pytest.mark.parametrize("owner", TABLES, ids=lambda owner: owner.__name__)
def test_the_table_has_every_public_member(owner: type) -> None:
    assert set(TABLES[owner][0]) == {name for name in dir(owner) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("owner", "member"),
    [(owner, member) for owner, (table, _) in TABLES.items() for member in table],
    ids=lambda part: part if isinstance(part, str) else part.__name__,
)
@pytest.mark.filterwarnings("ignore:It is preferred to use 'applyInPandas':UserWarning")
def test_a_member_does_what_the_table_says(
    spark: OfflineSession, columns: Columns, owner: type, member: str
) -> None:
    table, make = TABLES[owner]
    expected, use = table[member]
    subject = make(spark)
    if expected == REFUSED:
        with pytest.raises(NotInAView) as caught:
            use(subject)
        name = RENAMED.get(member, f"{owner.__name__}.{member}")
        assert caught.value.member == name
        assert caught.value.next_step
        assert columns.asked == 0
        return
    result = use(subject)
    assert (columns.asked > 0) == (expected == ASKS)
    if isinstance(result, DataFrame):
        assert plan_bytes_of(result).executable


# --- sessions ---


def test_a_schema_is_the_sources_and_never_a_column(spark: OfflineSession) -> None:
    frame = spark.table("t")
    assert frame.schema == SCHEMA
    assert frame.columns == ["id", "k"]
    assert frame.dtypes == [("id", "bigint"), ("k", "string")]
    assert repr(frame) == "DataFrame[id: bigint, k: string]"


def test_a_broken_source_of_schemas_is_an_error_and_not_a_column() -> None:
    class Broken:
        def schema_of(self, relation: bytes) -> StructType:
            raise AttributeError(relation and "nope")

    with open_offline(Broken()) as spark, pytest.raises(EngineFailed, match="nope"):
        _ = spark.table("t").schema


@pytest.mark.parametrize("name", ["newSession", "sparkContext", "_jvm", "_jsparkSession", "anything"])
def test_unknown_members_of_the_session_are_refused(spark: OfflineSession, name: str) -> None:
    with pytest.raises(NotInAView, match=name):
        getattr(spark, name)


def test_unknown_members_of_the_client_are_refused(spark: OfflineSession) -> None:
    for name in ("interrupt_all", "_stub", "to_pandas", "add_artifacts", "semantic_hash", "clone"):
        with pytest.raises(NotInAView):
            getattr(spark.client, name)


def test_protocols_of_python_are_told_plainly_what_is_not_there(spark: OfflineSession) -> None:
    for subject in (spark, spark.client):
        assert not hasattr(subject, "__deepcopy__")
        assert not hasattr(subject, "__fspath__")
        assert inspect.isclass(subject) is False
    assert isinstance(pickle.loads(pickle.dumps(spark.client)), type(spark.client))  # noqa: S301
    assert copy.copy(spark.client) is not spark.client


def test_settings_come_from_the_constant_table(spark: OfflineSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.my.own", "7") == "7"
    assert spark.conf.get("spark.my.own", "") == ""
    assert spark.conf.get("spark.my.own", None) is None
    assert spark.conf.getAll["spark.sql.ansi.enabled"] == "true"
    assert spark.conf.isModifiable("spark.sql.ansi.enabled") is False
    with pytest.raises(NotInAView, match=r"spark\.my\.own"):
        spark.conf.get("spark.my.own")
    for change in (lambda: spark.conf.set("a", "b"), lambda: spark.conf.unset("a")):
        with pytest.raises(NotInAView, match="RuntimeConf"):
            change()


def test_a_view_may_ask_for_the_session_it_is_built_in(spark: OfflineSession) -> None:
    assert SparkSession.builder.getOrCreate() is spark
    assert SparkSession.builder.appName("x").master("local").getOrCreate() is spark
    assert SparkSession.active() is spark
    with pytest.raises(NotInAView, match=r"SparkSession\.builder"):
        SparkSession.builder.config("spark.sql.ansi.enabled", "false").getOrCreate()
    with pytest.raises(NotInAView, match=r"SparkSession\.builder"):
        SparkSession.builder.remote("sc://localhost").create()


def test_an_observation_is_taken_but_its_values_are_refused(spark: OfflineSession) -> None:
    observation = Observation("o")
    plan_bytes_of(spark.table("t").observe(observation, F.count(F.lit(1)).alias("n")))
    with pytest.raises(NotInAView, match=r"Observation\.get"):
        _ = observation.get


# --- local rows ---


@pytest.mark.parametrize(
    "make",
    [
        lambda s: s.createDataFrame([(1, "a")], "id int, k string"),
        lambda s: s.createDataFrame([(1, "a")], ["id", "k"]),
        lambda s: s.createDataFrame([Row(id=1, k="a")]),
        lambda s: s.createDataFrame([{"id": 1, "k": "a"}]),
        lambda s: s.createDataFrame([1, 2], IntegerType()),
        lambda s: s.createDataFrame([1, 2], "int"),
        lambda s: s.createDataFrame(pd.DataFrame({"id": [1], "k": ["a"]})),
        lambda s: s.createDataFrame(pd.DataFrame({"id": [1], "k": ["a"]}), SCHEMA),
        lambda s: s.createDataFrame(pa.table({"id": [1], "k": ["a"]})),
        lambda s: s.createDataFrame(np.array([[1, 2]]), ["a", "b"]),
        lambda s: s.createDataFrame([], SCHEMA),
    ],
)
def test_local_rows_are_part_of_the_plan(spark: OfflineSession, make: Use) -> None:
    first, second = (plan_bytes_of(make(spark)) for _ in range(2))  # pyright: ignore[reportArgumentType]
    assert first.canonical == second.canonical
    assert b"local" not in first.executable or first.executable


def test_many_local_rows_are_still_inline(spark: OfflineSession) -> None:
    rows = plan_bytes_of(spark.createDataFrame(pd.DataFrame({"id": range(400_000)})))
    assert len(rows.executable) > 3_000_000


# --- functions ---


def test_functions_take_schema_strings(spark: OfflineSession) -> None:
    plus = F.udf(lambda x: x, "struct<a: int>")
    series = F.pandas_udf(lambda x: x, "array<string>")  # pyright: ignore[reportCallIssue, reportArgumentType]
    arrow = F.arrow_udf(lambda x: x, "decimal(10,2)")  # pyright: ignore[reportCallIssue, reportArgumentType]
    doubled = F.udtf(_Doubled, returnType="a int")
    frame = spark.table("t").select(plus("id"), series("id"), arrow("id"))
    assert plan_bytes_of(frame).reads == ("t",)
    assert plan_bytes_of(doubled(F.lit(1))).executable  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidDdl):
        F.udf(lambda x: x, "nope")


def test_frames_and_values_can_be_given_to_sql(spark: OfflineSession) -> None:
    def made() -> bytes:
        frame = spark.sql("SELECT * FROM {x} JOIN {y} USING (id)", x=spark.table("t"), y=spark.range(3))
        return plan_bytes_of(frame).canonical

    assert made() == made()
    positional = plan_bytes_of(spark.sql("SELECT ?", [1]))
    assert positional.sql == ("SELECT ?",)
