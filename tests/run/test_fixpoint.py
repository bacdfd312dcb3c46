"""Rounds against a program that does the same with sets; and fixpoints in projects, from build to replay."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec.structs import replace
from pyspark.sql.types import IntegerType, StructField, StructType

import headwater
from headwater.artifacts import RoundRecord, RunMark, last_manifest, read_manifest, read_plans
from headwater.errors import Cycle, FixpointColumns, NoFixpoint, NothingToRead, WarehouseNotWritable
from headwater.origin import Origin
from headwater.pipeline import build_plan
from headwater.plan import PlannedFixpoint, planned_trees
from headwater.run.fixpoint import Rounds, fixpoint_rows, rounds_of, sweep_rounds
from headwater.run.scheduled import ScheduledView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from headwater.run import Project, RunOutcome
    from headwater.runtime import RunSession

    MakeProject = Callable[..., Path]
    Step = Callable[[set["Row"], list["Row"]], set["Row"]]

Row = tuple[int | None, ...]
COLUMNS = ("g", "src", "dst")
SCHEMA = StructType([StructField(each, IntegerType()) for each in COLUMNS]).json()
# Linear, and as often as a row is found; and a step that meets itself. Both are what can be reached.
FORWARD = """
SELECT g, src, dst FROM edges
UNION ALL SELECT r.g, r.src, e.dst FROM reach r JOIN edges e ON r.g = e.g AND r.dst = e.src
"""
DOUBLING = """
SELECT g, src, dst FROM edges
UNION SELECT p.g, p.src, q.dst FROM reach p JOIN reach q ON p.g = q.g AND p.dst = q.src
"""
# Not monotone: what is found may keep others from being found later, and stays all the same.
LONELY = """
SELECT g, src, dst FROM edges
UNION SELECT g, dst, max(src) FROM reach GROUP BY g, dst HAVING count(*) = 1
"""


def forward(found: set[Row], edges: list[Row]) -> set[Row]:
    further = ((g, s, e[2]) for g, s, d in found for e in edges if e[0] == g and d is not None and d == e[1])
    return {*edges, *further}


def lonely(found: set[Row], edges: list[Row]) -> set[Row]:
    groups: dict[tuple[int | None, int | None], list[int | None]] = {}
    for g, src, dst in found:
        groups.setdefault((g, dst), []).append(src)
    return {*edges, *((g, dst, each[0]) for (g, dst), each in groups.items() if len(each) == 1)}


def by_hand(step: Step, edges: list[Row]) -> list[set[Row]]:
    """The new rows of every round, the last of them none."""
    found: set[Row] = set()
    rounds: list[set[Row]] = []
    while not rounds or rounds[-1]:
        rounds.append(step(found, edges) - found)
        found |= rounds[-1]
    return rounds


def graphs(seed: int, count: int) -> list[Row]:
    """Edges of some graphs, with nulls, loops, and edges that are there twice."""
    drawn = hashlib.shake_128(str(seed).encode()).digest(3 * 9 * count)
    values = (None, 0, 1, 2, 3, 4, 5)
    edges = [
        (each % count, values[drawn[2 * each] % 7], values[drawn[2 * each + 1] % 7])
        for each in range(9 * count)
    ]
    return [*edges, *edges[:count]]


def step_of(sql: str, *, linear: bool, max_rounds: int = 50) -> ScheduledView:
    return ScheduledView(
        name="reach",
        plan=build_plan(lambda spark: spark.sql(sql)).executable,
        origin=Origin("views/reach.sql", 1),
        fixpoint=PlannedFixpoint(schema=SCHEMA, max_rounds=max_rounds, linear=linear),
    )


def show_edges(session: RunSession, edges: Iterable[Row]) -> None:
    for key, value in {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"}.items():
        session.spark.conf.set(key, value)
    rows = ", ".join(f"({', '.join('INT(NULL)' if v is None else str(v) for v in row)})" for row in edges)
    session.spark.sql(f"SELECT * FROM VALUES {rows} AS t({', '.join(COLUMNS)})").createOrReplaceTempView(
        "edges"
    )


class Clockwork:
    """Each look at it is a quarter of a second later."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.looks / 4


def run(session: RunSession, view: ScheduledView, place: Path) -> tuple[list[Row], list[RoundRecord]]:
    rounds: list[RoundRecord] = []
    with fixpoint_rows(session, view, place, monotonic=Clockwork(), tell=rounds.append) as rows:
        found = [cast("Row", tuple(row)) for row in rows.collect()]
    return found, rounds


