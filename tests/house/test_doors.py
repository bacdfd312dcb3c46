"""Each area has one door, its `__init__.py`, and the door says what is behind it."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headwater"
AREAS = tuple(sorted(path.parent.name for path in SOURCE.glob("*/__init__.py")))
DOORS = ("headwater", *(f"headwater.{area}" for area in AREAS))


def listed(door: str) -> list[str]:
    return list(importlib.import_module(door).__all__)


def in_house_order(name: str) -> tuple[int, str]:
    """Constants first, then classes, then functions: the order that ruff keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


@pytest.mark.parametrize("door", DOORS)
def test_all_is_sorted_and_has_no_name_twice(door: str) -> None:
    names = listed(door)
    assert names == sorted(set(names), key=in_house_order)


@pytest.mark.parametrize("door", DOORS)
def test_all_is_what_is_really_exported(door: str) -> None:
    module = importlib.import_module(door)
    for name in listed(door):
        getattr(module, name)  # the front door imports what it has when it is asked for
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert set(listed(door)) == public


@pytest.mark.parametrize("door", DOORS)
def test_the_docstring_maps_every_public_name(door: str) -> None:
    text = importlib.import_module(door).__doc__ or ""
    assert len(text.splitlines()) > 2, f"{door} needs a map below its first line"
    words = set(re.findall(r"\w+", text))
    missing = [name for name in listed(door) if name not in words]
    assert not missing, f"the map of {door} does not name: {', '.join(missing)}"


@pytest.mark.parametrize("area", AREAS)
def test_a_public_name_is_not_a_module_of_its_area(area: str) -> None:
    """`from headwater.delta import commit` must never be ambiguous."""
    modules = {path.stem for path in (SOURCE / area).glob("*.py")}
    names = set(listed(f"headwater.{area}"))
    assert not (modules & names)


def test_nothing_inside_imports_the_root() -> None:
    found: list[str] = []
    for path in sorted(SOURCE.rglob("*.py")):
        if "template" in path.parts:
            continue  # what `headwater init` writes is a user's file
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            if "headwater" in names:
                found.append(f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}")
    assert not found
