"""Callers, callees, uses, impact and ways, on the small repository and on what is hard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from code_sample import arrows, code_of, lines, small_repo

from headwater.cpg.questions import callees, callers, defs, impact, path, refs
from headwater.errors import NameUnknown

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

FIND = "Catalogue.find"


def test_the_questions_of_the_small_repository(snapshot: SnapshotAssertion) -> None:
    code = small_repo()
    found = {
        "callers": callers(code, FIND),
        "callers of callers": callers(code, FIND, depth=None),
        "callees": callees(code, "library.cli.main"),
        "callees of callees": callees(code, "library.cli.main", depth=2),
        "refs": refs(code, "Book"),
        "defs": defs(code, "find"),
        "impact": impact(code, [FIND]),
        "path": path(code, "library.cli.main", "LookupError"),
    }
    assert {name: lines(each) for name, each in found.items()} == snapshot


def test_a_call_is_told_where_it_stands() -> None:
    answer = callers(small_repo(), "Catalogue.find")
    assert (answer.question, answer.subject) == ("callers", "library.books.Catalogue.find")
    assert lines(answer)[0] == "library/cli.py:20 library.cli.find calls"
    assert arrows(answer)[0] == "library.cli.find -> library.books.Catalogue.find"


def test_what_calls_itself_comes_to_an_end() -> None:
    code = code_of("def a(n): return b(n)\ndef b(n): return a(n)\n")
    assert lines(callers(code, "a", depth=None)) == [
        "main.py:2 main.b calls",
        "main.py:1 main.a calls main.b +2",
    ]
    assert lines(impact(code, ["a"])) == ["main.py:2 main.b calls main.a"]


def test_a_call_that_is_not_written_says_how_it_is_made() -> None:
    code = code_of("class A:\n    @property\n    def size(self): return 1\n\n\ndef f(): return A().size\n")
    assert lines(callers(code, "A.size")) == ["main.py:6 main.f calls by property"]


def test_a_use_at_a_call_is_told_as_the_call() -> None:
    code = code_of("def f(): ...\n\n\ndef g():\n    f()\n    return f\n")
    assert lines(refs(code, "f")) == ["[calls] main.py:5 main.g calls it", "[uses] main.py:6 main.g uses it"]


def test_what_could_break_has_the_nearest_reason() -> None:
    code = code_of(
        {
            "base.py": "class Base:\n    def run(self): ...\n\n\nLIMIT = 3\n",
            "own.py": "from base import Base, LIMIT\n\n\nclass Own(Base):\n    def run(self): return LIMIT\n",
            "use.py": "from own import Own\n\n\ndef go(): Own().run()\n",
            "hint.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from base import Base\n",
        }
    )
    assert lines(impact(code, ["Base.run"])) == [
        "own.py:5 own.Own.run overrides base.Base.run",
        "use.py:4 use.go calls own.Own.run +2",
    ]
    of_class = lines(impact(code, ["Base"]))
    assert "own.py:4 own.Own inherits from base.Base" in of_class
    assert not any(each.startswith("hint.py") for each in of_class)
    assert "own.py:5 own.Own.run uses base.LIMIT" in lines(impact(code, ["LIMIT"]))
    assert lines(impact(code, ["Base"], depth=1)) == [each for each in of_class if "+" not in each]


def test_who_merely_has_a_module_does_not_feel_what_it_uses() -> None:
    code = code_of(
        {
            "a.py": "def f(): ...\n",
            "b.py": "from a import f\nf()\n\n\ndef other(): ...\n",
            "c.py": "import b\n\n\ndef g(): return b.other()\n",
        }
    )
    assert {each.name for each in impact(code, ["a.f"]).findings} == {"b"}
    assert "c.g" in {each.name for each in impact(code, ["b"]).findings}


def test_there_may_be_no_way() -> None:
    code = small_repo()
    answer = path(code, "library.text.shout", "library.cli.main")
    assert (answer.findings, answer.notes) == ((), ("There is no way by calls and uses.",))
    assert path(code, "library.cli.main", "library.cli.main").links == ()


def test_what_is_not_there_is_an_error() -> None:
    for ask in (callers, callees, refs, defs):
        with pytest.raises(NameUnknown):
            ask(small_repo(), "no.such.thing")


def test_who_calls_a_class_makes_instances_of_it() -> None:
    code = code_of(
        "class A:\n    def __init__(self): ...\n\n\nclass B(A): ...\n\n\nclass C(A):\n"
        "    def __init__(self):\n        super().__init__()\n\n\ndef f(): A()\ndef g(): B()\ndef h(): C()\n"
        "class D: ...\ndef i(): D()\n"
    )
    assert {name: lines(callers(code, f"main.{name}")) for name in "ABCD"} == {
        "A": ["main.py:13 main.f calls"],
        "B": ["main.py:14 main.g calls"],
        "C": ["main.py:15 main.h calls"],
        "D": ["main.py:17 main.i calls"],
    }


def test_who_calls_a_decorated_function_calls_what_was_made_of_it() -> None:
    code = code_of(
        {
            "a.py": "def keep(f): return inner(f)\n\n\ndef inner(f):\n    def wrapper(*more): ...\n"
            "    return wrapper\n\n\n@keep\ndef f(): ...\n\n\n@keep\n@str\ndef g(): ...\n\n\ndef h(): ...\n",
            "b.py": "import a\nfrom a import g\n\n\ndef one(): return a.f()\ndef two(): return g()\n"
            "def three(): return a.f\ndef four(): return h()\n",
        }
    )
    assert lines(callers(code, "a.f")) == ["b.py:5 b.one calls"]
    assert lines(callers(code, "a.g")) == ["b.py:6 b.two calls"]
    assert {code.names[each] for each in code.decorators} == {"a.f", "a.g"}
