from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.catalyst import analysed_tree
from headwater.plan.equalities import Equalities

if TYPE_CHECKING:
    from headwater.runtime import RunSession

# The columns of a query that have the same values, in groups.
FOUND = {
    "SELECT k, x FROM a": "",
    "SELECT k, k AS l, x FROM a": "kl",
    "SELECT k, k AS l, k + 0 AS m FROM a": "kl",
    "SELECT k, CAST(k AS BIGINT) AS l, CAST(k AS INT) AS m FROM a": "kl",
    "SELECT k, x FROM a WHERE k = x": "kx",
    "SELECT k, x, y FROM a WHERE k <=> x AND y = k AND x > 1": "kxy",
    "SELECT k, x FROM a WHERE k = x OR y = 1": "",
    "SELECT k, l, count(*) OVER (PARTITION BY l) AS n FROM (SELECT k, k AS l FROM a)": "kl",
    "SELECT k, l, e FROM (SELECT k, k AS l FROM a) LATERAL VIEW explode(array(1)) t AS e": "kl",
    "SELECT k, l, max(x) AS m FROM (SELECT k, k AS l, x FROM a) GROUP BY l, k": "kl",
    "SELECT DISTINCT k, l FROM (SELECT k, k AS l FROM a) ORDER BY l": "kl",
    "SELECT a.k, b.k AS l, a.x, b.x AS z FROM a JOIN b ON a.k = b.k AND b.x = a.x": "kl xz",
    "SELECT a.k, b.k AS l, c.k AS m FROM a JOIN b ON a.k = b.k JOIN a c ON c.k = b.k": "klm",
    "SELECT a.k, b.k AS l FROM a LEFT JOIN b ON a.k = b.k": "",
    "SELECT a.k, b.k AS l FROM a FULL JOIN b ON a.k = b.k": "",
    "SELECT a.k, l, m FROM a LEFT JOIN (SELECT k AS l, k AS m FROM b) b ON a.k = l": "lm",
    "SELECT k, x FROM a LEFT SEMI JOIN b ON a.k = a.x": "kx",
    "SELECT k, x FROM a LEFT ANTI JOIN b ON a.k = a.x": "",
    "WITH t AS (SELECT k, k AS l FROM a) SELECT p.k, p.l, q.l AS m FROM t p, t q": "kl",
    "SELECT k, l FROM (SELECT k, k AS l FROM a UNION ALL SELECT k, x FROM b)": "",
    "SELECT id, twin FROM twins": "",
    "SELECT id, other FROM others": "io",
}


def test_columns_with_the_same_values(session: RunSession) -> None:
    for name in ("a", "b"):
        session.spark.range(3).selectExpr("id AS k", "id + 1 AS x", "2L AS y").createOrReplaceTempView(name)
    for name, twin in (("twins", "twin"), ("others", "other")):
        session.spark.range(3).selectExpr("id", f"id AS {twin}").createOrReplaceTempView(name)
    found: dict[str, str] = {}
    for sql in FOUND:
        tree = analysed_tree(session.spark.sql(sql), opens_views=True)
        groups = Equalities(tree, {"twins"}).of(tree.root)
        found[sql] = " ".join(
            sorted("".join(sorted(tree.attributes[each].name[0] for each in group)) for group in groups)
        )
    assert found == FOUND


def test_views_that_are_not_opened_are_leaves(session: RunSession) -> None:
    session.spark.range(3).selectExpr("id", "id AS twin").createOrReplaceTempView("twins")
    tree = analysed_tree(session.spark.table("twins"))
    column = tree.root.output[0]
    assert Equalities(tree).same(tree.root, column) == {column}
