"""Edges between definitions, at the lines where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolution_sample import resolved, shop, tricky

if TYPE_CHECKING:
    from resolution_sample import Resolved


def told(found: Resolved, kind: str) -> set[tuple[str, str, int, str | None]]:
    """The edges of a kind: from where to where, at which line, and their labels."""
    names = {
        each["node_id"]: each["name"]
        for name in ("definitions", "externals")
        for _, each in found.entries(name)
    }
    names |= {each["binding_id"]: each["name"] for _, each in found.entries("names") if each["name"]}
    return {
        (names[each["source_id"]], names[each["target_id"]], each["line"], each["label"])
        for _, each in found.links()
        if each["edge_kind"] == kind
    }


def test_every_edge_joins_two_definitions() -> None:
    for found in (shop(), tricky()):
        for kind in ("CALLS", "REFERENCES_SYMBOL", "IMPORTS", "INHERITS", "OVERRIDES", "CONTAINS"):
            told(found, kind)  # a name that is missing is an error
        kinds = {each["edge_kind"] for _, each in found.links()}
        assert kinds <= {"CALLS", "REFERENCES_SYMBOL", "IMPORTS", "INHERITS", "OVERRIDES", "CONTAINS"}


def test_an_edge_is_in_the_file_that_it_stands_in() -> None:
    found = shop()
    nodes = found.nodes()
    for path, each in found.links():
        at, node = nodes[each["source_id"]]
        assert at == path
        assert each["line"] is None or each["line"] <= (node["end_line"] or each["line"])


def test_calls_have_their_lines_and_how_they_are_made() -> None:
    calls = told(shop(), "CALLS")
    assert ("shop.cart.Cart.total", "shop.cart.most", 17, "call") in calls
    assert ("shop.cart.Cart.total", "shop.base.Base.total", 17, "call") in calls
    assert {each[3] for each in calls if each[1] == "shop.cart.Cart.size"} == {"property"}


def test_candidates_that_are_not_sure_are_left_out() -> None:
    found = resolved(
        "import sys\n\n\ndef a(): ...\ndef b(): ...\n\n\n"
        "for each in [a, b]:\n    each()\nf = a if sys.argv else b\nf()\n"
    )
    sure = {each["confidence"] for _, each in found.links() if each["edge_kind"] == "CALLS"}
    assert sure
    ranks = {(each["confidence"], each["rank"]) for _, each in found.entries("targets")}
    assert all(one >= 500 or (one, 1) in ranks for one in sure)


def test_imports_lead_to_what_they_mean_and_to_the_module() -> None:
    found = resolved(
        {
            "a.py": "LIMIT = 1\ndef f(): ...\n",
            "b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import f\n\n\n"
            "def late():\n    from a import LIMIT as most\n    return most\n",
            "c.py": "from b import *\nfrom a import LIMIT\nprint(LIMIT)\n",
            "d.py": "from c import LIMIT\nprint(LIMIT)\n",
        }
    )
    imports = told(found, "IMPORTS")
    assert {("b", "a.f", 3, "type-checking"), ("b", "a", 3, "type-checking")} <= imports
    assert {("b.late", "LIMIT", 7, "lazy"), ("b.late", "a", 7, "lazy"), ("c", "b", 1, None)} <= imports
    targets = {
        each["target_id"]
        for path, each in found.links()
        if each["edge_kind"] == "REFERENCES_SYMBOL" and path in {"c.py", "d.py"} and each["line"] in {2, 3}
    }
    (limit,) = [
        each["binding_id"] for path, each in found.entries("names") if path == "a.py" and each["name"]
    ]
    assert limit in targets


def test_what_a_decorator_made_something_else_of_is_used_by_name() -> None:
    found = resolved(
        {
            "a.py": "def keep(f):\n    def wrapper(*more): return f(*more)\n    return wrapper\n\n\n"
            "@keep\ndef f(): ...\n",
            "b.py": "from a import f\n\n\ndef g(): return f()\n",
        }
    )
    assert ("b", "a.f", 1, None) in told(found, "IMPORTS")
    assert ("b.g", "a.f", 4, None) in told(found, "REFERENCES_SYMBOL")


def test_definitions_and_variables_have_lines() -> None:
    found = resolved("X = 1\n\n\nclass A:\n    size: int\n\n    def f(self):\n        return 1\n")
    lines = {each["name"]: (each["line"], each["end_line"]) for _, each in found.entries("definitions")}
    assert lines == {"main": (1, 8), "main.A": (4, 8), "main.A.f": (7, 8)}
    assert {each["name"]: each["line"] for _, each in found.entries("names") if each["name"]} == {
        "X": 1,
        "size": 5,
    }


def test_what_is_read_of_a_module_is_used_as_it_is_written_there() -> None:
    found = resolved(
        {
            "a.py": "LIMIT = 1\n\n\ndef keep(f):\n    def wrapper(*more): return f(*more)\n"
            "    return wrapper\n\n\n@keep\ndef f(): ...\ndef g(): ...\nclass A: ...\n",
            "b.py": "from a import LIMIT, f\n",
            "c.py": "import a, b\nfrom a import nothing\n\n\ndef h(x):\n    a.f()\n    a.g()\n    a.A\n"
            "    a.LIMIT\n    b.LIMIT\n    b.f\n    x.LIMIT\n    a.nothing\n    a.LIMIT = 2\n",
        }
    )
    used = sorted(
        each[1:3] for each in told(found, "REFERENCES_SYMBOL") if each[0] == "c.h" and each[1] not in "abx"
    )
    assert used == [
        *(("LIMIT", 9), ("LIMIT", 10), ("a.A", 8), ("a.f", 6), ("a.f", 11), ("a.g", 7)),
        *(("a.keep.wrapper", 6), ("a.keep.wrapper", 11)),
    ]
    edges = [
        each for _, each in found.links() if each["edge_kind"] == "REFERENCES_SYMBOL" and each["line"] == 7
    ]
    assert len(edges) == len({(each["source_id"], each["target_id"]) for each in edges})
    limits = {each["binding_id"] for path, each in found.entries("names") if path == "a.py"}
    assert {each["target_id"] for _, each in found.links() if each["line"] in {9, 10}} & limits
