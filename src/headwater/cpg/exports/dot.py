"""The graph of definitions in DOT, the language of Graphviz, with a box around each module.

Not here: which nodes and edges there are.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.cpg.exports.tables import GraphTables

_SHAPES = {"module": "folder", "class": "component", "variable": "note", "external": "ellipse"}
_NULL = "\x00"


def dot_of(tables: GraphTables) -> Iterator[str]:
    """The file, piece by piece: a node is labelled by its dotted name, an edge by its kind."""
    yield "digraph definitions {\n  rankdir=LR;\n  node [shape=box];\n"
    nodes = sorted(tables.nodes.to_pylist(), key=lambda row: (row["path"] or "", row["name"], row["id"]))
    for place, (path, inside) in enumerate(groupby(nodes, key=lambda row: row["path"])):
        if path is None:
            yield from (f"  {_node(row)}\n" for row in inside)
            continue
        yield f"  subgraph cluster_{place} {{\n    label={_quoted(path)};\n"
        yield from (f"    {_node(row)}\n" for row in inside)
        yield "  }\n"
    for batch in tables.edges.to_batches(max_chunksize=10_000):
        yield from (f"  {_edge(row)}\n" for row in batch.to_pylist())
    yield "}\n"


def _node(row: dict[str, Any]) -> str:
    shape = _SHAPES.get(row["kind"])
    looks = f", shape={shape}" if shape else ""
    style = ", style=dashed" if row["is_external"] else ""
    return f"{_quoted(row['id'])} [label={_quoted(row['name'])}{looks}{style}];"


def _edge(row: dict[str, Any]) -> str:
    label = f"{row['kind']} ({row['label']})" if row["label"] else row["kind"]
    return f"{_quoted(row['source'])} -> {_quoted(row['target'])} [label={_quoted(label)}];"


def _quoted(text: str) -> str:
    r"""A quoted string that is drawn as it is: no escape of Graphviz, no line end.

    >>> _quoted('a "b" c\\n')
    '"a \\"b\\" c\\\\n"'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace(_NULL, "\ufffd")
    return '"' + "\\n".join(escaped.splitlines()) + '"'
