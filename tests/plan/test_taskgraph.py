from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import Cycle, NotPlanned, OrderMismatch, UnknownTable
from headwater.origin import Origin
from headwater.plan import order_of
from headwater.plan.bundle import PlanBundle, PlannedColumn, PlannedFixpoint, PlannedInput, PlanText, ScanUnit
from headwater.plan.dependence import ColumnPath, Dependence
from headwater.plan.fingerprint import Fingerprint
from headwater.plan.lineage import ColumnLineage, Edge, ViewLineage
from headwater.plan.taskgraph import lineage_dot, task_graph, top_column

if TYPE_CHECKING:
    from random import Random  # noqa: TID251  hypothesis hands it in, seeded

    from headwater.plan.dependence import Kind
    from headwater.plan.taskgraph import TaskGraph

Columns = dict[str, list[tuple[str, str, "Kind"]]]


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """Acyclic by construction: a name reads only names before it in a shuffled list."""
    names = draw(st.permutations([f"v{number}" for number in range(draw(st.integers(1, 8)))]))
    return {
        name: tuple(draw(st.lists(st.sampled_from(names[:place]), unique=True))) if place else ()
        for place, name in enumerate(names)
    }


@given(graphs())
def test_everything_comes_after_what_it_reads(reads: dict[str, tuple[str, ...]]) -> None:
    order = order_of(reads, {})
    assert sorted(order) == sorted(reads)
    assert all(order.index(read) < order.index(name) for name in reads for read in reads[name])


@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_how_it_is_asked(
    reads: dict[str, tuple[str, ...]], shuffle: Random
) -> None:
    names = list(reads)
    shuffle.shuffle(names)
    assert order_of({name: tuple(reversed(reads[name])) for name in names}, {}) == order_of(reads, {})


def test_ties_are_settled_by_name() -> None:
    assert order_of({"c": (), "a": (), "b": ("c",)}, {}) == ("a", "c", "b")


def test_names_are_compared_without_regard_to_case() -> None:
    assert order_of({"Orders": (), "v": ("ORDERS",)}, {}) == ("Orders", "v")


def test_a_cycle_is_spelt_out_from_reader_to_read() -> None:
    reads = {"a": ("b",), "b": ("c", "x"), "c": ("a",), "x": ()}
    with pytest.raises(Cycle) as caught:
        order_of(reads, {"a": Origin("a.py", 1), "b": Origin("views/b.sql", 7)})
    assert caught.value.path == "a (a.py:1) -> b (views/b.sql:7) -> c -> a"
    assert caught.value.origin == Origin("a.py", 1)


def test_a_view_that_reads_itself_is_a_cycle() -> None:
    with pytest.raises(Cycle) as caught:
        order_of({"a": ("a",)}, {})
    assert caught.value.path == "a -> a"


def test_an_unknown_name_suggests_a_near_one() -> None:
    with pytest.raises(UnknownTable) as caught:
        order_of({"orders": (), "v": ("ordrs",)}, {"v": Origin("v.sql", 1)})
    assert (caught.value.view, caught.value.name, caught.value.origin) == ("v", "ordrs", Origin("v.sql", 1))
    assert "'orders'" in caught.value.next_step


# --- the graph of planned views ---


def planned(
    view: str, *inputs: str | PlannedInput, stored: bool = True, columns: Columns | None = None
) -> PlanBundle:
    """A view with columns that depend on dotted paths of what it reads; `rows` is no column."""
    lineage = {
        name: tuple(
            sorted(
                Dependence(ColumnPath(dataset, tuple(path.split("."))), kind) for dataset, path, kind in each
            )
        )
        for name, each in (columns or {}).items()
    }
    rows = lineage.pop("rows", ())
    code = Fingerprint(code=view, functions="", settings="", policies="", inputs="")
    return PlanBundle(
        view=view,
        file=f"views/{view}.sql",
        line=1,
        language="sql",
        stored=stored,
        plan=b"",
        plan_digest="",
        analysed=PlanText(),
        columns=tuple(PlannedColumn(name=name, type="int") for name in lineage),
        settings={},
        function_digest="",
        functions=(),
        tags=(),
        inputs=tuple(
            PlannedInput(name=each, kind="slot", identity="") if isinstance(each, str) else each
            for each in inputs
        ),
        gates={},
        policy={},
        lineage=ViewLineage(
            view=view,
            columns=tuple(ColumnLineage(name=name, dependences=each) for name, each in lineage.items()),
            rows=rows,
            datasets=tuple(sorted({path.dataset for each in (*lineage.values(), rows) for path, _ in each})),
        ),
        fingerprint=code,
    )


def pin(name: str, version: int) -> PlannedInput:
    return PlannedInput(name=name, kind="pin", identity="d", version=version)


def graph_of(reads: dict[str, tuple[str, ...]]) -> TaskGraph:
    return task_graph([planned(name, *each) for name, each in reads.items()])


