from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from headwater.functions import FUNCTIONS
from headwater.plan.catalyst import analysed_tree
from headwater.plan.offences import search

if TYPE_CHECKING:
    from headwater.runtime import RunSession

# `t` has no key; `keyed` has k.
KEYS = {"keyed": (("k",),)}
OVER = "SELECT {} AS o FROM t"
FOUND = {
    # clocks
    "SELECT current_date(), current_date, curdate() FROM t": ["clock"] * 3,
    "SELECT now(), localtimestamp(), current_time(), unix_timestamp() FROM t": ["clock"] * 4,
    "SELECT date'today', timestamp 'now', timestamp_ntz\"Tomorrow\" FROM t": ["clock"] * 3,
    "SELECT cast('now' AS timestamp), to_date('today'), try_to_timestamp('now') FROM t": ["clock"] * 3,
    "SELECT x FROM t WHERE ts > 'yesterday' OR cast(concat('to', 'day') AS date) IS NULL": ["clock"] * 2,
    "SELECT * FROM VALUES (current_timestamp()) AS v(x)": ["clock"],
    "SELECT (SELECT max(k) FROM keyed WHERE now() > ts) FROM t": ["clock"],
    "WITH c AS (SELECT now() AS n FROM t) SELECT a.n FROM c a, c b": ["clock"],
    "SELECT transform(a, e -> e + rand()) FROM t": ["random"],
    "SELECT date'2026-01-01', timestamp'epoch', cast(s AS date), to_date('2026-01-01'), 'now', "
    "try_cast('unknown' AS date) FROM t": [],
    "SELECT keyed.k FROM keyed JOIN keyed AS b USING (k) WHERE b.k > 1": [],
    # chance
    "SELECT rand(), randn(3), randstr(3, 0), uniform(1, 3, 0) FROM t": ["random"] * 4,
    "SELECT uuid(), shuffle(a), spark_partition_id(), monotonically_increasing_id() FROM t": [
        *("uuid", "shuffle", "partition-id", "row-id")
    ],
    "SELECT * FROM t TABLESAMPLE (10 PERCENT)": ["sample"],
    "SELECT * FROM t TABLESAMPLE (3 ROWS)": ["limit-without-order"],
    "SELECT input_file_name(), input_file_block_start(), input_file_block_length() FROM t": [
        *("file-metadata", "file-metadata", "file-metadata")
    ],
    "SELECT try_reflect('java.util.UUID', 'randomUUID') FROM t": ["reflect"],
    "SELECT java_method('java.util.UUID', 'randomUUID') FROM t": ["reflect"],
    "SELECT current_user(), user(), current_catalog(), current_database(), version() FROM t": ["session"] * 5,
    "SELECT aes_encrypt(s, 'k', 'CBC'), aes_encrypt(s, 'k', 'ECB') FROM t": ["random"],
    "SELECT aes_encrypt(s, 'k', 'CBC', 'DEFAULT', 'vector') FROM t": [],
    # limits
    "SELECT * FROM t LIMIT 3 OFFSET 2": ["limit-without-order"],
    "SELECT * FROM (SELECT * FROM t ORDER BY k) WHERE x > 1 OFFSET 2": ["tie"],
    "SELECT x FROM (SELECT * FROM keyed ORDER BY k) WHERE x > 1 LIMIT 2": [],
    "WITH o AS (SELECT * FROM keyed ORDER BY k) SELECT * FROM o LIMIT 2": ["limit-without-order"],
    "WITH o AS (SELECT * FROM keyed) SELECT * FROM o ORDER BY k LIMIT 2": [],
    "SELECT * FROM (SELECT * FROM keyed ORDER BY k) JOIN t USING (k) LIMIT 2": ["limit-without-order"],
    "SELECT * FROM keyed SORT BY k LIMIT 2": ["limit-without-order"],
    "SELECT * FROM t LIMIT 0": [],
    "SELECT count(*) FROM t LIMIT 2": [],
    "SELECT 1 AS one FROM t LIMIT 2": [],
    "SELECT k FROM t WHERE EXISTS (SELECT x FROM keyed WHERE keyed.k = t.k LIMIT 1)": [],
    "SELECT k FROM t WHERE EXISTS (SELECT x FROM (SELECT * FROM t LIMIT 2) WHERE x > 1)": [
        "limit-without-order"
    ],
    "SELECT k FROM t WHERE k IN (SELECT x FROM keyed LIMIT 1)": ["limit-without-order"],
    "SELECT (SELECT x FROM t ORDER BY ts LIMIT 1)": ["tie"],
    "SELECT x, s FROM t ORDER BY s, x LIMIT 2": [],
    "SELECT upper(s) FROM t ORDER BY s LIMIT 2": [],
    "SELECT upper(s), x + 1 FROM t ORDER BY s LIMIT 2": ["tie"],
    "SELECT d FROM t ORDER BY d LIMIT 2": ["tie"],  # zero and minus zero tie
    "SELECT k, count(*) AS n FROM t GROUP BY k ORDER BY n, k LIMIT 2": [],
    "SELECT k, count(*) AS n FROM t GROUP BY k ORDER BY n LIMIT 2": ["tie"],
    # windows
    OVER.format("row_number() OVER (PARTITION BY k ORDER BY x)"): [],  # rows that tie are alike
    "SELECT s, row_number() OVER (PARTITION BY k ORDER BY x) AS o FROM t": ["tie"],
    "SELECT s, row_number() OVER (PARTITION BY x ORDER BY k) AS o FROM keyed": [],
    "SELECT s, ntile(2) OVER (ORDER BY x), lead(s) OVER (ORDER BY x), nth_value(s, 2) OVER (ORDER BY x) "
    "FROM t": ["tie"] * 3,
    "SELECT s, rank() OVER (ORDER BY x), dense_rank() OVER (ORDER BY x), percent_rank() OVER (ORDER BY x), "
    "cume_dist() OVER (ORDER BY x), sum(x) OVER (ORDER BY x), max(s) OVER (PARTITION BY x) FROM t": [],
    "SELECT s, count(*) OVER (ORDER BY x ROWS 2 PRECEDING) FROM t": ["tie"],
    "SELECT s, last_value(s) OVER (ORDER BY x), collect_list(s) OVER (PARTITION BY x) FROM t": [
        *("tie", "unordered-collection")
    ],
    "SELECT s, avg(d) OVER (ORDER BY x ROWS 2 PRECEDING) FROM t": ["float-aggregate", "tie"],
    "SELECT s, avg(d) OVER (ORDER BY k ROWS 2 PRECEDING) FROM keyed": [],
    # aggregates
    "SELECT sum(x), sum(cast(d AS decimal(38, 6))), avg(cast(x AS smallint)), min(d), max(d), count(d) "
    "FROM t": [],
    "SELECT sum(d), try_sum(d), avg(x), stddev(x), corr(x, d), regr_slope(x, d), regr_count(x, d) FROM t": (
        ["float-aggregate"] * 6
    ),
    "SELECT percentile(d, 0.5), median(d), approx_count_distinct(d), bit_xor(x), bool_or(x > 1) FROM t": [],
    "SELECT approx_percentile(d, 0.5), approx_top_k(s), hll_sketch_agg(x) FROM t": ["sketch"] * 3,
    "SELECT first(x), last(x), any_value(x), array_agg(x), listagg(s), mode(x) FROM t": (
        ["unordered-collection"] * 6
    ),
    "SELECT k, first(k), max_by(x, struct(ts, x)) FROM t GROUP BY k": [],
    "SELECT k, max_by(x, ts), max_by(x, ts, 2), min_by(x, ts) FROM t GROUP BY k": ["tie"] * 3,
    "SELECT k, max_by(x, ts), first(s), sum(d), collect_list(x) FROM keyed GROUP BY k": [],
    "SELECT x, max_by(s, k) FROM keyed GROUP BY x": [],
    "SELECT listagg(s) WITHIN GROUP (ORDER BY s), listagg(s) WITHIN GROUP (ORDER BY x) FROM t": ["tie"],
    "SELECT listagg(s) WITHIN GROUP (ORDER BY k) FROM keyed": [],
    # arrays whose order is forgotten
    "SELECT sort_array(collect_list(x)), array_sort(array_distinct(collect_list(x))) FROM t": [],
    "SELECT size(collect_set(x)), array_contains(collect_list(x), 1), array_max(collect_list(x)) FROM t": [],
    "SELECT sort_array(transform(collect_list(x), e -> e + 1)) FROM t": [],
    "SELECT sort_array(transform(collect_list(x), (e, i) -> e + i)) FROM t": ["unordered-collection"],
    "SELECT array_sort(collect_list(x), (l, r) -> case when l < r then -1 when l > r then 1 else 0 end) "
    "FROM t": ["unordered-collection"],
    "SELECT sort_array(l) AS l FROM (SELECT k, collect_list(x) AS l FROM t GROUP BY k) WHERE size(l) > 1": [],
    "SELECT l, sort_array(l) AS m FROM (SELECT k, collect_list(x) AS l FROM t GROUP BY k)": [
        "unordered-collection"
    ],
    "SELECT l[0] AS m FROM (SELECT k, collect_list(x) AS l FROM t GROUP BY k)": ["unordered-collection"],
    # collations
    "SELECT c, count(*) FROM l GROUP BY c": ["tie"],
    "SELECT DISTINCT struct(c) FROM l": ["tie"],
    "SELECT c FROM l UNION SELECT c FROM l": ["tie"],
    "SELECT max(c), min(lower(b)) FROM l": ["tie"],
    "SELECT c FROM l ORDER BY c LIMIT 1": ["tie"],
    "SELECT max_by(c, c), max_by(b, struct(c, b)) FROM l": ["tie"],
    "SELECT b, count(*) FROM l WHERE c = 'x' GROUP BY b": [],
    "SELECT b, max(c) OVER (PARTITION BY b) FROM l": ["tie"],
    # subqueries
    "SELECT (SELECT collect_list(x) FROM t) AS l FROM t": ["unordered-collection"],
    "SELECT (SELECT sort_array(collect_list(x)) FROM t) AS l FROM t": [],
    "SELECT (SELECT e.x + t.k FROM t e WHERE e.x = t.x ORDER BY e.s LIMIT 1) FROM t": ["tie"],
    "SELECT (SELECT e.x + t.k FROM keyed e WHERE e.x = t.x ORDER BY e.k LIMIT 1) FROM t": [],
    "SELECT (SELECT max_by(s, x) FROM t e WHERE e.k = t.k) FROM t": ["tie"],
    "SELECT l FROM (SELECT collect_list(x) AS l FROM t) WHERE EXISTS (SELECT 1 FROM t WHERE s = l[0])": [
        "unordered-collection"
    ],
    # others
    "SELECT DISTINCT x, s FROM t UNION ALL SELECT x, s FROM keyed ORDER BY s": [],
    "SELECT * FROM (SELECT k, x, d FROM t) PIVOT (max(d) FOR x IN (1, 2))": [],
}


