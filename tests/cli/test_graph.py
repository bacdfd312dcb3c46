"""What a build says of a graph; that it says it is tested with the build itself."""

from __future__ import annotations

from pathlib import Path

from headwater.artifacts import TableRecord
from headwater.cli.graph import questions_text, short_text, summary_document, summary_text
from headwater.cli.sharing import ProjectPlace
from headwater.cpg import EXAMPLE_QUESTIONS, QUESTIONS, GraphSummary
from headwater.run import RunOutcome

SUMMARY = GraphSummary(
    files={"failed": 1, "ok": 1200},
    nodes={"CLASS": 2, "FUNCTION": 1, "NAME": 3000},
    edges={"AST": 3002, "READS": 5},
    diagnostics={"error": 1},
)
TABLES = (
    TableRecord(name="evidence_shop", action="built", reason="new", rows=1201, seconds=7.25),
    TableRecord(name="file_nodes", action="built", reason="new", rows=3003, seconds=11.0),
)


def outcome(*tables: TableRecord) -> RunOutcome:
    return RunOutcome(
        run_id="r",
        status="done",
        tables=tables,
        views=1,
        sources=1,
        seconds=1.0,
        manifest=Path("manifest.json"),
    )


def test_a_person_reads_the_numbers_line_by_line() -> None:
    assert summary_text(SUMMARY, outcome(*TABLES)).splitlines() == [
        "files        1,201 (1 failed, 1,200 ok)",
        "definitions  2 classes, 1 function",
        "nodes        3,003",
        "edges        3,007",
        "  syntax     AST 3,002",
        "  names      READS 5",
        "diagnostics  1 error",
        "slowest      file_nodes 11.0 s, evidence_shop 7.2 s",
    ]


def test_nothing_is_said_to_be_none() -> None:
    lines = summary_text(GraphSummary(), outcome()).splitlines()
    assert [each.split() for each in lines] == [
        ["files", "none"],
        ["definitions", "none"],
        ["nodes", "0"],
        ["edges", "0"],
        ["diagnostics", "none"],
        ["slowest"],
    ]


def test_a_program_reads_the_same_numbers() -> None:
    assert summary_document(SUMMARY) == {
        "files": {"failed": 1, "ok": 1200},
        "definitions": {"CLASS": 2, "FUNCTION": 1},
        "nodes": {"CLASS": 2, "FUNCTION": 1, "NAME": 3000},
        "edges": {"AST": 3002, "READS": 5},
        "diagnostics": {"error": 1},
    }


def test_what_is_as_it_was_is_told_from_the_record() -> None:
    assert short_text(outcome(*TABLES)) == "The code graph has 1,201 files and 3,003 nodes."


def test_questions_go_to_where_the_graph_is() -> None:
    place = ProjectPlace(graph=True, warehouse=Path("my lake"), flags={})
    first, *asked = questions_text(Path("a b"), place).splitlines()
    assert first == "Ask it:"
    assert asked == [
        *(f"  headwater query \"{each}\" 'a b' --graph --warehouse 'my lake'" for each in EXAMPLE_QUESTIONS),
        "  headwater ask hotspots --path 'a b' --warehouse 'my lake'",
        "  headwater ask cycles --path 'a b' --warehouse 'my lake'",
    ]
    assert all(all(each[0] == "[" for each in QUESTIONS[name].takes) for name in ("hotspots", "cycles"))
