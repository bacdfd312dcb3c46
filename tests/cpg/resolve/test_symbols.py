"""Symbols of definitions."""

from __future__ import annotations

from resolve_sample import resolved


def test_symbols_tell_redefinitions_apart() -> None:
    rows = resolved("def f():\n def g(): ...\nclass C:\n def m(self): ...\ndef f(): ...\nx = lambda: 0")
    assert [symbol.rpartition(" ")[2] for symbol in rows.definitions.symbol] == [
        "main/",
        "main/f().",
        "main/f().g().",
        "main/C#",
        "main/C#m().",
        "main/f(+1).",
        "main/`<lambda>`().",
    ]
    assert rows.definitions.kind == [
        "module",
        "function",
        "function",
        "class",
        "method",
        "function",
        "lambda",
    ]
