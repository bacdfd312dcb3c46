"""Bytes become text by Python's own rules, and the way back is known."""

from __future__ import annotations

import io
import tokenize
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract.evidence import Diagnostic
from headwater.cpg.extract.source import SourceText, encoding_of, line_starts_of, newline_of, read_source


def read(content: bytes) -> SourceText:
    source = read_source(content)
    assert isinstance(source, SourceText)
    return source


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"", "utf-8"),
        (b"\xef\xbb\xbfx", "utf-8-sig"),
        (b"# -*- coding: latin-1 -*-", "iso8859-1"),
        (b"#!/bin/sh\n# vim: set fileencoding=cp1252 :", "cp1252"),
        (b"#!/bin/sh\r# coding=cp1252", "cp1252"),
        (b"\n\n# coding: latin-1", "utf-8"),
        (b"x\n# coding: latin-1", "utf-8"),
        (b"x # coding: latin-1", "utf-8"),
        (b"# \xe9 coding: latin-1", "iso8859-1"),
        (b"# coding: nope", None),
    ],
)
def test_the_encoding_is_the_one_declared(content: bytes, encoding: str | None) -> None:
    assert encoding_of(content) == encoding


@given(st.text("#coding:= -\nlatin1utf8xé", max_size=60).map(str.encode))
def test_a_declaration_is_read_as_tokenize_reads_it(content: bytes) -> None:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError:
        return
    assert "".encode(encoding).decode(encoding_of(content) or "") == ""
    assert encoding_of(content) == encoding_of(f"# coding: {encoding}".encode())


@pytest.mark.parametrize(
    ("content", "code", "span"),
    [
        (b"ab\0", "null-bytes", (2, 3)),
        (b"ab\xff", "undecodable", (2, 3)),
        (b"\xef\xbb\xbfab\xff", "undecodable", (5, 6)),
        (b"# coding: ascii\n\xff", "undecodable", (16, 17)),
        (b"# coding: nope", "unknown-encoding", (None, None)),
        (b"# coding: rot13\n", "undecodable", (None, None)),
        (b"# coding: undefined\n", "undecodable", (None, None)),
        (b"# coding: unicode_escape\n'\\ud800'", "undecodable", (None, None)),
    ],
)
def test_what_cannot_be_read_says_why(content: bytes, code: str, span: tuple[int | None, int | None]) -> None:
    found = read_source(content)
    assert isinstance(found, Diagnostic)
    assert (found.stage, found.code, (found.bstart, found.bend)) == ("read", code, span)


@pytest.mark.parametrize("codec", ["latin-1", "cp1252", "shift_jis", "euc_jp", "gb18030", "big5", "koi8-r"])
@given(data=st.data())
def test_every_character_has_its_place_in_the_file(codec: str, data: st.DataObject) -> None:
    text = data.draw(st.text(st.characters(codec=codec, exclude_characters="\0¥‾"), max_size=20))
    source = read(f"# coding: {codec}\n{text}".encode(codec))
    begin = len(f"# coding: {codec}\n")
    offset = begin
    for character in source.text[begin:]:
        start, end = source.original([offset, offset + len(character.encode())])
        assert f"# coding: {codec}\n{text}".encode(codec)[start:end].decode(codec) == character
        offset += len(character.encode())
    assert offset == len(source.data)


def test_a_byte_order_mark_moves_everything() -> None:
    source = read(b"\xef\xbb\xbfab")
    assert (source.text, source.data, source.original([0, 2])) == ("ab", b"ab", [3, 5])


@given(st.text("a\r\n\f\v\x1c\x85\u2028").map(str.encode))
def test_lines_end_at_line_ends_only(data: bytes) -> None:
    expected = io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="").readlines()
    starts = line_starts_of(data)
    bounds = [*starts, len(data)]
    lines = [data[start:end].decode() for start, end in pairwise(bounds)]
    assert lines == (expected or [""])


@pytest.mark.parametrize(
    ("content", "newline"),
    [
        (b"", None),
        (b"a", None),
        (b"a\nb\n", "\n"),
        (b"a\r\nb\r\n", "\r\n"),
        (b"a\rb\r", "\r"),
        (b"a\r\nb\n", "mixed"),
        (b"a\n\rb", "mixed"),
    ],
)
def test_the_line_end_of_a_file_is_that_of_all_its_lines(content: bytes, newline: str | None) -> None:
    assert newline_of(content) == newline
