"""One per cent of ten million rows change: a refresh against a build in full.

    python bench/changed_rows.py [--pairs N] [--rows N]

One project, one session, in turns: rows of one per cent of the customers are updated, and the table is
brought up to date, as `refresh = "auto"` decides or in full. `heavy` joins, ranks and aggregates in several
ways, `light` filters and projects: there the engine chooses to make all of the table, and says so. `apart`
does not read what changed and is skipped. The bars are 0.5 for `heavy` and 1.0 for `light`, but for what the
clock does by itself; `plain` is the build in full. A reader that polls all along must see the old rows or the
new ones. Timings decide nothing; it fails if a refresh leaves other rows than a build in full.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from measuring import Taken, driver_memory, measured, middle, show

import headwater
from headwater.runtime import RuntimeProfile, open_runtime

if TYPE_CHECKING:
    from headwater.artifacts import TableRecord

SETTINGS = {"master": "local[2]", "driver_memory": driver_memory()}
PROFILE = RuntimeProfile(master="local[2]", driver_memory=driver_memory())
ORDERS = (
    "SELECT id AS order_id, pmod(id * 7919, {customers}) AS customer, pmod(id * 31, 50000) AS amount, "
    "CAST(pmod(id, 365) AS INT) AS day FROM range(0, {rows}, 1, 8)"
)
CUSTOMERS = "SELECT id AS customer, CAST(pmod(id, 200) AS INT) AS region FROM range(0, {customers}, 1, 2)"
VIEWS = {
    "heavy": """SELECT customer, region, count(*) AS orders, count(DISTINCT day) AS days,
        sum(amount) AS amount, max(gap) AS longest_gap, sum(IF(place <= 3, amount, 0)) AS best_three,
        max_by(day, (amount, order_id)) AS best_day
        FROM (SELECT o.*, c.region,
            day - lag(day) OVER (PARTITION BY o.customer ORDER BY day, order_id) AS gap,
            row_number() OVER (PARTITION BY o.customer ORDER BY amount DESC, order_id) AS place
            FROM orders o JOIN customers c ON o.customer = c.customer)
        GROUP BY customer, region""",
    "light": "SELECT order_id, customer, amount * 2 AS twice FROM orders WHERE amount >= 10",
    "apart": "SELECT region, count(*) AS customers FROM customers GROUP BY region",
}


BARS = {"heavy": 0.5, "light": 1.0}


def make_project(folder: Path, rows: int) -> None:
    """Two tables with a change feed, and the views, as files of a project."""
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text(
        '[project]\nname = "changed"\n\n[tables.light]\nrefresh_by = "order_id"\n'
    )
    paths = "".join(f"headwater.source({name!r}, path='lake/{name}')\n" for name in ("orders", "customers"))
    (folder / "views" / "sources.py").write_text(f"import headwater\n\n{paths}")
    for name, sql in VIEWS.items():
        (folder / "views" / f"{name}.sql").write_text(f"-- headwater: table\n{sql}\n")
    spark = open_runtime(PROFILE).new_session().spark
    spark.conf.set("spark.databricks.delta.properties.defaults.enableChangeDataFeed", "true")
    for name, sql in (("orders", ORDERS), ("customers", CUSTOMERS)):
        made = spark.sql(sql.format(rows=rows, customers=rows // 10))
        made.write.format("delta").save(str(folder / "lake" / name))


def change_rows(folder: Path, number: int) -> None:
    """Other amounts for all orders of one per cent of the customers."""
    spark = open_runtime(PROFILE).new_session().spark
    place = f"delta.`{folder / 'lake' / 'orders'}`"
    spark.sql(f"UPDATE {place} SET amount = amount + 1 WHERE pmod(customer, 100) = {number}")  # noqa: S608


def built(folder: Path, *only: str, full: bool = False) -> dict[str, TableRecord]:
    """What became of each table in a build."""
    outcome = headwater.open(folder, settings=SETTINGS).build(only=only, full=full)
    if outcome.error is not None:
        raise outcome.error
    return {each.name: each for each in outcome.tables}


class Reader:
    """Reads a table again and again while others write it; `seen` are the sums that it saw."""

    def __init__(self, table: Path, column: str) -> None:
        self._table, self._column = table, column
        self._stop = threading.Event()
        self.seen: list[Any] = []
        self._thread = threading.Thread(target=self._poll, daemon=True)

    def _poll(self) -> None:
        while not self._stop.is_set():
            self._look()
            self._stop.wait(0.5)

    def _look(self) -> None:
        rows = open_runtime(PROFILE).new_session().spark.read.format("delta").load(str(self._table))
        self.seen.append(tuple(rows.selectExpr("count(*)", f"sum({self._column})").collect()[0]))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()


def main() -> None:
    """Prints a line for each case."""
    parser = argparse.ArgumentParser(description="Refreshes against builds in full.")
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--rows", type=int, default=10_000_000)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        make_project(folder, given.rows)
        built(folder)
        wrong = [name for name in BARS if not _measure(folder, name, given.pairs)]
        wrong += _poll(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if wrong:
        sys.exit(f"other rows than those of a build in full: {', '.join(wrong)}")


_numbers = iter(range(100))


def _measure(folder: Path, name: str, pairs: int) -> bool:
    """Refreshes against builds in full, in turns; whether the last refresh left the rows of the latter."""
    taken: dict[bool, list[Taken]] = {True: [], False: []}
    tables: dict[str, TableRecord] = {}

    def build(*, full: bool) -> None:
        tables.update(built(folder, name, full=full))

    how, digest = "", None
    for full in [each for _ in range(pairs) for each in (True, False)]:
        change_rows(folder, next(_numbers))
        taken[full].append(measured(build, full=full))
        refresh, digest = tables[name].refresh, tables[name].digest
        if refresh and not full:
            how = f"{refresh.mode} ({refresh.code})"
    build(full=True)
    is_same = tables[name].digest == digest
    words = f"{how}, {'the same rows' if is_same else 'OTHER ROWS'}"
    show(f"changed {name}", middle(taken[True]), middle(taken[False]), words, bar=BARS[name])
    return is_same


def _poll(folder: Path) -> list[str]:
    """All three at once, under the eyes of a reader; "heavy" if that saw more than two states."""
    change_rows(folder, next(_numbers))
    with Reader(folder / ".headwater" / "tables" / "heavy", "amount") as reader:
        tables = built(folder)
    actions = ", ".join(f"{name} {each.action}" for name, each in tables.items())
    states = len(set(reader.seen))
    print(f"changed reader: {len(reader.seen)} looks, {states} different; {actions}")
    return ["heavy, as a reader saw it"] if states > 2 else []  # noqa: PLR2004  the old rows and the new ones


if __name__ == "__main__":
    main()
