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
import stat
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Event, Thread
from typing import TYPE_CHECKING, Any, Self, cast, get_type_hints

import msgspec

from headwater.clock import SystemClock
from headwater.cpg import Answer, Asked, answer_to
from headwater.digest import digest_of
from headwater.errors import AlreadyServed, Defect, HeadwaterError, HomeNotWritable, RequestBroken
from headwater.opening import check_asked
from headwater.origin import Origin
from headwater.runtime import home_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from headwater.clock import Clock
    from headwater.cpg import Graph
    from headwater.run import Project

LARGEST_REQUEST = 64 * 1024
LARGEST_REPLY = 512 * 1024 * 1024
# The most bytes of a socket's path that every system takes, less a few.
_LONGEST_PATH = 96
_MOST_CLIENTS = 16
_PART = 64 * 1024
# How often a server looks whether it is to end, how long a client may say nothing, and how long one waits.
_TICK = 0.2
_SILENCE = 30.0
_PATIENCE = 600.0


class Told(msgspec.Struct, forbid_unknown_fields=True):
    """An error as it goes over the socket: what a person reads, and the fields that make it again."""

    code: str
    message: str
    next_step: str
    exit_code: int
    fields: dict[str, Any]


class Reply(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a server says to a request: the answer, or why there is none."""

    answer: Answer | None = None
    error: Told | None = None


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
    """Where a server for a project's code graph listens, or would; nothing is made.

    One warehouse, graph and version of Headwater have one place, in the cache folder if its path is not too
    long for a socket.
    """
    parts = (version("headwater"), str(project.warehouse.root), project.config.name)
    name = f"{digest_of([*parts, str(project.config.root.resolve())])[:24]}.sock"
    place = home_path() / "serve" / name
    if len(os.fsencode(place)) > _LONGEST_PATH:
        place = Path(tempfile.gettempdir()) / f"headwater-{os.getuid()}" / name
    return place


def answer_from(place: Path, asked: Asked) -> Answer | None:
    """The answer of a server; None if there is none that answers.

    Raises:
        HeadwaterError: the server says why there is no answer.
    """
    if not _is_private(place.parent):
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        try:
            link.settimeout(_PATIENCE)
            link.connect(str(place))
            link.sendall(msgspec.json.encode(asked) + b"\n")
            line = _line_of(link, bytearray(), LARGEST_REPLY)
        except OSError:
            return None
    try:
        reply = msgspec.json.decode(line or b"", type=Reply)
    except msgspec.MsgspecError:
        return None  # it went away before its end
    if reply.error is not None:
        raise _error_of(reply.error)
    return reply.answer


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
                if not _is_private(folder):
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
                while (line := _line_of(link, rest, LARGEST_REQUEST, self._clock)) is not None:
                    link.settimeout(_SILENCE)
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


def _line_of(link: socket.socket, rest: bytearray, most: int, clock: Clock | None = None) -> bytes | None:
    """The next line of a connection; None at its end. What came after the line is left in `rest`.

    A line that is too long is given as far as it was read. With a clock, a line that takes too long to come
    ends the connection, however often a little of it comes.
    """
    began = clock.monotonic() if clock else 0.0
    while b"\n" not in rest:
        if len(rest) > most:
            return bytes(rest)
        if clock is not None:
            left = began + _SILENCE - clock.monotonic()
            if left <= 0:
                return None
            link.settimeout(left)
        part = link.recv(_PART)
        if not part:
            return None
        rest += part
    line, _, after = bytes(rest).partition(b"\n")
    rest[:] = after
    return line


def _is_private(folder: Path) -> bool:
    """Whether it is a folder of this user that nobody else can enter."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _told(error: Exception) -> bytes:
    ours = error if isinstance(error, HeadwaterError) else Defect(detail=f"{type(error).__name__}: {error}")
    made_of = {each.name: getattr(ours, each.name) for each in fields(ours)}
    origin = ours.origin and [ours.origin.path, ours.origin.line]
    told = Told(ours.code, ours.message, ours.next_step, ours.exit_code, made_of | {"origin": origin})
    return msgspec.json.encode(Reply(error=told))


def _error_of(told: Told) -> HeadwaterError:
    """The error again, as the one of its code."""
    kinds = [HeadwaterError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    kind = next((each for each in kinds if each.code == told.code), Defect)
    given = {name: _frozen(each) for name, each in told.fields.items()}
    origin = given.pop("origin", None)
    try:
        return kind(**given, origin=Origin(*origin) if origin else None)
    except TypeError:
        return Defect(detail=f"{told.code} {told.message}")


def _frozen(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value
