"""Run by tests in a process of its own: builds projects on a master, or in the session that was submitted.

Takes a folder with projects, a master or `submitted`, and the names of those to build; on a cluster, `words`
is asked more than that. Prints a JSON object of what was seen.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

import headwater
from headwater.artifacts import last_manifest

if TYPE_CHECKING:
    from headwater.run import Project

folder, master, names = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
submitted: SparkSession | None = SparkSession.builder.getOrCreate() if master == "submitted" else None
own = {
    "master": master,
    "driver_memory": "1g",
    "spark.executor.memory": "600m",
    # Compiling a plan takes longer than running it over a handful of rows.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
seen: dict[str, Any] = {}


def opened(name: str) -> Project:
    return headwater.open(folder / name, spark=submitted, settings={} if submitted else own)


for name in names:
    outcome = opened(name).build()
    assert outcome.error is None, outcome.error
    manifest = last_manifest(folder / name / ".headwater")
    assert manifest is not None
    tables = {table.name: table.digest for table in outcome.tables}
    seen[name] = {"tables": tables, "results_digest": manifest.results_digest}

if master.startswith("spark:"):
    words = opened("words")
    with words.query("SELECT path, doubled FROM scored ORDER BY path") as result:
        rows = result.read_all().to_pylist()
    seen["asked"] = {
        "again": words.build().status,
        "planned": sorted({each.action for each in words.plan(full=True).views}),
        "replayed": words.replay("last", "scored").status,
        "rows": rows,
    }

context: Any = SparkContext._active_spark_context
executors = context._jsc.sc().statusStore().executorList(False)
each_of = [executors.apply(place) for place in range(executors.size())]
seen["tasks"] = {str(each.id()): int(each.totalTasks()) for each in each_of}
print(json.dumps(seen))  # noqa: T201
