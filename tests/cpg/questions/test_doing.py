"""Effects and exceptions, and how they come."""

from __future__ import annotations

from code_sample import code_of, lines, small_repo

from headwater.cpg.questions import effects, exceptions

ERROR = "builtins.LookupError"


def test_an_effect_comes_through_calls() -> None:
    assert lines(effects(small_repo(), "library.cli.main")) == [
        "[env] library/cli.py:28 library.cli.main calls library.store.default_path",
        "[env] library/store.py:32 library.store.default_path does env +2",
        "[fs] library/cli.py:28 library.cli.main calls library.store.load",
        "[fs] library/store.py:25 library.store.load does fs +2",
    ]
    assert lines(effects(small_repo(), "library.store.load")) == [
        "[fs] library/store.py:25 library.store.load does fs"
    ]


def test_what_does_nothing_says_so() -> None:
    answer = effects(small_repo(), "library.text.shout")
    assert (answer.findings, answer.notes) == ((), ("Nothing that is known.",))


def test_an_exception_comes_from_where_it_is_raised() -> None:
    assert lines(exceptions(small_repo(), "library.cli.find")) == [
        f"[{ERROR}] library/cli.py:20 library.cli.find calls library.books.Catalogue.find",
        f"[{ERROR}] library/books.py:33 library.books.Catalogue.find raises {ERROR} +2",
    ]
    assert exceptions(small_repo(), "library.text.shout").findings == ()


def test_of_an_exception_is_told_who_lets_it_out() -> None:
    code = code_of("class Odd(Exception): ...\n\n\ndef f(): raise Odd\n\n\ndef g(): f()\n")
    assert lines(exceptions(code, "Odd")) == ["main.py:4 main.f lets it out", "main.py:7 main.g lets it out"]


def test_an_exception_comes_through_those_that_let_it_out_and_no_others() -> None:
    code = code_of(
        "def ready(): ...\n\n\ndef check(): raise KeyError\n\n\ndef deep(): check()\n\n\n"
        "def f():\n    ready()\n    deep()\n"
    )
    assert lines(exceptions(code, "f")) == [
        "[builtins.KeyError] main.py:12 main.f calls main.deep",
        "[builtins.KeyError] main.py:7 main.deep calls main.check +2",
        "[builtins.KeyError] main.py:4 main.check raises builtins.KeyError +3",
    ]


def test_of_functions_that_call_each_other_one_raises_it() -> None:
    code = code_of("def f(x):\n    if x: raise KeyError\n    g(x)\n\n\ndef g(x): f(x)\n")
    assert lines(exceptions(code, "main.f")) == [
        "[builtins.KeyError] main.py:1 main.f raises builtins.KeyError"
    ]
