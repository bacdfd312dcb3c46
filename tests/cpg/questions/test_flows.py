"""Ways of values, over steps that are given."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from code_sample import code_of, lines, row_of
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.questions import flow
from headwater.cpg.questions.flows import Flows

if TYPE_CHECKING:
    from pathlib import Path

CODE = "def read(): ...\n\n\ndef write(x): ...\n\n\nvalue = read()\nwrite(value + 1)\n"


def flows_of(*steps: tuple[str, str, str, bool]) -> Flows:
    """Steps as the graph gives them."""
    names = ("src_node_id", "dst_node_id", "kind")
    columns = {name: pa.array([each[at] for each in steps], pa.string()) for at, name in enumerate(names)}
    more = {
        "access_path": pa.array([None for _ in steps], pa.string()),
        "preserves_value": pa.array([each[3] for each in steps], pa.bool_()),
    }
    return Flows.of(pa.table(columns | more))


def asked(flows: Flows, folder: Path) -> tuple[list[str], tuple[str, ...]]:
    """The answer to where values of `read` get to `write`, as it is told by steps and tables."""
    code = code_of(CODE)
    places = {"node:1": 7, "node:2": 7, "node:3": 8}

    def query(sql: str) -> pa.Table:
        if "file_nodes" in sql:
            rows = [
                {"node_id": node, "path": "main.py", "line": line, "node_kind": "CALL", "name": None}
                for node, line in places.items()
                if node in sql
            ]
            return pa.Table.from_pylist(rows)
        given_by = code.ids[row_of(code, "main.read")] in sql
        found = ["node:1"] if given_by and "targets" in sql else ["node:3"] if not given_by else []
        return pa.table({"node_id": pa.array(found, pa.string())})

    answer = flow(code, ("read", "write"), "main", folder, query, flows)
    return lines(answer), answer.notes


def test_a_way_is_told_step_by_step(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(CODE)
    found, notes = asked(
        flows_of(("node:1", "node:2", "reaching_def", True), ("node:2", "node:3", "expr", False)), tmp_path
    )
    assert found == [
        "[way 1] main.py:7 call begins: value = read()",
        "[way 1] main.py:7 call is read: value = read() +2",
        "[way 1] main.py:8 call is part of (another value is made of it): write(value + 1) +3",
    ]
    assert notes == ()


def test_a_file_that_is_gone_has_no_text(tmp_path: Path) -> None:
    found, _ = asked(flows_of(("node:1", "node:3", "arg_param", True)), tmp_path)
    assert found == ["[way 1] main.py:7 call begins", "[way 1] main.py:8 call is passed +2"]


@pytest.mark.parametrize(
    ("steps", "note"),
    [
        ([("node:3", "node:1", "expr", True)], "No value of the source was found to get to the sink."),
        ([("node:1", "node:2", "expr", True)], "No way: nothing is given to the sink."),
        ([("node:2", "node:3", "expr", True)], "No way: nothing is read of the source."),
    ],
)
def test_there_may_be_no_way(steps: list[tuple[str, str, str, bool]], note: str, tmp_path: Path) -> None:
    assert asked(flows_of(*steps), tmp_path) == ([], (note,))


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1))
def test_a_way_is_the_shortest_there_is(pairs: list[tuple[int, int]]) -> None:
    flows = flows_of(*((f"node:{one}", f"node:{other}", "expr", True) for one, other in pairs))
    (start,) = flows.numbers([f"node:{pairs[0][0]}"])
    distance, front = {pairs[0][0]: 0}, [pairs[0][0]]
    while front:
        front = sorted({b for a, b in pairs if a in front and b not in distance})
        distance |= dict.fromkeys(front, max(distance.values()) + 1)
    for end, far in distance.items():
        (way,) = flows.ways([start], flows.numbers([f"node:{end}"]), 1)
        nodes = [int(str(flows.ids[node]).removeprefix("node:")) for node, _ in way]
        assert len(nodes) == far + 1
        assert all(step in pairs for step in pairwise(nodes))
