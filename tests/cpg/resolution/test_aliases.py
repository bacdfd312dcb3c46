"""Names that stand for variables of other modules."""

from __future__ import annotations

from resolution_sample import resolved


def meant(files: dict[str, str]) -> dict[tuple[str, str], str | None]:
    """By path and name the path of the variable that a name of a module stands for."""
    found = resolved(files)
    homes = {each["binding_id"]: path for path, each in found.entries("names")}
    return {
        (path, each["name"]): None if each["def_id"] is None else homes[each["def_id"]]
        for path, each in found.entries("names")
        if each["name"] is not None
    }


def test_an_imported_variable_is_that_of_its_module() -> None:
    files = {"a.py": "X = 1\n", "b.py": "from a import X\n", "c.py": "from b import X as Y\n"}
    assert meant(files) == {("a.py", "X"): None, ("b.py", "X"): "a.py", ("c.py", "Y"): "a.py"}


def test_imports_in_a_circle_come_to_an_end() -> None:
    files = {"a.py": "from b import X\nX = 1\n", "b.py": "from a import X\nX = 2\n"}
    assert set(meant(files)) == {("a.py", "X"), ("b.py", "X")}


def test_a_member_of_a_class_is_no_variable_of_its_module() -> None:
    assert meant({"a.py": "class A:\n    X = 1\n", "b.py": "from a import X\n"})["b.py", "X"] is None
