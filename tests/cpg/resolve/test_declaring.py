"""Instances that nobody is seen to make: annotations, handlers and methods say that there are some."""

from __future__ import annotations

from resolve_sample import graph_of, resolved

CLASSES = "class A:\n def m(self): ...\nclass B(A):\n def m(self): ...\nclass C(A): ...\n"


def candidates(source: str, caller: str) -> dict[str, str]:
    """How each function was found that a def may call, by its name."""
    rows = resolved(source)
    names = dict(zip(rows.definitions.node, rows.definitions.name, strict=True))
    found = zip(rows.targets.call, rows.targets.node, rows.targets.resolver, strict=True)
    return {
        names[node].removeprefix("main."): how
        for call, node, how in found
        if node is not None and names[rows.calls.caller[call]] == f"main.{caller}"
    }


def test_what_is_annotated_may_be_of_any_class_below() -> None:
    assert candidates(CLASSES + "def f(a: A): a.m()", "f") == {"A.m": "value", "B.m": "declared"}
    assert graph_of(CLASSES + "def f(a: A): a.m()")["main.f"] == {"main.A.m"}


def test_an_annotation_says_more_than_the_values_that_are_seen() -> None:
    source = CLASSES + "def f(a: A): a.m()\nf(B())"
    assert candidates(source, "f") == {"A.m": "declared", "B.m": "value"}
    assert graph_of(source)["main.f"] == {"main.B.m"}


def test_an_annotation_counts_where_the_value_is_outside() -> None:
    source = "import x\nclass A:\n def m(self): ...\na: A = x.proxy()\ndef f(): a.m()"
    assert candidates(source, "f") == {"A.m": "value"}


def test_a_method_that_nobody_calls_may_be_that_of_a_class_below() -> None:
    source = "class A:\n def t(self): self.m()\n def m(self): ...\nclass B(A):\n def m(self): ..."
    assert candidates(source, "A.t") == {"A.m": "value", "B.m": "declared"}


def test_what_is_caught_may_be_of_any_class_below() -> None:
    source = (
        "class E(Exception):\n def show(self): ...\nclass F(E):\n def show(self): ...\n"
        "def f():\n try: ...\n except E as e: e.show()"
    )
    assert candidates(source, "f") == {"E.show": "value", "F.show": "declared"}


def test_what_a_declared_instance_is_given_others_of_its_class_have() -> None:
    source = "def g(): ...\nclass A:\n def r(self): self.x()\ndef f(a: A): a.x = g"
    assert "main.g" in graph_of(source)["main.A.r"]


def test_methods_by_the_begin_of_their_name_are_all_reached_however_many() -> None:
    methods = "".join(f" def visit_{number}(self): ...\n" for number in range(60))
    source = f"class V:\n{methods} def go(self, n): getattr(self, f'visit_{{n}}')()\nV().go(1)"
    assert len(candidates(source, "V.go")) == 60


def test_a_metaclass_makes_its_classes_and_those_below() -> None:
    source = (
        "class M(type):\n def __new__(m, *a): return type.__new__(m, *a)\n def __init__(c, *a): ...\n"
        "class A(metaclass=M): ...\nclass B(A): ...\n"
    )
    assert {"main.M.__new__", "main.M.__init__"} <= graph_of(source)["main"]


def test_a_generic_class_of_its_own_making_is_asked_for_its_items() -> None:
    source = "class A:\n def __class_getitem__(cls, k): return cls\nA[1]"
    assert "main.A.__class_getitem__" in graph_of(source)["main"]


def test_what_is_stored_outside_is_read_there() -> None:
    source = "import sys\nclass W:\n def write(self, s): ...\nsys.stdout = W()\nsys.stdout.write('')"
    assert "main.W.write" in graph_of(source)["main"]


def test_properties_of_other_libraries_are_called_where_they_are_read() -> None:
    source = "from x import cached_property\nclass A:\n @cached_property\n def p(self): ...\nA().p"
    assert "main.A.p" in graph_of(source)["main"]
