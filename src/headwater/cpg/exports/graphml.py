"""The graph of definitions as GraphML: one XML file with typed keys, for Gephi, yEd, Cytoscape and libraries.

Not here: which nodes and edges there are.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, cast
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.cpg.exports.tables import GraphTables

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""
_TAIL = "  </graph>\n</graphml>\n"
_ENDS = ("id", "source", "target")
# What XML 1.0 cannot hold, however it is written.
_UNSPEAKABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INSTEAD = "\ufffd"
# A parser makes a line end of a bare return, so it is written by its number.
_BY_NUMBER = {"\r": "&#13;"}


def graphml_of(tables: GraphTables) -> Iterator[str]:
    """The file, piece by piece. What XML cannot hold is replaced by U+FFFD; what is null is not there."""
    yield _HEAD
    for scope, table in (("node", tables.nodes), ("edge", tables.edges)):
        for name, kind in _keys(table).items():
            yield f'  <key id="{scope}_{name}" for="{scope}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '  <graph id="definitions" edgedefault="directed">\n'
    nodes = (
        f"    <node id={_quoted(row['id'])}>{_data('node', row)}</node>\n" for row in _rows(tables.nodes)
    )
    edges = (
        f"    <edge source={_quoted(row['source'])} target={_quoted(row['target'])}>"
        f"{_data('edge', row)}</edge>\n"
        for row in _rows(tables.edges)
    )
    yield from chain(nodes, edges)
    yield _TAIL


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def _keys(table: pa.Table) -> dict[str, str]:
    fields = cast("Any", table.schema)
    return {field.name: _type(field.type) for field in fields if field.name not in _ENDS}


def _type(kind: Any) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "int"
    return "double" if pa.types.is_floating(kind) else "string"


def _data(scope: str, row: dict[str, Any]) -> str:
    return "".join(
        f'<data key="{scope}_{name}">{_text(value)}</data>'
        for name, value in row.items()
        if name not in _ENDS and value is not None
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(_speakable(str(value)), _BY_NUMBER)


def _quoted(text: str) -> str:
    return quoteattr(_speakable(text))


def _speakable(text: str) -> str:
    return _UNSPEAKABLE.sub(_INSTEAD, text)
