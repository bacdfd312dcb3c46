"""What Delta and Spark say when storage fails, as our errors: by condition or class, never by a message.

A log is loaded late: what is wrong with one may come up where it is opened or, later, where rows are read.
Not here: conflicts between writers; `commit` decides about those.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from headwater.errors import (
    BeyondRetention,
    ChangesNotRecorded,
    DataFileMissing,
    DataFileUnreadable,
    DeltaError,
    EngineFailed,
    LogUnreadable,
    MergeAmbiguous,
    MutationRefused,
    NotADeltaTable,
    ProtocolUnsupported,
    VersionNotFound,
    WriteFailed,
)
from headwater.runtime import ENGINE_EXCEPTIONS, ENGINE_GONE, engine_error, engine_errors

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwater.origin import Origin

_LOG = "_delta_log"
_NOT_THERE = "FAILED_READ_FILE.FILE_NOT_EXIST"
# About the file that was being read, whoever reads it.
_READING = (
    "FAILED_READ_FILE",
    "MALFORMED_RECORD_IN_PARSING",
    "CANNOT_PARSE_JSON_FIELD",
    "DELTA_DELETION_VECTOR",
    "DELTA_CANNOT_RECONSTRUCT_PATH_FROM_URI",
)
_PROTOCOL = (
    "DELTA_INVALID_PROTOCOL_VERSION",
    "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
    "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
)
_NO_TABLE = (
    "DELTA_MISSING_DELTA_TABLE",
    "DELTA_TABLE_NOT_FOUND",
    "DELTA_PATH_DOES_NOT_EXIST",
    "DELTA_NO_COMMITS_FOUND",
    "PATH_NOT_FOUND",
)
_NO_CHANGES = ("DELTA_MISSING_CHANGE_DATA",)
_OTHER_SCHEMA = ("DELTA_CHANGE_DATA_FEED_INCOMPATIBLE",)
_BROKEN_LOG = (
    "DELTA_STATE_RECOVER_ERROR",
    "DELTA_VERSIONS_NOT_CONTIGUOUS",
    "DELTA_LOG_FILE_NOT_FOUND",
    "DELTA_FILE_NOT_FOUND",
    "DELTA_MISSING_PART_FILES",
    "DELTA_MISSING_COMMIT_INFO",
    "DELTA_MISSING_COMMIT_TIMESTAMP",
    "DELTA_TRUNCATED_TRANSACTION_LOG",
    "DELTA_TXN_LOG_FAILED_INTEGRITY",
    "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
    "DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",
    # Spark's own, for an action that is JSON and yet none: a value of another type, a path that is no URI.
    "EXPRESSION_DECODING_FAILED",
    "FAILED_EXECUTE_UDF",
    # The same for what a commit says of the table: a type, a partition column, a property.
    "INVALID_JSON_DATA_TYPE",
    "FIELD_NOT_FOUND",
    "DELTA_INVALID_INTERVAL",
)
# Checks of Delta's, Hadoop's and the JSON reader's that were never given a condition.
_RAW = (
    "ChecksumException",
    "FileNotFoundException",
    "IllegalStateException",
    "JsonEOFException",
    "JsonParseException",
    "NoSuchElementException",
)
# What the JVM throws where a file system refuses to be written; a file that may not be made is "not found".
_STORAGE = (
    "IOException",
    "AccessDeniedException",
    "FileNotFoundException",
    "FileSystemException",
    "NoSuchFileException",
)
# Spark's words around whatever ended a task that wrote, if that has no condition of its own.
_TASK = "TASK_WRITE_FAILED"
_DEEPEST_CAUSE = 20
# What Delta and Spark throw for a statement that they will not do, before anything is done.
_REFUSING = (
    "AnalysisException",
    "DeltaAnalysisException",
    "DeltaIllegalArgumentException",
    "DeltaUnsupportedOperationException",
    "DeltaUnsupportedTableFeatureException",
    "DeltaTableFeatureException",
    "DeltaColumnMappingUnsupportedException",
    "ParseException",
    "ExtendedAnalysisException",
)
# A row that the table does not take, where it could not be told which one.
_ROW_REFUSED = (
    "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
    "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
    "DELTA_MISSING_NOT_NULL_COLUMN_VALUE",
    "DELTA_EXCEED_CHAR_VARCHAR_LIMIT",
    "DELTA_NESTED_NOT_NULL_CONSTRAINT",
)
# Spark's words for a property that Delta does not take beside the others.
_NOT_CHANGED = "UNSUPPORTED_TABLE_CHANGE"
_NO_LOG_FOLDER = "DELTA_CANNOT_CREATE_LOG_PATH"
_AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
_RAW_PROTOCOL = "ColumnMappingUnsupportedException"


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


@contextmanager
def reading_errors(origin: Origin | None = None) -> Generator[None]:
    """Within it rows are read; what a table has to say of itself goes before what the engine says."""
    try:
        with engine_errors(origin):
            yield
    except EngineFailed as error:
        raise storage_error(error) or error from error


def storage_error(failed: EngineFailed) -> DeltaError | None:
    """The typed error of a failure that happened while rows were read; None if storage is not to blame."""
    if failed.file is None or not (failed.condition or "").startswith(_READING):
        return None
    path, origin = _local_path(failed.file), failed.origin
    table, is_missing = _table_of(path), failed.condition == _NOT_THERE
    if table is None:
        # A file of no table that is left: of one that is gone as a whole, or never of one.
        is_gone = is_missing and not path.parent.is_dir()
        return DataFileMissing(path=str(path.parent), file=path.name, origin=origin) if is_gone else None
    file = path.relative_to(table).as_posix()
    if file.startswith(_LOG):
        return _log_error(failed, table, file, is_missing=is_missing)
    if is_missing:
        # Delta reads a file's deletion vector with the file, and names the file if either is missing.
        missing = f"the deletion vector of {file}" if path.is_file() else file
        return DataFileMissing(path=str(table), file=missing, origin=origin)
    return DataFileUnreadable(
        path=str(table),
        detail=f"{file}: {failed.detail}",
        condition=failed.condition,
        sql_state=failed.sql_state,
        origin=origin,
    )


def writing_error(
    error: BaseException, path: str, kind: str, origin: Origin | None = None
) -> DeltaError | EngineFailed:
    """The typed error of a write that failed for good: the mutation, storage, or the rows are to blame."""
    failed = engine_error(error, origin)
    told: dict[str, Any] = {
        "detail": failed.detail,
        "condition": failed.condition,
        "sql_state": failed.sql_state,
        "origin": failed.origin,
    }
    condition, java = failed.condition or "", (failed.java_class or "").rpartition(".")[2]
    if condition.startswith(_AMBIGUOUS):
        return MergeAmbiguous(path=path, **told)
    if condition.startswith(_PROTOCOL):
        return ProtocolUnsupported(path=path, **told)
    if condition == _TASK:
        java, told["detail"] = _innermost(error, failed)
    if condition == _NO_LOG_FOLDER or (java in _STORAGE and condition in {"", _TASK}):
        return WriteFailed(path=path, **told)
    if java in _REFUSING or condition.startswith((*_ROW_REFUSED, _NOT_CHANGED)):
        return MutationRefused(path=path, kind=kind, **told)
    return storage_error(failed) or failed


def _innermost(error: BaseException, failed: EngineFailed) -> tuple[str, str]:
    """The class and the words of the last cause of an engine's exception."""
    found: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    for _ in range(_DEEPEST_CAUSE):
        cause = found.getCause() if found is not None else None
        if cause is None:
            break
        found = cause
    if found is None:
        return "", failed.detail
    return str(found.getClass().getSimpleName()), " ".join(str(found.getMessage() or failed.detail).split())


