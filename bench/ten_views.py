"""Ten views, four of them stored, over a million orders: a plain PySpark script against Headwater.

    python bench/ten_views.py [--pairs N] [--rows N] [--here]

Both run the same SQL with the same Spark settings over the same sources, each in a process of its own, in
turns; the plain script overwrites four Delta tables and records nothing. Times are of whole processes: wall,
and the CPU of all processes that they started.

    cold         from nothing but the sources; the bar is 1.15
    unchanged    once more; the bar is 1.5 s, without Java
    changed      a commit has changed one per cent of the orders; the bar is 1.0. `markets` does not read
                 them, and is skipped without anybody saying so

Timings decide nothing. It fails if the rows of a table are not the same in both, or others are skipped. With
`--here` nothing is started: that tries the bench itself, and measures little.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measuring import Taken, measured, middle, run_apart, show, tell, verdict
from pyspark.sql import SparkSession

import headwater
from headwater.runtime import RuntimeProfile, open_runtime, prepare_engine
from headwater.runtime.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
PROFILE = RuntimeProfile(master="local[2]", driver_memory="2g")
SOURCES = {
    "orders": "SELECT id AS order_id, pmod(id * 7919, {customers}) AS customer_id, pmod(id * 104729, "
    "{products}) AS product_id, CAST(pmod(id * 31, 50000) / 100 AS DECIMAL(12, 2)) AS amount, "
    "CAST(pmod(id, 5) AS INT) AS status, date_add(DATE'2026-01-01', CAST(pmod(id, 365) AS INT)) AS day "
    "FROM range(0, {orders}, 1, 4)",
    "customers": "SELECT id AS customer_id, concat('customer ', id) AS name, element_at(array('AT', 'DE', "
    "'FR', 'JP', 'US', 'BR'), CAST(pmod(id, 6) AS INT) + 1) AS country FROM range(0, {customers}, 1, 2)",
    "products": "SELECT id AS product_id, concat('product ', id) AS title, CAST(pmod(id, 40) AS INT) AS "
    "category FROM range(0, {products}, 1, 1)",
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
    "by_country": "SELECT country, count(*) AS customers, max(name) AS last FROM customers GROUP BY country",
    "markets*": "SELECT b.*, rank() OVER (ORDER BY customers DESC, country) AS place FROM by_country b",
}
STORED = tuple(name.rstrip("*") for name in VIEWS if name.endswith("*"))
APART = ["markets"]  # stored, and made of nothing that is changed
CASES = ("plain", "headwater")
STATES = ("cold", "unchanged", "changed")
BARS = {"cold": 1.15, "changed": 1.0}
UNCHANGED_SECONDS = 1.5


def make_project(folder: Path, orders: int) -> None:
    """The sources, as Delta tables, and the views, as files of a project."""
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "ten"\n')
    paths = "".join(f"headwater.source({name!r}, path='lake/{name}')\n" for name in SOURCES)
    (folder / "views" / "sources.py").write_text(f"import headwater\n\n{paths}")
    for name, sql in VIEWS.items():
        head = "-- headwater: table\n" if name.endswith("*") else ""
        (folder / "views" / f"{name.rstrip('*')}.sql").write_text(f"{head}{sql}\n")
    sizes = {"orders": orders, "customers": max(orders // 10, 10), "products": max(orders // 100, 10)}
    for name, sql in SOURCES.items():
        rows = _spark().sql(sql.format(**sizes))
        rows.write.format("delta").save(str(folder / "lake" / name))


def _spark() -> SparkSession:
    """A session of this process, for what is not measured."""
    return open_runtime(PROFILE).new_session().spark


def change_orders(folder: Path, number: int) -> None:
    """Another amount for one per cent of the orders, of any status, all over the table, in one commit."""
    orders = f"delta.`{folder / 'lake' / 'orders'}`"
    _spark().sql(f"UPDATE {orders} SET amount = amount + 1 WHERE pmod(order_id DIV 5, 100) = {number}")  # noqa: S608


def open_plain() -> SparkSession:
    """A session with Headwater's settings, as PySpark makes one."""
    builder = SparkSession.Builder().config("spark.jars", ",".join(map(str, prepare_engine(PROFILE))))
    results, speed = settings_of(PROFILE)
    for key, value in {**results, **speed}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def run_plain(folder: Path, spark: SparkSession) -> dict[str, Any]:
    """What somebody would write by hand."""
    for name in SOURCES:
        spark.read.format("delta").load(str(folder / "lake" / name)).createOrReplaceTempView(name)
    for name, sql in VIEWS.items():
        frame, table = spark.sql(sql), name.rstrip("*")
        if name.endswith("*"):
            path = str(folder / "out" / table)
            frame.write.format("delta").mode("overwrite").save(path)
            frame = spark.read.format("delta").load(path)
        frame.createOrReplaceTempView(table)
    return {}


