from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

import headwater
from headwater.pipeline import build_plan
from headwater.run import steps

if TYPE_CHECKING:
    import pytest

    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]


def test_the_bytes_that_were_planned_are_what_runs(
    project_folder: MakeProject, runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtime.profile.driver_memory == "2g"
    folder = project_folder(one_sql="-- headwater: table\nSELECT 1 AS x")
    other = build_plan(lambda spark: spark.sql("SELECT 2 AS x")).executable
    plan_views = steps.plan_views

    def planned(*given: Any) -> Any:
        compiled: Any = plan_views(*given)
        bundles = {name: replace(each, plan=other) for name, each in compiled.bundles.items()}
        return type(compiled)(
            order=compiled.order,
            reads=compiled.reads,
            registrations=compiled.registrations,
            bundles=bundles,
            statistics=compiled.statistics,
        )

    monkeypatch.setattr(steps, "plan_views", planned)
    project = headwater.open(folder, settings={"master": "local[2]", "driver_memory": "2g"})
    assert project.build().status == "done"
    with project.query("SELECT x FROM one") as result:
        assert result.read_all().to_pylist() == [{"x": 2}]
