"""Programs that hypothesis makes: nested statements over a few variables, which log what each use saw.

A program is a function `f` whose every decision comes from a tape. A value knows the line it was made at, and
there is one definition or use of a variable to a line, so a log of lines tells definitions and uses. When the
tape is at its end, every loop ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEAD = "def f(a, make, step, use, test, may, items, box):"
NAMES = ("a", "b", "c")
_SIMPLE = {
    "make": "{name} = make({line})",
    "use": "use({line}, {name})",
    "step": "{name} = step({line}, {name})",
    "both": "{name} = {other} = make({line})",
    "walrus": "({name} := make({line}))",
    "del": "del {name}",
    "may": "may()",
    "pass": "pass",
    "break": "break",
    "continue": "continue",
    "return": "return",
    "raise": "raise ValueError",
    "lazy": "test() and use({line}, {name}) or may()",
    "choice": "{name} = make({line}) if test() else may()",
    "assert": "assert test(), may()",
}
_TESTS = ("test()", "test() and test()", "({name} := make({line}, test()))", "test() or may() or test()")
_HANDLERS = ("except ValueError:", "except KeyError as {name}:", "except (NameError, AssertionError):")

Tree = tuple[Any, ...]


def programs() -> st.SearchStrategy[str]:
    """Texts of programs."""
    names = st.sampled_from(NAMES)
    # What defines and uses is more telling than what leaves.
    kinds = st.sampled_from([*_SIMPLE, "make", "make", "use", "use", "use", "may"])
    simple = st.tuples(kinds, names, names)
    return bodies(simple, 2).map(render)


def bodies(simple: st.SearchStrategy[Tree], depth: int) -> st.SearchStrategy[list[Tree]]:
    if depth == 0:
        return st.lists(simple, min_size=1, max_size=2)
    inner = bodies(simple, depth - 1)
    maybe = st.one_of(st.just([]), inner)
    names, tests = st.sampled_from(NAMES), st.sampled_from(_TESTS)
    compound = st.one_of(
        st.tuples(st.just("if"), names, tests, inner, maybe),
        st.tuples(st.just("while"), names, tests, inner, maybe),
        st.tuples(st.just("forever"), names, inner),
        st.tuples(st.just("for"), names, inner, maybe),
        st.tuples(st.just("with"), names, inner),
        st.tuples(st.just("match"), names, inner, inner),
        st.tuples(
            st.just("try"),
            names,
            inner,
            st.lists(st.tuples(st.sampled_from(_HANDLERS), inner), max_size=2),
            maybe,
            maybe,
            maybe,
        ),
    )
    return st.lists(st.one_of(simple, compound), min_size=1, max_size=3)


def render(body: Sequence[Tree]) -> str:
    lines = [HEAD]
    _render_body(lines, body, 1, is_loop=False)
    return "\n".join(lines) + "\n"


def _render_body(lines: list[str], body: Sequence[Tree], depth: int, *, is_loop: bool) -> None:
    for kind, name, *rest in body:
        if kind in _SIMPLE:
            jumps = kind in {"break", "continue"}
            text = "pass" if jumps and not is_loop else _SIMPLE[kind]
            _add(lines, depth, text, name, rest[0])
        else:
            _RENDERERS[kind](lines, name, rest, depth, is_loop)


def _add(lines: list[str], depth: int, text: str, name: str = "", other: str = "") -> None:
    lines.append("    " * depth + text.format(name=name, other=other, line=len(lines) + 1))


def _render_if(lines: list[str], name: str, rest: list[Any], depth: int, is_loop: bool) -> None:
    test, body, orelse = rest
    _add(lines, depth, f"if not {test}:" if len(body) % 2 else f"if {test}:", name)
    _render_body(lines, body, depth + 1, is_loop=is_loop)
    _render_part(lines, "else:", orelse, depth, is_loop=is_loop)


def _render_part(lines: list[str], head: str, body: list[Tree], depth: int, *, is_loop: bool) -> None:
    if body:
        _add(lines, depth, head)
        _render_body(lines, body, depth + 1, is_loop=is_loop)


def _render_while(lines: list[str], name: str, rest: list[Any], depth: int, is_loop: bool) -> None:
    test, body, orelse = rest
    _add(lines, depth, f"while {test}:", name)
    _render_body(lines, body, depth + 1, is_loop=True)
    _render_part(lines, "else:", orelse, depth, is_loop=is_loop)


def _render_forever(lines: list[str], name: str, rest: list[Any], depth: int, is_loop: bool) -> None:
    del name, is_loop
    _add(lines, depth, "while True:")
    _add(lines, depth + 1, "if not test():")
    _add(lines, depth + 2, "break")
    _render_body(lines, rest[0], depth + 1, is_loop=True)


def _render_for(lines: list[str], name: str, rest: list[Any], depth: int, is_loop: bool) -> None:
    _add(lines, depth, "for {name} in items({line}):", name)
    _render_body(lines, rest[0], depth + 1, is_loop=True)
    _render_part(lines, "else:", rest[1], depth, is_loop=is_loop)


def _render_with(lines: list[str], name: str, rest: list[Any], depth: int, is_loop: bool) -> None:
    _add(lines, depth, "with box({line}) as {name}:", name)
    _render_body(lines, rest[0], depth + 1, is_loop=is_loop)


def _render_match(lines: list[str], name: str, rest: list[Any], depth: int, is_loop: bool) -> None:
    del name
    _add(lines, depth, "match test():")
    _add(lines, depth + 1, "case True if test():")
    _render_body(lines, rest[0], depth + 2, is_loop=is_loop)
    _add(lines, depth + 1, "case False:")
    _render_body(lines, rest[1], depth + 2, is_loop=is_loop)


def _render_try(lines: list[str], name: str, rest: list[Any], depth: int, is_loop: bool) -> None:
    body, handlers, bare, orelse, finalbody = rest
    _add(lines, depth, "try:")
    _render_body(lines, body, depth + 1, is_loop=is_loop)
    for head, each in handlers:
        _add(lines, depth, head, name)
        _render_body(lines, each, depth + 1, is_loop=is_loop)
    if bare or not (handlers or finalbody):
        _render_part(lines, "except:", bare or [("pass", "", "")], depth, is_loop=is_loop)
    if handlers or bare or not finalbody:
        _render_part(lines, "else:", orelse, depth, is_loop=is_loop)
    _render_part(lines, "finally:", finalbody, depth, is_loop=is_loop)


_RENDERERS = {
    "if": _render_if,
    "while": _render_while,
    "forever": _render_forever,
    "for": _render_for,
    "with": _render_with,
    "match": _render_match,
    "try": _render_try,
}


@dataclass
class Value:
    """A value that knows where it was made."""

    line: int
    truth: bool = True

    def __bool__(self) -> bool:
        return self.truth


@dataclass
class Tape:
    """The decisions of a run, and what its uses saw: pairs of lines."""

    numbers: list[int]
    seen: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def next(self) -> int:
        return self.numbers.pop() if self.numbers else 0

    def make(self, line: int, truth: bool = True) -> Value:
        return Value(line, truth)

    def use(self, line: int, value: object) -> object:
        if isinstance(value, Value):
            self.seen.append((value.line, line))
        return value

    def step(self, line: int, value: object) -> Value:
        self.use(line, value)
        return Value(line)

    def test(self) -> bool:
        return self.next() % 2 == 1

    def may(self) -> None:
        number = self.next() % 6
        if number in {1, 2}:
            raise ValueError if number == 1 else KeyError

    def items(self, line: int) -> Iterator[Value]:
        while self.next() % 3:
            yield Value(line)
        self.may()

    def box(self, line: int) -> Box:
        self.may()
        return Box(self, line)

    def arguments(self) -> tuple[Any, ...]:
        """What a program is called with."""
        return Value(1), self.make, self.step, self.use, self.test, self.may, self.items, self.box


@dataclass
class Box:
    """A context that swallows or fails as the tape has it."""

    tape: Tape
    line: int

    def __enter__(self) -> Value:
        return Value(self.line)

    def __exit__(self, *_: object) -> bool:
        self.tape.may()
        return self.tape.test()
