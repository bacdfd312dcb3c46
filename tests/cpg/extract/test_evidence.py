"""Evidence is made of values: equal when they say the same, and not to be changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from headwater.cpg.extract import extract_syntax


def test_the_same_bytes_are_the_same_evidence() -> None:
    content = b"def f(x):\n    return f'{x!r}'\n"
    assert extract_syntax("repo", "a.py", content) == extract_syntax("repo", "a.py", content)
    assert extract_syntax("repo", "a.py", content) != extract_syntax("repo", "b.py", content)


def test_evidence_cannot_be_changed() -> None:
    evidence = extract_syntax("repo", "a.py", b"")
    with pytest.raises(FrozenInstanceError):
        evidence.file = evidence.file  # type: ignore[misc]