@given(graphs())
def test_the_graph_has_the_order_of_the_names(reads: dict[str, tuple[str, ...]]) -> None:
    assert graph_of(reads).order == order_of(reads, {})


@given(graphs())
def test_a_generation_needs_the_one_before_and_nothing_of_its_own(reads: dict[str, tuple[str, ...]]) -> None:
    graph = graph_of(reads)
    place = {name: number for number, each in enumerate(graph.generations) for name in each}
    assert sorted(place) == sorted(graph.order)
    for name, each in reads.items():
        assert place[name] == max((place[read] + 1 for read in each), default=0)


@given(graphs())
def test_upstream_and_downstream_are_two_sides_of_one_thing(reads: dict[str, tuple[str, ...]]) -> None:
    graph = graph_of(reads)
    up = {(below, name) for name in reads for below in graph.upstream(name)}
    down = {(name, above) for name in reads for above in graph.downstream(name)}
    assert up == down
    assert up >= {(read, name) for name, each in reads.items() for read in each}
    assert all(graph.order.index(below) < graph.order.index(name) for below, name in up)


@given(graphs(), st.randoms(use_true_random=False))
def test_the_graph_does_not_depend_on_how_it_is_given(
    reads: dict[str, tuple[str, ...]], shuffle: Random
) -> None:
    names = list(reads)
    shuffle.shuffle(names)
    again = graph_of({name: tuple(reversed(reads[name])) for name in names})
    assert (again, again.dot()) == (graph_of(reads), graph_of(reads).dot())


@given(graphs(), st.data())
def test_no_chain_weighs_more_than_the_critical_path(
    reads: dict[str, tuple[str, ...]], data: st.DataObject
) -> None:
    weights = {name: data.draw(st.integers(0, 9)) for name in reads}
    path = graph_of(reads).critical_path(weights)
    assert all(before in reads[after] for before, after in pairwise(path))

    def heaviest(name: str) -> int:
        return weights[name] + max((heaviest(read) for read in reads[name]), default=0)

    assert sum(weights[name] for name in path) == max(heaviest(name) for name in reads)


def orders() -> TaskGraph:
    """A pinned source, a view that is not stored, and two tables above it; `late` is not there yet."""
    return task_graph(
        [
            planned(
                "paid",
                pin("orders", 3),
                PlannedInput(name="late", kind="slot", identity="x"),
                stored=False,
                columns={
                    "id": [("orders", "id", "value")],
                    "who": [("orders", "who", "value"), ("late", "who", "value")],
                    "rows": [("orders", "status", "filter")],
                },
            ),
            planned(
                "names",
                PlannedInput(name="PAID", kind="view", identity="y"),
                columns={"name": [("paid", "who.name", "value")]},
            ),
            planned("counted", "paid", "names", columns={"n": [("paid", "id", "group")]}),
        ]
    )


def test_nodes_are_scans_and_views_with_versions_and_fingerprints() -> None:
    graph = orders()
    views = {task.name: task.key for task in graph.tasks if task.kind == "view"}
    digest = Fingerprint(code="paid", functions="", settings="", policies="", inputs="").digest
    assert views["paid"] == f"view::paid::{digest}"
    assert [task.key for task in graph.tasks if task.kind == "scan"] == ["scan::late::new", "scan::orders::3"]
    assert graph.arrows == tuple(
        sorted(
            [
                ("scan::late::new", views["paid"]),
                ("scan::orders::3", views["paid"]),
                (views["paid"], views["names"]),
                (views["paid"], views["counted"]),
                (views["names"], views["counted"]),
            ]
        )
    )
    assert graph.generations == (("paid",), ("names",), ("counted",))


def test_what_is_upstream_and_downstream() -> None:
    graph = orders()
    assert graph.upstream("Counted") == ("late", "names", "orders", "paid")
    assert graph.downstream("orders") == ("counted", "names", "paid")
    assert graph.downstream("counted") == ()


def test_a_scan_that_was_looked_into_is_an_arrow() -> None:
    view = planned("v", PlannedInput(name="u", kind="view", identity=""), stored=True)
    scan = ScanUnit(
        key="scan::s::4",
        dataset="s",
        version=4,
        candidate_files=1,
        candidate_bytes=1,
        kept_files=1,
        kept_bytes=1,
    )
    found = task_graph(
        [msgspec.structs.replace(view, scans=(scan,)), planned("u", pin("s", 4), stored=False)]
    )
    assert ("scan::s::4", view.key) in found.arrows
    assert found.upstream("v") == ("s", "u")


def test_without_weights_only_stored_views_count() -> None:
    graph = task_graph(
        [
            planned("a", stored=False),
            planned("b", "a", stored=False),
            planned("c", "b"),
            planned("x"),
            planned("y", "x"),
        ]
    )
    assert graph.critical_path() == ("x", "y")
    assert graph.critical_path({"C": 3.0, "y": 2.0}) == ("a", "b", "c")
    assert task_graph([]).critical_path() == ()


