"""A code graph that stays in memory: a server that answers questions over a local socket, and its client.

    with Server(socket_of(project), lambda: graph_of(project), stamp) as server:
        server.serve()
    answer_from(socket_of(project), asked)     None if no server answers

A request is one line of JSON, what is `Asked` and nothing else; a reply is one, with the answer or an error.
The socket lies in a folder that only its owner can enter. Whoever holds the lock beside it is the server, so
that a socket without a holder was left by one that died. Not here: questions, and what a graph is read from.
"""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import ExitStack, suppress
from dataclasses import fields
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Event, Thread
from typing import TYPE_CHECKING, Self, get_type_hints

import msgspec

from headwater.clock import SystemClock
from headwater.cpg import answer_to
from headwater.errors import AlreadyServed, Defect, HeadwaterError, HomeNotWritable, RequestBroken
from headwater.inquiry import Asked, check_asked
from headwater.served import SILENCE, Reply, Told, is_private, line_of, socket_place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from headwater.clock import Clock
    from headwater.cpg import Graph
    from headwater.run import Project

LARGEST_REQUEST = 64 * 1024
_MOST_CLIENTS = 16
# How often a server looks whether it is to end.
_TICK = 0.2


_HINTS = get_type_hints(Asked)
# A question as a request has it: its fields by their types, and no others.
_Request = msgspec.defstruct(
    "_Request",
    [
        (each.name, _HINTS[each.name], *([] if each.name == "question" else [each.default]))
        for each in fields(Asked)
    ],
    forbid_unknown_fields=True,
)


def socket_of(project: Project) -> Path:
    """Where a server for the code graph of a project listens, or would."""
    return socket_place(project.config.root, project.warehouse.root)


class Server:
    """A server for one graph; it holds its place from `__enter__` to `__exit__`.

    Args:
        place: where it listens.
        read: gives the graph as the last build left it.
        stamp: says which build that is; if it says something else than before, the graph is read again.
        clock: measures how long nobody asked.

    Questions are answered one after the other, in the thread that called `serve`.
    """

    def __init__(
        self,
        place: Path,
        read: Callable[[], Graph],
        stamp: Callable[[], str | None],
        clock: Clock | None = None,
    ) -> None:
        self.place = place
        self.answered = 0
        self._read = read
        self._stamp = stamp
        self._clock = clock or SystemClock()
        self._graph: tuple[str | None, Graph] | None = None
        self._waiting: SimpleQueue[tuple[Asked, SimpleQueue[bytes]]] = SimpleQueue()
        self._ending = Event()
        self._free = BoundedSemaphore(_MOST_CLIENTS)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Takes the place.

        Raises:
            AlreadyServed: another server has it.
            HomeNotWritable: its folder cannot be made, or others can enter it.
        """
        folder = self.place.parent
        with ExitStack() as undo:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if not is_private(folder):
                    detail = "it is not a folder of yours that nobody else may enter (mode 0700)"
                    raise HomeNotWritable(path=str(folder), detail=detail)
                lock = os.open(self.place.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
                undo.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                undo.callback(self.place.unlink, missing_ok=True)
                self.place.unlink(missing_ok=True)  # whoever left it holds no lock any more
            except BlockingIOError as error:
                raise AlreadyServed(path=str(self.place)) from error
            except OSError as error:
                raise HomeNotWritable(path=str(folder), detail=error.strerror or str(error)) from error
            self._stack = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        self._stack.close()

    def load(self) -> Graph:
        """The graph as the last build left it, with its definitions in memory."""
        stamp = self._stamp()
        if self._graph is None or self._graph[0] != stamp:
            graph = self._read()
            len(graph.code)
            self._graph = (stamp, graph)
        return self._graph[1]

    def serve(self, idle: float | None = None, ready: Callable[[], None] | None = None) -> None:
        """Answers until `end` is called, or until nobody has asked for `idle` seconds.

        `ready` is called once clients can connect.
        """
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
            try:
                door.bind(str(self.place))
                self.place.chmod(0o600)
                door.listen(_MOST_CLIENTS)
            except OSError as error:
                detail = error.strerror or str(error)
                raise HomeNotWritable(path=str(self.place.parent), detail=detail) from error
            door.settimeout(_TICK)
            accepting = Thread(target=self._accept, args=(door,), daemon=True)
            accepting.start()
            try:
                if ready is not None:
                    ready()
                self._answer_all(idle)
            finally:
                self.end()
                accepting.join()

    def end(self) -> None:
        """Lets `serve` come to its end; safe to call from anywhere, and twice."""
        self._ending.set()

    def _answer_all(self, idle: float | None) -> None:
        last = self._clock.monotonic()
        while not self._ending.is_set():
            try:
                asked, reply = self._waiting.get(timeout=_TICK)
            except Empty:
                if idle is not None and self._clock.monotonic() - last >= idle:
                    return
                continue
            reply.put(self._reply_to(asked))
            self.answered += 1
            last = self._clock.monotonic()

    def _reply_to(self, asked: Asked) -> bytes:
        try:
            return msgspec.json.encode(Reply(answer=answer_to(self.load(), asked)))
        except Exception as error:  # noqa: BLE001  whatever it is, the next question has an answer
            return _told(error)

    def _accept(self, door: socket.socket) -> None:
        while not self._ending.is_set():
            if not self._free.acquire(timeout=_TICK):
                continue
            try:
                link, _ = door.accept()
            except OSError:  # nobody came
                self._free.release()
                continue
            Thread(target=self._talk, args=(link,), daemon=True).start()

    def _talk(self, link: socket.socket) -> None:
        """One client, until it goes away or says nothing for too long."""
        rest = bytearray()
        try:
            with link, suppress(OSError):
                while (line := line_of(link, rest, LARGEST_REQUEST, self._clock)) is not None:
                    link.settimeout(SILENCE)
                    link.sendall(self._reply_of(line) + b"\n")
                    if len(line) > LARGEST_REQUEST:
                        return
        finally:
            self._free.release()

    def _reply_of(self, line: bytes) -> bytes:
        try:
            asked = _asked_of(line)
            check_asked(asked)
        except HeadwaterError as error:
            return _told(error)
        reply: SimpleQueue[bytes] = SimpleQueue()
        self._waiting.put((asked, reply))
        while not self._ending.is_set():
            with suppress(Empty):
                return reply.get(timeout=_TICK)
        raise ConnectionAbortedError


def _asked_of(line: bytes) -> Asked:
    """What a request asks.

    Raises:
        RequestBroken: it is no question.
    """
    if len(line) > LARGEST_REQUEST:
        raise RequestBroken(detail=f"it has more than {LARGEST_REQUEST:,} bytes")
    try:
        return Asked(**msgspec.structs.asdict(msgspec.json.decode(line, type=_Request)))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RequestBroken(detail=str(error)) from error


def _told(error: Exception) -> bytes:
    ours = error if isinstance(error, HeadwaterError) else Defect(detail=f"{type(error).__name__}: {error}")
    made_of = {each.name: getattr(ours, each.name) for each in fields(ours)}
    origin = ours.origin and [ours.origin.path, ours.origin.line]
    told = Told(ours.code, ours.message, ours.next_step, ours.exit_code, made_of | {"origin": origin})
    return msgspec.json.encode(Reply(error=told))
