"""Plans as bytes: what two builds share, what tells views apart, and that Spark runs what comes out."""

# pyright: reportUnknownLambdaType=none, reportUnknownArgumentType=none

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import Observation, Window
from pyspark.sql import functions as F
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.proto import base_pb2
from pyspark.sql.types import ArrayType, LongType, StructType

from headwater.errors import FunctionNotIdentifiable, NotInAView, ViewNotReproducible
from headwater.pipeline.canonical import build_twice, canonical_plan, executable_plan, plan_bytes_of
from headwater.pipeline.difference import first_difference
from headwater.pipeline.offline import OfflineSession, open_offline, pickled_by_value

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame as AnyFrame

View = Callable[[OfflineSession], "AnyFrame"]
Step = Callable[["AnyFrame"], "AnyFrame"]


class Columns:
    def schema_of(self, relation: bytes) -> StructType:
        assert relation
        return StructType().add("id", "long").add("k", "string").add("xs", ArrayType(LongType()))


@pytest.fixture
def spark() -> Iterator[OfflineSession]:
    with open_offline(Columns()) as session:
        yield session


def _self_join(spark: OfflineSession) -> AnyFrame:
    frame = spark.table("t")
    other = frame.where("id > 1")
    return frame.join(other, frame["id"] == other["id"]).select(frame["*"], other["k"].alias("k2"))


def _two_reads(spark: OfflineSession) -> AnyFrame:
    frame, other = spark.table("t"), spark.table("t")
    return frame.join(other, frame["id"] == other["id"]).select(frame["*"])


def _one_read(spark: OfflineSession) -> AnyFrame:
    frame = spark.table("t")
    return frame.join(frame, frame["id"] == frame["id"]).select(frame["*"])


def _with_udf(spark: OfflineSession) -> AnyFrame:
    return spark.table("t").select(F.udf(lambda x: x in {"a", "b", "c"}, "boolean")("k"))


def _with_other_udf(spark: OfflineSession) -> AnyFrame:
    return spark.table("t").select(F.udf(lambda x: x in {"a", "b", "d"}, "boolean")("k"))


VIEWS: dict[str, View] = {
    "table": lambda s: s.table("t"),
    "other table": lambda s: s.table("u"),
    "self join": _self_join,
    "two reads": _two_reads,
    "one read": _one_read,
    "column": lambda s: s.table("t").select("id"),
    "star of the frame": lambda s: (t := s.table("t")).select(t["*"]),
    "star": lambda s: s.table("t").select("*"),
    "regex": lambda s: (t := s.table("t")).select(t.colRegex("`i.*`")),
    "drop": lambda s: (t := s.table("t")).drop(t["k"]),
    "window": lambda s: s.table("t").withColumn(
        "n", F.row_number().over(Window.partitionBy("k").orderBy("id"))
    ),
    "scalar": lambda s: s.table("t").withColumn("m", s.table("u").agg(F.max("id")).scalar()),
    "isin": lambda s: (t := s.table("t")).where(t["id"].isin(s.table("u").select("id"))),
    "lambda": lambda s: s.table("t").select(F.transform("xs", lambda x: x + 1)),
    "other lambda": lambda s: s.table("t").select(F.transform("xs", lambda x: x + 2)),
    "outer variable": lambda s: s.table("t").select(
        F.transform("xs", lambda x: F.transform("xs", lambda y: x))  # noqa: ARG005 - which one is the point
    ),
    "inner variable": lambda s: s.table("t").select(
        F.transform("xs", lambda x: F.transform("xs", lambda y: y))  # noqa: ARG005
    ),
    "aggregate": lambda s: s.table("t").select(F.aggregate("xs", F.lit(0), lambda acc, x: acc + x)),
    "aggregate turned": lambda s: s.table("t").select(F.aggregate("xs", F.lit(0), lambda acc, x: x + acc)),
    "udf": _with_udf,
    "other udf": _with_other_udf,
    "sql": lambda s: s.sql("SELECT * FROM t WHERE id > :n AND id < :m", {"n": 1, "m": 5}),
    "sql with other arguments": lambda s: s.sql(
        "SELECT * FROM t WHERE id > :n AND id < :m", {"n": 1, "m": 6}
    ),
    "sql over a frame": lambda s: s.sql("SELECT * FROM {f}", f=s.table("t")),
    "sql over two frames": lambda s: s.sql("SELECT * FROM {f}, {g}", f=s.table("t"), g=s.table("u")),
    "rows": lambda s: s.createDataFrame([(1, "a")], "id int, k string"),
    "other rows": lambda s: s.createDataFrame([(2, "a")], "id int, k string"),
    "map in arrow": lambda s: s.table("t").mapInArrow(lambda batches: batches, "id long"),
    "seeded sample": lambda s: s.table("t").sample(fraction=0.5, seed=1),
    "options": lambda s: s.read.options(b="1", a="2").table("t"),
    "renamed": lambda s: s.table("t").withColumnsRenamed({"id": "n", "k": "m"}),
}


