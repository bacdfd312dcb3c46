"""`headwater plan`, `lineage` and `explain` from outside: what is shown, what programs get, how they fail."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import headwater

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from conftest import Finished
    from headwater.runtime import SessionRuntime

Run = Callable[..., "Finished"]
RunMany = Callable[..., dict[str, "Finished"]]
Ends = dict[str, "Finished"]
SMALL = ("--master", "local[2]", "--set", "driver_memory=2g")
SOURCES = """
import headwater
from pyspark.sql import Window
from pyspark.sql import functions as F

headwater.source("orders", path="lake/orders")
headwater.source("rates", rows=[("EUR", 1), ("USD", 2)], schema="currency STRING, per_unit INT")

@headwater.view
def paid(orders):
    return orders.where("amount >= 20")

@headwater.table
def facts(paid, rates):
    eur = F.col("amount") * F.col("per_unit")
    return paid.join(rates, "currency").select("id", "currency", eur.alias("eur"), "who.name")
"""
TOTALS = """-- headwater: table
SELECT currency, sum(eur) AS eur FROM facts WHERE id < (SELECT max(id) FROM orders) GROUP BY currency
"""
RANKED = "SELECT id, rank() OVER (PARTITION BY currency ORDER BY eur, id) AS place FROM facts"
KINDS = {"value", "filter", "join", "group", "window", "order", "subquery"}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """A project over four files of ten orders each, that nobody has built."""
    folder = tmp_path_factory.mktemp("plan") / "project"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    (folder / "views" / "all.py").write_text(SOURCES)
    (folder / "views" / "totals.sql").write_text(TOTALS)
    (folder / "views" / "ranked.sql").write_text(RANKED)
    with runtime.checkout() as session:
        rows = session.spark.range(0, 40, 1, 4).selectExpr(
            "id",
            "if(id % 2 = 0, 'EUR', 'USD') AS currency",
            "id AS amount",
            "named_struct('name', 'n' || id) AS who",
        )
        rows.write.format("delta").save(str(folder / "lake" / "orders"))
    return folder


@pytest.fixture(scope="module")
def built(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(fresh, tmp_path_factory.mktemp("built") / "project")
    project = headwater.open(folder, settings={"master": "local[2]", "driver_memory": "2g"})
    assert project.build().status == "done"
    return folder


def files_below(folder: Path) -> dict[str, bytes | None]:
    return {
        str(each.relative_to(folder)): each.read_bytes() if each.is_file() else None
        for each in sorted(folder.rglob("*"))
    }


def masked(text: str) -> str:
    """Without what may differ: the sizes of data files, and digests."""
    text = re.sub(r"[\d.]+ of [\d.]+ k?B", "SIZE of SIZE", text)
    return re.sub(r"\b[0-9a-f]{8,64}\b", "DIGEST", text)


# --- plan ----------------------------------------------------------------------------------------------


def test_a_plan_says_what_would_run_and_why_and_writes_nothing(
    headwater_here: Run, fresh: Path, snapshot: SnapshotAssertion
) -> None:
    before = files_below(fresh)
    shown = headwater_here("plan", fresh, "--no-color", "--quiet", *SMALL)
    assert (shown.code, shown.err) == (0, "")
    assert masked(shown.out) == snapshot(name="text")
    drawn = headwater_here("plan", fresh, "--dot", "--quiet", *SMALL)
    assert (drawn.code, drawn.err) == (0, "")
    assert masked(drawn.out) == snapshot(name="dot")
    assert files_below(fresh) == before


def test_a_plan_is_one_document_for_a_program(headwater_here: Run, built: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(built, tmp_path / "project")
    (folder / "views" / "totals.sql").write_text(TOTALS.replace("id <", "id + 1 <"))
    before = files_below(folder)
    done = headwater_here("plan", folder, "--json", *SMALL)
    assert done.code == 0, done.err
    assert files_below(folder) == before
    document = json.loads(done.out)
    assert (document["schema_version"], document["status"]) == (1, "work")
    assert document["generations"] == [["paid"], ["facts"], ["ranked", "totals"]]
    assert document["critical_path"] == ["paid", "facts", "totals"]
    views = {each["name"]: each for each in document["views"]}
    assert {name: each["action"] for name, each in views.items()} == {
        "paid": "inlined",
        "facts": "skipped",
        "ranked": "inlined",
        "totals": "built",
    }
    totals = views["totals"]
    assert (totals["reason"], totals["mode"]) == ("changed plan", "full")
    assert totals["mode_code"] == "view-changed"
    assert totals["mode_reason"] == "The view, or one that it is made of, is another: totals."
    assert [each["dataset"] for each in totals["scans"]] == ["facts", "orders"]
    for name in ("files_kept", "files_total", "bytes_kept", "bytes_total"):
        assert isinstance(totals[name], int)
        assert views["facts"][name] == 0
    assert totals["changes"][0].startswith("its plan changed at Filter: was ")


def test_a_full_plan_makes_everything(headwater_here: Run, built: Path) -> None:
    document = json.loads(headwater_here("plan", built, "--json", "--full", *SMALL).out)
    reasons = {each["name"]: each["reason"] for each in document["views"] if each["action"] == "built"}
    assert reasons == {"facts": "asked for in full", "totals": "asked for in full"}


# --- what needs no Java --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ends(headwaters: RunMany, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Ends:
    """Commands that ran in a process without Java, over a project that did not change."""
    wrong = shutil.copytree(built, tmp_path_factory.mktemp("wrong") / "project")
    (wrong / "headwater.toml").write_text('[project]\nname = "small"\n\n[determinism]\nclok = "warn"\n')
    asked: dict[str, tuple[str | Path, ...]] = {
        "plan": ("plan", built, "--no-color", *SMALL),
        "plan json": ("plan", built, "--json", *SMALL),
        "column": ("lineage", "TOTALS.Eur", built, "--quiet", *SMALL),
        "view json": ("lineage", "facts", built, "--json", *SMALL),
        "column up json": ("lineage", "totals.eur", built, "--up", "--json", *SMALL),
        "column json": ("lineage", "facts.eur", built, "--json", *SMALL),
        "column dot": ("lineage", "facts.eur", built, "--dot", *SMALL),
        "source down": ("lineage", "orders.who.name", built, "--down", *SMALL),
        "unknown view": ("lineage", "fact", built, "--json", *SMALL),
        "unknown column": ("lineage", "facts.euro", built, *SMALL),
        "unknown explained": ("explain", "fact", built, *SMALL),
        "wrong name": ("plan", wrong, *SMALL),
        **{f"two of {name}": (*COMMANDS[name], built, "--json", "--dot") for name in COMMANDS},
        **{f"help of {name}": (name, "--help") for name in COMMANDS},
    }
    return headwaters(**{name: {"arguments": arguments} for name, arguments in asked.items()})


COMMANDS = {"plan": ("plan",), "lineage": ("lineage", "facts"), "explain": ("explain", "facts")}


def test_nothing_to_do_is_found_out_without_java(ends: Ends) -> None:
    shown = ends["plan"]
    assert (shown.code, shown.err) == (0, "reading definitions\n")
    assert shown.out.splitlines()[-1] == "Nothing to do: 2 tables are up to date."
    document = json.loads(ends["plan json"].out)
    assert document["status"] == "unchanged"
    assert {each["reason"] for each in document["views"]} == {"up to date"}


def test_lineage_is_told_as_trees_edges_and_a_graph(ends: Ends, snapshot: SnapshotAssertion) -> None:
    for name in ("column", "column json", "column dot", "source down"):
        assert ends[name].code == 0, ends[name].err
        assert ends[name].out == snapshot(name=name)


def test_edges_have_the_contracts_form_and_all_kinds_of_it(ends: Ends, built: Path) -> None:
    edges: list[dict[str, Any]] = []
    for name in ("view json", "column up json"):
        document = json.loads(ends[name].out)
        assert document["schema_version"] == 1
        edges += document["edges"]
    assert all(set(each) == {"from", "to", "kind"} for each in edges)
    assert all(set(each[end]) == {"dataset", "column"} for each in edges for end in ("from", "to"))
    assert {each["kind"] for each in edges} == KINDS
    only_up = json.loads(ends["column up json"].out)["edges"]
    assert {each["to"]["dataset"] for each in only_up} == {"paid", "facts", "totals"}
    plan = headwater.open(built, settings={"master": "local[2]", "driver_memory": "2g"}).plan(scans=False)
    assert len(only_up) == len(plan.lineage("totals.eur", down=False))


def test_what_is_not_there_exits_with_1_and_a_hint(ends: Ends) -> None:
    hints = {"unknown view": "facts", "unknown column": "eur", "unknown explained": "facts"}
    for name, hint in hints.items():
        done = ends[name]
        assert done.code == 1, done
        assert done.err.splitlines()[-2].startswith("HW-PLAN-011 the plan has no ")
        assert done.err.splitlines()[-1].startswith(f"  Did you mean '{hint}'?")
    assert json.loads(ends["unknown view"].out)["error"]["code"] == "HW-PLAN-011"


def test_a_wrong_name_in_the_configuration_exits_with_2_and_its_line(ends: Ends) -> None:
    done = ends["wrong name"]
    assert done.code == 2
    assert "HW-CONFIG-002" in done.err
    assert "headwater.toml:5: unknown setting 'clok' in [determinism]" in done.err
    assert done.err.splitlines()[-1].startswith("  Did you mean 'clock'?")


@pytest.mark.parametrize("command", COMMANDS)
def test_two_forms_at_once_are_wrong_usage_and_help_has_an_example(command: str, ends: Ends) -> None:
    done = ends[f"two of {command}"]
    assert done.code == 2
    assert "--json and --dot ask for two forms" in done.err
    helped = ends[f"help of {command}"]
    assert helped.code == 0
    assert f"Example: headwater {command} " in helped.out


# --- explain -------------------------------------------------------------------------------------------


def test_an_explanation_has_three_plans_and_nothing_of_this_machine(
    headwater_here: Run, built: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    other = shutil.copytree(built, tmp_path / "elsewhere")
    one, two = (headwater_here("explain", "Facts", each, "--quiet", *SMALL) for each in (built, other))
    assert (one.code, one.err) == (0, "")
    assert one.out == two.out
    assert masked(one.out) == snapshot
    drawn = headwater_here("explain", "facts", built, "--dot", "--quiet", *SMALL)
    assert drawn.out.startswith('digraph "facts" {')


def test_an_analysis_shows_what_operators_counted(headwater_here: Run, built: Path) -> None:
    shown = headwater_here("explain", "facts", built, "--analyze", "--no-color", *SMALL)
    assert shown.code == 0, shown.err
    counted = shown.out[shown.out.index("\nCounted\n") :]
    assert re.search(r"Scan parquet .*numFiles 2, numOutputRows 20\b", counted)
    document = json.loads(headwater_here("explain", "facts", built, "--analyze", "--json", *SMALL).out)
    assert (document["schema_version"], document["view"]) == (1, "facts")
    assert any(each["metrics"].get("numOutputRows") == 20 for each in document["metrics"])
    assert document["required"] == {
        "paid": ["amount", "currency", "id", "who.name"],
        "rates": ["currency", "per_unit"],
    }
    assert all(document[name]["error"] is None for name in ("analysed", "optimised", "physical"))


def test_nothing_is_analysed_over_tables_that_are_not_there(headwater_here: Run, fresh: Path) -> None:
    refused = headwater_here("explain", "totals", fresh, "--analyze", "--json", *SMALL)
    assert refused.code == 1
    assert json.loads(refused.out)["error"]["code"] == "HW-QUERY-004"
    assert "'facts' has no rows to read: new" in refused.err
    plain = headwater_here("explain", "totals", fresh, "--json", *SMALL)
    assert plain.code == 0
    assert json.loads(plain.out)["metrics"] == []
