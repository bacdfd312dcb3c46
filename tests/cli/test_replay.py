"""`headwater replay` from outside."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.cli.replay import replay_document, replay_lines
from headwater.run import ReplayedView, ReplayReport, RowDifference, SampleRow

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from conftest import Finished
    from headwater.runtime import SessionRuntime

Run = Callable[..., "Finished"]
SMALL = ("--set", "driver_memory=2g", "--master", "local[2]")
DIGEST = "hw2:3:5f1c0a77b2e94d30c6aa8e13f0b2d9c4"
OTHER = "hw2:3:a173e01dde78e04f71b692342ee29bfb"
SAMPLES = (
    SampleRow(kind="changed", before={"id": 2, "town": "x"}, after={"id": 2, "town": "é"}),
    SampleRow(kind="removed", before={"id": 4, "town": None}),
)
REPORT = ReplayReport(
    run_id="20261116T044930896394Z-a851d858",
    views=(
        ReplayedView(name="towns", status="equal", recorded=DIGEST, replayed=DIGEST, rows=1),
        ReplayedView(
            name="people",
            status="different",
            recorded=DIGEST,
            replayed=OTHER,
            rows=1200,
            difference=RowDifference(
                only_before=2, only_after=1, removed=1, added=0, changed=1, samples=SAMPLES
            ),
            reason="altered from outside at version 1 by UPDATE",
        ),
        ReplayedView(name="prices", status="failed", recorded=DIGEST, reason="HW-DELTA-016 cannot be read"),
        ReplayedView(name="stamped", status="skipped", reason="cannot be replayed: has a clock (HW-DET-001)"),
    ),
    seconds=4.21,
)


@pytest.fixture(scope="module")
def built(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of one view, built; its folder has a folder with the view's name in it."""
    assert runtime.profile.driver_memory == "2g"
    folder = tmp_path_factory.mktemp("replayed") / "project"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    (folder / "views" / "one.sql").write_text("-- headwater: table\nSELECT 1 AS x UNION ALL SELECT 2 AS x")
    settings = {"master": "local[2]", "driver_memory": "2g"}
    assert headwater.open(folder, settings=settings).build().error is None
    shutil.rmtree(folder / "views")
    (folder / "one").mkdir()
    return folder


def test_a_report_for_a_person(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(replay_lines(REPORT)) == snapshot
    kept = replace(REPORT, views=REPORT.views[:1], kept=Path("/w/staging/replay-1"))
    assert "\n".join(replay_lines(kept)) == snapshot


def test_a_report_for_a_program(snapshot: SnapshotAssertion) -> None:
    assert json.dumps(replay_document(REPORT), indent=1) == snapshot
    assert "kept" not in replay_document(REPORT)
    assert replay_document(replace(REPORT, kept=Path("/w")))["kept"] == "/w"


def test_equal_rows_exit_with_zero(headwater_here: Run, built: Path) -> None:
    done = headwater_here("replay", "last", built, *SMALL)
    assert done.code == 0
    first, last = done.out.splitlines()
    assert first.startswith("equal     one  2 rows  hw2:2:")
    assert last.startswith("1 of 1 view of run ")
    assert "[0/1] replaying one" in done.err
    quiet = headwater_here("replay", "last", "one", built, "--quiet", *SMALL)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_one_argument_is_a_view_if_the_run_has_it_and_a_folder_otherwise(
    headwater_here: Run, built: Path
) -> None:
    here = headwater_here("replay", "last", "one", "--json", "--quiet", *SMALL, cwd=built)
    assert [each["name"] for each in json.loads(here.out)["views"]] == ["one"]
    there = headwater_here("replay", "last", built.name, "--json", "--quiet", *SMALL, cwd=built.parent)
    assert (there.code, json.loads(there.out)["status"]) == (0, "equal")
    nothing = headwater_here("replay", "last", "nope", "--quiet", *SMALL, cwd=built)
    assert (nothing.code, nothing.err.splitlines()[0].split()[0]) == (2, "HW-RUN-009")


def test_different_rows_exit_with_one_and_the_view_is_named(
    headwater_here: Run, built: Path, tmp_path: Path, runtime: SessionRuntime
) -> None:
    folder = Path(shutil.copytree(built, tmp_path / "project"))
    with runtime.checkout() as session:
        session.spark.sql(f"UPDATE delta.`{folder}/.headwater/tables/one` SET x = 7 WHERE x = 2")
    done = headwater_here("replay", "last", folder, "--json", "--quiet", *SMALL)
    assert (done.code, done.err) == (1, "")
    document = json.loads(done.out)
    assert (document["schema_version"], document["status"], document["first"]) == (1, "different", "one")
    (view,) = document["views"]
    assert (view["only_stored"], view["only_replayed"], view["changed"]) == (1, 1, None)
    assert view["samples"] == [
        {"kind": "only_stored", "stored": {"x": 7}, "replayed": None},
        {"kind": "only_replayed", "stored": None, "replayed": {"x": 2}},
    ]
    assert view["reason"] == "altered from outside at version 1 by UPDATE"


def test_what_is_gone_exits_with_three_and_is_listed(
    headwater_here: Run, built: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(built, tmp_path / "project"))
    for file in (folder / ".headwater" / "tables" / "one").glob("*.parquet"):
        file.unlink()
    done = headwater_here("replay", "last", folder, "--json", "--quiet", *SMALL)
    document = json.loads(done.out)
    assert (done.code, document["status"], document["views"]) == (3, "gone", [])
    assert (document["error"]["code"], document["gone"][0].split(":")[0]) == ("HW-RUN-008", "one version 0")
    text = headwater_here("replay", "last", folder, "--quiet", *SMALL)
    assert (text.code, text.out) == (3, "")
    assert text.err.startswith("HW-RUN-008 ")


def test_drift_is_told_before_anything_is_run(headwater_here: Run, built: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(built, tmp_path / "project"))
    (plans,) = (folder / ".headwater" / "runs").glob("*/plans.json")
    plans.write_text(plans.read_text().replace('"version.spark":"4.2.0"', '"version.spark":"4.1.0"'))
    done = headwater_here("replay", "last", folder, "--json", "--quiet", *SMALL)
    error = json.loads(done.out)["error"]
    assert (done.code, error["code"]) == (1, "HW-RUN-007")
    assert error["differences"] == ["version spark: planned 4.1.0, found 4.2.0"]
