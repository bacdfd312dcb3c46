from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.plan.canonical import (
    canonical_text,
    dot_of,
    first_different_operator,
    operators_in,
    type_text,
)
from headwater.plan.catalyst import analysed_tree, planned_trees

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import RunSession

# Queries that say the same in two ways.
SAME = {
    "names of relations": ("SELECT a.id FROM t a WHERE a.k > 1", "SELECT z.id FROM t AS z WHERE z.k > 1"),
    "names of lambda variables": (
        "SELECT transform(xs, x -> x + k) AS y FROM t",
        "SELECT transform(xs, other -> other + k) AS y FROM t",
    ),
    "names of common tables": (
        "WITH one AS (SELECT id FROM t) SELECT * FROM one JOIN one AS b USING (id)",
        "WITH two AS (SELECT id FROM t) SELECT * FROM two JOIN two AS c USING (id)",
    ),
    "what an EXISTS lists": (
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)",
        "SELECT id FROM t WHERE EXISTS (SELECT 'x', 7 FROM u WHERE u.id = t.id)",
    ),
    "columns in between that nobody uses": (
        "SELECT id FROM (SELECT id, k FROM t)",
        "SELECT id FROM (SELECT k, id, xs FROM t)",
    ),
    "comments and layout": ("SELECT id FROM t", "SELECT  id /* all */\nFROM t -- of them"),
    "letters of names": (
        "SELECT id FROM (SELECT id, k AS j FROM t) WHERE j > 1",
        "SELECT id FROM (SELECT ID, K AS j FROM T) WHERE J > 1",
    ),
    "a hint": (
        "SELECT t.id FROM t JOIN u USING (id)",
        "SELECT /*+ MERGE(u) */ t.id FROM t JOIN u USING (id)",
    ),
}
RECURSIVE = (
    "WITH RECURSIVE r(id, k) AS (SELECT id, k FROM t UNION ALL SELECT id + 1, k FROM r WHERE id < 3) "
    "SELECT * FROM r"
)
# Queries that differ in one thing that means something.
OTHER = [
    "SELECT id, k FROM t WHERE k > 1",
    "SELECT id, k FROM t WHERE k > 2",
    "SELECT id, k FROM t WHERE k >= 1",
    "SELECT id, k FROM t WHERE k > 1L",
    "SELECT k, id FROM t WHERE k > 1",
    "SELECT id, k AS j FROM t WHERE k > 1",
    "SELECT id, k FROM u WHERE k > 1",
    "SELECT DISTINCT id, k FROM t WHERE k > 1",
    "SELECT id, k FROM t WHERE k > 1 ORDER BY id",
    "SELECT id, k FROM t WHERE k > 1 ORDER BY id DESC",
    "SELECT id, k FROM t WHERE k > 1 ORDER BY id NULLS LAST",
    "SELECT id, k FROM t WHERE k > 1 UNION ALL SELECT id, k FROM u",
    "SELECT id, k FROM t WHERE k > 1 UNION ALL SELECT k, id FROM u",
    "SELECT id, k FROM t WHERE k > 1 EXCEPT SELECT id, k FROM u",
    "SELECT id, k FROM t WHERE k > 1 EXCEPT ALL SELECT id, k FROM u",
    "SELECT t.id, t.k FROM t JOIN u ON t.id = u.id",
    "SELECT t.id, t.k FROM t LEFT JOIN u ON t.id = u.id",
    "SELECT t.id, u.k FROM t JOIN u ON t.id = u.id",
    "SELECT t.id, t.k FROM t SEMI JOIN u ON t.id = u.id",
    "SELECT t.id, t.k FROM t ANTI JOIN u ON t.id = u.id",
    "SELECT id, sum(k) AS k FROM t GROUP BY id",
    "SELECT id, max(k) AS k FROM t GROUP BY id",
    "SELECT id, sum(DISTINCT k) AS k FROM t GROUP BY id",
    "SELECT id, sum(k) FILTER (WHERE k > 1) AS k FROM t GROUP BY id",
    "SELECT id, sum(k) AS k FROM t GROUP BY ROLLUP (id)",
    "SELECT id, sum(k) OVER (ORDER BY id) AS k FROM t",
    "SELECT id, sum(k) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS k FROM t",
    "SELECT id, sum(k) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS k FROM t",
    "SELECT id, try_add(id, k) AS k FROM t",
    "SELECT id, id + k AS k FROM t",
    "SELECT id, CAST(k AS INT) AS k FROM t",
    "SELECT id, try_cast(k AS INT) AS k FROM t",
    "SELECT id, s.a AS k FROM t",
    "SELECT id, s.b AS k FROM t",
    "SELECT id, k FROM t LIMIT 3",
    "SELECT id, k FROM t LIMIT 4",
    "SELECT id, k FROM t OFFSET 3",
    "SELECT * FROM VALUES (1L, 2L) AS v(id, k)",
    "SELECT * FROM VALUES (1L, 3L) AS v(id, k)",
    "SELECT id, id AS k FROM range(3)",
    "SELECT id, id AS k FROM range(4)",
    RECURSIVE,
    RECURSIVE.replace("< 3", "< 4"),
    "SELECT id, x AS k FROM t LATERAL VIEW explode(xs) AS x",
    "SELECT id, x AS k FROM t LATERAL VIEW OUTER explode(xs) AS x",
]


