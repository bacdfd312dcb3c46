from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from receiver import Receiver, receiving

from headwater.run.sending import EventSender, FileSink, HttpSink

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from headwater.run.sending import Sink

KEY = "hunter2"


@pytest.fixture
def server() -> Generator[Receiver]:
    with receiving() as taken:
        yield taken


def event(number: int = 0, name: str = "job") -> RunEvent:
    return RunEvent(
        eventTime=datetime(2026, 1, 2, tzinfo=UTC).isoformat(),
        eventType=RunState.START,
        run=Run(runId=f"00000000-0000-7000-8000-{number:012x}"),
        job=Job(namespace="test", name=name),
        producer="pkg:pypi/headwater@0",
    )


def http(url: str, *, timeout: float = 5, key_name: str | None = None, key: str | None = None) -> HttpSink:
    return HttpSink(url, "api/v1/lineage", timeout=timeout, key_name=key_name, key=key)


def sent(*sinks: Sink, count: int = 1, wait_seconds: float = 5, wait: bool = False) -> str | None:
    """What is said of events that were not taken."""
    sender = EventSender(sinks, wait_seconds, time.monotonic)
    for number in range(count):
        sender.send(event(number), wait=wait)
    return sender.close()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


# --- to a server ---------------------------------------------------------------------------------------


def test_events_arrive_in_their_order(server: Receiver) -> None:
    assert sent(http(server.url), count=20) is None
    assert [int(each["run"]["runId"][-12:], 16) for each in server.events] == list(range(20))
    assert {path for path, _ in server.requests} == {"/api/v1/lineage"}


def test_a_path_of_the_server_stays_before_the_endpoint(server: Receiver) -> None:
    assert sent(http(f"{server.url}/marquez")) is None
    assert server.requests[0][0] == "/marquez/api/v1/lineage"


def test_the_key_is_sent_as_a_bearer_and_nowhere_shown(
    server: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.answers = [401]
    words = sent(http(server.url, key_name="LINEAGE_KEY", key=KEY))
    assert server.requests[0][1]["Authorization"] == f"Bearer {KEY}"
    assert words == f"1 of 1 events did not reach {server.url}/api/v1/lineage: it answered 401"
    assert KEY not in caplog.text


def test_without_its_key_nothing_is_sent(server: Receiver) -> None:
    words = sent(http(server.url, key_name="LINEAGE_KEY"), count=2)
    assert words is not None
    assert words.startswith("2 of 2 events")
    assert words.endswith(": the variable LINEAGE_KEY is not set")
    assert server.requests == []


def test_a_server_that_stumbles_is_asked_again(server: Receiver) -> None:
    server.answers = [500, 429]
    assert sent(http(server.url), count=2) is None
    assert len(server.events) == 2


def test_a_server_that_fails_is_asked_three_times_and_the_next_event_still_arrives(
    server: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    server.answers = [500, 503, 500]
    words = sent(http(server.url), count=2)
    assert words == f"1 of 2 events did not reach {server.url}/api/v1/lineage: it answered 500"
    assert len(server.requests) == 4
    assert caplog.text == ""


def test_what_a_server_refuses_is_not_sent_again(server: Receiver) -> None:
    server.answers = [422]
    words = sent(http(server.url))
    assert words is not None
    assert words.endswith("it answered 422")
    assert len(server.requests) == 1


def test_a_dead_port_is_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    words = sent(http(url), count=2)
    assert words == f"2 of 2 events did not reach {url}/api/v1/lineage: there is no connection"
    assert caplog.text == ""


def test_a_slow_server_is_not_waited_for_longer_than_twice_the_timeout() -> None:
    with receiving(Receiver(hold=Event())) as slow:
        start = time.monotonic()
        words = sent(http(slow.url, timeout=0.5), count=20, wait_seconds=0.5, wait=True)
        took = time.monotonic() - start
    assert words is not None
    assert words.startswith(f"20 of 20 events did not reach {slow.url}")
    assert "no answer" in words
    assert took < 5  # 0.5 s for all that were waited for, 0.5 s at the end; one by one it would be 10 s


def test_who_waits_goes_on_when_the_event_has_arrived(server: Receiver) -> None:
    sender = EventSender([http(server.url)], 30, time.monotonic)
    sender.send(event(), wait=True)
    assert len(server.events) == 1
    assert sender.close() is None


def test_nobody_waits_any_more_once_an_event_was_lost() -> None:
    class Slow:
        shown = "here"

        def send(self, event: RunEvent, pause: Callable[[float], bool]) -> str | None:
            del event
            return "it is slow" if pause(0.1) else "it is lost"

        def close(self) -> None:
            pass

    ticks = iter(range(100))
    sender = EventSender([Slow()], 30, lambda: float(next(ticks)))
    for number in range(5):
        sender.send(event(number), wait=True)
    assert next(ticks) == 1  # the clock was looked at for the first of them alone
    assert sender.close() == "5 of 5 events did not reach here: it is lost"


def test_an_event_that_cannot_be_written_down_is_a_loss_and_no_more(server: Receiver, tmp_path: Path) -> None:
    class Odd:
        shown = "here"

        def send(self, event: RunEvent, pause: Callable[[float], bool]) -> str | None:
            del event, pause
            raise RecursionError

        def close(self) -> None:
            pass

    words = sent(Odd(), FileSink(tmp_path / "events"), http(server.url))
    assert words == "1 of 1 events did not reach here: RecursionError"


# --- to a file -----------------------------------------------------------------------------------------


def test_each_event_is_a_line_behind_those_that_are_there(tmp_path: Path) -> None:
    place = tmp_path / "a" / "events.jsonl"
    assert sent(FileSink(place), count=2) is None
    assert sent(FileSink(place)) is None
    runs = [json.loads(line)["run"]["runId"][-1] for line in place.read_text("utf-8").splitlines()]
    assert runs == ["0", "1", "0"]


@pytest.mark.parametrize("kind", ["a folder", "below a file", "a pipe"])
def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "taken"
    match kind:
        case "a folder":
            place.mkdir()
        case "below a file":
            place.write_text("")
            place /= "events"
        case _:
            os.mkfifo(place)
    words = sent(FileSink(place), count=3)
    assert words is not None
    assert words.startswith(f"3 of 3 events did not reach {place}: ")
    assert "\n" not in words


def test_a_full_disk_leaves_no_half_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "events"
    assert sent(FileSink(place)) is None
    before = place.read_bytes()
    real = os.write
    calls: list[int] = []

    def full(file: int, content: bytes) -> int:
        calls.append(file)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return real(file, content[:10])

    monkeypatch.setattr(os, "write", full)
    words = sent(FileSink(place))
    monkeypatch.undo()
    assert words == f"1 of 1 events did not reach {place}: No space left on device"
    assert place.read_bytes() == before


WRITER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_sending import EventSender, FileSink, event
sender = EventSender([FileSink(Path(sys.argv[1]))], 60, time.monotonic)
for number in range(40):
    sender.send(event(number, sys.argv[2] * 100_000))
assert sender.close() is None
"""


def test_lines_of_two_processes_stay_whole(tmp_path: Path) -> None:
    place = tmp_path / "events"
    here = str(Path(__file__).parent)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(place), letter, here]) for letter in ("a", "b")
    ]
    assert [each.wait(120) for each in writers] == [0, 0]
    jobs = [json.loads(line)["job"]["name"] for line in place.read_text("utf-8").splitlines()]
    assert sorted(jobs) == sorted(["a" * 100_000, "b" * 100_000] * 40)
