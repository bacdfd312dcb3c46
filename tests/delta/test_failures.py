from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from headwater.delta import failures
from headwater.delta.failures import loading_errors, storage_error
from headwater.errors import (
    BeyondRetention,
    ChangesNotRecorded,
    DataFileMissing,
    DataFileUnreadable,
    EngineFailed,
    HeadwaterError,
    LogUnreadable,
    NotADeltaTable,
    ProtocolUnsupported,
    VersionNotFound,
)
from headwater.origin import Origin

if TYPE_CHECKING:
    from headwater.runtime import RunSession

PLACE = Origin("views/a.py", 3)
OURS = frozenset({"ENGINE_GONE"})  # a condition that the runtime gives, not the engine
CLASSES = {
    "ChecksumException": "org.apache.hadoop.fs.ChecksumException",
    "FileNotFoundException": "java.io.FileNotFoundException",
    "IllegalStateException": "java.lang.IllegalStateException",
    "JsonEOFException": "com.fasterxml.jackson.core.io.JsonEOFException",
    "JsonParseException": "com.fasterxml.jackson.core.JsonParseException",
    "NoSuchElementException": "java.util.NoSuchElementException",
    "ColumnMappingUnsupportedException": "org.apache.spark.sql.delta.ColumnMappingUnsupportedException",
}


class Thrown(PySparkException):
    """What Spark throws, with a condition that a test chooses."""

    def __init__(self, condition: str | None) -> None:
        super().__init__(message="it went wrong")
        self._thrown_condition = condition

    def getCondition(self) -> str | None:  # noqa: N802 -- PySpark's name
        return self._thrown_condition


def loaded(path: Path, condition: str | None) -> HeadwaterError:
    """What a load of version 7 of the table `orders` raises where Spark throws this."""
    with (
        pytest.raises(HeadwaterError) as caught,
        loading_errors(path, 7, dataset="orders", origin=PLACE),
    ):
        raise Thrown(condition)
    return caught.value


def failed(condition: str | None, file: Path | str | None) -> EngineFailed:
    uri = file.as_uri() if isinstance(file, Path) else file
    return EngineFailed(
        detail="it went wrong", condition=condition, sql_state="KD001", file=uri, origin=PLACE
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    table = tmp_path / "a b%20[1]"
    (table / "_delta_log").mkdir(parents=True)
    return table


# --- what is named here exists -------------------------------------------------------------------------


def resource(session: RunSession, name: str) -> dict[str, Any]:
    loader = session.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    return json.loads(bytes(loader.getResourceAsStream(name).readAllBytes()))


def test_every_condition_that_is_named_exists(session: RunSession) -> None:
    known: set[str] = set()
    for name in ("error/delta-error-classes.json", "error/error-conditions.json"):
        for condition, told in resource(session, name).items():
            known |= {condition, *(f"{condition}.{each}" for each in told.get("subClass", ()))}
    source = ast.parse(Path(failures.__file__).read_text("utf-8"))
    texts = {node.value for node in ast.walk(source) if isinstance(node, ast.Constant)}
    named = {each for each in texts if isinstance(each, str) and re.fullmatch(r"[A-Z]+(_[A-Z.]+)+", each)}
    assert len(named) > 20
    assert {each for each in named - OURS if not any(name.startswith(each) for name in known)} == set()


@pytest.mark.parametrize("name", sorted({*failures._RAW, failures._RAW_PROTOCOL}))
def test_every_class_that_is_named_exists(session: RunSession, name: str) -> None:
    loader = session.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    assert loader.loadClass(CLASSES[name]).getSimpleName() == name


# --- while a log is loaded -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        *((each, ProtocolUnsupported) for each in failures._PROTOCOL),
        *((each, NotADeltaTable) for each in failures._NO_TABLE),
        *((each, ChangesNotRecorded) for each in failures._NO_CHANGES),
        *((each, LogUnreadable) for each in (*failures._BROKEN_LOG, *failures._READING)),
        ("DELTA_VERSION_NOT_FOUND", VersionNotFound),
        ("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION", BeyondRetention),
    ],
)
def test_a_condition_has_its_error(table: Path, condition: str, kind: type[HeadwaterError]) -> None:
    error = loaded(table, condition)
    assert type(error) is kind
    assert str(table) in error.message
    assert error.next_step
    assert error.origin == PLACE


def test_a_version_that_is_refused_is_named(table: Path) -> None:
    assert "version 7 of" in loaded(table, "DELTA_VERSION_NOT_FOUND").message
    assert "'orders'" in loaded(table, "DELTA_MISSING_CHANGE_DATA").message


