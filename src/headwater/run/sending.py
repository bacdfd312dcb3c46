"""Events on their way: to a file, to a server, in a thread of their own, so that no build waits for long.

Not here: what is in an event.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass, field
from http import HTTPStatus
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Protocol

import requests
from openlineage.client.serde import Serde
from openlineage.client.transport.http import ApiKeyTokenProvider, HttpConfig, HttpTransport, TokenProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from openlineage.client.event_v2 import RunEvent

_ATTEMPTS = 3
_PAUSE_SECONDS = 0.2
# A server that says one of these may say another thing soon.
_PASSING = frozenset({HTTPStatus.TOO_MANY_REQUESTS, *range(HTTPStatus.INTERNAL_SERVER_ERROR, 600)})
_NO_ANSWER = "there was no answer in time"


class Sink(Protocol):
    """Somewhere that events go."""

    @property
    def shown(self) -> str:
        """The place, as people know it."""
        ...

    def send(self, event: RunEvent, pause: Callable[[float], bool]) -> str | None:
        """Why an event did not arrive; None if it did. A `pause` that is cut short means to give up."""
        ...

    def close(self) -> None:
        """Nothing more is sent."""
        ...


@dataclass(frozen=True, slots=True)
class FileSink:
    """A file that gets one event per line. Each is added whole, whoever else writes there, too."""

    path: Path

    @property
    def shown(self) -> str:
        """Its path."""
        return str(self.path)

    def send(self, event: RunEvent, pause: Callable[[float], bool]) -> str | None:
        """Why the line was not written; None if it was."""
        del pause
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # A pipe that nobody reads is an error, not something to wait for.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
            with os.fdopen(os.open(self.path, flags, 0o666), "ab", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                _append(file.fileno(), Serde.to_json(event).encode() + b"\n")
        except OSError as error:
            return error.strerror or type(error).__name__
        return None

    def close(self) -> None:
        """Nothing is open."""


def _append(file: int, line: bytes) -> None:
    """Writes all of a line; what is there of one that did not fit is taken away again."""
    before = os.fstat(file).st_size
    rest = memoryview(line)
    try:
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError:
        if len(rest) < len(line):
            os.ftruncate(file, before)
        raise


class HttpSink:
    """A server that takes events, as OpenLineage's own clients send them.

    What it says of a failure has no part of the address in it, and no key.
    """

    def __init__(
        self, url: str, endpoint: str, *, timeout: float, key_name: str | None, key: str | None
    ) -> None:
        self.shown = f"{url}/{endpoint}"
        self._timeout = timeout
        self._missing = f"the variable {key_name} is not set" if key_name and not key else None
        auth = ApiKeyTokenProvider({"apiKey": key}) if key else TokenProvider({})
        # The library would try again, too, but tells the log of it, and cannot be stopped.
        once = {"total": 0, "read": False}
        config = HttpConfig(url=f"{url}/", endpoint=endpoint, timeout=timeout, auth=auth, retry=once)
        self._transport = HttpTransport(config)

    def send(self, event: RunEvent, pause: Callable[[float], bool]) -> str | None:
        """Why the server did not take an event; None if it did."""
        if self._missing is not None:
            return self._missing
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._transport.emit(event)
            except requests.Timeout:
                return f"there was no answer within {self._timeout:g} s"
            except requests.HTTPError as error:
                status = error.response.status_code if error.response is not None else 0
                words, is_passing = f"it answered {status}", status in _PASSING
            except requests.ConnectionError:
                words, is_passing = "there is no connection", True
            except requests.RequestException as error:
                return type(error).__name__
            else:
                return None
            if not is_passing or attempt == _ATTEMPTS or pause(_PAUSE_SECONDS * attempt):
                return words
        return None

    def close(self) -> None:
        """Closes the connection."""
        self._transport.close()


@dataclass(slots=True)
class _Sent:
    """What became of the events for one place."""

    sink: Sink
    arrived: int = 0
    reason: str | None = None

    @property
    def shown(self) -> str:
        return self.sink.shown


@dataclass(slots=True)
class _Item:
    event: RunEvent
    done: Event = field(default_factory=Event)
    is_lost: bool = False


class EventSender:
    """Sends events in the order in which they come, in a thread.

    Whoever asks for it waits until an event has arrived, `wait_seconds` at the most for all events together,
    and not at all once one that was waited for was lost.
    """

    def __init__(self, sinks: Sequence[Sink], wait_seconds: float, monotonic: Callable[[], float]) -> None:
        self._sent = [_Sent(sink) for sink in sinks]
        self._wait_seconds = self._left = wait_seconds
        self._monotonic = monotonic
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._count = 0
        self._lock = Lock()
        self._is_given_up = Event()
        self._thread = Thread(target=self._work, name="headwater-openlineage", daemon=True)
        self._thread.start()

    def send(self, event: RunEvent, *, wait: bool = False) -> None:
        """Sends an event; any thread may call this."""
        item = _Item(event)
        with self._lock:
            self._count += 1
            self._queue.put(item)
        if wait and self._left > 0:
            start = self._monotonic()
            has_arrived = item.done.wait(self._left) and not item.is_lost
            with self._lock:
                self._left = self._left - (self._monotonic() - start) if has_arrived else 0

    def close(self) -> str | None:
        """Waits once more for what is on its way, and says what did not arrive; None if all of it did."""
        self._queue.put(None)
        self._thread.join(self._wait_seconds)
        self._is_given_up.set()
        lost = [
            f"{self._count - each.arrived} of {self._count} events did not reach {each.shown}: "
            f"{each.reason or _NO_ANSWER}"
            for each in self._sent
            if each.arrived < self._count
        ]
        return "; ".join(lost) or None

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            arrived = [self._send(item.event, each) for each in self._sent]
            item.is_lost = not all(arrived)
            item.done.set()
        for each in self._sent:
            each.sink.close()

    def _send(self, event: RunEvent, to: _Sent) -> bool:
        """Whether the event has arrived."""
        if self._is_given_up.is_set():
            return False
        try:
            reason = to.sink.send(event, self._is_given_up.wait)
        except Exception as error:  # noqa: BLE001  whatever it is, no build fails for an event
            reason = type(error).__name__
        if reason is None:
            to.arrived += 1
        else:
            to.reason = to.reason or reason
        return reason is None
