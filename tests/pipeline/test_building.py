from __future__ import annotations

import importlib
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql.connect.proto import base_pb2
from pyspark.sql.types import LongType, StringType, StructField, StructType
from pyspark.sql.utils import is_remote

from headwater.errors import (
    Cycle,
    FunctionNotIdentifiable,
    HeadwaterError,
    InvalidSetting,
    NotAFrame,
    NotInAView,
    UnknownSetting,
    ViewNotReproducible,
    ViewRaised,
)
from headwater.messages import messages_of, value_of
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
from headwater.policies import WritePolicy

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


def test_plans_carry_the_lines_of_a_project_and_none_of_packages(project_folder: MakeProject) -> None:
    body = "(t): return t.where(F.col('id') > 1)\n"
    text = f"{HEAD}@headwater.view\ndef own{body}def packaged{body}packaged.__module__ = 'headwater.made'\n"
    pipeline = built(project_folder(v_py=f"{text}headwater.view(packaged)\n"))
    own, packaged = spec(pipeline, "own").plan, spec(pipeline, "packaged").plan
    assert own.digest == packaged.digest
    assert b"v.py" in own.executable
    assert b"v.py" not in packaged.executable


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


# --- how views are written ---

WRITTEN = f"""{HEAD}headwater.source("texts", path=".", format="files")
headwater.source("orders", path="o")

@headwater.table(partition_by=["country"], zorder_by=["id"], max_attempts=9)
def paid(orders): return orders

@headwater.extractor(files="texts", schema="words INT", not_null=["path"])
def words(path, content): return {{"words": 1}}

@headwater.view
def open_orders(orders): return orders
"""


def written(make: MakeProject, toml: str = "") -> Path:
    folder = make(
        v_py=WRITTEN, totals_sql="-- headwater: table\nSELECT 1 AS one", plain_sql="SELECT 1 AS one"
    )
    (folder / "headwater.toml").write_text(toml)
    return folder


def test_a_view_knows_how_it_is_written(project_folder: MakeProject) -> None:
    pipeline = built(written(project_folder))
    assert {each.name: each.policy for each in pipeline.views} == {
        "paid": WritePolicy(partition_by=("country",), zorder_by=("id",), max_attempts=9),
        "words": WritePolicy(not_null=("path",)),
        "totals": WritePolicy(),
        "open_orders": WritePolicy(),
        "plain": WritePolicy(),
    }


def test_what_the_projects_file_says_replaces_the_definitions_field(project_folder: MakeProject) -> None:
    toml = (
        "[tables.PAID]\ncluster_by = ['id']\npartition_by = []\nzorder_by = []\n"
        "[tables.totals]\ntarget_file_size = '1mb'\n"
        "[tables.words]\nstats_policy = 'off'\n"
    )
    before = built(written(project_folder))
    after = built(written(project_folder, toml))
    assert spec(after, "paid").policy == WritePolicy(cluster_by=("id",), max_attempts=9)
    assert spec(after, "totals").policy == WritePolicy(target_file_size=1 << 20)
    assert spec(after, "words").policy == WritePolicy(not_null=("path",), stats_policy="off")
    assert digests(after) == digests(before)


def test_how_rows_are_kept_is_said_by_the_definition_and_before_it_by_the_projects_file(
    project_folder: MakeProject,
) -> None:
    cached = WRITTEN.replace("@headwater.view", "@headwater.view(cache='memory')")

    def caches(toml: str) -> dict[str, str]:
        folder = written(project_folder, toml)
        (folder / "views" / "v.py").write_text(cached)
        pipeline = built(folder)
        assert digests(pipeline) == before
        return {each.name: each.cache for each in pipeline.views if not each.stored}

    before = digests(built(written(project_folder)))
    assert caches("") == {"open_orders": "memory", "plain": "none"}
    toml = "[cache]\nOpen_orders = 'none'\nPLAIN = 'delta_staging'\n"
    assert caches(toml) == {"open_orders": "none", "plain": "delta_staging"}


