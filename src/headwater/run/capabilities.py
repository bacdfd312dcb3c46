"""What this installation can do, tried by the path that runs use, one small real use each.

Not here: guesses from version numbers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import LongType, StructField, StructType

from headwater.delta import probe_change_feed, probe_commit
from headwater.errors import HeadwaterError
from headwater.pipeline import build_plan
from headwater.plan import rehydrate
from headwater.runtime import ENGINE_EXCEPTIONS, RuntimeProfile, engine_error, ignore_notes, open_runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from headwater.runtime import Notify, RunSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """One probe: through which door it went, what it saw, or how it failed."""

    name: str
    compatible: bool
    entrypoint: str
    module: str
    ctx_kind: str
    probe_result: str | None
    error: str | None


Probe = Callable[["RunSession", Path], str]
_IDS = StructType([StructField("id", LongType())])


def probe_query(session: RunSession, _folder: Path) -> str:
    """Runs a query."""
    (row,) = session.spark.sql("SELECT count(*) AS n FROM VALUES (1), (2), (3) AS t(x)").collect()
    return f"counted {row['n']} of 3 rows"


def probe_plan(session: RunSession, _folder: Path) -> str:
    """Builds a plan without the JVM, and runs its bytes."""
    plan = build_plan(_three_squares)
    rows = rehydrate(session, plan.executable, "probe").collect()
    return f"{len(plan.executable)} bytes gave {sorted(int(row['square']) for row in rows)}"


def probe_arrow_function(session: RunSession, _folder: Path) -> str:
    """Runs a Python function over Arrow batches in a worker."""
    plan = build_plan(_through_arrow, _IDS)
    rows = rehydrate(session, plan.executable, "probe").collect()
    return f"a worker gave back {sorted(int(row['id']) for row in rows)}"


def _three_squares(spark: SparkSession) -> DataFrame:
    return spark.range(3).selectExpr("id * id AS square")


def _through_arrow(spark: SparkSession) -> DataFrame:
    def same(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches

    return spark.range(3).mapInArrow(same, _IDS)


# name, the public entry point it proves, what does the work, the probe
PROBES: tuple[tuple[str, str, str, Probe], ...] = (
    ("query", "runtime.open_runtime", "spark", probe_query),
    ("delta_commit", "delta.commit_mutation", "delta_native", probe_commit),
    ("change_feed", "delta.probe_change_feed", "delta_native", probe_change_feed),
    ("plan_rehydration", "plan.rehydrate", "spark_connect_planner", probe_plan),
    ("arrow_function", "plan.rehydrate", "python_worker", probe_arrow_function),
)


def probe_capabilities(
    profile: RuntimeProfile, notify: Notify = ignore_notes, spark: SparkSession | None = None
) -> tuple[Capability, ...]:
    """Every probe's outcome; a failing probe is reported, not raised.

    Raises:
        RuntimeFailure: the engine itself cannot be had.
    """
    runtime = open_runtime(profile, notify, spark)
    found: list[Capability] = []
    with tempfile.TemporaryDirectory(prefix="headwater-doctor-") as folder:
        for name, entrypoint, module, probe in PROBES:
            notify(f"trying {name}")
            with runtime.checkout() as session:
                result, error = _tried(probe, session, Path(folder))
            found.append(
                Capability(
                    name=name,
                    compatible=error is None,
                    entrypoint=f"headwater.{entrypoint}",
                    module=module,
                    ctx_kind="cloned_session",
                    probe_result=result,
                    error=error,
                )
            )
    return tuple(found)


def capabilities_snapshot(spark: SparkSession | None = None) -> tuple[Capability, ...]:
    """What this installation can do under the default profile; starts Spark, or tries it beside `spark`."""
    return probe_capabilities(RuntimeProfile(), spark=spark)


def _tried(probe: Probe, session: RunSession, folder: Path) -> tuple[str | None, str | None]:
    try:
        return probe(session, folder), None
    except HeadwaterError as error:
        return None, str(error)
    except ENGINE_EXCEPTIONS as error:
        return None, str(engine_error(error))
