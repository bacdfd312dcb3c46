from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.errors import NotInAView, SqlSyntax, UnpinnedRead
from headwater.origin import Origin
from headwater.plan import analysed_tree, names_in_analysed, names_in_parsed, names_read_whole, parsed_tree

if TYPE_CHECKING:
    from headwater.runtime import RunSession

QUERIES = {
    "SELECT * FROM a": ("a",),
    "SELECT * FROM a JOIN b USING (k) LEFT JOIN c ON a.k = c.k": ("a", "b", "c"),
    "SELECT (SELECT max(x) FROM b) FROM a WHERE EXISTS (SELECT 1 FROM c WHERE c.k = a.k)": ("a", "b", "c"),
    "SELECT * FROM a WHERE k IN (SELECT k FROM b) UNION ALL SELECT * FROM c": ("a", "b", "c"),
    "WITH x AS (SELECT * FROM a), y AS (SELECT * FROM x JOIN b) SELECT * FROM y": ("a", "b"),
    "WITH a AS (SELECT * FROM a) SELECT * FROM a": ("a",),
    "WITH x AS (WITH z AS (SELECT * FROM a) SELECT * FROM z) SELECT * FROM x, z": ("a", "z"),
    "SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) JOIN x": ("x",),
    "SELECT * FROM a LATERAL VIEW explode(tags) t AS tag": ("a",),
    "SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.k = a.k)": ("a", "b"),
    "SELECT * FROM a PIVOT (sum(x) FOR y IN (1, 2))": ("a",),
    "SELECT transform(array(1), x -> x + 1) FROM A TABLESAMPLE (10 PERCENT)": ("A",),
    "SELECT * FROM VALUES (1) AS t(x)": (),
    "FROM a |> WHERE x > 1 |> JOIN b USING (k)": ("a", "b"),
    "SELECT * FROM range(3)": (),
    "WITH RECURSIVE r AS (SELECT x FROM a UNION ALL SELECT x + 1 FROM r WHERE x < 3) SELECT * FROM r": ("a",),
    "TABLE a": ("a",),
}


@pytest.mark.parametrize("sql", QUERIES)
def test_the_names_that_a_query_reads(session: RunSession, sql: str) -> None:
    assert names_in_parsed(parsed_tree(session, sql, "v"), "v") == QUERIES[sql]


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM delta.`/x`", "SELECT * FROM other.db.t", "SELECT * FROM parquet.`/x`"]
)
def test_a_path_or_another_catalog_is_refused(session: RunSession, sql: str) -> None:
    with pytest.raises(UnpinnedRead):
        names_in_parsed(parsed_tree(session, sql, "v"), "v")


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE a",
        "INSERT INTO a SELECT 1",
        "WITH x AS (SELECT 1) INSERT INTO a SELECT * FROM x",
        "CREATE TABLE a (x INT)",
        "SET spark.sql.ansi.enabled = false",
        "DELETE FROM a",
        "MERGE INTO a USING b ON a.k = b.k WHEN MATCHED THEN DELETE",
        "CACHE TABLE a",
        "SHOW TABLES",
    ],
)
def test_a_command_is_no_view(session: RunSession, sql: str) -> None:
    with pytest.raises(NotInAView, match="command"):
        parsed_tree(session, sql, "v")


def test_a_syntax_error_has_the_files_line(session: RunSession) -> None:
    with pytest.raises(SqlSyntax) as caught:
        parsed_tree(session, "SELECT 1\nFROM a\nWHERE )", "v", Origin("views/v.sql", 1))
    assert caught.value.origin == Origin("views/v.sql", 3)
    assert caught.value.condition == "PARSE_SYNTAX_ERROR"


def test_two_statements_are_a_syntax_error(session: RunSession) -> None:
    with pytest.raises(SqlSyntax):
        parsed_tree(session, "SELECT 1; DROP TABLE a", "v")


