"""Every change that is put into a project is named as the cause, for the tables that it reaches alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from seeds import PAID, SEEDS

if TYPE_CHECKING:
    from seeds import Seeded, Told

    from headwater.run import Cause, RunDiff, Traced


def told(found: RunDiff) -> dict[str, set[Told]]:
    """Kind, view and name of every cause, by table; tables without any are left out."""
    causes = {
        table.name: {(each.cause.kind, each.cause.view, each.cause.name) for each in table.causes}
        for table in found.tables
    }
    return {name: each for name, each in causes.items() if each}


def causes_of(found: RunDiff, table: str) -> tuple[Traced, ...]:
    return next(each.causes for each in found.tables if each.name == table)


def only(found: RunDiff, table: str) -> Cause:
    (traced,) = causes_of(found, table)
    return traced.cause


def test_there_are_enough_seeds() -> None:
    assert len(SEEDS) >= 30


@pytest.mark.parametrize("name", SEEDS)
def test_the_cause_of_a_change_is_named(name: str, seeded: Seeded, first_run: str) -> None:
    seed = SEEDS[name]
    seed.change(seeded)
    after = seeded.build(full=seed.full)
    assert told(seeded.diff(first_run, after)) == seed.causes


def test_a_cause_tells_what_was_and_what_is(seeded: Seeded, first_run: str) -> None:
    PAID(seeded)
    seeded.sql("UPDATE {customers} SET country = 'CH' WHERE id = 1")
    seeded.sql("DELETE FROM {customers} WHERE id = 3")
    seeded.settings["time_zone"] = "Europe/Vienna"
    found = seeded.diff(first_run, seeded.build())
    code, data, zone = (
        next(each for each in causes_of(found, "totals") if each.cause.kind == kind)
        for kind in ("code", "input", "setting")
    )
    assert (code.cause.file, code.cause.line) == ("views/paid.sql", 1)
    assert "was Filter" in code.cause.detail
    assert "6" in str(code.cause.after)
    assert code.path == ("paid", "facts", "totals")
    assert (data.cause.before, data.cause.after) == (0, 2)
    assert [(each.version, each.operation) for each in data.cause.commits] == [(1, "UPDATE"), (2, "DELETE")]
    assert data.cause.detail == "moved from version 0 to 2, by UPDATE (version 1), DELETE (version 2)"
    assert data.path == ("customers", "named", "facts", "totals")
    assert (zone.cause.before, zone.cause.after) == ("UTC", "Europe/Vienna")
    assert zone.path == ("totals",)


def test_the_other_way_round_causes_are_told_backwards(seeded: Seeded, first_run: str) -> None:
    seeded.sql("INSERT INTO {orders} VALUES (5, 2, 3.00)")
    cause = only(seeded.diff(seeded.build(), first_run), "facts")
    assert (cause.kind, cause.before, cause.after) == ("input", 1, 0)
    assert [each.version for each in cause.commits] == [1]


def test_runs_between_do_not_count(seeded: Seeded, first_run: str) -> None:
    """A table that other runs have made in between was not written from outside."""
    seeded.sql("INSERT INTO {orders} VALUES (5, 2, 3.00)")
    seeded.build()
    seeded.sql("DELETE FROM {orders} WHERE id = 5")
    after = seeded.build()
    found = seeded.diff(first_run, after)
    assert told(found) == {"facts": {("input", "paid", "orders")}}
    assert [each.status for each in found.tables] == ["same"] * len(found.tables)


def test_a_clock_that_is_allowed_is_a_cause_of_every_run(seeded: Seeded) -> None:
    seeded.write("views/stamped.sql", "-- headwater: table\nSELECT current_timestamp() AS at\n")
    seeded.edit("headwater.toml", "[profiles", '[determinism.stamped]\nclock = "allow"\n\n[profiles')
    before = seeded.build()
    found = seeded.diff(before, seeded.build())
    assert told(found) == {"stamped": {("chance", "stamped", "clock")}}
    assert "HW-DET-001" in only(found, "stamped").detail