# --- rounds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_new_rows_alone_all_rows_and_sets_by_hand_are_the_same(
    session: RunSession, tmp_path: Path, seed: int
) -> None:
    edges = graphs(seed, 12)
    show_edges(session, edges)
    expected = by_hand(forward, edges)
    assert len(expected) > 4
    everything = set[Row]().union(*expected)
    for linear, given in ((True, "new"), (False, "all")):
        found, rounds = run(session, step_of(FORWARD, linear=linear), tmp_path / given)
        assert len(found) == len(everything)
        assert set(found) == everything
        assert [each.new_rows for each in rounds] == [len(each) for each in expected]
        assert [each.number for each in rounds] == list(range(1, len(expected) + 1))
        assert [each.given for each in rounds] == ["none", *[given] * (len(expected) - 1)]
        assert rounds[-1].rows == rounds[-2].rows == len(everything)
        assert {each.seconds for each in rounds} == {0.25}
    doubled, rounds = run(session, step_of(DOUBLING, linear=False), tmp_path / "doubled")
    assert sorted(doubled, key=str) == sorted(everything, key=str)
    assert len(rounds) < len(expected)


def test_every_row_that_was_found_stays(session: RunSession, tmp_path: Path) -> None:
    edges = graphs(5, 8)
    show_edges(session, edges)
    expected = by_hand(lonely, edges)
    found, rounds = run(session, step_of(LONELY, linear=False), tmp_path / "lonely")
    assert set(found) == set[Row]().union(*expected)
    assert [each.new_rows for each in rounds] == [len(each) for each in expected]


def test_plans_do_not_grow_from_round_to_round(session: RunSession, tmp_path: Path) -> None:
    show_edges(session, [(0, each, each + 1) for each in range(21)])
    for linear in (True, False):
        view, place = step_of(FORWARD, linear=linear), tmp_path / str(linear)
        assert view.fixpoint is not None
        rounds = Rounds(session, view, view.fixpoint, place)
        sizes: dict[int, list[int]] = {}

        def hear(each: RoundRecord, rounds: Rounds = rounds, sizes: dict[int, list[int]] = sizes) -> None:
            if each.number + 1 in {3, 20}:
                rounds.give(each.number + 1)
                trees = planned_trees(rounds.new_rows(each.number + 1))
                sizes[each.number + 1] = [len(list(tree.nodes())) for tree in trees]

        with fixpoint_rows(session, view, place, monotonic=lambda: 0.0, tell=hear) as rows:
            assert rows.count() == 21 * 22 / 2
            scans = [each for each in planned_trees(rows)[0].nodes() if each.kind.endswith("LogicalRelation")]
        assert len(scans) == 1
        assert sizes[3] == sizes[20]


def test_the_bound_is_kept(session: RunSession, tmp_path: Path) -> None:
    show_edges(session, [(0, each, each + 1) for each in range(3)])
    assert len(run(session, step_of(FORWARD, linear=True, max_rounds=4), tmp_path / "enough")[0]) == 6
    place = tmp_path / "staging" / "run" / "reach"
    with pytest.raises(
        NoFixpoint, match=r"'reach' has no fixpoint within 3 rounds: 1 of its 6 rows"
    ) as caught:
        run(session, step_of(FORWARD, linear=True, max_rounds=3), place)
    assert caught.value.origin == Origin("views/reach.sql", 1)
    assert "Nothing was committed" in caught.value.next_step
    assert not (tmp_path / "staging").exists()


def test_what_others_have_beside_it_stays(session: RunSession, tmp_path: Path) -> None:
    show_edges(session, [(0, 1, 2)])
    (tmp_path / "staging" / "other").mkdir(parents=True)
    with fixpoint_rows(
        session,
        step_of(FORWARD, linear=True),
        tmp_path / "staging" / "a[b]{c} d" / "reach",
        monotonic=lambda: 0.0,
    ) as rows:
        assert [tuple(row) for row in rows.collect()] == [(0, 1, 2)]
    assert [each.name for each in (tmp_path / "staging").iterdir()] == ["other"]
    with (
        pytest.raises(WarehouseNotWritable),
        fixpoint_rows(session, step_of(FORWARD, linear=True), tmp_path, monotonic=lambda: 0.0),
    ):
        pass
    plain = ScheduledView(name="t", plan=b"", origin=Origin("t.sql"))
    with pytest.raises(ValueError, match="no fixpoint"):
        run(session, plain, tmp_path / "plain")


def test_rounds_of_runs_that_were_stopped_are_swept(tmp_path: Path) -> None:
    staging = tmp_path / "staging"
    sweep_rounds(staging, ["nobody"])
    for run_id in ("old", "alive"):
        (rounds_of(staging, run_id) / "reach" / "000001").mkdir(parents=True)
    sweep_rounds(staging, ["old"])
    assert [each.name for each in staging.iterdir()] == ["rounds-alive"]
    sweep_rounds(staging, ["alive"])
    assert not staging.exists()


# --- projects --------------------------------------------------------------------------------------------

