"""Session start and first commit: plain PySpark against Headwater, each case in a process of its own.

python bench/startup.py [--pairs N]

Plain is what the manuals say: `SparkSession.builder` with the same Delta jars, through PySpark's own
spark-submit. The cases take turns, so that a busy moment of the machine meets both.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from measuring import run_apart, tell
from pyspark.sql import SparkSession

from headwater.runtime import RuntimeProfile, open_runtime, prepare_engine

MEASURES = ("session", "first-commit")
CASES = ("plain", "headwater")
PLAIN = {
    "spark.master": "local[*]",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def open_plain() -> SparkSession:
    """A session as the manuals make it."""
    builder = SparkSession.Builder().config(
        "spark.jars", ",".join(map(str, prepare_engine(RuntimeProfile())))
    )
    for key, value in PLAIN.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def open_headwater() -> SparkSession:
    """A session as a run of Headwater gets it."""
    return open_runtime(RuntimeProfile()).new_session().spark


def measure(case: str) -> dict[str, float]:
    """The seconds of each measure, in this process, which must be fresh."""
    began = time.perf_counter()
    spark = open_plain() if case == "plain" else open_headwater()
    opened = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        spark.range(10).write.format("delta").save(str(Path(folder) / "table"))
        committed = time.perf_counter()
        spark.stop()
    return {"session": opened - began, "first-commit": committed - opened}


def main() -> None:
    """Measure in turns and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--case", choices=CASES)
    asked = parser.parse_args()
    if asked.case:
        tell(**measure(asked.case))
        return
    prepare_engine(RuntimeProfile(), archive=True)
    taken = [{case: run_apart(__file__, "--case", case).facts for case in CASES} for _ in range(asked.pairs)]
    for name in MEASURES:
        plain, ours = (statistics.median(pair[case][name] for pair in taken) for case in CASES)
        print(f"{name} plain={plain:.1f}s headwater={ours:.1f}s ratio={ours / plain:.2f}")


if __name__ == "__main__":
    main()
