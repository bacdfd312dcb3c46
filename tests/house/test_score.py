"""The score of call graphs: what is right, too much and missing, and a bar that can be missed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import score

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_score_counts_what_is_right_too_much_and_missing() -> None:
    found = score.Score()
    found.add(frozenset({("a", "b"), ("a", "c")}), frozenset({("a", "b"), ("a", "d")}))
    found.add(frozenset({("a", "b")}), frozenset({("a", "b")}))
    assert (found.cases, found.exact, found.right, found.extra, found.missing) == (2, 1, 2, 1, 1)
    assert (found.precision, found.recall) == (2 / 3, 2 / 3)
    assert found.line("all") == f"{'all':18} cases=2 exact=1 precision=0.667 recall=0.667"


def test_a_case_without_a_graph_has_no_edges(tmp_path: Path) -> None:
    place = tmp_path / "graph.json"
    assert score.edges_of(place) == frozenset()
    place.write_text(json.dumps({"a": ["b", "c"], "d": []}))
    assert score.edges_of(place) == {("a", "b"), ("a", "c")}


def test_a_folder_without_cases_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["score.py", str(tmp_path)])
    assert score.main() == 2
    assert "There are no cases in" in capsys.readouterr().out
    case = tmp_path / "pycg" / "calls" / "direct"
    case.mkdir(parents=True)
    (case / score.TRUTH).write_text("{}")
    assert score.cases_in(tmp_path / "pycg") == [case]
