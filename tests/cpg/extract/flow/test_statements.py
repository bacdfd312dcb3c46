"""Statements lead where Python goes: told edge by edge, and by every line that Python itself traces."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from flow_corpus import corpus
from flow_reading import read
from flow_tracing import FILE, Paths, trace

if TYPE_CHECKING:
    from collections.abc import Callable

CORPUS = corpus()


def leaving(body: str, point: str) -> set[tuple[str, str]]:
    """The edges that leave a point of a function with that body."""
    indented = body.replace("\n", "\n ")
    return read(f"def f(a, b):\n {indented}").leaving(point)


def caught(run: str, space: dict[str, Any]) -> Callable[[], None]:
    def call() -> None:
        with suppress(BaseException):
            eval(run, space)  # noqa: S307

    return call


@pytest.mark.parametrize(("text", "runs"), CORPUS, ids=range(len(CORPUS)))
def test_every_traced_line_follows_the_one_before(text: str, runs: list[str]) -> None:
    paths = Paths(read(text))
    for run in runs:
        space: dict[str, Any] = {}
        exec(compile(text, FILE, "exec"), space)  # noqa: S102
        traces = trace(caught(run, space))
        assert any(name.startswith("f:") and lines for name, lines, _ in traces), run
        assert [why for each in traces if (why := paths.why_not(each))] == [], run


def test_the_runs_take_every_kind_of_edge_and_meet_every_kind_of_point() -> None:
    found = [edge for text, _ in CORPUS for edge in read(text).edges()]
    assert {kind for _, kind, _ in found} == {
        *("next", "true", "false", "exception", "finally", "case", "break", "continue", "back")
    }
    assert {end.partition(" ")[0] for source, _, target in found for end in (source, target)} == {
        *("entry", "exit", "exc_exit", "stmt", "expr", "branch", "loop", "with_enter", "with_exit"),
        *("yield", "await"),
    }


def test_a_branch_has_a_point_at_its_test() -> None:
    body = "if a:\n x = 1\nelif b:\n y = 1\nz = 1"
    assert leaving(body, "branch a") == {
        ("true", "stmt x = 1"),
        ("false", "branch b"),
        ("exception", "exc_exit"),
    }
    assert leaving(body, "branch b") >= {("true", "stmt y = 1"), ("false", "stmt z = 1")}
    assert leaving(body, "stmt x = 1") == {("next", "stmt z = 1")}


def test_loops_lead_back_to_their_heads() -> None:
    body = "for i in a:\n if b: continue\n if 1: break\n x = 1\nelse:\n y = 1\nz = 1"
    assert leaving(body, "expr a") == {("next", "loop for i in a:"), ("exception", "exc_exit")}
    assert leaving(body, "loop for i in a:") == {
        ("true", "branch b"),
        ("false", "stmt y = 1"),
        ("exception", "exc_exit"),
    }
    assert leaving(body, "stmt continue") == {("continue", "loop for i in a:")}
    assert leaving(body, "stmt break") == {("break", "stmt z = 1")}
    assert leaving(body, "stmt x = 1") == {("back", "loop for i in a:")}
    assert leaving("while a:\n if b: x = 1", "branch b") >= {("false", "branch a")}


@pytest.mark.parametrize("test", ["True", "1", "'x'", "not 0", "__debug__", "2.5", "b'x'"])
def test_a_loop_that_never_fails_has_no_way_past_it(test: str) -> None:
    assert read(f"def f():\n while {test}: x = 1\n y = 1").dead()[:2] == ["stmt y = 1", "exit"]


@pytest.mark.parametrize("test", ["False", "0", "''", "None", "not 1", "0 and x"])
def test_what_a_false_condition_guards_is_dead(test: str) -> None:
    assert "stmt y = 1" in read(f"def f():\n if {test}: y = 1").dead()
    assert "stmt y = 1" in read(f"def f():\n while {test}: y = 1").dead()


@pytest.mark.parametrize("last", ["return", "raise", "raise E", "assert False"])
def test_what_follows_the_end_is_dead(last: str) -> None:
    assert "stmt y = 1" in read(f"def f():\n {last}\n y = 1").dead()


def test_exceptions_go_to_the_first_handler_and_from_there_to_the_next() -> None:
    body = "try:\n a()\nexcept E:\n x = 1\nexcept F:\n y = 1\nelse:\n b()\nz = 1"
    assert leaving(body, "stmt a()") == {("next", "stmt b()"), ("exception", "branch except E:")}
    assert leaving(body, "branch except E:") == {
        ("true", "stmt x = 1"),
        ("false", "branch except F:"),
        ("exception", "exc_exit"),
    }
    assert leaving(body, "branch except F:") == {("true", "stmt y = 1"), ("exception", "exc_exit")}
    assert leaving(body, "stmt b()") == {("next", "stmt z = 1"), ("exception", "exc_exit")}


@pytest.mark.parametrize("head", ["except:", "except BaseException:"])
def test_nothing_gets_past_a_handler_of_everything(head: str) -> None:
    assert leaving(f"try:\n a()\n{head}\n x = 1", f"branch {head}") == {("true", "stmt x = 1")}


def test_a_handler_is_alive_even_if_its_body_cannot_raise() -> None:
    assert read("def f():\n try:\n  pass\n except K:\n  x = 1").dead() == []


def test_a_finally_goes_on_to_wherever_it_was_on_the_way() -> None:
    body = "while a:\n try:\n  if b: return\n  if b: break\n  a()\n finally:\n  x = 1\n y = 1"
    assert leaving(body, "stmt return") == {("next", "stmt x = 1")}
    assert leaving(body, "stmt break") == {("break", "stmt x = 1")}
    assert leaving(body, "stmt a()") == {("next", "stmt x = 1"), ("exception", "stmt x = 1")}
    assert leaving(body, "stmt x = 1") == {
        ("finally", "stmt y = 1"),
        ("finally", "exit"),
        ("finally", "exc_exit"),
    }


def test_a_finally_does_not_go_on_to_where_nothing_was_on_the_way() -> None:
    assert leaving("try:\n return\nfinally:\n x = 1\ny = 1", "stmt x = 1") == {("finally", "exit")}
    assert leaving("try:\n x = 1\nfinally:\n y = 1\nz = 1", "stmt y = 1") == {("finally", "stmt z = 1")}


def test_a_with_is_left_on_every_way_and_may_swallow() -> None:
    body = "with a as x, b:\n return g()\nz = 1"
    assert leaving(body, "with_enter a as x") == {("next", "with_enter b"), ("exception", "exc_exit")}
    assert leaving(body, "with_enter b") == {("next", "stmt return g()"), ("exception", "with_exit a as x")}
    assert leaving(body, "stmt return g()") == {("next", "with_exit b"), ("exception", "with_exit b")}
    assert leaving(body, "with_exit b") == {
        ("next", "with_exit a as x"),
        ("finally", "with_exit a as x"),
        ("exception", "with_exit a as x"),
    }
    assert leaving(body, "with_exit a as x") == {
        ("next", "stmt z = 1"),
        ("finally", "exit"),
        ("exception", "exc_exit"),
    }


def test_a_value_that_cannot_be_taken_apart_leaves_through_its_with() -> None:
    assert leaving("with a as (x, y): pass", "with_enter a as (x, y)") == {
        ("next", "stmt pass"),
        ("exception", "exc_exit"),
        ("exception", "with_exit a as (x, y)"),
    }


def test_cases_are_tried_one_after_the_other() -> None:
    body = "match a:\n case 1: x = 1\n case [c] if c: y = 1\n case _: z = 1"
    assert leaving(body, "expr a") == {("next", "branch case 1:")}
    assert leaving(body, "branch case 1:") == {
        ("case", "stmt x = 1"),
        ("false", "branch case [c] if c:"),
        ("exception", "exc_exit"),
    }
    assert leaving(body, "branch c") == {
        ("true", "stmt y = 1"),
        ("false", "branch case _:"),
        ("exception", "exc_exit"),
    }
    assert leaving(body, "branch case _:") == {("case", "stmt z = 1")}


@pytest.mark.parametrize("pattern", ["_", "x", "(1 | _)", "(1 | _) as x"])
def test_a_pattern_that_always_matches_lets_nothing_past(pattern: str) -> None:
    assert "stmt y = 1" in read(f"def f(a):\n match a:\n  case {pattern}: return\n y = 1").dead()


def test_an_assert_is_where_it_raises() -> None:
    body = "assert a, b()\nz = 1"
    assert leaving(body, "branch a") == {
        ("true", "stmt z = 1"),
        ("false", "expr b()"),
        ("exception", "exc_exit"),
    }
    assert leaving(body, "expr b()") == {("next", "stmt assert a, b()"), ("exception", "exc_exit")}
    assert leaving(body, "stmt assert a, b()") == {("exception", "exc_exit")}


def test_more_than_one_handler_of_a_group_may_run() -> None:
    body = "try:\n a()\nexcept* E:\n x()\nexcept* F:\n y = 1\nz = 1"
    assert leaving(body, "stmt x()") == {("next", "branch except F:"), ("exception", "branch except F:")}
    assert leaving(body, "branch except F:") == {
        ("true", "stmt y = 1"),
        ("false", "stmt z = 1"),
        ("exception", "exc_exit"),
    }
    assert leaving(body, "stmt y = 1") == {("next", "stmt z = 1"), ("exception", "exc_exit")}


def test_what_ends_a_finally_may_raise_as_well() -> None:
    assert leaving("try:\n a()\nfinally:\n b()", "stmt b()") == {
        ("finally", "exit"),
        ("finally", "exc_exit"),
        ("exception", "exc_exit"),
    }


def test_no_edge_is_told_twice() -> None:
    texts = [
        *(text for text, _ in CORPUS),
        "def f(a):\n try:\n  try:\n   a()\n  except* E:\n   a()\n except F:\n  pass",
        "def f(a):\n while a:\n  try:\n   if a: continue\n  finally:\n   a()",
    ]
    for text in texts:
        edges = read(text).flow.edges
        triples = list(zip(edges.src, edges.dst, edges.kind, strict=True))
        assert len(triples) == len(set(triples)), text