@pytest.mark.parametrize("condition", ["DIVIDE_BY_ZERO", "INTERNAL_ERROR", None])
def test_what_is_not_about_a_log_stays_the_engines(table: Path, condition: str | None) -> None:
    assert type(loaded(table, condition)) is EngineFailed


def test_an_engine_that_is_gone_is_not_the_tables_fault(tmp_path: Path) -> None:
    with pytest.raises(EngineFailed), loading_errors(tmp_path / "gone", 0):
        raise ConnectionRefusedError


def test_a_folder_that_is_gone_is_no_table_whatever_the_engine_says(tmp_path: Path) -> None:
    assert type(loaded(tmp_path / "gone", "INTERNAL_ERROR")) is NotADeltaTable


def test_a_check_without_a_condition_is_known_by_its_class(session: RunSession, table: Path) -> None:
    with pytest.raises(LogUnreadable), loading_errors(table, 0):
        session.jvm.java.util.Optional.empty().get()
    with pytest.raises(EngineFailed), loading_errors(table, 0):
        session.jvm.java.lang.Integer.parseInt("seven")


# --- while rows are read -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "file"),
    [
        (None, "part-1.parquet"),
        ("DIVIDE_BY_ZERO", "part-1.parquet"),
        ("FAILED_READ_FILE.NO_HINT", None),
    ],
)
def test_storage_is_to_blame_only_for_a_file_that_could_not_be_read(
    table: Path, condition: str | None, file: str | None
) -> None:
    assert storage_error(failed(condition, table / file if file else None)) is None


@pytest.mark.parametrize("form", ["file:", "file://"])
def test_a_missing_file_is_named_within_its_table(table: Path, form: str) -> None:
    uri = (table / "k=1%3A" / "part-1.parquet").as_uri().replace("file://", form)
    error = storage_error(failed("FAILED_READ_FILE.FILE_NOT_EXIST", uri))
    assert isinstance(error, DataFileMissing)
    assert (error.path, error.file, error.origin) == (str(table), "k=1%3A/part-1.parquet", PLACE)


def test_a_file_that_is_there_lacks_its_deletion_vector(table: Path) -> None:
    (table / "part-1.parquet").touch()
    error = storage_error(failed("FAILED_READ_FILE.FILE_NOT_EXIST", table / "part-1.parquet"))
    assert isinstance(error, DataFileMissing)
    assert error.file == "the deletion vector of part-1.parquet"


@pytest.mark.parametrize("condition", ["FAILED_READ_FILE.NO_HINT", "DELTA_DELETION_VECTOR_SIZE_MISMATCH"])
def test_a_file_that_cannot_be_read_is_named_with_the_reason(table: Path, condition: str) -> None:
    error = storage_error(failed(condition, table / "part-1.parquet"))
    assert isinstance(error, DataFileUnreadable)
    assert (error.path, error.condition, error.sql_state) == (str(table), condition, "KD001")
    assert (error.detail, error.origin) == ("part-1.parquet: it went wrong", PLACE)


def test_a_file_of_the_log_is_the_logs_fault(table: Path) -> None:
    file = table / "_delta_log" / "_sidecars" / "1.parquet"
    missing = storage_error(failed("FAILED_READ_FILE.FILE_NOT_EXIST", file))
    corrupt = storage_error(failed("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", file))
    assert isinstance(missing, LogUnreadable)
    assert isinstance(corrupt, LogUnreadable)
    assert missing.detail == "_delta_log/_sidecars/1.parquet is missing"
    assert corrupt.detail == "_delta_log/_sidecars/1.parquet: it went wrong"
    assert missing.path == corrupt.path == str(table)
    assert missing.origin == corrupt.origin == PLACE


def test_a_log_that_is_gone_was_a_tables(tmp_path: Path) -> None:
    file = tmp_path / "gone" / "_delta_log" / "0.json"
    error = storage_error(failed("FAILED_READ_FILE.FILE_NOT_EXIST", file))
    assert isinstance(error, NotADeltaTable)
    assert (error.path, error.origin) == (str(tmp_path / "gone"), PLACE)


def test_a_file_whose_folder_is_gone_is_missing(tmp_path: Path) -> None:
    error = storage_error(failed("FAILED_READ_FILE.FILE_NOT_EXIST", tmp_path / "gone" / "part-1.parquet"))
    assert isinstance(error, DataFileMissing)
    assert (error.path, error.file) == (str(tmp_path / "gone"), "part-1.parquet")


@pytest.mark.parametrize("condition", ["FAILED_READ_FILE.FILE_NOT_EXIST", "FAILED_READ_FILE.NO_HINT"])
def test_a_file_of_no_table_is_not_storages_fault(tmp_path: Path, condition: str) -> None:
    assert storage_error(failed(condition, tmp_path / "orders.csv")) is None
