"""A view that asks for a schema: by the engine the first time, from the record afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.artifacts import read_manifest
from headwater.run import Progress, RunOutcome
from headwater.run import compile as compile_module
from headwater.run import sessions as sessions_module
from headwater.run.compile import rehydrate_view

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.pipeline import ViewSpec
    from headwater.runtime import RunSession, SessionRuntime

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
VIEWS = """import headwater
from pyspark.sql import functions as F

headwater.source("people", path="people.csv", format="csv", schema="{schema}", options={{"header": "true"}})

@headwater.view
def trimmed(from_sql):
    texts = [field.name for field in from_sql.schema.fields if field.dataType.simpleString() == "string"]
    return from_sql.withColumns({{name: F.trim(name) for name in texts}})

@headwater.table
def wide(trimmed):
    return trimmed.select(*[F.col(name).alias(name.upper()) for name in trimmed.columns])
"""


@pytest.fixture
def folder(project_folder: Callable[..., Path]) -> Path:
    folder = project_folder(
        v_py=VIEWS.format(schema="id INT, name STRING"),
        from_sql_sql="SELECT *, id + 1 AS next_id FROM people",
    )
    (folder / "people.csv").write_text("id,name\n1, ada \n")
    return folder


def build(folder: Path) -> RunOutcome:
    return headwater.open(folder, settings=SETTINGS).build()


@pytest.mark.usefixtures("runtime")
def test_the_engine_is_asked_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(folder)
    assert first.status == "done", first.error
    manifest = read_manifest(first.manifest)
    assert len(manifest.schemas) == 2
    assert len(manifest.sql) == 1
    assert manifest.sql[0].reads == ("people",)

    def refuse(*_: object) -> None:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(sessions_module, "open_runtime", refuse)
    assert build(folder).status == "unchanged"


@pytest.mark.usefixtures("runtime")
def test_a_recorded_schema_is_not_used_when_what_it_rests_on_changed(folder: Path) -> None:
    build(folder)
    (folder / "views" / "v.py").write_text(VIEWS.format(schema="id INT, name STRING, town STRING"))
    (folder / "people.csv").write_text("id,name,town\n1, ada , rome \n")
    assert build(folder).status == "done"
    headers = read_manifest(build(folder).manifest).schemas
    assert sum('"town"' in record.schema for record in headers) == 2


def test_a_column_that_appears_is_seen_downstream(folder: Path, runtime: SessionRuntime) -> None:
    build(folder)
    (folder / "views" / "from_sql.sql").write_text("SELECT *, id + 1 AS next_id, 'x' AS extra FROM people")
    outcome = build(folder)
    assert [table.action for table in outcome.tables] == ["built"]
    with runtime.checkout() as session:
        frame = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / "wide"))
        assert frame.columns == ["ID", "NAME", "NEXT_ID", "EXTRA"]
        assert [tuple(row) for row in frame.collect()] == [(1, "ada", 2, "x")]


def test_made_rows_are_asked_about_once_too(
    project_folder: Callable[..., Path], runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtime.profile.is_local
    text = (
        "import headwater\n@headwater.source\ndef made(spark): return spark.range(3)\n"
        "@headwater.table\ndef all_of_it(made): return made.select(*made.columns)\n"
    )
    folder = project_folder(v_py=text)
    assert build(folder).status == "done"

    def refuse(*_: object) -> None:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(sessions_module, "open_runtime", refuse)
    assert build(folder).status == "unchanged"


@pytest.mark.usefixtures("runtime")
def test_a_new_question_is_recorded_even_if_nothing_else_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(folder)
    view = folder / "views" / "v.py"
    view.write_text(
        view.read_text().replace(
            "    texts =", "    assert 'id' in from_sql.drop('name').columns\n    texts ="
        )
    )
    asked = build(folder)
    assert (asked.status, {table.action for table in asked.tables}) == ("done", {"skipped"})

    def refuse(*_: object) -> None:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(sessions_module, "open_runtime", refuse)
    assert build(folder).status == "unchanged"


@pytest.mark.usefixtures("runtime")
def test_a_run_tells_why_it_works(folder: Path) -> None:
    build(folder)
    (folder / "people.csv").write_text("id,name\n2, bea \n")
    said: list[Progress] = []
    headwater.open(folder, settings=SETTINGS).build(listen=said.append)
    assert "source 'people' changed" in [step.message for step in said]


def test_questions_grow_with_views_and_not_with_their_square(
    project_folder: Callable[..., Path], runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtime.profile.is_local
    first = "import headwater\nheadwater.source('v0', rows=[(1,)], schema='x INT')"
    view = "@headwater.view\ndef v{n}(v{m}): return v{m}.select(*v{m}.columns)"
    folder = project_folder(v_py="\n".join([first, *(view.format(n=n, m=n - 1) for n in range(1, 8))]))
    planned: list[str] = []

    def counted(session: RunSession, view: ViewSpec) -> DataFrame:
        planned.append(view.name)
        return rehydrate_view(session, view)

    monkeypatch.setattr(compile_module, "rehydrate_view", counted)
    assert len(headwater.open(folder, settings=SETTINGS).plan().views) == 7
    # Once for those that ask what it has, if any does, and once to plan it.
    assert sorted(planned) == sorted([*(f"v{n}" for n in range(1, 7)), *(f"v{n}" for n in range(1, 8))])
