"""What one source offers."""

from __future__ import annotations

import ast

import pytest

from headwater.cpg.questions.skeleton import skeleton_of


def members(source: str) -> dict[str, tuple[str, str]]:
    return {name: (each.kind, each.text) for name, each in skeleton_of(ast.parse(source)).members.items()}


def test_members_have_their_kinds_and_signatures() -> None:
    source = """
LIMIT: int = 3
class A(B, metaclass=M):
    x = 1
    def m(self, a: int = 1, /, *b, c="d", **e) -> None: ...
    @property
    def p(self) -> int: ...
    @p.setter
    def p(self, value): ...
    @staticmethod
    def s(a): ...
    @classmethod
    def c(cls): ...
    class In: ...
async def f(): ...
"""
    assert members(source) == {
        "LIMIT": ("variable", ": int"),
        "A": ("class", "(B, metaclass=M)"),
        "A.x": ("variable", ""),
        "A.m": ("method", "(self, a: int=1, /, *b, c='d', **e) -> None"),
        "A.p": ("property", " -> int"),
        "A.s": ("static method", "(a)"),
        "A.c": ("class method", "(cls)"),
        "A.In": ("class", ""),
        "f": ("function", "async ()"),
    }


def test_blocks_that_are_run_at_import_count_and_those_of_a_program_do_not() -> None:
    source = """
if a:
    def f(): ...
else:
    g = 1
try:
    h = 1
except E:
    i = 1
with a:
    j = 1
if __name__ == "__main__":
    k = 1
"""
    assert list(members(source)) == ["f", "g", "h", "i", "j"]


def test_a_dataclass_has_an_init() -> None:
    source = """
@dataclass(frozen=True)
class A:
    a: int
    b: int = 1
    c: ClassVar[int] = 2
    d: int = field(init=False)
    e: list = field(default_factory=list)
    _: KW_ONLY
    f: int
"""
    assert members(source)["A.__init__"] == ("method", "(self, a, b=1, e=list, *, f)")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", None),
        ("__all__ = ['a', 'b']", ["a", "b"]),
        ("__all__ = ('a',) + b.__all__\n__all__ += ['c']", ["a", "c"]),
        ("__all__: list[str] = ['a']\n__all__.append('b')\n__all__.extend(['c'])", ["a", "b", "c"]),
    ],
)
def test_exports_are_read_where_they_are_written_out(source: str, expected: list[str] | None) -> None:
    assert skeleton_of(ast.parse(source)).exported == expected


def test_imports_stand_for_modules_and_names() -> None:
    source = "import a.b\nimport c.d as e\nfrom . import f\nfrom ..g import h as h\nfrom i import *"
    found = skeleton_of(ast.parse(source))
    told = {name: (each.level, each.module, each.name, each.is_meant) for name, each in found.imports.items()}
    assert told == {
        "a": (0, "a", None, False),
        "e": (0, "c.d", None, False),
        "f": (1, "", "f", False),
        "h": (2, "g", "h", True),
    }
    assert [each.module for each in found.stars] == ["i"]
