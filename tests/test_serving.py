"""A server of questions and its clients, over real sockets; the graph is a small table."""

from __future__ import annotations

import json
import socket
import stat
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from headwater import served as served_by
from headwater.cpg import Asked, Graph
from headwater.errors import AlreadyServed, Defect, HomeNotWritable, NameAmbiguous, NameUnknown, NotAGraph
from headwater.served import answer_from
from headwater.serving import LARGEST_REQUEST, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

EDGE = pa.struct(
    [
        *((name, pa.string()) for name in ("edge_kind", "other_id", "label", "resolution")),
        ("line", pa.int32()),
        ("confidence", pa.float64()),
    ]
)
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("node_id", "kind", "name", "symbol", "path")),
        *((name, pa.int32()) for name in ("line", "end_line")),
        ("is_test", pa.bool_()),
        ("dist", pa.string()),
        *((name, pa.list_(pa.string())) for name in ("own_effects", "effects", "raises")),
        ("incoming", pa.list_(EDGE)),
    ]
)
CALLERS = Asked(question="callers", names=("total",))


def definition(name: str, line: int, *callers: str) -> dict[str, Any]:
    """A function; `callers` call it in their first lines."""
    edge = {"edge_kind": "CALLS", "label": "call", "resolution": "exact", "line": line, "confidence": 1.0}
    columns = dict.fromkeys(("own_effects", "effects", "raises"), ()) | dict.fromkeys(
        ("node_id", "name"), name
    )
    return columns | {
        "kind": "function",
        "symbol": f"s {name}",
        "path": "shop.py",
        "line": line,
        "end_line": line + 1,
        "is_test": False,
        "incoming": [edge | {"other_id": each} for each in callers],
    }


def graph_with(*rows: dict[str, Any]) -> Graph:
    table = pa.Table.from_pylist(list(rows), SCHEMA)
    return Graph("shop", Path(), lambda _: table)


def small_graph() -> Graph:
    return graph_with(definition("shop.total", 1, "shop.pay"), definition("shop.pay", 5))


@contextmanager
def served(
    place: Path,
    read: Callable[[], Graph] = small_graph,
    stamp: Callable[[], str | None] = lambda: "one",
    idle: float | None = None,
) -> Generator[tuple[Server, Thread]]:
    with Server(place, read, stamp) as server:
        ready = Event()
        thread = Thread(target=server.serve, args=(idle, ready.set))
        thread.start()
        assert ready.wait(10)
        yield server, thread
        server.end()
        thread.join()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "s" / "a.sock"


@contextmanager
def connected(place: Path) -> Generator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(10)
        link.connect(str(place))
        yield link


def said_to(place: Path, request: bytes) -> Any:
    with connected(place) as link, link.makefile("rb") as reader:
        link.sendall(request)
        return json.loads(reader.readline())


def test_a_question_is_answered_and_errors_keep_their_kind_and_fields(place: Path) -> None:
    graph = graph_with(definition("a.total", 1, "a.pay"), definition("b.total", 1), definition("a.pay", 5))
    with served(place, lambda: graph) as (server, _):
        answer = answer_from(place, Asked(question="callers", names=("a.total",)))
        assert answer is not None
        assert [(each.name, each.path, each.line) for each in answer.findings] == [("a.pay", "shop.py", 1)]
        with pytest.raises(NameAmbiguous) as caught:
            answer_from(place, CALLERS)
        assert caught.value.candidates == ("a.total (function, shop.py:1)", "b.total (function, shop.py:1)")
        with pytest.raises(NameUnknown):
            answer_from(place, Asked(question="callers", names=("x' OR 1=1 --",)))
        assert server.answered == 3


