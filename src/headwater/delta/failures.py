"""What Delta and Spark say when storage fails, as our errors: by condition or class, never by a message.

Not here: conflicts between writers; `commit` decides about those.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from headwater.errors import (
    BeyondRetention,
    ChangesNotRecorded,
    DataFileMissing,
    DataFileUnreadable,
    DeltaError,
    EngineFailed,
    LogUnreadable,
    NotADeltaTable,
    ProtocolUnsupported,
    VersionNotFound,
)
from headwater.runtime import ENGINE_EXCEPTIONS, engine_error

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwater.origin import Origin

_LOG = "_delta_log"
_PROTOCOL = (
    "DELTA_INVALID_PROTOCOL_VERSION",
    "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
    "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
)
_BROKEN_LOG = (
    "DELTA_STATE_RECOVER_ERROR",
    "DELTA_VERSIONS_NOT_CONTIGUOUS",
    "DELTA_LOG_FILE_NOT_FOUND",
    "DELTA_TRUNCATED_TRANSACTION_LOG",
    "DELTA_TXN_LOG_FAILED_INTEGRITY",
    "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
    "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",
)
_NO_TABLE = (
    "DELTA_MISSING_DELTA_TABLE",
    "DELTA_TABLE_NOT_FOUND",
    "DELTA_PATH_DOES_NOT_EXIST",
    "PATH_NOT_FOUND",
)
_NO_CHANGES = ("DELTA_MISSING_CHANGE_DATA", "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE")
# While a log is being replayed these have no condition of their own, or one of Spark's JSON reader.
_LOADING = ("MALFORMED_RECORD_IN_PARSING", "FAILED_READ_FILE")


@contextmanager
def loading_errors(
    path: Path, version: int, *, dataset: str = "", origin: Origin | None = None
) -> Generator[None]:
    """Within it a table's log is loaded, and what the engine throws is about that log."""
    try:
        yield
    except ENGINE_EXCEPTIONS as error:
        failed = engine_error(error, origin)
        raise _loading_error(failed, path, version, dataset) from error


def storage_error(failed: EngineFailed) -> DeltaError | None:
    """The typed error of a failure that happened while rows were read; None if storage is not to blame."""
    condition = failed.condition or ""
    if condition.startswith(_NO_CHANGES):
        return ChangesNotRecorded(
            dataset="a table", path=failed.file or "?", detail=failed.detail, origin=failed.origin
        )
    is_vector = condition.startswith(("DELTA_DELETION_VECTOR", "DELTA_CANNOT_RECONSTRUCT_PATH_FROM_URI"))
    if not is_vector and not condition.startswith("FAILED_READ_FILE"):
        return None
    table, file = _table_and_file(failed.file)
    if table is None or file.partition("/")[0] == _LOG:
        return None if table is None else LogUnreadable(path=str(table), detail=f"{file}: {failed.detail}")
    if condition.endswith("FILE_NOT_EXIST"):
        return DataFileMissing(path=str(table), file=file, origin=failed.origin)
    return DataFileUnreadable(
        path=str(table),
        detail=f"{file}: {failed.detail}" if file else failed.detail,
        condition=failed.condition,
        sql_state=failed.sql_state,
        origin=failed.origin,
    )


def _loading_error(failed: EngineFailed, path: Path, version: int, dataset: str) -> DeltaError | EngineFailed:
    condition, shown, origin = failed.condition or "", str(path), failed.origin
    if condition == "ENGINE_GONE":
        return failed
    if condition.startswith(_PROTOCOL):
        return ProtocolUnsupported(
            path=shown, detail=failed.detail, condition=condition, sql_state=failed.sql_state, origin=origin
        )
    if condition == "DELTA_VERSION_NOT_FOUND":
        return VersionNotFound(path=shown, version=version, origin=origin)
    if condition.startswith("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND"):
        return BeyondRetention(path=shown, version=version, origin=origin)
    if condition.startswith(_NO_TABLE) or not path.is_dir():
        return NotADeltaTable(path=shown, origin=origin)
    if condition.startswith(_NO_CHANGES):
        return ChangesNotRecorded(dataset=dataset, path=shown, detail=failed.detail, origin=origin)
    java = (failed.java_class or "").rpartition(".")[2]
    if condition.startswith((*_BROKEN_LOG, *_LOADING)) or (not condition and java in _RAW):
        return LogUnreadable(path=shown, detail=failed.detail, origin=origin)
    return failed


# Delta's own checks that were never given a condition.
_RAW = ("IllegalStateException", "NoSuchElementException", "FileNotFoundException", "JsonParseException")


def _table_and_file(uri: str | None) -> tuple[Path | None, str]:
    """The table that a data file belongs to, and the file's path in it."""
    if uri is None:
        return None, ""
    path = Path(unquote("/" + uri.partition(":")[2].lstrip("/")))
    table = next((folder for folder in path.parents if (folder / _LOG).is_dir()), None)
    return table, path.relative_to(table).as_posix() if table else ""
