"""The graph of definitions as two tables, nodes and edges: what all forms of it are written from.

Not here: the forms, and files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.graph import repository_id

if TYPE_CHECKING:
    from collections.abc import Collection

DEFINITION_KINDS = ("module", "class", "function", "method", "lambda", "variable", "external")
DEFINITION_EDGES = ("CALLS", "CONTAINS", "IMPORTS", "INHERITS", "OVERRIDES", "REFERENCES_SYMBOL")
_compute = cast("Any", pc)
_THOUSAND = 1000.0
_DEFINITIONS = """
    SELECT node_id AS id, kind, name, symbol, path, line, end_line, is_external,
        coalesce(is_test, false) AS is_test, dist, version,
        nullif(concat_ws(';', effects), '') AS effects, nullif(concat_ws(';', raises), '') AS raises, incoming
    FROM definitions WHERE repo_id = '{repo_id}'
"""
# What an edge is called in the table, and what it is called here, in its order.
_EDGE = {
    "edge_kind": "kind",
    "line": "line",
    "label": "label",
    "resolution": "resolution",
    "confidence": "confidence",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTables:
    """Definitions, in the order of their names, and the edges between them, in the order of where they start.

    Args:
        nodes: id, kind, name, symbol, path, line, end_line, is_external, is_test, dist, version, effects and
            raises.
        edges: source and target, which are ids, kind, line, label, resolution and confidence.
    """

    nodes: pa.Table
    edges: pa.Table


def definitions_query(name: str) -> str:
    """The query whose rows `graph_tables` takes, for the repository of this name."""
    return " ".join(_DEFINITIONS.format(repo_id=repository_id(name)).split())


def graph_tables(
    rows: pa.Table, kinds: Collection[str] = (), *, is_repository_only: bool = False
) -> GraphTables:
    """The nodes and edges of these rows; no edge has an end that is no node.

    Args:
        rows: what the query gave.
        kinds: kinds of definitions, of edges, or of both; of what none is named, all are kept.
        is_repository_only: leave out what is outside of the repository.
    """
    rows = rows.sort_by([("name", "ascending"), ("symbol", "ascending"), ("id", "ascending")])
    edges = _edges(rows)
    nodes = rows.drop_columns(["incoming"])
    if is_repository_only:
        nodes = nodes.filter(_compute.invert(nodes.column("is_external")))
    nodes = _of_kinds(nodes, kinds, DEFINITION_KINDS)
    edges = _of_kinds(edges, kinds, DEFINITION_EDGES)
    for end in ("source", "target"):
        edges = edges.filter(_compute.is_in(edges.column(end), _array(nodes.column("id"))))
    order = ("source", "kind", "line", "target", "label")
    return GraphTables(nodes=nodes, edges=edges.sort_by([(each, "ascending") for each in order]))


def _edges(rows: pa.Table) -> pa.Table:
    lists = _array(rows.column("incoming"))
    found = _compute.list_flatten(lists)
    columns = {
        "source": _compute.struct_field(found, "other_id"),
        "target": _array(rows.column("id")).take(_compute.list_parent_indices(lists)),
        **{own: _compute.struct_field(found, theirs) for theirs, own in _EDGE.items()},
    }
    columns["confidence"] = _compute.divide(_compute.cast(columns["confidence"], pa.float64()), _THOUSAND)
    return pa.table(columns)


def _of_kinds(table: pa.Table, kinds: Collection[str], known: tuple[str, ...]) -> pa.Table:
    wanted = [each for each in known if each in kinds]
    return table.filter(_compute.is_in(table.column("kind"), pa.array(wanted))) if wanted else table


def _array(column: Any) -> Any:
    chunks: list[Any] = column.chunks or [pa.array([], column.type)]
    return pa.concat_arrays(chunks)
