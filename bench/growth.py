"""How what Headwater adds grows: with views, which should cost the same each, and with rows.

    python bench/growth.py [--views 10,100,500] [--rows 1000000,10000000,30000000]

    growth plan      a plan of a project without a run: views of ordinary size in chains of four, and tables
                     in one chain that all ask for the columns of the one before
    growth build     views that are not stored, in chains of five, and four tables: a plain script against a
                     build
    growth rows      one table, made by a plain overwrite and by a build: `totals` has a thousand rows of
                     however many were read, `copied` has them all, and a digest of each

All in one process, after a first round that warms it. Timings decide nothing.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import Taken, driver_memory, measured, show, verdict
from planning import HEAD, make_project

import headwater
from headwater.runtime import RuntimeProfile, open_runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

SETTINGS = {"master": "local[2]", "driver_memory": driver_memory()}
PROFILE = RuntimeProfile(master="local[2]", driver_memory=driver_memory())
ORDERS = (
    "SELECT id, pmod(id * 7919, 1000) AS customer, pmod(id * 31, 50000) AS amount, "
    "CAST(pmod(id, 365) AS INT) AS day FROM range(0, {rows}, 1, 8)"
)
SHAPES = {
    "totals": "SELECT customer, count(*) AS n, sum(amount) AS amount, max(day) AS day FROM orders "
    "GROUP BY customer",
    "copied": "SELECT id, customer, amount * 2 AS twice, day FROM orders",
}
ASKING = """
@headwater.table
def v{n:04}({before}):
    return {before}.select(*{before}.columns)
