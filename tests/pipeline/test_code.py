"""Identities of functions: equal wherever and however they are loaded, others when they do other things."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import functools
import importlib
import logging
import math
import operator
import os
import re
import subprocess
import sys
import threading
import types
import typing
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle
from pyspark.sql import Row
from pyspark.sql.connect.udf import UserDefinedFunction
from pyspark.sql.types import DataType, IntegerType, StringType

from headwater.errors import FunctionNotIdentifiable
from headwater.pipeline.code import function_digest
from headwater.pipeline.offline import pickled_by_value

if TYPE_CHECKING:
    from collections.abc import Callable


def _made(source: str, **scope: object) -> Callable[..., object]:
    """The last thing that `source` defines, as a module of its own would."""
    space: dict[str, object] = {"__name__": "made", **scope}
    exec(compile(source, "made.py", "exec"), space)  # noqa: S102 - functions that differ in one place
    return space["f"]  # pyright: ignore[reportReturnType]


def _again(function: object) -> object:
    """The function as it is digested in plans: pickled by value, and read back."""
    with pickled_by_value([sys.modules[__name__]]):
        return cloudpickle.loads(cloudpickle.dumps(function))


def _holding(value: object) -> Callable[[], object]:
    return lambda: value


SAME = [
    ("def f(x):\n    return x + 1", "\n\n# moved\ndef f(x):\n\n    return x + 1  # and commented"),
    ("def f(x):\n    'a'\n    return x", "def f(x):\n    'another docstring'\n    return x"),
    ("def f(x: int) -> int:\n    return x", "def f(x):\n    return x"),
    ("def f(x):\n    return x in {'a', 'b', 'c'}", "def f(x):\n    return x in {'c', 'a', 'b'}"),
    ("a = 1\nb = 2\ndef f():\n    return a", "a = 1\nb = 3\ndef f():\n    return a"),
    ("def g(): return f()\ndef f(): return g()", "def g(): return f()\ndef f(): return g()"),
]
OTHER = [
    ("def f(x):\n    return x + 1", "def f(x):\n    return x + 2"),
    ("def f(x):\n    return x + 1", "def f(x):\n    return x - 1"),
    ("def f(x):\n    return 1", "def f(x):\n    return 1.0"),
    ("def f(x):\n    return 1", "def f(x):\n    return True"),
    ("def f(x=1):\n    return x", "def f(x=2):\n    return x"),
    ("def f(*, x=1):\n    return x", "def f(*, x=2):\n    return x"),
    ("def f(x):\n    return x.a", "def f(x):\n    return x.b"),
    ("a = 1\ndef f():\n    return a", "a = 2\ndef f():\n    return a"),
    ("a = [1]\ndef f():\n    return lambda: a", "a = [2]\ndef f():\n    return lambda: a"),
    ("def g(): return 1\ndef f(): return g()", "def g(): return 2\ndef f(): return g()"),
    ("def g(): return f()\ndef f(): return g()", "def g(): return f\ndef f(): return g()"),
    ("def f(x):\n    import json\n    return json", "def f(x):\n    import csv\n    return csv"),
    ("import json\ndef f(): return json", "import csv as json\ndef f(): return json"),
    ("def f(x):\n    return lambda: 1", "def f(x):\n    return lambda: 2"),
    ("def f(x):\n    return [y for y in x if y]", "def f(x):\n    return [y for y in x if not y]"),
    ("class f:\n    def eval(self): yield 1", "class f:\n    def eval(self): yield 2"),
    ("class f:\n    a = 1", "class f:\n    a = 2"),
    ("class f:\n    a = 1", "class f(dict):\n    a = 1"),
    ("class f:\n    x = staticmethod(lambda: 1)", "class f:\n    x = staticmethod(lambda: 2)"),
    ("class f:\n    x = property(lambda s: 1)", "class f:\n    x = property(lambda s: 2)"),
    (
        "import functools\ndef g(a): return a\nf = functools.partial(g, 1)",
        "import functools\ndef g(a): return a\nf = functools.partial(g, 2)",
    ),
    (
        "import functools\n@functools.lru_cache\ndef f(a): return a",
        "import functools\n@functools.lru_cache\ndef f(a): return -a",
    ),
    (
        "class C:\n    def __init__(s, a): s.a = a\n    def m(s): return s.a\nf = C(1).m",
        "class C:\n    def __init__(s, a): s.a = a\n    def m(s): return s.a\nf = C(2).m",
    ),
    (
        "def f(): pass\nf.unit = 'kg'",
        "def f(): pass\nf.unit = 'lb'",
    ),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_what_does_the_same_is_the_same(one: str, two: str) -> None:
    assert function_digest(_made(one)) == function_digest(_made(two))


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_what_does_otherwise_is_another(one: str, two: str) -> None:
    assert function_digest(_made(one)) != function_digest(_made(two))


@pytest.mark.parametrize(
    "source", sorted({each for pair in (*SAME, *OTHER) for each in pair if "lru_cache" not in each})
)
def test_pickling_by_value_changes_nothing(source: str) -> None:
    function = _made(source)
    again = cloudpickle.loads(cloudpickle.dumps(function))
    assert function_digest(again) == function_digest(function)


# --- values ---

_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | st.uuids(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=8,
)


@given(_values)
def test_a_value_held_is_part_of_the_identity(value: object) -> None:
    assert function_digest(_holding(value)) == function_digest(_holding(value))
    assert function_digest(_holding(value)) != function_digest(_holding([value]))


class _Colour(enum.Enum):
    RED = 1
    BLUE = 2

    def shown(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class _Rate:
    name: str
    factor: float = 1.0
    tags: list[str] = field(default_factory=list)


@dataclass
class _Plain:
    name: str
    factor: float = 1.0


class _Point(NamedTuple):
    x: int
    y: int = 0


class _Node:
    def __init__(self) -> None:
        self.me = self

    @functools.cached_property
    def size(self) -> int:
        return 1

    @classmethod
    def make(cls) -> _Node:
        return cls()


class _Child(_Node):
    def __init__(self) -> None:
        super().__init__()


class _Names(dict[str, int]):
    pass


HELD: list[tuple[object, object]] = [
    (_Colour.RED, _Colour.BLUE),
    (_Rate("a"), _Rate("a", 2.0)),
    (_Plain("a"), _Plain("b")),
    (_Plain, _Rate),
    (_Point(1), _Point(2)),
    (_Names(a=1), _Names(a=2)),
    (Row(a=1), Row(a=2)),
    (Row(a=1), Row(b=1)),
    (IntegerType(), StringType()),
    (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
    (dt.timedelta(1), dt.timedelta(2)),
    (re.compile("a"), re.compile("a", re.IGNORECASE)),
    (uuid.UUID(int=1), uuid.UUID(int=2)),
    (Path("a"), Path("b")),
    (logging.getLogger("a"), logging.getLogger("b")),
    (operator.itemgetter(1), operator.itemgetter(2)),
    (collections.OrderedDict(a=1), collections.OrderedDict(a=2)),
    (collections.defaultdict(list, a=[1]), collections.defaultdict(set, a=[1])),
    (collections.deque([1]), collections.deque([2])),
    (np.float64(1), np.float32(1)),
    (np.array([1, 2]), np.array([1, 3])),
    (np.array([1, 2]), np.array([[1, 2]])),
    (np.add, np.subtract),
    (pa.schema([("a", pa.int64())]), pa.schema([("a", pa.int32())])),
    (math.sin, math.cos),
    (str.upper, str.lower),
    ("a".join, "b".join),
    ([].append, {}.get),
    (len, max),
    (int, float),
    (list[int], list[str]),
    (int | str, int | None),
    (range(3), range(4)),
    (slice(1), slice(2)),
    (1j, 2j),
    (bytearray(b"a"), bytearray(b"b")),
    (types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 2})),
    (frozenset({"a", "b"}), frozenset({"a", "c"})),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (..., NotImplemented),
    (functools.partial(max, 1), functools.partial(max, 2)),
    (re, math),
    (typing.Literal["a"], typing.Literal["b"]),
    (np, pa),
]


@pytest.mark.parametrize(("one", "two"), HELD, ids=lambda value: type(value).__name__)
def test_values_of_many_kinds_are_told_apart(one: object, two: object) -> None:
    first, other = (function_digest(_again(_holding(value))) for value in (one, two))
    assert function_digest(_again(_holding(one))) == first
    assert first != other
    assert function_digest(_holding(one)) != function_digest(_holding(two))


@pytest.mark.parametrize(("one", "two"), [(_Child(), _Node()), (_Node, _Child), (_Node.make, _Child.make)])
def test_a_cached_property_is_told_apart_though_it_cannot_be_pickled(one: object, two: object) -> None:
    assert function_digest(_holding(one)) == function_digest(_holding(one))
    assert function_digest(_holding(one)) != function_digest(_holding(two))


@pytest.mark.parametrize(
    ("value", "dependency"),
    [
        (threading.Lock(), "_thread.lock"),
        (iter([1]), "list_iterator"),
        (object(), "builtins.object"),
        (pa.BufferReader(b"x"), "BufferReader"),
        (np.frompyfunc(lambda x: x, 1, 1), "ufunc"),
        ([threading.local()], "_thread._local"),
    ],
)
def test_what_has_no_value_is_named(value: object, dependency: str) -> None:
    with pytest.raises(FunctionNotIdentifiable, match=dependency) as caught:
        function_digest(_holding(value))
    assert "_holding" in caught.value.function


def test_an_open_file_and_a_list_within_itself_are_refused() -> None:
    knot: list[object] = []
    knot.append(knot)
    with pytest.raises(FunctionNotIdentifiable, match="contains itself"):
        function_digest(_holding(knot))
    with Path(os.devnull).open("rb") as file, pytest.raises(FunctionNotIdentifiable, match="_io"):
        function_digest(_holding(file))


def test_a_module_without_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = types.ModuleType("gone")
    gone.__file__ = str(Path("no") / "such" / "gone.py")
    monkeypatch.setitem(sys.modules, "gone", gone)
    for module in (gone, types.ModuleType("nowhere")):
        with pytest.raises(FunctionNotIdentifiable, match=module.__name__):
            function_digest(_holding(module))


# --- projects ---

_HELPERS = """
from . import units
FACTOR = 3
def scaled(x):
    return x * FACTOR * units.PER
