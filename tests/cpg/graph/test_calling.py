"""Calls with ids in place of numbers, their candidates, and their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_sample import told
from pyspark.sql import functions as F

from headwater.cpg.graph import call_args_of, call_targets_of, calls_of
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_a_call_says_who_calls_what_on_what(evidence: DataFrame, resolution: DataFrame) -> None:
    columns = ("call_id", "node_id", "caller_def_id", "callee_node_id", "receiver_node_id", "dispatch")
    more = ("callee_text", "arg_count", "has_star", "has_kwstar")
    add, written = "basket.add 6", "basket.add(*names, count=b) 6"
    assert told(calls_of(evidence, resolution).where("NOT is_implied"), *columns, *more) == [
        ("call basket.add", written, "function buy", add, "basket 6", "method", "basket.add", 2, True, False),
        ("call print", "print(y) 2", "module app.wrong", "print 2", None, "direct", "print", 1, False, False),
    ]


def test_an_argument_says_which_call_it_is_of_and_how_it_is_handed_over(
    evidence: DataFrame, resolution: DataFrame
) -> None:
    columns = ("call_id", "file_id", "idx", "arg_node_id", "keyword", "star")
    assert told(call_args_of(evidence, resolution), *columns) == [
        ("call basket.add", "app/shop.py", 0, "*names 6", None, "*"),
        ("call basket.add", "app/shop.py", 1, "count=b 6", "count", None),
        ("call print", "app/wrong.pyi", 0, "y 2", None, None),
    ]


def test_a_call_that_is_implied_has_an_id_of_its_own(
    library: DataFrame, meant: DataFrame, name_of: dict[str, str]
) -> None:
    calls = calls_of(library, meant)
    assert calls.count() == calls.select("call_id").distinct().count()
    implied = calls.where("is_implied AND dispatch = 'property'").collect()
    assert {(name_of[row["caller_def_id"]], row["callee_text"]) for row in implied} == {
        ("library.books.Catalogue.add", "get")
    }
    assert {row["call_id"] for row in implied} == {
        stable_id("call", row["node_id"], "property", "get") for row in implied
    }


def test_every_call_has_a_candidate_or_a_reason(library: DataFrame, meant: DataFrame) -> None:
    calls, targets = calls_of(library, meant), call_targets_of(meant)
    assert calls.join(targets, "call_id", "left_anti").count() == 0
    assert targets.join(calls, "call_id", "left_anti").count() == 0
    winners = targets.where("is_winner").groupBy("ambiguity_group_id").count()
    assert winners.where("count <> 1").count() == 0
    open_ends = targets.where("reason IS NOT NULL").select("target_symbol", "resolution", "confidence")
    assert {tuple(row) for row in open_ends.collect()} == {("unresolved", "unresolved", 0.0)}


def test_candidates_of_one_call_are_ranked(library: DataFrame, meant: DataFrame) -> None:
    chosen = calls_of(library, meant).where("callee_text = 'COMMANDS[]'").select("call_id")
    rows = call_targets_of(meant).join(chosen, "call_id").orderBy("rank").collect()
    assert [(row["target_name"], row["rank"], row["is_winner"]) for row in rows] == [
        ("library.cli.add", 1, True),
        ("library.cli.find", 2, False),
        ("library.cli.show", 3, False),
    ]
    assert {row["resolution"] for row in rows} == {"ambiguous"}
    assert all(0 < row["confidence"] < 1 for row in rows)


def test_an_argument_says_which_parameter_gets_it(library: DataFrame, meant: DataFrame) -> None:
    calls = calls_of(library, meant).where("callee_text = 'Desk'").select("call_id")
    nodes = library.select(F.explode(F.arrays_zip("node_ids", "nodes.name")).alias("node"))
    names = nodes.select("node.node_ids", F.col("node.name").alias("parameter"))
    bound = call_args_of(library, meant).join(calls, "call_id")
    rows = bound.join(names, F.col("param_node_id") == F.col("node_ids")).orderBy("idx").collect()
    assert [(row["idx"], row["parameter"], row["binding_status"]) for row in rows] == [
        (0, "catalogue", "bound"),
        (1, "tell", "bound"),
    ]
