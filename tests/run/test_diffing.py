"""Two runs side by side: which tables have other rows, and which rows; what cannot be told is said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from seeds import PAID

from headwater.errors import NotRecorded, RunNotFound
from headwater.run import RunDiff, SampleRow, TableDiff

if TYPE_CHECKING:
    from seeds import Seeded

ALL = {"everyone", "facts", "moments", "priced", "texts", "totals"}


def table(found: RunDiff, name: str) -> TableDiff:
    return next(each for each in found.tables if each.name == name)


def statuses(found: RunDiff) -> dict[str, str]:
    return {each.name: each.status for each in found.tables}


def test_rows_are_told_apart_by_the_key_that_the_plan_shows(seeded: Seeded, first_run: str) -> None:
    seeded.sql("UPDATE {customers} SET country = 'CH' WHERE id = 3")
    found = seeded.diff(first_run, seeded.build(), rows=True)
    assert found.status == "different"
    totals = table(found, "totals")
    assert (totals.key, totals.rows_before, totals.rows_after) == (("country",), 1, 2)
    assert (totals.added, totals.removed, totals.changed) == (1, 0, 1)
    assert totals.difference is not None
    assert totals.difference.columns == (("amount", 1), ("orders", 1))
    assert totals.difference.samples == (
        SampleRow(
            kind="changed",
            before={"country": "AT", "amount": 22.75, "orders": 3},
            after={"country": "AT", "amount": 15.5, "orders": 2},
        ),
        SampleRow(kind="added", after={"country": "CH", "amount": 7.25, "orders": 1}),
    )
    facts = table(found, "facts")
    assert (facts.key, facts.added, facts.removed, facts.changed) == (None, 1, 1, None)
    same = table(found, "priced")
    assert (same.status, same.added, same.removed, same.causes) == ("same", 0, 0, ())


def test_a_run_is_the_same_as_itself(seeded: Seeded, first_run: str) -> None:
    found = seeded.diff("last", first_run, rows=True)
    assert (found.status, found.causes, found.gone) == ("same", (), ())
    assert statuses(found) == dict.fromkeys(ALL, "same")


def test_tables_that_came_and_went(seeded: Seeded, first_run: str) -> None:
    """What a run was not asked for is as it was, whatever would reach it."""
    PAID(seeded)
    (seeded.folder / "views/priced.sql").unlink()
    seeded.write("views/few.sql", "-- headwater: table\nSELECT id FROM orders WHERE id < 3\n")
    outcome = seeded.project.build(only=["few"])
    assert outcome.error is None
    found = seeded.diff(first_run, outcome.run_id)
    assert statuses(found) == {**dict.fromkeys(ALL, "same"), "priced": "gone", "few": "new"}
    few, priced, facts = (table(found, name) for name in ("few", "priced", "facts"))
    assert (few.added, few.removed, few.version_before, few.version_after) == (2, 0, None, 0)
    assert (priced.added, priced.removed) == (0, 2)
    assert (facts.causes, facts.added) == ((), 0)


def test_a_table_that_a_run_could_not_make(seeded: Seeded, first_run: str) -> None:
    seeded.edit("views/facts.sql", "p.amount", "p.amount, raise_error(n.label) AS never")
    outcome = seeded.project.build()
    assert outcome.error is not None
    found = seeded.diff(first_run, outcome.run_id)
    assert statuses(found) == {**dict.fromkeys(ALL, "same"), "facts": "not_made", "totals": "not_made"}
    facts = table(found, "facts")
    assert facts.reason.startswith(f"run {outcome.run_id} did not make it: ")
    assert [each.cause.kind for each in facts.causes] == ["code"]
    assert (facts.version_before, facts.version_after, facts.added) == (0, None, None)


def test_columns_that_are_others_make_a_table_another(seeded: Seeded, first_run: str) -> None:
    seeded.edit("views/totals.sql", "count(*) AS orders", "CAST(NULL AS INT) AS late")
    found = table(seeded.diff(first_run, seeded.build(), rows=True), "totals")
    columns = [(each.name, each.before, each.after) for each in found.columns]
    assert (found.status, columns) == ("different", [("orders", "long", None), ("late", None, "integer")])
    assert found.difference is not None
    assert found.difference.columns == ()


def test_approximate_columns_are_compared_with_a_tolerance(seeded: Seeded) -> None:
    seeded.write(
        "views/means.sql",
        "-- headwater: table\nSELECT country, sum(CAST(amount AS DOUBLE)) AS mean FROM facts GROUP BY ALL\n",
    )
    before = seeded.build()
    again = seeded.diff(before, seeded.build(full=True), rows=True)
    assert statuses(again) == dict.fromkeys({*ALL, "means"}, "same")
    seeded.sql("UPDATE {orders} SET amount = 10.01 WHERE id = 1")
    found = table(seeded.diff(before, seeded.build(), rows=True), "means")
    assert (found.status, found.added, found.removed, found.changed) == ("different", 0, 0, 1)
    assert found.reason == "approximate columns of 1 row are further apart than 1e-9 of their values"


def test_rows_that_are_gone_are_listed_and_the_causes_stay(seeded: Seeded, first_run: str) -> None:
    seeded.sql("INSERT INTO {orders} VALUES (5, 2, 3.00)")
    files = list((seeded.folder / ".headwater" / "tables" / "totals").glob("*.parquet"))
    after = seeded.build()
    for each in files:
        each.unlink()
    found = seeded.diff(first_run, after, rows=True)
    (gone,) = found.gone
    assert gone.startswith("totals: ")
    totals = table(found, "totals")
    assert (totals.status, totals.added, totals.difference) == ("different", None, None)
    assert [each.cause.name for each in totals.causes] == ["orders"]
    assert table(found, "facts").added == 1
    assert seeded.diff(first_run, after).gone == ()


def test_what_nothing_on_record_accounts_for_is_said_to_be_so(seeded: Seeded, first_run: str) -> None:
    after = seeded.build(full=True)
    path = seeded.folder / ".headwater" / "runs" / first_run / "manifest.json"
    document = json.loads(path.read_text())
    (record,) = (each for each in document["tables"] if each["name"] == "totals")
    record["digest"] = "hw2:1:" + "0" * 32
    path.write_text(json.dumps(document))
    found = table(seeded.diff(first_run, after), "totals")
    assert (found.status, [each.cause.kind for each in found.causes]) == ("different", ["unknown"])
    assert table(seeded.diff(first_run, after, rows=True), "totals").status == "same"


def test_runs_and_plans_that_are_not_there(seeded: Seeded, first_run: str) -> None:
    with pytest.raises(RunNotFound):
        seeded.diff("nope", first_run)
    with pytest.raises(RunNotFound):
        seeded.diff("previous", first_run)
    (seeded.folder / ".headwater" / "runs" / first_run / "plans.json").unlink()
    with pytest.raises(NotRecorded):
        seeded.diff(first_run, first_run)
