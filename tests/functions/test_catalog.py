from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from headwater import functions as H
from headwater.functions import (
    FAMILIES,
    FUNCTIONS,
    FunctionSnapshot,
    find_function,
    function_snapshot,
    functions_mentioned,
    tags_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import Column, SparkSession

ROWS: list[tuple[Any, ...]] = [
    (
        1,
        9,
        "a",
        "Straße ①",
        True,
        date(2024, 2, 29),
        [3, None, 1, 3],
        {"b": 1, "a": None},
        (1, "x"),
        1.5,
        "insert",
    ),
    (2, 5, "", " \t", False, date(1, 1, 1), [], {}, (None, None), -0.0, "delete"),
    (0, 0, "é:~", "pkg . mod:f", None, None, None, None, None, None, "update_preimage"),
    (None, None, None, None, None, None, None, None, None, None, None),
]
SCHEMA = (
    "i INT, j BIGINT, s STRING, t STRING, b BOOLEAN, d DATE, l ARRAY<INT>, m MAP<STRING, INT>, "
    "r STRUCT<p: INT, q: STRING>, x DOUBLE, c STRING"
)
OTHER_SETTINGS = {
    "session.timeZone": "Asia/Tokyo",
    "ansi.enabled": "false",
    "caseSensitive": "true",
    "shuffle.partitions": "7",
    "jsonGenerator.ignoreNullFields": "true",
    "mapKeyDedupPolicy": "LAST_WIN",
    "codegen.wholeStage": "false",
}
ScalarCalls = list[tuple[str, "Callable[[], Column]"]]
SCALARS: ScalarCalls = [
    ("stable_id_parts('x', s, i, d, b)", lambda: H.stable_id_parts("x", "s", "i", "d", "b")),
    ("stable_id_parts('x', s)", lambda: H.stable_id_parts("x", F.col("s"))),
    ("prefixed_hash_parts64('x', j, s)", lambda: H.prefixed_hash_parts64("x", "j", "s")),
    ("stable_hash_any(r)", lambda: H.stable_hash_any("r")),
    ("stable_hash_any(x)", lambda: H.stable_hash_any("x")),
    ("node_id(i, s)", lambda: H.node_id("i", "s")),
    ("edge_id('AST', i, j)", lambda: H.edge_id(F.lit("AST"), "i", "j")),
    ("file_id(s)", lambda: H.file_id("s")),
    ("span_make(i, j)", lambda: H.span_make("i", "j")),
    ("span_make(i, j, 'char')", lambda: H.span_make("i", "j", unit="char")),
    ("span_len(span_make(i, j))", lambda: H.span_len(H.span_make("i", "j"))),
    (
        "span_overlaps(span_make(i, j), span_make(0, 3))",
        lambda: H.span_overlaps(H.span_make("i", "j"), H.span_make(F.lit(0), F.lit(3))),
    ),
    (
        "span_contains(span_make(i, j), span_make(2, 5))",
        lambda: H.span_contains(H.span_make("i", "j"), H.span_make(F.lit(2), F.lit(5))),
    ),
    ("span_id('r', s, span_make(i, j))", lambda: H.span_id(F.lit("r"), "s", H.span_make("i", "j"))),
    ("utf8_normalize(t)", lambda: H.utf8_normalize("t")),
    ("utf8_normalize(t, 'NFD', b)", lambda: H.utf8_normalize("t", "NFD", F.col("b"))),
    ("utf8_null_if_blank(t)", lambda: H.utf8_null_if_blank("t")),
    ("qname_normalize(t)", lambda: H.qname_normalize("t")),
    ("qname_normalize(t, s)", lambda: H.qname_normalize("t", "s")),
    ("qname_normalize(t, 'pkg', 'python')", lambda: H.qname_normalize("t", F.lit("pkg"), lang="python")),
    ("map_get_default(m, 'b', 7)", lambda: H.map_get_default("m", "b", 7)),
    ("map_normalize(m)", lambda: H.map_normalize("m")),
    ("list_compact(l)", lambda: H.list_compact("l")),
    ("list_unique_sorted(l)", lambda: H.list_unique_sorted("l")),
    ("struct_pick(r, 'q')", lambda: H.struct_pick("r", "q")),
    ("struct_pick(r, 'q', 'p')", lambda: H.struct_pick("r", "q", "p")),
    ("cdf_change_rank(c)", lambda: H.cdf_change_rank("c")),
    ("cdf_is_upsert(c)", lambda: H.cdf_is_upsert("c")),
    ("cdf_is_delete(c)", lambda: H.cdf_is_delete("c")),
]
AGGREGATES: ScalarCalls = [
    ("any_value_det(s)", lambda: H.any_value_det("s")),
    ("any_value_det(s, j)", lambda: H.any_value_det("s", "j")),
    ("arg_max_det(r, i)", lambda: H.arg_max_det("r", "i")),
    ("arg_min_det(node_id(s), i, j)", lambda: H.arg_min_det(H.node_id("s"), "i", "j")),
    ("collect_set_sorted(i)", lambda: H.collect_set_sorted("i")),
    ("count_if_det(i > 0)", lambda: H.count_if_det(F.col("i") > 0)),
]


def test_every_example_gives_what_it_says(asked: Callable[..., tuple[Any, ...]]) -> None:
    examples = [example for each in FUNCTIONS for example in each.examples]
    assert {each.sql.split("(")[0].split()[-1] for each in examples} >= {each.name for each in FUNCTIONS}
    answers = asked(*[f"CAST(({example.sql}) AS STRING)" for example in examples])
    shown = {example.sql: answer for example, answer in zip(examples, answers, strict=True)}
    assert shown == {example.sql: example.result for example in examples}


def test_no_setting_of_a_session_changes_a_result(spark: SparkSession) -> None:
    other = spark.newSession()
    for key, value in OTHER_SETTINGS.items():
        other.conf.set(f"spark.sql.{key}", value)
    frames = [each.createDataFrame(ROWS, SCHEMA) for each in (spark, other)]
    for calls in (SCALARS, AGGREGATES):
        one, two = (frame.select(*[build() for _, build in calls]).collect() for frame in frames)
        assert one == two


@pytest.mark.parametrize("calls", [SCALARS, AGGREGATES], ids=["scalars", "aggregates"])
def test_python_and_sql_give_the_same_values_and_the_same_schema(
    spark: SparkSession, calls: ScalarCalls
) -> None:
    frame = spark.createDataFrame(ROWS, SCHEMA)
    in_python = frame.select(*[build() for _, build in calls])
    in_sql = frame.selectExpr(*[text for text, _ in calls])
    assert in_python.schema.json() == in_sql.schema.json()
    assert in_python.collect() == in_sql.collect()


def test_no_function_is_left_out_of_that_comparison() -> None:
    compared = {text.partition("(")[0] for text, _ in (*SCALARS, *AGGREGATES)}
    assert compared == {each.name for each in FUNCTIONS}


def test_missing_values_never_surprise(asked: Callable[..., tuple[Any, ...]]) -> None:
    kinds = {
        "i": "INT",
        "j": "BIGINT",
        "s": "STRING",
        "t": "STRING",
        "b": "BOOLEAN",
        "d": "DATE",
        "c": "STRING",
    }
    kinds |= {"l": "ARRAY<INT>", "m": "MAP<STRING, INT>", "r": "STRUCT<p: INT, q: STRING>"}
    columns = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in kinds.items())
    without_an_answer = [
        text
        for text, _ in SCALARS
        if not text.startswith(("stable_hash_any", "map_get", "edge_id", "span_id"))
    ]
    answers = [f"(SELECT {text} FROM (SELECT {columns}))" for text in without_an_answer]
    row = asked(*answers)
    wrong = [text for text, answer in zip(without_an_answer, row, strict=True) if answer is not None]
    assert wrong == []


