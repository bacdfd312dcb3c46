"""Lines, owners and bindings of many nodes at once, against a look at each."""

from __future__ import annotations

from resolution_sample import SHOP, TRICKY, evidence_rows, resolution_table

from headwater.cpg.resolution.places import Places
from headwater.cpg.resolution.reading import Repository


def test_columns_give_what_each_node_says() -> None:
    for files in (SHOP, TRICKY):
        evidence = evidence_rows(files)
        places = Places(Repository(resolution_table(evidence)))
        for row in evidence:
            numbers = list(range(len(row["nodes"])))
            paths = [row["path"]] * len(numbers)
            assert places.lines(paths, numbers) == [each["line"] for each in row["nodes"]]
            assert places.ends(paths, numbers) == [each["end_line"] for each in row["nodes"]]
            assert places.owners(paths, numbers) == [each["owner"] for each in row["nodes"]]


def test_names_are_used_where_their_bindings_are_meant() -> None:
    evidence = evidence_rows(SHOP)
    places = Places(Repository(resolution_table(evidence)))
    for number, row in enumerate(evidence):
        bindings = list(range(len(row["bindings"])))
        paths = [row["path"]] * len(bindings)
        which, rows, nodes = places.uses_of(paths, bindings)
        expected = {
            (
                meant
                if (meant := row["bindings"][each["binding"]]["resolves_to"]) is not None
                else each["binding"],
                each["node"],
            )
            for each in row["sites"]
            if each["role"] == "use"
        }
        assert set(rows) <= {number}
        assert set(zip(which, nodes, strict=True)) == expected
        lines = [row["nodes"][each["node"]]["line"] for each in row["sites"] if each["role"] == "def"]
        first = [each for each in places.first_lines(paths, bindings) if each is not None]
        assert set(first) <= set(lines) | {
            row["nodes"][each["node"]]["line"] for each in row["sites"] if each["role"] == "annotate"
        }


def test_a_repository_without_names_has_places() -> None:
    places = Places(Repository(resolution_table(evidence_rows({"a.py": ""}))))
    assert places.uses_of([], []) == ([], [], [])
    assert places.first_lines([], []) == []
