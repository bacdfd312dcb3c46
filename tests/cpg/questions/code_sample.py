"""Repositories in memory as questions see them, without a build, and answers as lines to compare."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from questions_sample import SCHEMA
from resolution_sample import resolved

from headwater.cpg.questions import Code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cpg.questions import Answer

SMALL_REPO = Path(__file__).parents[3] / "examples" / "small_repo"


def code_of(files: Mapping[str, str | bytes] | str) -> Code:
    """The definitions of some sources; one source is that of `main.py`."""
    return Code.of(definitions_table(files))


def definitions_table(files: Mapping[str, str | bytes] | str) -> pa.Table:
    """The rows that a query for definitions gives of them."""
    rows = [
        {
            name: path if name == "path" and each["kind"] != "external" else each.get(name)
            for name in SCHEMA.names
        }
        for path, each in resolved(files).entries("things")
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


@cache
def small_repo() -> Code:
    """The small repository among the examples."""
    return code_of(
        {
            file.relative_to(SMALL_REPO).as_posix(): file.read_bytes()
            for file in sorted(SMALL_REPO.rglob("*.py"))
        }
    )


def lines(answer: Answer) -> list[str]:
    """An answer as text: places, names and reasons, with headings where there are some."""
    return [
        " ".join(
            [
                *([f"[{each.section}]"] if each.section else []),
                f"{each.path or '-'}:{each.line or '-'}",
                each.name,
                *([each.reason] if each.reason else []),
                *([f"+{each.depth}"] if each.depth > 1 else []),
            ]
        )
        for each in answer.findings
    ]


def arrows(answer: Answer) -> list[str]:
    """The links of an answer."""
    return [f"{each.source} -> {each.target}" for each in answer.links]


def row_of(code: Code, name: str) -> int:
    """The number of a definition by its dotted name."""
    return code.names.index(name)
