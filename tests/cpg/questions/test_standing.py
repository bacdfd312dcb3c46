"""Lines of answers."""

from __future__ import annotations

from code_sample import row_of, small_repo

from headwater.cpg.questions import Finding, Link
from headwater.cpg.questions.standing import each_once, finding, link, site, standing, subject_of


def test_a_line_stands_where_the_edge_does() -> None:
    code = small_repo()
    find = row_of(code, "library.books.Catalogue.find")
    edge = min(code.into(find, "CALLS"), key=lambda each: standing(code, each))
    assert site(code, edge, edge.source, "calls it", section="here", depth=2) == Finding(
        name="library.cli.find",
        kind="function",
        path="library/cli.py",
        line=20,
        reason="calls it",
        section="here",
        depth=2,
        confidence=0.98,
    )
    assert link(code, edge) == Link(
        source="library.cli.find", target="library.books.Catalogue.find", label="calls"
    )
    assert subject_of(code, [find, find]) == "library.books.Catalogue.find"


def test_what_is_outside_has_no_place() -> None:
    code = small_repo()
    found = finding(code, row_of(code, "builtins.print"), "why")
    assert (found.path, found.line, found.reason) == (None, None, "why")
    assert each_once([found, found]) == (found,)