# --- snapshots -----------------------------------------------------------------------------------------


def test_the_order_of_definitions_is_not_part_of_a_snapshot() -> None:
    one = FunctionSnapshot(definitions=(H.node_id, H.edge_id))
    two = FunctionSnapshot(definitions=(H.edge_id, H.node_id))
    assert (one.digest, one.results_digest) == (two.digest, two.results_digest)
    assert FunctionSnapshot(definitions=(H.node_id,)).digest != one.digest


def test_a_snapshot_without_a_family_is_another_one() -> None:
    everything, without = function_snapshot(), function_snapshot(("cdf",))
    assert everything.families == FAMILIES
    assert set(FAMILIES) - set(without.families) == {"cdf", "delta", "incremental"}
    gone = {each.name for each in everything.definitions} - {each.name for each in without.definitions}
    assert gone == {"cdf_change_rank", "cdf_is_delete", "cdf_is_upsert"}
    assert (everything.digest, everything.results_digest) != (without.digest, without.results_digest)
    assert (everything.disabled, without.disabled) == ((), ("cdf",))


def test_a_family_of_which_a_part_is_gone_is_not_there() -> None:
    without = function_snapshot(("map",))
    assert {"map", "nested"} & set(without.families) == set()
    assert {"list", "struct"} <= set(without.families)


