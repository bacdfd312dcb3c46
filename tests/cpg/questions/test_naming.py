"""What people call things."""

from __future__ import annotations

import pytest
from code_sample import code_of, small_repo

from headwater.cpg.questions import matching, named
from headwater.errors import NameAmbiguous, NameUnknown

CODE = {
    "a.py": "class Box:\n    def open(self):\n        return len('')\n\n\ndef box(): ...\n",
    "b.py": "class Box: ...\n",
}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a.Box.open", "a.Box.open"),
        ("Box.open", "a.Box.open"),
        ("open", "a.Box.open"),
        ("a.py:3", "a.Box.open"),
        ("a.py:1", "a.Box"),
        ("a.py:5", "a"),
        ("headwater python shop 1.0 a/Box#open().", "a.Box.open"),
        ("len", "builtins.len"),
    ],
)
def test_a_name_is_dotted_or_the_end_of_one_or_a_place(text: str, name: str) -> None:
    code = code_of(CODE)
    assert [code.names[each] for each in named(code, text)] == [name]


def test_a_name_of_several_things_lists_them() -> None:
    with pytest.raises(NameAmbiguous) as raised:
        named(code_of(CODE), "Box")
    assert raised.value.candidates == ("a.Box (class, a.py:1)", "b.Box (class, b.py:1)")
    assert raised.value.exit_code == 1


def test_what_is_here_goes_before_what_is_outside() -> None:
    code = code_of("def print(): ...\n")
    assert [code.names[each] for each in named(code, "print")] == ["main.print"]


@pytest.mark.parametrize("text", ["Bux.open", "zzz.py:1", "", "a.py:x", "'; DROP TABLE definitions; --"])
def test_a_name_of_nothing_tells_what_is_near(text: str) -> None:
    with pytest.raises(NameUnknown, match="nothing in the code graph is called") as raised:
        named(code_of(CODE), text)
    assert ("Near: a.Box.open" in raised.value.next_step) == (text == "Bux.open")


def test_every_definition_is_found_by_its_own_name_and_symbol() -> None:
    code = small_repo()
    for node in range(len(code)):
        assert node in matching(code, code.names[node])
        assert node in named(code, code.symbols[node])


def test_a_class_has_what_its_bases_have() -> None:
    code = code_of(
        "class A:\n    def m(self): ...\n    def n(self): ...\n\n\nclass B(A):\n    def n(self): ...\n\n\n"
        "class C(B): ...\n"
    )
    assert [code.names[each] for each in named(code, "C.m")] == ["main.A.m"]
    assert [code.names[each] for each in named(code, "main.C.n")] == ["main.B.n"]
    with pytest.raises(NameUnknown):
        named(code, "C.o")


def test_what_a_module_imports_has_its_name_there_too() -> None:
    code = code_of(
        {
            "shop/__init__.py": "from .cart import Cart, LIMIT\nimport json\n",
            "shop/cart.py": "LIMIT = 1\nclass Cart:\n    def total(self): ...\n",
        }
    )
    found = {text: [code.names[each] for each in named(code, text)] for text in ("shop.Cart", "shop.LIMIT")}
    assert found == {"shop.Cart": ["shop.cart.Cart"], "shop.LIMIT": ["shop.cart.LIMIT"]}
    assert [code.names[each] for each in named(code, "shop.Cart.total")] == ["shop.cart.Cart.total"]
    with pytest.raises(NameUnknown):
        named(code, "shop.total")