@pytest.mark.parametrize("name", VIEWS)
def test_two_builds_are_equal_and_canonical_is_idempotent(spark: OfflineSession, name: str) -> None:
    spark.range(len(name)).select(F.transform(F.array("id"), lambda x: x))  # moves pyspark's counters along
    built = build_twice(lambda: VIEWS[name](spark), name)
    plan = base_pb2.Plan.FromString(built.canonical)
    assert canonical_plan(plan).SerializeToString(deterministic=True) == built.canonical
    executable = base_pb2.Plan.FromString(built.executable)
    assert executable_plan(executable).SerializeToString(deterministic=True) == built.executable
    assert canonical_plan(executable).SerializeToString(deterministic=True) == built.canonical


def test_different_views_differ(spark: OfflineSession) -> None:
    digests = {name: plan_bytes_of(view(spark)).digest for name, view in VIEWS.items()}
    assert len(set(digests.values())) == len(VIEWS)


STEPS: list[Step] = [
    lambda f: f.where(F.col("id") > 1),
    lambda f: f.where(f["id"] > 1),
    lambda f: f.select(f["*"], F.lit(1).alias("n")),
    lambda f: f.groupBy("k").agg(F.sum("id").alias("id"), F.first("xs").alias("xs")),
    lambda f: f.withColumn("xs", F.filter("xs", lambda x: x > 0)),
    lambda f: f.withColumn("xs", F.transform("xs", lambda x, i: x + i)),
    lambda f: f.join(f.alias("other"), "id"),
    lambda f: f.union(f),
    lambda f: f.where(f.limit(1).exists()),
    lambda f: f.withColumn("k", F.udf(lambda k: k or "none", "string")("k")),
]


@given(
    st.lists(st.integers(0, len(STEPS) - 1), max_size=5), st.lists(st.integers(0, len(STEPS) - 1), max_size=5)
)
@settings(deadline=None, max_examples=60)
def test_equal_steps_give_equal_bytes_and_other_steps_others(one: list[int], two: list[int]) -> None:
    def built(spark: OfflineSession, steps: list[int]) -> bytes:
        frame: AnyFrame = spark.table("t")
        for step in steps:
            frame = STEPS[step](frame)
        return plan_bytes_of(frame).canonical

    with open_offline(Columns()) as spark:
        assert built(spark, one) == built(spark, one)
        assert (built(spark, one) == built(spark, two)) == (one == two)


def test_facts_are_read_off_the_plan(spark: OfflineSession) -> None:
    frame = (
        spark.table("b")
        .join(spark.read.table("cat.a"), "id")
        .join(spark.table("b"), "id")
        .where(spark.sql("SELECT 1 FROM c").exists())
        .union(spark.sql("SELECT 2"))
        .select(F.call_function("own.f", F.upper("k")), F.sum("id").over(Window.partitionBy("k")))
    )
    built = plan_bytes_of(frame)
    assert built.reads == ("b", "cat.a")
    assert built.sql == ("SELECT 1 FROM c", "SELECT 2")
    assert built.functions == ("own.f", "sum", "upper")


