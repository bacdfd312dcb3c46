"""How long planning takes beside Spark's own analysis: 100 views of ordinary size, in one run, in turns.

    python bench/planning.py [--views N] [--rounds N]

Spark alone turns the same plan bytes into analysed frames over the same names. Headwater does that and makes
a bundle of each: canonical plan, lineage, determinism, semantic types, fingerprint. The bar is 1.5.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import Taken, measured, middle, show

import headwater
from headwater.clock import SystemClock
from headwater.delta import LatestVersions
from headwater.pipeline import ViewSpec
from headwater.plan import empty_relation, order_of
from headwater.run import ignore_progress
from headwater.run.compile import as_stored, compile_views, register_source, rehydrate_view
from headwater.run.sessions import LazySession
from headwater.run.steps import RunRequest, bundling_of, open_run, read_definitions
from headwater.runtime import cache_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.pipeline import Pipeline
    from headwater.run.pins import PinnedSource
    from headwater.runtime import RunSession

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
HEAD = """
import headwater
from pyspark.sql import Window
from pyspark.sql import functions as F

headwater.source(
    "orders",
    rows=[(1, 1, 1, "EUR", "2026-01-01")],
    schema="id BIGINT, customer BIGINT, amount BIGINT, currency STRING, day STRING",
)
headwater.source("customers", rows=[(1, "a", "AT")], schema="customer BIGINT, name STRING, country STRING")
"""
SHAPES = (
    """
@headwater.view
def v{n}(orders, customers):
    paid = orders.where(F.col("amount") > {n}).join(customers, "customer", "left")
    return paid.groupBy("country", "day").agg(F.sum("amount").alias("amount"), F.count("*").alias("n"))
""",
    """
@headwater.view
def v{n}(v{before}):
    ranked = Window.partitionBy("country").orderBy(F.desc("amount"), "day")
    kept = v{before}.withColumn("place", F.rank().over(ranked)).where(F.col("place") <= 3)
    return kept.select("country", "day", "amount", (F.col("n") + {n}).alias("n"))
""",
    """
@headwater.view
def v{n}(spark):
    return spark.sql('''
        WITH big AS (
            SELECT country, sum(amount) AS amount FROM v{before} GROUP BY country HAVING sum(amount) > {n}
        )
        SELECT v.country, v.day, v.amount, CASE WHEN b.amount IS NULL THEN 0L ELSE v.n END AS n
        FROM v{before} AS v LEFT JOIN big AS b USING (country)
        WHERE v.day IN (SELECT day FROM orders WHERE currency = 'EUR')
    ''')
""",
    """
@headwater.table
def v{n}(v{before}, customers):
    named = customers.select("country", F.upper("name").alias("name")).distinct()
    left = v{before}.join(named, "country", "inner").withColumn("n", F.coalesce("n", F.lit({n})))
    return left.select("country", "day", "amount", F.col("n").cast("bigint").alias("n"))
""",
)


def make_project(folder: Path, views: int) -> Path:
    """A project of so many views, each of one of four shapes, in chains of four."""
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "hundred"\n')
    texts = [SHAPES[n % len(SHAPES)].format(n=n, before=n - 1) for n in range(views)]
    (folder / "views" / "all.py").write_text(HEAD + "".join(texts))
    return folder


def plain(session: RunSession, pipeline: Pipeline, order: Sequence[str], sources: list[PinnedSource]) -> None:
    """Spark alone: every plan analysed over names that are registered, stored views as empty relations."""
    for source in sources:
        register_source(session, source)
    for name in order:
        spec = pipeline.spec(name)
        if isinstance(spec, ViewSpec):
            frame = rehydrate_view(session, spec)
            if spec.stored:
                frame = empty_relation(session, as_stored(frame.schema), name)
            frame.createOrReplaceTempView(name)


def times(folder: Path, rounds: int) -> dict[str, list[Taken]]:
    """What both take, in turns; each begins with a session of its own."""
    project = headwater.open(folder, settings=SETTINGS)
    request = RunRequest(
        config=project.config,
        profile=project.profile,
        warehouse=project.warehouse,
        latest=LatestVersions(cache_policy(project.profile.cache), SystemClock()),
    )
    found: dict[str, list[Taken]] = {"plain": [], "headwater": []}
    with LazySession(project.profile, lambda _: None) as engine:
        run = open_run(request, SystemClock(), ignore_progress, engine)
        pipeline = read_definitions(run)
        sources = [run.pins.pinned(source) for source in pipeline.sources]
        reads = {view.name: run.schemas.reads_of(view) for view in pipeline.views}
        order = order_of({**{each.spec.name: () for each in sources}, **reads}, {})
        for _ in range(rounds + 1):  # the first warms both
            for case, taken in found.items():
                session = engine.get().fresh()
                if case == "plain":
                    work = partial(plain, session, pipeline, order, sources)
                else:
                    bundling = bundling_of(run, pipeline)
                    work = partial(compile_views, session, pipeline.views, sources, reads, bundling)
                taken.append(measured(work))
                session.release()
    return {case: taken[1:] for case, taken in found.items()}


def main() -> None:
    """Prints one line: the medians of both, and their ratios."""
    parser = argparse.ArgumentParser(description="Planning beside Spark's own analysis.")
    parser.add_argument("--views", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        taken = times(make_project(folder / "views", asked.views), asked.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    show(f"plan-{asked.views}-views", middle(taken["plain"]), middle(taken["headwater"]), bar=1.5)


if __name__ == "__main__":
    main()
