from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater
from headwater.artifacts import last_manifest, read_manifest
from headwater.errors import DegradedRefused, HeadwaterError, VersionNotFound
from headwater.origin import Origin
from headwater.pipeline import Pipeline, ViewSpec, build_plan
from headwater.run import making
from headwater.run.compile import Compiled
from headwater.run.making import reached_by

if TYPE_CHECKING:
    from headwater.run import Project
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}


def view(name: str, *, stored: bool) -> ViewSpec:
    plan = build_plan(lambda spark: spark.range(1))
    return ViewSpec(name=name, origin=Origin("v.py", 1), language="python", stored=stored, plan=plan)


def test_a_stored_view_is_a_boundary_and_an_unstored_one_is_not() -> None:
    views = (view("Through", stored=False), view("kept", stored=True), view("last", stored=True))
    pipeline = Pipeline(name="p", views=views, sources=())
    reads = {"Through": ("a", "KEPT"), "kept": ("b",), "last": ("through",), "a": (), "b": ()}
    assert reached_by(Compiled(order=(), reads=reads), pipeline, "last") == ["Through", "a", "kept"]


@pytest.mark.usefixtures("runtime")
def test_a_source_that_cannot_be_made_reaches_every_table(project_folder: MakeProject) -> None:
    text = (
        "import headwater\n@headwater.source\ndef numbers(spark):\n"
        "    return spark.range(3).selectExpr('1 DIV (id - 1) AS n')\n"
    )
    folder = project_folder(v_py=text, a_sql="-- headwater: table\nSELECT n FROM numbers")
    outcome = headwater.open(folder, settings=SETTINGS).build()
    assert outcome.status == "failed"
    assert [(table.name, table.action, table.reason) for table in outcome.tables] == [
        ("a", "skipped", "not reached: 'numbers' failed")
    ]
    assert outcome.error is not None
    assert "DIVIDE_BY_ZERO" in outcome.error.message
    again = headwater.open(folder, settings=SETTINGS).build()
    assert again.status == "failed"
    (folder / "views" / "v.py").write_text(text.replace("DIV (id - 1)", "DIV (id + 1)"))
    mended = headwater.open(folder, settings=SETTINGS).build()
    assert [(table.action, table.reason) for table in mended.tables] == [
        ("built", "the last run did not make it")
    ]


def write(runtime: SessionRuntime, table: Path, count: int, mode: str = "append", **options: str) -> None:
    with runtime.checkout() as session:
        rows = session.spark.range(count).coalesce(1)
        rows.write.format("delta").mode(mode).options(**options).save(str(table))


def project(folder: Path) -> Project:
    return headwater.open(folder, settings=SETTINGS)


def answer(folder: Path, sql: str) -> list[dict[str, Any]]:
    with project(folder).query(sql) as result:
        return result.read_all().to_pylist()


def test_a_change_feed_is_a_source(
    project_folder: MakeProject, runtime: SessionRuntime, tmp_path: Path
) -> None:
    """Built, queried, unchanged, and built again once a commit falls into its open end."""
    table = tmp_path / "orders"
    write(runtime, table, 3, **{"delta.enableChangeDataFeed": "true"})
    write(runtime, table, 2)
    text = (
        "import headwater\nheadwater.source(\n    'order_changes',\n"
        f"    path={str(table)!r},\n    changes=headwater.delta.CdfWindow(starting_version=1),\n)\n"
    )
    kinds = "-- headwater: table\nSELECT _change_type AS kind, count(*) AS n FROM order_changes GROUP BY 1"
    folder = project_folder(v_py=text, kinds_sql=kinds)
    built = project(folder).build()
    assert built.status == "done", built.error
    assert answer(folder, "SELECT kind, n FROM kinds") == [{"kind": "insert", "n": 2}]
    manifest = last_manifest(folder / ".headwater")
    assert manifest is not None
    done = next(each for each in manifest.registrations if each.name == "order_changes")
    assert (done.provider_kind, done.degraded, done.rows_checked) == ("delta_native", False, None)
    assert done.options["window"] == {"starting_version": 1, "ending_version": 1}
    assert project(folder).build().status == "unchanged"
    with runtime.checkout() as session:
        session.spark.sql(f"DELETE FROM delta.`{table}` WHERE id = 2")
    sql = "SELECT _change_type AS kind, _commit_version AS v FROM order_changes"
    assert answer(folder, sql) == [{"kind": "insert", "v": 1}] * 2
    again = project(folder).build()
    assert [(each.action, each.reason) for each in again.tables] == [
        ("built", "'order_changes', which it reads, changed")
    ]
    assert answer(folder, "SELECT kind, n FROM kinds ORDER BY kind") == [
        {"kind": "delete", "n": 1},
        {"kind": "insert", "n": 2},
    ]


