"""Reads Delta tables that others wrote, and compares with what they must give.

    .venv/bin/python scripts/conformance.py DIR

DIR holds delta/golden.tar.xz: golden/<name>/delta is a table, golden/<name>/expected its rows as Parquet. A
table without expected rows is one to refuse, or one whose log alone matters; which, and why, is written down
here. One line per table, at last `N passed, M failed`; docs/reference/conformance.md tells what is compared.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DoubleType, FloatType, MapType, StructType

from headwater.delta import list_files, open_pinned, pin_version, read_head, snapshot_info, verify_pin
from headwater.errors import (
    DeltaError,
    HeadwaterError,
    LogUnreadable,
    NotADeltaTable,
    ProtocolUnsupported,
)
from headwater.runtime import RunSession, RuntimeProfile, close_runtime, open_runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

ARCHIVE = Path("delta") / "golden.tar.xz"
PROFILE = RuntimeProfile(master="local[2]", driver_memory="2g", time_zone="UTC")
SHOWN = 2
USAGE = 2


class WrongError(Exception):
    """A table did not give what it must; the message says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A table that must be refused, by exactly this error."""

    by: type[DeltaError]
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotOnly:
    """A table whose log can be read and whose data files, if it has any, are not in the archive."""

    files: tuple[tuple[str, int], ...]
    because: str
    operation: str = ""
    user_metadata: str | None = None


VERDICTS: dict[str, Refused | SnapshotOnly] = {
    "canonicalized-paths-normal-b": SnapshotOnly(
        files=(),
        because="version 0 adds /some/…/path, version 1 removes file:///some/…/path: one file, spelt twice",
    ),
    "canonicalized-paths-special-b": SnapshotOnly(
        files=(),
        because="the same with a space and a # in the path, encoded in both spellings",
    ),
    "deltalog-commit-info": SnapshotOnly(
        files=(("abc", 1),),
        operation="WRITE",
        user_metadata="foo",
        because="the commit's info matters; its metadata has no schema, and its one file was never there",
    ),
    "deltalog-invalid-protocol-version": Refused(
        by=ProtocolUnsupported,
        because="it asks for reader version 99",
    ),
    "deltalog-state-reconstruction-from-checkpoint-missing-protocol": Refused(
        by=LogUnreadable,
        because="the checkpoint of version 10, which a load starts from, holds no protocol",
    ),
    "deltalog-state-reconstruction-without-protocol": Refused(
        by=LogUnreadable,
        because="its only commit holds no protocol",
    ),
    "log-replay-special-characters-b": SnapshotOnly(
        files=(("special%20p@%23h", 100),),
        because="the added file is listed as the log writes its path, encoded; it was never there",
    ),
    "no-delta-log-folder": Refused(
        by=NotADeltaTable,
        because="it has Parquet files and no _delta_log",
    ),
    "versions-not-contiguous": Refused(
        by=LogUnreadable,
        because="it has the versions 0 and 2, and no 1",
    ),
}


def main(arguments: list[str]) -> int:
    """Runs the suite; 0 if all is right, 1 if not, 2 if there is nothing to run."""
    if len(arguments) != 1 or not arguments[0]:
        return refuse(
            "say where the suites are: make conformance SUITES=DIR, with delta/golden.tar.xz in DIR"
        )
    archive = Path(arguments[0]) / ARCHIVE
    if not archive.is_file():
        return refuse(f"there is no {archive}; SUITES must name the folder that holds {ARCHIVE.as_posix()}")
    with tempfile.TemporaryDirectory(prefix="headwater-conformance-") as folder:
        try:
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
        except (tarfile.TarError, OSError, EOFError) as error:
            return refuse(f"{archive} cannot be unpacked: {error}")
        tables = sorted(path for path in Path(folder, "golden").glob("*") if path.is_dir())
        if not tables:
            return refuse(f"{archive} holds no golden/<name>")
        failed = run(tables)
    print(f"{len(tables) - failed} passed, {failed} failed")
    return 1 if failed else 0


def refuse(sentence: str) -> int:
    """Says why nothing was run."""
    print(f"conformance: {sentence}", file=sys.stderr)
    return USAGE


def run(tables: list[Path]) -> int:
    """Tries every table in one Spark application; how many failed."""
    failed = 0
    runtime = open_runtime(PROFILE)
    try:
        for table in tables:
            with runtime.checkout() as session:
                line, is_right = tried(session, table)
            failed += not is_right
            print(line, flush=True)
    finally:
        close_runtime()
    return failed


def tried(session: RunSession, table: Path) -> tuple[str, bool]:
    """The line about one table, and whether it is right."""
    verdict = VERDICTS.get(table.name)
    try:
        if (table / "expected").is_dir():
            words = check_rows(session, table)
        elif isinstance(verdict, Refused):
            words = check_refused(session, table, verdict)
        elif isinstance(verdict, SnapshotOnly):
            words = check_snapshot(session, table, verdict)
        else:
            return f"FAILED {table.name}: it has no expected rows, and no verdict is written down", False
    except WrongError as error:
        return f"FAILED {table.name}: {error}", False
    except HeadwaterError as error:
        return f"FAILED {table.name}: refused by {type(error).__name__}: {error}", False
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is this table's failure and not the run's
        first = str(error).partition("\n")[0]
        return f"FAILED {table.name}: a raw {type(error).__name__}: {first}", False
    return f"ok {table.name} {words}", True


def check_rows(session: RunSession, table: Path) -> str:
    """A pinned read gives the expected rows, and the table is what its log promises."""
    uri = (table / "delta").as_uri()
    pin = read_head(uri).pin(table.name)
    check(pin == pin_version(table.name, uri, version=pin.version), "its head and its last version differ")
    info = snapshot_info(session, uri)
    read = open_pinned(session, pin)
    check(read.snapshot == info, "a read of the head is of another snapshot")
    expected = session.spark.read.parquet(str(table / "expected"))
    found, wanted = read.rows.schema.simpleString(), expected.schema.simpleString()
    check(found == wanted, f"its columns are {found}, expected {wanted}")
    count = check_same_rows(read.rows, expected)
    verified = verify_pin(session, pin)
    check(verified.is_whole, "; ".join(verified.problems))
    check(verified.rows_scanned == count, f"a scan gives {verified.rows_scanned} rows, expected {count}")
    promise = verified.promise
    check(len(list_files(session, pin)) == promise.files, "list_files and verify_pin see other files")
    known = "promised" if promise.rows is not None else "no promise: a file lacks statistics"
    return f"version {pin.version}, {promise.files} files, {count} rows ({known})"


def check_refused(session: RunSession, table: Path, verdict: Refused) -> str:
    """Whatever is asked of the table is refused alike, by an error that names the path and a way out."""
    path = table / "delta"
    ways: tuple[Callable[[], object], ...] = (
        lambda: snapshot_info(session, path.as_uri()),
        lambda: open_pinned(session, read_head(path.as_uri()).pin(table.name)),
        lambda: list_files(session, read_head(path.as_uri()).pin(table.name)),
        lambda: verify_pin(session, read_head(path.as_uri()).pin(table.name)),
    )
    for way in ways:
        try:
            way()
        except DeltaError as error:
            named = type(error).__name__
            check(type(error) is verdict.by, f"{named} instead of {verdict.by.__name__}: {error}")
            check(str(path) in error.message, f"the error does not name {path}: {error}")
            check(bool(error.next_step), f"the error tells no next step: {error}")
        else:
            raise WrongError(f"it is read, and should be refused: {verdict.because}")
    return f"refused by {verdict.by.__name__}: {verdict.because}"


def check_snapshot(session: RunSession, table: Path, verdict: SnapshotOnly) -> str:
    """The log is read, the files are those that it means, and files that are not there are noticed."""
    uri = (table / "delta").as_uri()
    head = read_head(uri)
    pin = head.pin(table.name)
    commit = (head.operation, head.user_metadata)
    if verdict.operation:
        wanted = (verdict.operation, verdict.user_metadata)
        check(commit == wanted, f"its commit says {commit}, expected {wanted}")
    info = snapshot_info(session, uri)
    check(info.version == head.version, f"version {info.version}, expected {head.version}")
    schema = schema_of(info.schema_json)
    check(open_pinned(session, pin).rows.schema == schema, f"its schema is told as {info.schema_json}")
    found = tuple((each.path, each.size) for each in list_files(session, pin))
    check(found == verdict.files, f"its files are {found}, expected {verdict.files}")
    verified = verify_pin(session, pin)
    lacking = [path for path, _ in verdict.files]
    noticed = all(any(path in problem for problem in verified.problems) for path in lacking)
    check(verified.is_whole == (not lacking) and noticed, f"verify says {verified.problems}")
    return f"snapshot only, {len(found)} files: {verdict.because}"


def schema_of(text: str) -> StructType:
    """A table's schema from its JSON."""
    try:
        return StructType.fromJson(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise WrongError(f"its schema is told as {text!r}, which is no schema: {error}") from error


def check_same_rows(found: DataFrame, expected: DataFrame) -> int:
    """Both have the same rows, each as often; how many."""
    ours, theirs = comparable(found), comparable(expected)
    for words, rows in (("not expected", ours.exceptAll(theirs)), ("missing", theirs.exceptAll(ours))):
        wrong = rows.limit(SHOWN).collect()
        check(not wrong, f"rows that are {words}: {', '.join(str(row) for row in wrong)}")
    return expected.count()


def comparable(rows: DataFrame) -> DataFrame:
    """The same rows with values that a set operation compares exactly, by their place."""
    kinds = [field.dataType for field in rows.schema.fields]
    plain = rows.toDF(*(f"c{at}" for at in range(len(kinds))))
    return plain.select(*(exact(F.col(f"c{at}"), kind).alias(f"c{at}") for at, kind in enumerate(kinds)))


def exact(value: Column, kind: DataType) -> Column:
    """A value as one that compares exactly.

    Floats become their text, which tells -0.0 from 0.0 and has one NaN; maps become entries in order of their
    keys. A timestamp stays what it is, a number of microseconds: which zone it is shown in does not matter.
    """
    if isinstance(kind, FloatType | DoubleType):
        return value.cast("string")
    if isinstance(kind, ArrayType):
        return F.transform(value, lambda each: exact(each, kind.elementType))
    if isinstance(kind, MapType):
        pairs = (("key", kind.keyType), ("value", kind.valueType))
        entries = F.transform(
            F.map_entries(value),
            lambda each: F.struct(*(exact(each[name], part).alias(name) for name, part in pairs)),
        )
        return F.array_sort(entries)
    if isinstance(kind, StructType):
        parts = [exact(value[each.name], each.dataType).alias(each.name) for each in kind.fields]
        return F.when(value.isNotNull(), F.struct(*parts))
    return value


def check(is_right: bool, words: str) -> None:
    """Raises WrongError with the words unless it is right."""
    if not is_right:
        raise WrongError(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
