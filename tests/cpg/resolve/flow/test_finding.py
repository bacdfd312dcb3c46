"""Ways of data from a source to a sink: one small program for each way, and none where there is none."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from flow_sample import edges_of, way
from hypothesis import given
from hypothesis import strategies as st
from resolve_sample import resolved

from headwater.cpg.resolve.confidence import confidence_of
from headwater.cpg.resolve.flow.rows import NO_CALL

DEFS = "def source():\n return object()\ndef sink(x): ...\n"
SAME = {
    "assignment": "x = source()\ny = x\nsink(y)",
    "walrus": "sink(y := source())",
    "choice": "x = source() if c else None\nsink(x or 1)",
    "argument": "def f(a):\n sink(a)\nf(source())",
    "keyword": "def f(a, b=1):\n sink(b)\nf(1, b=source())",
    "default": "def f(a=source()):\n sink(a)\nf()",
    "return": "def f():\n return source()\nsink(f())",
    "there and back": "def f(a):\n b = a\n return b\nsink(f(source()))",
    "lambda": "f = lambda a: a\nsink(f(source()))",
    "method": "class C:\n def m(self, a):\n  return a\nsink(C().m(source()))",
    "receiver": "class C:\n def m(self):\n  sink(self)\ndef source():\n return C()\ny = source()\ny.m()",
    "attribute": "class C: ...\nc = C()\nc.a = source()\nsink(c.a)",
    "attribute of self": "class C:\n def __init__(self, a):\n  self.a = a\n def m(self):\n  sink(self.a)\n"
    "C(source()).m()",
    "attribute of an unknown object": "def f(o):\n o.a = source()\n g()\n sink(o.a)",
    "inherited attribute": "class A:\n a = source()\nclass B(A): ...\nsink(B().a)",
    "item": "def f(d):\n d['k'] = source()\n g()\n sink(d['k'])",
    "receiver of an operator": "class C:\n def __neg__(self):\n  sink(self)\ndef source():\n"
    " return C()\n-source()",
    "right operand's method": "class C:\n def __radd__(self, o):\n  sink(self)\ndef source():\n"
    " return C()\n1 + source()",
    "argument of a builtin": "class C:\n def __len__(self):\n  sink(self)\ndef source():\n"
    " return C()\nlen(source())",
    "compared": "class C:\n def __eq__(self, o):\n  sink(o)\nC() == source()",
    "property": "class C:\n def __init__(self):\n  self.b = source()\n @property\n def a(self):\n"
    "  return self.b\nsink(C().a)",
    "setter": "class C:\n @property\n def a(self): ...\n @a.setter\n def a(self, v):\n"
    "  sink(v)\nc = C()\nc.a = source()",
    "closure": "def f():\n x = source()\n def g():\n  sink(x)\n g()\nf()",
    "nonlocal": "def f():\n x = 1\n def g():\n  nonlocal x\n  x = source()\n g()\n sink(x)\nf()",
    "global": "x = source()\ndef f():\n sink(x)\nf()",
    "global given elsewhere": "x = 1\ndef f():\n global x\n x = source()\nf()\ndef g():\n sink(x)\ng()",
    "await": "async def f():\n return source()\nasync def g():\n sink(await f())",
    "copy": "import copy\nsink(copy.copy(source()))",
    "cast": "from typing import cast\nsink(cast('int', source()))",
    "partial": "from functools import partial\ndef f(a, b):\n sink(a)\np = partial(f, source())\np(1)",
    "operator method": "class C:\n def __add__(self, o):\n  sink(o)\nC() + source()",
    "item method": "class C:\n def __setitem__(self, k, v):\n  sink(v)\nC()['k'] = source()",
    "call method": "class C:\n def __call__(self, a):\n  sink(a)\nC()(source())",
    "pattern": "match source():\n case x:\n  sink(x)",
}
MADE = {
    "dict key": "d = {'k': source()}\nsink(d['k'])",
    "stored dict key": "d = {}\nd['k'] = source()\nf()\nsink(d['k'])",
    "list": "a = [1, source()]\nsink(a[1])",
    "tuple": "a, b = (lambda: (1, source()))()\nsink(b)",
    "star": "a, *b = [source(), 1]\nsink(b)",
    "loop": "for x in [source()]:\n sink(x)",
    "comprehension": "sink([x for x in [source()]])",
    "generator": "def g():\n yield source()\nfor x in g():\n sink(x)",
    "generator of a generator": "def g():\n yield source()\ndef h():\n yield from g()\nfor x in h():\n"
    " sink(x)",
    "f-string": "x = source()\nsink(f'a {x!r}')",
    "operator": "sink('a' + source())",
    "augmented": "x = 'a'\nx += source()\nsink(x)",
    "augmented attribute": "class C: ...\nc = C()\nc.a = source()\nc.a += 1\nf()\nsink(c.a)",
    "append": "a = []\na.append(source())\nsink(a[0])",
    "append in a function": "def f(xs):\n xs.append(source())\na = []\nf(a)\nfor x in a:\n sink(x)",
    "append to an unknown object": "def f(xs):\n xs.append(source())\n sink(xs)",
    "update": "d = {}\nd.update({'k': source()})\nsink(d['k'])",
    "update by name": "d = dict()\nd.update(k=source())\nsink(d['k'])",
    "get": "d = {'k': source()}\nsink(d.get('k'))",
    "setdefault": "d = {}\nsink(d.setdefault('k', source()))",
    "items": "d = {'k': source()}\nfor k, v in d.items():\n sink(v)",
    "join": "sink(','.join([source()]))",
    "builtin": "sink(str(source()))",
    "outside": "import json\nsink(json.dumps(source()))",
    "unknown": "def f(o):\n sink(o.m(source()))",
    "method of an unknown object": "x = source()\nsink(x.strip())",
    "star argument": "def f(*a):\n sink(a[0])\nf(source())",
    "keyword arguments": "def f(**k):\n sink(k['a'])\nf(a=source())",
    "unpacked argument": "def f(a):\n sink(a)\nf(*[source()])",
    "unpacked keywords": "def f(a):\n sink(a)\nf(**{'a': source()})",
    "with": "class C:\n def __enter__(self):\n  return source()\n"
    " def __exit__(self, *a): ...\nwith C() as x:\n sink(x)",
    "context manager": "from contextlib import contextmanager\n@contextmanager\ndef f():\n"
    " yield source()\nwith f() as x:\n sink(x)",
    "callback": "sink(list(map(lambda a: a, [source()])))",
    "callback's argument": "list(map(lambda a: sink(a), [source()]))",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass C:\n a: int\nsink(C(source()).a)",
    "slice": "a = [source()]\nsink(a[0:1])",
    "iteration": "class C:\n def __iter__(self):\n  yield source()\nfor x in C():\n sink(x)",
}
NONE = {
    "another name": "x = source()\ny = 1\nsink(y)",
    "given anew": "x = source()\nx = 1\nsink(x)",
    "another parameter": "def f(a, b):\n sink(b)\nf(source(), 1)",
    "not returned": "def f(a):\n return 1\nsink(f(source()))",
    "another attribute": "class C: ...\nc = C()\nc.a = source()\nsink(c.b)",
    "another class": "class C: ...\nclass D: ...\nc = C()\nd = D()\nc.a = source()\nd.a = 1\nsink(d.a)",
    "another list": "a = []\nb = []\na.append(source())\nsink(b)",
    "a condition": "x = 1 if source() else 2\nsink(x)",
    "a comparison": "sink(source() == 1)",
    "a length": "sink(len(source()))",
    "a key to sort by": "sink(sorted([1], key=lambda a: source()))",
    "the object on the left of a comparison": "class C:\n def __eq__(self, o):\n  sink(self)\n"
    "C() == source()",
    "what is iterated by index": "class C:\n def __getitem__(self, k):\n  sink(self)\n"
    "for x[source()] in C(): ...",
    "how it is ordered": "class C:\n def __lt__(self, o):\n  return source()\nsink(sorted([C()]))",
    "what is added on the right": "class C:\n def __add__(self, o):\n  sink(self)\nC() + source()",
    "what is taken from a property again": "class C:\n @property\n def a(self):\n  sink(self)\nc = C()\n"
    "c.a += source()",
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_value_arrives(name: str) -> None:
    assert way(DEFS + SAME[name], is_same=True) is not None


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_it_arrives(name: str) -> None:
    assert way(DEFS + MADE[name]) is not None


@pytest.mark.parametrize("name", NONE)
def test_nothing_arrives(name: str) -> None:
    assert way(DEFS + NONE[name]) is None


@pytest.mark.parametrize(
    "main",
    [
        "from lib import x\nsink(x)",
        "import lib\nsink(lib.x)",
        "from lib import f\nsink(f())",
        "from lib import C\nsink(C().a)",
    ],
)
def test_a_value_of_another_file_arrives(main: str) -> None:
    lib = "from defs import source\nx = source()\ndef f():\n return source()\nclass C:\n a = source()\n"
    files = {"defs.py": DEFS, "lib.py": lib, "main.py": f"from defs import sink\n{main}"}
    assert way(files, is_same=True) is not None


# Ways to move what `{a}` has to `{b}`; the last ones lose it.
MOVES = (
    "{b} = {a}",
    "{b} = ident({a})",
    "{b} = Holder({a}).a",
    "{b} = [{a}][0]",
    "{b} = {{'k': {a}}}['k']",
    "d{b} = {{}}\nd{b}['k'] = {a}\nident(1)\n{b} = d{b}['k']",
    "l{b} = []\nl{b}.append({a})\n{b} = l{b}.pop()",
    "l{b} = [1]\nl{b}.extend([{a}])\n{b} = l{b}[-1]",
    "d{b} = dict(k={a})\n{b} = d{b}.get('k')",
    "d{b} = {{}}\nd{b}.update(k={a})\n{b} = list(d{b}.values())[0]",
    "{b} = next(once({a}))",
    "for {b} in once({a}):\n    pass",
    "{b} = [x for x in ({a},)][0]",
    "{b} = (lambda x: x)({a})",
    "{b}, rest = ({a}, 1)",
    "rest, *{b} = [1, {a}]\n{b} = {b}[0]",
    "h{b} = Holder(1)\nh{b}.a = {a}\nident(1)\n{b} = h{b}.a",
    "h{b} = Holder(1)\nh{b}.put({a})\n{b} = h{b}.take()",
    "store({a})\n{b} = fetch()",
    "{b} = keep({a})()",
    "{b} = stars(1, {a}, k=2)",
    "{b} = stars(1, *[2], k={a})",
    "{b} = {a} or 1",
    "({b} := {a})",
    "{b} = [x for x in map(ident, [{a}])][0]",
    "{b} = sorted([{a}], key=id)[0]",
    "with Holder({a}) as h{b}:\n    {b} = h{b}.a",
    "try:\n    throw({a})\nexcept Thrown as e{b}:\n    {b} = e{b}.args[0]",
    "{b} = ident(1)",
    "{b} = len([{a}])",
)
MOVING = """
class Holder:
    def __init__(self, a):
        self.a = a
    def put(self, a):
        self.a = a
    def take(self):
        return self.a
    def __enter__(self):
        return self
    def __exit__(self, *some): ...
