"""Where rows of views wait for later runs: folders by view and fingerprint, swept when nobody needs them.

    .headwater/staging/paid-3f2a…    a Delta table; `_checked` in it says that its rows can be relied on

Whoever uses staging holds a shared lock; it is swept only by somebody who is alone. Not here: what the rows
are, and the writing of them.
"""

from __future__ import annotations

import fcntl
import re
import shutil
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from headwater.delta import find_head, find_staged
from headwater.errors import DeltaError, WarehouseNotWritable
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.delta import LogHead
    from headwater.names import TablePin
    from headwater.run.warehouse import Warehouse

_FOLDER = re.compile(r"([A-Za-z][A-Za-z0-9_]*)-([0-9a-f]{64})", re.ASCII)
_CHECKED = "_checked"
_LOCK = ".in-use"


def staged_path(view: str, fingerprint: str) -> str:
    """Where the rows of a view lie, from the warehouse's folder: the same on every machine."""
    return f"staging/{view}-{fingerprint}"


class Staging:
    """The staging of one warehouse. From the first question on, nobody else sweeps it, until `close`."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._root = warehouse.root
        self._folder = warehouse.root / "staging"
        self._lock: IO[bytes] | None = None
        self._opening = threading.Lock()

    def place(self, view: str, fingerprint: str) -> Path:
        """The folder for a view's rows.

        Raises:
            WarehouseNotWritable: there can be none.
        """
        self._hold()
        return self._root / staged_path(view, fingerprint)

    def find(self, uri: str, view: str, fingerprint: str) -> LogHead | None:
        """The commit of rows that can be read as they are; None if they must be made."""
        head = find_staged(uri, view, fingerprint)
        return head if head is not None and _is_checked(head) else None

    def base(self, uri: str) -> LogHead | None:
        """The commit to write on; what is there and cannot be read is taken away."""
        try:
            return find_head(uri)
        except DeltaError:
            _remove(local_path_of(uri), self._folder)
            return None

    def keep(self, pin: TablePin) -> None:
        """Says that what a commit was made of has been seen whole; without it nobody relies on its rows."""
        try:
            (local_path_of(pin.uri) / _CHECKED).write_text(pin.digest, "utf-8")
        except OSError as error:
            raise _not_writable(self._root, error) from error

    def close(self) -> None:
        """Staging may be swept again."""
        with self._opening:
            if self._lock is not None:
                self._lock.close()
                self._lock = None

    def sweep(self, is_wanted: Callable[[str, str], bool]) -> tuple[str, ...]:
        """Removes the folders that nobody wants, by view and fingerprint, and those that are not whole.

        Nothing happens while somebody else uses staging. What does not look like rows of a view stays, and so
        does whatever is reached by a link. Returns the names of the folders that are gone.
        """
        self.close()
        if self._folder.is_symlink() or not self._folder.is_dir():
            return ()
        with suppress(OSError):
            found = {
                each: (named[1], named[2])
                for each in sorted(self._folder.iterdir())
                if (named := _FOLDER.fullmatch(each.name)) is not None
            }
            if found:
                with (self._folder / _LOCK).open("ab") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    old = [folder for folder, named in found.items() if not self._stays(named, is_wanted)]
                    return tuple(each.name for each in old if _remove(each, self._folder))
        return ()

    def _stays(self, named: tuple[str, str], is_wanted: Callable[[str, str], bool]) -> bool:
        uri = (self._root / staged_path(*named)).as_uri()
        return is_wanted(*named) and self.find(uri, *named) is not None

    def _hold(self) -> None:
        with self._opening:
            if self._lock is not None:
                return
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                lock = (self._folder / _LOCK).open("ab")
                fcntl.flock(lock, fcntl.LOCK_SH)
            except OSError as error:
                raise _not_writable(self._root, error) from error
            self._lock = lock


def _not_writable(root: Path, error: OSError) -> WarehouseNotWritable:
    return WarehouseNotWritable(path=str(root), detail=error.strerror or str(error))


def _is_checked(head: LogHead) -> bool:
    try:
        return (local_path_of(head.uri) / _CHECKED).read_text("utf-8") == head.digest
    except (OSError, UnicodeDecodeError):
        return False


def _remove(folder: Path, staging: Path) -> bool:
    """Takes a folder of staging away, whatever is in it; never what a link leads to."""
    if folder.parent != staging or folder.is_symlink() or not folder.is_dir():
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
