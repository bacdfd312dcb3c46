"""Lists of structs, the same as Arrow has them and as a schema says them."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

from headwater.cpg.nested import PAIRS, TEXTS, schema_of, structs_of
from headwater.pipeline.ddl import parse_ddl

KINDS = {
    "text": "STRING",
    "number": "INT",
    "far": "BIGINT",
    "is_so": "BOOLEAN",
    "texts": TEXTS,
    "props": PAIRS,
}
COLUMNS: dict[str, list[Any]] = {
    "text": ["a", None],
    "number": [1, None],
    "far": [2**40, None],
    "is_so": [True, None],
    "texts": [["b", None], None],
    "props": [{"k": "v", "l": "w"}, None],
}


def test_a_schema_names_all_lists_in_order() -> None:
    assert (
        schema_of({"b": {"x": "INT"}, "a": {"y": TEXTS, "x": "STRING"}})
        == "b ARRAY<STRUCT<x: INT>>, a ARRAY<STRUCT<y: ARRAY<STRING>, x: STRING>>"
    )
    assert schema_of({}) == ""


def test_structs_have_the_types_that_the_schema_says() -> None:
    schema = to_arrow_schema(cast("Any", parse_ddl(schema_of({"entries": KINDS}))))
    said = cast("Any", schema.field("entries").type).value_type
    made: Any = structs_of(COLUMNS, KINDS).type
    assert [each.name for each in made] == [each.name for each in said]
    assert all(ours.type.equals(theirs.type) for ours, theirs in zip(made, said, strict=True))


def test_structs_hold_what_was_given() -> None:
    assert structs_of(COLUMNS, KINDS).to_pylist() == [
        {
            "text": "a",
            "number": 1,
            "far": 2**40,
            "is_so": True,
            "texts": ["b", None],
            "props": [{"key": "k", "value": "v"}, {"key": "l", "value": "w"}],
        },
        dict.fromkeys(KINDS),
    ]


@pytest.mark.parametrize(
    "props",
    [
        [],
        [None],
        [{}],
        [None, {"a": "1"}, None, {}, {"b": "2", "c": "3"}, None],
        [{"a": "1"}, {"a": "2"}],
    ],
)
def test_properties_are_pairs_missing_or_empty(props: list[dict[str, str] | None]) -> None:
    made: Any = structs_of({"props": props}, {"props": PAIRS}).to_pylist()
    assert [each["props"] for each in made] == [
        each if each is None else [{"key": key, "value": value} for key, value in each.items()]
        for each in props
    ]


def test_an_array_is_taken_as_it_is() -> None:
    given: pa.Array[Any] = pa.array(["a", None], pa.string())
    made: Any = structs_of({"x": cast("Any", given)}, {"x": "STRING"})
    assert made.field("x").equals(given)
    assert made.field("x").buffers()[2].address == cast("Any", given).buffers()[2].address


def test_only_columns_of_the_list_are_taken_in_its_order() -> None:
    made: Any = structs_of({"z": [1], "b": [2], "a": [3]}, {"a": "INT", "b": "INT"})
    assert [list(each.items()) for each in made.to_pylist()] == [[("a", 3), ("b", 2)]]


def test_a_column_that_is_missing_is_refused() -> None:
    with pytest.raises(KeyError, match="b"):
        structs_of({"a": [1]}, {"a": "INT", "b": "INT"})


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="length"):
        structs_of({"a": [1], "b": [1, 2]}, {"a": "INT", "b": "INT"})
