from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Finished

Run = Callable[..., "Finished"]


@pytest.mark.usefixtures("runtime")
def test_doctor_reports_capabilities_versions_and_jars(headwater_here: Run, tmp_path: Path) -> None:
    asked = ("doctor", "--json", "--set", "driver_memory=2g", "--master", "local[2]")
    done = headwater_here(*asked, cwd=tmp_path)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["schema_version"] == 1
    assert document["compatible"] is True
    for each in document["capabilities"]:
        assert set(each) == {
            "name",
            "compatible",
            "entrypoint",
            "module",
            "ctx_kind",
            "probe_result",
            "error",
        }
    assert document["versions"]["spark"] == "4.2.0"
    assert all(len(jar["sha256"]) == 64 for jar in document["jars"])
    assert any(jar["name"].startswith("io.delta_delta-spark") for jar in document["jars"])
    assert "trying delta_commit" in done.err
    assert list(tmp_path.iterdir()) == []


def test_without_java_doctor_says_what_to_install(headwater: Run, tmp_path: Path) -> None:
    done = headwater("doctor", cwd=tmp_path, PATH=str(tmp_path), JAVA_HOME=None)
    assert done.code == 1
    assert done.err.splitlines()[-2].startswith("HW-RUNTIME-001")
    assert "openjdk-17" in done.err