def test_a_delta_table_read_as_files_is_refused_where_it_is_written_down(
    project_folder: MakeProject, runtime: SessionRuntime, tmp_path: Path
) -> None:
    table = tmp_path / "orders"
    write(runtime, table, 3)
    said = f"headwater.source('t', path={str(table)!r}, format='parquet', schema='id BIGINT')"
    text = f"import headwater\n\n{said}\n"
    folder = project_folder(v_py=text, a_sql="-- headwater: table\nSELECT id FROM t")
    with pytest.raises(DegradedRefused) as caught:
        project(folder).build()
    origin = caught.value.origin
    assert origin is not None
    assert (Path(origin.path).name, origin.line) == ("v.py", 3)
    assert not (folder / ".headwater").exists()
    toml = folder / "headwater.toml"
    toml.write_text(toml.read_text() + 'allow_degraded = ["delta_as_files"]\n')
    outcome = project(folder).build()
    assert outcome.status == "done"
    recorded = {each.name: each for each in read_manifest(outcome.manifest).registrations}
    assert (recorded["t"].provider_kind, recorded["t"].degraded) == ("delta_as_files", True)
    assert (recorded["a"].provider_kind, recorded["a"].degraded) == ("delta_native", False)
    assert project(folder).build().status == "unchanged"
    toml.write_text(toml.read_text().replace("allow_degraded", "# allow_degraded"))
    with pytest.raises(DegradedRefused):
        project(folder).build()