def _loading_error(failed: EngineFailed, path: Path, version: int, dataset: str) -> DeltaError | EngineFailed:
    condition, shown, origin = failed.condition or "", str(path), failed.origin
    java = (failed.java_class or "").rpartition(".")[2]
    if condition == ENGINE_GONE:
        return failed
    if condition.startswith(_PROTOCOL) or java == _RAW_PROTOCOL:
        return ProtocolUnsupported(
            path=shown,
            detail=failed.detail,
            condition=failed.condition,
            sql_state=failed.sql_state,
            origin=origin,
        )
    if condition == "DELTA_VERSION_NOT_FOUND":
        return VersionNotFound(path=shown, version=version, origin=origin)
    if condition.startswith("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND"):
        return BeyondRetention(path=shown, version=version, origin=origin)
    if condition.startswith(_NO_TABLE) or not path.is_dir():
        return NotADeltaTable(path=shown, origin=origin)
    if condition.startswith(_NO_CHANGES):
        return ChangesNotRecorded(dataset=dataset, path=shown, detail=failed.detail, origin=origin)
    if condition.startswith(_OTHER_SCHEMA):
        return ChangesNotRecorded(
            dataset=dataset,
            path=shown,
            detail="its columns changed within the window in a way that one feed cannot show",
            remedy="Begin the window with the version after that change.",
            origin=origin,
        )
    if condition.startswith((*_BROKEN_LOG, *_READING)) or (not condition and java in _RAW):
        return storage_error(failed) or LogUnreadable(path=shown, detail=failed.detail, origin=origin)
    return failed


def _log_error(failed: EngineFailed, table: Path, file: str, *, is_missing: bool) -> DeltaError:
    if not (table / _LOG).is_dir():
        return NotADeltaTable(path=str(table), origin=failed.origin)
    detail = f"{file} is missing" if is_missing else f"{file}: {failed.detail}"
    return LogUnreadable(path=str(table), detail=detail, origin=failed.origin)


def _local_path(uri: str) -> Path:
    """The place of a file by the encoded address that Spark gives."""
    return Path(unquote("/" + uri.partition(":")[2].lstrip("/")))


def _table_of(path: Path) -> Path | None:
    """The table whose log or data a file is, also where that log is gone."""
    if _LOG in path.parts:
        return Path(*path.parts[: path.parts.index(_LOG)])
    return next((folder for folder in path.parents if (folder / _LOG).is_dir()), None)
