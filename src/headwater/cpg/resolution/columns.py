"""The columns of what is resolved, and what is asked of evidence for them.

Nodes of other files cannot be told by numbers, so all are told by their ids here. A `def_id` is the node of
what a symbol means: a definition, or what stands for something outside. A `call` is a number in `calls`; a
confidence is told in thousandths. Not here: what any of it means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.nested import TEXTS, schema_of, struct_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT, _NUMBER = "STRING", "INT"

# Edges between definitions, and those of one of them, as what is at the other end.
LINKS: Mapping[str, str] = {
    **dict.fromkeys(("edge_kind", "source_id", "target_id"), _TEXT),
    "line": _NUMBER,
    **dict.fromkeys(("label", "resolution"), _TEXT),
    "confidence": _NUMBER,
}
EDGE: Mapping[str, str] = {
    **dict.fromkeys(("edge_kind", "other_id"), _TEXT),
    "line": _NUMBER,
    **dict.fromkeys(("label", "resolution"), _TEXT),
    "confidence": _NUMBER,
}
LISTS: Mapping[str, Mapping[str, str]] = {
    "definitions": {
        **dict.fromkeys(("node_id", "kind", "name", "symbol"), _TEXT),
        **dict.fromkeys(("line", "end_line"), _NUMBER),
        "is_test": "BOOLEAN",
    },
    "names": {**dict.fromkeys(("binding_id", "name", "symbol", "def_id"), _TEXT), "line": _NUMBER},
    "references": {
        **dict.fromkeys(("node_id", "symbol", "def_id", "resolver", "resolution"), _TEXT),
        "confidence": _NUMBER,
    },
    "imports": {
        **dict.fromkeys(("node_id", "resolved_module", "resolved_file_id", "symbol"), _TEXT),
        **dict.fromkeys(("def_id", "dist", "resolution"), _TEXT),
        "chain": TEXTS,
    },
    "exports": dict.fromkeys(("name", "symbol", "def_id", "via"), _TEXT),
    "bases": {"class_id": _TEXT, "base_idx": _NUMBER, "symbol": _TEXT, "def_id": _TEXT},
    "orders": {"class_id": _TEXT, "pos": _NUMBER, "symbol": _TEXT, "def_id": _TEXT},
    "overrides": {"node_id": _TEXT, "overridden_id": _TEXT, "is_transitive": "BOOLEAN"},
    "calls": {
        **dict.fromkeys(("node_id", "caller_id", "dispatch", "slot", "resolution", "reason"), _TEXT),
        "confidence": _NUMBER,
    },
    "targets": {
        "call": _NUMBER,
        **dict.fromkeys(("symbol", "def_id", "name", "resolver"), _TEXT),
        **dict.fromkeys(("confidence", "rank", "ordinal"), _NUMBER),
    },
    "arguments": {
        **dict.fromkeys(("call", "idx"), _NUMBER),
        **dict.fromkeys(("node_id", "keyword", "star", "param_id", "status"), _TEXT),
    },
    "types": {
        **dict.fromkeys(("node_id", "repr", "form", "origin_symbol"), _TEXT),
        "args": TEXTS,
    },
    "type_facts": {
        **dict.fromkeys(("node_id", "type_id", "source"), _TEXT),
        "confidence": _NUMBER,
        "is_winner": "BOOLEAN",
    },
    "flows": {
        **dict.fromkeys(("src_id", "dst_id", "kind", "access_path"), _TEXT),
        "preserves_value": "BOOLEAN",
        **dict.fromkeys(("call", "confidence", "ordinal"), _NUMBER),
    },
    "summaries": {
        "def_id": _TEXT,
        "param_idx": _NUMBER,
        **dict.fromkeys(("access_path", "to", "to_path"), _TEXT),
        "preserves_value": "BOOLEAN",
    },
    "effects": {"def_id": _TEXT, **dict.fromkeys(("own_effects", "effects", "raises"), TEXTS)},
    "stubs": dict.fromkeys(("node_id", "source_id"), _TEXT),
    "tests": dict.fromkeys(("node_id", "tested_id"), _TEXT),
    "externals": dict.fromkeys(("node_id", "kind", "symbol", "name", "dist", "version", "dist_id"), _TEXT),
    "things": {
        **dict.fromkeys(("node_id", "kind", "name", "symbol"), _TEXT),
        **dict.fromkeys(("line", "end_line"), _NUMBER),
        "is_test": "BOOLEAN",
        **dict.fromkeys(("dist", "version"), _TEXT),
        **dict.fromkeys(("own_effects", "effects", "raises"), TEXTS),
        **dict.fromkeys(("outgoing", "incoming"), f"ARRAY<{struct_of(EDGE)}>"),
    },
    "counts": {"of": _TEXT, "kind": _TEXT, "count": _NUMBER},
}
RESOLUTION_COLUMNS = f"path STRING, file_id STRING, module STRING, {schema_of(LISTS)}"
# Columns as they are stored, or single fields of them: what is worked out per entry is worked out in batches
# of Arrow, since functions over entries take Spark longer than to read the table.
RESOLVED_FROM: Mapping[str, str] = {
    "path": "path",
    "file_id": "file_id",
    "is_test": "is_test",
    "node_ids": "node_ids",
    "lines": "nodes.line",
    "ends": "nodes.end_line",
    "owners": "nodes.owner",
    "scope_nodes": "scopes.node",
    "binding_ids": "bindings.binding_id",
    "binding_scopes": "bindings.scope",
    "binding_names": "bindings.name",
    "binding_kinds": "bindings.kind",
    "resolves": "bindings.resolves_to",
    "sites": "sites",
    "import_nodes": "imports.node",
    "import_names": "imports.name",
    "imports_for_types": "imports.is_type_checking",
    "imports_late": "imports.is_lazy",
    "call_nodes": "calls.node",
    "facts": "values",
    "hints": "hints",
}
