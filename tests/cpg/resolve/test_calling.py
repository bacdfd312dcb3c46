"""What calls reach, one example per rule; where an example can be run, all that is run is in the graph."""

from __future__ import annotations

import pytest
from resolve_sample import executed, graph_of

# Each name, its source, and who calls whom besides builtins; what is not named calls nothing.
RULES: list[tuple[str, str, dict[str, str]]] = [
    ("a function", "def f(): ...\nf()", {"main": "f"}),
    ("a name of a function", "def f(): ...\ng = f\ng()", {"main": "f"}),
    (
        "the definition that reaches",
        "def f(): ...\ndef g(): ...\na = f\na()\na = g\na()\ndef h():\n b = f\n b()",
        {"main": "f g", "h": "f"},
    ),
    (
        "both where branches meet",
        (
            "import sys\ndef f(): ...\ndef g(): ...\na = f if sys else g\nif sys:\n b = f\n"
            "else:\n b = g\na()\nb()"
        ),
        {"main": "f g"},
    ),
    ("a parameter", "def f(): ...\ndef call(a):\n a()\ncall(f)", {"main": "call", "call": "f"}),
    ("a keyword", "def f(): ...\ndef call(*, a):\n a()\ncall(a=f)", {"main": "call", "call": "f"}),
    ("a default", "def f(): ...\ndef call(a=f):\n a()\ncall()", {"main": "call", "call": "f"}),
    (
        "what is unpacked",
        "def f(): ...\ndef g(): ...\ndef call(a, b):\n b()\nxs = [f, g]\ncall(*xs)",
        {"main": "call", "call": "g"},
    ),
    (
        "a mapping that is unpacked",
        "def f(): ...\ndef call(a=None):\n a()\ncall(**{'a': f})",
        {"main": "call", "call": "f"},
    ),
    (
        "the rest of arguments",
        "def f(): ...\ndef g(): ...\ndef call(*a, **k):\n a[1]()\n k['x']()\ncall(1, f, x=g)",
        {"main": "call", "call": "f g"},
    ),
    (
        "handed on",
        "def f(): ...\ndef last(a, b):\n b()\ndef call(*a, **k):\n last(*a, **k)\ncall(1, b=f)",
        {"main": "call", "call": "last", "last": "f"},
    ),
    ("what is returned", "def f(): ...\ndef make():\n return f\nmake()()", {"main": "make f"}),
    (
        "what is given back as it is, call by call",
        (
            "def f(): ...\ndef g(): ...\ndef same(a):\n return a\nx = same(f)\ny = same(g)\n"
            "x()\ndef h():\n same(g)()"
        ),
        {"main": "same f", "h": "same g"},
    ),
    (
        "a closure",
        "def outer(a):\n def inner():\n  a()\n return inner\ndef f(): ...\nouter(f)()",
        {"main": "outer outer.inner", "outer.inner": "f"},
    ),
    (
        "nonlocal and global",
        (
            "def f(): ...\ndef g(): ...\nx = None\ndef put():\n global x\n x = f\nput()\nx()\n"
            "def outer():\n y = None\n def inner():\n  nonlocal y\n  y = g\n inner()\n y()\nouter()"
        ),
        {"main": "put f outer", "outer": "outer.inner g"},
    ),
    ("a lambda", "def f(): ...\ng = lambda: f()\ng()", {"main": "<lambda1>", "<lambda1>": "f"}),
    (
        "lists by index",
        "def f(): ...\ndef g(): ...\nxs = [f, g]\ndef a():\n xs[0]()\ndef b():\n xs[1]()\na()\nb()",
        {"main": "a b", "a": "f", "b": "g"},
    ),
    ("appended", "def f(): ...\nxs = []\nxs.append(f)\nfor x in xs:\n x()", {"main": "f"}),
    ("a slice", "def f(): ...\ndef g(): ...\nxs = [f, g]\nxs[1:][0]()", {"main": "g"}),
    (
        "dicts by key, and a key that is a value",
        "def f(): ...\ndef g(): ...\nd = {'a': f, 'b': g}\nk = 'b'\ndef h():\n d[k]()\nd.get('a')()\nh()",
        {"main": "f h", "h": "g"},
    ),
    (
        "values and items",
        "def f(): ...\nd = {'a': f}\nfor x in d.values():\n x()\nfor _, y in d.items():\n y()",
        {"main": "f"},
    ),
    (
        "an item right after it is stored",
        "def f(): ...\ndef g(): ...\nd = {'a': f}\nd['a'] = g\nd['a']()",
        {"main": "g"},
    ),
    (
        "an attribute right after it is stored",
        "def f(): ...\ndef g(): ...\nclass C: ...\nc = C()\nc.a = f\nc.a()\nc.a = g\nc.a()",
        {"main": "f g"},
    ),
    (
        "tuples and stars",
        "def f(): ...\ndef g(): ...\ndef h(): ...\na, *b, c = f, g, g, h\na()\nc()\nb[0]()",
        {"main": "f g h"},
    ),
    ("nested tuples", "def f(): ...\ndef g(): ...\na, (b, c) = 1, (f, g)\nc()", {"main": "g"}),
    ("swapped", "def f(): ...\ndef g(): ...\na, b = f, g\na, b = b, a\na()", {"main": "g"}),
    (
        "a comprehension",
        "def f(): ...\nxs = [f for _ in range(2)]\n[x() for x in xs]",
        {"main": "f"},
    ),
    ("a generator", "def f(): ...\ndef gen():\n yield f\nfor x in gen():\n x()", {"main": "gen f"}),
    (
        "yield from",
        "def f(): ...\ndef a():\n yield f\ndef b():\n yield from a()\nfor x in b():\n x()",
        {"main": "b f", "b": "a"},
    ),
    ("a walrus", "def f(): ...\nif (g := f):\n g()", {"main": "f"}),
    ("either", "def f(): ...\ng = None or f\ng()", {"main": "f"}),
]
CLASSES: list[tuple[str, str, dict[str, str]]] = [
    ("a method", "class C:\n def m(self): ...\nC().m()", {"main": "C.m"}),
    (
        "self and inherited",
        "class A:\n def m(self):\n  self.n()\n def n(self): ...\nclass B(A): ...\nB().m()",
        {"main": "A.m", "A.m": "A.n"},
    ),
    (
        "the method of the subclass",
        ("class A:\n def m(self):\n  self.n()\n def n(self): ...\nclass B(A):\n def n(self): ...\nB().m()"),
        {"main": "A.m", "A.m": "B.n"},
    ),
    (
        "a constructor, inherited and chosen by order",
        "class A:\n def __init__(self): ...\nclass B: ...\nclass C(B, A): ...\nC()",
        {"main": "A.__init__"},
    ),
    (
        "super with several bases",
        (
            "class A:\n def m(self): ...\nclass B(A):\n def m(self):\n  super().m()\n"
            "class C(A):\n def m(self):\n  super().m()\nclass D(B, C):\n def m(self):\n  super().m()\nD().m()"
        ),
        {"main": "D.m", "D.m": "B.m", "B.m": "C.m", "C.m": "A.m"},
    ),
    (
        "new and init",
        "class C:\n def __new__(cls):\n  return super().__new__(cls)\n def __init__(self): ...\nC()",
        {"main": "C.__new__ C.__init__"},
    ),
    (
        "static and class methods",
        (
            "class C:\n @staticmethod\n def s(): ...\n @classmethod\n def c(cls):\n"
            "  cls.s()\nC.s()\nC.c()\nC().c()"
        ),
        {"main": "C.s C.c", "C.c": "C.s"},
    ),
    (
        "a property, read and stored",
        (
            "class C:\n @property\n def p(self):\n  return f\n @p.setter\n def p(self, v): ...\n"
            "def f(): ...\nc = C()\nc.p()\nc.p = 1"
        ),
        {"main": "C.p f"},
    ),
    ("a property by call", "class C:\n def g(self): ...\n p = property(g)\nC().p", {"main": "C.g"}),
    ("an instance that is called", "class C:\n def __call__(self): ...\nC()()", {"main": "C.__call__"}),
    (
        "attributes that functions are stored in",
        (
            "class C:\n def __init__(self, a):\n  self.a = a\n def run(self):\n  self.a()\n"
            "def f(): ...\nC(f).run()"
        ),
        {"main": "C.__init__ C.run", "C.run": "f"},
    ),
    ("a bound method", "class C:\n def m(self): ...\nb = C().m\nb()", {"main": "C.m"}),
    (
        "a function of the class",
        "class C:\n def m(self):\n  self.n()\n def n(self): ...\nc = C()\nC.m(c)",
        {"main": "C.m", "C.m": "C.n"},
    ),
    (
        "operators",
        (
            "class C:\n def __add__(self, o):\n  return self\n def __radd__(self, o): ...\n"
            " def __eq__(self, o): ...\n def __getitem__(self, k): ...\n def __setitem__(self, k, v): ...\n"
            " def __contains__(self, k): ...\n def __neg__(self): ...\n"
            " def __iadd__(self, o):\n  return self\n"
            "c = C()\nc + c\n1 + c\nc == c\nc[0]\nc[0] = 1\n1 in c\n-c\nc += 1"
        ),
        {
            "main": "C.__add__ C.__radd__ C.__eq__ C.__getitem__ C.__setitem__ C.__contains__ C.__neg__ "
            "C.__iadd__"
        },
    ),
    (
        "with",
        (
            "class C:\n def __enter__(self):\n  return f\n def __exit__(self, *a): ...\n"
            "def f(): ...\nwith C() as x:\n x()"
        ),
        {"main": "C.__enter__ C.__exit__ f"},
    ),
    (
        "iteration",
        (
            "class C:\n def __iter__(self):\n  return D()\nclass D:\n def __next__(self):\n"
            "  raise StopIteration\n"
            "for _ in C(): ..."
        ),
        {"main": "C.__iter__ D.__next__"},
    ),
    (
        "what functions ask of objects",
        (
            "class C:\n def __len__(self):\n  return 1\n def __str__(self):\n  return ''\n"
            "c = C()\nlen(c)\nstr(c)\nf'{c}'"
        ),
        {"main": "C.__len__ C.__str__"},
    ),
    (
        "a class that is raised and caught",
        (
            "class E(Exception):\n def __init__(self): ...\n def m(self): ...\n"
            "try:\n raise E\nexcept E as e:\n e.m()"
        ),
        {"main": "E.__init__ E.m"},
    ),
    (
        "getattr and setattr",
        "class C:\n def m(self): ...\ndef f(): ...\nc = C()\ngetattr(c, 'm')()\nsetattr(c, 'x', f)\nc.x()",
        {"main": "C.m f"},
    ),
    (
        "the class of an object",
        (
            "class C:\n @classmethod\n def m(cls): ...\n def n(self):\n  type(self).m()\n"
            "  self.__class__.m()\nC().n()"
        ),
        {"main": "C.n", "C.n": "C.m"},
    ),
    (
        "a dataclass",
        (
            "from dataclasses import dataclass\n@dataclass\nclass C:\n a: object\n b: object = None\n"
            " def run(self):\n  self.a()\ndef f(): ...\nC(f).run()"
        ),
        {"main": "C.run dataclasses.dataclass", "C.run": "f"},
    ),
    (
        "a metaclass",
        (
            "class M(type):\n def __call__(cls):\n  return f\n def m(cls): ...\n"
            "class C(metaclass=M): ...\ndef f(): ...\nC()()\nC.m()"
        ),
        {"main": "M.__call__ f M.m"},
    ),
    (
        "private names",
        (
            "class A:\n def __m(self): ...\n def run(self):\n  self.__m()\nclass B(A):\n"
            " def __m(self): ...\nB().run()"
        ),
        {"main": "A.run", "A.run": "A.__m"},
    ),
    (
        "a method that is stored in the class",
        "class C: ...\ndef f(self): ...\nC.m = f\nC().m()",
        {"main": "f"},
    ),
    (
        "what getattr gives",
        "class C:\n def __getattr__(self, name):\n  return f\ndef f(): ...\nC().anything()",
        {"main": "C.__getattr__ f"},
    ),
    (
        "a nested class",
        "class A:\n class B:\n  def m(self): ...\nclass C(A.B): ...\nC().m()",
        {"main": "A.B.m"},
    ),
]
ASKED: list[tuple[str, str, dict[str, str]]] = [
    (
        "members of an enum",
        "import enum\nclass E(enum.Enum):\n A = 1\n def m(self): ...\nE.A.m()\nfor e in E:\n e.m()",
        {"main": "E.m"},
    ),
    (
        "a descriptor",
        (
            "class D:\n def __get__(self, o, t):\n  return f\n def __set__(self, o, v): ...\n"
            "def f(): ...\nclass A:\n d = D()\na = A()\na.d()\na.d = 1"
        ),
        {"main": "D.__get__ D.__set__ f"},
    ),
    (
        "told of a subclass",
        "class A:\n def __init_subclass__(cls): ...\nclass B(A): ...",
        {"main": "A.__init_subclass__"},
    ),
    (
        "after construction",
        (
            "import dataclasses\n@dataclasses.dataclass\nclass C:\n a: int = 0\n"
            " b: list = dataclasses.field(default_factory=list)\n def __post_init__(self): ...\nC()"
        ),
        {"main": "dataclasses.dataclass C.__post_init__", "C": "dataclasses.field"},
    ),
    (
        "a missing key",
        "class C(dict):\n def __missing__(self, key): ...\nC()[1]",
        {"main": "C.__missing__"},
    ),
    (
        "compared to be sorted",
        "class C:\n def __lt__(self, other):\n  return True\nsorted([C(), C()])",
        {"main": "C.__lt__"},
    ),
    (
        "by the begin of a name",
        (
            "class C:\n def on_a(self): ...\n def on_b(self): ...\n def off(self): ...\n"
            " def run(self, n):\n  getattr(self, 'on_' + n)()\n  getattr(self, f'on_{n}')()\nC().run('a')"
        ),
        {"main": "C.run", "C.run": "C.on_a C.on_b"},
    ),
]
WRAPPERS: list[tuple[str, str, dict[str, str]]] = [
    (
        "a decorator",
        "def deco(f):\n def inner():\n  f()\n return inner\n@deco\ndef g(): ...\ng()",
        {"main": "deco deco.inner", "deco.inner": "g"},
    ),
    (
        "a decorator with arguments, and wraps",
        (
            "from functools import wraps\ndef deco(n):\n def outer(f):\n  @wraps(f)\n"
            "  def inner(*a):\n   return f(*a)\n"
            "  return inner\n return outer\n@deco(1)\ndef g(x): ...\ng(1)"
        ),
        {
            "main": "deco deco.outer deco.outer.inner",
            "deco.outer": "functools.wraps functools.update_wrapper",
            "deco.outer.inner": "g",
        },
    ),
    (
        "a decorator that registers",
        (
            "seen = []\ndef deco(f):\n seen.append(f)\n return f\n@deco\ndef g(): ...\n@deco\ndef h(): ...\n"
            "g()\ndef run():\n h()\nrun()"
        ),
        {"main": "deco g run", "run": "h"},
    ),
    (
        "a class as a decorator",
        (
            "class D:\n def __init__(self, f):\n  self.f = f\n def __call__(self):\n"
            "  self.f()\n@D\ndef g(): ...\ng()"
        ),
        {"main": "D.__init__ D.__call__", "D.__call__": "g"},
    ),
    (
        "cached",
        (
            "import functools\n@functools.lru_cache\ndef f(): ...\n"
            "@functools.lru_cache(maxsize=1)\ndef g(): ...\nf()\ng()"
        ),
        {"main": "functools.lru_cache functools.update_wrapper f g"},
    ),
    (
        "a context manager",
        (
            "from contextlib import contextmanager\n@contextmanager\ndef c():\n yield f\ndef f(): ...\n"
            "with c() as x:\n x()"
        ),
        {"main": "contextlib.contextmanager c f"},
    ),
    (
        "partial",
        "from functools import partial\ndef f(): ...\ndef g(a, b):\n b()\np = partial(g, 1)\np(f)",
        {"main": "functools.partial g", "g": "f"},
    ),
    (
        "callbacks of builtins",
        (
            "def f(x): ...\ndef k(x):\n return 0\nlist(map(f, [1]))\nsorted([1], key=k)\n[1].sort(key=k)\n"
            "max([1], key=k)\nlist(filter(f, [1]))"
        ),
        {"main": "f k"},
    ),
    (
        "chosen by type",
        (
            "from functools import singledispatch\n@singledispatch\ndef f(x): ...\n"
            "@f.register(int)\ndef g(x): ...\n@f.register\ndef h(x: str): ...\nf(1)\nf('')"
        ),
        {"main": "functools.singledispatch f g h"},
    ),
    (
        "a stack of context managers",
        (
            "import contextlib\nclass C:\n def __enter__(self):\n  return self\n"
            " def __exit__(self, *a): ...\n def m(self): ...\n"
            "with contextlib.ExitStack() as s:\n s.enter_context(C()).m()"
        ),
        {
            "main": "contextlib.ExitStack contextlib.ExitStack.enter_context C.__enter__ C.__exit__ C.m",
        },
    ),
    (
        "reduce",
        "import functools\ndef f(a, b):\n return a\nfunctools.reduce(f, [1, 2])",
        {"main": "functools.reduce f"},
    ),
    (
        "await",
        (
            "import asyncio\ndef f(): ...\nasync def g():\n return f\nasync def h():\n"
            " (await g())()\nasyncio.run(h())"
        ),
        {"main": "asyncio.run h", "h": "g f"},
    ),
    (
        "async with and async for",
        (
            "import asyncio\nclass C:\n async def __aenter__(self):\n  return f\n"
            " async def __aexit__(self, *a): ...\n"
            " def __aiter__(self):\n  return self\n async def __anext__(self):\n  raise StopAsyncIteration\n"
            "def f(): ...\nasync def g():\n async with C() as x:\n  x()\n"
            " async for _ in C(): ...\nasyncio.run(g())"
        ),
        {"main": "asyncio.run g", "g": "C.__aenter__ C.__aexit__ f C.__aiter__ C.__anext__"},
    ),
]


