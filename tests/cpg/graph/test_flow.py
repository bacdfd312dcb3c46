"""Points, ways, dominance, control and data flow with ids in place of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_sample import REPO, told

from headwater.cpg.graph import (
    cfg_edges_of,
    cfg_nodes_of,
    control_deps_of,
    def_effects_of,
    dfg_of,
    dominators_of,
    summaries_of,
)
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ADD = "basket.add(*names, count=b); 6"
END = "return basket 7"


def test_a_point_is_a_moment_of_a_def_at_a_node(evidence: DataFrame) -> None:
    rows = told(cfg_nodes_of(evidence), "def_node_id", "node_id", "cfg_id", "block_id", "ord", "kind")
    assert [row for row in rows if row[0] == "function buy"] == [
        ("function buy", ADD, f"at {ADD}", 1, 2, "stmt"),
        ("function buy", "entry of buy", "at entry of buy", 0, 0, "entry"),
        ("function buy", "exit of buy", "at exit of buy", 2, 4, "exit"),
        ("function buy", "failed exit of buy", "at failed exit of buy", 3, 5, "exc_exit"),
        ("function buy", "names 5", "at names 5", 0, 1, "branch"),
        ("function buy", END, f"at {END}", 2, 3, "stmt"),
    ]
    assert {row[0] for row in rows} == {
        *("module app.shop", "class Basket", "function buy", "module app.wrong"),
    }


def test_points_that_are_never_met_are_dead(evidence: DataFrame) -> None:
    dead = cfg_nodes_of(evidence).where("is_dead")
    assert told(dead, "file_id", "node_id") == [("app/shop.py", "failed exit of Basket")]


def test_a_way_leads_from_a_point_to_the_next(evidence: DataFrame) -> None:
    rows = told(cfg_edges_of(evidence), "src_cfg_id", "dst_cfg_id", "kind", "file_id")
    wrong = "at failed exit of app.wrong"
    assert [row[:3] for row in rows if row[3] == "app/wrong.pyi"] == [
        ("at entry of app.wrong", "at x = (: 1", "next"),
        ("at print(y); 2", "at exit of app.wrong", "next"),
        ("at print(y); 2", wrong, "exception"),
        ("at x = (: 1", wrong, "exception"),
        ("at x = (: 1", "at print(y); 2", "next"),
    ]
    from_branch = [row[1:3] for row in rows if row[0] == "at names 5"]
    assert from_branch == [
        (f"at {ADD}", "true"),
        ("at failed exit of buy", "exception"),
        (f"at {END}", "false"),
    ]


def test_dominators_are_the_nearest_before_and_after_or_none(evidence: DataFrame) -> None:
    rows = told(dominators_of(evidence), "cfg_id", "idom_cfg_id", "ipdom_cfg_id")
    nearest = {row[0]: row[1:] for row in rows}
    assert nearest["at entry of buy"] == (None, "at names 5")
    assert nearest["at names 5"] == ("at entry of buy", f"at {END}")
    assert nearest[f"at {ADD}"] == ("at names 5", f"at {END}")
    assert nearest[f"at {END}"] == ("at names 5", "at exit of buy")
    assert nearest["at exit of buy"] == (f"at {END}", None)
    assert nearest["at failed exit of Basket"] == (None, None)


def test_a_branch_decides_what_is_met_after_it(evidence: DataFrame) -> None:
    columns = ("file_id", "cfg_id", "on_cfg_id", "branch")
    assert told(control_deps_of(evidence), *columns) == [("app/shop.py", f"at {ADD}", "at names 5", "true")]


def test_values_go_from_where_a_name_gets_one_to_where_it_is_read(
    evidence: DataFrame, resolution: DataFrame
) -> None:
    found = dfg_of(evidence, resolution).where("kind = 'reaching_def'")
    assert told(found, "def_node_id", "src_node_id", "dst_node_id", "kind", "preserves_value") == [
        ("function buy", "basket 4", "basket 6", "reaching_def", True),
        ("function buy", "basket 4", "basket 7", "reaching_def", True),
        ("function buy", "names 4", "names 5", "reaching_def", True),
        ("function buy", "names 4", "names 6", "reaching_def", True),
        ("module app.shop", "base as b 1", "b 2", "reaching_def", True),  # the module reads a class's base
    ]
    row = found.first()
    assert row is not None
    ends = (row["src_node_id"], row["dst_node_id"])
    assert row["flow_id"] == stable_id("flow", "reaching_def", *ends, None, None)
    assert (row["repo_id"], row["confidence"]) == (REPO, 1.0)


def test_values_go_on_step_by_step_and_through_calls(library: DataFrame, meant: DataFrame) -> None:
    flows = dfg_of(library, meant)
    assert flows.count() == flows.select("flow_id").distinct().count()
    kinds = {row["kind"] for row in flows.select("kind").distinct().collect()}
    assert {"reaching_def", "expr", "store", "load", "arg_param", "return_call"} <= kinds
    through = flows.where("kind IN ('arg_param', 'return_call')")
    assert through.where("call_id IS NULL OR confidence <= 0 OR confidence > 1").count() == 0


def test_a_function_tells_what_becomes_of_its_parameters_and_of_the_world(
    meant: DataFrame, name_of: dict[str, str]
) -> None:
    summed = {
        (name_of[row["def_node_id"]], row["param_idx"], row["to"]) for row in summaries_of(meant).collect()
    }
    assert ("library.books.Catalogue.add", 1, "return") in summed
    effects = {name_of[row["def_node_id"]]: row for row in def_effects_of(meant).collect()}
    assert "fs" in effects["library.store.replaced"]["own_effects"]
    assert "fs" in effects["library.store.save"]["effects"]
    assert "env" in effects["library.store.default_path"]["own_effects"]
    lent = effects["library.loans.Desk.lend"]["raises"]
    assert {each.rpartition("/")[2] for each in lent} == {"LimitReached#", "LookupError."}
