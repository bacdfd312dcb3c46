"""What an answer looks like: lines for a person, a document for a program, and drawings.

Not here: how a question is answered.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from headwater.cli.render import counted, printable
from headwater.inquiry import Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from headwater.inquiry import Answer, Finding

# Whoever is at least as sure as this needs no number.
_SURE = 0.8
_OUTSIDE = "(outside)"
_INDENT = "  "
# What Mermaid takes as it is inside of quotes; all else is written by its number.
_PLAIN = re.compile(r"[^\w .:/(),=@-]", re.ASCII)


def answer_lines(answer: Answer, limit: int | None, *, quiet: bool = False) -> Iterator[str]:
    """An answer for a person: a line for each finding, below the heading of its section.

    Args:
        answer: what is told.
        limit: the most findings; all if None.
        quiet: without the number of findings and the notes.
    """
    told = answer.findings[:limit]
    columns = [_cells(each, numbered=len({each.depth for each in told}) > 1) for each in told]
    widths = [max(map(len, column)) for column in zip(*columns, strict=True)]
    rows = zip(told, columns, strict=True)
    for section, found in groupby(rows, key=lambda row: row[0].section):
        if section:
            yield printable(section)
        for _, cells in found:
            line = _INDENT.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            yield (_INDENT if section else "") + line.rstrip()
    if quiet:
        return
    hidden = len(answer.findings) - len(told)
    more = f", {len(told):,} of them shown: --limit 0 shows all" if hidden else ""
    count = counted(len(answer.findings), "finding") if answer.findings else "nothing found"
    yield printable(f"{answer.question} {answer.subject}".strip()) + f": {count}{more}"
    yield from map(printable, answer.notes)


def answer_document(answer: Answer, limit: int | None) -> dict[str, Any]:
    """An answer as `ask --json` prints it; `count` is that of all findings."""
    document = asdict(answer)
    return {
        "question": answer.question,
        "subject": answer.subject,
        "count": len(answer.findings),
        "findings": document["findings"][:limit],
        "links": document["links"],
        "notes": document["notes"],
    }


def answer_dot(answer: Answer, limit: int | None) -> str:
    """An answer for Graphviz."""
    links = _links(answer)[:limit]
    lines = [f"digraph {_quoted(answer.question)} {{", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f"  {_quoted(each)};" for each in _drawn(answer, links)]
    for each in links:
        label = f" [label={_quoted(each.label)}]" if each.label else ""
        lines.append(f"  {_quoted(each.source)} -> {_quoted(each.target)}{label};")
    return "\n".join([*lines, "}"]) + "\n"


def answer_mermaid(answer: Answer, limit: int | None) -> str:
    """An answer for Mermaid, as pages of Markdown show it."""
    links = _links(answer)[:limit]
    numbers = {name: f"n{number}" for number, name in enumerate(_drawn(answer, links))}
    lines = ["flowchart LR", *(f'  {number}["{_escaped(name)}"]' for name, number in numbers.items())]
    lines += [f"  {_arrow(each, numbers)}" for each in links]
    return "\n".join(lines) + "\n"


def _cells(finding: Finding, *, numbered: bool) -> list[str]:
    where = _OUTSIDE if finding.path is None else printable(finding.path)
    if finding.path is not None and finding.line is not None:
        where += f":{finding.line}"
    doubt = "" if finding.confidence is None or finding.confidence >= _SURE else f"({finding.confidence:.2f})"
    reason = printable(finding.reason or finding.kind)
    number = [f"{finding.depth:>2}"] if numbered else []
    return [*number, where, printable(finding.name), f"{reason} {doubt}".strip()]


def _links(answer: Answer) -> list[Link]:
    """The arrows that are drawn; from what was found to what was asked about, if the answer has none."""
    if answer.links:
        return list(answer.links)
    own = [
        Link(source=each.name, target=answer.subject, label=each.reason)
        for each in answer.findings
        if each.name != answer.subject
    ]
    return list(dict.fromkeys(own))


def _drawn(answer: Answer, links: Iterable[Link]) -> list[str]:
    """All names of a drawing; what was asked about, if nothing leads anywhere."""
    names = list(dict.fromkeys(name for each in links for name in (each.source, each.target)))
    return names or [answer.subject or answer.question]


def _quoted(text: str) -> str:
    return json.dumps(printable(text), ensure_ascii=False)


def _arrow(link: Link, numbers: Mapping[str, str]) -> str:
    label = f'|"{_escaped(link.label)}"|' if link.label else ""
    return f"{numbers[link.source]} -->{label} {numbers[link.target]}"


def _escaped(text: str) -> str:
    return _PLAIN.sub(lambda sign: f"#{ord(sign[0])};", printable(text))
