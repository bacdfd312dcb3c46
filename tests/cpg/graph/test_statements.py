"""Imports, classes and code with ids in place of numbers, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graph_sample import names_of_ids, told

from headwater.cpg.graph import classes_of, code_objects_of, imports_of
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_an_imported_name_says_who_imports_it_and_under_which_circumstances(
    evidence: DataFrame, resolution: DataFrame
) -> None:
    (row,) = imports_of(evidence, resolution).collect()
    assert row["import_id"] == stable_id("import", row["node_id"])
    names = names_of_ids()
    assert (names[row["file_id"]], names[row["node_id"]]) == ("app/shop.py", "base as b 1")
    told_of = ("importer_module", "kind", "module", "name", "asname", "level")
    assert tuple(row[each] for each in told_of) == ("app.shop", "from", None, "base", "b", 1)
    assert not any(row[each] for each in ("is_type_checking", "is_conditional", "is_lazy"))


def test_a_class_has_a_row_for_its_base(evidence: DataFrame, resolution: DataFrame) -> None:
    columns = ("file_id", "class_node_id", "base_idx", "base_node_id", "base_text", "metaclass", "is_enum")
    assert told(classes_of(evidence, resolution), *columns) == [
        ("app/shop.py", "class Basket", 0, "b.Base 2", "b.Base", None, False)
    ]


def test_an_import_says_which_module_and_definition_it_means(library: DataFrame, meant: DataFrame) -> None:
    columns = ("importer_module", "name", "resolved_module", "resolved_symbol", "dist", "resolution", "chain")
    found = imports_of(library, meant).where("module = 'library' OR module = 'json'").select(*columns)
    rows: dict[Any, Any] = {(row["importer_module"], row["name"]): tuple(row)[2:] for row in found.collect()}
    prefix = "headwater python sample 1 "
    assert rows["library.cli", "Book"] == (
        *("library", f"{prefix}`library.books`/Book#", None, "exact"),
        ["library", "library.books"],
    )
    assert rows["library.cli", "store"][:2] == ("library", f"{prefix}`library.store`/")


def test_a_base_says_which_class_it_is(library: DataFrame, meant: DataFrame, name_of: dict[str, str]) -> None:
    found = classes_of(library, meant).where("base_idx IS NOT NULL").collect()
    assert {(name_of[row["class_node_id"]], name_of[row["base_def_id"]]) for row in found} == {
        ("library.loans.LimitReached", "builtins.Exception"),
        ("library.members.Person", "abc.ABC"),
        ("library.members.Member", "library.members.Person"),
        ("library.members.Patron", "library.members.Member"),
    }


def test_a_code_object_says_what_it_was_made_of(evidence: DataFrame) -> None:
    columns = ("file_id", "node_id", "kind", "arg_count", "local_count", "line_count")
    assert told(code_objects_of(evidence), *columns) == [
        ("app/shop.py", "class Basket", "plain", 0, 0, 2),
        ("app/shop.py", "function buy", "plain", 2, 2, 4),
        ("app/shop.py", "module app.shop", "plain", 0, 0, 3),
    ]
