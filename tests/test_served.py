"""Where a server of questions is, and what it takes to ask it; servers that answer are in test_serving."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.inquiry import Asked
from headwater.opening import open_project
from headwater.served import answer_from, socket_place, warehouse_of_graph
from headwater.serving import socket_of

if TYPE_CHECKING:
    import pytest

HEAVY = "pyspark numpy pandas pyarrow grpc google openlineage rich.progress headwater.run headwater.cpg"


def test_the_place_belongs_to_the_warehouse_and_is_short_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").touch()
    monkeypatch.setenv("HEADWATER_HOME", "/cache/of")
    own, other = open_project(tmp_path), open_project(tmp_path, warehouse=tmp_path / "other")
    assert socket_of(own).parent == Path("/cache/of/serve")
    assert socket_of(own) == socket_of(open_project(tmp_path)) != socket_of(other)
    monkeypatch.setenv("HEADWATER_HOME", f"/{'long/' * 20}")
    assert socket_of(own).parent.name == f"headwater-{os.getuid()}"
    assert len(os.fsencode(socket_of(own))) < 100


def test_it_is_known_without_opening_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_WAREHOUSE", raising=False)
    (tmp_path / "a.py").touch()
    for before in ("a repository", "a project"):
        for warehouse in (None, tmp_path / "lake", Path("lake")):
            opened = open_project(tmp_path, graph=True, warehouse=warehouse)
            place = warehouse_of_graph(tmp_path, warehouse)
            assert place.resolve() == opened.warehouse.root, before
            assert socket_place(tmp_path, place) == socket_of(opened)
        (tmp_path / "headwater.toml").touch()
    monkeypatch.setenv("HEADWATER_WAREHOUSE", str(tmp_path / "all"))
    opened = open_project(tmp_path, graph=True)
    assert warehouse_of_graph(tmp_path, None).resolve() == opened.warehouse.root


def test_nobody_answers_where_nobody_is(tmp_path: Path) -> None:
    assert answer_from(tmp_path / "nowhere" / "a.sock", Asked(question="cycles")) is None
    tmp_path.chmod(0o700)
    (tmp_path / "a.sock").write_text("a file")
    assert answer_from(tmp_path / "a.sock", Asked(question="cycles")) is None


def test_who_asks_a_server_imports_nothing_of_the_engine() -> None:
    code = (
        "import sys; from headwater.cli.app import build_app; build_app('ask'); "
        f"print(*sorted(set({HEAVY.split()}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
