"""A definition is a statement where it is written; its body is a def of its own."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import cast

from flow_reading import read, walked

from headwater.cpg.extract.flow import find_flow
from headwater.cpg.extract.flow.points import DEF, USE


def test_a_definition_is_one_point_and_its_body_a_def_of_its_own() -> None:
    reading = read("class C(a or b):\n x = 1\n def f(self): return lambda y: y.z")
    assert reading.edges("C") == [
        ("entry", "next", "stmt x = 1"),
        ("stmt x = 1", "next", "stmt def f(self):"),
        ("stmt def f(self):", "next", "exit"),
    ]
    assert ("branch a", "false", "expr b") in reading.edges("")
    assert reading.leaving("expr b", "") == {("next", "stmt class C(a or b):"), ("exception", "exc_exit")}
    names = [type(reading.nodes[row]).__name__ for row in reading.flow.defs.row]
    assert names == ["Module", "ClassDef", "FunctionDef", "Lambda"]


def test_what_a_definition_evaluates_may_branch_before_its_point() -> None:
    reading = read("@d(a or b)\ndef f(x: c = d if e else g): pass")
    assert reading.leaving("branch a", "") >= {("false", "expr b"), ("true", "branch e")}
    assert [name for _, action, name in reading.events("") if action == "def"] == ["f"]


def test_parameters_come_in_the_order_in_which_they_are_written() -> None:
    assert [name for _, _, name in read("def f(a, /, b, *c, d, **e): pass").events()] == list("abcde")
    assert [name for _, _, name in read("lambda a, *, b: a").events("")] == []


def test_type_parameters_are_defined_before_what_uses_them() -> None:
    """As Python 3.12 has them, whichever runs the test."""
    walk = walked("def f(x: T): pass")
    module, function = cast("ast.Module", walk.rows[1][0]), walk.rows[2][0]
    bound = ast.Name("B", ast.Load())
    bound.__dict__["row"] = 91
    function.__dict__["type_params"] = [SimpleNamespace(row=90, bound=bound)]
    events = find_flow(module).events
    annotation = next(row for row, each in enumerate(walk.rows) if isinstance(each[0], ast.Name))
    assert list(zip(events.site, events.action, strict=True))[:4] == [
        *((90, DEF), (91, USE), (annotation, USE), (2, DEF)),
    ]
