"""Whether a table holds what its log promises: rows counted by a real scan against the log's own numbers.

The log promises the records of every file less those that deletion vectors take out. `count()` proves
nothing: Delta answers it from the same numbers. The digest of all rows does: it needs every value.
Not here: when it is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from headwater.delta.digests import digest_read, find_content
from headwater.delta.failures import loading_errors, reading_errors
from headwater.delta.files import DELETED, RECORDS, DataFile, list_files, open_rows, place_of, rows_of
from headwater.delta.head import checksum_of
from headwater.delta.observing import Observed
from headwater.delta.snapshot import check_pin, forget_log, open_snapshot
from headwater.errors import DeltaError, RowsDiffer
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.delta.content import ContentDigest
    from headwater.names import SnapshotKey, TablePin
    from headwater.origin import Origin
    from headwater.runtime import RunSession

_LISTED = 10
_PROMISE = (
    "count(1) AS files",
    "coalesce(sum(size), 0L) AS bytes",
    f"coalesce(sum({RECORDS}), 0L) AS records",
    f"coalesce(sum({DELETED}), 0L) AS deleted",
    f"count(1) - count({RECORDS}) AS unknown",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPromise:
    """What a log says a version holds; `rows` is None if a file's records were never counted."""

    files: int
    bytes: int
    rows: int | None
    deleted_rows: int
    files_without_statistics: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """A table as it was found: what is promised, what a scan gave, and everything that does not fit.

    `content` is the digest of its rows; if one was kept when they were written, it must be the same.
    """

    snapshot: SnapshotKey
    digest: str
    promise: RowPromise
    rows_scanned: int | None
    problems: tuple[str, ...]
    content: ContentDigest | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing was found that does not fit."""
        return not self.problems

    def error(self, origin: Origin | None = None) -> RowsDiffer | None:
        """The typed error for what does not fit; None if it is whole."""
        return _rows_differ(self.snapshot, self.problems, origin)


def promise_of(files: Sequence[DataFile]) -> RowPromise:
    """What the log promises about these files together."""
    unknown = sum(each.rows is None for each in files)
    return RowPromise(
        files=len(files),
        bytes=sum(each.size for each in files),
        rows=rows_of(files),
        deleted_rows=sum(each.deleted_rows for each in files),
        files_without_statistics=unknown,
    )


def promised_rows(session: RunSession, pin: TablePin, origin: Origin | None = None) -> int | None:
    """How many rows the log promises at a pin, by one sum in Spark; None if it does not say.

    Raises:
        RowsDiffer: the log is not what the version's own checksum says of it.
    """
    promise = row_promise(session, pin, origin)
    error = _rows_differ(pin.key, _checksum_problems(pin, promise), origin)
    if error is not None:
        raise error
    return promise.rows


def row_promise(session: RunSession, pin: TablePin, origin: Origin | None = None) -> RowPromise:
    """What the log promises at a pin, by one sum in Spark."""
    check_pin(pin, origin)
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name, origin=origin):
        files = DataFrame(open_snapshot(session, pin).allFiles().toDF(), session.spark)
        found = files.selectExpr(*_PROMISE).collect()[0]
    unknown = int(found["unknown"])
    return RowPromise(
        files=int(found["files"]),
        bytes=int(found["bytes"]),
        rows=None if unknown else int(found["records"]) - int(found["deleted"]),
        deleted_rows=int(found["deleted"]),
        files_without_statistics=unknown,
    )


def verify_pin(session: RunSession, pin: TablePin) -> Verification:
    """Reads every column of every row of a table at a pin, and compares with what its log promises.

    What is wrong with files, counts or checksums is in the result. The log is loaded from disk, whatever is
    cached.

    Raises:
        NotADeltaTable, LogUnreadable, VersionNotFound, ProtocolUnsupported: there is no log to compare with.
        BeyondRetention: Delta does not read that version any more.
    """
    forget_log(session, pin.uri)
    files = list_files(session, pin)
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        rows = open_rows(session, pin)
    promise = promise_of(files)
    problems = [*_checksum_problems(pin, promise), *_file_problems(pin, files)]
    content: ContentDigest | None = None
    if not problems:
        try:
            content = digest_read(rows)
        except DeltaError as error:
            problems.append(error.message)
    scanned, kept = content.rows if content else None, find_content(pin)
    if scanned is not None and promise.rows is not None and scanned != promise.rows:
        problems.append(f"the log promises {promise.rows} rows and a scan gives {scanned}")
        problems += _differing_files(session, pin, files)
    elif content is not None and kept is not None and content != kept:
        problems.append(f"its rows have the digest {content.text}, and were written with {kept.text}")
    return Verification(
        snapshot=pin.key,
        digest=pin.digest,
        promise=promise,
        rows_scanned=scanned,
        problems=tuple(problems),
        content=content,
    )


def missing_files(session: RunSession, pin: TablePin) -> tuple[str, ...]:
    """The data files of a pin that are not where the log says, as it writes them; sorted.

    Raises:
        NotADeltaTable, LogUnreadable, VersionNotFound, ProtocolUnsupported: there is no log to ask.
    """
    return tuple(each.path for each in list_files(session, pin) if not place_of(pin, each.path).is_file())


class ScanCounter:
    """Counts the rows that come out of a scan while a job reads them anyway: `rows` must be what it reads."""

    def __init__(self, session: RunSession, pin: TablePin, rows: DataFrame) -> None:
        self._session = session
        self._pin = pin
        self._counted = Observed(session, rows, f"rows of {pin.name}", ("count(1)",))
        self.rows = self._counted.rows

    def found(self) -> int | None:
        """The rows that came, once the job is over; None if no job came to its end."""
        numbers = self._counted.found()
        return numbers[0] if numbers else None

    def check(self, promised: int | None, origin: Origin | None = None) -> bool:
        """Whether the rows were counted and are as promised.

        Raises:
            RowsDiffer: the job saw other rows than promised, and a scan of its own confirms it.
        """
        found = self.found()
        if found is None or promised is None:
            return False
        if found != promised and not self._has(promised):
            error = verify_pin(self._session, self._pin).error(origin)
            if error is not None:
                raise error
        return True

    def _has(self, promised: int) -> bool:
        """Whether a scan of our own gives as many rows: it has the last word, and looks at no column.

        A task that was tried twice counts twice; so does one whose rows are sampled to be ordered.
        """
        try:
            with reading_errors():
                # A plain count is what Delta knows of the files, without a look at them.
                counted = open_rows(self._session, self._pin).selectExpr("coalesce(sum(1), 0) AS n")
                return int(counted.collect()[0]["n"]) == promised
        except DeltaError:  # whoever reads all of it will say what is wrong
            return False


def _rows_differ(snapshot: SnapshotKey, problems: Sequence[str], origin: Origin | None) -> RowsDiffer | None:
    if not problems:
        return None
    path = str(local_path_of(snapshot.canonical_uri))
    return RowsDiffer(path=path, version=snapshot.version, detail=problems[0], origin=origin)


def _differing_files(session: RunSession, pin: TablePin, files: Sequence[DataFile]) -> list[str]:
    """The files whose rows are not as many as the log promises of each."""
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        rows = open_rows(session, pin)
        # By this way it is found even where the table has a column of its own named _metadata.
        paths = rows.select(rows.metadataColumn("_metadata")["file_path"].alias("file"))
        counted = paths.groupBy("file").count().collect()
    found = {place_of(pin, str(row["file"])): int(row["count"]) for row in counted}
    wrong = [
        f"{each.path}: {each.rows} promised, {found.get(place_of(pin, each.path), 0)} found"
        for each in files
        if each.rows is not None and each.rows != found.get(place_of(pin, each.path), 0)
    ]
    return _bounded(wrong)


def _file_problems(pin: TablePin, files: Sequence[DataFile]) -> list[str]:
    """Files that are missing, or not as long as the log says."""
    wrong: list[str] = []
    for each in files:
        path = place_of(pin, each.path)
        try:
            size = path.stat().st_size
        except OSError as error:
            wrong.append(f"{each.path}: {(error.strerror or str(error)).lower()}")
            continue
        if size != each.size:
            wrong.append(f"{each.path}: {each.size} bytes promised, {size} found")
    return _bounded(wrong)


def _checksum_problems(pin: TablePin, promise: RowPromise) -> list[str]:
    """What the version's checksum file, if Delta wrote one, knows of the table against what the log gives."""
    checksum = checksum_of(pin)
    compared = (("numFiles", "files", promise.files), ("tableSizeBytes", "bytes", promise.bytes))
    return [
        f"the checksum of version {pin.version} says {checksum[key]} {noun}, and its log gives {found}"
        for key, noun, found in compared
        if key in checksum and checksum[key] != found
    ]


def _bounded(problems: list[str]) -> list[str]:
    more = len(problems) - _LISTED
    return [*problems[:_LISTED], f"and {more} more files"] if more > 0 else problems
