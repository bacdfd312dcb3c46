"""tree-sitter sees a text of the same length, without what it takes too long for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract.easing import easy_view

LONG = b"y = f(1)\n" * 6000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"x = f(1)\n", b"x = f(1)\n", id="nothing"),
        pytest.param(b"x\ry\r\nz", b"x\ny\r\nz", id="carriage returns"),
        pytest.param(b"x = f(1\ny = [2]\n", b"x = f(1\ny = [2]\n", id="not closed"),
        pytest.param(b"x = (\n" + LONG, b"x = ?\n" + LONG, id="never closed"),
        pytest.param(b"[{\n" + LONG + b"def f(\n", b"??\n" + LONG + b"def f(\n", id="before a definition"),
        pytest.param(b"f('(', \"[\") # {\n", b"f('(', \"[\") # {\n", id="in strings and comments"),
        pytest.param(b"(" * 201 + b")" * 201, b"(" * 200 + b"??" + b")" * 200, id="too deep"),
        pytest.param(b"  " + b"x+" * 6000 + b"\ny", b"  " + b"aa" * 6000 + b"\ny", id="long line"),
        pytest.param(b"\\\n" * 30 + b"x \\\ny", b"?\n" * 30 + b"x \\\ny", id="nothing but continuations"),
    ],
)
def test_what_is_hopeless_is_not_seen(text: bytes, expected: bytes) -> None:
    assert easy_view(text) == expected


@given(st.text("()[]{}'\"#\\\r\n d@éx", max_size=60).map(str.encode))
def test_every_place_stays(text: bytes) -> None:
    seen = easy_view(text)
    assert len(seen) == len(text)
    assert all(now in {was, ord("?"), ord("\n")} for was, now in zip(text, seen, strict=True))