def test_an_analysed_plan_reads_registered_names_and_stops_there(session: RunSession) -> None:
    session.spark.range(3).selectExpr("id", "id AS k").createOrReplaceTempView("orders")
    session.spark.sql("SELECT * FROM orders WHERE id > 0").createOrReplaceTempView("big")
    frame = session.spark.sql(
        "WITH c AS (SELECT * FROM big) "
        "SELECT a.id, (SELECT max(k) FROM orders) AS m FROM c AS a JOIN big USING (id)"
    )
    assert names_in_analysed(analysed_tree(frame), "v") == ("big", "orders")
    inner = session.spark.sql("SELECT * FROM big")
    assert names_in_analysed(analysed_tree(inner), "v") == ("big",)
    closed = session.spark.sql("SELECT 1 AS x UNION ALL SELECT id FROM range(3) UNION ALL VALUES (1)")
    assert names_in_analysed(analysed_tree(closed), "v") == ()
    worked_out = session.spark.sql("SELECT * FROM VALUES (current_date())")
    assert names_in_analysed(analysed_tree(worked_out), "v") == ()


def test_a_recursive_query_reads_what_it_starts_from(session: RunSession) -> None:
    session.spark.sql("SELECT 1 AS x").createOrReplaceTempView("a")
    frame = session.spark.sql(
        "WITH RECURSIVE r AS (SELECT x FROM a UNION ALL SELECT x + 1 FROM r WHERE x < 3) SELECT * FROM r"
    )
    assert names_in_analysed(analysed_tree(frame), "v") == ("a",)
    assert sorted(row["x"] for row in frame.collect()) == [1, 2, 3]


def test_storage_around_the_registered_names_is_refused(session: RunSession, tmp_path: object) -> None:
    session.spark.range(3).write.parquet(f"{tmp_path}/p")
    frame = session.spark.read.parquet(f"{tmp_path}/p").where("id > 0")
    with pytest.raises(UnpinnedRead) as caught:
        names_in_analysed(analysed_tree(frame), "v", Origin("v.py", 3))
    assert caught.value.origin == Origin("v.py", 3)


WHOLE_READS = {
    "SELECT * FROM a": ("a",),
    "SELECT k, count(*) FROM A GROUP BY k": ("a",),
    "SELECT k + 1 AS k FROM a UNION ALL SELECT k FROM b": ("a", "b"),
    "SELECT *, row_number() OVER (PARTITION BY k ORDER BY x) AS n FROM a": ("a",),
    "SELECT * FROM a ORDER BY k": (),
    "SELECT /*+ REPARTITION(3) */ * FROM a": (),
    "SELECT count(*), max(x) FROM a": (),
    "SELECT DISTINCT k FROM a": ("a",),
    "SELECT k, tag FROM a LATERAL VIEW explode(array(1, 2)) t AS tag": ("a",),
    "SELECT * FROM through": ("a",),
    "SELECT * FROM a WHERE x > 1": (),
    "SELECT k FROM a GROUP BY k HAVING count(*) > 1": (),
    "SELECT * FROM a LIMIT 3": (),
    "SELECT * FROM a JOIN b USING (k)": (),
    "SELECT * FROM a UNION ALL SELECT * FROM a": (),
    "SELECT k, (SELECT max(x) FROM b) AS m FROM a": ("a",),
    "SELECT k, (SELECT max(x) FROM a) AS m FROM a": (),
    "WITH c AS (SELECT * FROM a) SELECT * FROM c": (),
    "SELECT * FROM a TABLESAMPLE (1 ROWS)": (),
}


@pytest.mark.parametrize("sql", WHOLE_READS)
def test_what_is_surely_read_to_the_last_row(session: RunSession, sql: str) -> None:
    for name in ("a", "b"):
        session.spark.range(3).selectExpr("id AS k", "id AS x").createOrReplaceTempView(name)
    session.spark.sql("SELECT k, x * 2 AS x FROM a").createOrReplaceTempView("through")
    tree = analysed_tree(session.spark.sql(sql), opens_views=True)
    assert names_read_whole(tree, ("a", "b")) == WHOLE_READS[sql]
