"""Where a server for a code graph listens, and how it is asked; what it says is read here and made there.

    answer_from(socket_place(root, warehouse_of_graph(root, None)), asked)     None if no server answers

Nothing of the engine is needed for that: a person who asks waits for it. Not here: the server.
"""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from headwater.digest import digest_of
from headwater.errors import Defect, HeadwaterError
from headwater.home import home_path
from headwater.inquiry import Answer  # noqa: TC001  it is looked up when a reply is read
from headwater.names import PROJECT_FILE
from headwater.origin import Origin

if TYPE_CHECKING:
    from headwater.clock import Clock
    from headwater.inquiry import Asked

LARGEST_REPLY = 512 * 1024 * 1024
# How long a client may say nothing before a server gives it up, and how long one waits for an answer.
SILENCE = 30.0
_PATIENCE = 600.0
# The most bytes of a socket's path that every system takes, less a few.
_LONGEST_PATH = 96
_PART = 64 * 1024
# The graph of a folder that is a project, too, has a warehouse of its own: two pipelines, two records.
_GRAPH_FOLDER = "graph"


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


def warehouse_of_graph(root: Path, warehouse: str | os.PathLike[str] | None) -> Path:
    """Where the tables of a folder's code graph are, if not where it is said."""
    own = root.resolve() / ".headwater"
    if (root / PROJECT_FILE).exists():
        return Path(warehouse or own / _GRAPH_FOLDER)
    return Path(warehouse or os.environ.get("HEADWATER_WAREHOUSE") or own)


def socket_place(root: Path, warehouse: Path) -> Path:
    """Where a server for a folder's code graph listens, or would; nothing is made.

    One folder, warehouse and version of Headwater have one place, in the cache folder if its path is not too
    long for a socket.
    """
    parts = (version("headwater"), str(warehouse.resolve()), str(root.resolve()))
    name = f"{digest_of([*parts])[:24]}.sock"
    place = home_path() / "serve" / name
    if len(os.fsencode(place)) > _LONGEST_PATH:
        place = Path(tempfile.gettempdir()) / f"headwater-{os.getuid()}" / name
    return place


def answer_from(place: Path, asked: Asked) -> Answer | None:
    """The answer of a server; None if there is none that answers.

    Raises:
        HeadwaterError: the server says why there is no answer.
    """
    if not is_private(place.parent):
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        try:
            link.settimeout(_PATIENCE)
            link.connect(str(place))
            link.sendall(msgspec.json.encode(asked) + b"\n")
            line = line_of(link, bytearray(), LARGEST_REPLY)
        except OSError:
            return None
    try:
        reply = msgspec.json.decode(line or b"", type=Reply)
    except msgspec.MsgspecError:
        return None  # it went away before its end
    if reply.error is not None:
        raise _error_of(reply.error)
    return reply.answer


def line_of(link: socket.socket, rest: bytearray, most: int, clock: Clock | None = None) -> bytes | None:
    """The next line of a connection; None at its end. What came after the line is left in `rest`.

    A line that is too long is given as far as it was read. With a clock, a line that takes too long to come
    ends the connection, however often a little of it comes.
    """
    began = clock.monotonic() if clock else 0.0
    while b"\n" not in rest:
        if len(rest) > most:
            return bytes(rest)
        if clock is not None:
            left = began + SILENCE - clock.monotonic()
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


def is_private(folder: Path) -> bool:
    """Whether it is a folder of this user that nobody else can enter."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


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
