"""One file's evidence as one nested row: what the extractors found, in the shape that Delta keeps.

Not here: finding it; the extractors do that, without Arrow and without Spark.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from headwater.cpg.extract import NodeColumns, extract_syntax
from headwater.digest import digest_of, digest_of_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cpg.extract import Diagnostic

_NODE_TYPES: Mapping[str, tuple[str, pa.DataType]] = {
    **dict.fromkeys(
        ("node_id", "parent_id", "owner_def_id", "node_kind", "ast_kind", "name", "qualname", "field"),
        ("STRING", pa.string()),
    ),
    "idx": ("INT", pa.int32()),
    **dict.fromkeys(("bstart", "bend"), ("BIGINT", pa.int64())),
    **dict.fromkeys(("line", "col", "end_line", "end_col"), ("INT", pa.int32())),
    **dict.fromkeys(("name_bstart", "name_bend"), ("BIGINT", pa.int64())),
    "props": ("MAP<STRING, STRING>", pa.map_(pa.string(), pa.string())),
}
NODE_COLUMNS = tuple(field.name for field in fields(NodeColumns))
_NODE = ", ".join(f"{name}: {_NODE_TYPES[name][0]}" for name in NODE_COLUMNS)
_DIAGNOSTIC = (
    "stage: STRING, source: STRING, code: STRING, severity: STRING, message: STRING, "
    "bstart: BIGINT, bend: BIGINT"
)
EVIDENCE_COLUMNS = (
    "file_id STRING, module_fqn STRING, encoding STRING, newline STRING, language STRING, is_test BOOLEAN, "
    "line_starts ARRAY<BIGINT>, line_count INT, parse_status STRING, "
    f"nodes ARRAY<STRUCT<{_NODE}>>, diagnostics ARRAY<STRUCT<{_DIAGNOSTIC}>>"
)

_OF_NOTEBOOKS = frozenset({"text_bytes", "notebook_cell_map"})  # which the pipeline does not read


def evidence_of(repo_id: str, path: str, content: bytes) -> Mapping[str, object]:
    """The values of one row, by the columns of EVIDENCE_COLUMNS."""
    found = extract_syntax(repo_id, path, content)
    facts = {
        each.name: getattr(found.file, each.name)
        for each in fields(found.file)
        if each.name not in _OF_NOTEBOOKS
    }
    facts["line_starts"] = pa.array(found.file.line_starts, pa.int64())
    return facts | {
        "nodes": _node_rows(found.nodes),
        "diagnostics": [_diagnostic_row(each) for each in found.diagnostics],
    }


def extractor_version() -> str:
    """What changes when any file of the extractors does: they belong to an installed package."""
    here = Path(__file__).parent
    files = sorted([Path(__file__), here.parent / "digest.py", *(here / "extract").glob("*.py")])
    return digest_of([[file.name, digest_of_file(file)] for file in files])


def _node_rows(nodes: NodeColumns) -> pa.Array[Any]:
    columns = [
        _maps(nodes.props) if name == "props" else pa.array(getattr(nodes, name), _NODE_TYPES[name][1])
        for name in NODE_COLUMNS
    ]
    return cast("Any", pa.StructArray).from_arrays(columns, NODE_COLUMNS)


def _maps(props: list[dict[str, str] | None]) -> pa.Array[Any]:
    """Most nodes have no properties, so offsets are cheaper than handing over every mapping."""
    offsets: list[int | None] = []
    keys: list[str] = []
    values: list[str] = []
    for each in props:
        offsets.append(None if each is None else len(keys))
        if each:
            keys += each.keys()
            values += each.values()
    return cast("Any", pa.MapArray).from_arrays(pa.array([*offsets, len(keys)], pa.int32()), keys, values)


def _diagnostic_row(diagnostic: Diagnostic) -> dict[str, object]:
    return {each.name: getattr(diagnostic, each.name) for each in fields(diagnostic)}
