"""Proofs and refusals by shape, the law on real rows, and that what is refused would break it."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from itertools import count, product
from typing import TYPE_CHECKING, cast

import pytest
from pyspark.sql import functions as F
from pyspark.sql.udtf import UserDefinedTableFunction

from headwater.plan import REASONS, KeyProof, NoProof, analysed_tree, prove, prove_fixpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from headwater.runtime import RunSession, SessionRuntime

    Query = str | Callable[[SparkSession], DataFrame]
    Row = tuple[int | None, ...]
    Rows = dict[str, list[Row]]

# All three tables have them.
COLUMNS = ("k", "j", "x")
VALUES = (None, 0, 1, 2)
VIEWS = {
    "v": "SELECT k AS id, j, x FROM a WHERE x > 0 OR x IS NULL",
    "w": "SELECT id, max(x) AS x FROM v GROUP BY id",
}
# One partition and no exchange: a query over a handful of rows takes a tenth of a second.
SETTINGS = {
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
_NUMBERS = count()


def metrics_observed(spark: SparkSession) -> DataFrame:
    # Two observations in one job need two names.
    return spark.table("a").observe(f"seen {next(_NUMBERS)}", F.count(F.lit(1)).alias("n")).select("k", "x")


def one_row_of_each(spark: SparkSession) -> DataFrame:
    return spark.table("a").dropDuplicates(["k", "j"]).select("k", "j")


def by_name_with_columns_missing(spark: SparkSession) -> DataFrame:
    less = spark.table("b").select("x", "k")
    return spark.table("a").unionByName(less, allowMissingColumns=True)


def used_twice(spark: SparkSession) -> DataFrame:
    once = spark.sql("WITH t AS (SELECT k, max(x) AS x FROM a GROUP BY k) SELECT * FROM t")
    both = once.alias("one").join(once.alias("two"), F.col("one.k") == F.col("two.k"))
    return both.select("one.k", "two.x").union(once)


def one_frame_in_a_query(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT k, sum(x) AS x FROM {rows} GROUP BY k", rows=spark.table("a").where("j > 0"))


def pivoted(spark: SparkSession) -> DataFrame:
    return spark.table("a").groupBy("k").pivot("j", [0, 1]).agg(F.sum("x"))


# A query, the key that it declares, what changed, and the columns that the key is traced to.
PROVED: list[tuple[Query, str, str, str]] = [
    # one relation
    ("SELECT * FROM a", "k", "a", "a.k"),
    ("SELECT * FROM a", "K", "A", "A.k"),
    ("SELECT k AS id, x + 1 AS y FROM a WHERE x > 0", "id", "a", "a.k"),
    ("SELECT k, j, x FROM a WHERE k = 1 OR j IS NULL ORDER BY x", "j k", "a", "a.j,k"),
    ("SELECT k, k AS twin, x FROM a", "k twin", "a", "a.k,k"),
    ("SELECT k, max(x) AS x FROM a GROUP BY k HAVING count(*) > 1", "k", "a", "a.k"),
    ("SELECT j AS b, k AS a, count(DISTINCT x) AS n FROM a GROUP BY k, j", "a b", "a", "a.k,j"),
    ("SELECT k, j, count(*) AS n FROM a GROUP BY k, j", "j", "a", "a.j"),
    ("SELECT k, j, sum(x) AS s FROM a GROUP BY k, ROLLUP (j)", "k", "a", "a.k"),
    ("SELECT DISTINCT k, x FROM a", "k", "a", "a.k"),
    (one_row_of_each, "k", "a", "a.k"),
    (pivoted, "k", "a", "a.k"),
    ("SELECT * FROM (SELECT k, j, x FROM a) PIVOT (max(x) FOR j IN (0, 1))", "k", "a", "a.k"),
    ("SELECT k, n, y FROM a UNPIVOT INCLUDE NULLS (y FOR n IN (j, x))", "k", "a", "a.k"),
    ("SELECT k, e FROM a LATERAL VIEW explode(array(j, x)) t AS e", "k", "a", "a.k"),
    ("SELECT k, p, e FROM a LATERAL VIEW OUTER posexplode(array(j, x)) t AS p, e", "k", "a", "a.k"),
    ("SELECT k, sum(x) OVER (PARTITION BY k) AS s FROM a", "k", "a", "a.k"),
    (
        "SELECT k, count(*) OVER (PARTITION BY j, k) AS n, max(x) OVER (PARTITION BY k) AS m FROM a",
        "k",
        "a",
        "a.k",
    ),
    ("SELECT k, p, count(*) OVER (PARTITION BY p) AS n FROM (SELECT k, k AS p FROM a)", "k", "a", "a.k"),
    ("SELECT k, x FROM a QUALIFY rank() OVER (PARTITION BY k ORDER BY x) = 1", "k", "a", "a.k"),
    ("SELECT /*+ REPARTITION(3, x) */ k, x FROM a", "k", "a", "a.k"),
    ("FROM a |> WHERE x > 0 |> AGGREGATE sum(x) AS s GROUP BY k", "k", "a", "a.k"),
    (metrics_observed, "k", "a", "a.k"),
    (one_frame_in_a_query, "k", "a", "a.k"),
    # views and common tables
    ("SELECT * FROM v", "id", "a", "a.k"),
    ("SELECT id, x FROM v", "id", "v", "v.id"),
    ("SELECT id, max(x) AS x FROM v GROUP BY id", "id", "a v", "v.id"),
    ("SELECT id AS k, x FROM w WHERE x > 0", "k", "a", "a.k"),
    ("SELECT w.id, b.x FROM w JOIN b ON w.id = b.k", "id", "a b", "a.k b.k"),
    ("SELECT a.k, w.x FROM a LEFT JOIN w ON a.k = w.id", "k", "a", "a.k"),
    ("WITH t AS (SELECT k AS q, x FROM a) SELECT y.q, z.x FROM t y JOIN t z ON y.q = z.q", "q", "a", "a.k"),
    ("WITH t AS (SELECT k, x FROM a) SELECT k, x FROM t UNION ALL SELECT k, j FROM b", "k", "a", "a.k"),
    (used_twice, "k", "a", "a.k"),
    # joins, the change on one side or on both
    ("SELECT a.k, b.x FROM a JOIN b ON a.j = b.j", "k", "a", "a.k"),
    ("SELECT a.k, b.x FROM a JOIN b ON a.j < b.j", "k", "a", "a.k"),
    ("SELECT a.k, b.x FROM a CROSS JOIN b", "k", "a", "a.k"),
    ("SELECT a.k, n FROM a CROSS JOIN (SELECT count(*) AS n FROM b)", "k", "a", "a.k"),
    ("SELECT a.k, b.x FROM a JOIN b ON a.k = b.k", "k", "a", "a.k"),
    ("SELECT a.k, b.x FROM a JOIN b ON a.k = b.k", "k", "b", "b.k"),
    ("SELECT a.k, b.x FROM a JOIN b ON a.k = b.k AND a.x > b.x", "k", "a b", "a.k b.k"),
    ("SELECT a.k, b.x FROM a JOIN b ON a.k <=> b.j", "k", "a b", "a.k b.j"),
    ("SELECT k, a.x, b.x AS y FROM a JOIN b USING (k)", "k", "a b", "a.k b.k"),
    ("SELECT * FROM (SELECT k, j FROM a) NATURAL JOIN (SELECT k, j, x FROM b)", "k j", "a b", "a.k,j b.k,j"),
    ("SELECT a.k, b.x FROM a, b WHERE a.k = b.k", "k", "a", "a.k"),
    ("SELECT b.k, count(*) OVER (PARTITION BY a.k) AS n FROM a JOIN b ON a.k = b.k", "k", "a b", "a.k b.k"),
    ("SELECT a.k, b.x FROM a LEFT JOIN b ON a.j = b.j", "k", "a", "a.k"),
    ("SELECT a.k, b.x FROM a LEFT JOIN b ON a.k = b.k", "k", "b", "b.k"),
    ("SELECT a.k, b.x FROM a LEFT JOIN b ON a.k = b.k AND b.x > 0", "k", "a b", "a.k b.k"),
    ("SELECT a.k, b.x FROM a LEFT JOIN b ON a.k <=> b.k", "k", "a b", "a.k b.k"),
    ("SELECT b.k, a.x FROM a RIGHT JOIN b ON a.j = b.j", "k", "b", "b.k"),
    ("SELECT b.k, a.x FROM a RIGHT JOIN b ON a.k = b.k", "k", "a", "a.k"),
    ("SELECT k, a.x FROM a RIGHT JOIN b USING (k)", "k", "a b", "a.k b.k"),
    ("SELECT a.k, a.x FROM a LEFT SEMI JOIN b ON a.j = b.j", "k", "a", "a.k"),
    ("SELECT a.k, a.x FROM a LEFT SEMI JOIN b ON a.k = b.k", "k", "b", "b.k"),
    ("SELECT a.k, a.x FROM a LEFT SEMI JOIN b ON a.k <=> b.k", "k", "a b", "a.k b.k"),
    ("SELECT a.k, a.x FROM a LEFT ANTI JOIN b ON a.j = b.j", "k", "a", "a.k"),
    ("SELECT a.k, a.x FROM a LEFT ANTI JOIN b ON a.k = b.k", "k", "b", "b.k"),
    ("SELECT a.k, a.x FROM a LEFT ANTI JOIN b ON a.k = b.k AND a.x = b.x", "k", "a b", "a.k b.k"),
    ("SELECT k, a.x, b.x AS y FROM a FULL JOIN b USING (k)", "k", "a b", "a.k b.k"),
    ("SELECT k, a.x, b.x AS y FROM a FULL JOIN b USING (k)", "k", "b", "b.k"),
    (
        "SELECT coalesce(b.k, a.k) AS k, a.x FROM a FULL JOIN b ON a.k <=> b.k AND a.x < b.x WHERE a.j > 0",
        "k",
        "a b",
        "a.k b.k",
    ),
    (
        "SELECT k, a.x, b.x AS y, c.x AS z FROM a FULL JOIN b USING (k) FULL JOIN c USING (k)",
        "k",
        "a b c",
        "a.k b.k c.k",
    ),
    ("SELECT p.k, q.x FROM a p JOIN a q ON p.k = q.k", "k", "a", "a.k"),
    ("SELECT p.k, q.x FROM a p LEFT JOIN a q ON p.k <=> q.k AND p.j = q.x", "k", "a", "a.k"),
    ("SELECT p.k, n FROM a p JOIN (SELECT k, count(*) AS n FROM a GROUP BY k) q USING (k)", "k", "a", "a.k"),
    ("SELECT p.k, q.x FROM a p JOIN b USING (k) JOIN a q ON b.k = q.k", "k", "a b", "a.k b.k"),
    ("SELECT a.k, n FROM a, LATERAL (SELECT max(x) AS n FROM b WHERE b.j = a.j)", "k", "a", "a.k"),
    # several relations
    ("SELECT k, x FROM a UNION ALL SELECT k, x FROM b", "k", "a", "a.k"),
    ("SELECT k, x FROM a UNION SELECT j, x FROM b", "k", "a b", "a.k b.j"),
    ("SELECT k, x FROM a UNION ALL SELECT 1, count(*) FROM b", "k", "a", "a.k"),
    (by_name_with_columns_missing, "k", "a b", "a.k b.k"),
    ("SELECT k, x FROM a INTERSECT SELECT j, x FROM b", "k", "a b", "a.k b.j"),
    ("SELECT k, x FROM a INTERSECT ALL SELECT k, x FROM b", "x", "a", "a.x"),
    ("SELECT k, x FROM a EXCEPT SELECT k, x FROM b", "k", "b", "b.k"),
    ("SELECT k, x FROM a EXCEPT ALL SELECT k, x FROM b", "k x", "a b", "a.k,x b.k,x"),
    # subqueries over what did not change
    ("SELECT k, x FROM a WHERE x > (SELECT min(x) FROM b)", "k", "a", "a.k"),
    ("SELECT k, x FROM a WHERE j IN (SELECT j FROM b)", "k", "a", "a.k"),
    ("SELECT k, x FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x)", "k", "a", "a.k"),
    ("SELECT k, (SELECT max(x) FROM b WHERE b.j = a.j) AS m FROM a", "k", "a", "a.k"),
    # whatever is done with what did not change
    (
        "SELECT a.k, b.x FROM a JOIN (SELECT * FROM b ORDER BY k DESC, j, x LIMIT 2) b USING (k)",
        "k",
        "a",
        "a.k",
    ),
    ("SELECT k + 1 AS k FROM b LIMIT 1", "k", "a", ""),
]


@dataclass(frozen=True)
class Refused:
    """A query that is refused if `changed` changed, though its key `k` looks like the column k of them."""

    query: Query
    changed: str
    code: str

    def __str__(self) -> str:
        query = self.query if isinstance(self.query, str) else self.query.__name__
        return f"{self.code} {self.changed} {query}"


def one_row_of_each_other(spark: SparkSession) -> DataFrame:
    return spark.table("a").dropDuplicates(["j"]).select("k", "x")


# Each of them breaks the law.
BREAKING = [
    Refused("SELECT max(k) AS k, sum(x) AS s FROM a", "a", "global-aggregate"),
    Refused("SELECT j, max(k) AS k FROM a GROUP BY j", "a", "group-not-by-key"),
    Refused(one_row_of_each_other, "a", "group-not-by-key"),
    Refused("SELECT k, x FROM a ORDER BY k, j, x LIMIT 2", "a", "limit"),
    Refused("SELECT k, x FROM a ORDER BY k, j, x OFFSET 2", "a", "limit"),
    Refused("SELECT k, x FROM a TABLESAMPLE (50 PERCENT) REPEATABLE (1)", "a", "sample"),
    Refused("SELECT k + 1 AS k, x FROM a", "a", "key-computed"),
    Refused("SELECT coalesce(k, 0) AS k, x FROM a", "a", "key-computed"),
    Refused("SELECT 1 AS k, x FROM a", "a", "key-computed"),
    Refused("SELECT k % 2 AS k, count(*) AS n FROM a GROUP BY k % 2", "a", "key-computed"),
    Refused("SELECT e AS k, x FROM a LATERAL VIEW explode(array(j, x)) t AS e", "a", "key-computed"),
    Refused("SELECT rank() OVER (PARTITION BY j ORDER BY x) AS k, x FROM a", "a", "key-computed"),
    Refused("SELECT k, sum(x) OVER (PARTITION BY j) AS s FROM a", "a", "window-not-by-key"),
    Refused("SELECT k, count(*) OVER () AS n FROM a", "a", "window-not-by-key"),
    Refused(
        "SELECT k, max(x) OVER (PARTITION BY k) AS m, max(x) OVER (PARTITION BY k % 2) AS n FROM a",
        "a",
        "window-not-by-key",
    ),
    Refused("SELECT k, sum(x) AS s FROM a GROUP BY ROLLUP (k)", "a", "expand"),
    Refused("SELECT k, j, sum(x) AS s FROM a GROUP BY CUBE (k, j)", "a", "expand"),
    Refused("SELECT a.k, b.x FROM a JOIN b ON a.j = b.j", "b", "join-not-on-key"),
    Refused("SELECT a.k, b.x FROM a JOIN b ON a.j = b.j", "a b", "join-not-on-key"),
    Refused("SELECT a.k, b.x FROM a JOIN b ON a.k < b.k", "a b", "join-not-on-key"),
    Refused("SELECT a.k, b.x FROM a JOIN b ON a.k = b.k OR a.j = b.j", "b", "join-not-on-key"),
    Refused("SELECT a.k, b.x FROM a JOIN b ON a.k = b.k + 1", "b", "join-not-on-key"),
    Refused("SELECT a.k, b.x FROM a CROSS JOIN b", "b", "join-not-on-key"),
    Refused("SELECT a.k, n FROM a CROSS JOIN (SELECT count(*) AS n FROM b)", "b", "join-not-on-key"),
    Refused("SELECT a.k, b.x FROM a LEFT JOIN b ON a.j = b.j", "b", "join-not-on-key"),
    Refused("SELECT b.k, a.x FROM a RIGHT JOIN b ON a.j = b.j", "a", "join-not-on-key"),
    Refused("SELECT a.k, a.x FROM a LEFT SEMI JOIN b ON a.j = b.j", "b", "join-not-on-key"),
    Refused("SELECT a.k, a.x FROM a LEFT ANTI JOIN b ON a.j = b.j", "b", "join-not-on-key"),
    Refused("SELECT b.k, a.x FROM a LEFT JOIN b ON a.k = b.k", "a", "outer-join-key"),
    Refused("SELECT b.k, a.x FROM a LEFT JOIN b ON a.k = b.k", "b", "outer-join-key"),
    Refused("SELECT a.k, b.x FROM a RIGHT JOIN b ON a.k = b.k", "a b", "outer-join-key"),
    Refused("SELECT a.k, b.x FROM a FULL JOIN b ON a.k = b.k", "a", "outer-join-key"),
    Refused("SELECT b.k, a.x FROM a FULL JOIN b ON a.k = b.k", "a", "outer-join-key"),
    Refused("SELECT coalesce(a.k, b.k) AS k, a.x FROM a FULL JOIN b ON a.j = b.j", "a b", "key-computed"),
    Refused("SELECT p.k, q.x FROM a p JOIN a q ON p.k = q.j", "a", "two-columns"),
    Refused("SELECT k, x FROM a UNION ALL SELECT j, x FROM a", "a", "two-columns"),
    Refused("SELECT k, x FROM a UNION ALL SELECT 1, x FROM b", "b", "key-computed"),
    Refused("SELECT k, x FROM a EXCEPT SELECT k + 1, x FROM b", "b", "key-computed"),
    Refused("SELECT k, x FROM a WHERE x = (SELECT max(x) FROM a)", "a", "subquery"),
    Refused("SELECT k, (SELECT max(x) FROM b) AS m FROM a", "b", "subquery"),
    Refused("SELECT k, x FROM a WHERE k IN (SELECT j FROM b)", "b", "subquery"),
    Refused("SELECT k, x FROM a WHERE k NOT IN (SELECT k FROM b)", "b", "subquery"),
    Refused("SELECT k, x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.j = a.j)", "b", "subquery"),
    Refused("SELECT a.k, n FROM a, LATERAL (SELECT max(x) AS n FROM b WHERE b.j = a.j)", "b", "subquery"),
    Refused("SELECT k, max(x > (SELECT max(x) FROM b)) AS m FROM a GROUP BY k", "b", "subquery"),
    Refused(
        """WITH RECURSIVE t (k, n) AS (SELECT k, 0 FROM a
          UNION ALL SELECT a.j, n + 1 FROM t JOIN a ON a.k = t.k WHERE n < 2) SELECT k, n FROM t""",
        "a",
        "recursion",
    ),
]
# The law holds, and the proof does not see it.
CAUTIOUS = [
    Refused("SELECT CAST(k AS BIGINT) AS k, x FROM a", "a", "key-computed"),
    Refused(
        "SELECT a.k, b.x FROM a JOIN b ON CAST(a.k AS BIGINT) = CAST(b.k AS BIGINT)", "b", "join-not-on-key"
    ),
    Refused("SELECT k, x FROM a WHERE k IN (SELECT k FROM b)", "b", "subquery"),
    Refused("SELECT k, x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k)", "b", "subquery"),
    Refused("SELECT k, (SELECT max(x) FROM b WHERE b.k = a.k) AS m FROM a", "b", "subquery"),
    Refused("SELECT a.k, n FROM a, LATERAL (SELECT max(x) AS n FROM b WHERE b.k = a.k)", "b", "subquery"),
]


def _dice(*seed: object) -> int:
    """A number that looks like any other and is the same every time."""
    return int.from_bytes(hashlib.blake2b(repr(seed).encode(), digest_size=8).digest(), "big")


def _row(*seed: object) -> Row:
    return tuple(VALUES[_dice(*seed, column) % len(VALUES)] for column in COLUMNS)


@dataclass(frozen=True)
class Trial:
    """A set of keys; tables, only their rows with these keys, and tables that differ in such rows."""

    keys: frozenset[Row]
    before: Rows
    only: Rows
    after: Rows


def _trial(number: int, traces: Mapping[str, Sequence[int]]) -> Trial:
    """Tables of some rows each, some of them twice; `traces` has the places of their keys."""
    width = max(map(len, traces.values()), default=1)
    keys = frozenset(each for each in product(VALUES, repeat=width) if _dice(number, each) % 2)
    before = {
        name: [_row(number, name, place // 2 if place % 5 == 1 else place) for place in range(2 + 3 * number)]
        for name in ("a", "b", "c", *(set(traces) - {"a", "b", "c"}))
    }
    only, after = dict(before), dict(before)
    for name, places in traces.items():

        def is_in(row: Row, places: Sequence[int] = places) -> bool:
            return tuple(row[place] for place in places) in keys

        others = filter(is_in, (_row(number, name, "new", place) for place in range(8)))
        only[name] = [row for row in before[name] if is_in(row)]
        after[name] = [row for row in before[name] if not is_in(row)] + list(others)
    return Trial(keys, before, only, after)


@dataclass
class Bench:
    """A session in which tables have the rows that they are given."""

    session: RunSession
    frames: dict[tuple[Row, ...], DataFrame]

    def proof(self, query: Query, key: str, changed: str) -> KeyProof | NoProof:
        return prove(analysed_tree(self.frame(query), opens_views=True), key.split(), changed.split())

    def frame(self, query: Query) -> DataFrame:
        spark = self.session.spark
        return spark.sql(query) if isinstance(query, str) else query(spark)

    def show(self, tables: Rows) -> None:
        for name, rows in tables.items():
            frame = self._rows(tuple(rows))
            named = frame.withColumnRenamed("k", "id") if name == "v" else frame
            named.createOrReplaceTempView(name)

    def views(self) -> None:
        for name, sql in VIEWS.items():
            self.session.spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {sql}")

    def _rows(self, rows: tuple[Row, ...]) -> DataFrame:
        if rows not in self.frames:
            listed = (", ".join("INT(NULL)" if each is None else str(each) for each in row) for row in rows)
            values = ", ".join(f"({each})" for each in listed) or "(0, 0, 0)"
            sql = f"SELECT * FROM VALUES {values} AS t({', '.join(COLUMNS)})"
            self.frames[rows] = self.session.spark.sql(sql if rows else f"{sql} WHERE false")
        return self.frames[rows]

    def broken(
        self,
        query: Query,
        key: str,
        traces: Mapping[str, Sequence[int]],
        trials: range,
        *,
        is_law: bool = True,
    ) -> list[str]:
        """Where the law does not hold; if it is one, there has to be something for it to hold of."""
        made = [_trial(number, traces) for number in trials]
        versions = [each for trial in made for each in (trial.before, trial.only, trial.after)]
        columns, found = self._run(query, versions)
        places = [columns.index(each.lower()) for each in key.split()]
        wrong: list[str] = []
        some = False
        for number, trial in enumerate(made):
            before, only, after = found[3 * number : 3 * number + 3]

            def kept(rows: list[Row], *, inside: bool, keys: frozenset[Row] = trial.keys) -> Counter[Row]:
                return Counter(row for row in rows if (tuple(row[p] for p in places) in keys) == inside)

            some = some or bool(kept(before, inside=True))
            if kept(before, inside=True) != kept(only, inside=True):
                wrong.append(f"{trial.keys} of {trial.before}: {only}, not {before}")
            if kept(before, inside=False) != kept(after, inside=False):
                wrong.append(f"not {trial.keys} of {trial.before} and {trial.after}: {before} and {after}")
        assert some or wrong or not is_law, "a law about nothing proves nothing"
        return wrong

    def _run(self, query: Query, versions: list[Rows]) -> tuple[list[str], list[list[Row]]]:
        """The rows of a query over each version of the tables, all found by one job."""
        frames: list[DataFrame] = []
        for number, tables in enumerate(versions):
            self.show(tables)
            frames.append(self.frame(query).selectExpr(f"{number} AS number", "*"))
        found: list[list[Row]] = [[] for _ in versions]
        for row in reduce(lambda one, two: one.union(two), frames).collect():
            values = cast("Row", tuple(row))
            found[values[0] or 0].append(values[1:])
        return [each.lower() for each in frames[0].columns[1:]], found


@pytest.fixture(scope="module")
def bench(runtime: SessionRuntime) -> Generator[Bench]:
    with runtime.checkout() as session:
        for key, value in SETTINGS.items():
            session.spark.conf.set(key, value)
        found = Bench(session, {})
        found.show(_trial(1, {}).before)
        found.views()
        yield found


def _expected(text: str) -> dict[str, tuple[str, ...]]:
    parts = (each.partition(".") for each in text.split())
    return {name: tuple(columns.split(",")) for name, _, columns in parts}


@pytest.mark.parametrize(("query", "key", "changed", "traces"), PROVED)
def test_a_proof_and_its_law(bench: Bench, query: Query, key: str, changed: str, traces: str) -> None:
    expected = _expected(traces)
    assert bench.proof(query, key, changed) == KeyProof(tuple(key.split()), expected)
    places = {
        name.lower(): [0 if each == "id" else COLUMNS.index(each) for each in columns]
        for name, columns in expected.items()
    }
    try:
        assert bench.broken(query, key, places, range(2, 5)) == []
    finally:
        if "v" in places:
            bench.views()


@pytest.mark.parametrize("refused", BREAKING, ids=str)
def test_what_is_refused_would_break_the_law(bench: Bench, refused: Refused) -> None:
    found = bench.proof(refused.query, "k", refused.changed)
    assert isinstance(found, NoProof)
    assert found.code == refused.code
    assert found.operator
    places = {name: [0] for name in refused.changed.split()}
    assert any(bench.broken(refused.query, "k", places, range(n, n + 2), is_law=False) for n in (1, 3, 5, 7))


@pytest.mark.parametrize("refused", CAUTIOUS, ids=str)
def test_what_is_refused_for_caution(bench: Bench, refused: Refused) -> None:
    found = bench.proof(refused.query, "k", refused.changed)
    assert isinstance(found, NoProof)
    assert found.code == refused.code
    places = {name: [0] for name in refused.changed.split()}
    assert bench.broken(refused.query, "k", places, range(2, 5)) == []


# --- functions in Python ---------------------------------------------------------------------------------


def _swapped(table: pa.Table) -> pa.Table:
    return table.select(["j", "x"]).rename_columns(["k", "x"])


def test_groups_that_a_function_makes_into_rows_may_have_any_key(bench: Bench) -> None:
    def query(spark: SparkSession) -> DataFrame:
        return spark.table("a").groupBy("k").applyInArrow(_swapped, "k INT, x INT")

    found = bench.proof(query, "k", "a")
    assert isinstance(found, NoProof)
    assert (found.code, found.operator) == ("python-operator", "FlatMapGroupsInArrow")
    assert bench.broken(query, "k", {"a": [0]}, range(4, 5))


def test_functions_that_see_many_rows_are_refused(bench: Bench) -> None:
    def mapped(spark: SparkSession) -> DataFrame:
        return spark.table("a").mapInArrow(lambda batches: batches, "k INT, j INT, x INT")

    queries: list[Query] = [mapped, "SELECT TRANSFORM (k, x) USING 'cat' AS (k, x) FROM a"]
    found = [bench.proof(each, "k", "a") for each in queries]
    assert [getattr(each, "code", None) for each in found] == ["python-operator"] * 2


def test_a_table_function_in_python_may_remember_rows(bench: Bench) -> None:
    class Counting:
        def eval(self, x: int) -> Iterator[tuple[int]]:
            yield (x,)

    function = UserDefinedTableFunction(Counting, "n INT")
    bench.session.spark.udtf.register("counting", function)
    found = bench.proof("SELECT k, n FROM a, LATERAL counting(x)", "k", "a")
    assert getattr(found, "code", None) == "python-operator"


# --- views that are made of themselves ---------------------------------------------------------------------

# Steps over `s`, their own rows so far. Whatever is a key in one step is one in the end.
OF_KEYS = [
    "SELECT k, j, x FROM a UNION SELECT s.k, a.x, s.x FROM s JOIN a ON s.k <=> a.k AND s.j = a.j",
    "SELECT k, j, x FROM a UNION SELECT p.k, q.x, p.j FROM s p JOIN s q ON p.k = q.k AND p.j <=> q.j",
    "SELECT k, j, x FROM a UNION SELECT k, max(j), min(x) FROM s GROUP BY k HAVING count(*) < 3",
    "SELECT DISTINCT k, j, x FROM a",
]
# And why there is no proof: rows of a key come from those of others.
ACROSS_KEYS = {
    "SELECT k, j, x FROM a UNION SELECT j, k, x FROM s": "fixpoint",
    "SELECT k, j, x FROM a UNION SELECT a.k, s.j, s.x FROM s JOIN a ON s.k = a.j": "join-not-on-key",
}


def _fixpoint(bench: Bench, step: str, tables: Rows) -> set[Row]:
    found: set[Row] = set()
    while True:
        bench.show({**tables, "s": sorted(found, key=str)})
        made = {cast("Row", tuple(row)) for row in bench.frame(step).collect()}
        if made <= found:
            return found
        found |= made


def _of_keys(bench: Bench, step: str, number: int) -> tuple[set[Row], set[Row]]:
    """The rows of some keys, as all rows give them, and as those of the keys do."""
    trial = _trial(number, {"a": [0]})
    whole, only = (_fixpoint(bench, step, each) for each in (trial.before, trial.only))
    assert {row[0] for row in whole} - {key for (key,) in trial.keys}
    return {row for row in whole if row[:1] in trial.keys}, {row for row in only if row[:1] in trial.keys}


@pytest.mark.parametrize("step", OF_KEYS)
def test_a_proof_for_a_fixpoint_and_its_law(bench: Bench, step: str) -> None:
    bench.show({"s": []})
    tree = analysed_tree(bench.frame(step))
    assert prove_fixpoint(tree, "S", ["K"], ["a", "b"]) == KeyProof(("K",), {"a": ("k",)})
    whole, only = _of_keys(bench, step, 4)
    assert whole
    assert whole == only


@pytest.mark.parametrize("step", ACROSS_KEYS)
def test_a_fixpoint_across_keys_would_break_the_law(bench: Bench, step: str) -> None:
    bench.show({"s": []})
    found = prove_fixpoint(analysed_tree(bench.frame(step)), "s", ["k"], ["a"])
    assert isinstance(found, NoProof)
    assert found.code == ACROSS_KEYS[step]
    assert found.code in REASONS
    whole, only = _of_keys(bench, step, 4)
    assert whole != only


# --- keys ------------------------------------------------------------------------------------------------


def test_keys_that_are_none(bench: Bench) -> None:
    found = {
        "no-key": bench.proof("SELECT * FROM a", "", "a"),
        "key-not-in-output": bench.proof("SELECT k FROM a", "k j", "a"),
        "key-not-comparable": bench.proof("SELECT map(k, x) AS m FROM a", "m", "a"),
    }
    assert {code: getattr(each, "code", None) for code, each in found.items()} == {
        code: code for code in found
    }
    twice = bench.proof("SELECT a.k, b.k FROM a JOIN b ON a.k = b.k", "k", "a")
    assert twice == NoProof("key-not-in-output", "", "the view has 2 columns named k")


def test_reasons_are_for_people(bench: Bench) -> None:
    assert {each.code for each in (*BREAKING, *CAUTIOUS)} <= set(REASONS)
    found = bench.proof("SELECT p.k, q.x FROM a p JOIN a q ON p.k = q.j", "k", "a")
    assert found == NoProof("two-columns", "Join", "the key is j and k of a, which is read more than once")