def test_where_a_line_stands_does_not_count(spark: OfflineSession) -> None:
    def here() -> AnyFrame:
        return spark.table("t").select(F.col("id") + 1)

    def there() -> AnyFrame:
        return spark.table("t").select(F.col("id") + 1)

    one, two = plan_bytes_of(here()), plan_bytes_of(there())
    assert one.canonical == two.canonical
    assert one.executable != two.executable
    assert __file__.encode() in one.executable
    assert __file__.encode() not in one.canonical


def test_a_view_of_hundreds_of_steps_is_no_problem(spark: OfflineSession) -> None:
    frame: AnyFrame = spark.table("t")
    for number in range(300):
        frame = frame.withColumn(f"c{number}", F.lit(number))
    assert base_pb2.Plan.FromString(plan_bytes_of(frame).executable).HasField("root")


@pytest.mark.parametrize(
    ("view", "detail"),
    [
        (lambda t: t.sample(0.5, seed=1), r"Sample\.seed was"),  # pyspark drops a seed given like this
        (lambda t: t.sample(0.5), r"Sample\.seed was \d+ and then \d+"),
        (lambda t: t.select(F.rand()), r"Literal\.long \(an argument of rand\) was"),  # noqa: TID251
        (lambda t: t.select(F.shuffle("xs")), r"Literal\.long \(an argument of shuffle\) was"),
        (lambda t: t.select(F.lit(dt.datetime.now())), r"Literal\.timestamp was"),  # noqa: DTZ005, TID251
        (lambda t: t.observe(Observation(), F.count(F.lit(1))), r"CollectMetrics\.name was"),
        (lambda t: t.sampleBy("k", {"a": 0.5}), r"StatSampleBy\.seed was"),
    ],
)
def test_what_differs_between_two_builds_is_named(spark: OfflineSession, view: Step, detail: str) -> None:
    with pytest.raises(ViewNotReproducible, match=detail):
        build_twice(lambda: view(spark.table("t")), "v")


def test_other_shapes_are_named_too(spark: OfflineSession) -> None:
    turns = iter(range(99))

    def expressions() -> AnyFrame:
        return spark.table("t").select(*[F.lit(1)] * (next(turns) + 1))

    def relations() -> AnyFrame:
        frame = spark.table("t")
        return frame.limit(1) if next(turns) % 2 else frame.distinct()

    def options() -> AnyFrame:
        return spark.read.option(f"o{next(turns)}", 1).table("t")

    def functions() -> AnyFrame:
        number = next(turns)
        return spark.table("t").select(F.udf(lambda x: x + number, "int")("id"))

    with pytest.raises(ViewNotReproducible, match=r"Project\.expressions has 1 entries .* 2"):
        build_twice(expressions, "v")
    with pytest.raises(ViewNotReproducible, match=r"Relation was .* and then"):
        build_twice(relations, "v")
    with pytest.raises(ViewNotReproducible, match=r"NamedTable\.options was 'o\d'"):
        build_twice(options, "v")
    with pytest.raises(ViewNotReproducible, match=r"PythonUDF\.command was"):
        build_twice(functions, "v")


def test_equal_plans_have_no_difference_to_name(spark: OfflineSession) -> None:
    plan = base_pb2.Plan.FromString(plan_bytes_of(spark.table("t")).canonical)
    assert first_difference(plan, plan) == "the bytes differ, the messages do not"


def test_streams_change_feeds_and_columns_found_in_data_are_refused(spark: OfflineSession) -> None:
    stream = spark.table("t")
    stream._plan._is_streaming = True  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(NotInAView, match="readStream"):
        plan_bytes_of(stream)
    with pytest.raises(NotInAView, match="pivot without values"):
        plan_bytes_of(spark.table("t").groupBy("id").pivot("k").count())
    with pytest.raises(NotInAView, match="pivot without values"):
        _ = spark.table("t").groupBy("id").pivot("k").count().columns
    with pytest.raises(NotInAView, match=r"read\.changes"):
        plan_bytes_of(spark.read.option("startingVersion", 1).changes("t"))