@pytest.mark.parametrize("kind", ["delta", "changes", "made"])
def test_a_source_made_anew_after_planning_is_not_read(
    project_folder: MakeProject,
    runtime: SessionRuntime,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    table = tmp_path / "orders"
    feed = {"delta.enableChangeDataFeed": "true"}
    write(runtime, table, 3, **feed)
    said = {
        "delta": f"headwater.source('t', path={str(table)!r})",
        "changes": f"headwater.source('t', path={str(table)!r}, changes={{'starting_version': 0}})",
        "made": "@headwater.source\ndef t(spark): return spark.range(3)",
    }
    folder = project_folder(
        v_py=f"import headwater\n{said[kind]}\n", a_sql="-- headwater: table\nSELECT id FROM t"
    )
    if kind == "made":
        assert project(folder).build().status == "done"
        table = folder / ".headwater" / "tables" / "t"
        (folder / "views" / "a.sql").write_text("-- headwater: table\nSELECT id + 1 AS id FROM t")
    make_view = making._make_view

    def after_planning(*given: Any) -> None:
        shutil.rmtree(table)
        write(runtime, table, 9, **feed)
        make_view(*given)

    monkeypatch.setattr(making, "_make_view", after_planning)
    outcome = project(folder).build()
    assert isinstance(outcome.error, VersionNotFound)
    assert outcome.error.origin is not None
    assert Path(outcome.error.origin.path).name == "v.py"
    assert [each.action for each in outcome.tables] == ["failed"]


def test_a_good_commit_of_a_run_that_failed_is_not_made_again(
    project_folder: MakeProject, runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtime.profile.master == "local[2]"
    folder = project_folder(a_sql="-- headwater: table\nSELECT 1 AS x")
    run_task = making.run_task

    def lost(*given: Any, **named: Any) -> None:
        run_task(*given, **named)
        raise HeadwaterError

    monkeypatch.setattr(making, "run_task", lost)
    assert project(folder).build().status == "failed"
    monkeypatch.undo()
    again = project(folder).build()
    assert [(each.action, each.version) for each in again.tables] == [("skipped", 0)]
    assert project(folder).build().status == "unchanged"


# --- failures stop what waits for them, and nothing else --------------------------------------------------

HALVES = "-- headwater: table\nSELECT id, 10 DIV (id - {off}) AS half FROM numbers"


@pytest.fixture
def failing(project_folder: MakeProject, runtime: SessionRuntime) -> Path:
    folder = project_folder(
        sources_py="import headwater\n\nheadwater.source('numbers', path='lake/numbers')\n",
        bad_sql=HALVES.format(off=2),
        behind_sql="-- headwater: table\nSELECT count(*) AS n FROM through",
        through_sql="SELECT half FROM bad",
        good_sql="-- headwater: table\nSELECT id + 1 AS id FROM numbers",
        after_sql="-- headwater: table\nSELECT max(id) AS id FROM good",
    )
    write(runtime, folder / "lake" / "numbers", 3)
    return folder


def test_a_failing_view_stops_only_what_depends_on_it_and_the_rest_can_be_resumed(
    failing: Path, runtime: SessionRuntime
) -> None:
    outcome = project(failing).build()
    assert (outcome.status, list(outcome.errors)) == ("failed", ["bad"])
    assert outcome.error is not None
    assert "DIVIDE_BY_ZERO" in outcome.error.message
    ends = {each.name: (each.action, each.reason) for each in outcome.tables}
    assert ends["good"] == ("built", "new")
    assert ends["after"] == ("built", "new")
    assert ends["bad"][0] == "failed"
    assert ends["behind"] == ("skipped", "not reached: 'bad' failed")
    # The data go on, and the view is mended: a resumed run still sees what the failed one saw.
    write(runtime, failing / "lake" / "numbers", 5)
    (failing / "views" / "bad.sql").write_text(HALVES.format(off=20))
    resumed = project(failing).build(resume=True)
    assert resumed.status == "done", resumed.error
    assert {each.name: each.action for each in resumed.tables} == {
        "after": "skipped",
        "bad": "built",
        "behind": "built",
        "good": "skipped",
    }
    assert read_manifest(resumed.manifest).resumes == outcome.run_id
    assert answer(failing, "SELECT n FROM behind") == [{"n": 3}]
    heard: list[str] = []
    later = project(failing).build(resume=True, listen=lambda step: heard.append(step.message))
    assert "there is nothing to resume: the last run ended well" in heard
    assert {each.action for each in later.tables} == {"built"}
    assert answer(failing, "SELECT n FROM behind") == [{"n": 8}]


def test_two_failures_are_told(failing: Path) -> None:
    (failing / "views" / "good.sql").write_text(HALVES.format(off=1))
    outcome = project(failing).build()
    assert list(outcome.errors) == ["bad", "good"]
    assert [each.reason for each in outcome.tables if each.action == "skipped"] == [
        "not reached: 'good' failed",
        "not reached: 'bad' failed",
    ]
    recorded = read_manifest(outcome.manifest)
    assert recorded.error is not None
    assert recorded.error.count("DIVIDE_BY_ZERO") == 2


def test_a_version_that_a_resumed_run_needs_may_be_gone(failing: Path, runtime: SessionRuntime) -> None:
    project(failing).build()
    shutil.rmtree(failing / "lake" / "numbers")
    write(runtime, failing / "lake" / "numbers", 4)
    with pytest.raises(VersionNotFound):
        project(failing).build(resume=True)


def test_independent_tables_are_made_at_once(
    project_folder: MakeProject, runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each waits for the other to have begun."""
    assert runtime.profile.master == "local[2]"
    folder = project_folder(
        a_sql="-- headwater: table\nSELECT 1 AS x", b_sql="-- headwater: table\nSELECT 2 AS x"
    )
    together = threading.Barrier(2, timeout=60)
    run_task = making.run_task

    def both(*given: Any, **named: Any) -> Any:
        together.wait()
        return run_task(*given, **named)

    monkeypatch.setattr(making, "run_task", both)
    outcome = project(folder).build()
    assert outcome.error is None
    assert {each.action for each in outcome.tables} == {"built"}
