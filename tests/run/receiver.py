"""A server for OpenLineage events on this machine, and what it was sent."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


@dataclass
class Receiver:
    """What came, and how it is answered: with the next of `answers`, or with 201."""

    url: str = ""
    answers: list[int] = field(default_factory=list[int])
    hold: Event | None = None
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list[tuple[str, dict[str, str]]])
    heard: Callable[[dict[str, Any]], None] = lambda _event: None

    def take(self, path: str, headers: dict[str, str], body: bytes) -> int:
        self.requests.append((path, headers))
        if self.hold is not None:
            self.hold.wait(60)
        answer = self.answers.pop(0) if self.answers else 201
        if answer == 201:
            event = json.loads(body)
            self.events.append(event)
            self.heard(event)
        return answer


@contextmanager
def receiving(receiver: Receiver | None = None) -> Generator[Receiver]:
    """A receiver that listens."""
    taken = receiver or Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                self.send_response(taken.take(self.path, dict(self.headers), body))
                self.send_header("Content-Length", "0")
                self.end_headers()
            except BrokenPipeError:
                pass  # who sent it has given up

        def log_message(self, format: str, *_rest: object) -> None:  # noqa: A002  the library's name
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    taken.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield taken
    finally:
        if taken.hold is not None:
            taken.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()