def test_digests_are_equal_in_every_process(tmp_path: Path) -> None:
    script = (
        "import json, sys\n"
        "from headwater.functions import FUNCTIONS, function_snapshot\n"
        "from pyspark import SparkContext\n"
        "each = {f.name: [f.digest, f.behaviour] for f in FUNCTIONS}\n"
        "assert SparkContext._gateway is None, 'no JVM was needed'\n"
        "print(json.dumps([function_snapshot().digest, function_snapshot().results_digest, each]))\n"
    )
    snapshot = function_snapshot()
    here = [
        snapshot.digest,
        snapshot.results_digest,
        {each.name: [each.digest, each.behaviour] for each in FUNCTIONS},
    ]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "JAVA_HOME": "", "PATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True, capture_output=True
        )
        assert json.loads(done.stdout) == here


# --- names ---------------------------------------------------------------------------------------------


def test_names_and_tags_are_plain_words_and_each_name_is_there_once() -> None:
    names = [each.name for each in FUNCTIONS]
    assert len(set(names)) == len(names)
    assert all(each.isidentifier() and each == each.lower() for each in (*names, *FAMILIES))
    assert all(each.signature.startswith(f"{each.name}(") and " -> " in each.signature for each in FUNCTIONS)
    assert all(each.doc and each.examples and each.tags and each.family == each.tags[0] for each in FUNCTIONS)


def test_a_function_is_found_by_its_name_in_sql_and_by_no_other() -> None:
    assert find_function("NODE_ID") is H.node_id
    assert find_function("arg_max_det") is H.arg_max_det
    assert [find_function(each) for each in ("collect_set", "count_if", "arg_max", "no_such")] == [None] * 4


def test_second_names_are_there_in_python() -> None:
    aliased = {each.alias: each for each in FUNCTIONS if each.alias is not None}
    assert aliased == {alias: getattr(H, alias) for alias in aliased}
    assert len(aliased) == 4


def test_tags_of_functions_are_the_union_of_theirs() -> None:
    assert tags_of(["node_id", "map_normalize", "upper"]) == ("hash", "id", "map", "nested")
    assert tags_of([]) == ()


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("node_id(a)", True),
        ("1 + Node_Id (a)", True),
        ("`node_id`(a)", True),
        ("system.session.node_id(a)", True),
        ("node_id/* why */ -- or not\n (a)", True),
        ("node_id", False),
        ("a.node_id = (1)", False),
        ("'node_id(a)'", True),
        ("my_node_id(a)", False),
        ("node_ids(a)", False),
        ("collect_set(a)", False),
        ("", False),
    ],
)
def test_a_text_that_could_call_a_function_is_seen(text: str, mentions: bool) -> None:
    assert bool(functions_mentioned(text)) is mentions