def run_headwater(folder: Path) -> dict[str, Any]:
    """The same as a project; what became of its tables."""
    outcome = headwater.open(folder, settings=SETTINGS).build()
    if outcome.error is not None:
        raise outcome.error
    return {"actions": {each.name: each.action for each in outcome.tables}}


def run_case(folder: Path, case: str, *, here: bool) -> Taken:
    """One case, in a process of its own unless it is done here."""
    if not here:
        return run_apart(__file__, "--case", case, "--folder", str(folder))
    facts: dict[str, Any] = {"java": True}
    taken = measured(
        lambda: facts.update(run_plain(folder, _spark()) if case == "plain" else run_headwater(folder))
    )
    return replace(taken, facts=facts)


def take(folder: Path, number: int, *, here: bool) -> tuple[dict[str, dict[str, Taken]], list[str]]:
    """Both cases in all states, and what is wrong with their results."""
    shutil.rmtree(folder / ".headwater", ignore_errors=True)
    shutil.rmtree(folder / "out", ignore_errors=True)
    taken: dict[str, dict[str, Taken]] = {}
    wrong: list[str] = []
    for state in STATES:
        if state == "changed":
            change_orders(folder, number)
        taken[state] = {case: run_case(folder, case, here=here) for case in CASES}
        for case, each in taken[state].items():  # a sign of life; what counts is printed at the end
            print(f"{number} {state} {case} {each.wall:.1f}s cpu {each.cpu:.1f}s", file=sys.stderr)
        wrong += [f"{state}: {name} has other rows than the plain script's" for name in differing(folder)]
    actions = taken["changed"]["headwater"].facts["actions"]
    skipped = [name for name in STORED if actions[name] == "skipped"]
    if skipped != APART:
        wrong.append(f"changed: skipped {', '.join(skipped) or 'nothing'} instead of {', '.join(APART)}")
    return taken, wrong


def differing(folder: Path) -> list[str]:
    """The tables whose rows are not the same in both."""
    places = folder / "out", folder / ".headwater" / "tables"
    return [name for name in STORED if len({rows_of(place / name) for place in places}) > 1]


def rows_of(table: Path) -> tuple[str, ...]:
    """What stands for the rows of a table, in whatever order and files they lie."""
    rows = _spark().read.format("delta").load(str(table))
    hashed = rows.selectExpr("CAST(xxhash64(*) AS DECIMAL(38, 0)) AS hash")
    return (*rows.columns, str(hashed.selectExpr("count(*)", "sum(hash)").collect()))


def show_all(rounds: Sequence[dict[str, dict[str, Taken]]]) -> None:
    """A line for each state: the medians."""
    for state in STATES:
        plain, ours = (middle([each[state][case] for each in rounds]) for case in CASES)
        if state == "unchanged":
            holds = ours.wall <= UNCHANGED_SECONDS and not ours.facts["java"]
            java = "with-java" if ours.facts["java"] else "without-java"
            show(state, plain, ours, f"bar={UNCHANGED_SECONDS}s,without-java {java} {verdict(holds)}")
        else:
            show(state, plain, ours, bar=BARS[state])
    actions = rounds[-1]["changed"]["headwater"].facts["actions"]
    print("changed tables:", ", ".join(f"{name} {actions[name]}" for name in STORED), flush=True)


def main() -> None:
    """Measure in turns and print the medians."""
    parser = argparse.ArgumentParser(description="Ten views: a plain script against Headwater.")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    if asked.case:
        folder = asked.folder
        tell(**(run_plain(folder, open_plain()) if asked.case == "plain" else run_headwater(folder)))
        return
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        prepare_engine(PROFILE, archive=not asked.here)
        make_project(folder / "ten", asked.rows)
        rounds = [take(folder / "ten", number, here=asked.here) for number in range(asked.pairs)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    show_all([taken for taken, _ in rounds])
    wrong = [each for _, found in rounds for each in found]
    if wrong:
        sys.exit("\n".join(wrong))
    print("the rows of all tables are the same in both")


if __name__ == "__main__":
    main()
