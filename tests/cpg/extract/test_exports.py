"""What `__all__` lists, where it is written out."""

from __future__ import annotations

import ast

import pytest

from headwater.cpg.extract.exports import listed_names


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("__all__ = ['a', 'b']", {"a", "b"}),
        ("__all__ = ('a',)", {"a"}),
        ("__all__ = []", set[str]()),
        ("__all__: list[str] = ['a']", {"a"}),
        ("__all__ = ['a'] + ['b'] + c", {"a", "b"}),
        ("__all__ = ['a']\n__all__ += ['b']", {"a", "b"}),
        ("__all__ = ['a']\n__all__.extend(('b', 'c'))", {"a", "b", "c"}),
        ("__all__ = ['a']\n__all__.append('b')", {"a", "b"}),
        ("__all__ = ['a']\n__all__ += b.__all__", {"a"}),
        ("__all__ = ['a']\n__all__.append(b)", {"a"}),
        ("if a:\n  __all__ = ['b']\nelse:\n  __all__ = ['c']", {"b", "c"}),
        ("try: pass\nexcept A: pass\nelse: pass\nfinally: __all__ = ['a']", {"a"}),
        ("try: pass\nexcept A: __all__ = ['a']", {"a"}),
        ("with a: __all__ = ['b']", {"b"}),
    ],
)
def test_names_that_are_written_out_are_listed(source: str, expected: set[str]) -> None:
    assert listed_names(ast.parse(source)) == expected


@pytest.mark.parametrize(
    "source",
    [
        "a = ['b']",
        "__all__ = a()",
        "__all__: list[str]",
        "__all__ += ['a']",
        "__all__.append('a')",
        "def f(): __all__ = ['a']",
        "class C: __all__ = ['a']",
    ],
)
def test_without_a_literal_nothing_is_known(source: str) -> None:
    assert listed_names(ast.parse(source)) is None