REACH = """
import headwater

headwater.source("edges", rows={edges}, schema="src STRING, dst STRING")

@headwater.fixpoint(schema="src STRING, dst STRING", max_rounds={rounds})
def reach(reach, edges):
    assert reach.columns == ["src", "dst"]
    further = reach.alias("r").join(edges.alias("e"), reach.dst == edges.src)
    return edges.union(further.selectExpr("r.src", "e.dst"))

@headwater.table
def loops(reach):
    return reach.where("src = dst").select("src")
"""
PAIRS = """-- headwater: table
SELECT * FROM edges UNION SELECT p.src, q.dst FROM pairs p JOIN Pairs q ON p.dst = q.src
"""
FIXPOINTS = '\n[fixpoints.pairs]\nschema = "src STRING, dst STRING"\nmax_rounds = 9\n'


def opened(folder: Path) -> Project:
    return headwater.open(folder, settings={"master": "local[2]", "driver_memory": "2g"})


def answers(project: Project, sql: str) -> list[tuple[Any, ...]]:
    with project.query(sql) as result:
        return [tuple(row.values()) for row in result.read_all().to_pylist()]


def table(outcome: RunOutcome, name: str) -> Any:
    return next(each for each in outcome.tables if each.name == name)


def chain(length: int) -> list[tuple[str, str]]:
    return [(chr(97 + each), chr(98 + each)) for each in range(length)]


def write_edges(folder: Path, edges: list[tuple[str, str]], rounds: int = 10) -> None:
    (folder / "views" / "all.py").write_text(REACH.format(edges=edges, rounds=rounds))


def new_rows(record: Any) -> list[int]:
    return [each.new_rows for each in record.rounds]


@pytest.mark.usefixtures("runtime")
def test_a_fixpoint_from_build_to_replay(project_folder: MakeProject) -> None:
    folder = project_folder(pairs_sql=PAIRS)
    with (folder / "headwater.toml").open("a") as file:
        file.write(FIXPOINTS)
    write_edges(folder, [*chain(3), ("d", "a")])
    steps: list[str] = []
    project = opened(folder)
    first = project.build(listen=lambda step: steps.append(step.message))
    assert first.status == "done"
    assert new_rows(table(first, "reach")) == [4, 4, 4, 4, 0]
    assert {each.given for each in table(first, "reach").rounds[1:]} == {"new"}
    assert {each.given for each in table(first, "pairs").rounds[1:]} == {"all"}
    assert table(first, "reach").digest == table(first, "pairs").digest
    assert table(first, "loops").rows == 4
    assert "reach round 2: 4 new rows, 8 in all" in steps
    assert not (folder / ".headwater" / "staging").exists()
    assert new_rows(next(each for each in read_manifest(first.manifest).tables if each.name == "reach"))
    plans = read_plans(folder / ".headwater", first.run_id)
    assert [each.name for each in plans["pairs"].inputs] == ["edges"]
    assert plans["reach"].fixpoint is not None
    assert plans["pairs"].fixpoint is not None
    assert (plans["reach"].fixpoint.linear, plans["reach"].fixpoint.max_rounds) == (True, 10)
    assert plans["pairs"].fixpoint.reason == "the rows so far meet themselves in Join"

    assert project.build().status == "unchanged"
    assert opened(folder).plan().is_unchanged
    edges = opened(folder).lineage("reach.dst")
    assert ("reach", "dst", "join") in {(each.from_dataset, each.from_column, each.kind) for each in edges}
    explained = opened(folder).explain("reach").bundle
    assert "reach@0" in (explained.optimised.text if explained.optimised else "")
    sql = "SELECT view_name, number, given, new_rows, rows FROM hw_rounds WHERE number = 2 ORDER BY view_name"
    assert answers(project, sql) == [("pairs", 2, "all", 4, 8), ("reach", 2, "new", 4, 8)]
    assert [each.status for each in project.replay(first.run_id).views] == ["equal"] * 3

    write_edges(folder, chain(2))
    second = opened(folder).build()
    assert new_rows(table(second, "reach")) == [2, 1, 0]
    assert table(second, "reach").version == 1
    assert sorted(answers(project, "SELECT * FROM pairs")) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert table(second, "loops").rows == 0


@pytest.mark.usefixtures("runtime")
def test_beyond_the_bound_nothing_is_committed(project_folder: MakeProject) -> None:
    folder = project_folder()
    write_edges(folder, chain(2), rounds=4)
    assert opened(folder).build().status == "done"
    write_edges(folder, chain(6), rounds=4)
    failed = opened(folder).build()
    assert failed.status == "failed"
    assert isinstance(failed.error, NoFixpoint)
    assert (failed.error.rounds, failed.error.new, failed.error.rows) == (4, 3, 18)
    assert new_rows(table(failed, "reach")) == [6, 5, 4, 3]
    assert not (folder / ".headwater" / "staging").exists()
    assert len(list((folder / ".headwater/tables/reach/_delta_log").glob("*.json"))) == 1
    write_edges(folder, chain(6), rounds=7)
    assert table(opened(folder).build(), "reach").rows == 21
    write_edges(folder, chain(6), rounds=2)
    assert opened(folder).build().status == "unchanged"


