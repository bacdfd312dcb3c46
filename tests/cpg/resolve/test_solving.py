"""Generated programs: whatever they do when they are run, the graph has it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from resolve_sample import executed, graph_of

COUNT = 4
FUNCTIONS = st.integers(0, COUNT - 1).map("f{}".format)
VALUES = st.one_of(
    FUNCTIONS,
    st.sampled_from(["x", "y", "a", "box['k']", "row[0]", "row[-1]", "obj.m", "obj.v", "wrap"]),
    FUNCTIONS.map("same({})".format),
    FUNCTIONS.map("(lambda: {})()".format),
    FUNCTIONS.map("[{}, None][0]".format),
    st.tuples(FUNCTIONS, FUNCTIONS).map(lambda two: f"({two[0]} if fuel else {two[1]})"),
    FUNCTIONS.map("wrap({})".format),
    FUNCTIONS.map("next(gen({}))".format),
)
STATEMENTS = st.one_of(
    VALUES.map("x = {}".format),
    VALUES.map("y = {}".format),
    VALUES.map("box['k'] = {}".format),
    VALUES.map("row.append({})".format),
    VALUES.map("obj.v = {}".format),
    VALUES.map("x, y = y, {}".format),
    st.tuples(VALUES, VALUES).map(lambda two: f"({two[0]})({two[1]})"),
    VALUES.map("x = ({})()".format),
    VALUES.map("list(map({}, [1]))".format),
    VALUES.map("return {}".format),
    VALUES.map("for x in [{}]:\n  x()".format),
    VALUES.map("if fuel:\n  y = {}\n else:\n  y = x".format),
)
BODIES = st.lists(STATEMENTS, min_size=1, max_size=5)
BEFORE = """
fuel = [0] * 40
box, row = {'k': None}, [None]
def same(a): return a
def gen(a):
 while True: yield a
def wrap(a):
 def inner(*args, **named):
  return a(*args, **named)
 return inner
class K:
 v = None
 def m(self, a=None):
  if fuel: fuel.pop(); return a and a()
obj = K()
"""


def program_of(bodies: list[list[str]]) -> str:
    """A module of functions with these bodies, each of which stops when there is no fuel left."""
    parts = [BEFORE]
    for number, body in enumerate(bodies):
        parts.append(f"def f{number}(a=None):\n if not fuel: return\n fuel.pop()\n x = y = a")
        parts += [
            f" try:\n  {line.replace(chr(10), chr(10) + ' ')}\n except TypeError: pass" for line in body
        ]
    return "\n".join([*parts, *(f"f{number}()" for number in range(COUNT))])


@settings(max_examples=150)
@given(st.lists(BODIES, min_size=COUNT, max_size=COUNT))
def test_all_that_runs_is_in_the_graph(bodies: list[list[str]]) -> None:
    source = program_of(bodies)
    graph = graph_of(source)
    missing = {
        (caller, callee)
        for caller, callees in executed(source).items()
        for callee in callees
        if callee not in graph.get(caller, ())
    }
    assert not missing
