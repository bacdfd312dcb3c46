"""`headwater diff` for people and programs, and its exit codes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.cli.diff import diff_document, diff_lines
from headwater.run import Cause, CauseCommit, RowDifference, RunDiff, SampleRow, TableDiff, Traced
from headwater.run.diffing import ColumnChange

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from conftest import Finished
    from headwater.runtime import SessionRuntime

Run = Callable[..., "Finished"]
SMALL = ("--set", "driver_memory=2g", "--master", "local[2]")
DATA = Cause(
    kind="input",
    view="paid",
    name="orders",
    before=7,
    after=9,
    commits=(CauseCommit(version=9, timestamp="2026-11-16T10:00:00.000Z", operation="MERGE"),),
    detail="moved from version 7 to 9, by MERGE (version 9)",
)
CODE = Cause(
    kind="code",
    view="paid",
    name="Filter",
    before="Filter (a > 1)",
    after="Filter (a > 2)",
    file="views/paid.sql",
    line=1,
    detail="its plan changed at Filter: was Filter (a > 1), is Filter (a > 2)",
)
COLUMN = Cause(
    kind="schema", view="paid", name="orders.town", after="string", detail="column 'town' is new, string"
)
ZONE = Cause(
    kind="setting", view=None, name="zone", before="UTC", after="CET", detail="setting 'zone' was UTC, is CET"
)
FOUND = RunDiff(
    before="20261115T044930896394Z-a851d858",
    after="20261116T044930896394Z-b851d858",
    tables=(
        TableDiff(
            name="totals",
            status="different",
            version_before=3,
            version_after=4,
            rows_before=1000,
            rows_after=1001,
            added=2,
            removed=1,
            changed=1,
            key=("country",),
            columns=(ColumnChange(name="late", before=None, after="long"),),
            difference=RowDifference(
                only_before=2,
                only_after=3,
                removed=1,
                added=2,
                changed=1,
                columns=(("amount", 1),),
                samples=(
                    SampleRow(
                        kind="changed",
                        before={"country": "AT", "amount": 1.5, "n": 1},
                        after={"country": "AT", "amount": 2.5, "n": 1},
                    ),
                    SampleRow(kind="removed", before={"country": "X", "amount": None, "n": 0}),
                    SampleRow(kind="added", after={"country": "é", "amount": 3, "n": 1}),
                ),
            ),
            causes=(
                Traced(cause=CODE, path=("paid", "totals")),
                Traced(cause=DATA, path=("orders", "paid", "totals")),
                Traced(cause=ZONE, path=("totals",)),
            ),
        ),
        TableDiff(
            name="everyone",
            status="same",
            added=0,
            removed=0,
            changed=0,
            causes=(Traced(cause=COLUMN, path=("orders", "everyone")),),
        ),
        TableDiff(name="few", status="new", rows_after=2, added=2, removed=0),
        TableDiff(name="late", status="not_made", reason="run 1 did not make it: HW-X it failed"),
    ),
)


def test_a_difference_for_a_person(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(diff_lines(FOUND)) == snapshot
    assert "\n".join(diff_lines(replace(FOUND, tables=FOUND.tables[1:2]))) == snapshot
    assert "\n".join(diff_lines(replace(FOUND, tables=()))) == snapshot


def test_what_several_views_read_is_told_once() -> None:
    other = replace(DATA, view="named")
    tables = tuple(
        TableDiff(name=name, status="different", causes=(Traced(cause=each, path=("orders", name)),))
        for name, each in (("one", DATA), ("two", other))
    )
    lines = list(diff_lines(replace(FOUND, tables=tables)))
    assert [each for each in lines if "orders: moved" in each] == [lines[2]]
    assert [each.split()[-1] for each in lines if "because of" in each] == ["1", "1"]


def test_a_difference_for_a_program(snapshot: SnapshotAssertion) -> None:
    assert json.dumps(diff_document(FOUND), indent=1) == snapshot


@pytest.fixture(scope="module")
def built(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project after two runs, between which its query became another."""
    assert runtime.profile.driver_memory == "2g"
    folder = tmp_path_factory.mktemp("compared") / "project"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    view = folder / "views" / "one.sql"
    settings = {"master": "local[2]", "driver_memory": "2g"}
    for text in ("SELECT 1 AS x, 2 AS y", "SELECT 1 AS x, 3 AS y"):
        view.write_text(f"-- headwater: table\n{text}\n")
        assert headwater.open(folder, settings=settings).build().error is None
    return folder


def test_different_rows_exit_with_one_and_the_cause_is_named(headwater_here: Run, built: Path) -> None:
    done = headwater_here("diff", "previous", "last", built, "--json", "--quiet", *SMALL)
    assert (done.code, done.err) == (1, "")
    document = json.loads(done.out)
    assert (document["schema_version"], document["status"]) == (1, "different")
    (table,), (cause,) = document["tables"], document["causes"]
    assert (table["added"], table["removed"], table["changed"], table["changed_columns"]) == (
        0,
        0,
        1,
        {"y": 1},
    )
    assert (cause["kind"], cause["view"], cause["tables"]) == ("code", "one", ["one"])
    assert (cause["file"], cause["line"], cause["commit"]) == ("views/one.sql", 1, None)
    text = headwater_here("diff", "previous", "last", built, *SMALL)
    assert (text.code, text.out.splitlines()[-1]) == (1, "1 of 1 table differs.")
    assert "~ {} y 2 -> 3" in text.out
    assert "comparing one" in text.err


def test_equal_runs_and_causes_alone_need_no_java(
    headwaters: Callable[..., dict[str, Finished]], built: Path
) -> None:
    done = headwaters(
        same={"arguments": ["diff", "last", "last", built]},
        causes={"arguments": ["diff", "previous", "last", built, "--no-rows", "--json"]},
        nothing={"arguments": ["diff", "nope", "last", built]},
    )
    assert (done["same"].code, done["same"].out.splitlines()[-1]) == (0, "0 of 1 table differ.")
    document = json.loads(done["causes"].out)
    assert (done["causes"].code, [each["kind"] for each in document["causes"]]) == (1, ["code"])
    assert document["tables"][0]["added"] is None
    assert (done["nothing"].code, done["nothing"].err.split()[0]) == (1, "HW-RUN-005")


def test_rows_that_are_gone_exit_with_three(headwater_here: Run, built: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(built, tmp_path / "project"))
    for file in (folder / ".headwater" / "tables" / "one").glob("*.parquet"):
        file.unlink()
    done = headwater_here("diff", "previous", "last", folder, "--json", "--quiet", *SMALL)
    document = json.loads(done.out)
    assert (done.code, len(document["gone"]), document["status"]) == (3, 1, "different")
    assert [each["kind"] for each in document["causes"]] == ["code"]
    assert done.err.startswith("HW-RUN-")
