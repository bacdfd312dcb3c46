"""Symbols of a graph in the grammar of SCIP."""

from __future__ import annotations

import pytest

from headwater.cpg.exports.grammar import is_local, last_part, scip_symbol

START = "headwater python shop 1.0 "


@pytest.mark.parametrize(
    "descriptors",
    [
        "shop/",
        "`shop.cart`/Cart#total().",
        "shop/Cart#total(+1).",
        "shop/f().`<lambda>`().",
        "shop/x.",
        "`a``b`/`é`#",
        "`a b/c.py`/x.",
    ],
)
def test_a_symbol_of_the_grammar_stays_as_it_is(descriptors: str) -> None:
    assert scip_symbol(START + descriptors) == START + descriptors


def test_the_number_of_a_class_becomes_a_part_of_its_name() -> None:
    assert scip_symbol(f"{START}shop/Cart(+2)#x.") == f"{START}shop/`Cart(+2)`#x."
    assert scip_symbol(f"{START}shop/`É``(+1)#`(+1)#") == f"{START}shop/`É``(+1)#(+1)`#"


@pytest.mark.parametrize(
    "symbol",
    [
        START,
        "shop/",
        "headwater python shop shop/",
        f"{START}é/",
        f"{START}``/",
        f"{START}a",
        f"{START}a/ b.",
    ],
)
def test_what_the_grammar_does_not_have_is_nothing(symbol: str) -> None:
    assert scip_symbol(symbol) is None


def test_a_local_symbol_is_one_word() -> None:
    assert is_local("local a1")
    assert scip_symbol("local a1") == "local a1"
    assert scip_symbol("local a 1") is None
    assert not is_local(f"{START}local/")


def test_the_last_part_is_told_without_quotes() -> None:
    assert last_part(f"{START}shop/") == ("shop", "/")
    assert last_part(f"{START}`shop.cart`/Cart#`a``b`(+1).") == ("a`b", "(+1).")
