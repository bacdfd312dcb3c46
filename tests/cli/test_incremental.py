"""The page about incremental refreshes: each line of its tables holds, as `plan --json` tells it."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater
from headwater.run import REFRESH_REASONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.runtime import SessionRuntime

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "incremental.md"
TOML = """[project]
name = "page"

[keys]
orders = ["id"]
refunds = ["id"]
customers = ["customer"]

[profiles.local]
master = "local[2]"
driver_memory = "2g"
"""
TABLES = {
    "orders": "id BIGINT, customer STRING, amount INT, day INT",
    "refunds": "id BIGINT, customer STRING, amount INT",
    "customers": "customer STRING, region STRING",
}
FILLED = {
    "orders": "SELECT id, concat('c', id % 7), int(id % 5) * 10, int(id % 3) FROM range(60)",
    "refunds": "SELECT id, concat('c', id % 5), int(id % 3) FROM range(10)",
    "customers": "SELECT concat('c', id), concat('r', id % 3) FROM range(6)",
}
CHANGED = {
    "orders": "UPDATE {} SET customer = 'c2', amount = 45 WHERE id = 8",
    "refunds": "DELETE FROM {} WHERE id = 3",
    "customers": "UPDATE {} SET region = 'r9' WHERE customer = 'c1'",
}


def _lines(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    section = PAGE.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [each for each in section.splitlines() if each.startswith("|")][2:]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows]


LINES = _lines("What is proven")
VIEWS = {
    each: f"v{number}" for number, each in enumerate(dict.fromkeys((line[0], line[1]) for line in LINES))
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """A project with every view of the page, built."""
    folder = tmp_path_factory.mktemp("page") / "project"
    (folder / "views").mkdir(parents=True)
    sources = [f"headwater.source('{name}', path='lake/{name}')" for name in TABLES]
    (folder / "views" / "sources.py").write_text("\n".join(["import headwater", *sources, ""]))
    _write_views(folder, VIEWS)
    with runtime.checkout() as session:
        for name, columns in TABLES.items():
            place = f"delta.`{folder / 'lake' / name}`"
            session.spark.sql(f"CREATE TABLE {place} ({columns}) USING delta")
            session.spark.sql(f"INSERT INTO {place} {FILLED[name]}")
    assert headwater.open(folder, profile="local").build().error is None
    return folder


def _write_views(folder: Path, views: Mapping[tuple[str, str], str]) -> None:
    """Lets a project have these views and no others."""
    for each in (folder / "views").glob("*.sql"):
        each.unlink()
    toml = TOML
    for (view, by), name in views.items():
        (folder / "views" / f"{name}.sql").write_text(f"-- headwater: table\n{view}\n")
        toml += f'\n[tables.{name}]\nrefresh_by = "{by}"\n' if by else ""
    (folder / "headwater.toml").write_text(toml)


@pytest.mark.parametrize("changed", sorted({line[2] for line in LINES}))
def test_every_line_of_the_page_is_what_a_plan_says(
    built: Path,
    tmp_path: Path,
    runtime: SessionRuntime,
    headwater_here: Callable[..., Any],
    changed: str,
) -> None:
    folder = shutil.copytree(built, tmp_path / "project")
    lines = [line for line in LINES if line[2] == changed]
    if changed != "orders":  # only there are all of them built
        _write_views(folder, {(line[0], line[1]): VIEWS[line[0], line[1]] for line in lines})
    with runtime.checkout() as session:
        for name in changed.split(", "):
            session.spark.sql(CHANGED[name].format(f"delta.`{folder / 'lake' / name}`"))
    end = headwater_here("plan", folder, "--json", "--profile", "local")
    assert end.code == 0, end.err
    planned = {each["name"]: each for each in json.loads(end.out)["views"]}
    found = [[*line[:3], *_said(planned[VIEWS[line[0], line[1]]])] for line in lines]
    assert found == lines
    if changed == "orders":
        _check_rows(folder, runtime, headwater_here)


def _said(planned: dict[str, Any]) -> list[str]:
    assert planned["action"] == "built"
    assert planned["mode_reason"]
    return [planned["mode"], planned["mode_code"]]


def _check_rows(folder: Path, runtime: SessionRuntime, headwater_here: Callable[..., Any]) -> None:
    """A build does what was planned, and every table has the rows of its view."""
    end = headwater_here("build", folder, "--json", "--profile", "local")
    assert end.code == 0, end.err
    actions = Counter(each["action"] for each in json.loads(end.out)["tables"])
    assert actions["incremental"] >= len([line for line in LINES if line[2:4] == ["orders", "incremental"]])
    with runtime.checkout() as session:
        for name in TABLES:
            read = session.spark.read.format("delta")
            read.load(str(folder / "lake" / name)).createOrReplaceTempView(name)
        for (view, _), name in VIEWS.items():
            stored = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / name))
            wanted = session.spark.sql(view)
            assert stored.exceptAll(wanted).union(wanted.exceptAll(stored)).take(1) == [], view


def test_every_reason_is_on_the_page() -> None:
    listed = {code: (mode, why) for code, mode, why in _lines("Every reason")}
    modes = {code: "incremental" if code == "proven" else "full" for code in REFRESH_REASONS}
    assert listed == {code: (modes[code], why) for code, why in REFRESH_REASONS.items()}
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in listed)