def _register(session: RunSession) -> None:
    columns = (
        "id AS k, id AS x, cast(id AS double) AS d, cast(id AS string) AS s, array(id) AS a, "
        "timestamp_micros(id) AS ts"
    )
    for name in ("t", "keyed"):
        session.spark.range(3).selectExpr(*columns.split(", ")).createOrReplaceTempView(name)
    session.spark.sql("SELECT 'x' AS b, 'x' COLLATE UTF8_LCASE AS c FROM range(3)").createOrReplaceTempView(
        "l"
    )


def _rules(frame: Any, declared: tuple[str, ...] = ()) -> list[str]:
    return [each.rule for each in search(analysed_tree(frame), KEYS, declared).found]


def test_what_is_found_in_queries(session: RunSession) -> None:
    _register(session)
    found = {sql: sorted(_rules(session.spark.sql(sql))) for sql in FOUND}
    assert found == {sql: sorted(rules) for sql, rules in FOUND.items()}


def test_a_function_in_python_is_found_unless_it_is_declared(session: RunSession) -> None:
    _register(session)

    def twice(number: int) -> int:
        return number * 2

    def same(batches: Any) -> Any:
        return batches

    session.spark.udf.register("twice", twice, "bigint")
    called = session.spark.sql("SELECT twice(x) AS y FROM t WHERE twice(k) > 1")
    mapped = session.spark.table("t").mapInArrow(same, "k bigint")
    assert _rules(called) == ["python-function", "python-function"]
    assert _rules(called, ("twice",)) == []
    assert _rules(mapped) == ["python-function"]
    assert _rules(mapped, ("same",)) == []