class Doubled:
    "a handler"
    kinds = {"north", "south", "east", "west"}
    def eval(self, x):
        yield scaled(x) * 2,
"""
_SCRIPT = """
import functools, sys
sys.path.insert(0, sys.argv[1])
from shop import helpers
from shop.helpers import scaled, Doubled
from headwater.pipeline.code import function_digest
from headwater.pipeline.offline import pickled_by_value
from pyspark import cloudpickle
def late(x):
    from shop.helpers import scaled as s
    return s(x)
names = {"north", "south", "east", "west"}
functions = [
    scaled, Doubled, Doubled().eval, lambda x: scaled(x) in names, lambda x: helpers.scaled(x), late,
    functools.partial(scaled, 1),
]
for function in functions:
    print(function_digest(function))
import shop
with pickled_by_value([shop]):
    for function in functions:
        print(function_digest(cloudpickle.loads(cloudpickle.dumps(function))))
"""


def _project(root: Path, *, helpers: str = _HELPERS, units: str = "PER = 1000\n") -> Path:
    package = root / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "helpers.py").write_text(helpers)
    (package / "units.py").write_text(units)
    return root


def _digests(project: Path, seed: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(project)],
        check=True,
        capture_output=True,
        text=True,
        cwd=project,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=120,
    )
    digests = done.stdout.split()
    assert len(digests) == 14
    return digests


def test_a_module_counts_with_all_it_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def digest(place: str, **sources: str) -> str:
        with monkeypatch.context() as patch:
            patch.syspath_prepend(_project(tmp_path / place, **sources))
            for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
                patch.delitem(sys.modules, name)
            importlib.invalidate_caches()
            found = function_digest(_holding(importlib.import_module("shop.helpers")))
            for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
                del sys.modules[name]
        return found

    first = digest("one")
    assert digest("two", helpers=_HELPERS + "# a comment\n") == first
    assert digest("three", helpers=_HELPERS.replace("* 2", "* 3")) != first
    assert digest("four", units="PER = 1\n") != first
    assert digest("five", units="PER = 1000\nif 0: import json, headwater, numpy, nowhere.at.all\n") != first


def test_a_cell_may_be_empty_and_a_function_without_a_module() -> None:
    def outer() -> Callable[[], object]:
        def inner() -> object:
            return later

        if threading.active_count() < 0:
            later = 1
        return inner

    assert function_digest(outer()) == function_digest(outer())
    homeless = _made("def f(): return 1")
    homeless.__module__ = None  # pyright: ignore[reportFunctionMemberAccess]
    assert function_digest(homeless) == function_digest(_made("def f(): return 1"))


def test_imports_inside_a_function_count() -> None:
    relative = "def f():\n    from .{0} import a\n    return a"
    first, other = (_made(relative.format(name), __package__="nowhere") for name in ("one", "two"))
    assert function_digest(first) != function_digest(other)


def test_a_udf_is_the_function_in_it_and_its_types() -> None:
    def plus(x: int) -> int:
        return x + 1

    def made(kind: DataType) -> object:
        return UserDefinedFunction(plus, kind)

    assert function_digest(made(IntegerType())) == function_digest(made(IntegerType()))
    assert function_digest(made(IntegerType())) != function_digest(made(StringType()))
    wrapped = UserDefinedFunction(plus, IntegerType())._wrapped()
    assert function_digest(_holding(wrapped)) == function_digest(_holding(made(IntegerType())))


def test_identity_is_the_same_in_other_places_and_seeds_and_follows_the_projects_code(tmp_path: Path) -> None:
    here = _digests(_project(tmp_path / "here"), "1")
    there = _digests(_project(tmp_path / "quite" / "another", helpers="# moved\n\n" + _HELPERS), "2")
    assert here == there
    assert here[:7] == here[7:]
    edited = _digests(
        _project(tmp_path / "edited", helpers=_HELPERS.replace("FACTOR = 3", "FACTOR = 4")), "1"
    )
    assert all(old != new for old, new in zip(here, edited, strict=True))
    far = _digests(_project(tmp_path / "far", units="PER = 1001\n"), "1")
    assert all(old != new for old, new in zip(here, far, strict=True))


def test_of_a_module_that_was_edited_after_its_import_the_loaded_code_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "edited_words.py"
    file.write_text("def f(x):\n    return x + 1\n")
    edited = importlib.import_module("edited_words")
    use = _made("def f(x):\n    return edited.f(x)", edited=edited)
    first = function_digest(use)
    file.write_text("def f(x):\n    return x + 100\n")
    stale = function_digest(use)
    importlib.reload(edited)
    assert len({first, stale, function_digest(use)}) == 3
    del sys.modules["edited_words"]
