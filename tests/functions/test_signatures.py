"""What each parameter of each function takes, tried with a value of every type: all else is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from headwater.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pyspark.sql import SparkSession

# Texts, bytes and texts with a collation hold what the parameter would take, so that only the type is wrong.
VALUES = {
    "string": "{text}",
    "collated": "{text} COLLATE UTF8_LCASE",
    "binary": "CAST({text} AS BINARY)",
    "int": "1",
    "bigint": "1L",
    "double": "1D",
    "decimal": "1.0",
    "boolean": "true",
    "date": "DATE'2024-02-29'",
    "timestamp": "TIMESTAMP'2024-02-29 00:00:00'",
    "array": "array(1)",
    "map": "map('a', 1)",
    "variant": "parse_json('1')",
    "struct": "named_struct('a', 1)",
    "span": "span_make(1, 2)",
    "narrow span": "named_struct('bstart', 1, 'bend', 2, 'unit', 'byte')",
    "null": "NULL",
}
WHOLE = {"int", "bigint", "null"}
TEXT = {"string", "null"}
PART = {*WHOLE, *TEXT, "boolean", "date"}
ORDERED = set(VALUES) - {"map", "variant"}
SPAN = {"span", "null"}
NAMED = {
    **dict.fromkeys(("node_id", "edge_id", "file_id"), [("'a'", PART), ("'b'", PART)]),
    **dict.fromkeys(("arg_max_det", "arg_min_det"), [("'a'", ORDERED), ("1", ORDERED), ("2", ORDERED)]),
    **dict.fromkeys(("cdf_change_rank", "cdf_is_upsert", "cdf_is_delete"), [("'insert'", TEXT)]),
    **dict.fromkeys(("list_compact", "list_unique_sorted"), [("array(1)", {"array", "null"})]),
    **dict.fromkeys(("span_overlaps", "span_contains"), [("span_make(1, 2)", SPAN)] * 2),
    **dict.fromkeys(
        ("stable_id_parts", "prefixed_hash_parts64"), [("'node'", {"string"}), ("'a'", PART), ("'b'", PART)]
    ),
    "any_value_det": [("'a'", ORDERED), ("1", ORDERED)],
    "collect_set_sorted": [("1", ORDERED - {"collated"})],
    "count_if_det": [("true", {"boolean", "null"})],
    "map_get_default": [("map('a', 1)", {"map"}), ("'a'", TEXT), ("0", {"int", "null"})],
    "map_normalize": [("map('a', 1)", {"map", "null"})],
    "qname_normalize": [("'a'", TEXT), ("'b'", TEXT), ("'python'", TEXT)],
    "span_id": [("'a'", TEXT), ("'b'", TEXT), ("span_make(1, 2)", SPAN)],
    "span_len": [("span_make(1, 2)", SPAN)],
    "span_make": [("1", WHOLE), ("2", WHOLE), ("'byte'", TEXT)],
    "stable_hash_any": [("'a'", ORDERED)],
    "struct_pick": [("named_struct('a', 1)", {"struct"}), ("'a'", {"string"})],
    "utf8_normalize": [("'a'", TEXT), ("'NFC'", TEXT), ("true", {"boolean", "null"})],
    "utf8_null_if_blank": [("'a'", TEXT)],
}


def calls(name: str) -> dict[tuple[int, str], str]:
    """A call for each parameter and each type of value, with fitting values in the other places."""
    fitting = [value for value, _ in NAMED[name]]
    made: dict[tuple[int, str], str] = {}
    for place, value in enumerate(fitting):
        text = value if value.startswith("'") else "'true'"
        for kind, written in VALUES.items():
            given = [*fitting[:place], written.format(text=text), *fitting[place + 1 :]]
            made[place, kind] = f"{name}({', '.join(given)})"
    return made


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_parameter_takes_what_the_signature_says_and_nothing_else(
    spark: SparkSession, asked: Callable[..., tuple[Any, ...]], name: str
) -> None:
    tried = calls(name)
    taken = {key for key in tried if key[1] in NAMED[name][key[0]][1]}
    asked(*[f"to_json(struct({tried[key]} AS c))" for key in sorted(taken)])
    accepted = {key for key, call in tried.items() if key not in taken and answers(spark, call)}
    assert accepted == set()


def answers(spark: SparkSession, call: str) -> bool:
    try:
        spark.sql(f"SELECT {call}").collect()
    except PySparkException:
        return False
    return True


def test_every_parameter_of_every_function_is_tried() -> None:
    assert set(NAMED) == {each.name for each in FUNCTIONS}
    for each in FUNCTIONS:
        assert len(NAMED[each.name]) in each.arities
        assert each.arities[-1] in {len(NAMED[each.name]), 10}
