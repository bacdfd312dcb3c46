"""What an answer is."""

from __future__ import annotations

from headwater.inquiry import Answer, Finding, Link


def test_answers_are_values() -> None:
    one = Finding(name="a", kind="function", path="a.py", line=1)
    assert one == Finding(name="a", kind="function", path="a.py", line=1)
    assert Answer(question="defs", subject="a", findings=(one,)) != Answer(question="defs", subject="a")
    assert min(Link(source="b", target="a"), Link(source="a", target="c")).source == "a"
