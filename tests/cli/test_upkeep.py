"""`headwater table optimize|vacuum|restore|export|checkpoint|cleanup-log` over a real table."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import read_head

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished
    from headwater.runtime import SessionRuntime

SMALL = ("--master", "local[2]", "--set", "driver_memory=2g", "--reason", "a test")


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """Three versions, the last two of two files each, of a table that keeps nothing."""
    place = tmp_path_factory.mktemp("lake") / "sales"
    with runtime.checkout() as session:
        session.spark.sql(
            f"CREATE TABLE delta.`{place}` (id BIGINT) USING delta TBLPROPERTIES "
            "('delta.deletedFileRetentionDuration' = 'interval 0 hours', "
            "'delta.logRetentionDuration' = 'interval 0 hours')"
        )
        for start in (0, 10):
            rows = session.spark.range(start, start + 10).repartition(2)
            rows.write.format("delta").mode("overwrite").save(str(place))
    return place


@pytest.fixture
def lake(sales: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sales, tmp_path / "sales")


@pytest.fixture
def kept(headwater_here: Callable[..., Finished], lake: Path) -> Callable[..., dict[str, Any]]:
    """Runs a command on the table and gives its document; `code` is the exit code that is expected."""

    def run(command: str, *flags: str | Path, code: int = 0) -> dict[str, Any]:
        done = headwater_here("table", command, lake, *flags, *SMALL, "--json")
        assert done.code == code, done.err
        return json.loads(done.out)

    return run


def test_each_operation_ends_well_says_what_it_did_and_has_nothing_to_do_the_next_time(
    kept: Callable[..., dict[str, Any]], lake: Path
) -> None:
    planned = kept("optimize", "--dry-run")
    assert (planned["status"], planned["version_after"], planned["record"]) == ("planned", 2, None)
    done = kept("optimize", "--target-file-size", "1mb")
    assert (done["status"], done["before"]["files"], done["after"]["files"]) == ("done", 2, 1)
    assert (done["version_before"], done["version_after"]) == (2, 3)
    assert (done["reason"], done["forced"], done["schema_version"]) == ("a test", None, 1)
    assert json.loads((lake.parent / done["record"]).read_text())["status"] == "done"
    assert kept("optimize")["status"] == "unchanged"
    assert kept("checkpoint")["status"] == "done"
    assert kept("checkpoint")["status"] == "unchanged"
    assert len(kept("vacuum", "--dry-run")["files"]) == 4
    assert kept("vacuum")["metrics"] == {"files_deleted": 4}
    assert kept("cleanup-log")["status"] == "done"
    assert sorted(each.name for each in (lake / "_delta_log").glob("*.json")) == [f"{5:020}.json"]


def test_a_version_is_restored_or_copied_and_one_that_is_gone_is_exit_3(
    kept: Callable[..., dict[str, Any]], lake: Path, tmp_path: Path
) -> None:
    refused = kept("restore", "--version", "1", code=3)
    assert refused["error"]["code"] == "HW-DELTA-023"
    assert kept("restore", "--version", "1", "--force-unsafe", "it is a test")["forced"] == "it is a test"
    assert kept("export", tmp_path / "one", "--version", "1")["status"] == "done"
    assert kept("export", "--out", tmp_path / "two")["metrics"]["files_copied"] == 2
    assert kept("export", "--out", tmp_path / "two", code=2)["error"]["code"] == "HW-CONFIG-007"
    for each in ("one", "two"):
        assert read_head((tmp_path / each).as_uri()).version == 0
    assert kept("restore", "--version", "9", code=3)["error"]["code"] == "HW-DELTA-005"
    shutil.rmtree(lake)
    assert kept("vacuum", code=1)["error"]["code"] == "HW-DELTA-001"


def test_wrong_usage_is_exit_2_and_starts_no_spark(
    headwaters: Callable[..., dict[str, Finished]], lake: Path
) -> None:
    wrong = {
        "no version": ("restore",),
        "two versions": ("restore", "--version", "1", "--timestamp", "2026-01-01"),
        "no folder": ("export",),
        "two versions of a copy": ("export", "copy", "--version", "1", "--timestamp", "2026-01-01"),
        "no reason": ("vacuum", "--force-unsafe", " "),
        "time to come": ("vacuum", "--retention-hours", "-1"),
        "no size": ("optimize", "--target-file-size", "huge"),
    }
    commands = {
        name: {"arguments": ["table", flags[0], str(lake), *flags[1:]], "cwd": lake.parent}
        for name, flags in wrong.items()
    }
    assert {name: end.code for name, end in headwaters(**commands).items()} == dict.fromkeys(wrong, 2)
