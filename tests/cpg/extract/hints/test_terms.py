"""Types as they are written: what is read, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract.hints import NotAType, Term, parse_term


def shown(term: Term) -> str:
    """The text of a term."""
    inner = [shown(each) for each in term.args]
    if term.head == "|":
        return " | ".join(inner)
    if term.head == "[]":
        return f"[{', '.join(inner)}]"
    if term.head in {"*", "**"}:
        return f"{term.head}{inner[0]}"
    return f"{term.head}[{', '.join(inner)}]" if inner else term.head


@pytest.mark.parametrize(
    "text",
    [
        "int",
        "a.b.C",
        "list[int]",
        "int | None",
        "dict[str, list[a.B] | None]",
        "Callable[[int, *~m.Ts], str]",
        "Callable[..., ~m.T]",
        "Callable[[], None]",
        "Callable[[**~m.P], str]",
        "Literal['a, b]', b'c', -1, True]",
        "tuple[()]",
        "tuple[int, ...]",
        "m.C(+1).D",
        "`0001_initial.Migration`[int]",
        "`a``b c`",
    ],
)
def test_a_term_is_the_text_it_was_read_from(text: str) -> None:
    assert shown(parse_term(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "int |",
        "list[",
        "list[]",
        "list[int",
        "a b",
        "int]",
        ",",
        "x + 1",
        "1 2",
        "f(x)",
        "list[int,]",
        "*",
    ],
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(NotAType):
        parse_term(text)


def test_what_is_too_deep_is_refused() -> None:
    with pytest.raises(NotAType):
        parse_term("list[" * 500 + "int" + "]" * 500)


def test_a_literal_is_told_from_a_name() -> None:
    literal = parse_term("Literal['int', int]")
    assert [each.is_literal for each in literal.args] == [True, False]


@given(st.text(alphabet="ab[]|,.*~`'( +1-", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        term = parse_term(text)
    except NotAType:
        return
    assert parse_term(shown(term)) == term
