"""Laws of the lists: nothing dangles, nothing is there twice, nothing that is written is left out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from resolution_sample import Resolved, shop, tricky

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NODES = {
    "definitions": ("node_id",),
    "references": ("node_id",),
    "imports": ("node_id",),
    "bases": ("class_id",),
    "orders": ("class_id",),
    "overrides": ("node_id", "overridden_id"),
    "calls": ("node_id", "caller_id"),
    "arguments": ("node_id", "param_id"),
    "type_facts": ("node_id",),
    "flows": ("src_id", "dst_id"),
    "summaries": ("def_id",),
    "effects": ("def_id",),
    "stubs": ("node_id", "source_id"),
    "tests": ("node_id", "tested_id"),
}
# What these speak of may be outside.
MEANING = ("names", "references", "imports", "exports", "bases", "orders", "targets")
NEVER_MISSING = {
    "calls": ("node_id", "caller_id"),
    "targets": ("def_id",),
    "type_facts": ("node_id",),
    "flows": ("src_id", "dst_id"),
    "summaries": ("def_id",),
    "effects": ("def_id",),
}

pytestmark = pytest.mark.parametrize("sample", [shop, tricky])


def spoken_of(found: Resolved) -> Iterator[tuple[str, str]]:
    """Every id of what a symbol means, with the path of the file that speaks of it."""
    for name in MEANING:
        yield from (
            (each["def_id"], path) for path, each in found.entries(name) if each["def_id"] is not None
        )


def test_nodes_are_those_of_the_evidence(sample: Callable[[], Resolved]) -> None:
    found = sample()
    nodes = found.nodes()
    for name, columns in NODES.items():
        ids = [each[column] for _, each in found.entries(name) for column in columns]
        assert {each for each in ids if each is not None} <= set(nodes), name
    for name, columns in NEVER_MISSING.items():
        assert all(each[column] is not None for _, each in found.entries(name) for column in columns), name


def test_entries_are_about_nodes_of_their_own_file(sample: Callable[[], Resolved]) -> None:
    found = sample()
    nodes = found.nodes()
    for name, (column, *_) in NODES.items():
        if name == "flows":  # one through a call is in the file of the call
            continue
        told = [(path, each[column]) for path, each in found.entries(name) if each[column] is not None]
        assert all(nodes[node][0] == path for path, node in told), name


def test_bindings_are_those_of_the_evidence(sample: Callable[[], Resolved]) -> None:
    found = sample()
    ids = [each["binding_id"] for _, each in found.entries("names")]
    assert set(ids) <= found.bindings()
    assert len(ids) == len(set(ids)) > 0


def test_what_is_meant_is_a_node_or_listed_outside(sample: Callable[[], Resolved]) -> None:
    found = sample()
    listed = {each["node_id"] for _, each in found.entries("externals")}
    meant = {each for each, _ in spoken_of(found)}
    assert meant <= set(found.nodes()) | listed
    assert meant & listed
    assert not listed & set(found.nodes())
    ids = {each["dist_id"] for _, each in found.entries("externals") if each["dist_id"] is not None}
    assert ids == {
        each["node_id"] for _, each in found.entries("externals") if each["kind"] == "DISTRIBUTION"
    }


def test_files_and_types_that_are_meant_are_there(sample: Callable[[], Resolved]) -> None:
    found = sample()
    files = {each["resolved_file_id"] for _, each in found.entries("imports")} - {None}
    assert files <= {row["file_id"] for row in found.rows}
    types = {each["node_id"] for _, each in found.entries("types")}
    assert {each["type_id"] for _, each in found.entries("type_facts")} <= types


def test_what_is_outside_is_listed_once_by_the_first_file_that_speaks_of_it(
    sample: Callable[[], Resolved],
) -> None:
    found = sample()
    first: dict[str, str] = {}
    for each, path in spoken_of(found):
        first[each] = min(path, first.get(each, path))
    listed = [(each, path) for path, each in found.entries("externals")]
    counted = Counter(each["node_id"] for each, _ in listed)
    assert set(counted.values()) == {1}
    of_dist: dict[str, str] = {}
    for each, path in listed:
        if each["kind"] == "EXTERNAL_SYMBOL":
            assert first[each["node_id"]] == path, each["symbol"]
            of_dist[each["dist_id"]] = min(path, of_dist.get(each["dist_id"], path))
    assert {each["node_id"]: path for each, path in listed if each["kind"] == "DISTRIBUTION"} == of_dist


def test_nothing_of_the_repository_is_outside(sample: Callable[[], Resolved]) -> None:
    assert "shop" not in {each["dist"] for _, each in sample().entries("externals")}


def test_every_written_call_is_there_with_its_def(sample: Callable[[], Resolved]) -> None:
    found = sample()
    written = {
        (file["node_ids"][call["node"]], file["node_ids"][file["nodes"][call["node"]]["owner"]])
        for file in found.evidence
        for call in file["calls"]
    }
    calls = [each for _, each in found.entries("calls") if each["dispatch"] == "call"]
    assert {each["node_id"] for each in calls} == {node for node, _ in written}
    assert len(calls) == len(written)


def test_calls_are_told_apart_by_node_dispatch_and_slot(sample: Callable[[], Resolved]) -> None:
    counted = Counter((e["node_id"], e["dispatch"], e["slot"]) for _, e in sample().entries("calls"))
    assert set(counted.values()) == {1}


def test_numbers_of_calls_point_to_calls(sample: Callable[[], Resolved]) -> None:
    for row in sample().rows:
        for name in ("targets", "arguments", "flows"):
            numbers = [each["call"] for each in row[name] if each["call"] is not None]
            assert all(0 <= each < len(row["calls"]) for each in numbers), (row["path"], name)
            assert name == "flows" or len(numbers) == len(row[name])


def test_ranks_go_from_the_surest_on(sample: Callable[[], Resolved]) -> None:
    for row in sample().rows:
        of_call: dict[int, list[dict[str, Any]]] = {}
        for each in row["targets"]:
            of_call.setdefault(each["call"], []).append(each)
        for number, call in enumerate(row["calls"]):
            targets = of_call.get(number, [])
            sure = [each["confidence"] for each in targets]
            assert [each["rank"] for each in targets] == list(range(1, len(targets) + 1))
            assert sure == sorted(sure, reverse=True)
            assert call["confidence"] == (sure[0] if sure else None)
            assert (call["reason"] is None) == bool(targets)
            assert (call["resolution"] in {"unresolved", "dynamic"}) or targets


def test_ordinals_tell_edges_apart_that_are_else_the_same(sample: Callable[[], Resolved]) -> None:
    edges: dict[tuple[str, ...], list[int]] = {}
    for row in sample().rows:
        for each in row["targets"]:
            call = row["calls"][each["call"]]
            edges.setdefault((call["caller_id"], each["def_id"], call["dispatch"]), []).append(
                each["ordinal"]
            )
    assert all(ordinals == list(range(len(ordinals))) for ordinals in edges.values())
    assert max(map(len, edges.values())) > 1


def test_arguments_are_there_once_and_of_their_call(sample: Callable[[], Resolved]) -> None:
    found = sample()
    nodes = found.nodes()
    for row in found.rows:
        counted = Counter((each["call"], each["idx"], each["param_id"]) for each in row["arguments"])
        assert not counted or set(counted.values()) == {1}
        for each in row["arguments"]:
            if each["param_id"] is not None:
                assert nodes[each["param_id"]][1]["ast_kind"] == "arg"
                assert each["status"] not in {"unknown", None}


def test_arguments_of_written_calls_are_those_that_are_written(sample: Callable[[], Resolved]) -> None:
    found = sample()
    for file, row in zip(found.evidence, found.rows, strict=True):
        ids = file["node_ids"]
        written = {
            (ids[each["call"]], each["idx"], ids[each["node"]], each["keyword"], each["star"])
            for each in file["call_args"]
        }
        told = {
            (
                row["calls"][each["call"]]["node_id"],
                *(each[name] for name in ("idx", "node_id", "keyword", "star")),
            )
            for each in row["arguments"]
            if row["calls"][each["call"]]["dispatch"] == "call" and each["status"] != "missing"
        }
        assert told <= written, file["path"]
        assert all((each["node_id"] is None) == (each["status"] == "missing") for each in row["arguments"])


def test_confidences_are_thousandths(sample: Callable[[], Resolved]) -> None:
    found = sample()
    for name in ("references", "targets", "type_facts", "flows"):
        sure = [each["confidence"] for _, each in found.entries(name)]
        assert sure, name
        assert all(1 < each <= 1000 for each in sure), name


def test_a_class_is_first_in_its_own_order(sample: Callable[[], Resolved]) -> None:
    orders: dict[str, list[tuple[int, str]]] = {}
    for _, each in sample().entries("orders"):
        orders.setdefault(each["class_id"], []).append((each["pos"], each["def_id"]))
    for class_id, found in orders.items():
        assert [pos for pos, _ in found] == list(range(len(found)))
        assert found[0][1] == class_id


def test_the_module_is_a_definition_of_its_file(sample: Callable[[], Resolved]) -> None:
    for row in sample().rows:
        (module,) = (each for each in row["definitions"] if each["kind"] == "module")
        assert module["name"] == row["module"]
        assert len({each["node_id"] for each in row["definitions"]}) == len(row["definitions"])
