from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from headwater.plan.catalyst import analysed_tree, planned_trees
from headwater.plan.tree import (
    Attribute,
    Node,
    Opaque,
    Struct,
    TypeOf,
    deep_trees,
    expressions_in,
    inner_nodes,
    nodes_below,
    plans_in,
    tree_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import RunSession

DOCUMENT: dict[str, Any] = {
    "root": {"node": 2},
    "nodes": [
        {"expression": "Literal", "type": 0, "literal": "1:1;", "written": "1"},
        {"plan": "View", "output": [7], "name": "orders", "temporary": True},
        {
            "plan": "Filter",
            "output": [7],
            "fields": {
                "condition": {"node": 0},
                "child": {"node": 1},
                "odd": [{"opaque": "x.Y"}, {"value": "Inner", "fields": {}}, {"type": 0}, {"id": 3}, None],
            },
        },
    ],
    "attributes": [[7, "id", 0, False, {"k": 1}]],
    "types": ["integer"],
}


def test_a_document_becomes_nodes_that_hold_each_other() -> None:
    tree = tree_of(DOCUMENT)
    assert tree.columns == (Attribute(7, "id", "integer", False, {"k": 1}),)
    top = tree.root
    assert [each.kind for each in inner_nodes(top)] == ["Literal", "View"]
    assert [each.kind for each in expressions_in(top)] == ["Literal"]
    assert [each.kind for each in plans_in(top)] == ["View"]
    assert [each.kind for each in tree.nodes()] == ["Filter", "Literal", "View"]
    opaque, struct, kind, number, nothing = top.fields["odd"]
    assert opaque == Opaque("x.Y")
    assert isinstance(struct, Struct)
    assert kind == TypeOf("integer")
    assert (number.id, nothing) == (3, None)
    assert top.plan("child").is_boundary


def test_an_inlined_frame_is_no_boundary() -> None:
    assert not Node(kind="View", sort="plan", fields={}, name="_pyspark_connect_temp_view_1").is_boundary
    assert not Node(kind="Project", sort="plan", fields={}, name="orders").is_boundary


def test_a_tree_has_what_catalysts_own_json_leaves_out(session: RunSession) -> None:
    session.spark.range(3).createOrReplaceTempView("a")
    frame = session.spark.sql(
        "SELECT id, v.x FROM a JOIN VALUES (1, 'p'), (2, NULL) AS v(x, y) ON id = x "
        "WHERE id IN (SELECT id FROM a) AND date'2020-01-01' > date'2019-01-01'"
    )
    tree = analysed_tree(frame)
    assert [column.name for column in tree.columns] == ["id", "x"]
    nodes = list(tree.nodes())
    rows = next(node.rows for node in nodes if node.kind == "LocalRelation")
    assert rows is not None
    assert rows[0] == 2
    assert {node.written for node in nodes if node.written} >= {"date'2020-01-01'"}
    assert sum(node.is_boundary for node in nodes) == 2


def test_rows_that_differ_have_another_digest(session: RunSession) -> None:
    def digest(values: str) -> tuple[int, str] | None:
        tree = analysed_tree(session.spark.sql(f"SELECT * FROM VALUES {values} AS v(x, y)"))
        return next(node.rows for node in tree.nodes() if node.kind == "LocalRelation")

    same = [digest("(1, array('a', NULL))") for _ in range(2)]
    assert same[0] == same[1]
    others = [
        digest("(1, array('a', 'NULL'))"),
        digest("(2, array('a', NULL))"),
        digest("(1, array('a'))"),
        digest("(1, array('aNULL'))"),
        digest("(1, NULL)"),
    ]
    assert len({*others, same[0]}) == 6


def test_optimised_and_physical_plans_are_trees_too(session: RunSession, tmp_path: Path) -> None:
    session.spark.range(3).write.format("delta").save(str(tmp_path / "t"))
    frame = session.spark.read.format("delta").load(str(tmp_path / "t")).where("id > 1")
    for tree in planned_trees(frame):
        assert [column.name for column in tree.columns] == ["id"]
        paths = [path for node in tree.nodes() for path in node.paths]
        assert paths == [f"file:{tmp_path / 't'}"]


def test_a_deep_tree_can_be_walked_and_leaves_the_limit_as_it_was(session: RunSession) -> None:
    frame = session.spark.range(1)
    for _ in range(120):
        frame = frame.select((frame["id"] + 1).alias("id"))
    before = sys.getrecursionlimit()
    with deep_trees():
        assert sys.getrecursionlimit() > before
    assert sys.getrecursionlimit() == before
    assert sum(node.kind == "Project" for node in nodes_below(analysed_tree(frame).root)) == 120
