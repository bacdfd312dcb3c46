"""Types as nodes, and what has them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from resolution_sample import REPO, Resolved, resolved, shop, tricky

from headwater.digest import stable_id

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = {
    "b.py": "def f(x: list[int]) -> bytes: ...\n",
    "a.py": "import b\nclass C: ...\n",
    "c.py": "def g(x: bytes, y: dict[str, float]) -> list[int]: ...\n",
}


def types_by_file(found: Resolved) -> dict[str, set[str]]:
    return {row["path"]: {each["repr"] for each in row["types"]} for row in found.rows}


@pytest.mark.parametrize("sample", [shop, tricky])
def test_a_type_is_listed_once_by_the_first_file_that_speaks_of_it(sample: Callable[[], Resolved]) -> None:
    found = sample()
    first: dict[str, str] = {}
    for path, each in found.entries("type_facts"):
        first[each["type_id"]] = min(path, first.get(each["type_id"], path))
    least = min(row["path"] for row in found.rows)
    listed = list(found.entries("types"))
    assert set(Counter(each["node_id"] for _, each in listed).values()) == {1}
    assert set(Counter(each["repr"] for _, each in listed).values()) == {1}
    assert all(path == first.get(each["node_id"], least) for path, each in listed)


@pytest.mark.parametrize("sample", [shop, tricky])
def test_what_a_type_is_made_of_is_a_type(sample: Callable[[], Resolved]) -> None:
    listed = [each for _, each in sample().entries("types")]
    texts = {each["repr"] for each in listed} | {"..."}
    assert {arg for each in listed if each["form"] != "literal" for arg in each["args"]} <= texts
    assert any(each["args"] for each in listed)


@pytest.mark.parametrize("sample", [shop, tricky])
def test_one_fact_of_a_node_wins(sample: Callable[[], Resolved]) -> None:
    facts: dict[str, list[bool]] = {}
    for _, each in sample().entries("type_facts"):
        facts.setdefault(each["node_id"], []).append(each["is_winner"])
    assert {sum(each) for each in facts.values()} == {1}
    assert max(map(len, facts.values())) > 1


def test_what_only_other_types_speak_of_is_in_the_first_file() -> None:
    found = types_by_file(resolved(FILES))
    assert {"list", "dict", "float", "str"} & set().union(*found.values()) <= found["a.py"]
    assert {"list[int]", "bytes"} <= found["b.py"]
    assert found["c.py"] == {"dict[str, float]"}
    assert "float" in found["a.py"]


def test_the_id_of_a_type_is_that_of_its_text_in_the_repository() -> None:
    for _, each in shop().entries("types"):
        assert each["node_id"] == stable_id("node", REPO, "", each["repr"], 0, "TYPE", "")


def test_facts_say_which_node_has_which_type_by_whose_word() -> None:
    found = resolved({"m.py": "def f(x: int = 1): ...\n"})
    nodes = found.nodes()
    types = {each["node_id"]: each["repr"] for _, each in found.entries("types")}
    told = {
        (nodes[each["node_id"]][1]["name"], types[each["type_id"]], each["source"], each["is_winner"])
        for _, each in found.entries("type_facts")
    }
    assert ("x", "int", "annotation", True) in told
    assert ("x", "int", "default", False) in told


def test_without_facts_there_are_no_types() -> None:
    assert types_by_file(resolved({"m.py": "", "n.py": b"\x00"})) == {"m.py": set(), "n.py": set()}
