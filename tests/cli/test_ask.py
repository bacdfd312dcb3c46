"""`headwater ask`, run as a user would, of a server with a small graph and of none."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from headwater.cpg import QUESTIONS, Graph
from headwater.opening import open_project
from headwater.serving import Server, socket_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from conftest import Finished

Run = Callable[..., "Finished"]
RunMany = Callable[..., dict[str, "Finished"]]


def definition(name: str, path: str, line: int, *callers: str) -> dict[str, Any]:
    edge = {"edge_kind": "CALLS", "label": "call", "resolution": "exact", "line": 9, "confidence": 500}
    columns = dict.fromkeys(("own_effects", "effects", "raises"), ()) | dict.fromkeys(
        ("node_id", "name"), name
    )
    return columns | {
        "kind": "function",
        "symbol": f"s {name}",
        "path": path,
        "line": line,
        "end_line": line + 1,
        "is_test": False,
        "dist": None,
        "incoming": [edge | {"other_id": each} for each in callers],
    }


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A repository with a server that has a graph of it in memory; nothing was built, and no Spark runs."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "shop.py").touch()
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    rows = [
        definition("shop.total", "shop.py", 1, "shop.pay", "web.pay"),
        definition("shop.pay", "shop.py", 5),
        definition("web.pay", "we\x1bb.py", 3),
    ]
    columns = ("node_id", "kind", "name", "symbol", "path", "line", "end_line", "is_test", "dist")
    table = pa.Table.from_pylist(rows).select([*columns, "own_effects", "effects", "raises", "incoming"])
    graph = Graph("shop", folder, lambda _: table)
    with Server(socket_of(open_project(folder)), lambda: graph, lambda: None) as server:
        ready = Event()
        thread = Thread(target=server.serve, args=(None, ready.set))
        thread.start()
        assert ready.wait(10)
        yield folder
        server.end()
        thread.join()


def test_an_answer_has_places_that_cannot_steer_a_terminal(headwater_here: Run, shop: Path) -> None:
    done = headwater_here("ask", "callers", "total", "--path", shop)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "shop.py:9     shop.pay  calls (0.50)",
        "we\\x1bb.py:9  web.pay   calls (0.50)",
        "callers shop.total: 2 findings",
    ]
    limited = headwater_here("ask", "callers", "total", "--limit", "1", "--debug", cwd=shop)
    assert limited.out.splitlines()[1].endswith("2 findings, 1 of them shown: --limit 0 shows all")
    assert limited.err.startswith("answered by the server at ")


def test_an_answer_is_one_document_or_a_drawing(headwater_here: Run, shop: Path) -> None:
    document = json.loads(headwater_here("ask", "callers", "total", "--json", cwd=shop).out)
    assert (document["schema_version"], document["subject"], document["count"]) == (1, "shop.total", 2)
    found = document["findings"][0]
    assert (found["name"], found["path"], found["line"]) == ("shop.pay", "shop.py", 9)
    assert (found["reason"], found["confidence"]) == ("calls", 0.5)
    drawn = headwater_here("ask", "callers", "total", "--dot", cwd=shop).out
    assert '  "web.pay" -> "shop.total" [label="calls"];' in drawn.splitlines()
    drawn = headwater_here("ask", "callers", "total", "--mermaid", cwd=shop).out
    assert drawn.splitlines()[0] == "flowchart LR"


def test_an_ambiguous_name_lists_its_candidates_and_exits_with_1(headwater_here: Run, shop: Path) -> None:
    done = headwater_here("ask", "callers", "pay", "--json", cwd=shop)
    assert done.code == 1
    assert json.loads(done.out)["error"]["candidates"] == [
        "shop.pay (function, shop.py:5)",
        "web.pay (function, we\x1bb.py:3)",
    ]
    assert done.err.startswith("HW-QUERY-009 'pay' may be one of 2 things\n")
    assert "\x1b" not in done.err
    assert headwater_here("ask", "callers", "pya", cwd=shop).err.startswith("HW-QUERY-008")


def test_without_a_server_a_graph_that_was_never_built_is_told_how_to_be(
    headwaters: RunMany, shop: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "headwater.toml").touch()
    (project / "a.py").touch()
    ends = headwaters(
        repository={"arguments": ("ask", "defs", "x", "--no-server"), "cwd": shop},
        project={"arguments": ("ask", "defs", "x", "-p", project, "--json")},
        nowhere={"arguments": ("ask", "defs", "x", "-p", tmp_path / "nowhere")},
    )
    assert {name: (done.code, done.err.split()[0]) for name, done in ends.items()} == {
        "repository": (1, "HW-QUERY-010"),
        "project": (1, "HW-QUERY-010"),
        "nowhere": (2, "HW-CONFIG-005"),
    }
    assert f"Build it first: headwater build {project} --graph" in ends["project"].err
    assert json.loads(ends["project"].out)["error"]["code"] == "HW-QUERY-010"


def test_all_questions_are_listed_and_wrong_ones_are_refused(headwaters: RunMany, tmp_path: Path) -> None:
    ends = headwaters(
        listed={"arguments": ("ask",)},
        document={"arguments": ("ask", "--json")},
        unknown={"arguments": ("ask", "who", "x"), "cwd": tmp_path},
        few={"arguments": ("ask", "path", "x")},
        many={"arguments": ("ask", "callers", "x", "y")},
        elsewhere={"arguments": ("ask", "callers", "x", "--diff", "HEAD")},
        forms={"arguments": ("ask", "callers", "x", "--dot", "--json")},
    )
    assert {name: done.code for name, done in ends.items()} == {
        name: 0 if name in {"listed", "document"} else 2 for name in ends
    }
    told = ends["listed"].out.splitlines()
    assert [line.split()[0] for line in told[: len(QUESTIONS)]] == list(QUESTIONS)
    assert "Example: headwater ask callers Cart.total" in told[-1]
    assert [each["question"] for each in json.loads(ends["document"].out)["questions"]] == list(QUESTIONS)
    assert all(name in ends["unknown"].err for name in QUESTIONS)
    assert "takes FROM TO, not 1 name" in ends["few"].err
    assert "takes NAME, not 2 names" in ends["many"].err
    assert "belongs to the question 'impact'" in ends["elsewhere"].err
    assert "different forms" in ends["forms"].err
