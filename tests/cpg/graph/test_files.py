"""Files that were read and files that were not, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_sample import REPO, SHOP, SOURCES, told

from headwater.cpg.graph import diagnostics_of, files_of
from headwater.digest import digest_of_bytes, stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_there_is_a_row_for_each_file_read_or_not(evidence: DataFrame) -> None:
    found = files_of(evidence)
    columns = ("path", "file_id", "size_bytes", "language", "module_fqn", "parse_status", "skip_reason")
    assert told(found, *columns) == [
        ("app/shop.py", "app/shop.py", len(SHOP), "python", "app.shop", "ok", None),
        ("app/wrong.pyi", "app/wrong.pyi", 16, "stub", "app.wrong", "recovered", None),
        ("failed.py", "failed.py", 9, "python", None, "failed", "ValueError: 1"),
        ("huge.py", "huge.py", 9, "python", None, "skipped", "it is too large"),
        ("null.py", "null.py", 1, "python", "null", "failed", None),
    ]
    (shop,) = found.where("path = 'app/shop.py'").collect()
    assert shop["content_sha256"] == digest_of_bytes(SHOP)
    assert (shop["repo_id"], shop["encoding"], shop["newline"]) == (REPO, "utf-8", "\n")
    assert (shop["line_starts"][:3], shop["line_count"], shop["is_test"]) == ([0, 24, 46], 7, False)
    assert (shop["text_bytes"], shop["notebook_cell_map"]) == (len(SHOP), None)


def test_a_diagnostic_is_what_was_said_or_why_a_file_was_not_read(evidence: DataFrame) -> None:
    found = diagnostics_of(evidence)
    columns = ("path", "file_id", "stage", "source", "code", "severity", "bstart", "bend")
    assert told(found, *columns) == [
        ("app/wrong.pyi", "app/wrong.pyi", "parse", "headwater", "not-parsed", "warning", 0, 6),
        ("app/wrong.pyi", "app/wrong.pyi", "parse", "python", "syntax-error", "error", 5, 6),
        ("failed.py", "failed.py", "extract", "headwater", "extractor-failed", "error", None, None),
        ("huge.py", "huge.py", "scan", "headwater", "skipped", "warning", None, None),
        ("null.py", "null.py", "read", "python", "null-bytes", "error", 0, 1),
    ]
    said = {row["path"]: row for row in found.where("path NOT LIKE 'app/%'").collect()}
    assert (said["failed.py"]["message"], said["huge.py"]["message"]) == ("ValueError: 1", "it is too large")
    null = said["null.py"]
    file = stable_id("file", REPO, "null.py")
    assert null["diag_id"] == stable_id("diag", file, "read", "null-bytes", 0, 1, null["message"])
    assert set(said) == {*SOURCES, "failed.py", "huge.py"} - {"app/shop.py", "app/wrong.pyi"}
