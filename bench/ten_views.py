"""Ten views, four of them stored, over a million orders: a plain PySpark script against Headwater.

    python bench/ten_views.py [--pairs N]

Both run the same SQL with the same Spark settings, each in a process of its own, in turns; the plain script
overwrites four Delta tables and records nothing. Times are of whole processes: wall, and the CPU of all
processes that they started. `cold` starts from nothing but the sources, `unchanged` runs once more. The bars
are 1.15 for a cold run, and 1.5 s without Java for one that finds nothing to do.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

import headwater
from headwater.runtime import RuntimeProfile, open_runtime, prepare_engine
from headwater.runtime.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
PROFILE = RuntimeProfile(master="local[2]", driver_memory="2g")
SOURCES = {
    "orders": "SELECT id AS order_id, pmod(id * 7919, 100000) AS customer_id, pmod(id * 104729, 10000) AS "
    "product_id, CAST(pmod(id * 31, 50000) / 100 AS DECIMAL(12, 2)) AS amount, CAST(pmod(id, 5) AS INT) AS "
    "status, date_add(DATE'2026-01-01', CAST(pmod(id, 365) AS INT)) AS day FROM range(0, 1000000, 1, 4)",
    "customers": "SELECT id AS customer_id, concat('customer ', id) AS name, element_at(array('AT', 'DE', "
    "'FR', 'JP', 'US', 'BR'), CAST(pmod(id, 6) AS INT) + 1) AS country FROM range(0, 100000, 1, 2)",
    "products": "SELECT id AS product_id, concat('product ', id) AS title, CAST(pmod(id, 40) AS INT) AS "
    "category FROM range(0, 10000, 1, 1)",
}
# Each after what it reads; a star marks those that are stored.
VIEWS = {
    "paid": "SELECT * FROM orders WHERE status <> 0",
    "named": "SELECT p.*, c.country FROM paid p JOIN customers c USING (customer_id)",
    "facts*": "SELECT n.*, p.category FROM named n JOIN products p USING (product_id)",
    "daily": "SELECT day, country, sum(amount) AS amount, count(*) AS n FROM facts GROUP BY day, country",
    "daily_revenue*": "SELECT *, sum(amount) OVER (PARTITION BY country ORDER BY day) AS so_far FROM daily",
    "by_customer": "SELECT customer_id, country, sum(amount) AS amount, count(*) AS orders FROM facts "
    "GROUP BY customer_id, country",
    "ranked": "SELECT b.*, rank() OVER (PARTITION BY country ORDER BY amount DESC, customer_id) AS place "
    "FROM by_customer b",
    "top_customers*": "SELECT * FROM ranked WHERE place <= 100",
    "by_category": "SELECT category, country, sum(amount) AS amount FROM facts GROUP BY category, country",
    "shares*": "SELECT b.*, amount / sum(amount) OVER (PARTITION BY country) AS share FROM by_category b",
}
CASES = ("plain", "headwater")


def make_project(folder: Path) -> None:
    """The sources, as Delta tables, and the views, as files of a project."""
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "ten"\n')
    paths = "".join(f"headwater.source({name!r}, path='lake/{name}')\n" for name in SOURCES)
    (folder / "views" / "sources.py").write_text(f"import headwater\n\n{paths}")
    for name, sql in VIEWS.items():
        head = "-- headwater: table\n" if name.endswith("*") else ""
        (folder / "views" / f"{name.rstrip('*')}.sql").write_text(f"{head}{sql}\n")
    spark = open_runtime(PROFILE).new_session().spark
    for name, sql in SOURCES.items():
        spark.sql(sql).write.format("delta").save(str(folder / "lake" / name))


def run_plain(folder: Path) -> None:
    """What somebody would write by hand."""
    builder = SparkSession.Builder().config("spark.jars", ",".join(map(str, prepare_engine(PROFILE))))
    results, speed = settings_of(PROFILE)
    for key, value in {**results, **speed}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for name in SOURCES:
        spark.read.format("delta").load(str(folder / "lake" / name)).createOrReplaceTempView(name)
    for name, sql in VIEWS.items():
        frame, table = spark.sql(sql), name.rstrip("*")
        if name.endswith("*"):
            path = str(folder / "out" / table)
            frame.write.format("delta").mode("overwrite").save(path)
            frame = spark.read.format("delta").load(path)
        frame.createOrReplaceTempView(table)


def run_headwater(folder: Path) -> None:
    """The same as a project."""
    outcome = headwater.open(folder, settings=SETTINGS).build()
    if outcome.error is not None:
        raise outcome.error


def measured(case: str, folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of a process of its own."""
    began = time.perf_counter()
    command = [sys.executable, __file__, "--case", case, "--folder", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return time.perf_counter() - began, float(done.stdout.splitlines()[-1])


def cpu_of_tree() -> float:
    """CPU seconds of this process and all that it has started."""
    ticks: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        ticks[int(entry.name)] = int(fields[1]), sum(map(float, fields[11:15]))
    found, waiting = 0.0, [os.getpid()]
    while waiting:
        each = waiting.pop()
        found += ticks.get(each, (0, 0.0))[1]
        waiting += [pid for pid, (parent, _) in ticks.items() if parent == each]
    return found / os.sysconf("SC_CLK_TCK")


def take(folder: Path) -> dict[str, dict[str, tuple[float, float]]]:
    """Both cases, cold and then unchanged."""
    shutil.rmtree(folder / ".headwater", ignore_errors=True)
    shutil.rmtree(folder / "out", ignore_errors=True)
    return {state: {case: measured(case, folder) for case in CASES} for state in ("cold", "unchanged")}


def shown(state: str, taken: Mapping[str, tuple[float, float]]) -> str:
    """One line: wall and CPU of both, and their ratios."""
    (plain, plain_cpu), (ours, ours_cpu) = (taken[case] for case in CASES)
    return (
        f"{state} plain={plain:.1f}s headwater={ours:.1f}s ratio={ours / plain:.2f} "
        f"cpu: plain={plain_cpu:.1f}s headwater={ours_cpu:.1f}s ratio={ours_cpu / plain_cpu:.2f}"
    )


def main() -> None:
    """Measure in turns and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if asked.case:
        (run_plain if asked.case == "plain" else run_headwater)(asked.folder)
        print(cpu_of_tree())
        return
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        prepare_engine(PROFILE, archive=True)
        make_project(folder / "ten")
        rounds = [take(folder / "ten") for _ in range(asked.pairs)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for state in ("cold", "unchanged"):
        middle = {
            case: tuple(statistics.median(each[state][case][part] for each in rounds) for part in (0, 1))
            for case in CASES
        }
        print(shown(state, {case: (wall, cpu) for case, (wall, cpu) in middle.items()}))


if __name__ == "__main__":
    main()
