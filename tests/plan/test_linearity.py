"""Steps that are linear, with the law on real rows; and those that are not, most of which would break it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, cast

import pytest
from pyspark.sql.udtf import UserDefinedTableFunction

from headwater.plan import NotLinear, analysed_tree, find_nonlinear

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from pyspark.sql import DataFrame, SparkSession

    from headwater.runtime import RunSession, SessionRuntime

    Query = str | Callable[[SparkSession], DataFrame]
    Row = tuple[int | None, ...]

VALUES = (None, 0, 1, 2)
SETTINGS = {
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}


def distinct_frame(spark: SparkSession) -> DataFrame:
    return spark.table("s").select("k", "x").distinct()


def one_row_of_each(spark: SparkSession) -> DataFrame:
    return spark.table("s").dropDuplicates(["k"])


def frame_in_a_query(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT k, x + 1 AS x FROM {rows}", rows=spark.table("s").where("j > 0"))


def used_twice(spark: SparkSession) -> DataFrame:
    once = spark.sql("WITH t AS (SELECT k, j FROM s WHERE k > 0) SELECT * FROM t")
    return once.union(once.select("j", "k"))


# `s` is what a step is applied to; `a` and `b` stay as they are.
LINEAR: list[Query] = [
    "SELECT * FROM s",
    "SELECT * FROM S AS other",
    "SELECT k + 1 AS k, coalesce(j, x) AS j FROM s WHERE x > 0 OR j IS NULL ORDER BY x",
    "SELECT k FROM a",
    "SELECT k, j FROM a UNION ALL SELECT j, k FROM s",
    "SELECT k, j FROM a UNION SELECT j, k FROM s UNION SELECT x, x FROM s",
    "SELECT DISTINCT k FROM s",
    distinct_frame,
    frame_in_a_query,
    used_twice,
    "SELECT s.k, a.x FROM s JOIN a ON s.j = a.k",
    "SELECT a.k, s.x FROM a JOIN s ON a.j <=> s.k AND a.x < s.x",
    "SELECT s.k, a.k AS o FROM s CROSS JOIN a",
    "SELECT s.k, a.x FROM s LEFT JOIN a ON s.j = a.k",
    "SELECT a.k, s.x FROM a RIGHT JOIN s ON s.j = a.k",
    "SELECT * FROM s LEFT SEMI JOIN a ON s.j = a.k",
    "SELECT * FROM s LEFT ANTI JOIN a ON s.j = a.k",
    "SELECT * FROM a LEFT SEMI JOIN s ON s.j = a.k",
    "SELECT s.k, t.n FROM s JOIN (SELECT k, count(*) AS n FROM a GROUP BY k) t ON s.k = t.k",
    "SELECT s.k, a.x, b.j FROM s JOIN a ON s.j = a.k JOIN b ON a.x = b.x",
    "SELECT k, e FROM s LATERAL VIEW explode(array(j, x)) t AS e",
    "SELECT k, p, e FROM s LATERAL VIEW OUTER posexplode(array(j, x)) t AS p, e",
    "SELECT k, n, y FROM s UNPIVOT INCLUDE NULLS (y FOR n IN (j, x))",
    "SELECT k FROM s WHERE j IN (SELECT k FROM a)",
    "SELECT k, (SELECT max(x) FROM a WHERE a.k = s.k) AS m FROM s",
    "SELECT k, j FROM s EXCEPT SELECT k, j FROM a",
    "SELECT k, j FROM s INTERSECT SELECT k, j FROM a",
    "SELECT k, j FROM a INTERSECT SELECT k, j FROM s",
    "WITH t AS (SELECT k AS q, x FROM s) SELECT q, x FROM t UNION ALL SELECT x, q FROM t",
    "SELECT s.k, t.m FROM s, LATERAL (SELECT max(x) AS m FROM a WHERE a.k = s.k) t",
    "SELECT /*+ REPARTITION(3, x) */ k, x FROM s",
    "FROM s |> WHERE x > 0 |> SELECT k",
]


@dataclass(frozen=True, slots=True)
class Refused:
    """A step that is not linear, and by which operator; whether rows can show that."""

    query: Query
    operator: str
    breaks: bool = True

    def __str__(self) -> str:
        return self.query if isinstance(self.query, str) else self.query.__name__


REFUSED = [
    Refused("SELECT p.k, q.x FROM s p JOIN s q ON p.j = q.k", "Join"),
    Refused("SELECT p.k, q.k AS o FROM s p CROSS JOIN s q", "Join"),
    Refused("SELECT a.k, s.x FROM a LEFT JOIN s ON s.j = a.k", "Join"),
    Refused("SELECT s.k, a.x FROM s FULL JOIN a ON s.j = a.k", "Join"),
    Refused("SELECT s.k, a.x FROM s RIGHT JOIN a ON s.j = a.k", "Join"),
    Refused("SELECT * FROM a LEFT ANTI JOIN s ON s.j = a.k", "Join"),
    Refused("SELECT k, max(x) AS x FROM s GROUP BY k", "Aggregate"),
    Refused("SELECT count(*) AS n FROM s", "Aggregate"),
    Refused("SELECT k, count(*) OVER (PARTITION BY k) AS n FROM s", "Window"),
    Refused("SELECT k FROM a WHERE j NOT IN (SELECT j FROM s WHERE j IS NOT NULL)", "Filter"),
    Refused("SELECT k FROM s WHERE j IN (SELECT k FROM s)", "Filter"),
    Refused("SELECT k, (SELECT max(x) FROM s) AS m FROM a", "Project"),
    Refused("SELECT k, j FROM a EXCEPT SELECT k, j FROM s", "Except"),
    Refused("SELECT k FROM s EXCEPT ALL SELECT k FROM a", "Except"),
    Refused("SELECT k FROM s INTERSECT ALL SELECT k FROM a", "Intersect", breaks=False),
    Refused("SELECT k, j FROM s EXCEPT SELECT j, k FROM s", "Except"),
    Refused("SELECT * FROM s ORDER BY k, j, x LIMIT 2", "GlobalLimit"),
    Refused(one_row_of_each, "Deduplicate"),
    Refused("SELECT a.k, t.m FROM a, LATERAL (SELECT max(x) AS m FROM s WHERE a.k = s.k) t", "LateralJoin"),
    Refused("WITH t AS (SELECT k, j FROM s) SELECT p.k, q.j FROM t p JOIN t q ON p.j = q.k", "Join"),
]


@dataclass(frozen=True, slots=True)
class Bench:
    """A session with small tables in it."""

    session: RunSession

    def why_not(self, query: Query) -> NotLinear | None:
        self.show("s", [])
        return find_nonlinear(analysed_tree(self.frame(query)), "s")

    def frame(self, query: Query) -> DataFrame:
        return self.session.spark.sql(query) if isinstance(query, str) else query(self.session.spark)

    def show(self, name: str, rows: list[Row]) -> None:
        listed = (", ".join("INT(NULL)" if each is None else str(each) for each in row) for row in rows)
        values = ", ".join(f"({each})" for each in listed) or "(0, 0, 0)"
        sql = f"SELECT * FROM VALUES {values} AS t(k, j, x){'' if rows else ' WHERE false'}"
        self.session.spark.sql(sql).createOrReplaceTempView(name)

    def broken(self, query: Query, seeds: range, count: int) -> list[str]:
        """Where a step over two sets of rows together gives other rows than over each of them."""
        frames: list[DataFrame] = []
        for seed in seeds:
            one, two = _rows(f"one {seed}", count), _rows(f"two {seed}", count)
            for number, rows in enumerate((one, two, sorted({*one, *two}, key=str))):
                self.show("s", rows)
                frames.append(self.frame(query).selectExpr(f"{3 * seed + number} AS number", "*"))
        found: dict[int, set[Row]] = {}
        for row in reduce(lambda one, two: one.union(two), frames).collect():
            found.setdefault(int(row[0]), set()).add(cast("Row", tuple(row))[1:])
        assert any(found.values()), "a law about nothing proves nothing"
        parts = [[found.get(3 * seed + number, set()) for number in range(3)] for seed in seeds]
        return [f"{one} and {two}: {both}" for one, two, both in parts if one | two != both]


def _rows(seed: str, count: int) -> list[Row]:
    drawn = hashlib.sha256(seed.encode()).digest()
    return [tuple(VALUES[drawn[3 * row + column] % 4] for column in range(3)) for row in range(count)]


@pytest.fixture(scope="module")
def bench(runtime: SessionRuntime) -> Generator[Bench]:
    with runtime.checkout() as session:
        for key, value in SETTINGS.items():
            session.spark.conf.set(key, value)
        found = Bench(session)
        found.show("a", _rows("a", 6))
        found.show("b", _rows("b", 6))
        yield found


@pytest.mark.parametrize("query", LINEAR, ids=lambda query: getattr(query, "__name__", None))
def test_a_linear_step_and_its_law(bench: Bench, query: Query) -> None:
    assert bench.why_not(query) is None
    assert bench.broken(query, range(2), 5) == []


@pytest.mark.parametrize("refused", REFUSED, ids=str)
def test_what_is_refused_would_break_the_law(bench: Bench, refused: Refused) -> None:
    found = bench.why_not(refused.query)
    assert found is not None
    assert found.operator == refused.operator
    assert "row" in found.detail
    assert any(bench.broken(refused.query, range(4), count) for count in (3, 5)) is refused.breaks


def test_a_table_function_in_python_may_remember_rows(bench: Bench) -> None:
    class Counting:
        def eval(self, x: int) -> Iterator[tuple[int]]:
            yield (x,)

    bench.session.spark.udtf.register("counting", UserDefinedTableFunction(Counting, "n INT"))
    found = bench.why_not("SELECT k, n FROM s, LATERAL counting(x)")
    assert found is not None
    assert found.operator == "Generate"


def test_a_function_of_many_rows_is_refused(bench: Bench) -> None:
    def mapped(spark: SparkSession) -> DataFrame:
        return spark.table("s").mapInArrow(lambda batches: batches, "k INT, j INT, x INT")

    assert bench.why_not(mapped) == NotLinear("MapInArrow", "MapInArrow sees many of the rows so far at once")


def test_what_a_view_makes_of_other_rows_is_not_looked_at(bench: Bench) -> None:
    bench.session.spark.sql("CREATE OR REPLACE TEMPORARY VIEW v AS SELECT k, max(x) AS x FROM a GROUP BY k")
    assert bench.why_not("SELECT s.k, v.x FROM s JOIN v ON s.k = v.k") is None