@pytest.mark.usefixtures("runtime")
def test_rounds_that_a_killed_run_left_are_swept(project_folder: MakeProject) -> None:
    folder = project_folder()
    write_edges(folder, chain(1))
    opened(folder).build()
    warehouse = folder / ".headwater"
    last = last_manifest(warehouse)
    assert last is not None
    left = replace(last, run_id="20200101T000000000000Z-00000000", status="failed")
    with suppress(KeyboardInterrupt), RunMark(warehouse, left):
        (rounds_of(warehouse / "staging", left.run_id) / "reach" / "000001").mkdir(parents=True)
        raise KeyboardInterrupt
    alive = rounds_of(warehouse / "staging", "of somebody else")
    alive.mkdir()
    assert opened(folder).build().status == "done"
    assert [each.name for each in (warehouse / "staging").iterdir()] == [alive.name]


UNSTEADY = """
import headwater

headwater.source("a", rows=[(1, 1.5)], schema="k INT, x DOUBLE")

@headwater.fixpoint(schema="k INT, x DOUBLE, y DOUBLE")
def sums(spark):
    return spark.sql(
        "SELECT k, sum(x) AS x, DOUBLE(0) AS y FROM a GROUP BY k UNION SELECT k, DOUBLE(0), x FROM sums"
    )

@headwater.fixpoint(schema="k INT, n INT")
def largest(spark):
    return spark.sql(
        "SELECT k, 1 AS n FROM a UNION "
        "SELECT k, max(n) + 1 AS n FROM largest GROUP BY k HAVING max(n) < 3"
    )

@headwater.table
def ranked(spark):
    return spark.sql("SELECT n, row_number() OVER (ORDER BY k) AS place FROM largest")
"""


@pytest.mark.usefixtures("runtime")
def test_what_a_round_cannot_promise_is_not_relied_on(project_folder: MakeProject) -> None:
    folder = project_folder(all_py=UNSTEADY)
    outcome = opened(folder).build()
    assert {each.name: each.rows for each in outcome.tables} == {"largest": 3, "ranked": 3, "sums": 3}
    plans = read_plans(folder / ".headwater", outcome.run_id)
    found = {name: [(each.rule, each.rows) for each in plan.findings] for name, plan in plans.items()}
    # In each round there is one row of a key; in all of them together there are three.
    assert found == {"largest": [], "ranked": [("tie", False)], "sums": [("float-aggregate", True)]}


@pytest.mark.usefixtures("runtime")
def test_columns_other_than_declared_are_refused(project_folder: MakeProject) -> None:
    text = (
        "import headwater\n@headwater.fixpoint(schema='n BIGINT, s STRING')\n"
        "def t(spark): return spark.sql('SELECT INT(1) AS n, s FROM t')\n"
    )
    with pytest.raises(
        FixpointColumns, match=r"'t' declares the columns \(n bigint, s string\) and makes \(n int"
    ):
        opened(project_folder(all_py=text)).build()


@pytest.mark.usefixtures("runtime")
def test_views_that_read_each_other_are_a_circle_still(project_folder: MakeProject) -> None:
    text = (
        "import headwater\n@headwater.fixpoint(schema='n BIGINT')\n"
        "def t(t, v): return v.union(t).select(t.columns)\n"
        "@headwater.view\ndef v(t): return t.where(t.n > 1)\n"
        "@headwater.table\ndef u(u): return u\n"
    )
    folder = project_folder(all_py=text)
    with pytest.raises(Cycle, match=r"t .* -> v .* -> t|v .* -> t .* -> v|u .* -> u"):
        opened(folder).build()
    (folder / "views" / "all.py").write_text(text.partition("@headwater.table")[0])
    with pytest.raises(Cycle, match=r"t .* -> v .* -> t"):
        opened(folder).build()


@pytest.mark.usefixtures("runtime")
def test_a_fixpoint_that_was_not_made_cannot_be_read(project_folder: MakeProject) -> None:
    folder = project_folder(v_sql="SELECT 1 AS n")
    assert opened(folder).build().status == "done"
    text = (
        "import headwater\n@headwater.fixpoint(schema='n INT')\n"
        "def t(t, spark): return t.union(spark.sql('SELECT 1'))\n"
    )
    (folder / "views" / "t.py").write_text(text)
    (folder / "views" / "v.sql").write_text("SELECT * FROM t")
    with pytest.raises(NothingToRead, match=r"'t'.* it was not made yet"):
        answers(opened(folder), "SELECT * FROM v")
