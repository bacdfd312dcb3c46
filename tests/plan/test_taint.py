from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.plan.catalyst import analysed_tree
from headwater.plan.determinism import Unsteady, determinism_of
from headwater.plan.tree import PlanTree

if TYPE_CHECKING:
    from headwater.runtime import RunSession

SUMS = "SELECT k, x, sum(d) AS total FROM t GROUP BY k, x"
# What becomes of a sum of floats, `total`.
REACHED = {
    SUMS: Unsteady(approximate=("total",)),
    f"SELECT k, x FROM ({SUMS})": Unsteady(),
    f"SELECT k, total / 2 AS half, CAST(total AS INT) AS whole FROM ({SUMS})": Unsteady(
        approximate=("half",), arbitrary=("whole",)
    ),
    f"SELECT k, struct(total, x) AS both FROM ({SUMS})": Unsteady(approximate=("both",)),
    f"SELECT k, struct(total, x).x AS x FROM ({SUMS})": Unsteady(),
    f"SELECT k FROM ({SUMS}) WHERE total > 1": Unsteady(arbitrary=("k",), rows=True),
    f"SELECT s.k, t.s FROM ({SUMS}) s JOIN t ON s.total = t.d": Unsteady(arbitrary=("k", "s"), rows=True),
    f"SELECT total, count(*) AS n FROM ({SUMS}) GROUP BY total": Unsteady(
        arbitrary=("total", "n"), rows=True
    ),
    f"SELECT DISTINCT k, total FROM ({SUMS})": Unsteady(arbitrary=("k", "total"), rows=True),
    f"SELECT k, max(total) AS most, count(*) AS n FROM ({SUMS}) GROUP BY k": Unsteady(approximate=("most",)),
    f"SELECT k, rank() OVER (ORDER BY total) AS place FROM ({SUMS})": Unsteady(arbitrary=("place",)),
    f"SELECT k, total FROM ({SUMS}) ORDER BY total": Unsteady(approximate=("total",)),
    f"SELECT k, x FROM ({SUMS}) ORDER BY total, k, x LIMIT 2": Unsteady(arbitrary=("k", "x"), rows=True),
    f"WITH s AS ({SUMS}) SELECT a.k, b.total FROM s a JOIN s b USING (k)": Unsteady(approximate=("total",)),
    "SELECT k, d FROM t UNION ALL SELECT k, sum(d) FROM t GROUP BY k": Unsteady(approximate=("d",)),
    "SELECT k, (SELECT sum(d) FROM t) AS whole FROM t": Unsteady(approximate=("whole",)),
    "SELECT k FROM t WHERE x > (SELECT sum(d) FROM t)": Unsteady(arbitrary=("k",), rows=True),
    f"SELECT k FROM t WHERE EXISTS (SELECT 1 FROM ({SUMS}) s WHERE s.k = t.k)": Unsteady(),
    "SELECT k, sum(d) OVER (PARTITION BY k) AS part, x FROM t": Unsteady(approximate=("part",)),
    # choices
    "SELECT k, first(s) AS one, count(*) AS n FROM t GROUP BY k": Unsteady(arbitrary=("one",)),
    "SELECT k, s FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY x) = 1": Unsteady(
        arbitrary=("k", "s"), rows=True
    ),
    "SELECT k FROM (SELECT * FROM t LIMIT 3)": Unsteady(arbitrary=("k",), rows=True),
    "SELECT k, rand() AS r, x FROM t": Unsteady(arbitrary=("r",)),
    "SELECT k, v FROM t LATERAL VIEW explode(shuffle(a)) e AS v": Unsteady(arbitrary=("k", "v"), rows=True),
}


def test_how_far_things_go(session: RunSession) -> None:
    columns = ("id AS k", "id AS x", "cast(id AS double) AS d", "cast(id AS string) AS s", "array(id) AS a")
    session.spark.range(3).selectExpr(*columns).createOrReplaceTempView("t")
    found = {sql: determinism_of(analysed_tree(session.spark.sql(sql)), "v").unsteady for sql in REACHED}
    assert found == REACHED


def test_a_plan_that_is_not_understood_is_reached_everywhere(session: RunSession) -> None:
    tree = analysed_tree(session.spark.sql("SELECT id, rand() AS r FROM range(3)"))
    strange = PlanTree(replace(tree.root, kind="Strange"), tree.attributes)
    assert determinism_of(tree, "v").unsteady == Unsteady(arbitrary=("r",))
    assert determinism_of(strange, "v").unsteady == Unsteady(arbitrary=("id", "r"), rows=True)


def test_what_reaches_nothing_is_no_finding(session: RunSession) -> None:
    session.spark.range(3).createOrReplaceTempView("t")
    unused = "SELECT id FROM (SELECT id, first(id) OVER () AS f, sum(1d) OVER () AS s, {} AS c FROM t)"
    for expression, rules in (("1", []), ("now()", ["clock"])):
        tree = analysed_tree(session.spark.sql(unused.format(expression)))
        assert [each.rule for each in determinism_of(tree, "v").findings] == rules
