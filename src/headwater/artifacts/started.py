"""A run that has begun and not ended: a mark beside its plans, so that one that was killed is not forgotten.

The mark holds the manifest that the run would leave if it were stopped now. Whoever runs holds a lock on it,
which the system takes back from a process that is gone. Not here: what becomes of a run that was stopped.
"""

from __future__ import annotations

import fcntl
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Self

from headwater.artifacts.manifest import Manifest, encode_manifest, read_manifest
from headwater.artifacts.records import write_whole
from headwater.errors import ManifestUnreadable, WarehouseNotWritable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

_MARK = "started.json"
_LOCK = "running"


class RunMark:
    """Within it a run is under way. It stays if the run is left by an exception, or if somebody says so."""

    def __init__(self, warehouse: Path, manifest: Manifest) -> None:
        self._warehouse = warehouse
        self._manifest = manifest
        self._folder = warehouse / "runs" / manifest.run_id
        self._lock: IO[bytes] | None = None
        self.is_kept = False

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self._folder / _LOCK).open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            raise WarehouseNotWritable(
                path=str(self._warehouse), detail=error.strerror or str(error)
            ) from error
        write_whole(self._folder / _MARK, encode_manifest(self._manifest), self._warehouse)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and not self.is_kept:
            remove_mark(self._warehouse, self._manifest.run_id)
        if self._lock is not None:
            self._lock.close()


def marked_runs(warehouse: Path) -> Iterator[Manifest]:
    """What was left by runs that have not ended and that nobody is working on, oldest first.

    Raises:
        ManifestUnreadable: a mark is none.
    """
    folder = warehouse / "runs"
    for run in sorted(folder.iterdir()) if folder.is_dir() else ():
        mark = run / _MARK
        if mark.is_file() and not _is_held(run / _LOCK):
            with suppress(FileNotFoundError):  # it has come to its end meanwhile
                yield _read(mark)


def remove_mark(warehouse: Path, run_id: str) -> None:
    """A run has come to its end, or another run has recorded what it left."""
    for name in (_MARK, _LOCK):
        with suppress(OSError):
            (warehouse / "runs" / run_id / name).unlink(missing_ok=True)


def _read(mark: Path) -> Manifest:
    try:
        return read_manifest(mark)
    except ManifestUnreadable:
        if not mark.exists():
            raise FileNotFoundError from None
        raise


def _is_held(lock: Path) -> bool:
    """Whether a process that is alive works on the run."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
