"""Repositories in memory as questions see them, without a build, and answers as lines to compare."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from questions_sample import SCHEMA
from resolution_sample import resolved

from headwater.cpg.questions import Code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from resolution_sample import Entry

    from headwater.cpg.questions import Answer

SMALL_REPO = Path(__file__).parents[3] / "examples" / "small_repo"


def code_of(files: Mapping[str, str | bytes] | str) -> Code:
    """The definitions of some sources; one source is that of `main.py`."""
    return Code.of(definitions_table(files))


def definitions_table(files: Mapping[str, str | bytes] | str) -> pa.Table:
    """The rows that a query for definitions gives of them."""
    found = resolved(files)
    told = {each["def_id"]: each for _, each in found.entries("effects")}
    incoming: defaultdict[str, list[Entry]] = defaultdict(list)
    for _, each in found.entries("links"):
        names = ("edge_kind", "line", "label", "resolution")
        edge = {name: each[name] for name in names} | {"confidence": each["confidence"] / 1000}
        incoming[each["target_id"]].append(edge | {"other_id": each["source_id"]})
    rows: list[Entry] = []
    for path, each in found.entries("definitions"):
        effects = told.get(each["node_id"], {})
        rows.append(_row(each["node_id"], incoming, each | effects | {"path": path}))
    for path, each in found.entries("names"):
        if each["name"] is not None and each["def_id"] is None:
            dotted = each["symbol"].split(" ", 4)[4].replace("`", "").replace("().", ".")
            name = dotted.replace("/", ".").replace("#", ".").removesuffix(".")
            own = {"kind": "variable", "name": name, "path": path, "end_line": each["line"]}
            rows.append(_row(each["binding_id"], incoming, each | own))
    for _, each in found.entries("externals"):
        if each["kind"] == "EXTERNAL_SYMBOL":
            rows.append(_row(each["node_id"], incoming, each | {"kind": "external"}))
    return pa.Table.from_pylist(rows, SCHEMA)


def _row(node_id: str, incoming: Mapping[str, list[Entry]], known: Entry) -> Entry:
    empty: Entry = {name: [] for name in ("own_effects", "effects", "raises")}
    row: Entry = {
        "is_test": False,
        **empty,
        **known,
        "node_id": node_id,
        "incoming": incoming.get(node_id, []),
    }
    row["dist"] = row.get("dist") or row["symbol"].split(" ")[2]
    return {name: row.get(name) for name in SCHEMA.names}


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