@pytest.mark.parametrize(
    ("toml", "hint"),
    [
        ("[tables.paide]\nmax_attempts = 1\n", "Did you mean 'paid'?"),
        ("[tables.open_orders]\n", "It names no table that a build stores."),
        ("[tables.plain]\n", "It names no table that a build stores."),
        ("[tables.orders]\n", "It names no table that a build stores."),
        ("[locations.order]\npath = 'x'\n", "Did you mean 'orders'?"),
        ("[cache]\nopen_order = 'memory'\n", "Did you mean 'open_orders'?"),
        ("[cache]\npaid = 'memory'\n", "It names no view that is not stored."),
        ("[cache]\nwords = 'memory'\n", "It names no view that is not stored."),
        ("[cache]\norders = 'memory'\n", "It names no view that is not stored."),
    ],
)
def test_a_name_that_nothing_has_is_refused(project_folder: MakeProject, toml: str, hint: str) -> None:
    with pytest.raises(UnknownSetting) as caught:
        built(written(project_folder, f"\n{toml}"))
    assert hint in caught.value.next_step
    assert caught.value.origin is not None
    assert Path(caught.value.origin.path).name == "headwater.toml"
    assert caught.value.origin.line == (3 if toml.startswith("[cache]") else 2)


@pytest.mark.parametrize(
    ("toml", "key", "line"),
    [
        ("[tables.paid]\nmax_attempts = 1\ncluster_by = ['id']\n", "cluster_by", 3),
        ("[tables.paid]\norder_by = ['name']\n[tables.totals]\nzorder_by = ['one']\n", "zorder_by", 1),
        ("[tables.paid]\nzorder_by = ['country']\n", "zorder_by", 2),
        ("[tables.totals]\n\nstats_policy = 'explicit'\n", "stats_policy", 3),
        ("[tables.paid]\n[tables.Paid]\n", "Paid", 2),
        ("[locations.Orders]\n[locations.orders]\n", "orders", 2),
        ("[cache]\nplain = 'memory'\nPlain = 'none'\n", "Plain", 3),
    ],
)
def test_what_does_not_go_together_is_refused_at_its_line(
    project_folder: MakeProject, toml: str, key: str, line: int
) -> None:
    with pytest.raises(InvalidSetting) as caught:
        built(written(project_folder, toml))
    assert (caught.value.key, caught.value.exit_code) == (key, 2)
    assert caught.value.origin is not None
    assert (Path(caught.value.origin.path).name, caught.value.origin.line) == ("headwater.toml", line)


# --- what files make as they are imported ---

MADE_AT_IMPORT = f"""{HEAD}import pandas as pd
from pyspark.sql import SparkSession, Window

headwater.source("orders", rows=[("a", 1), ("a", 2), ("b", -1)], schema="k STRING, n INT")
BIG = F.col("n") > 0
W = Window.partitionBy("k").orderBy("n")
HERE = SparkSession.builder.getOrCreate()

@F.udf("string")
def shout(word):
    return word.upper() + "!"

@F.pandas_udf("bigint")
def length(words: pd.Series) -> pd.Series:
    return words.str.len()

@headwater.table
def loud(orders, spark):
    assert HERE is spark
    numbered = orders.where(BIG).withColumn("i", F.row_number().over(W))
    return numbered.select(shout("k").alias("k"), length("k").alias("l"), "i")
"""


def test_functions_columns_and_windows_may_be_made_at_import(project_folder: MakeProject) -> None:
    folder = project_folder(v_py=MADE_AT_IMPORT)
    first = spec(built(folder), "loud").digest
    assert spec(built(folder), "loud").digest == first
    for old, new in (('"!"', '"?"'), ('F.col("n") > 0', 'F.col("n") > 1'), ('orderBy("n")', 'orderBy("k")')):
        changed = built(project_folder(v_py=MADE_AT_IMPORT.replace(old, new)))
        assert spec(changed, "loud").digest != first
    assert not is_remote()


def test_two_threads_open_projects_and_plans_without_waiting_forever(project_folder: MakeProject) -> None:
    folder = project_folder(v_py=MADE_AT_IMPORT)

    def both(number: int) -> str:
        if number % 2:
            return spec(built(folder), "loud").digest
        return build_plan(lambda _: (built(folder), _.range(3))[1]).digest

    with ThreadPoolExecutor(4) as threads:
        digests = list(threads.map(both, range(8), timeout=60))
    assert len(set(digests)) == 2


def test_a_schema_is_not_known_at_import(project_folder: MakeProject) -> None:
    text = f"{HEAD}from pyspark.sql import SparkSession\nX = SparkSession.active().table('t').columns\n"
    with pytest.raises(NotInAView, match="a schema") as caught:
        built(project_folder(v_py=text))
    assert caught.value.origin is not None
    assert caught.value.origin.line == 4


# --- settings ---

