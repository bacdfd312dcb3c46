from __future__ import annotations

from headwater.cpg import EXAMPLE_QUESTIONS, GraphSummary, summary_of, summary_query
from headwater.cpg.kinds import EDGE_KINDS

ROWS = [
    {"of": "file", "kind": "skipped", "count": 1},
    {"of": "file", "kind": "ok", "count": 3},
    {"of": "node", "kind": "NAME", "count": 7},
    {"of": "node", "kind": "CLASS", "count": 2},
    {"of": "edge", "kind": "AST", "count": 8},
    {"of": "edge", "kind": "REACHING_DEF", "count": 1},
    {"of": "edge", "kind": "ARGUMENT", "count": 9},
    {"of": "diagnostic", "kind": "warning", "count": 1},
]


def test_rows_become_numbers_by_kind() -> None:
    summary = summary_of(ROWS)
    assert summary.files == {"ok": 3, "skipped": 1}
    assert summary.definitions == {"CLASS": 2}
    assert summary.diagnostics == {"warning": 1}
    assert {name: list(kinds) for name, kinds in summary.families.items()} == {
        "syntax": ["ARGUMENT", "AST"],
        "data flow": ["REACHING_DEF"],
    }


def test_every_kind_of_edge_has_a_family() -> None:
    families = GraphSummary(edges=dict.fromkeys(EDGE_KINDS, 1)).families
    assert sorted(kind for kinds in families.values() for kind in kinds) == sorted(EDGE_KINDS)


def test_the_numbers_are_asked_of_the_repository_s_own_table() -> None:
    asked = summary_query("shop")
    assert asked.count("FROM evidence_shop") == asked.count("FROM resolution_shop") == 1


def test_there_are_three_questions_that_a_shell_takes_as_they_are() -> None:
    assert len(EXAMPLE_QUESTIONS) == 3
    assert not any(set(each) & set('"$`\\!\n') for each in EXAMPLE_QUESTIONS)
