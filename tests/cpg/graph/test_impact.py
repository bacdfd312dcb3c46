"""Modules by their files, imports that mean something, and which files use which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.graph import (
    definitions_of,
    impacted_files_of,
    imports_of,
    imports_resolved_of,
    module_index_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_a_module_is_a_file(meant: DataFrame) -> None:
    rows = module_index_of(definitions_of(meant)).collect()
    found = {row["module"]: (row["path"], row["is_package"], row["is_test"]) for row in rows}
    assert found["library"] == ("library/__init__.py", True, False)
    assert found["library.books"] == ("library/books.py", False, False)
    assert found["tests.test_books"] == ("tests/test_books.py", False, True)
    assert len({row["file_id"] for row in rows}) == len(rows)


def test_an_import_means_a_file_or_what_is_outside(library: DataFrame, meant: DataFrame) -> None:
    rows = imports_resolved_of(imports_of(library, meant)).collect()
    found = {(row["importer_module"], row["resolved_module"], row["dist"]) for row in rows}
    assert ("library.books", "library.text", None) in found
    assert ("library.store", "json", "python") in found
    assert all((row["resolved_file_id"] is None) == (row["dist"] is not None) for row in rows)


def test_who_uses_a_file_feels_its_changes(meant: DataFrame, name_of: dict[str, str]) -> None:
    rows = impacted_files_of(definitions_of(meant)).collect()
    found = {
        row["path"]: (row["reason_kind"], name_of[row["reason_ref"]])
        for row in rows
        if row["changed_path"] == "library/books.py"
    }
    assert found["library/loans.py"] == ("CALLS", "library.books.Catalogue.find")
    assert {"library/cli.py", "library/store.py", "tests/test_books.py"} <= found.keys()
    assert "library/text.py" not in found
    assert all(row["changed_path"] != row["path"] and row["uses"] for row in rows)
    # Who only imports a package to get at what is further in feels no change of the package.
    books = {row["path"] for row in rows if row["changed_path"] == "library/__init__.py"}
    assert "tests/test_books.py" not in books
