"""The derived plan of a refresh: which keys, which rows, and what is on record of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.artifacts import read_schedule

if TYPE_CHECKING:
    from lakes import Lake


def test_the_derived_plan_is_a_bundle_of_its_own(lake: Lake) -> None:
    """Its keys come from both inputs; views between are planned over rows of these keys, too."""
    (lake.folder / "views" / "large.sql").write_text("SELECT k, x FROM a WHERE x > 10\n")
    lake.view("joined", "SELECT l.k, l.x, b.y FROM large l JOIN b ON l.k = b.k", refresh_by="k")
    del lake.views["joined"]  # its part is no table
    lake.build()
    lake.sql("UPDATE {a} SET x = 22 WHERE k = 2 AND j = 'u'")
    lake.sql("INSERT INTO {b} VALUES (3, 300)")
    tables = lake.build()
    refresh = tables["joined"].refresh
    assert (tables["joined"].action, refresh.key, refresh.keys) == ("incremental", ("k",), 2)
    assert lake.rows("joined") == {
        (2, 22, 200): 1,
        (2, 22, 201): 1,
        (2, 21, 200): 1,
        (2, 21, 201): 1,
        (3, 30, 300): 1,
    }
    newest = lake.project.runs()[0].run_id
    record = read_schedule(lake.folder / ".headwater", newest)
    (derived,) = record.derived
    (planned,) = [each for each in record.plans if each.view == "joined"]
    assert derived.view == "joined"
    assert derived.refresh is not None
    assert derived.refresh.traces == {"a": ("k",), "b": ("k",)}
    assert derived.refresh.windows == refresh.windows
    windows = [(each.dataset, each.first, each.last, each.provider) for each in refresh.windows]
    assert windows == [("a", 2, 2, "feed"), ("b", 2, 2, "feed")]
    assert "hw_keys" in derived.analysed.text
    assert "hw_keys" not in planned.analysed.text
    assert derived.fingerprint.digest != planned.fingerprint.digest
    assert [each.name for each in derived.inputs] == ["b", "large", "hw_keys"]
    with lake.project.query("SELECT refresh FROM hw_tasks WHERE action = 'incremental'") as result:
        (row,) = result.read_all().to_pylist()
    assert '"provider":"feed"' in row["refresh"]
    recorded = f"SELECT plan_fingerprint FROM hw_plans WHERE run_id = '{newest}' AND view_name = 'joined'"
    with lake.project.query(recorded) as result:
        prints = {each["plan_fingerprint"] for each in result.read_all().to_pylist()}
    assert prints == {derived.fingerprint.digest, planned.fingerprint.digest}


def test_a_replay_of_a_refresh_makes_all_rows_and_finds_the_same(lake: Lake) -> None:
    lake.view("sums", "SELECT k, sum(x) AS total FROM a GROUP BY k")
    lake.build()
    lake.sql("DELETE FROM {a} WHERE k = 3")
    assert lake.build()["sums"].action == "incremental"
    report = lake.project.replay(lake.project.runs()[0].run_id)
    assert [each.status for each in report.views] == ["equal"]


def test_keys_that_the_run_itself_has_replaced_are_not_looked_for(lake: Lake) -> None:
    """What a table lost and gained by this run's own commit is known; else both versions are compared."""
    lake.view("first", "SELECT k, j, x FROM a WHERE x > 5", refresh_by="k")
    lake.view("second", "SELECT k, max(x) AS most FROM first GROUP BY k")
    lake.view("third", "SELECT j, max(x) AS most FROM first GROUP BY j")
    lake.build()
    lake.sql("UPDATE {a} SET x = 22 WHERE k = 2 AND j = 'u'")
    lake.sql("DELETE FROM {a} WHERE k IS NULL OR k = 3")
    tables = lake.build()
    told = {
        name: [(each.dataset, each.provider) for each in table.refresh.windows]
        for name, table in tables.items()
    }
    assert told == {"first": [("a", "feed")], "second": [("first", "run")], "third": [("first", "snapshots")]}
    assert (tables["second"].refresh.keys, tables["third"].refresh.keys) == (3, 2)
    lake.check()
    lake.sql("INSERT INTO {a} VALUES (7, 'u', 70)")
    lake.build(only=["first"])
    lake.sql("INSERT INTO {a} VALUES (8, 'u', 80)")
    tables = lake.build()
    windows = [(each.provider, each.last - each.first) for each in tables["second"].refresh.windows]
    assert windows == [("snapshots", 1)]
    lake.check()
