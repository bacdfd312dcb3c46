"""A script, run by test_canonical: builds views offline, has Spark run their bytes, writes what came out."""

# pyright: reportUnknownLambdaType=none, reportUnknownArgumentType=none, reportUnknownVariableType=none

from __future__ import annotations

import datetime as dt
import json
import os
import sys
import uuid
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from headwater.pipeline.canonical import build_twice
from headwater.pipeline.offline import OfflineSession, open_offline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa


class Columns:
    def schema_of(self, relation: bytes) -> StructType:
        assert relation
        return StructType().add("id", "long").add("k", "long")


def self_join(spark: OfflineSession) -> DataFrame:
    # Two reads: of frames that share one, Connect cannot tell which side a["k"] means.
    a = spark.table("a")
    b = spark.table("a").where("id > 6")
    return a.join(b, a["k"] == b["k"]).select(a["id"], b["id"].alias("other")).where(a["id"] < 2)


def outer_exists(spark: OfflineSession) -> DataFrame:
    inner = spark.table("b").alias("y").where(F.col("y.id") == F.col("x.id").outer())
    return spark.table("a").alias("x").where(inner.exists()).select("id")


def doubled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.slice(0, 2)


def literal_rows(spark: OfflineSession) -> DataFrame:
    rows = [
        (1, dt.date(2024, 2, 29), dt.datetime(2024, 1, 1, 12), Decimal("1.20"), ["x"]),  # noqa: DTZ001
        (2, None, None, None, None),
    ]
    return spark.createDataFrame(rows, "i int, d date, t timestamp_ntz, n decimal(10,2), xs array<string>")


class Twice:
    def eval(self, x: int) -> Iterator[tuple[int]]:
        yield (x,)
        yield (x * 2,)


def table_function(spark: OfflineSession) -> DataFrame:
    made = F.udtf(Twice, returnType="y: int")(F.lit(4))  # pyright: ignore[reportArgumentType]
    assert isinstance(made, DataFrame)
    assert made.sparkSession is spark
    return made


def column_udf(spark: OfflineSession) -> DataFrame:
    factor = 3
    return spark.table("b").select(F.udf(lambda x: x * factor, "long")("id").alias("v"))


VIEWS: dict[str, tuple[Callable[[OfflineSession], DataFrame], list[list[Any]]]] = {
    "self join": (self_join, [[0, 9], [1, 7]]),
    "star of a frame": (lambda s: (b := s.table("b")).select(b["*"]), [[1, 10], [2, 20]]),
    "regex": (lambda s: (b := s.table("b")).select(b.colRegex("`i.*`")), [[1], [2]]),
    "drop": (lambda s: (b := s.table("b")).drop(b["v"]), [[1], [2]]),
    "window": (
        lambda s: (
            s.table("a")
            .withColumn("n", F.row_number().over(Window.partitionBy("k").orderBy(F.desc("id"))))
            .where("n = 1")
            .select("k", "id")
        ),
        [[0, 9], [1, 7], [2, 8]],
    ),
    "scalar": (
        lambda s: s.table("b").withColumn("m", s.table("a").agg(F.max("id")).scalar()).select("id", "m"),
        [[1, 9], [2, 9]],
    ),
    "isin": (
        lambda s: (a := s.table("a")).where(a["id"].isin(s.table("b").select("id"))).select("id"),
        [[1], [2]],
    ),
    "exists": (outer_exists, [[1], [2]]),
    "nested lambdas": (
        lambda s: s.table("b").select(
            F.transform(
                F.array("id", "v"),
                lambda x: F.aggregate(F.array("id"), F.lit(0).cast("long"), lambda y, z: x + y + z),
            )
        ),
        [[[2, 11]], [[4, 22]]],
    ),
    "two lambda arguments": (
        lambda s: s.table("b").select(F.transform(F.array("v", "id"), lambda x, i: x * 10 + i)),
        [[[100, 11]], [[200, 21]]],
    ),
    "python function": (column_udf, [[3], [6]]),
    "map in arrow": (
        lambda s: s.table("a").select("id", "k").coalesce(1).mapInArrow(doubled, "id long, k long"),
        [[0, 0], [1, 1]],
    ),
    "grouped pandas": (
        lambda s: s.table("a").groupBy("k").applyInPandas(lambda f: f.head(1)[["k"]] * 10, "k long"),
        [[0], [10], [20]],
    ),
    "table function": (table_function, [[4], [8]]),
    "sql with steps": (
        lambda s: (
            s.sql("SELECT k, count(*) AS n FROM a WHERE id < :m GROUP BY k", {"m": 5})
            .where("n > 1")
            .select("k")
        ),
        [[0], [1]],
    ),
    "sql over a frame": (
        lambda s: s.sql(
            "SELECT {f}.id + {g}.id AS s FROM {f} JOIN {g}", f=s.table("b"), g=s.table("b").where("id = 2")
        ),
        [[3], [4]],
    ),
    "literal rows": (
        literal_rows,
        [
            [1, "2024-02-29", "2024-01-01 12:00:00", "1.20", ["x"]],
            [2, None, None, None, None],
        ],
    ),
    "pivot": (
        lambda s: s.table("a").groupBy().pivot("k", [0, 1]).agg(F.sum("id")),
        [[18, 12]],
    ),
    "many steps": (lambda s: _many(s.table("b").select("id")), [[81], [82]]),
}


def _many(frame: DataFrame) -> DataFrame:
    for _ in range(80):
        frame = frame.select((F.col("id") + 1).alias("id"))
    return frame


def _shown(value: Any) -> Any:
    return value if isinstance(value, (int, list)) or value is None else str(value)


def main(out: Path) -> None:
    with open_offline(Columns()) as offline:
        built = {
            name: build_twice(lambda view=view: view(offline), name) for name, (view, _) in VIEWS.items()
        }
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    spark.range(10).selectExpr("id", "id % 3 AS k").createOrReplaceTempView("a")
    spark.sql("SELECT * FROM VALUES (1L, 10L), (2L, 20L) AS b(id, v)").createOrReplaceTempView("b")
    jvm: Any = spark._jvm
    results: dict[str, Any] = {}
    for name, (_, expected) in VIEWS.items():
        holder = jvm.org.apache.spark.sql.connect.service.SessionHolder(
            "u", str(uuid.UUID(int=1)), spark._jsparkSession
        )
        planner = jvm.org.apache.spark.sql.connect.planner.SparkConnectPlanner(
            holder, jvm.scala.Option.empty()
        )
        # The default of 100 levels is a view of fifty steps.
        stream = jvm.org.sparkproject.connect.protobuf.CodedInputStream.newInstance(built[name].executable)
        stream.setRecursionLimit(4096)
        plan = jvm.org.apache.spark.connect.proto.Plan.parseFrom(stream)
        logical = planner.transformRelation(plan.getRoot())
        frame = DataFrame(
            jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, logical), spark
        )
        results[name] = [sorted([_shown(v) for v in row] for row in frame.collect()), expected]
    out.write_text(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