MOMENTS = f"""{HEAD}import datetime as dt
headwater.source("moments", rows=[(dt.datetime(2026, 1, 1, 12),)], schema="t TIMESTAMP")

@headwater.view
def later(moments):
    return moments.where(F.col("t") > dt.datetime(2026, 1, 1, 12)).limit(1)

@headwater.view
def zone(moments, spark):
    return moments.withColumn("z", F.lit(spark.conf.get("spark.sql.session.timeZone")))
"""
TOKYO = {"spark.sql.session.timeZone": "Asia/Tokyo"}


def digests(pipeline: Pipeline) -> dict[str, str]:
    return {each.name: each.digest for each in (*pipeline.views, *pipeline.sources)}


def built_in(folder: Path, settings: Mapping[str, str] | None) -> dict[str, str]:
    with open_definitions(read_project(folder)) as loaded:
        return digests(build_pipeline(loaded, Oracle(), settings=settings))


def test_the_profiles_settings_are_the_views_settings(project_folder: MakeProject) -> None:
    folder = project_folder(v_py=MOMENTS)
    utc, tokyo = built_in(folder, None), built_in(folder, TOKYO)
    assert all(utc[name] != tokyo[name] for name in ("later", "moments", "zone"))
    aware = MOMENTS.replace("1, 1, 12)", "1, 1, 3, tzinfo=dt.UTC)")
    assert built_in(project_folder(v_py=aware), None)["moments"] == tokyo["moments"]
    for name in ("+09:00", "UTC+9"):
        offset = built_in(project_folder(v_py=MOMENTS), {"spark.sql.session.timeZone": name})
        assert (offset["moments"], offset["later"]) == (tokyo["moments"], tokyo["later"])
    with pytest.raises(NotInAView, match="Nowhere"):
        built_in(folder, {"spark.sql.session.timeZone": "Nowhere"})


