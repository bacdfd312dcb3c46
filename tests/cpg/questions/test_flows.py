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
from headwater.cpg.questions.flows import Flows, Sites

if TYPE_CHECKING:
    from pathlib import Path

CODE = "def read(): ...\n\n\ndef write(x): ...\n\n\nvalue = read()\nwrite(value + 1)\n"

PLACE = pa.schema(
    [
        *((name, pa.string()) for name in ("node_id", "path", "node_kind", "name")),
        ("line", pa.int32()),
    ]
)


def nodes_at(**lines_of: int) -> pa.Table:
    """Where nodes stand in `main.py`."""
    fixed = {"path": "main.py", "node_kind": "CALL", "name": None}
    return pa.Table.from_pylist(
        [fixed | {"node_id": f"node:{name}", "line": line} for name, line in lines_of.items()], PLACE
    )


NODES = nodes_at(**{"1": 7, "2": 7, "3": 8})


def flows_of(*steps: tuple[str, str, str, bool], sure: float = 1.0, nodes: pa.Table = NODES) -> Flows:
    """Steps as the graph gives them."""
    names = ("src_node_id", "dst_node_id", "kind")
    columns = {name: pa.array([each[at] for each in steps], pa.string()) for at, name in enumerate(names)}
    more = {
        "preserves_value": pa.array([each[3] for each in steps], pa.bool_()),
        "confidence": pa.array([sure for _ in steps], pa.float64()),
    }
    return Flows.of(pa.table(columns | more), nodes)


def sites_of(*rows: tuple[str, str, str, str]) -> Sites:
    """Calls and reads as the graph gives them: how, the definition, the site, the node."""
    names = ("how", "def_id", "site_id", "node_id")
    return Sites.of(
        pa.table({name: pa.array([each[at] for each in rows], pa.string()) for at, name in enumerate(names)})
    )


def asked(flows: Flows, folder: Path) -> tuple[list[str], tuple[str, ...]]:
    """The answer to where values of `read` get to `write`."""
    code = code_of(CODE)
    reads, writes = (code.ids[row_of(code, f"main.{name}")] for name in ("read", "write"))
    sites = sites_of(("called", reads, "node:1", "node:1"), ("taken", writes, "node:4", "node:3"))
    answer = flow(code, ("read", "write"), folder, flows, sites)
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


def test_ways_by_sure_steps_go_before_shorter_ones(tmp_path: Path) -> None:
    def table(*steps: tuple[str, str, float]) -> Flows:
        names = ("src_node_id", "dst_node_id", "confidence")
        columns = {name: [each[at] for each in steps] for at, name in enumerate(names)}
        count = len(steps)
        fixed = {"kind": ["expr"] * count, "preserves_value": [True] * count}
        return Flows.of(pa.table(columns | fixed), NODES)

    unsure = ("node:1", "node:3", 0.11)
    found, notes = asked(table(unsure, ("node:1", "node:2", 1.0), ("node:2", "node:3", 1.0)), tmp_path)
    assert (len(found), notes) == (3, ())
    found, notes = asked(table(unsure), tmp_path)
    assert len(found) == 2
    assert notes == ("There are only ways by calls that may well go elsewhere.",)


def test_what_a_class_takes_is_given_to_what_makes_its_instances(tmp_path: Path) -> None:
    code = code_of(
        "class Base:\n    def __init__(self, x): ...\n\n\nclass Own(Base): ...\n\n\ndef read(): ...\n\n\n"
        "Own(read())\nBase(read())\n"
    )
    reads, makes = (code.ids[row_of(code, f"main.{name}")] for name in ("read", "Base.__init__"))
    sites = sites_of(
        *(("called", reads, node, node) for node in ("node:1", "node:2")),
        *(("taken", makes, f"node:{call}", f"node:{call - 10}") for call in (11, 12)),
    )
    nodes = nodes_at(**{"1": 11, "2": 12, "11": 11, "12": 12})
    flows = flows_of(("node:1", "node:9", "expr", True), ("node:2", "node:9", "expr", True), nodes=nodes)
    told = {sink: lines(flow(code, ("read", sink), tmp_path, flows, sites)) for sink in ("Own", "Base")}
    assert told == {
        "Own": ["[way 1] main.py:11 call begins"],
        "Base": ["[way 1] main.py:11 call begins", "[way 2] main.py:12 call begins"],
    }
