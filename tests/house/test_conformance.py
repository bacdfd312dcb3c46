"""The conformance run sees what is wrong: rows, types, files and tables that nobody decided about."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import conformance
import pytest

if TYPE_CHECKING:
    from headwater.runtime import RunSession

ROOT = Path(__file__).parents[2]
SAME = """
    SELECT 1 AS n, double('NaN') AS d, float(-0.0) AS f, {map} AS m,
        array(named_struct('x', double('NaN'))) AS a, timestamp'2020-01-01 08:09:10 UTC' AS t
    UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL
    UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL
"""


def line_about(session: RunSession, folder: Path, sql: str, expected: str) -> str:
    session.spark.sql(sql).write.format("delta").save(str(folder / "delta"))
    session.spark.sql(expected).write.parquet(str(folder / "expected"))
    line, is_right = conformance.tried(session, folder)
    assert is_right == line.startswith("ok ")
    return line


def test_rows_are_the_same_in_any_order_of_rows_and_of_entries(session: RunSession, tmp_path: Path) -> None:
    ours, theirs = (SAME.format(map=each) for each in ("map(1, 'a', 2, NULL)", "map(2, NULL, 1, 'a')"))
    line = line_about(session, tmp_path / "same", ours, f"SELECT * FROM ({theirs}) ORDER BY n DESC")
    assert line.startswith("ok same version 0, ")
    assert line.endswith(" 3 rows (promised)")


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        ("SELECT 1 AS n", "SELECT 2 AS n", "rows that are not expected: Row(c0=1)"),
        ("SELECT 1 AS n", "SELECT * FROM VALUES (1), (1) AS t(n)", "rows that are missing: Row(c0=1)"),
        ("SELECT 1 AS n", "SELECT 1L AS n", "its columns are struct<n:int>, expected struct<n:bigint>"),
        ("SELECT 0.0D AS n", "SELECT -0.0D AS n", "rows that are not expected: Row(c0='0.0')"),
        ("SELECT map(1, 0.5D) AS n", "SELECT map(1, 0.25D) AS n", "rows that are not expected"),
    ],
)
def test_a_difference_is_told(session: RunSession, tmp_path: Path, ours: str, theirs: str, why: str) -> None:
    assert line_about(session, tmp_path / "t", ours, theirs).startswith(f"FAILED t: {why}")


def test_a_refusal_of_a_table_with_rows_is_a_failure(session: RunSession, tmp_path: Path) -> None:
    (tmp_path / "t" / "expected").mkdir(parents=True)
    line, _ = conformance.tried(session, tmp_path / "t")
    assert line.startswith("FAILED t: refused by NotADeltaTable: HW-DELTA-001")


def test_a_table_that_is_not_whole_is_a_failure(session: RunSession, tmp_path: Path) -> None:
    line_about(session, tmp_path / "t", "SELECT 1 AS n", "SELECT 1 AS n")
    checksum = tmp_path / "t" / "delta" / "_delta_log" / f"{0:020}.crc"
    checksum.write_text('{"numFiles": 9}')
    line, _ = conformance.tried(session, tmp_path / "t")
    assert line.startswith("FAILED t: the checksum of version 0 says 9 files")


def test_a_table_that_nobody_decided_about_is_a_failure(session: RunSession, tmp_path: Path) -> None:
    (tmp_path / "t" / "delta").mkdir(parents=True)
    line, is_right = conformance.tried(session, tmp_path / "t")
    assert not is_right
    assert line == "FAILED t: it has no expected rows, and no verdict is written down"


def test_a_table_that_should_be_refused_and_is_not_is_a_failure(session: RunSession, tmp_path: Path) -> None:
    folder = tmp_path / "no-delta-log-folder"
    line_about(session, folder, "SELECT 1 AS n", "SELECT 1 AS n")
    shutil.rmtree(folder / "expected")
    line, _ = conformance.tried(session, folder)
    assert line.startswith("FAILED no-delta-log-folder: it is read, and should be refused")


@pytest.mark.parametrize("arguments", [[], [""], ["a", "b"]])
def test_a_missing_folder_is_told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert conformance.main(arguments) == 2
    assert "make conformance SUITES=DIR" in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, b"no archive"])
def test_an_archive_that_is_none_is_told(
    tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "delta").mkdir()
    if content is not None:
        (tmp_path / "delta" / "golden.tar.xz").write_bytes(content)
    assert conformance.main([str(tmp_path)]) == 2
    assert str(tmp_path / "delta" / "golden.tar.xz") in capsys.readouterr().err


def test_the_page_tells_every_verdict() -> None:
    page = (ROOT / "docs" / "reference" / "conformance.md").read_text("utf-8")
    for name, verdict in conformance.VERDICTS.items():
        by = getattr(verdict, "by", None)
        assert f"| `{name}` | {f'refused: {by.__name__}' if by else 'snapshot,'}" in page
