from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from headwater.errors import Cycle, HeadwaterError, NotAFrame, NotInAView, ViewNotReproducible, ViewRaised
from headwater.pipeline import (
    Pipeline,
    PlanBytes,
    SourceSpec,
    ViewSpec,
    build_pipeline,
    build_plan,
    open_definitions,
    read_project,
)

MakeProject = Callable[..., Path]
HEAD = "import headwater\nfrom pyspark.sql import functions as F\n"


class Oracle:
    """Answers every question with one schema and remembers what was reached."""

    def __init__(self) -> None:
        self.reached: list[tuple[str, ...]] = []

    def names_in(self, sql: str, origin: str) -> tuple[str, ...]:
        del origin
        return tuple(word for word in sql.split() if word.startswith("t_"))

    def schema_of(self, relation: PlanBytes, reached: Mapping[str, ViewSpec | SourceSpec]) -> StructType:
        del relation
        self.reached.append(tuple(sorted(reached)))
        return StructType([StructField("id", LongType()), StructField("name", StringType())])


def built(folder: Path, oracle: Oracle | None = None) -> Pipeline:
    with open_definitions(read_project(folder)) as loaded:
        return build_pipeline(loaded, oracle or Oracle())


def spec(pipeline: Pipeline, name: str) -> ViewSpec:
    found = pipeline.spec(name)
    assert isinstance(found, ViewSpec)
    return found


def test_definitions_become_specs(project_folder: MakeProject) -> None:
    text = (
        f"{HEAD}@headwater.table\ndef totals(orders, spark, limit=3):\n"
        "    return orders.join(spark.table('rates'), 'k').where(F.col('n') > limit)\n"
        "headwater.source('orders', path='o', format='delta')\n"
        "headwater.source('rates', rows=[(1,)], schema='k INT')\n"
        "@headwater.source\ndef made(spark): return spark.range(3)\n"
    )
    pipeline = built(project_folder(v_py=text, both_sql="SELECT * FROM totals"))
    totals = spec(pipeline, "TOTALS")
    assert (totals.stored, totals.language, totals.plan.reads) == (True, "python", ("orders", "rates"))
    assert totals.origin.line == 3
    both = spec(pipeline, "both")
    assert (both.stored, both.language, both.plan.sql) == (False, "sql", ("SELECT * FROM totals",))
    assert {each.name: each.kind for each in pipeline.sources} == {
        "made": "made",
        "orders": "delta",
        "rates": "memory",
    }


def test_digests_are_equal_in_another_place_process_and_hash_seed(example: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "somewhere" / "else"
    shutil.copytree(example, elsewhere)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\nfrom test_building import Oracle, built\n"
        "pipeline = built(Path(sys.argv[2]))\n"
        "for each in (*pipeline.views, *pipeline.sources): print(each.name, each.digest)\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script, str(Path(__file__).parent), str(folder)],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
            check=True,
            capture_output=True,
            cwd=folder,
        ).stdout
        for folder, seed, zone in ((example, "1", "UTC"), (elsewhere, "2", "Asia/Tokyo"))
    }
    here = built(example)
    expected = "".join(f"{each.name} {each.digest}\n" for each in (*here.views, *here.sources))
    assert printed == {expected.encode()}


def test_no_jvm_is_started(example: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\nfrom test_building import built\nbuilt(Path(sys.argv[2]))\n"
        "from pyspark import SparkContext\nassert SparkContext._gateway is None\n"
    )
    environment = {**os.environ, "PATH": "", "JAVA_HOME": "/nowhere"}
    command = [sys.executable, "-c", script, str(Path(__file__).parent), str(example)]
    subprocess.run(command, env=environment, check=True, capture_output=True)


def test_a_view_that_raises_names_the_line_that_did(project_folder: MakeProject) -> None:
    text = f"{HEAD}@headwater.view\ndef a(orders):\n    first = orders\n    return first.where(1 / 0)\n"
    with pytest.raises(ViewRaised) as caught:
        built(project_folder(v_py=text))
    assert caught.value.origin is not None
    assert (Path(caught.value.origin.path).name, caught.value.origin.line) == ("v.py", 6)
    assert caught.value.detail == "ZeroDivisionError: division by zero"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return None", NotAFrame),
        ("return 3", NotAFrame),
        ("return orders.count()", NotInAView),
        ("orders.write.saveAsTable('x')", NotInAView),
        ("return orders.sample(0.5)", ViewNotReproducible),
        ("import time; return orders.withColumn('t', F.lit(time.time_ns()))", ViewNotReproducible),
    ],
)
def test_what_cannot_be_a_value_is_refused_with_its_place(
    project_folder: MakeProject, body: str, error: type[HeadwaterError]
) -> None:
    with pytest.raises(error) as caught:
        built(project_folder(v_py=f"{HEAD}@headwater.view\ndef a(orders):\n    {body}\n"))
    assert caught.value.origin is not None
    assert caught.value.origin.line in {3, 5}


@pytest.mark.parametrize("signature", ["*tables", "**tables", "orders, /"])
def test_parameters_must_have_names(project_folder: MakeProject, signature: str) -> None:
    with pytest.raises(NotInAView, match="parameter"):
        built(project_folder(v_py=f"{HEAD}@headwater.view\ndef a({signature}):\n    return None\n"))


def test_a_schema_question_reaches_through_views(project_folder: MakeProject) -> None:
    text = (
        f"{HEAD}headwater.source('orders', path='o', format='delta')\n"
        "@headwater.view\ndef z_last(a_first): return a_first.select(*a_first.columns)\n"
        "@headwater.view\ndef a_first(m_middle): return m_middle\n"
        "@headwater.view\ndef m_middle(orders): return orders\n"
    )
    oracle = Oracle()
    built(project_folder(v_py=text), oracle)
    assert oracle.reached == [("a_first", "m_middle", "orders")] * 2


def test_a_schema_that_needs_itself_is_a_cycle(project_folder: MakeProject) -> None:
    text = (
        f"{HEAD}@headwater.view\ndef a(b): return b.select(*b.columns)\n"
        "@headwater.view\ndef b(a): return a.select(*a.columns)\n"
    )
    with pytest.raises(Cycle) as caught:
        built(project_folder(v_py=text))
    assert caught.value.path == "a -> b -> a"


def test_a_function_alone_can_be_built() -> None:
    assert build_plan(lambda spark: spark.range(3)).digest == build_plan(lambda spark: spark.range(3)).digest
    with pytest.raises(NotInAView, match="schema"):
        build_plan(lambda spark: spark.table("x").select(*spark.table("x").columns))
