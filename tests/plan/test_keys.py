from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.catalyst import analysed_tree
from headwater.plan.keys import Keys

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.runtime import RunSession

# `t` and `u` have k; `t` has (x, s) too; `bare` has none.
DECLARED = {"T": (("K",), ("x", "s"), ("x", "not there")), "u": (("k",),)}
K, XS = {"k"}, {"x", "s"}
FOUND: dict[str, list[set[str]]] = {
    "SELECT * FROM t": [K, XS],
    "SELECT * FROM bare": [],
    "SELECT k AS key, x, s AS s FROM t": [{"key"}, XS],
    "SELECT k, k AS j FROM u": [{"j"}, K],
    "SELECT k + 1 AS k FROM t": [],
    "SELECT x FROM t ORDER BY x": [],
    "SELECT k FROM t WHERE x > 1 ORDER BY s LIMIT 5": [K],
    "SELECT s FROM t WHERE x = 1": [{"s"}],
    "SELECT s FROM t WHERE 1 = x AND k > 3": [{"s"}],
    "SELECT s FROM t WHERE x = 1 OR k > 3": [],
    "SELECT s FROM t WHERE k = 1": [set()],
    "SELECT * FROM bare LIMIT 1": [set()],
    "SELECT x, count(*) AS n FROM bare GROUP BY x": [{"x"}],
    "SELECT x AS y, s, count(*) AS n FROM bare GROUP BY s, x": [{"y", "s"}],
    "SELECT k, x, count(*) AS n FROM t GROUP BY x, k": [K],
    "SELECT count(*) AS n FROM bare GROUP BY x": [],
    "SELECT count(*) AS n FROM bare": [set()],
    "SELECT upper(s) AS u, count(*) AS n FROM bare GROUP BY upper(s)": [{"u"}],
    "SELECT upper(s) AS u, count(*) AS n FROM bare GROUP BY upper(s), lower(s)": [],
    "SELECT x, count(*) AS n FROM bare GROUP BY ROLLUP (x)": [],
    "SELECT DISTINCT x, s FROM bare": [XS],
    "SELECT x FROM bare INTERSECT SELECT x FROM t": [{"x"}],
    "SELECT x, s FROM t EXCEPT ALL SELECT x, s FROM bare": [XS],
    "SELECT x FROM bare UNION ALL SELECT x FROM t": [],
    "SELECT x FROM bare UNION SELECT x FROM t": [{"x"}],
    "SELECT k FROM t UNION ALL SELECT k FROM u": [],
    # joins
    "SELECT t.k, u.k AS uk FROM t JOIN u ON t.k = u.k": [K, {"uk"}],
    "SELECT t.k, u.k AS uk FROM t JOIN u ON t.x = u.k": [K],
    "SELECT t.k, u.k AS uk FROM t JOIN u ON t.x = u.x": [{"k", "uk"}],
    "SELECT t.k, u.k AS uk FROM t JOIN u ON u.k = u.x": [{"k", "uk"}],
    "SELECT t.k, u.k AS uk FROM t LEFT JOIN u ON t.x <=> u.k": [K],
    "SELECT t.k, u.k AS uk FROM t RIGHT JOIN u ON t.x = u.k": [{"k", "uk"}],
    "SELECT t.k, u.k AS uk FROM t RIGHT JOIN u ON t.k = u.x": [{"uk"}],
    "SELECT t.k, u.k AS uk FROM t FULL JOIN u ON t.k = u.k": [{"k", "uk"}],
    "SELECT t.k FROM t JOIN bare USING (k)": [],
    "SELECT k FROM t LEFT SEMI JOIN bare USING (k)": [K],
    "SELECT k FROM t WHERE NOT EXISTS (SELECT 1 FROM bare WHERE bare.k = t.k)": [K],
    "SELECT t.k, n FROM t CROSS JOIN (SELECT count(*) AS n FROM bare)": [K],
    "SELECT t.k, n FROM t, LATERAL (SELECT max(x) AS n FROM bare WHERE bare.k = t.k)": [K],
    # rows made of others
    "SELECT k, p FROM u LATERAL VIEW posexplode(a) e AS p, v": [{"k", "p"}],
    "SELECT k, v FROM u LATERAL VIEW explode(a) e AS v": [],
    "SELECT k, key FROM u LATERAL VIEW explode(map(1, 2)) e AS key, value": [{"k", "key"}],
    "SELECT x, row_number() OVER (PARTITION BY x ORDER BY s) AS r FROM bare": [{"x", "r"}],
    "SELECT x FROM bare QUALIFY row_number() OVER (PARTITION BY x ORDER BY s) = 1": [{"x"}],
    "SELECT x, rank() OVER (PARTITION BY x ORDER BY s) AS r FROM bare": [],
    "WITH c AS (SELECT k, x AS y FROM u) SELECT a.k, b.k AS bk FROM c a JOIN c b ON a.k = b.y": [{"bk"}],
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r": [],
    "SELECT * FROM range(3)": [{"id"}],
    "SELECT * FROM VALUES (1) AS v(x)": [set()],
    "SELECT * FROM VALUES (1), (1) AS v(x)": [],
    "SELECT * FROM t TABLESAMPLE (10 PERCENT)": [K, XS],
}


def _keys(frame: DataFrame) -> list[set[str]]:
    tree = analysed_tree(frame)
    found = Keys(tree, DECLARED).of(tree.root)
    return sorted(({tree.attributes[each].name for each in key} for key in found), key=sorted)


def test_the_keys_of_relations(session: RunSession) -> None:
    columns = ("id AS k", "id AS x", "cast(id AS string) AS s", "array(id) AS a")
    for name in ("t", "u", "bare"):
        session.spark.range(3).selectExpr(*columns).createOrReplaceTempView(name)
    found = {sql: _keys(session.spark.sql(sql)) for sql in FOUND}
    assert found == {sql: sorted(keys, key=sorted) for sql, keys in FOUND.items()}


def test_rows_that_were_drawn_twice_have_no_key(session: RunSession) -> None:
    frame = session.spark.range(3)
    assert _keys(frame.sample(0.5, seed=1)) == [{"id"}]
    assert _keys(frame.sample(withReplacement=True, fraction=0.5, seed=1)) == []
    assert _keys(frame.selectExpr("id % 2 AS x", "id AS y").dropDuplicates(["x"])) == [{"x"}, {"y"}]
