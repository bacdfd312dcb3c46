"""Definitions, variables and what is outside, with what is told of each and their edges."""

from __future__ import annotations

from typing import Any

from resolution_sample import REPO, evidence_rows, resolution_table, resolved, shop, tricky

from headwater.cpg.resolution import resolve_rows
from headwater.cpg.resolve import Distributions

EDGE = ("edge_kind", "line", "label", "resolution", "confidence")


def things(found: Any) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for _, each in found.entries("things")}


def test_everything_that_an_edge_can_end_at_is_there_once() -> None:
    for found in (shop(), tricky()):
        ids = [each["node_id"] for _, each in found.entries("things")]
        expected = [each["node_id"] for _, each in found.entries("definitions")]
        expected += [
            each["node_id"] for _, each in found.entries("externals") if each["kind"] == "EXTERNAL_SYMBOL"
        ]
        expected += [
            each["binding_id"]
            for _, each in found.entries("names")
            if each["name"] is not None and each["def_id"] is None
        ]
        assert len(ids) == len(set(ids))
        assert set(ids) == set(expected)


def test_a_definition_is_in_the_row_of_its_file() -> None:
    found = shop()
    paths = {each["node_id"]: path for path, each in found.entries("definitions")}
    told = {each["node_id"]: path for path, each in found.entries("things") if each["node_id"] in paths}
    assert told == paths


def test_every_edge_has_two_ends() -> None:
    for found in (shop(), tricky()):
        every = [each for _, each in found.entries("things")]
        known = {each["node_id"] for each in every}
        away, towards = (
            sorted(
                (*sorted([thing["node_id"], each["other_id"]]), *(str(each[name]) for name in EDGE))
                for thing in every
                for each in thing[side]
            )
            for side in ("outgoing", "incoming")
        )
        assert away
        assert away == towards
        assert {each["other_id"] for thing in every for each in thing["outgoing"]} <= known


def test_edges_are_in_the_order_of_their_columns() -> None:
    def key(edge: dict[str, Any]) -> tuple[Any, ...]:
        return tuple((value is not None, value) for value in edge.values())

    for found in (shop(), tricky()):
        for _, each in found.entries("things"):
            for side in ("outgoing", "incoming"):
                assert each[side] == sorted(each[side], key=key)


def test_confidences_are_thousandths() -> None:
    found = {each["confidence"] for _, thing in tricky().entries("things") for each in thing["outgoing"]}
    assert max(found) == 1000
    assert 0 < min(found) < 1000


def test_what_a_def_does_is_told_with_it() -> None:
    found = things(resolved({"m.py": "import os\n\n\ndef f():\n    raise ValueError(os.environ['x'])\n"}))
    assert found["m.f"]["own_effects"] == found["m.f"]["effects"] == ["env"]
    assert "headwater python python . builtins/ValueError." in found["m.f"]["raises"]
    assert found["m"]["effects"] == found["m"]["raises"] == []


def test_a_variable_has_its_dotted_name_and_first_line() -> None:
    found = things(resolved({"pkg/__init__.py": "", "pkg/mod.py": "\nclass A:\n    x = 1\n\n\nlimit = 1\n"}))
    of_class, of_module = found["pkg.mod.A.x"], found["pkg.mod.limit"]
    assert (of_class["kind"], of_class["line"], of_class["end_line"]) == ("variable", 3, 3)
    assert (of_module["kind"], of_module["line"], of_module["is_test"]) == ("variable", 6, False)
    assert (of_module["dist"], of_module["version"]) == ("shop", "1.0")


def test_a_name_that_is_written_in_quotes_is_told_without() -> None:
    assert "m.größe" in things(resolved({"m.py": "größe = 1\n"}))


def test_what_is_outside_has_its_distribution_and_no_place() -> None:
    yaml = things(shop())["yaml.load"]
    assert (yaml["kind"], yaml["dist"], yaml["version"]) == ("external", "PyYAML", "6.0")
    assert (yaml["line"], yaml["end_line"], yaml["is_test"]) == (None, None, None)
    assert [each["edge_kind"] for each in yaml["incoming"]].count("CALLS") == 2


def test_no_files_have_no_things() -> None:
    assert resolve_rows(resolution_table([]), REPO, Distributions(name="shop", version="1.0")).num_rows == 0
    rows = resolve_rows(
        resolution_table(evidence_rows({"m.py": ""})), REPO, Distributions(name="shop", version="1.0")
    ).to_pylist()
    assert [(each["name"], each["outgoing"], each["incoming"]) for each in rows[0]["things"]] == [
        ("m", [], [])
    ]
