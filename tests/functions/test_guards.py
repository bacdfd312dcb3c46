"""What each parameter of each function takes, tried with a value of every type: all else is an error."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark.errors import AnalysisException, SparkRuntimeException

from headwater.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

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
IDS, PREFIXED = (("'a'", PART), ("'b'", PART)), (("'node'", {"string"}), ("'a'", PART), ("'b'", PART))
CHOICE = (("'a'", ORDERED), ("1", ORDERED), ("2", ORDERED))
CHANGE, LIST = (("'insert'", TEXT),), (("array(1)", {"array", "null"}),)
SPANS = (("span_make(1, 2)", SPAN), ("span_make(1, 2)", SPAN))
# For each parameter a value that fits, and all types that are taken.
NAMED: dict[str, tuple[tuple[str, set[str]], ...]] = {
    **dict.fromkeys(("node_id", "edge_id", "file_id"), IDS),
    **dict.fromkeys(("stable_id_parts", "prefixed_hash_parts64"), PREFIXED),
    **dict.fromkeys(("arg_max_det", "arg_min_det"), CHOICE),
    **dict.fromkeys(("cdf_change_rank", "cdf_is_upsert", "cdf_is_delete"), CHANGE),
    **dict.fromkeys(("list_compact", "list_unique_sorted"), LIST),
    **dict.fromkeys(("span_overlaps", "span_contains"), SPANS),
    "any_value_det": (("'a'", ORDERED), ("1", ORDERED)),
    "collect_set_sorted": (("1", ORDERED - {"collated"}),),
    "count_if_det": (("true", {"boolean", "null"}),),
    "map_get_default": (("map('a', 1)", {"map"}), ("'a'", TEXT), ("0", {"int", "null"})),
    "map_normalize": (("map('a', 1)", {"map", "null"}),),
    "qname_normalize": (("'a'", TEXT), ("'b'", TEXT), ("'python'", TEXT)),
    "span_id": (("'a'", TEXT), ("'b'", TEXT), ("span_make(1, 2)", SPAN)),
    "span_len": (("span_make(1, 2)", SPAN),),
    "span_make": (("1", WHOLE), ("2", WHOLE), ("'byte'", TEXT)),
    "stable_hash_any": (("'a'", ORDERED),),
    "struct_pick": (("named_struct('a', 1)", {"struct"}), ("'a'", {"string"})),
    "utf8_normalize": (("'a'", TEXT), ("'NFC'", TEXT), ("true", {"boolean", "null"})),
    "utf8_null_if_blank": (("'a'", TEXT),),
}
AGGREGATES = {each.name for each in FUNCTIONS if each.family == "aggregate"}
Key = tuple[int, str, bool]


def calls(name: str) -> dict[Key, str]:
    """A call for each parameter and each type of value; the others have values, then none if they may."""
    made: dict[Key, str] = {}
    for place, (fitting, taken) in enumerate(NAMED[name]):
        text = fitting if fitting.startswith("'") else "'true'"
        wrong = [kind for kind in VALUES if kind not in taken]
        for kind, missing in (*((kind, False) for kind in VALUES), (wrong[0], True), (wrong[-1], True)):
            given = ["NULL" if missing and "null" in kinds else value for value, kinds in NAMED[name]]
            given[place] = VALUES[kind].format(text=text)
            made[place, kind, missing] = f"{name}({', '.join(given)})"
    return made


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_parameter_takes_what_the_signature_says_and_nothing_else(
    spark: SparkSession, errors: Callable[..., list[str]], name: str
) -> None:
    tried = calls(name)
    taken = {call for (place, kind, _), call in tried.items() if kind in NAMED[name][place][1]}
    left = [call for call in dict.fromkeys(tried.values()) if call in taken or is_analysed(spark, call)]
    if name in AGGREGATES:
        assert answers_of_groups(spark, left, taken) == taken
    else:
        assert {call for call, error in zip(left, errors(*left), strict=True) if not error} == taken


def is_analysed(spark: SparkSession, call: str) -> bool:
    """Whether analysis finds nothing wrong; its error would take ten times longer than the answer."""
    state = cast("Any", spark._jsparkSession).sessionState()
    try:
        parsed = state.sqlParser().parsePlan(f"SELECT {call} FROM range(1)")
        return bool(state.analyzer().execute(parsed).resolved())
    except AnalysisException:
        return False


def answers_of_groups(spark: SparkSession, calls: list[str], taken: set[str]) -> set[str]:
    """Those that give an answer: all that should at once, and one by one the few that no analysis refuses."""
    together = spark.sql(f"SELECT {', '.join(f'to_json(struct({call}))' for call in taken)} FROM range(1)")
    answered = taken if together.collect() else set[str]()
    for call in set(calls) - taken:
        with suppress(SparkRuntimeException):
            answered = answered | {call} if spark.sql(f"SELECT {call} FROM range(1)").collect() else answered
    return answered


def test_every_parameter_of_every_function_is_tried() -> None:
    assert set(NAMED) == {each.name for each in FUNCTIONS}
    for each in FUNCTIONS:
        assert len(NAMED[each.name]) in each.arities
        assert each.arities[-1] in {len(NAMED[each.name]), 10}
