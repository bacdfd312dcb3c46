"""Plans of the last run are taken over if, and only if, this one would make the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

import headwater
from headwater.artifacts import read_schedule
from headwater.errors import HeadwaterError
from headwater.origin import Origin
from headwater.pipeline import Pipeline, SourceSpec, ViewSpec, build_plan, packaged_project
from headwater.policies import WritePolicy
from headwater.run import reusing, steps
from headwater.run.bundling import Bundling
from headwater.run.reusing import definitions_digest
from headwater.runtime import RuntimeProfile, identity_of

if TYPE_CHECKING:
    from headwater.plan import PlanBundle
    from headwater.run import RunOutcome
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
VIEWS = {
    "sources_py": "import headwater\n\nheadwater.source('numbers', path='lake/numbers')\n",
    "some_sql": "SELECT id, note FROM numbers WHERE id >= 0",
    "aside_sql": "SELECT count(*) AS n FROM kept",
    "kept_sql": "-- headwater: table\nSELECT id, max(note) AS note FROM some GROUP BY id",
}
VIEW = ViewSpec(
    name="v",
    origin=Origin("views/v.py", 3),
    language="python",
    stored=True,
    plan=build_plan(lambda spark: spark.range(1)),
)
SOURCE = SourceSpec(name="s", origin=Origin("views/s.py", 1), kind="delta", path="lake/s")


def write(runtime: SessionRuntime, folder: Path, numbers: list[int], note: str = "'a'") -> None:
    with runtime.checkout() as session:
        rows = session.spark.createDataFrame([(each,) for each in numbers], "id BIGINT").selectExpr(
            "id", f"{note} AS note"
        )
        place = str(folder / "lake" / "numbers")
        rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(place)


@pytest.fixture
def folder(project_folder: MakeProject, runtime: SessionRuntime) -> Path:
    folder = project_folder(**VIEWS)
    write(runtime, folder, [1, 2, 3])
    assert build(folder).status == "done"
    return folder


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many views each round of planning was about."""
    counts: list[int] = []
    inner: Any = steps.compile_views

    def counted(session: Any, views: Any, *more: Any) -> Any:
        counts.append(len(views))
        return inner(session, views, *more)

    monkeypatch.setattr(steps, "compile_views", counted)
    return counts


def build(folder: Path, *, full: bool = False, **settings: str) -> RunOutcome:
    return headwater.open(folder, settings={**SETTINGS, **settings}).build(full=full)


def plans_of(folder: Path, outcome: RunOutcome) -> dict[str, PlanBundle]:
    """The plans of a run, without the versions that they were run on."""
    plans = read_schedule(folder / ".headwater", outcome.run_id).plans
    return {
        each.view: structs.replace(
            each, inputs=(), scans=(), fingerprint=structs.replace(each.fingerprint, inputs="")
        )
        for each in plans
    }


def test_other_rows_need_no_other_plans(folder: Path, runtime: SessionRuntime, planned: list[int]) -> None:
    write(runtime, folder, [2, 3, 4, 5])
    outcome = build(folder)
    assert [(each.name, each.action, each.rows) for each in outcome.tables] == [("kept", "incremental", 4)]
    assert planned == []
    again = build(folder, full=True)
    assert planned == [3]
    assert plans_of(folder, outcome) == plans_of(folder, again)
    with headwater.open(folder, settings=SETTINGS).query("SELECT n FROM aside") as result:
        assert result.read_all().to_pylist() == [{"n": 4}]


def test_plans_are_taken_over_again_and_again(
    folder: Path, runtime: SessionRuntime, planned: list[int]
) -> None:
    for count in (4, 5):
        write(runtime, folder, list(range(count)))
        assert build(folder).tables[0].rows == count
    assert planned == []


def test_other_columns_of_a_source_are_planned_for(
    folder: Path, runtime: SessionRuntime, planned: list[int]
) -> None:
    write(runtime, folder, [1], note="7")
    outcome = build(folder)
    assert outcome.status == "done"
    assert planned == [3]
    assert {each.name: each.type for each in plans_of(folder, outcome)["kept"].columns}["note"] == "integer"


def test_a_column_that_is_gone_is_found_before_anything_is_written(
    folder: Path, runtime: SessionRuntime
) -> None:
    with runtime.checkout() as session:
        rows = session.spark.range(3)
        place = str(folder / "lake" / "numbers")
        rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(place)
    with pytest.raises(HeadwaterError, match="note"):
        build(folder)