def test_the_machines_time_zone_does_not_count(project_folder: MakeProject) -> None:
    folder = project_folder(v_py=MOMENTS)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\nfrom test_building import built_in\n"
        "print(built_in(Path(sys.argv[2]), None))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent), str(folder)],
        env={**os.environ, "TZ": "Asia/Tokyo"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == str(built_in(folder, None))


def test_a_view_does_not_depend_on_what_makes_runs_faster(project_folder: MakeProject) -> None:
    key = "spark.sql.shuffle.partitions"
    body = f"@headwater.view\ndef a(spark):\n    return spark.range(int(spark.conf.get('{key}')))\n"
    folder = project_folder(v_py=HEAD + body)
    with pytest.raises(NotInAView, match=key):
        built_in(folder, {})
    assert built_in(folder, {key: "7"})


def test_what_a_file_was_told_at_import_must_still_hold(project_folder: MakeProject) -> None:
    key = "spark.sql.session.timeZone"
    text = f"{HEAD}from pyspark.sql import SparkSession\nZ = SparkSession.active().conf.get('{key}')\n"
    config = read_project(project_folder(v_py=text))
    with open_definitions(config) as loaded, pytest.raises(NotInAView, match="imported"):
        build_pipeline(loaded, Oracle(), settings=TOKYO)
    with open_definitions(config, settings=TOKYO) as loaded:
        build_pipeline(loaded, Oracle(), settings=TOKYO)


# --- helpers ---

INSIDE = f"""{HEAD}
@headwater.view
def a(orders):
    from lazy_words import shout
    return orders.select(F.udf(shout, "string")("k"))
"""


def commands(pipeline: Pipeline, name: str) -> list[bytes]:
    plan = base_pb2.Plan.FromString(spec(pipeline, name).plan.executable)
    udfs = (each for each in messages_of(plan) if each.DESCRIPTOR.name == "PythonUDF")
    return [cast("bytes", value_of(each, "command")) for each in udfs]


def test_a_helper_imported_while_a_view_is_built_travels(
    project_folder: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project_folder(v_py=INSIDE)
    (folder / "lazy_words.py").write_text("END = '!'\ndef shout(word):\n    return word.upper() + END\n")
    function, _ = pickle.loads(commands(built(folder), "a")[0])  # noqa: S301
    assert function("a") == "A!"
    monkeypatch.syspath_prepend(folder)
    before = importlib.import_module("lazy_words")
    (folder / "lazy_words.py").write_text("END = '?'\ndef shout(word):\n    return word.upper() + END\n")
    function, _ = pickle.loads(commands(built(folder), "a")[0])  # noqa: S301
    assert function("a") == "A?"
    assert sys.modules["lazy_words"] is before
    del sys.modules["lazy_words"]


@pytest.mark.parametrize(
    "line", ["import lazy_words", "from lazy_words import END", "from more import words"]
)
def test_an_import_that_a_worker_would_make_is_refused(project_folder: MakeProject, line: str) -> None:
    body = f"def f(word):\n    {line}\n    return word\n"
    view = "@headwater.view\ndef a(orders):\n    return orders.select(F.udf(f, 'string')('k'))\n"
    folder = project_folder(v_py=HEAD + body + view)
    (folder / "lazy_words.py").write_text("END = '!'\n")
    (folder / "more").mkdir()
    (folder / "more" / "words.py").write_text("END = '!'\n")
    with pytest.raises(NotInAView, match=f"import {line.split()[1]}") as caught:
        built(folder)
    assert caught.value.remedy == "Import it at the top of the file."
    built(project_folder(v_py=HEAD + body.replace(line, "import json") + view))


def test_state_of_a_helper_that_its_source_does_not_show_counts(project_folder: MakeProject) -> None:
    body = "import rates\ndef f(x):\n    return x * rates.of(rates.K)\n"
    view = "@headwater.view\ndef a(orders):\n    return orders.select(F.udf(f, 'int')('k'))\n"
    folder = project_folder(v_py=HEAD + body + view)
    (folder / "rates.py").write_text(
        "import json\nfrom pathlib import Path\nimport threading\n"
        "K, TABLE, OTHER = json.loads((Path(__file__).parent / 'k.json').read_text())\n"
        "def of(x):\n    return TABLE[x]\n"
    )
    found: list[str] = []
    for content in ('["a", {"a": 1}, 0]', '["b", {"a": 1}, 0]', '["a", {"a": 2}, 0]', '["a", {"a": 1}, 9]'):
        (folder / "k.json").write_text(content)
        found.append(spec(built(folder), "a").digest)
    assert len(set(found[:3])) == 3
    assert found[3] == found[0]


def test_a_helpers_state_without_identity_is_refused_where_it_is_used(project_folder: MakeProject) -> None:
    body = "import feed\ndef f(x):\n    return next(feed.{0})\n"
    view = "@headwater.view\ndef a(orders):\n    return orders.select(F.udf(f, 'int')('k'))\n"
    folder = project_folder(v_py=HEAD + body.format("ITEMS") + view)
    (folder / "feed.py").write_text("ITEMS = iter([1, 2])\nNUMBERS = [1]\n")
    with pytest.raises(FunctionNotIdentifiable, match=r"feed\.ITEMS, an object of builtins\.list_iterator"):
        built(folder)
    built(project_folder(v_py=HEAD + body.format("NUMBERS") + view))


# --- refusals and their places ---


def test_a_view_that_exits_has_raised(project_folder: MakeProject) -> None:
    with pytest.raises(ViewRaised, match="SystemExit: 7") as caught:
        built(project_folder(v_py=f"{HEAD}import sys\n@headwater.view\ndef a(orders):\n    sys.exit(7)\n"))
    assert caught.value.origin is not None
    assert caught.value.origin.line == 6


def test_an_error_in_a_text_is_reported_where_the_text_is(project_folder: MakeProject) -> None:
    class Strict(Oracle):
        def names_in(self, sql: str, origin: str) -> tuple[str, ...]:
            assert origin == "b"
            raise error(sql)

    error: Callable[[str], HeadwaterError] = lambda sql: NotInAView(member=sql)  # noqa: E731
    text = f"{HEAD}@headwater.view\ndef a(b): return b.select(*b.columns)\n"
    folder = project_folder(a_py=text, b_sql="SELEC 1")
    with pytest.raises(NotInAView) as caught:
        built(folder, Strict())
    assert caught.value.origin is not None
    assert Path(caught.value.origin.path).name == "b.sql"
    error = lambda sql: UnknownSetting(key=sql)  # noqa: E731
    with pytest.raises(UnknownSetting) as failed:
        built(folder, Strict())
    assert failed.value.origin is None


@pytest.mark.parametrize(
    "made", ["def a(spark, orders): return orders", "def a(spark): return spark.table('orders')"]
)
def test_a_source_starts_from_nothing(project_folder: MakeProject, made: str) -> None:
    with pytest.raises(NotInAView, match="orders") as caught:
        built(project_folder(v_py=f"{HEAD}@headwater.source\n{made}\n"))
    assert caught.value.remedy == "A source starts from nothing but spark; make it a view."
    assert caught.value.origin is not None
