"""Evidence in Arrow, as the solver takes it."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa
import pytest
from resolution_sample import REPO, TRICKY, evidence_rows, resolution_table

from headwater.cpg.extract import extract_file
from headwater.cpg.resolution.reading import Repository, Slices

NUMBERS = pa.list_(pa.int32())


def repository(*paths: str) -> tuple[Repository, list[dict[str, Any]]]:
    evidence = evidence_rows({path: TRICKY[path] for path in paths or TRICKY})
    return Repository(resolution_table(evidence)), evidence


def test_a_list_that_is_missing_is_empty() -> None:
    found = Slices.of(pa.chunked_array([pa.array([[1, 2], None, [], [3]], NUMBERS)]))
    assert found.offsets == [0, 2, 2, 2, 3]
    assert found.entries.to_pylist() == [1, 2, 3]


def test_what_lies_behind_a_missing_list_is_not_there() -> None:
    offsets, values = pa.array([0, 1, 3, 4], pa.int32()), pa.array([1, 7, 8, 2], pa.int32())
    mask: Any = pa.array([False, True, False])
    lists: Any = pa.ListArray.from_arrays(offsets, values, mask=mask)
    found = Slices.of(pa.chunked_array([lists]))
    assert (found.offsets, found.entries.to_pylist()) == ([0, 1, 1, 2], [1, 2])


def test_chunks_and_slices_are_one_column() -> None:
    whole = pa.array([[9], [1], [2, 3], [9]], NUMBERS)
    found = Slices.of(pa.chunked_array([whole.slice(1, 2), pa.array([[4]], NUMBERS)]))
    assert (found.offsets, found.entries.to_pylist()) == ([0, 1, 3, 4], [1, 2, 3, 4])


@pytest.mark.parametrize("chunks", [[], [pa.array([], NUMBERS)]])
def test_a_column_without_rows_has_no_lists(chunks: list[Any]) -> None:
    found = Slices.of(cast("Any", pa).chunked_array(chunks, NUMBERS))
    assert (found.offsets, found.entries.to_pylist()) == ([0], [])


def test_columns_of_structs_are_taken_apart() -> None:
    entries = pa.array([[{"a": 1, "b": "x"}], [{"a": None, "b": "y"}]])
    assert Slices.of(pa.chunked_array([entries])).fields("b", "a") == [["x", "y"], [1, None]]


def test_facts_are_those_that_were_extracted() -> None:
    files = repository()[0].files()
    assert [each.path for each in files] == list(TRICKY)
    for each in files:
        source = TRICKY[each.path]
        found = extract_file(REPO, each.path, source if isinstance(source, bytes) else source.encode())
        assert each.nodes == len(found.syntax.nodes.node_id) + len(found.facts.added.node_id)
        assert each.bindings == len(found.facts.binding_ids)
        for name in ("op", "target", "source", "text"):
            assert list(getattr(each, name)) == list(getattr(found.values, name)), (each.path, name)
            assert getattr(each.hints, name) == list(getattr(found.hints, name)), (each.path, name)


def test_ids_go_by_path_and_number() -> None:
    found, evidence = repository()
    paths = [row["path"] for row in evidence for _ in row["node_ids"]]
    numbers = [number for row in evidence for number, _ in enumerate(row["node_ids"])]
    ids = [each for row in evidence for each in row["node_ids"]]
    assert found.node_ids(paths[::-1], numbers[::-1]).array().to_pylist() == ids[::-1]
    paths = [row["path"] for row in evidence for _ in row["bindings"]]
    numbers = [number for row in evidence for number, _ in enumerate(row["bindings"])]
    ids = [each["binding_id"] for row in evidence for each in row["bindings"]]
    assert found.binding_ids(paths, numbers).array().to_pylist() == ids


def test_what_is_missing_stays_missing() -> None:
    found, evidence = repository("a/other.py")
    assert found.node_ids(
        ["a/other.py", None, "a/other.py", None], [1, 1, None, None]
    ).array().to_pylist() == [
        evidence[0]["node_ids"][1],
        *[None] * 3,
    ]
    assert found.node_ids([], []).array().to_pylist() == []


def test_files_are_told_by_the_numbers_of_their_rows() -> None:
    found, evidence = repository()
    assert found.rows(["empty.py", "z/calls.py", "empty.py"]).tolist() == [5, 0, 5]
    assert found.file_ids() == [row["file_id"] for row in evidence]
    assert found.is_test == [row["is_test"] for row in evidence]


def test_written_calls_have_their_defs() -> None:
    found, evidence = repository()
    assert found.written() == [
        [(call["node"], row["nodes"][call["node"]]["owner"]) for call in row["calls"]] for row in evidence
    ]


def test_what_binds_names_goes_by_path() -> None:
    files = {
        "m.py": "import json\nx = 1\ndef f(): ...\n",
        "n.py": "class C:\n def m(self):\n  self.a = 1\n",
        "o.py": "",
    }
    evidence = evidence_rows(files)
    found = Repository(resolution_table(evidence))
    names = {row["path"]: [each["name"] for each in row["bindings"]] for row in evidence}
    defining = {path: {names[path][each] for each, _ in pairs} for path, pairs in found.defining().items()}
    assert defining == {"m.py": {"json", "f"}, "n.py": {"C", "m"}, "o.py": set()}
    ((binding, owner, name),) = found.attributes()["n.py"]
    assert (names["n.py"][binding], evidence[1]["nodes"][owner]["name"], name) == ("a", "C", "a")
    assert found.attributes()["m.py"] == []