@pytest.mark.parametrize("view", ["some", "aside", "kept"])
def test_another_definition_is_planned(
    folder: Path, runtime: SessionRuntime, planned: list[int], view: str
) -> None:
    write(runtime, folder, [5])
    path = folder / "views" / f"{view}.sql"
    path.write_text(
        path.read_text().replace(" AS n ", " + 1 AS n ").replace("id >= 0", "id >= 1") + " LIMIT ALL"
    )
    assert build(folder).status == "done"
    assert planned == [3]


def test_a_record_that_cannot_be_read_or_has_no_basis_is_no_obstacle(
    folder: Path, runtime: SessionRuntime, planned: list[int]
) -> None:
    for word, another in (('"definitions":"', '"definitions":"0'), ('"basis":{', '"basis":7,"b":{')):
        newest = max((folder / ".headwater" / "runs").glob("*/plans.json"))
        newest.write_text(newest.read_text().replace(word, another))
        write(runtime, folder, [8, len(planned)])
        assert build(folder).status == "done"
    assert planned == [3, 3]


def test_another_planner_plans_anew(
    folder: Path, runtime: SessionRuntime, planned: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reusing, "_planner_digest", lambda: "another")
    write(runtime, folder, [5])
    build(folder)
    assert planned == [3]


def test_rows_of_a_fixpoint_are_planned_each_time(
    project_folder: MakeProject, runtime: SessionRuntime, planned: list[int]
) -> None:
    text = (
        "import headwater\nheadwater.source('numbers', path='lake/numbers')\n"
        "@headwater.fixpoint(schema='id BIGINT', max_rounds=9)\n"
        "def below(below, numbers):\n"
        "    return numbers.select('id').union(below.selectExpr('id - 1 AS id').where('id >= 0'))\n"
    )
    folder = project_folder(v_py=text)
    for count in (2, 3):
        write(runtime, folder, [count])
        assert build(folder).tables[0].rows == count + 1
    assert planned == [1, 1]


def bundling(profile: RuntimeProfile | None = None, functions: tuple[str, ...] = (), **said: Any) -> Bundling:
    return Bundling(
        config=replace(packaged_project(Path("/p"), "p"), **said),
        identity=identity_of(profile or RuntimeProfile()),
        functions_of=lambda _view: functions,
        source_of=lambda _name: None,
    )


def digest(view: ViewSpec = VIEW, source: SourceSpec = SOURCE, made: Bundling | None = None) -> str:
    pipeline = Pipeline(name="p", views=(view,), sources=(source,))
    return definitions_digest(pipeline, made or bundling(), {view.name: ("s",)})


@pytest.mark.parametrize(
    "other",
    [
        replace(VIEW, origin=Origin("views/w.py", 3)),
        replace(VIEW, origin=Origin("views/v.py", 4)),
        replace(VIEW, language="sql"),
        replace(VIEW, stored=False),
        replace(VIEW, cache="memory"),
        replace(VIEW, files="s"),
        replace(VIEW, written="other"),
        replace(VIEW, policy=WritePolicy(refresh="full")),
        replace(VIEW, policy=WritePolicy(max_attempts=7)),
        replace(VIEW, plan=build_plan(lambda spark: spark.range(2))),
        replace(VIEW, plan=replace(VIEW.plan, python=(("f", "0"),))),
        replace(VIEW, plan=replace(VIEW.plan, pure=("f",))),
        replace(VIEW, plan=replace(VIEW.plan, functions=("f",))),
    ],
)
def test_every_part_of_a_view_counts(other: ViewSpec) -> None:
    assert digest(other) != digest()


def test_the_bytes_that_spark_runs_do_not_count() -> None:
    assert digest(replace(VIEW, plan=replace(VIEW.plan, executable=b"other"))) == digest()


@pytest.mark.parametrize(
    "other",
    [
        replace(SOURCE, path="lake/t"),
        replace(SOURCE, name="t"),
        replace(SOURCE, options=(("a", "b"),)),
        replace(SOURCE, read=replace(SOURCE.read, pushdown=not SOURCE.read.pushdown)),
    ],
)
def test_every_declaration_of_a_source_counts(other: SourceSpec) -> None:
    assert digest(source=other) != digest()


@pytest.mark.parametrize(
    "made",
    [
        bundling(keys={"v": (("id",),)}),
        bundling(determinism={"v": {"clock": "allow"}}),
        bundling(RuntimeProfile(time_zone="Asia/Tokyo")),
        bundling(RuntimeProfile(disabled_families=("span",))),
        bundling(functions=("node_id",)),
    ],
)
def test_settings_rules_and_functions_count(made: Bundling) -> None:
    assert digest(made=made) != digest()


def test_what_a_view_reads_counts() -> None:
    pipeline = Pipeline(name="p", views=(VIEW,), sources=(SOURCE,))
    assert definitions_digest(pipeline, bundling(), {"v": ()}) != digest()
