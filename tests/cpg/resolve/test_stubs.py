"""What a stub says of the source beside it."""

from __future__ import annotations

import pytest
from type_sample import typed, types_by

SOURCE = """
def f(x, *rest, y=None, **others): ...
LIMIT = g()
class C:
    kind = g()
    def __init__(self):
        self.size = g()
    def m(self, x): ...
    @property
    def p(self): ...
    @p.setter
    def p(self, value): ...
def over(x): ...
def alone(x): ...
def twice(x): ...
def twice(x): ...
"""
STUB = """
from typing import overload
def f(x: int, *rest: str, y: C | None = ..., **others: bytes) -> list[C]: ...
LIMIT: int
class C:
    kind: str
    size: float
    def m(self, x: C) -> bool: ...
    @property
    def p(self) -> int: ...
    @p.setter
    def p(self, value: int) -> None: ...
@overload
def over(x: int) -> int: ...
@overload
def over(x: str) -> str: ...
def twice(x: int) -> int: ...
def other(x: int) -> int: ...
"""


def test_a_stub_speaks_of_the_nodes_of_its_source() -> None:
    told = types_by({"m.py": SOURCE, "m.pyi": STUB}, "stub")
    del told["m.py:C.p"]  # there are two of them, see below
    assert told == {
        "m.py:f": "list[m.C]",
        "m.py:f(x)": "int",
        "m.py:f(rest)": "tuple[str, ...]",
        "m.py:f(y)": "m.C | None",
        "m.py:f(others)": "dict[str, bytes]",
        "m.py:LIMIT": "int",
        "m.py:C.kind": "str",
        "m.py:C.size": "float",
        "m.py:C.m": "bool",
        "m.py:C.m(x)": "m.C",
        "m.py:C.p(value)": "int",
        "m.py:over": "int | str",
        "m.py:over(x)": "int | str",
    }


def test_definitions_of_one_name_are_told_apart_by_their_order() -> None:
    _, found = typed({"m.py": SOURCE, "m.pyi": STUB})
    assert [each.type for each in found["m.py:C.p"] if each.source == "stub"] == ["int", "None"]


def test_a_stub_has_annotations_of_its_own() -> None:
    assert types_by({"m.py": SOURCE, "m.pyi": STUB}, "annotation")["m.pyi:other"] == "int"


@pytest.mark.parametrize("files", [{"m.pyi": STUB}, {"m.py": SOURCE, "n.pyi": STUB}, {"m.py": SOURCE}])
def test_a_stub_speaks_of_nothing_else(files: dict[str, str]) -> None:
    assert types_by(files, "stub") == {}


def test_an_annotation_goes_before_a_stub() -> None:
    _, found = typed({"m.py": "def f(x: int): ...", "m.pyi": "def f(x: str): ..."})
    assert [(each.type, each.source, each.is_winner) for each in found["m.py:f(x)"]] == [
        ("int", "annotation", True),
        ("str", "stub", False),
    ]