def test_a_function_without_identity_is_refused(spark: OfflineSession) -> None:
    rows = iter([1, 2])
    with pytest.raises(FunctionNotIdentifiable, match="iterator"):
        plan_bytes_of(spark.table("t").select(F.udf(lambda x: next(rows) + x, "int")("id")))


# --- other processes ---

_MODULE = """
from pyspark.sql import functions as F
NAMES = {"north", "south", "east", "west"}
def known(x):
    return x in NAMES
def view(spark):
    local = F.udf(lambda x: x if known(x) else None, "string")
    return (
        spark.table("t")
        .select(local("k").alias("k"), F.udf(known, "boolean")("k"), F.transform("xs", lambda x: x + 1))
        .where(F.col("k").isin(sorted(NAMES)))
    )
"""
_BUILD = """
import sys
sys.path.insert(0, sys.argv[1])
from headwater.pipeline.canonical import build_twice
from headwater.pipeline.offline import open_offline, pickled_by_value
with open_offline(None) as spark:
    import regions
    with pickled_by_value([regions]):
        built = build_twice(lambda: regions.view(spark), "v")
    by_name = build_twice(lambda: regions.view(spark), "v")
print(built.digest, by_name.digest, b"regions.py" in built.canonical, b"north" in built.executable)
"""


def _built_in(folder: Path, module: str, seed: str) -> list[str]:
    folder.mkdir(parents=True)
    (folder / "regions.py").write_text(module)
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, str(folder)],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=120,
    )
    return done.stdout.split()


def test_canonical_bytes_are_equal_across_processes_seeds_and_places(tmp_path: Path) -> None:
    here = _built_in(tmp_path / "here", _MODULE, "1")
    there = _built_in(tmp_path / "some" / "where" / "else", "# a comment\n" + _MODULE, "4711")
    assert here == there
    assert here[0] == here[1]
    assert here[2:] == ["False", "True"]
    edited = _built_in(
        tmp_path / "edited", _MODULE.replace("return x in NAMES", "return x not in NAMES"), "1"
    )
    assert edited[0] != here[0]
    assert edited[1] != here[1]


def test_modules_are_pickled_by_value_only_inside(
    spark: OfflineSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("far_away")
    exec("def f(x):\n    return x + 41000", vars(module))  # noqa: S102 - an importable module, but not a file
    monkeypatch.setitem(sys.modules, "far_away", module)
    frame = spark.table("t").select(F.udf(module.f, "int")("id"))
    with pickled_by_value([module]), pickled_by_value([module]):
        inside = plan_bytes_of(frame)
    outside = plan_bytes_of(frame)
    assert (41000).to_bytes(2, "little") in inside.executable
    assert (41000).to_bytes(2, "little") not in outside.executable
    assert inside.canonical == outside.canonical


# --- Spark runs them ---

_RUN = Path(__file__).parent / "rehydrated.py"


def test_spark_runs_the_executable_bytes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(_RUN), str(tmp_path / "out.json")],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results: dict[str, list[object]] = json.loads((tmp_path / "out.json").read_text())
    assert len(results) >= 15
    assert {name: pair[0] for name, pair in results.items()} == {
        name: pair[1] for name, pair in results.items()
    }


def test_frames_are_plain_connect_frames(spark: OfflineSession) -> None:
    assert type(spark.table("t")) is DataFrame


def test_subqueries_in_expressions_and_quoted_names_are_found(spark: OfflineSession) -> None:
    frame = (
        spark.table("`src`").where("a in (select a from zz)").select(F.expr("(SELECT max(x) FROM t)"), "b")
    )
    whole = plan_bytes_of(frame.join(spark.sql("SELECT 1"), "b"))
    assert whole.reads == ("src",)
    assert whole.sql == ("SELECT 1", "SELECT a in (select a from zz)", "SELECT (SELECT max(x) FROM t)")
    assert plan_bytes_of(spark.table("`a.b`").where("selected > 1")).reads == ("`a.b`",)
    assert plan_bytes_of(spark.table("a").where("selected > 1")).sql == ()
