"""Answers as lines, documents and drawings: values in, texts out."""

from __future__ import annotations

from dataclasses import replace

from headwater.cli.answers import answer_document, answer_dot, answer_lines, answer_mermaid
from headwater.cpg import Answer, Finding, Link

HOSTILE = 'a\x1b[31m"]\n-->'
PLAIN = Answer(
    question="callers",
    subject="shop.total",
    findings=(
        Finding(name="shop.pay", kind="function", path="shop.py", line=7, reason="calls", confidence=1.0),
        Finding(
            name="web.views.cart",
            kind="function",
            path="web/views.py",
            line=31,
            reason="calls",
            confidence=0.55,
        ),
        Finding(name="json.dumps", kind="external", path=None, line=None),
    ),
    links=(Link(source="shop.pay", target="shop.total", label="calls"),),
    notes=("One more is in a file that does not parse.",),
)
NOTHING = Answer(question="dead", subject="", notes=("Nothing is unused.",))


def lines_of(answer: Answer, limit: int | None = None, *, quiet: bool = False) -> list[str]:
    return list(answer_lines(answer, limit, quiet=quiet))


def test_a_finding_is_a_line_with_its_place_and_only_doubt_has_a_number() -> None:
    assert lines_of(PLAIN) == [
        "shop.py:7        shop.pay        calls",
        "web/views.py:31  web.views.cart  calls (0.55)",
        "(outside)        json.dumps      external",
        "callers shop.total: 3 findings",
        "One more is in a file that does not parse.",
    ]
    assert lines_of(PLAIN, quiet=True) == lines_of(PLAIN)[:3]


def test_what_a_limit_hides_is_told() -> None:
    assert lines_of(PLAIN, 1)[:2] == [
        "shop.py:7  shop.pay  calls",
        "callers shop.total: 3 findings, 1 of them shown: --limit 0 shows all",
    ]
    assert lines_of(NOTHING) == ["dead: nothing found", "Nothing is unused."]


def test_sections_have_headings_and_steps_have_numbers() -> None:
    first, second, third = PLAIN.findings
    found = (
        replace(first, section="calls", depth=1),
        replace(second, section="calls", depth=2),
        replace(third, section="uses", depth=10),
    )
    assert lines_of(replace(PLAIN, findings=found), quiet=True) == [
        "calls",
        "   1  shop.py:7        shop.pay        calls",
        "   2  web/views.py:31  web.views.cart  calls (0.55)",
        "uses",
        "  10  (outside)        json.dumps      external",
    ]


def test_names_cannot_steer_a_terminal_or_leave_their_quotes() -> None:
    finding = Finding(name=HOSTILE, kind="module", path=HOSTILE, line=1, reason=HOSTILE, section=HOSTILE)
    link = Link(source=HOSTILE, target="b", label=HOSTILE)
    hostile = Answer(question="defs", subject=HOSTILE, findings=(finding,), links=(link,), notes=(HOSTILE,))
    assert all(line.isprintable() for line in lines_of(hostile))
    shown = 'a\\\\x1b[31m\\"]\\\\n-->'
    assert answer_dot(hostile, None).splitlines()[-2] == f'  "{shown}" -> "b" [label="{shown}"];'
    escaped = "a#92;x1b#91;31m#34;#93;#92;n--#62;"
    assert answer_mermaid(hostile, None).splitlines() == [
        "flowchart LR",
        f'  n0["{escaped}"]',
        '  n1["b"]',
        f'  n0 -->|"{escaped}"| n1',
    ]


def test_drawings_show_links_else_what_was_found_for_what() -> None:
    assert answer_dot(PLAIN, None).splitlines()[3:] == [
        '  "shop.pay";',
        '  "shop.total";',
        '  "shop.pay" -> "shop.total" [label="calls"];',
        "}",
    ]
    bare = answer_mermaid(replace(PLAIN, links=()), 1).splitlines()
    assert bare[1:] == ['  n0["shop.pay"]', '  n1["shop.total"]', '  n0 -->|"calls"| n1']
    assert answer_mermaid(NOTHING, None) == 'flowchart LR\n  n0["dead"]\n'


def test_a_document_counts_all_and_shows_what_is_wanted() -> None:
    document = answer_document(PLAIN, 1)
    assert (document["count"], len(document["findings"])) == (3, 1)
    assert document["findings"][0]["path"] == "shop.py"
    assert list(document["links"]) == [{"source": "shop.pay", "target": "shop.total", "label": "calls"}]
