"""The columns of every name, as they are promised, and how they come back from JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater.artifacts import LEDGER_NAMES, ledger_columns, ledger_select
from headwater.artifacts.ledger_names import CacheEntry, RunManifestEntry, TaskEntry
from headwater.artifacts.ledger_sql import details_of

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def test_names_have_the_columns_that_are_promised(snapshot: SnapshotAssertion) -> None:
    assert {entry.sql_name: ledger_columns(entry) for entry in LEDGER_NAMES} == snapshot


def test_a_name_takes_its_columns_from_the_ledgers_row() -> None:
    inner, outer = ledger_select(CacheEntry)
    texts = ("`cache_policy` STRING", "`cache_path` STRING", "`plan_fingerprint` STRING")
    inside = (*texts, "`hit` BOOLEAN", "`used` BOOLEAN")
    assert inner == (
        "run_id",
        "name",
        f"from_json(details, '{', '.join(inside)}') AS d",
    )
    assert outer[:3] == ("run_id AS `run_id`", "name AS `view_name`", "d.`cache_policy` AS `cache_policy`")


def test_details_have_all_but_the_id_and_the_name_with_sorted_keys() -> None:
    entry = TaskEntry(
        run_id="r",
        view_name="totals",
        number=0,
        task_key=None,
        action="built",
        reason="new",
        version=3,
        rows=5,
        digest=None,
        started_at=datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=UTC),
        seconds=0.5,
        refresh=None,
        operators={"b": [1], "a": None},
    )
    assert details_of(entry) == (
        '{"action":"built","digest":null,"number":0,"operators":{"a":null,"b":[1]},"reason":"new","refresh":null,'
        '"rows":5,"seconds":0.5,"started_at":"2026-01-02T03:04:05.000600Z","task_key":null,"version":3}'
    )


def test_a_column_that_may_be_missing_has_the_type_of_what_may_be_there() -> None:
    columns = ledger_columns(TaskEntry)
    assert (columns["version"], columns["started_at"], columns["operators"]) == (
        "BIGINT",
        "TIMESTAMP",
        "STRING",
    )
    assert ledger_columns(RunManifestEntry)["artifact_ids"] == "ARRAY<STRING>"
