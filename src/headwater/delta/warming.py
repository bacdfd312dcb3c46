"""A round of work with Delta tables for the class archive: the classes that commits and pinned reads load.

It runs in the child process that the runtime trains an archive with, on scratch tables. Not here: the
archive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.runtime import run_training

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

_STATEMENTS: tuple[str, ...] = (
    "MERGE INTO TABLE AS t USING orders AS s ON t.id = s.id + 1 WHEN MATCHED THEN UPDATE SET *",
    "MERGE INTO TABLE AS t USING orders AS s ON t.id = s.id + 9 WHEN NOT MATCHED THEN INSERT *",
    "DELETE FROM TABLE WHERE id = 2",
    "DESCRIBE HISTORY TABLE",
)


def main() -> None:
    """The child's whole life."""
    run_training(work_with)


def work_with(spark: SparkSession, folder: Path) -> None:
    """Commit to Delta tables in `folder` in each way, read them back, and leave a view named orders."""
    orders, totals = str(folder / "orders"), str(folder / "totals")
    rows = spark.createDataFrame([(1, "a", 2.5), (2, "b", 1.5)], "id long, name string, price double")
    for mode in ("errorifexists", "append", "overwrite"):
        rows.write.format("delta").mode(mode).option("userMetadata", "{}").save(orders)
    spark.read.format("delta").load(orders).createOrReplaceTempView("orders")
    frame = spark.sql(
        "WITH ranked AS "
        "(SELECT *, row_number() OVER (PARTITION BY name ORDER BY price) AS place FROM orders) "
        "SELECT r.name, sum(r.price) AS total, count(DISTINCT o.id) AS ids, max(r.place) AS place "
        "FROM ranked r JOIN orders o ON r.id = o.id WHERE r.price > 1 GROUP BY r.name ORDER BY total"
    )
    frame.write.format("delta").partitionBy("name").save(totals)
    for statement in _STATEMENTS:
        spark.sql(statement.replace("TABLE", f"delta.`{orders}`")).collect()
    spark.read.format("delta").option("versionAsOf", 0).load(orders).toArrow()
    rows.write.mode("overwrite").option("header", "true").csv(str(folder / "csv"))
    spark.read.option("header", "true").csv(str(folder / "csv")).collect()
