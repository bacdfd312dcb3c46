"""A view runs again if and only if something changed that its rows, or how they are written, depend on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headwater

if TYPE_CHECKING:
    from headwater.run import Project, RunOutcome
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
NUMBERS = "import headwater\n\nheadwater.source('numbers', path='lake/numbers')\n"
KEPT = "-- headwater: table\nSELECT id FROM numbers WHERE id >= 0"
COUNTED = "-- headwater: table\nSELECT count(*) AS n FROM kept"


def project(folder: Path) -> Project:
    return headwater.open(folder, settings=SETTINGS)


def actions(outcome: RunOutcome) -> dict[str, str]:
    assert outcome.error is None, outcome.error
    return {each.name: each.action for each in outcome.tables}


def reasons(outcome: RunOutcome) -> dict[str, str]:
    return {each.name: each.reason for each in outcome.tables}


def write(runtime: SessionRuntime, folder: Path, numbers: list[int], mode: str = "append") -> None:
    with runtime.checkout() as session:
        rows = session.spark.createDataFrame([(each,) for each in numbers], "id BIGINT").coalesce(1)
        rows.write.format("delta").mode(mode).save(str(folder / "lake" / "numbers"))


@pytest.fixture
def folder(project_folder: MakeProject, runtime: SessionRuntime) -> Path:
    folder = project_folder(sources_py=NUMBERS, kept_sql=KEPT, counted_sql=COUNTED)
    write(runtime, folder, [1, 2, 3])
    return folder


def test_a_table_made_anew_with_equal_rows_stops_the_wave(folder: Path, runtime: SessionRuntime) -> None:
    assert actions(project(folder).build()) == {"kept": "built", "counted": "built"}
    write(runtime, folder, [-1])
    outcome = project(folder).build()
    assert actions(outcome) == {"kept": "built", "counted": "skipped"}
    assert reasons(outcome)["kept"] == "'numbers', which it reads, changed"
    assert project(folder).build().status == "unchanged"
    write(runtime, folder, [4])
    assert actions(project(folder).build()) == {"kept": "built", "counted": "built"}


def test_a_rebuild_in_full_of_one_table_says_nothing_to_those_who_read_it(
    folder: Path, runtime: SessionRuntime
) -> None:
    project(folder).build()
    with runtime.checkout() as session:  # from outside, and so made again; its rows are as they were
        session.spark.sql(f"DELETE FROM delta.`{folder / '.headwater/tables/kept'}` WHERE id = 2")
    outcome = project(folder).build()
    assert actions(outcome) == {"kept": "built", "counted": "skipped"}
    assert reasons(outcome)["kept"] == "the table was not as the last run left it"


def test_rows_without_an_exact_digest_are_known_by_the_task_that_made_them(
    folder: Path, runtime: SessionRuntime
) -> None:
    """Only the approximate column changes: whoever reads it must not be passed over."""
    (folder / "views" / "kept.sql").write_text(
        "-- headwater: table\nSELECT 'all' AS what, sum(CAST(id AS DOUBLE)) AS s FROM numbers"
    )
    (folder / "views" / "counted.sql").write_text("-- headwater: table\nSELECT s > 10 AS big FROM kept")
    assert actions(project(folder).build()) == {"kept": "built", "counted": "built"}
    write(runtime, folder, [100])
    assert actions(project(folder).build()) == {"kept": "built", "counted": "built"}
    with project(folder).query("SELECT big FROM counted") as result:
        assert result.read_all().to_pylist() == [{"big": True}]
    assert actions(project(folder).build(full=True)) == {"kept": "built", "counted": "built"}
    assert project(folder).build().status == "unchanged"


@pytest.mark.parametrize("inner", [False, True])
def test_a_clock_that_is_allowed_in_makes_a_view_run_every_time(folder: Path, *, inner: bool) -> None:
    toml = folder / "headwater.toml"
    toml.write_text(toml.read_text() + '\n[determinism]\nclock = "allow"\n')
    clock = "SELECT id, current_timestamp() AS at FROM numbers"
    (folder / "views" / "seen.sql").write_text(clock if inner else f"-- headwater: table\n{clock}")
    if inner:
        (folder / "views" / "kept.sql").write_text("-- headwater: table\nSELECT id, at FROM seen")
    fresh = "kept" if inner else "seen"
    assert actions(project(folder).build())[fresh] == "built"
    planned = {each.name: (each.action, each.reason) for each in project(folder).plan().views}
    words = "a clock or chance is allowed in it, so that every run makes it"
    assert planned[fresh] == ("built", words)
    again = project(folder).build()
    assert actions(again)[fresh] == "built"
    assert reasons(again)[fresh] == words
    if not inner:
        assert actions(again)["kept"] == "skipped"


def test_what_is_asked_for_alone_is_made_with_all_that_it_reads(
    folder: Path, runtime: SessionRuntime
) -> None:
    (folder / "views" / "other.sql").write_text("-- headwater: table\nSELECT id * 2 AS id FROM numbers")
    outcome = project(folder).build(only=["COUNTED"])
    assert actions(outcome) == {"kept": "built", "counted": "built", "other": "skipped"}
    assert reasons(outcome)["other"] == "not asked for"
    assert actions(project(folder).build()) == {"kept": "skipped", "counted": "skipped", "other": "built"}
    write(runtime, folder, [7])
    assert actions(project(folder).build(only=["kept"])) == {
        "kept": "built",
        "counted": "skipped",
        "other": "skipped",
    }
    with project(folder).query("SELECT n FROM counted") as result:
        assert result.read_all().to_pylist() == [{"n": 3}]
    assert actions(project(folder).build()) == {"kept": "skipped", "counted": "built", "other": "built"}
    assert project(folder).build(only=["kept"]).status == "unchanged"


# --- after any edits, as if from nothing -------------------------------------------------------------------

KEPT_FORMS = (
    KEPT,
    "-- headwater: table\nSELECT id FROM numbers WHERE id > 1",
    "-- headwater: table\n-- a comment\nSELECT id FROM numbers WHERE id >= 0",
)
COUNTED_FORMS = (
    COUNTED,
    "-- headwater: table\nSELECT sum(id) AS n FROM kept",
    "-- headwater: table\nSELECT count(*) AS n, max(id) AS most FROM through",
)
THROUGH_FORMS = ("SELECT id FROM kept", "SELECT id + 1 AS id FROM kept")
EDITS = st.one_of(
    st.tuples(st.just("kept"), st.sampled_from(KEPT_FORMS)),
    st.tuples(st.just("counted"), st.sampled_from(COUNTED_FORMS)),
    st.tuples(st.just("through"), st.sampled_from(THROUGH_FORMS)),
    st.tuples(st.just("append"), st.lists(st.integers(-3, 3), min_size=1, max_size=3)),
    st.tuples(st.just("overwrite"), st.lists(st.integers(-3, 3), max_size=3)),
    st.tuples(st.just("remove"), st.sampled_from(["kept", "counted"])),
    st.tuples(st.just("spoil"), st.sampled_from(["kept", "counted"])),
)


def edit(runtime: SessionRuntime, folder: Path, what: str, value: Any) -> None:
    table = folder / ".headwater" / "tables" / str(value)
    if what in {"append", "overwrite"}:
        write(runtime, folder, value, what)
    elif what == "remove":
        shutil.rmtree(table, ignore_errors=True)
    elif what == "spoil":
        if table.exists():
            with runtime.checkout() as session:
                session.spark.sql(f"DELETE FROM delta.`{table}`")
    else:
        (folder / "views" / f"{what}.sql").write_text(value)


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(st.lists(EDITS, min_size=1, max_size=3), min_size=1, max_size=3))
def test_after_any_edits_a_build_leaves_what_a_build_from_nothing_leaves(
    runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory, edits: list[list[tuple[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("edited") / "project"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    for name, text in (("kept", KEPT), ("counted", COUNTED), ("through", THROUGH_FORMS[0])):
        (folder / "views" / f"{name}.sql").write_text(text)
    (folder / "views" / "sources.py").write_text(NUMBERS)
    write(runtime, folder, [1, 2])
    for step in edits:
        for what, value in step:
            edit(runtime, folder, what, value)
        assert project(folder).build().error is None
    left = project(folder).build()
    nothing = headwater.open(folder, settings=SETTINGS, warehouse=folder.parent / "empty").build()
    assert {each.name: each.digest for each in left.tables} == {
        each.name: each.digest for each in nothing.tables
    }
    assert None not in {each.digest for each in nothing.tables}