@pytest.fixture
def tables(session: RunSession) -> RunSession:
    rows = session.spark.range(3).selectExpr(
        "id", "id + 1 AS k", "array(id) AS xs", "named_struct('a', id, 'b', id) AS s"
    )
    for name in ("t", "u"):
        rows.createOrReplaceTempView(name)
    return session


def text(session: RunSession, sql: str) -> str:
    return canonical_text(analysed_tree(session.spark.sql(sql)))


@pytest.mark.parametrize("name", SAME)
def test_what_says_the_same_has_one_text(tables: RunSession, name: str) -> None:
    one, two = SAME[name]
    assert text(tables, one) == text(tables, two)


def test_whatever_means_something_else_has_another_text(tables: RunSession) -> None:
    texts = {sql: text(tables, sql) for sql in OTHER}
    assert len(set(texts.values())) == len(OTHER)
    assert {sql: text(tables, sql) for sql in OTHER} == texts


def test_the_type_of_a_column_that_is_read_matters(session: RunSession) -> None:
    def of(kind: str) -> str:
        session.spark.range(3).selectExpr(
            "id", f"CAST(CAST(id AS STRING) AS {kind}) AS k"
        ).createOrReplaceTempView("t")
        return text(session, "SELECT id FROM t WHERE length(k) > 0")

    assert of("STRING") != of("BINARY")


def test_optimised_and_physical_plans_name_datasets_and_no_places(
    session: RunSession, tmp_path: Path, snapshot: object
) -> None:
    def texts(folder: Path) -> list[str]:
        session.spark.range(3).selectExpr("id", "id AS k").write.format("delta").save(str(folder))
        frame = session.spark.read.format("delta").option("versionAsOf", 0).load(str(folder))
        frame = frame.where("k > 1").groupBy("k").count()
        frame.createOrReplaceTempView("counted")
        frame = session.spark.sql("SELECT k, (SELECT max(count) FROM counted) AS most FROM counted")
        return [canonical_text(tree, {f"file:{folder}": "t@0"}) for tree in planned_trees(frame)]

    here, there = texts(tmp_path / "here"), texts(tmp_path / "there")
    assert here == there
    assert str(tmp_path) not in "".join(here)
    assert "\n".join(here) == snapshot


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("long", "long"),
        (None, "None"),
        ({"type": "array", "elementType": "string"}, "array<string>"),
        ({"type": "map", "keyType": "string", "valueType": "date"}, "map<string,date>"),
        ({"type": "struct", "fields": [{"name": "a", "type": "int"}]}, "struct<a:int>"),
        ({"type": "udt", "class": "x.Y"}, "x.Y"),
    ],
)
def test_a_type_in_one_word(kind: object, words: str) -> None:
    assert type_text(kind) == words  # pyright: ignore[reportArgumentType]


def test_a_plan_for_graphviz(tables: RunSession, snapshot: object) -> None:
    sql = 'SELECT t.id, sum(u.k) AS "total" FROM t JOIN u USING (id) GROUP BY t.id'.replace('"', "`")
    assert dot_of(text(tables, sql), 'a "name"') == snapshot


def test_operators_and_where_two_plans_part() -> None:
    one = operators_in("[a]\nProject [a]\n+- Filter x\n   +- t [a]\n")
    assert one == ["[a]", "Project [a]", "Filter x", "t [a]"]
    assert first_different_operator(one, [*one[:2], "Filter y", one[3]]) == ("Filter x", "Filter y")
    assert first_different_operator(one, one[:3]) == ("t [a]", "")
    assert first_different_operator(one, one) == ("", "")
