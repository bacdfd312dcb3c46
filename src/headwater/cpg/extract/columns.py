"""The columns of a file's nodes, made column by column from the rows of a walk.

Not here: the walk itself; a node's place in text and tree is settled when it comes here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headwater.cpg.extract.evidence import NodeColumns
from headwater.cpg.extract.identity import definition_id, node_ids, parameter_id, text_part
from headwater.cpg.extract.kinds import node_kind_of
from headwater.cpg.extract.naming import NAME_FIELDS, name_spans
from headwater.cpg.extract.properties import properties_of
from headwater.cpg.extract.running import runners_of
from headwater.cpg.extract.walk import AST_CLASSES

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from headwater.cpg.extract.naming import Span
    from headwater.cpg.extract.scanning import Scan
    from headwater.cpg.extract.source import SourceText
    from headwater.cpg.extract.walk import Walk

_KINDS = {kind: node_kind_of(kind) for kind in AST_CLASSES}
_CLASS_NAMES: dict[type[ast.AST], str | None] = {kind: kind.__name__ for kind in AST_CLASSES}
_NAME_FIELDS = {kind: NAME_FIELDS[kind.__name__] for kind in AST_CLASSES if kind.__name__ in NAME_FIELDS}
_KIND_PARTS = {kind: text_part(kind) for kind in sorted({*_KINDS.values(), "FILE", "METHOD"})}
_OUTSIDE = 2  # the file and its module, which no def owns


def build_columns(walk: Walk, source: SourceText, *, size: int, names: tuple[str, str | None]) -> NodeColumns:
    """The columns of a walked file of `size` bytes; `names` are the file's and its module's."""
    nodes, parents, owners, fields, indexes, steps = zip(*walk.rows, strict=True)
    kinds = _kinds_of(walk, nodes)
    ids = node_ids([_KIND_PARTS[kind] for kind in kinds], [owner.digest for owner in owners], steps)
    _identify_definitions(walk, kinds, ids)
    own_names = _names_of(nodes, names)
    places = _places_of(nodes)
    starts, ends = _offsets_of(places, walk.scan.starts)
    name_starts, name_ends = _name_offsets(walk.scan, nodes, own_names, list(zip(starts, ends, strict=True)))
    outside = len(nodes[:_OUTSIDE])
    return NodeColumns(
        node_id=ids,
        parent=[None, *parents[1:]],
        owner=[*[None] * outside, *runners_of(walk)[outside:]],
        node_kind=kinds,
        ast_kind=[None, *[_CLASS_NAMES[node.__class__] for node in nodes[1:]]],
        name=own_names,
        qualname=_qualnames_of(walk),
        field=[None, *fields[1:]],
        idx=list(indexes),
        bstart=[*[0] * outside, *source.original(starts)[outside:]],
        bend=[*[size] * outside, *source.original(ends)[outside:]],
        line=places[0],
        col=places[1],
        end_line=places[2],
        end_col=places[3],
        name_bstart=_original(source, name_starts),
        name_bend=_original(source, name_ends),
        props=properties_of(nodes),
    )


def _kinds_of(walk: Walk, nodes: Sequence[ast.AST]) -> list[str]:
    kinds = [_KINDS[node.__class__] for node in nodes]
    kinds[0] = "FILE"
    for row in walk.owners:
        if kinds[row] == "FUNCTION" and walk.rows[row][2].is_class:
            kinds[row] = "METHOD"
    return kinds


def _identify_definitions(walk: Walk, kinds: Sequence[str], ids: list[str]) -> None:
    """Give what has a path of its own the id of that path."""
    for row, owner in walk.owners.items():
        ids[row] = definition_id(kinds[row], owner.digest)
    for row, kind in enumerate(kinds):
        if kind == "PARAMETER":
            node, _, owner, *_ = walk.rows[row]
            if owner.row in walk.owners:
                ids[row] = parameter_id(cast("ast.arg", node).arg, owner, walk.file)


def _names_of(nodes: Sequence[ast.AST], outside: tuple[str, str | None]) -> list[str | None]:
    fields = _NAME_FIELDS
    named: list[str | None] = [
        None if (field := fields.get(node.__class__)) is None else getattr(node, field) for node in nodes
    ]
    named[:_OUTSIDE] = outside[: len(nodes)]
    return named


def _qualnames_of(walk: Walk) -> list[str | None]:
    qualnames: list[str | None] = [None] * len(walk.rows)
    for row, owner in walk.owners.items():
        qualnames[row] = owner.qualname or None
    return qualnames


def _places_of(nodes: Sequence[ast.AST]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Lines and columns of starts and ends."""
    placed = cast("Sequence[ast.Name]", nodes)
    return (
        [node.lineno for node in placed],
        [node.col_offset for node in placed],
        cast("list[int]", [node.end_lineno for node in placed]),
        cast("list[int]", [node.end_col_offset for node in placed]),
    )


def _offsets_of(
    places: tuple[list[int], list[int], list[int], list[int]], line_starts: Sequence[int]
) -> tuple[list[int], list[int]]:
    lines, columns, end_lines, end_columns = places
    return (
        [line_starts[line - 1] + column for line, column in zip(lines, columns, strict=True)],
        [line_starts[line - 1] + column for line, column in zip(end_lines, end_columns, strict=True)],
    )


def _name_offsets(
    scan: Scan, nodes: Sequence[ast.AST], names: list[str | None], spans: list[Span]
) -> tuple[list[int | None], list[int | None]]:
    found = name_spans(scan, nodes, [*[None] * len(names[:_OUTSIDE]), *names[_OUTSIDE:]], spans)
    return (
        [None if span is None else span[0] for span in found],
        [None if span is None else span[1] for span in found],
    )


def _original(source: SourceText, offsets: list[int | None]) -> list[int | None]:
    """Offsets into the file where there are any."""
    if not source.shift and source.origins is None:
        return offsets
    there = iter(source.original([offset for offset in offsets if offset is not None]))
    return [None if offset is None else next(there) for offset in offsets]