def test_only_the_owner_can_reach_it_and_nothing_is_left_but_the_lock(place: Path) -> None:
    assert answer_from(place, CALLERS) is None
    with served(place):
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        place.parent.chmod(0o755)
        assert answer_from(place, CALLERS) is None
    assert [each.name for each in place.parent.iterdir()] == ["a.lock"]
    with pytest.raises(HomeNotWritable, match="nobody else"), served(place):
        pass


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (b"", "HW-QUERY-012"),
        (b"\xff\xfe", "HW-QUERY-012"),
        (b"[" * 50_000, "HW-QUERY-012"),
        (b'{"question": ' + b"[" * 50_000, "HW-QUERY-012"),
        (b'{"question": "callers", "names": ["total"], "sql": "DROP TABLE x"}', "HW-QUERY-012"),
        (b'{"question": "callers", "names": ["total"], "depth": "1"}', "HW-QUERY-012"),
        (b'{"question": "callers", "names": "total"}', "HW-QUERY-012"),
        (b'{"question": "callers"}', "HW-USAGE-001"),
        (b'{"question": "__class__", "names": []}', "HW-USAGE-001"),
        (b'{"question": "callers", "names": ["total"], "depth": -1}', "HW-USAGE-001"),
        (b'{"question": "impact", "diff": "--output=/tmp/x"}', "HW-QUERY-011"),
        (b'"' + b"a" * (2 * LARGEST_REQUEST), "HW-QUERY-012"),
    ],
    ids=range(12),
)
def test_a_broken_request_is_told_why_and_the_next_is_answered(
    place: Path, request_: bytes, code: str
) -> None:
    with served(place):
        told = said_to(place, request_ + b"\n")["error"]
        assert (told["code"], set(told)) == (code, {"code", "message", "next_step", "exit_code", "fields"})
        assert answer_from(place, CALLERS)


def test_clients_may_go_away_stay_silent_and_ask_several_times(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = b'{"question": "callers", "names": ["total"]}\n'
    with served(place):
        for part in (b"", b'{"quest', line):
            with connected(place) as link:
                link.sendall(part)
        with connected(place) as slow, connected(place) as quick, quick.makefile("rb") as reader:
            slow.sendall(line[:10])
            quick.sendall(line + line[:5])
            assert b"shop.pay" in reader.readline()
            quick.sendall(line[5:])
            assert b"shop.pay" in reader.readline()
            slow.sendall(line[10:])
            assert b"shop.pay" in slow.recv(10_000)
        monkeypatch.setattr(served_by, "SILENCE", 0.1)
        with connected(place) as silent:
            assert silent.recv(1) == b""


def test_a_new_build_is_read_before_the_next_answer(place: Path) -> None:
    builds = {"one": small_graph(), "two": graph_with(definition("shop.total", 1))}
    now = ["one"]
    read: list[str] = []

    def graph() -> Graph:
        read.append(now[0])
        return builds[now[0]]

    with served(place, graph, lambda: now[0]):
        counts: list[int] = []
        for build in ("one", "one", "two"):
            now[0] = build
            answer = answer_from(place, CALLERS)
            assert answer is not None
            counts.append(len(answer.findings))
    assert (counts, read) == ([1, 1, 0], ["one", "two"])


def test_a_graph_that_cannot_be_read_is_an_error_and_no_end(place: Path) -> None:
    failing: list[Exception] = [NotAGraph(path="/shop"), ZeroDivisionError("oh")]

    def read() -> Graph:
        if failing:
            raise failing.pop(0)
        return small_graph()

    with served(place, read):
        with pytest.raises(NotAGraph, match="/shop"):
            answer_from(place, CALLERS)
        with pytest.raises(Defect, match="ZeroDivisionError"):
            answer_from(place, CALLERS)
        assert answer_from(place, CALLERS)


def test_a_place_has_one_server_and_a_dead_one_gives_it_up(place: Path) -> None:
    place.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(place))
    assert place.is_socket()
    assert answer_from(place, CALLERS) is None
    with served(place):
        assert answer_from(place, CALLERS)
        with pytest.raises(AlreadyServed), Server(place, small_graph, lambda: None):
            pass
        assert answer_from(place, CALLERS), "the second one must leave the first one's socket alone"


def test_it_ends_by_itself_when_nobody_asks(place: Path) -> None:
    with served(place, idle=0.0) as (_, thread):
        thread.join(10)
        assert not thread.is_alive()


def test_who_waits_when_a_server_ends_has_no_answer_and_can_go_on(place: Path) -> None:
    begun, end = Event(), Event()

    def read() -> Graph:
        begun.set()
        assert end.wait(10)
        return small_graph()

    answers: list[object] = []
    with served(place, read) as (server, _):
        waiting = Thread(target=lambda: answers.append(answer_from(place, CALLERS)))
        waiting.start()
        assert begun.wait(10)
        server.end()
        waiting.join(10)
        end.set()
    assert answers == [None]