class Thrown(Exception): ...
kept = []
def store(a):
    kept.append(a)
def fetch():
    return kept[-1]
def ident(a):
    return a
def once(a):
    yield a
def keep(a):
    def inner():
        return a
    return inner
def stars(a, *args, **kwargs):
    return args[0] if kwargs["k"] == 2 else kwargs["k"]
def throw(a):
    raise Thrown(a)
"""


@given(moves=st.lists(st.sampled_from(MOVES), min_size=1, max_size=6), is_inside=st.booleans())
def test_what_really_arrives_has_a_way(moves: list[str], *, is_inside: bool) -> None:
    body = "v0 = source()\n" + "\n".join(
        move.format(a=f"v{at}", b=f"v{at + 1}") for at, move in enumerate(moves)
    )
    body += f"\nsink(v{len(moves)})\n"
    if is_inside:
        body = "def run():\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "run()\n"
    arrived: list[object] = []
    marker = object()
    space: dict[str, Any] = {"source": lambda: marker, "sink": arrived.append}
    exec(compile(MOVING + body, "<moves>", "exec"), space)  # noqa: S102  our own samples
    if arrived[0] is marker:
        assert way(MOVING + body) is not None


def test_a_chain_of_functions_that_call_themselves_ends() -> None:
    source = DEFS + "def f(a):\n return g([a])\ndef g(b):\n return f(b) or b[0]\nsink(f(source()))\n"
    assert way(source) is not None


def test_a_load_that_too_many_stores_reach_is_counted_and_left_out() -> None:
    stores = "".join(f"def f{at}():\n C.a = {at}\n c.a = {at}\n" for at in range(40))
    source = f"class C: ...\nc = C()\n{stores}def g():\n return c.a\n"
    rows = resolved(source).flows
    assert rows.left_out == {"load": 1}
    assert "load" not in rows.kind


def test_a_way_says_its_call_and_how_sure_it_is() -> None:
    source = (
        "class A:\n def m(self, a): ...\nclass B(A):\n def m(self, a): ...\nfor x in (A(), B()):\n x.m(1)"
    )
    rows = resolved(source)
    found = [
        at
        for at, kind in enumerate(rows.flows.kind)
        if kind == "arg_param" and rows.flows.confidence[at] == confidence_of("value", 2)
    ]
    calls = {rows.flows.call[at] for at in found}
    assert [rows.calls.resolution[call] for call in calls if call != NO_CALL] == ["ambiguous"]
    assert len(found) == len({(rows.flows.src[at], rows.flows.dst[at]) for at in found}) == 4


@pytest.mark.parametrize(
    ("source", "kind", "path"),
    [
        ("x.a = y", "store", ".a"),
        ("x['k'] = y", "store", "['k']"),
        ("x[0] = y", "store", "[0]"),
        ("x[i] = y", "store", "[*]"),
        ("x.a", "load", ".a"),
        ("x[-1]", "load", "[-1]"),
        ("[y]", "store", "[0]"),
        ("{'k': y}", "store", "['k']"),
        ("for i in x: ...", "load", "[*]"),
    ],
)
def test_a_step_says_the_path_that_it_goes_by(source: str, kind: str, path: str) -> None:
    assert (kind, path) in {(found, access) for _, _, found, access, _ in edges_of(source)}


def test_all_rows_are_the_same_in_any_order_of_files() -> None:
    files = {
        "a.py": f"from b import f\n{DEFS}sink(f(source()))\n",
        "b.py": "class C: ...\ndef f(a):\n c = C()\n c.x = a\n return c.x\n",
    }
    one, other = resolved(files), resolved(dict(reversed(files.items())))
    for name in ("flows", "summaries", "effects"):
        assert asdict(getattr(one, name)) == asdict(getattr(other, name))
    ways = list(
        zip(
            map(one.flows.place, one.flows.src),
            map(one.flows.place, one.flows.dst),
            one.flows.kind,
            one.flows.call,
            strict=True,
        )
    )
    assert len(ways) == len(set(ways))
