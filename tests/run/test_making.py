from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import headwater
from headwater.origin import Origin
from headwater.pipeline import Pipeline, ViewSpec, build_plan
from headwater.run.compile import Compiled
from headwater.run.making import reached_by

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "1g"}


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
