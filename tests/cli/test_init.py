from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import headwater as library

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Finished
    from headwater.runtime import SessionRuntime

Run = Callable[..., "Finished"]
RunMany = Callable[..., dict[str, "Finished"]]


def test_what_init_writes_builds_as_it_is(headwater: Run, tmp_path: Path, runtime: SessionRuntime) -> None:
    folder = tmp_path / "shop"
    done = headwater("init", folder)
    assert (done.code, done.err) == (0, "")
    assert f"headwater build {folder}" in done.out
    outcome = library.open(folder, settings={"driver_memory": "2g"}).build()
    assert outcome.status == "done", outcome.error
    assert {table.name: table.rows for table in outcome.tables} == {"busiest_pages": 3, "visitors": 3}
    with runtime.checkout() as session:
        path = folder / ".headwater" / "tables" / "visitors"
        rows = session.spark.read.format("delta").load(str(path)).collect()
    assert {row["visitor"]: row["seconds"] for row in rows} == {"ada": 60, "ben": 7, "cleo": 95}


def test_nothing_is_written_over(headwaters: RunMany, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    ends = headwaters(
        folder={"arguments": ("init", tmp_path)}, file={"arguments": ("init", tmp_path / "mine.txt")}
    )
    for target, done in ends.items():
        assert done.code == 2, target
        assert done.err.startswith("HW-CONFIG-007"), target
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_json_lists_the_files_and_what_cannot_be_made_is_a_typed_error(
    headwaters: RunMany, tmp_path: Path
) -> None:
    ends = headwaters(
        new={"arguments": ("init", "--json", tmp_path / "new")},
        proc={"arguments": ("init", "/proc/headwater")},
    )
    document = json.loads(ends["new"].out)
    assert document["files"]
    assert all((tmp_path / "new" / name).is_file() for name in document["files"])
    assert ends["proc"].code == 2
    assert ends["proc"].err.startswith("HW-CONFIG-003")