"""
TABLES = 4
DEPTH = 5
# Seconds for a view of many, over those for a view of few, that still count as linear.
LINEAR = 1.5
# A build's own work in seconds of CPU, that may differ by this much between few rows and many.
STEADY = 2.0
# What a row's digest may cost.
MICROSECONDS_PER_ROW = 1.0


def main() -> None:
    """Prints a line for each size, and one for how they grow."""
    parser = argparse.ArgumentParser(description="How what Headwater adds grows with views and with rows.")
    parser.add_argument("--views", type=_sizes, default=(10, 100, 500))
    parser.add_argument("--rows", type=_sizes, default=(1_000_000, 10_000_000, 30_000_000))
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        for kind, make in (("plan", make_project), ("plan-asking", make_asking)):
            grow_plans(folder, kind, make, asked.views)
        grow_builds(folder, asked.views)
        for rows in asked.rows:
            make_rows(folder / f"rows-{rows}", rows)
        for shape in SHAPES:
            grow_rows(folder, shape, asked.rows)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sizes(text: str) -> tuple[int, ...]:
    few, some, many = sorted(map(int, text.split(",")))
    return few, some, many


def _spark() -> SparkSession:
    return open_runtime(PROFILE).new_session().spark


# --- planning ------------------------------------------------------------------------------------------


def make_asking(folder: Path, views: int) -> Path:
    """A project of tables in one chain, each of which asks what the one before has."""
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "asking"\n')
    names = ["orders", *(f"v{n:04}" for n in range(views))]
    texts = [ASKING.format(n=n, before=names[n]) for n in range(views)]
    (folder / "views" / "all.py").write_text(HEAD + "".join(texts))
    return folder


def grow_plans(folder: Path, kind: str, make: Callable[[Path, int], Path], sizes: tuple[int, ...]) -> None:
    """Plans of projects of each size."""
    found: dict[int, Taken] = {}
    for number, views in enumerate((sizes[len(sizes) // 2], *sizes)):  # the first warms
        project = headwater.open(make(folder / f"{kind}-{number}", views), settings=SETTINGS)
        found[views] = measured(project.plan)
    for views, taken in found.items():
        print(f"growth {kind} views={views} headwater={taken.wall:.2f}s cpu={taken.cpu:.2f}s", flush=True)
    _show_linear(kind, found)


def _show_linear(kind: str, found: dict[int, Taken]) -> None:
    """Seconds of each view more, at the top of the sizes and below it."""
    few, some, many = sorted(found)
    below, above = ((found[b].cpu - found[a].cpu) / (b - a) * 1000 for a, b in ((few, some), (some, many)))
    ratio = above / below if below > 0 else 0.0
    print(
        f"growth {kind} cpu-ms a view: {below:.1f} from {few} to {some}, {above:.1f} from {some} to {many}, "
        f"ratio={ratio:.2f} bar={LINEAR} {verdict(ratio <= LINEAR)}",
        flush=True,
    )


# --- building ------------------------------------------------------------------------------------------


def many_views(views: int) -> dict[str, str]:
    """SQL by name: views in chains of five, and four tables over the ends of some; a star marks those."""
    found: dict[str, str] = {}
    for n in range(views):
        before = f"v{n - 1:04}" if n % DEPTH else "orders"
        found[f"v{n:04}"] = f"SELECT * FROM {before} WHERE amount > {n % DEPTH}"  # noqa: S608
    for n in range(TABLES):
        end = (n + 1) * views // TABLES - 1
        found[f"t{n}*"] = f"SELECT customer, sum(amount) AS amount FROM v{end:04} GROUP BY customer"  # noqa: S608
    return found


def make_files(folder: Path, views: dict[str, str], rows: int) -> Path:
    """A project of SQL files over a Delta table of orders."""
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "growth"\n')
    (folder / "views" / "sources.py").write_text(
        "import headwater\n\nheadwater.source('orders', path='lake/orders')\n"
    )
    for name, sql in views.items():
        head = "-- headwater: table\n" if name.endswith("*") else ""
        (folder / "views" / f"{name.rstrip('*')}.sql").write_text(f"{head}{sql}\n")
    _spark().sql(ORDERS.format(rows=rows)).write.format("delta").save(str(folder / "lake" / "orders"))
    return folder


def run_plain(folder: Path, views: dict[str, str]) -> None:
    """The same SQL by hand; tables are overwritten, and nothing is recorded."""
    spark = _spark()
    orders = str(folder / "lake" / "orders")
    spark.read.format("delta").load(orders).createOrReplaceTempView("orders")
    for name, sql in views.items():
        frame = spark.sql(sql)
        if name.endswith("*"):
            frame.write.format("delta").mode("overwrite").save(str(folder / "out" / name.rstrip("*")))
        else:
            frame.createOrReplaceTempView(name)


def build(folder: Path, *only: str) -> None:
    """A build of everything, or of some tables, from nothing."""
    outcome = headwater.open(folder, settings=SETTINGS).build(only=only, full=True)
    if outcome.error is not None:
        raise outcome.error


def grow_builds(folder: Path, sizes: tuple[int, ...]) -> None:
    """Builds of projects of each size, beside the same by hand."""
    added: dict[int, Taken] = {}
    for number, views in enumerate((sizes[0], *sizes)):
        texts = many_views(views)
        place = make_files(folder / f"build-{number}", texts, rows=10_000)
        plain, ours = measured(run_plain, place, texts), measured(build, place)
        added[views] = Taken(wall=ours.wall - plain.wall, cpu=ours.cpu - plain.cpu)
        if number:
            show(f"growth build views={views}", plain, ours, f"added={added[views].cpu:.1f}cpu-s")
    _show_linear("build-added", added)


# --- rows ----------------------------------------------------------------------------------------------


def make_rows(folder: Path, rows: int) -> None:
    """A project of one source with so many rows."""
    make_files(folder, {f"{name}*": sql for name, sql in SHAPES.items()}, rows)


def grow_rows(folder: Path, shape: str, sizes: tuple[int, ...]) -> None:
    """One table over sources of each size: what a build adds."""
    added: dict[int, float] = {}
    for number, rows in enumerate((sizes[0], *sizes)):
        place, texts = folder / f"rows-{rows}", {f"{shape}*": SHAPES[shape]}
        plain, ours = measured(run_plain, place, texts), measured(build, place, shape)
        added[rows] = ours.cpu - plain.cpu
        if number:
            show(f"growth rows={rows} {shape}", plain, ours, f"added={added[rows]:.1f}cpu-s")
    more, rows = added[sizes[-1]] - added[sizes[0]], sizes[-1] - sizes[0]
    if shape == "totals":
        judged = f"{more:+.1f} cpu-s bar={STEADY:+} {verdict(more <= STEADY)}"
    else:
        each = more / rows * 1_000_000
        judged = f"{each:.2f} cpu-us a row bar={MICROSECONDS_PER_ROW} {verdict(each <= MICROSECONDS_PER_ROW)}"
    print(f"growth {shape} added from {sizes[0]} to {sizes[-1]} rows: {judged}", flush=True)


if __name__ == "__main__":
    main()
