"""One file's evidence as one nested row: what the extractors found, in the shape that Delta keeps.

Every list speaks of nodes by their number in `nodes`; `node_ids` has their ids in the same order, by itself,
so that it can be looked into at no cost. Not here: finding it; the extractors do that, without
Arrow and without Spark.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa

from headwater.cpg.extract import EDGE_KINDS, POINT_KINDS
from headwater.cpg.kinds import CONTAINED_KINDS
from headwater.cpg.laws import violations_of
from headwater.digest import digest_of, digest_of_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.cpg.extract import Diagnostic, Facts, FileEvidence

Columns: TypeAlias = "Mapping[str, Sequence[Any]]"

_PAIRS = "ARRAY<STRUCT<key: STRING, value: STRING>>"
_ARROW: Mapping[str, pa.DataType] = {
    "STRING": pa.string(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    _PAIRS: pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())])),
}
# The columns of each list, with their types.
LISTS: Mapping[str, Mapping[str, str]] = {
    "nodes": {
        **dict.fromkeys(("parent", "owner"), "INT"),
        **dict.fromkeys(("node_kind", "ast_kind", "name", "qualname", "field"), "STRING"),
        "idx": "INT",
        **dict.fromkeys(("bstart", "bend"), "BIGINT"),
        **dict.fromkeys(("line", "col", "end_line", "end_col"), "INT"),
        **dict.fromkeys(("name_bstart", "name_bend"), "BIGINT"),
        "props": _PAIRS,
    },
    "edges": {"edge_kind": "STRING", "src": "INT", "dst": "INT", "label": "STRING", "ordinal": "INT"},
    "counts": {"of": "STRING", "kind": "STRING", "count": "INT"},
    "scopes": {"scope_id": "STRING", "node": "INT", "parent": "INT", "kind": "STRING", "qualpath": "STRING"},
    "bindings": {
        "binding_id": "STRING",
        "scope": "INT",
        **dict.fromkeys(("name", "kind"), "STRING"),
        "resolves_to": "INT",
        "reason": "STRING",
        "is_exported": "BOOLEAN",
        "mangled_name": "STRING",
    },
    "sites": {"binding": "INT", "node": "INT", "role": "STRING", "def_kind": "STRING"},
    "imports": {
        "node": "INT",
        **dict.fromkeys(("kind", "module", "name", "asname"), "STRING"),
        "level": "INT",
        **dict.fromkeys(("is_type_checking", "is_conditional", "is_lazy"), "BOOLEAN"),
    },
    "classes": {
        **dict.fromkeys(("node", "base_idx", "base"), "INT"),
        **dict.fromkeys(("base_text", "metaclass"), "STRING"),
        **dict.fromkeys(("is_dataclass", "is_protocol", "is_enum", "is_abstract"), "BOOLEAN"),
    },
    "calls": {
        **dict.fromkeys(("node", "callee", "receiver"), "INT"),
        **dict.fromkeys(("callee_text", "dispatch"), "STRING"),
        "arg_count": "INT",
        **dict.fromkeys(("has_star", "has_kwstar"), "BOOLEAN"),
    },
    "call_args": {
        **dict.fromkeys(("call", "idx", "node"), "INT"),
        **dict.fromkeys(("keyword", "star"), "STRING"),
    },
    "points": {
        **dict.fromkeys(("def_node", "node"), "INT"),
        "kind": "STRING",
        **dict.fromkeys(("block", "ord"), "INT"),
        "is_dead": "BOOLEAN",
        **dict.fromkeys(("idom", "ipdom"), "INT"),
    },
    "flow": {"src": "INT", "dst": "INT", "kind": "STRING"},
    "control": {"point": "INT", "on_point": "INT", "branch": "STRING"},
    "codes": {
        "node": "INT",
        "kind": "STRING",
        **dict.fromkeys(("arg_count", "local_count", "cell_count", "free_count"), "INT"),
        **dict.fromkeys(("stack_size", "instructions", "line_count"), "INT"),
    },
    "reaching": {"def_node": "INT", "use_node": "INT"},
    "notebook_cell_map": {"cell": "INT", "bstart": "BIGINT", "bend": "BIGINT"},
    "diagnostics": {
        **dict.fromkeys(("stage", "source", "code", "severity", "message"), "STRING"),
        **dict.fromkeys(("bstart", "bend"), "BIGINT"),
    },
}
_PLACE = frozenset({"bstart", "bend", "line", "col", "end_line", "end_col"})
_FILE = (
    "violations ARRAY<STRUCT<issue: STRING, detail: STRING>>, "
    "file_id STRING, module_fqn STRING, encoding STRING, newline STRING, language STRING, is_test BOOLEAN, "
    "line_starts ARRAY<BIGINT>, line_count INT, parse_status STRING, text_bytes BIGINT, "
    "node_ids ARRAY<STRING>"
)
EVIDENCE_COLUMNS = ", ".join(
    [
        _FILE,
        *(
            f"{name} ARRAY<STRUCT<{', '.join(f'{column}: {kind}' for column, kind in columns.items())}>>"
            for name, columns in LISTS.items()
        ),
    ]
)


def evidence_of(found: FileEvidence) -> Mapping[str, object]:
    """The values of one row, by the columns of EVIDENCE_COLUMNS."""
    file = found.syntax.file
    row: dict[str, object] = {each.name: getattr(file, each.name) for each in fields(file)}
    row["line_starts"] = pa.array(file.line_starts, pa.int64())
    ids = found.syntax.nodes.node_id + found.facts.added.node_id
    row["node_ids"] = pa.array(ids, pa.string())
    nodes, facts = _nodes(found), _of_facts(found.facts)
    columns = {
        "nodes": nodes,
        **facts,
        "codes": _all(found.codes),
        "diagnostics": _diagnostics(found),
        "counts": _counts(nodes, facts),
    }
    row |= {name: _rows(columns[name], kinds) for name, kinds in LISTS.items() if name in columns}
    row["notebook_cell_map"] = _cells(file.notebook_cell_map)
    row["violations"] = violations_of(row)
    return row


def extractor_version() -> str:
    """What changes when any file of the extractors does: they belong to an installed package."""
    here = Path(__file__).parent
    own = (here / "evidence.py", here / "laws.py", here / "kinds.py", here.parent / "digest.py")
    files = sorted([*own, *(here / "extract").rglob("*.py")])
    return digest_of([[str(file.relative_to(here.parent)), digest_of_file(file)] for file in files])


def _rows(columns: Columns, kinds: Mapping[str, str]) -> pa.Array[Any]:
    arrays = [pa.array(columns[name], _ARROW[kind]) for name, kind in kinds.items() if kind != _PAIRS]
    if "props" in kinds:
        arrays.append(_pairs(columns["props"]))
    return cast("Any", pa.StructArray).from_arrays(arrays, list(kinds))


def _cells(cells: Sequence[tuple[int, int, int]] | None) -> pa.Array[Any] | None:
    if cells is None:
        return None
    kinds = LISTS["notebook_cell_map"]
    return _rows({name: [cell[index] for cell in cells] for index, name in enumerate(kinds)}, kinds)


def _pairs(props: Sequence[dict[str, str] | None]) -> pa.Array[Any]:
    """Most nodes have no properties, so offsets are cheaper than handing over every mapping."""
    offsets: list[int | None] = []
    keys: list[str] = []
    values: list[str] = []
    for each in props:
        offsets.append(None if each is None else len(keys))
        if each:
            keys += each.keys()
            values += each.values()
    pairs = cast("Any", pa.StructArray).from_arrays(
        [pa.array(keys, pa.string()), pa.array(values, pa.string())], ["key", "value"]
    )
    return cast("Any", pa.ListArray).from_arrays(pa.array([*offsets, len(keys)], pa.int32()), pairs)


def _nodes(found: FileEvidence) -> Columns:
    """The nodes of the tree, then those that are in none; these have the place of the node they are about."""
    tree, added = found.syntax.nodes, found.facts.added
    missing = [None] * len(added.node_id)
    own = {each.name: getattr(added, each.name) for each in fields(added)}
    columns: dict[str, list[Any]] = {}
    for name in LISTS["nodes"]:
        column = getattr(tree, name)
        if name in own:
            more = own[name]
        elif name in _PLACE:
            more = [None if of is None else column[of] for of in added.of]
        else:
            more = missing
        columns[name] = column + more
    for number, span in enumerate(added.span, len(tree.node_id)):
        if span is not None:
            columns["bstart"][number], columns["bend"][number] = span
            columns["line"][number] = bisect_right(found.syntax.file.line_starts, span[0])
    return columns


def _of_facts(facts: Facts) -> dict[str, Columns]:
    found, scopes, flow = facts.relations, facts.scopes, facts.flow
    edges, calls, points = found.relations, found.calls, flow.points
    return {
        "edges": {"edge_kind": edges.kind, **_all(edges)},
        "scopes": {"scope_id": facts.scope_ids, **_all(scopes.scopes)},
        "bindings": {"binding_id": facts.binding_ids, **_all(scopes.bindings)},
        "sites": _all(scopes.sites),
        "imports": _all(found.imports),
        "classes": _all(found.classes),
        "calls": _all(calls),
        "call_args": {**_all(found.arguments), "call": [calls.node[each] for each in found.arguments.call]},
        "points": {
            **_all(points),
            "def_node": points.def_row,
            "node": facts.places,
            "kind": [POINT_KINDS[kind] for kind in points.kind],
        },
        "flow": {**_all(flow.edges), "kind": [EDGE_KINDS[kind] for kind in flow.edges.kind]},
        "control": {
            "point": flow.control.point,
            "on_point": flow.control.on,
            "branch": [EDGE_KINDS[kind] for kind in flow.control.branch],
        },
        "codes": {
            "node": "INT",
            "kind": "STRING",
            **dict.fromkeys(("arg_count", "local_count", "cell_count", "free_count"), "INT"),
            **dict.fromkeys(("stack_size", "instructions", "line_count"), "INT"),
        },
        "reaching": {"def_node": facts.defined, "use_node": facts.used},
    }


def _counts(nodes: Columns, facts: Mapping[str, Columns]) -> Columns:
    """How many nodes and edges of each kind the file has; edges that follow from nodes are edges, too."""
    of_nodes = Counter(nodes["node_kind"])
    of_edges = Counter(facts["edges"]["edge_kind"])
    of_edges["AST"] = len(nodes["parent"]) - nodes["parent"].count(None)
    of_edges["CONTAINS"] = sum(of_nodes[kind] for kind in CONTAINED_KINDS)
    rows = [
        (of, *row)
        for of, counted in (("node", of_nodes), ("edge", of_edges))
        for row in sorted(counted.items())
    ]
    return dict(zip(LISTS["counts"], zip(*rows, strict=True), strict=True))


def _all(columns: Any) -> dict[str, Sequence[Any]]:
    return {each.name: getattr(columns, each.name) for each in fields(columns)}


def _diagnostics(found: FileEvidence) -> Columns:
    said: Sequence[Diagnostic] = (*found.syntax.diagnostics, *found.facts.said)
    return {name: [getattr(each, name) for each in said] for name in LISTS["diagnostics"]}
