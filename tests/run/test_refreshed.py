"""Refreshes key by key: the rows afterwards are those of a build in full, in one commit, or none."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lakes import make_lake

from headwater.delta import find_head, note_of

if TYPE_CHECKING:
    from pathlib import Path

    from lakes import Lake

    from headwater.runtime import SessionRuntime

SUMS = "SELECT k, count(*) AS n, sum(x) AS total FROM a GROUP BY k"
# By k, everything that can be proven: what each operator does alone is the law in tests/plan.
SHAPES = {
    "sums": "SELECT k, count(*) AS n, sum(x) AS total FROM a WHERE x > 3 GROUP BY k",
    "outer_join": """SELECT k, x, y, sum(x) OVER (PARTITION BY k ORDER BY x, j, y) AS running FROM
        (SELECT coalesce(a.k, b.k) AS k, a.x, a.j, b.y FROM a FULL JOIN b ON a.k = b.k)""",
    "united": """SELECT k, x FROM a LEFT ANTI JOIN b ON a.k <=> b.k UNION ALL
        SELECT b.k, count(a.k) FROM b LEFT JOIN a ON a.k = b.k GROUP BY b.k""",
    "over": "SELECT s.k, s.n, s.total FROM sums s LEFT SEMI JOIN b ON s.k <=> b.k",
}


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory, first_lake: Lake) -> Lake:
    """Every shape, built once."""
    made = first_lake.copy(tmp_path_factory.mktemp("shapes") / "project")
    for name, sql in SHAPES.items():
        made.view(name, sql, refresh_by=["k"])
    made.build()
    made.check()
    return made


# An example takes too long for a search after a smaller one.
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
KEYS = st.sampled_from(["1", "2", "3", "4", "NULL"])
NUMBERS = st.integers(0, 50)
CHANGES = st.one_of(
    st.builds("INSERT INTO {{a}} VALUES ({}, 'i', {})".format, KEYS, NUMBERS),
    st.builds("INSERT INTO {{b}} VALUES ({}, {})".format, KEYS, NUMBERS),
    st.builds("DELETE FROM {{a}} WHERE k <=> {}".format, KEYS),
    st.builds("DELETE FROM {{b}} WHERE k <=> {}".format, KEYS),
    st.builds("UPDATE {{a}} SET k = {} WHERE x % 2 = 1".format, KEYS),
    st.builds("UPDATE {{b}} SET y = y + {} WHERE k <=> {}".format, NUMBERS, KEYS),
    st.builds("UPDATE {{a}} SET x = {} WHERE k <=> {}".format, NUMBERS, KEYS),
    st.just("INSERT OVERWRITE {{a}} SELECT * FROM {{a}}".replace("{{", "{").replace("}}", "}")),
)


@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=_PHASES,
)
@given(batches=st.lists(st.lists(CHANGES, min_size=1, max_size=3), min_size=1, max_size=1))
def test_a_refresh_makes_the_rows_of_a_build_in_full(shapes: Lake, batches: list[list[str]]) -> None:
    """Whatever changes in whichever inputs, by however many commits, one refresh after another."""
    for batch in batches:
        for change in batch:
            shapes.sql(change)
        tables = shapes.build()
        assert {each.action for each in tables.values()} <= {"incremental", "skipped"}, tables
        shapes.check()


@pytest.fixture(scope="module")
def first_sums(tmp_path_factory: pytest.TempPathFactory, first_lake: Lake) -> Lake:
    """A table of sums, built once."""
    made = first_lake.copy(tmp_path_factory.mktemp("sums") / "project")
    made.view("sums", SUMS)
    made.build()
    return made


@pytest.fixture
def summed(first_sums: Lake, tmp_path: Path) -> Lake:
    return first_sums.copy(tmp_path / "project")


def moved(lake: Lake, change: str, **views: str) -> dict[str, Any]:
    """Builds what there is of views, changes something, and builds again."""
    for name, sql in views.items():
        lake.view(name, sql, refresh_by=["k"])
    if views:
        lake.build()
    lake.sql(change)
    tables = lake.build()
    lake.check()
    return tables


def test_nulls_and_double_keys_and_keys_that_move(summed: Lake) -> None:
    tables = moved(summed, "UPDATE {a} SET k = NULL WHERE k = 2 AND j = 'u'")
    assert tables["sums"].action == "incremental"
    assert tables["sums"].refresh.keys == 2
    assert summed.rows("sums")[None, 2, 25] == 1
    assert moved(summed, "UPDATE {a} SET k = 7 WHERE k IS NULL")["sums"].action == "incremental"
    assert not any(row[0] is None for row in summed.rows("sums"))


def test_a_match_of_an_outer_join_appears_and_disappears(lake: Lake) -> None:
    left = "SELECT a.k, a.x, b.y FROM a LEFT JOIN b ON a.k = b.k"
    tables = moved(lake, "INSERT INTO {b} VALUES (3, 300)", joined=left)
    assert tables["joined"].action == "incremental"
    assert lake.rows("joined")[3, 30, 300] == 1
    assert moved(lake, "DELETE FROM {b} WHERE k = 3")["joined"].action == "incremental"
    assert lake.rows("joined")[3, 30, None] == 1


def test_what_changes_nothing_is_not_committed(lake: Lake) -> None:
    """Rows that are written again as they are: no commit, nothing to do for others, and all is known."""
    tables = moved(
        lake,
        "INSERT OVERWRITE {a} SELECT * FROM {a}",
        sums=SUMS,
        over="SELECT k, total FROM sums WHERE total > 20",
    )
    assert {name: each.action for name, each in tables.items()} == {"sums": "skipped", "over": "skipped"}
    assert tables["sums"].reason == "what changed in its inputs changes none of its rows"
    assert tables["sums"].version == 0
    assert lake.project.build().status == "unchanged"
    lake.view("more", "SELECT k FROM b", refresh_by=["k"])
    tables = lake.build()
    assert (tables["sums"].action, tables["sums"].reason) == ("skipped", "nothing it reads changed")


def test_a_reader_sees_the_rows_of_before_or_those_of_after(summed: Lake) -> None:
    """Whoever looks at the table all along never finds it empty, or half of it new."""
    seen, done = [summed.rows("sums")], threading.Event()

    def poll() -> None:
        while not done.is_set():
            seen.append(summed.rows("sums"))

    reader = threading.Thread(target=poll)
    reader.start()
    try:
        summed.sql("UPDATE {a} SET x = x + 1")
        assert summed.build()["sums"].action == "incremental"
        summed.sql("UPDATE {a} SET k = 4 WHERE k = 2")  # a key vanishes
        assert summed.build()["sums"].action == "incremental"
    finally:
        done.set()
        reader.join()
    summed.check()
    seen.append(summed.rows("sums"))
    states = [each for number, each in enumerate(seen) if number == 0 or each != seen[number - 1]]
    assert [sum(each.values()) for each in states] == [4, 4, 4]
    assert [max(row[2] for row in each) for each in states] == [41, 43, 43]


def test_an_empty_window(summed: Lake) -> None:
    """A commit without changes."""
    tables = moved(summed, "DELETE FROM {a} WHERE k = 99")
    assert tables == {} or tables["sums"].action == "skipped"


def test_one_refresh_after_another_without_a_feed(tmp_path: Path, runtime: SessionRuntime) -> None:
    """Two versions are compared where nobody kept the changes."""
    lake = make_lake(tmp_path / "project", runtime, feeds=False)
    tables = moved(lake, "UPDATE {a} SET x = 1 WHERE k = 2", sums=SUMS)
    assert tables["sums"].action == "incremental"
    assert [each.provider for each in tables["sums"].refresh.windows] == ["snapshots"]


def test_a_column_that_a_source_gains(summed: Lake) -> None:
    """The plan is another then, for it has another column to leave out; after that, all is as before."""
    moved(summed, "ALTER TABLE {a} ADD COLUMN late INT")
    tables = moved(summed, "INSERT INTO {a} VALUES (2, 'w', 7, 70)")
    assert tables["sums"].refresh.code == "proven"


def test_a_feed_that_was_vacuumed_makes_a_build_in_full_that_says_so(summed: Lake) -> None:
    summed.sql("UPDATE {a} SET x = 11 WHERE k = 1")
    for file in (summed.folder / "lake" / "a" / "_change_data").iterdir():
        file.unlink()
    planned = summed.plan()["sums"]
    assert (planned.mode, planned.mode_code) == ("full", "history-gone")
    tables = summed.build()
    assert (tables["sums"].action, tables["sums"].refresh.code) == ("built", "history-gone")
    assert "_change_data" in tables["sums"].refresh.detail
    summed.check()


def test_a_table_that_is_damaged_is_made_anew(summed: Lake) -> None:
    for file in (summed.folder / ".headwater" / "tables" / "sums").glob("*.parquet"):
        file.unlink()
    tables = moved(summed, "UPDATE {a} SET x = 11 WHERE k = 1")
    assert (tables["sums"].action, tables["sums"].refresh.code) == ("built", "table-changed")


def test_a_column_that_becomes_another_of_the_same_name(lake: Lake) -> None:
    """The feed tells nothing of it: its rows are null from now on."""
    lake.sql("ALTER TABLE {a} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    lake.view("kept", "SELECT k, x FROM a", refresh_by="k")
    lake.build()
    lake.sql("ALTER TABLE {a} DROP COLUMN x")
    lake.sql("ALTER TABLE {a} ADD COLUMN x INT")
    lake.build()
    lake.check()
    assert {row[1] for row in lake.rows("kept")} == {None}


def test_a_table_that_nobody_asks_for_tells_of_no_refresh(summed: Lake) -> None:
    tables = moved(summed, "UPDATE {a} SET x = 11 WHERE k = 1", other="SELECT k, y FROM b")
    assert tables["sums"].refresh.keys == 1
    summed.sql("UPDATE {b} SET y = 7 WHERE k = 1")
    tables = summed.build(only=("other",))
    assert (tables["sums"].action, tables["sums"].refresh) == ("skipped", None)


def test_the_commit_of_a_refresh_is_the_tables_own(summed: Lake) -> None:
    """One commit, with the note of its task, and a derived plan on record."""
    moved(summed, "UPDATE {a} SET x = 11 WHERE k = 1")
    head = find_head((summed.folder / ".headwater" / "tables" / "sums").as_uri())
    assert head is not None
    note = note_of(head.user_metadata)
    assert head.version == 1
    assert note is not None
    newest = summed.project.run(summed.project.runs()[0].run_id)
    assert (note.run_id, note.task_key) == (newest.run_id, newest.tables[0].task_key)


def test_a_fixpoint_by_the_key_that_it_keeps(lake: Lake) -> None:
    """Rows of a key come of rows of that key alone: so its rounds run over the rows of affected keys."""
    toml = lake.folder / "headwater.toml"
    toml.write_text(f'{toml.read_text()}\n[fixpoints.counted]\nschema = "k INT, x INT"\n')
    sql = "SELECT k, x FROM a UNION SELECT k, x - 10 FROM counted WHERE x >= 10"
    lake.view("counted", sql, refresh_by=["k"])
    del lake.views["counted"]  # nobody can run it plainly
    lake.build()
    lake.sql("UPDATE {a} SET x = 35 WHERE k = 2 AND j = 'u'")
    tables = lake.build()
    assert (tables["counted"].action, tables["counted"].refresh.keys) == ("incremental", 1)
    assert [each.new_rows for each in tables["counted"].rounds] == [2, 2, 2, 1, 0]
    found = lake.rows("counted")
    assert found == lake_counts([(1, 10), (2, 35), (2, 21), (3, 30), (None, 5)])
    digest = tables["counted"].digest
    assert lake.build(full=True)["counted"].digest == digest


def lake_counts(rows: list[tuple[int | None, int]]) -> Counter[tuple[int | None, int]]:
    """Each number, and all that are less by tens."""
    return Counter({(k, each): 1 for k, x in rows for each in range(x, -1, -10)})
