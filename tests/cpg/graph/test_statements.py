"""Imports, classes, calls, arguments and code with ids in place of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_sample import names_of_ids, told

from headwater.cpg.graph import call_args_of, calls_of, classes_of, code_objects_of, imports_of
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_an_imported_name_says_who_imports_it_and_under_which_circumstances(evidence: DataFrame) -> None:
    (row,) = imports_of(evidence).collect()
    assert row["import_id"] == stable_id("import", row["node_id"])
    names = names_of_ids()
    assert (names[row["file_id"]], names[row["node_id"]]) == ("app/shop.py", "base as b 1")
    told_of = ("importer_module", "kind", "module", "name", "asname", "level")
    assert tuple(row[each] for each in told_of) == ("app.shop", "from", None, "base", "b", 1)
    assert not any(row[each] for each in ("is_type_checking", "is_conditional", "is_lazy"))


def test_a_class_has_a_row_for_its_base(evidence: DataFrame) -> None:
    columns = ("file_id", "class_node_id", "base_idx", "base_node_id", "base_text", "metaclass", "is_enum")
    assert told(classes_of(evidence), *columns) == [
        ("app/shop.py", "class Basket", 0, "b.Base 2", "b.Base", None, False)
    ]


def test_a_call_says_who_calls_what_on_what(evidence: DataFrame) -> None:
    columns = ("call_id", "node_id", "caller_def_id", "callee_node_id", "receiver_node_id", "dispatch")
    more = ("callee_text", "arg_count", "has_star", "has_kwstar")
    add, written = "basket.add 6", "basket.add(*names, count=b) 6"
    assert told(calls_of(evidence), *columns, *more) == [
        ("call basket.add", written, "function buy", add, "basket 6", "method", "basket.add", 2, True, False),
        ("call print", "print(y) 2", "module app.wrong", "print 2", None, "direct", "print", 1, False, False),
    ]


def test_an_argument_says_which_call_it_is_of_and_how_it_is_handed_over(evidence: DataFrame) -> None:
    columns = ("call_id", "file_id", "idx", "arg_node_id", "keyword", "star")
    assert told(call_args_of(evidence), *columns) == [
        ("call basket.add", "app/shop.py", 0, "*names 6", None, "*"),
        ("call basket.add", "app/shop.py", 1, "count=b 6", "count", None),
        ("call print", "app/wrong.pyi", 0, "y 2", None, None),
    ]


def test_a_code_object_says_what_it_was_made_of(evidence: DataFrame) -> None:
    columns = ("file_id", "node_id", "kind", "arg_count", "local_count", "line_count")
    assert told(code_objects_of(evidence), *columns) == [
        ("app/shop.py", "class Basket", "plain", 0, 0, 2),
        ("app/shop.py", "function buy", "plain", 2, 2, 4),
        ("app/shop.py", "module app.shop", "plain", 0, 0, 3),
    ]
