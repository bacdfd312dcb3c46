"""Policies of maintenance: what is due and why, done only when asked, never at the cost of a recorded run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.artifacts import read_upkeep
from headwater.delta import read_head, snapshot_info
from headwater.errors import NotADeltaTable, UnknownSetting
from headwater.run import UpkeepRequest, locate_table, maintain, maintain_request

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.run import Maintained, RunOutcome
    from headwater.runtime import RunSession

DAY = 86_400
NEVER = """
[maintenance."*"]
compact_small_files = false
cluster_after_commits = false
vacuum_every = false
checkpoint_after_commits = false
cleanup_log = false
retain = false
"""


@pytest.fixture
def folder(kept_folder: Path) -> Path:
    return kept_folder


def say(folder: Path, text: str) -> None:
    with (folder / "headwater.toml").open("a") as toml:
        toml.write(text)


def maintained(folder: Path, *, dry_run: bool = False) -> dict[tuple[str, str], Maintained]:
    request = maintain_request(headwater.open(folder, profile="local"), dry_run=dry_run)
    found = maintain(request)
    return {(each.table, each.due.wanted.operation if each.due else ""): each for each in found}


def aged(place: Path, days: float) -> None:
    """The table's commits as if they had been made so many days ago."""
    for each in sorted((place / "_delta_log").glob("*.json")):
        then = each.stat().st_mtime - days * DAY
        os.utime(each, (then, then))


def build(folder: Path) -> RunOutcome:
    return headwater.open(folder, profile="local").build()


def test_nothing_is_due_for_young_tables_and_nothing_where_nothing_is_wanted(folder: Path) -> None:
    assert maintained(folder) == {}
    say(folder, NEVER)
    for name in ("totals", "moves"):
        aged(folder / ".headwater" / "tables" / name, 900)
    assert maintained(folder) == {}


def test_a_source_is_kept_only_if_it_is_named_and_each_rule_says_why(
    folder: Path, session: RunSession
) -> None:
    say(folder, NEVER)
    say(
        folder,
        "[maintenance.Events]\ncompact_small_files = 2\ncheckpoint_after_commits = 3\nretain = '90 days'\n"
        "vacuum_every = '1 day'\n",
    )
    lake = folder / "lake" / "events"
    aged(lake, 2)
    before = read_head(lake.as_uri())
    planned = maintained(folder, dry_run=True)
    assert list(planned) == [
        ("events", "properties"),
        ("events", "optimize"),
        ("events", "checkpoint"),
        ("events", "vacuum"),
    ]
    reasons = {operation: each.due.reason for (_, operation), each in planned.items() if each.due}
    assert reasons["properties"] == (
        "versions are to stay readable for 90 days, and it keeps replaced files for 7"
    )
    assert "files are less than half of" in reasons["optimize"]
    assert reasons["checkpoint"] == "4 commits came after the last checkpoint; the limit is 3"
    assert reasons["vacuum"].startswith("2.0 days ago its first commit was made")
    assert read_head(lake.as_uri()) == before
    assert read_upkeep(lake) == ()
    done = maintained(folder)
    assert list(done) == list(planned)
    assert all(each.error is None for each in done.values())
    properties = snapshot_info(session, lake.as_uri()).table_properties
    assert properties["delta.deletedFileRetentionDuration"] == "interval 90 days"
    records = read_upkeep(lake)
    assert [each.operation for each in records] == ["properties", "optimize", "checkpoint", "vacuum"]
    assert [each.reason for each in records] == [each.due.reason for each in done.values() if each.due]
    assert maintained(folder) == {}  # also no vacuum, though the last one found nothing to delete
    assert build(folder).status == "unchanged"


def test_clustering_is_due_after_so_many_commits_that_changed_rows(folder: Path) -> None:
    say(folder, NEVER)
    say(folder, "[maintenance.events]\nzorder_by = 'id'\ncluster_after_commits = 3\n")
    done = maintained(folder)
    due = done["events", "optimize"].due
    assert due
    assert due.reason == "4 commits changed rows since it was clustered by id; the limit is 3"
    assert maintained(folder) == {}


def test_old_commits_and_files_go_but_for_what_runs_need(folder: Path, session: RunSession) -> None:
    say(folder, NEVER)
    say(folder, "[maintenance.totals]\ncleanup_log = true\nvacuum_every = '7 days'\n")
    place = folder / ".headwater" / "tables" / "totals"
    session.spark.sql(
        f"ALTER TABLE delta.`{place}` SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 10 days', "
        "'delta.deletedFileRetentionDuration' = 'interval 10 days')"
    )
    aged(place, 30)
    before = sorted(place.rglob("*.parquet"))
    done = maintained(folder)
    assert [operation for _, operation in done] == ["vacuum", "cleanup-log"]
    assert {key[1]: each.done.receipt.outcome for key, each in done.items() if each.done} == {
        "vacuum": "unchanged",
        "cleanup-log": "unchanged",
    }
    assert sorted(place.rglob("*.parquet")) == before


def test_one_table_by_its_path_has_the_usual_policy_and_an_unknown_name_is_refused(folder: Path) -> None:
    project = headwater.open(folder, profile="local")
    located = locate_table(str(folder / "lake" / "events"))
    request = UpkeepRequest(table=located, profile=project.profile, dry_run=True)
    found = maintain(maintain_request(request))
    assert [each.due.wanted.operation for each in found if each.due] == ["properties"]
    say(folder, "[maintenance.totalz]\nretain = '1 day'\n")
    with pytest.raises(UnknownSetting) as caught:
        maintain_request(headwater.open(folder, profile="local"))
    assert caught.value.origin is not None
    assert caught.value.origin.line == 7
    assert "totals" in caught.value.next_step


def test_what_a_table_keeps_longer_is_left_and_only_what_lacks_is_widened(
    folder: Path, session: RunSession
) -> None:
    place = folder / ".headwater" / "tables" / "totals"
    session.spark.sql(
        f"ALTER TABLE delta.`{place}` SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 900 days', "
        "'delta.deletedFileRetentionDuration' = 'interval 800 days')"
    )
    assert maintained(folder) == {}
    session.spark.sql(f"ALTER TABLE delta.`{place}` UNSET TBLPROPERTIES ('delta.enableExpiredLogCleanup')")
    (due,) = maintained(folder).values()
    assert due.due
    assert due.due.reason.endswith("and whoever writes to it may clean its log")
    properties = snapshot_info(session, place.as_uri()).table_properties
    assert properties == {
        "delta.deletedFileRetentionDuration": "interval 800 days",
        "delta.enableExpiredLogCleanup": "false",
        "delta.logRetentionDuration": "interval 900 days",
    }


def test_what_fails_is_told_and_the_others_go_on(folder: Path) -> None:
    (folder / ".headwater" / "tables" / "broken").mkdir()
    say(folder, NEVER)
    say(folder, "[maintenance.events]\nzorder_by = 'nope'\ncluster_after_commits = 1\n")
    say(folder, "[maintenance.totals]\ncheckpoint_after_commits = 1\n")
    done = maintained(folder)
    assert done["events", "optimize"].error is not None
    assert done["totals", "checkpoint"].error is None
    assert isinstance(done["broken", ""].error, NotADeltaTable)
