"""Symbols, where they occur, the order of classes, what modules export and import, and types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.graph import (
    exported_defs_of,
    imports_of,
    module_deps_of,
    mro_of,
    occurrences_of,
    overrides_of,
    symbols_of,
    type_facts_of,
    types_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PREFIX = "headwater python sample 1 "


def test_a_symbol_tells_its_distribution_module_and_definition(
    meant: DataFrame, name_of: dict[str, str]
) -> None:
    rows = {row["symbol"]: row for row in symbols_of(meant).collect()}
    book = rows[f"{PREFIX}`library.books`/Book#"]
    assert (book["kind"], book["display_name"], book["dist"], book["version"]) == (
        "class",
        "Book",
        "sample",
        "1",
    )
    assert (book["module"], book["descriptor"]) == ("library.books", "`library.books`/Book#")
    assert (name_of[book["def_node_id"]], book["is_external"]) == ("library.books.Book", False)
    assert rows[f"{PREFIX}`library.cli`/COMMANDS."]["kind"] == "variable"
    assert rows[f"{PREFIX}`library.loans`/Desk#loans."]["kind"] == "variable"
    dumped = rows["headwater python python . json/dump."]
    assert (dumped["kind"], dumped["dist"], dumped["is_external"]) == ("external", "python", True)


def test_every_name_that_is_written_has_a_symbol_and_a_role(library: DataFrame, meant: DataFrame) -> None:
    found = occurrences_of(library, meant)
    assert found.where("symbol IS NULL OR roles <= 0").count() == 0
    assert found.count() == found.select("occ_id").distinct().count()
    of_book = found.where(f"symbol = '{PREFIX}`library.books`/Book#'").groupBy("roles").count()
    counted = {row["roles"]: row["count"] for row in of_book.collect()}
    assert counted[1] == 1  # it is defined once
    assert counted[3] == 5  # and imported by five files
    assert counted[8] >= 5  # and read
    read = found.where("roles = 8 AND symbol LIKE '%`library.books`/Catalogue#find%'").count()
    assert read == 4  # as an attribute, which only values tell


def test_a_local_name_has_a_symbol_of_its_own(library: DataFrame, meant: DataFrame) -> None:
    local = occurrences_of(library, meant).where("symbol LIKE 'local %'")
    assert local.count() > 0
    builtin = occurrences_of(library, meant).where("symbol = 'headwater python python . builtins/len.'")
    assert builtin.count() == 2


def test_attributes_of_a_class_are_looked_up_in_order(meant: DataFrame, name_of: dict[str, str]) -> None:
    rows = mro_of(meant).orderBy("pos").collect()
    patron = [name_of[row["node_id"]] for row in rows if name_of[row["class_node_id"]].endswith("Patron")]
    assert patron == [
        "library.members.Patron",
        "library.members.Member",
        "library.members.Person",
        "abc.ABC",
    ]


def test_a_method_overrides_the_nearest_and_those_behind_it(
    meant: DataFrame, name_of: dict[str, str]
) -> None:
    rows = overrides_of(meant).collect()
    pairs = {
        (name_of[row["method_node_id"]], name_of[row["overridden_node_id"]], row["is_transitive"])
        for row in rows
    }
    people = "library.members"
    assert pairs == {
        (f"{people}.Member.limit", f"{people}.Person.limit", False),
        (f"{people}.Patron.limit", f"{people}.Member.limit", False),
        (f"{people}.Patron.limit", f"{people}.Person.limit", True),
        (f"{people}.Patron.greeting", f"{people}.Person.greeting", False),
    }


def test_a_module_exports_what_it_defines_and_what_it_hands_on(meant: DataFrame) -> None:
    rows = exported_defs_of(meant).where("module = 'library'").collect()
    assert {(row["name"], row["via"]) for row in rows} == {
        (name, "reexport") for name in ("Book", "Catalogue", "Desk", "Member")
    }


def test_a_module_needs_those_it_imports_from(library: DataFrame, meant: DataFrame) -> None:
    deps = module_deps_of(imports_of(library, meant)).where("importer_module = 'library.notices'").collect()
    told = {(row["imported_module"], row["is_type_checking"], row["weight"]) for row in deps}
    assert {("functools", False, 2), ("library.books", True, 1), ("library.members", True, 1)} <= told


def test_a_parameter_has_the_type_that_is_written_at_it(meant: DataFrame) -> None:
    facts = type_facts_of(meant).join(types_of(meant), "type_id")
    assert facts.count() == type_facts_of(meant).count()
    annotated = {row["repr"] for row in facts.where("source = 'annotation'").collect()}
    assert {"str", "int", "library.books.Book", "library.members.Member", "None"} <= annotated
    winners = facts.where("is_winner").groupBy("node_id").count()
    assert winners.where("count <> 1").count() == 0