def test_operators_that_only_frames_have(session: RunSession) -> None:
    _register(session)
    t, keyed = session.spark.table("t"), session.spark.table("keyed")
    assert _rules(t.sample(0.5, seed=1)) == ["sample"]
    assert _rules(t.zipWithIndex()) == ["row-id"]
    assert _rules(t.dropDuplicates(["k"])) == ["tie"]
    assert _rules(keyed.dropDuplicates(["k", "x"])) == []
    assert _rules(t.distinct()) == []
    assert _rules(t.orderBy("x").limit(3)) == ["tie"]
    assert _rules(t.groupBy("k").agg(F.collect_list("x").alias("l")).withColumn("l", F.sort_array("l"))) == []
    assert _rules(t.observe("seen", F.sum("d").alias("s"))) == []


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_the_functions_of_the_catalogue_are_steady(session: RunSession, function: Any) -> None:
    workers = tuple(each.worker.__name__ for each in FUNCTIONS if each.worker is not None)
    for each in function.examples:
        assert _rules(session.spark.sql(each.sql), workers) == []


def test_a_column_of_files_is_found(session: RunSession, tmp_path: object) -> None:
    session.spark.range(3).write.parquet(f"{tmp_path}/p")
    frame = session.spark.read.parquet(f"{tmp_path}/p").select("id", "_metadata.file_name")
    assert "file-metadata" in _rules(frame)
