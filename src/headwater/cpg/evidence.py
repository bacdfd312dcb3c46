"""One file's evidence as one nested row: what the extractors found, in the shape that Delta keeps.

Every list speaks of nodes by their number in `nodes`; `node_ids` has their ids in the same order, by itself,
so that it can be looked into at no cost. Not here: finding it; the extractors do that, without
Arrow and without Spark.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headwater.cpg.extract import EDGE_KINDS, POINT_KINDS, STEP_KINDS
from headwater.cpg.kinds import CONTAINED_KINDS, STEP_EDGES
from headwater.cpg.laws import violations_of
from headwater.cpg.nested import PAIRS, schema_of, structs_of
from headwater.digest import digest_of, digest_of_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.cpg.extract import Diagnostic, Facts, FileEvidence
    from headwater.cpg.extract.flow import StepColumns
    from headwater.cpg.nested import Columns

# The columns of each list, with their types.
LISTS: Mapping[str, Mapping[str, str]] = {
    "nodes": {
        **dict.fromkeys(("parent", "owner"), "INT"),
        **dict.fromkeys(("node_kind", "ast_kind", "name", "qualname", "field"), "STRING"),
        "idx": "INT",
        **dict.fromkeys(("bstart", "bend"), "BIGINT"),
        **dict.fromkeys(("line", "col", "end_line", "end_col"), "INT"),
        **dict.fromkeys(("name_bstart", "name_bend"), "BIGINT"),
        "props": PAIRS,
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
    "steps": {
        **dict.fromkeys(("source", "target"), "INT"),
        **dict.fromkeys(("kind", "access_path"), "STRING"),
        "preserves_value": "BOOLEAN",
    },
    "values": {**dict.fromkeys(("op", "target", "source"), "INT"), "text": "STRING"},
    "hints": {**dict.fromkeys(("op", "target", "source"), "INT"), "text": "STRING"},
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
EVIDENCE_COLUMNS = f"{_FILE}, {schema_of(LISTS)}"


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
        "steps": _steps(found.steps),
        "values": _all(found.values),
        "hints": _all(found.hints),
        "diagnostics": _diagnostics(found),
        "counts": _counts(nodes, facts, found.steps),
    }
    row |= {name: structs_of(columns[name], kinds) for name, kinds in LISTS.items() if name in columns}
    row["notebook_cell_map"] = _cells(file.notebook_cell_map)
    row["violations"] = violations_of(row)
    return row


def extractor_version() -> str:
    """What changes when any file of the extractors does: they belong to an installed package."""
    return sources_digest(
        "evidence.py", "nested.py", "laws.py", "kinds.py", "../digest.py", "../memory.py", "extract"
    )


def sources_digest(*names: str) -> str:
    """What changes when one of these files changes, or one below these folders; they lie beside this one."""
    here = Path(__file__).parent
    places = [here / name for name in names]
    found = sorted(file for place in places for file in ([place] if place.suffix else place.rglob("*.py")))
    return digest_of([[os.path.relpath(file, here), digest_of_file(file)] for file in found])


def _cells(cells: Sequence[tuple[int, int, int]] | None) -> pa.Array[Any] | None:
    if cells is None:
        return None
    kinds = LISTS["notebook_cell_map"]
    return structs_of({name: [cell[index] for cell in cells] for index, name in enumerate(kinds)}, kinds)


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
        "reaching": {"def_node": facts.defined, "use_node": facts.used},
    }


def _steps(steps: StepColumns) -> Columns:
    kinds = [STEP_KINDS[each] for each in steps.kind]
    return {
        "source": steps.source,
        "target": steps.target,
        "kind": [kind for kind, _ in kinds],
        "access_path": steps.path,
        "preserves_value": [is_same for _, is_same in kinds],
    }


def _counts(nodes: Columns, facts: Mapping[str, Columns], steps: StepColumns) -> Columns:
    """How many nodes and edges of each kind the file has; edges that follow from nodes are edges, too."""
    of_nodes = Counter(nodes["node_kind"])
    of_edges = Counter(facts["edges"]["edge_kind"])
    of_steps = Counter(STEP_KINDS[each][0] for each in steps.kind)
    of_edges += Counter({STEP_EDGES[kind]: n for kind, n in of_steps.items() if kind in STEP_EDGES})
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
