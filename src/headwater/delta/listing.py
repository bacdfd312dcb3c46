"""A folder of files, or one file, as a pinned dataset: CSV, JSON, Parquet and what else Spark reads by name.

A listing has no log, so its pin is the digest of its files' contents; a file whose size and time are as
recorded is not hashed again. Not here: Delta tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from headwater.digest import digest_of, digest_of_file
from headwater.errors import FileNameNotUtf8, SourceUnreadable
from headwater.names import TablePin
from headwater.runtime import engine_errors, local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.origin import Origin
    from headwater.runtime import RunSession


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class ListedFile:
    """One file of a listing: its path below the listing's root, and what tells whether it changed.

    A file that is left out has a reason, and no digest.
    """

    path: str
    size: int
    changed_ns: int
    sha256: str
    skip_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePin:
    """A listing as a run saw it: the pin, and the files behind it."""

    pin: TablePin
    files: tuple[ListedFile, ...]


def pin_files(name: str, uri: str, known: Iterable[ListedFile] = (), origin: Origin | None = None) -> FilePin:
    """The files at `uri` now; `known` are those of the last run, whose digests are taken over where they fit.

    Raises:
        SourceUnreadable: there is nothing there, or it cannot be read.
        FileNameNotUtf8: a file has a name that cannot be recorded.
    """
    root = local_path_of(uri)
    before = {(each.path, each.size, each.changed_ns): each for each in known}
    try:
        found = [_listed(root, path, before) for path in _paths(root)]
    except OSError as error:
        detail = error.strerror or str(error)
        raise SourceUnreadable(source=name, path=str(root), detail=detail, origin=origin) from error
    if not found:
        raise SourceUnreadable(source=name, path=str(root), detail="there are no files", origin=origin)
    files = tuple(sorted(found))
    digest = digest_of([[each.path, each.size, each.sha256] for each in files])
    return FilePin(pin=TablePin(name=name, uri=uri, version=0, digest=digest), files=files)


def read_files(
    session: RunSession,
    pinned: FilePin,
    *,
    file_format: str,
    schema: str | None,
    options: Sequence[tuple[str, str]],
    origin: Origin | None = None,
) -> DataFrame:
    """The rows of exactly the pinned files."""
    root = local_path_of(pinned.pin.uri)
    paths = literal_paths(pinned)
    reader = session.spark.read.format(file_format).options(**dict(options))
    if root.is_dir():
        reader = reader.option("basePath", str(root))  # folders named k=1 are columns, as of this root
    with engine_errors(origin, remedy="Check the source's format, schema and options."):
        if schema is not None:
            # Not through pyspark's `schema`: it asks the whole process which kind of session there is.
            cast("Any", reader)._jreader.schema(schema)
        return reader.load(paths)


def delta_tables_in(files: FilePin) -> tuple[str, ...]:
    """The Delta tables whose folders the files of a listing lie in, through links too; sorted."""
    root = local_path_of(files.pin.uri)
    paths = [root / each.path if each.path else root for each in files.files]
    folders = {place.parent for path in paths for place in (path, path.resolve())}
    around = {each for folder in folders for each in (folder, *folder.parents)}
    return tuple(sorted(str(each) for each in around if any((each / "_delta_log").glob("*.json"))))


def literal_paths(pinned: FilePin) -> list[str]:
    """The paths of the pinned files, as Spark's readers take them."""
    root = local_path_of(pinned.pin.uri)
    return [_literal(str(root / each.path) if each.path else str(root)) for each in pinned.files]


def _literal(path: str) -> str:
    """Spark takes a path for a pattern; a file named a[1].csv is meant as it stands."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def _paths(root: Path) -> list[Path]:
    if root.is_file():
        return [root]
    return sorted(path for path in root.rglob("*") if path.is_file() and _is_data(path.relative_to(root)))


def _is_data(relative: Path) -> bool:
    """What Spark, too, leaves out: names that begin with a dot or an underscore, except partition folders."""
    return not any(
        part.startswith(".") or (part.startswith("_") and "=" not in part) for part in relative.parts
    )


def _listed(root: Path, path: Path, before: dict[tuple[str, int, int], ListedFile]) -> ListedFile:
    relative = "" if path == root else path.relative_to(root).as_posix()
    try:
        relative.encode()
    except UnicodeEncodeError:
        raise FileNameNotUtf8(shown=ascii(relative)) from None
    facts = path.stat()
    known = before.get((relative, facts.st_size, facts.st_ctime_ns))
    if known is not None:
        return known
    return ListedFile(
        path=relative, size=facts.st_size, changed_ns=facts.st_ctime_ns, sha256=digest_of_file(path)
    )