def expected(edges: dict[str, str]) -> dict[str, set[str]]:
    outside = ("functools.", "contextlib.", "dataclasses.", "asyncio.")
    return {
        caller if caller == "main" else f"main.{caller}": {
            each if each.startswith(outside) else f"main.{each}" for each in callees.split()
        }
        for caller, callees in edges.items()
    }


def without_builtins(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    kept = {caller: {each for each in some if not each.startswith("<")} for caller, some in graph.items()}
    return {caller: some for caller, some in kept.items() if some}


@pytest.mark.parametrize(
    ("source", "edges"),
    [pytest.param(*rest, id=name) for name, *rest in (*RULES, *CLASSES, *ASKED, *WRAPPERS)],
)
def test_calls_reach_what_the_rule_says(source: str, edges: dict[str, str]) -> None:
    assert without_builtins(graph_of(source)) == expected(edges)


@pytest.mark.parametrize(
    "source", [pytest.param(source, id=name) for name, source, _ in (*RULES, *CLASSES, *ASKED, *WRAPPERS)]
)
def test_all_that_runs_is_in_the_graph(source: str) -> None:
    graph = graph_of(source)
    missing = {
        (caller, callee)
        for caller, callees in executed(source).items()
        for callee in callees
        if callee not in graph.get(caller, ())
    }
    assert not missing