def test_of_chains_that_weigh_the_same_the_first_by_name_is_critical() -> None:
    graph = graph_of({"a": (), "b": (), "c": ("b", "a"), "d": ("a", "b")})
    assert graph.critical_path() == ("a", "c")


def test_a_column_is_followed_through_views_to_datasets() -> None:
    graph = orders()
    assert graph.column_upstream("names", "Name") == (
        Edge("late", "who", "paid", "who", "value"),
        Edge("orders", "status", "paid", "who", "filter"),
        Edge("orders", "who", "paid", "who", "value"),
        Edge("paid", "who.name", "names", "name", "value"),
    )
    assert graph.column_upstream("orders", "who") == ()


def test_a_column_is_followed_to_everything_that_depends_on_it() -> None:
    graph = orders()
    assert graph.column_downstream("orders", "id") == (
        Edge("orders", "id", "paid", "id", "value"),
        Edge("paid", "id", "counted", "n", "group"),
    )
    assert graph.column_downstream("paid", "who") == (Edge("paid", "who.name", "names", "name", "value"),)
    assert graph.column_downstream("orders", "nobody_knows") == ()


def test_names_that_the_plan_does_not_have_are_refused() -> None:
    with pytest.raises(NotPlanned) as caught:
        orders().upstream("ordrs")
    assert caught.value.message == "the plan has no view or dataset 'ordrs'"
    assert caught.value.next_step == "Did you mean 'orders'? It has counted, late, names, orders, paid."
    with pytest.raises(NotPlanned, match="no column of 'paid' 'idd'"):
        orders().column_downstream("paid", "idd")


def test_a_path_begins_with_its_column() -> None:
    assert [top_column(each) for each in ("a", "a.b.c", "`a.b`", "`a.b`.`c.d`")] == ["a", "a", "a.b", "a.b"]


def test_lineage_that_names_what_is_not_read_is_a_defect() -> None:
    view = planned("v", pin("a", 1), columns={"x": [("A", "x", "value"), ("b", "y", "value")]})
    with pytest.raises(OrderMismatch) as caught:
        task_graph([view])
    assert (caught.value.promised, caught.value.found) == (("a",), ("A", "b"))
    assert caught.value.origin == Origin("views/v.sql", 1)


def test_a_fixpoint_depends_on_its_own_columns_and_is_no_circle() -> None:
    step = planned("r", pin("a", 1), columns={"x": [("a", "x", "value"), ("R", "y", "join")], "y": []})
    with pytest.raises(OrderMismatch):
        task_graph([step])
    fixpoint = PlannedFixpoint(schema="{}", max_rounds=9, linear=True)
    graph = task_graph([msgspec.structs.replace(step, fixpoint=fixpoint), planned("v", "r")])
    assert graph.order == ("r", "v")
    assert graph.upstream("r") == ("a",)
    assert [each.from_dataset for each in graph.column_upstream("r", "x")] == ["R", "a"]


def test_planned_views_in_a_circle_are_named_with_their_places() -> None:
    with pytest.raises(Cycle) as caught:
        task_graph([planned("a", "b"), planned("b", "a")])
    assert caught.value.path == "a (views/a.sql:1) -> b (views/b.sql:1) -> a"


def test_the_graph_is_drawn() -> None:
    graph = task_graph([planned("a", pin("s", 1), stored=False), planned("b", "a")])
    one, two = (task.key for task in graph.tasks if task.kind == "view")
    assert graph.dot() == (
        "digraph tasks {\n"
        "  rankdir=LR;\n"
        '  "scan::s::1" [label="s", shape=cylinder];\n'
        f'  "{one}" [label="a", shape=ellipse];\n'
        f'  "{two}" [label="b", shape=box];\n'
        f'  "scan::s::1" -> "{one}";\n'
        f'  "{one}" -> "{two}";\n'
        "}\n"
    )


def test_columns_are_drawn_by_dataset() -> None:
    assert lineage_dot(orders().column_upstream("names", "name")[2:]) == (
        "digraph lineage {\n"
        "  rankdir=LR;\n"
        '  subgraph "cluster_names" {\n'
        '    label="names";\n'
        '    "names.name" [label="name"];\n'
        "  }\n"
        '  subgraph "cluster_orders" {\n'
        '    label="orders";\n'
        '    "orders.who" [label="who"];\n'
        "  }\n"
        '  subgraph "cluster_paid" {\n'
        '    label="paid";\n'
        '    "paid.who" [label="who"];\n'
        '    "paid.who.name" [label="who.name"];\n'
        "  }\n"
        '  "paid.who" -> "paid.who.name" [style=dashed, arrowhead=none];\n'
        '  "orders.who" -> "paid.who";\n'
        '  "paid.who.name" -> "names.name";\n'
        "}\n"
    )
    edge = Edge("a", "x", "b", "y", "filter")
    assert '"a.x" -> "b.y" [label="filter"];' in lineage_dot([edge, edge])
