"""What is public in a set of sources."""

from __future__ import annotations

from headwater.cpg.questions.surface import Surface, surface_of


def of(files: dict[str, str]) -> Surface:
    return surface_of({path: content.encode() for path, content in files.items()}, {})


def origins(found: Surface) -> dict[str, str]:
    return {name: each.origin for name, each in found.entries.items() if each.kind != "module"}


def test_names_with_an_underscore_are_private() -> None:
    found = of(
        {"a.py": "x = 1\n_y = 2\nclass A:\n    def m(self): ...\n    def _n(self): ...\n", "_b.py": "z = 1"}
    )
    assert list(found.entries) == ["a", "a.x", "a.A", "a.A.m"]


def test_special_methods_are_public_and_special_variables_are_not() -> None:
    found = of({"a.py": "__version__ = '1'\nclass A:\n    def __len__(self): ...\n    __slots__ = ()\n"})
    assert list(found.entries) == ["a", "a.A", "a.A.__len__"]


def test_all_has_the_last_word() -> None:
    found = of({"a.py": "__all__ = ['_x', 'gone']\n_x = 1\ny = 2\n"})
    assert {name: each.kind for name, each in found.entries.items()} == {
        "a": "module",
        "a._x": "variable",
        "a.gone": "name",
    }


def test_what_a_package_takes_from_within_is_public_there() -> None:
    found = of(
        {
            "p/__init__.py": "from ._impl import A, f as g\nfrom p.sub import h\nfrom os import path\n",
            "p/_impl.py": "class A:\n    def m(self): ...\ndef f(a): ...\n",
            "p/sub.py": "def h(): ...\n",
        }
    )
    assert origins(found) == {
        "p.A": "p._impl.A",
        "p.A.m": "p._impl.A.m",
        "p.g": "p._impl.f",
        "p.h": "p.sub.h",
        "p.sub.h": "p.sub.h",
    }
    assert found.entries["p.g"].text == "(a)"
    assert (found.entries["p.g"].path, found.entries["p.g"].line) == ("p/__init__.py", 1)


def test_names_are_followed_through_several_modules_stars_and_circles() -> None:
    found = of(
        {
            "p/__init__.py": "from .a import *\n__all__ = ['f', 'lost', 'b']\n",
            "p/a.py": "from .b import *\nfrom .b import lost\n",
            "p/b.py": "from .a import lost\ndef f(): ...\n",
        }
    )
    assert origins(found) == {"p.f": "p.b.f", "p.lost": "p.lost", "p.b.f": "p.b.f"}


def test_a_star_in_a_package_takes_what_is_public() -> None:
    found = of({"p/__init__.py": "from ._a import *\n", "p/_a.py": "def f(): ...\ndef _g(): ...\n"})
    assert origins(found) == {"p.f": "p._a.f"}


def test_names_from_outside_say_where_they_come_from() -> None:
    found = of({"a.py": "from os.path import join as join\n__all__ = ['join']\n"})
    assert origins(found) == {"a.join": "os.path.join"}


def test_modules_in_no_package_are_left_out_where_there_are_packages() -> None:
    assert list(of({"setup.py": "x = 1"}).entries) == ["setup", "setup.x"]
    assert list(of({"setup.py": "x = 1", "src/p/__init__.py": "", "src/p/a.py": ""}).entries) == ["p", "p.a"]


def test_tests_are_left_out() -> None:
    assert list(of({"p/__init__.py": "", "p/tests/__init__.py": "x = 1", "p/test_a.py": ""}).entries) == ["p"]


def test_a_source_goes_before_its_stub() -> None:
    assert of({"a.pyi": "def f(a: int): ...", "a.py": "def f(a): ..."}).entries["a.f"].text == "(a)"


def test_what_does_not_parse_is_told() -> None:
    found = surface_of({"a.py": b"def (", "b.py": b"\0", "c.py": b"# coding: latin-1\nx = '\xfc'\n"}, {})
    assert (found.unread, list(found.entries)) == (["a.py", "b.py"], ["c", "c.x"])


def test_contents_that_come_again_are_read_once() -> None:
    known = {b"x = 1": None}
    assert surface_of({"a.py": b"x = 1"}, dict(known)).unread == ["a.py"]
