"""Counts, held against the lists that they are of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from resolution_sample import resolved, shop, tricky

from headwater.cpg.resolution.columns import LISTS
from headwater.cpg.resolution.counting import counted_in, counts_of
from headwater.cpg.resolution.listed import Listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from resolution_sample import Resolved


def counted(row: dict[str, Any]) -> Counter[tuple[str, str]]:
    """The counts of a file by hand."""
    found: Counter[tuple[str, str]] = Counter()
    for each in row["targets"]:
        found["edge", "CALLS"] += each["def_id"] is not None
        found["edge", "RETURNS_TO"] += each["def_id"] is not None
    for each in row["arguments"]:
        found["edge", "ARG_PASSES"] += each["node_id"] is not None and each["param_id"] is not None
    found["edge", "IMPORTS"] = sum(each["def_id"] is not None for each in row["imports"])
    found["edge", "INHERITS"] = sum(each["def_id"] is not None for each in row["bases"])
    found["edge", "MRO"] = sum(each["def_id"] is not None for each in row["orders"])
    found["edge", "OVERRIDES"] = len(row["overrides"])
    found["edge", "HAS_TYPE"] = len(row["type_facts"])
    found["edge", "STUB_OF"] = len(row["stubs"])
    found["edge", "TESTS"] = len(row["tests"])
    found["edge", "CONTAINS"] = sum(each["kind"] == "EXTERNAL_SYMBOL" for each in row["externals"])
    found["edge", "STORES"] = sum(each["kind"] == "store" for each in row["flows"])
    found["edge", "LOADS"] = sum(each["kind"] == "load" for each in row["flows"])
    exports = [each["via"] for each in row["exports"] if each["def_id"] is not None]
    found["edge", "EXPORTS"] = exports.count("definition")
    found["edge", "REEXPORTS"] = exports.count("reexport") + exports.count("star")
    for each in row["externals"]:
        found["node", each["kind"]] += 1
    found["node", "TYPE"] = len(row["types"])
    return +found


@pytest.mark.parametrize("sample", [shop, tricky])
def test_counts_are_those_of_the_lists(sample: Callable[[], Resolved]) -> None:
    for row in sample().rows:
        found = [(each["of"], each["kind"], each["count"]) for each in row["counts"]]
        assert found == sorted((*key, count) for key, count in counted(row).items()), row["path"]


def test_every_kind_is_counted_somewhere() -> None:
    kinds = {(each["of"], each["kind"]) for _, each in shop().entries("counts")}
    assert {kind for of, kind in kinds if of == "node"} == {"DISTRIBUTION", "EXTERNAL_SYMBOL", "TYPE"}
    assert {kind for of, kind in kinds if of == "edge"} == {
        *("CALLS", "RETURNS_TO", "ARG_PASSES", "IMPORTS", "INHERITS", "MRO", "OVERRIDES", "HAS_TYPE"),
        *("STUB_OF", "TESTS", "CONTAINS", "EXPORTS", "REEXPORTS", "STORES", "LOADS"),
    }


def test_a_file_that_says_nothing_has_no_counts() -> None:
    assert resolved({"m.py": ""}).rows[0]["counts"] == []


def listed(**given: Listed) -> dict[str, Listed]:
    """All lists, of which those that are not given are empty."""
    return {name: Listed([], {column: [] for column in columns}) for name, columns in LISTS.items()} | given


def counts(**given: Listed) -> Listed:
    """The counts of these lists."""
    return counts_of(each for name, one in listed(**given).items() for each in counted_in(name, one))


def test_an_entry_without_an_end_is_no_edge() -> None:
    ends: dict[str, Any] = {
        "node_id": pa.array(["a", None, "b", "c"], pa.string()),
        "param_id": ["x", "y", None, "z"],
    }
    found = counts(arguments=Listed([0, 0, 0, 2], ends))
    assert found == Listed([0, 2], {"of": ["edge"] * 2, "kind": ["ARG_PASSES"] * 2, "count": [1, 1]})


def test_an_export_of_a_value_is_no_edge() -> None:
    columns = {"via": ["definition", "definition", "reexport", "star"], "def_id": ["a", None, "b", "c"]}
    found = counts(exports=Listed([1] * 4, columns))
    assert found == Listed([1, 1], {"of": ["edge"] * 2, "kind": ["EXPORTS", "REEXPORTS"], "count": [1, 2]})
