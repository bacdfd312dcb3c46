"""Every reason to make all of a table, or not, as a plan tells it; nothing is built to find out."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace as with_fields

from headwater.artifacts import RefreshRecord, commit_manifest, last_manifest
from headwater.run import REFRESH_REASONS, refreshing
from headwater.run.task_records import STOPPED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lakes import Lake

SUMS = "SELECT k, count(*) AS n, sum(x) AS total FROM a GROUP BY k"
JOINED = "SELECT s.k, s.total, b.y, count(*) OVER (PARTITION BY s.k) AS n FROM sums s JOIN b ON s.k = b.k"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, first_lake: Lake) -> Lake:
    """Two tables, one over the other, whose source has changed since they were built."""
    made = first_lake.copy(tmp_path_factory.mktemp("built") / "project")
    made.view("sums", SUMS)
    made.view("joined", JOINED, refresh_by=["k"])
    made.build()
    made.sql("UPDATE {a} SET x = 11 WHERE k = 1")
    return made


@pytest.fixture
def copied(built: Lake, tmp_path: Path) -> Lake:
    return built.copy(tmp_path / "project")


def test_what_is_proven(copied: Lake) -> None:
    planned = copied.plan()
    assert (planned["sums"].action, planned["sums"].mode) == ("built", "incremental")
    said = "The rows of affected keys are enough, as the plan proves: by a(k)."
    assert (planned["sums"].mode_code, planned["sums"].mode_reason) == ("proven", said)
    # Of a table that has still to be made nothing is known but that it changes.
    assert (planned["joined"].mode, planned["joined"].mode_reason) == (
        "incremental",
        "The rows of affected keys are enough, as the plan proves: by sums(k).",
    )


def changed_view(lake: Lake) -> None:
    lake.view("sums", SUMS.replace("sum(x)", "max(x)"))


def changed_part(lake: Lake) -> None:
    (lake.folder / "views" / "part.sql").write_text("SELECT * FROM a\n")
    lake.view("sums", SUMS.replace("FROM a", "FROM part"))


def table_by_others(lake: Lake) -> None:
    place = lake.folder / ".headwater" / "tables" / "sums"
    lake.sql(f"DELETE FROM delta.`{place}` WHERE k = 3")


def no_plans(lake: Lake) -> None:
    for each in (lake.folder / ".headwater" / "runs").glob("*/plans.json"):
        each.unlink()


def told(lake: Lake) -> None:
    lake.view("sums", SUMS, refresh="full")


def other_policy(lake: Lake) -> None:
    lake.view("sums", SUMS, order_by=["k"])


def other_key(lake: Lake) -> None:
    lake.view("sums", SUMS, refresh_by=["total"])


def source_said(lake: Lake) -> None:
    sources = lake.folder / "views" / "sources.py"
    said = "path='lake/a', require_change_feed=True"
    sources.write_text(sources.read_text().replace("path='lake/a'", said))


def gone_feed(lake: Lake) -> None:
    for each in (lake.folder / "lake" / "a" / "_change_data").iterdir():
        each.unlink()


def stopped(lake: Lake) -> None:
    """As if the run that made it had been killed before it had seen its sources whole."""
    last = last_manifest(lake.folder / ".headwater")
    assert last is not None
    commit_manifest(lake.folder / ".headwater", with_fields(last, error=STOPPED, status="failed"))


def no_table(lake: Lake) -> None:
    shutil.rmtree(lake.folder / ".headwater" / "tables" / "sums")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (changed_view, "view-changed"),
        (changed_part, "view-changed"),
        (table_by_others, "table-changed"),
        (no_plans, "no-record"),
        (told, "told"),
        (other_policy, "policy-changed"),
        (other_key, "group-not-by-key"),
        (source_said, "source-changed"),
        (gone_feed, "history-gone"),
        (no_table, "no-table"),
        (stopped, "no-record"),
    ],
)
def test_why_all_of_a_table_is_made(copied: Lake, change: Callable[[Lake], None], code: str) -> None:
    change(copied)
    planned = copied.plan()["sums"]
    assert (planned.action, planned.mode, planned.mode_code) == ("built", "full", code)
    assert planned.mode_reason.startswith(REFRESH_REASONS[code].removesuffix("."))


def test_keys_that_a_table_cannot_tell_apart_and_values_that_depend_on_other_rows(lake: Lake) -> None:
    """Empty text is null as a folder; VARCHAR is no key of a merge; ids of rows depend on where they lie."""
    lake.sql("ALTER TABLE {a} ADD COLUMN v VARCHAR(9)")
    toml = lake.folder / "headwater.toml"
    toml.write_text(f'{toml.read_text()}\n[determinism.by_row]\nrow-id = "allow"\n')
    lake.view("by_folder", "SELECT j, sum(x) AS x FROM a GROUP BY j", partition_by="j")
    lake.view("by_varchar", "SELECT v, sum(x) AS x FROM a GROUP BY v")
    lake.view("by_row", "SELECT k, j, monotonically_increasing_id() AS n FROM a", refresh_by="k")
    lake.build()
    lake.sql("UPDATE {a} SET x = 11 WHERE k = 1")
    codes = {name: code for name, (_, code) in lake.modes().items()}
    not_compared = dict.fromkeys(("by_folder", "by_varchar"), "key-not-comparable")
    assert codes == {**not_compared, "by_row": "by-place"}
    assert {each.action for each in lake.build().values()} == {"built"}


def test_what_is_asked_for_in_full_and_what_is_up_to_date(copied: Lake) -> None:
    assert {each.mode_code for each in copied.plan(full=True).values()} == {"asked"}
    copied.build()
    assert {each.mode_code for each in copied.plan().values()} == {"up-to-date"}


def test_inputs_that_do_not_tell_which_rows_changed(lake: Lake) -> None:
    sources = lake.folder / "views" / "sources.py"
    more = (
        "headwater.source('rows', rows=[(1, 2)], schema='k INT, z INT')\n"
        "headwater.source('part', path='lake/a', columns={'k': 'k', 'x': 'x + 1'})\n"
    )
    sources.write_text(sources.read_text() + more)
    lake.view("of_rows", "SELECT k, sum(z) AS z FROM rows GROUP BY k")
    lake.view("of_part", "SELECT k, sum(x) AS x FROM part GROUP BY k")
    lake.build()
    lake.sql("UPDATE {a} SET x = 11 WHERE k = 1")
    sources.write_text(sources.read_text().replace("(1, 2)", "(1, 3)"))
    planned = lake.plan()
    assert (planned["of_rows"].mode_code, planned["of_part"].mode_code) == ("source-changed", "no-history")
    assert planned["of_part"].mode_reason.endswith("part is not read as it is, but with columns.")


def test_all_of_a_table_where_that_is_the_shorter_way(copied: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what the log says of sizes, and by what there is to work out."""
    assert copied.plan()["sums"].mode_code == "proven"
    monkeypatch.setattr(refreshing, "_TINY_BYTES", 0)
    assert copied.plan()["sums"].mode_code == "most-changed", "an update has written all files"
    monkeypatch.setattr(refreshing, "_SMALL_BYTES", 0)
    assert copied.plan()["sums"].mode_code == "most-changed"
    monkeypatch.setattr(refreshing, "MOST", 10.0)
    planned = copied.plan()
    assert planned["sums"].mode_code == "cheaper-in-full"
    assert planned["joined"].mode_code == "proven"
    tables = copied.build()
    assert tables["sums"].action == "built"
    assert tables["sums"].refresh == RefreshRecord(mode="full", code="cheaper-in-full")
    copied.view("sums", SUMS, refresh="incremental")
    copied.sql("UPDATE {a} SET x = 12 WHERE k = 1")
    assert copied.build()["sums"].action == "incremental"
    copied.check()
