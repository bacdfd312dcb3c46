"""Sound evidence breaks no law; one thing wrong breaks the law that is about it, and no other."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.evidence import LISTS, evidence_of
from headwater.cpg.extract import extract_file
from headwater.cpg.laws import MOST_TOLD, REFERENCES, violations_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Row: TypeAlias = "dict[str, Any]"

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
EVERY = 25
SOURCE = b'''"""Every list has entries."""
import os  # first

@os.first
class C(os.Base):
    def m(self, x: int = 1, *rest):
        while x:
            if x > 1:
                return os.call(x, *rest)
                dead = 1
            x -= 1
        raise E

    def other(self):
        try:
            yield lambda: self
        except E:
            pass
        return 0
'''
CELLS = b'{"cell_type": "code", "source": "x = 1"}, {"cell_type": "code", "source": "y = x"}'
NOTEBOOK = b'{"nbformat": 4, "metadata": {}, "cells": [' + CELLS + b"]}"
BROKEN = b"a = (:\ndef f(x):\n    return x\nprint 'a'\n"
# Numbers that are no numbers of entries.
PLAIN = {
    "nodes": {"idx", "bstart", "bend", "line", "col", "end_line", "end_col", "name_bstart", "name_bend"},
    "edges": {"ordinal"},
    "counts": {"count"},
    "imports": {"level"},
    "classes": {"base_idx"},
    "calls": {"arg_count"},
    "call_args": {"idx"},
    "points": {"block", "ord"},
    "codes": {
        *("arg_count", "local_count", "cell_count", "free_count"),
        *("stack_size", "instructions", "line_count"),
    },
    # Of facts, what a number is of depends on the kind of fact.
    "values": {"op", "target", "source"},
    "hints": {"op", "target", "source"},
    "notebook_cell_map": {"cell", "bstart", "bend"},
    "diagnostics": {"bstart", "bend"},
}


def row_of(content: bytes, path: str = "a.py") -> Row:
    return dict(evidence_of(extract_file("repo:1", path, content)))


def struct_of(columns: Mapping[str, pa.Array[Any]]) -> Any:
    return cast("Any", pa.StructArray).from_arrays(list(columns.values()), list(columns))


def columns_of(array: Any) -> dict[str, pa.Array[Any]]:
    return {field.name: array.field(field.name) for field in array.type}


def change(row: Row, name: str, entry: int, /, **values: object) -> None:
    """Give other values to one entry of a list."""
    columns = columns_of(row[name])
    for column, value in values.items():
        changed = columns[column].to_pylist()
        changed[entry] = value
        columns[column] = pa.array(changed, columns[column].type)
    row[name] = struct_of(columns)


def first(row: Row, name: str, /, **values: object) -> int:
    """The first entry of a list that has these values."""
    return next(
        number for number, entry in enumerate(row[name].to_pylist()) if values.items() <= entry.items()
    )


def issues(row: Row) -> set[str]:
    return {each["issue"] for each in violations_of(row)}


# --- sound evidence ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", SOURCE),
        ("a.py", b""),
        ("a.py", b"\xef\xbb\xbfx = 1\r\n"),
        ("a.py", BROKEN),
        ("a.py", b"x = '\xff'\n"),
        ("a.py", b"return 1\n"),
        ("a.py", b"def f(a, a): pass\n"),
        ("a.py", b"while True: pass\nx = 1\n"),
        ("a.py", b"match a:\n    case [b, *c] if b: pass\n    case _: f(*c, k=1, **d)\n"),
        ("a.py", "# coding: latin-1\nä = 'é'\n".encode("latin-1")),
        ("a.ipynb", NOTEBOOK),
        ("a.ipynb", b"{"),
    ],
    ids=[
        *("everything", "empty", "byte-order-mark", "recovered", "undecodable", "does-not-compile"),
        *("parameter-twice", "endless", "match", "latin-1", "notebook", "no-notebook"),
    ],
)
def test_sound_evidence_breaks_no_law(path: str, content: bytes) -> None:
    assert violations_of(row_of(content, path)) == []


def test_no_file_of_the_standard_library_breaks_one() -> None:
    every = [path for path in sorted(STANDARD_LIBRARY.rglob("*.py")) if "site-packages" not in path.parts]
    wrong = {path.name: violations_of(row_of(path.read_bytes())) for path in every[::EVERY]}
    assert len(wrong) > 30
    assert not {name: said for name, said in wrong.items() if said}


def test_a_part_of_longer_arrays_is_looked_at_alone() -> None:
    row = row_of(SOURCE)
    longer: Row = {
        name: pa.concat_arrays([value, value]).slice(len(value))
        for name, value in row.items()
        if name in {*LISTS, "node_ids"} and value is not None
    }
    assert violations_of({**row, **longer}) == []


def test_what_lies_in_memory_where_a_number_is_missing_means_nothing() -> None:
    row = row_of(SOURCE)
    columns = columns_of(row["nodes"])
    for name in ("parent", "bstart"):
        column: Any = columns[name]
        numbers = cast("Any", pa).array(
            [-7 if each is None else each for each in column.to_pylist()], column.type
        )
        buffers = [column.buffers()[0], numbers.buffers()[1]]
        columns[name] = cast("Any", pa.Array).from_buffers(column.type, len(column), buffers)
    assert struct_of(columns) == row["nodes"]
    assert violations_of({**row, "nodes": struct_of(columns)}) == []


# --- one thing wrong -----------------------------------------------------------------------------------


def shorter_ids(row: Row) -> None:
    row["node_ids"] = row["node_ids"].slice(1)


def longer_ids(row: Row) -> None:
    row["node_ids"] = pa.concat_arrays([row["node_ids"], pa.array(["node:more"])])


def id_twice(row: Row) -> None:
    ids = row["node_ids"].to_pylist()
    row["node_ids"] = pa.array([ids[1], *ids[1:]])


def id_of_another_kind(row: Row) -> None:
    row["node_ids"] = pa.array(["span:1", *row["node_ids"].to_pylist()[1:]])


def no_id(row: Row) -> None:
    row["node_ids"] = pa.array([None, *row["node_ids"].to_pylist()[1:]])


def entry_twice(name: str, *columns: str) -> Callable[[Row], None]:
    """Gives the second entry of a list what the first has in some columns, or in all."""

    def breaking(row: Row) -> None:
        kept = row[name].to_pylist()[0]
        change(row, name, 1, **{each: kept[each] for each in columns or kept})

    return breaking


def entry_with(name: str, where: Mapping[str, object], /, **values: object) -> Callable[[Row], None]:
    """Gives other values to the first entry that is so."""

    def breaking(row: Row) -> None:
        change(row, name, first(row, name, **where), **values)

    return breaking


def reversed_span(row: Row) -> None:
    leaf = first(row, "nodes", ast_kind="Name", name="rest")
    node = row["nodes"].to_pylist()[leaf]
    change(row, "nodes", leaf, bstart=node["bend"], bend=node["bstart"])


def no_way(row: Row) -> None:
    point = first(row, "flow", kind="next")
    change(row, "flow", point, dst=row["flow"].to_pylist()[point]["src"])


def dominated_by_the_dead(row: Row) -> None:
    dead = first(row, "points", **DEAD)
    points = row["points"].to_pylist()
    after = next(number for number in range(dead, len(points)) if MET.items() <= points[number].items())
    assert points[after]["def_node"] == points[dead]["def_node"]
    change(row, "points", after, idom=dead)


def dominated_from_another_def(row: Row) -> None:
    points = row["points"].to_pylist()
    last = max(number for number, each in enumerate(points) if MET.items() <= each.items())
    change(row, "points", last, idom=first(row, "points", **ENTRY))


NAME = {"ast_kind": "Name"}
ENTRY, MET, DEAD = {"kind": "entry"}, {"kind": "stmt", "is_dead": False}, {"kind": "stmt", "is_dead": True}
ON_NODES: list[tuple[str, str, Callable[[Row], None]]] = [
    ("dangling", "an-end-missing", entry_with("edges", {}, src=None)),
    ("dangling", "no-parent", entry_with("nodes", NAME, parent=None)),
    ("dangling", "no-owner", entry_with("nodes", NAME, owner=None)),
    ("dangling", "no-scope-around", entry_with("scopes", {"kind": "function"}, parent=None)),
    ("dangling", "no-base", entry_with("classes", {"base_idx": 0}, base=None)),
    ("dangling", "node-without-id", shorter_ids),
    ("dangling", "id-without-node", longer_ids),
    ("duplicate_id", "node", id_twice),
    ("duplicate_id", "scope", entry_twice("scopes", "scope_id")),
    ("duplicate_id", "binding", entry_twice("bindings", "binding_id")),
    ("duplicate_id", "edge", entry_twice("edges")),
    ("malformed_id", "node", id_of_another_kind),
    ("malformed_id", "none", no_id),
    ("unknown_kind", "node", entry_with("nodes", NAME, node_kind="VERB")),
    ("unknown_kind", "edge", entry_with("edges", {}, edge_kind="AST ")),
    ("unknown_kind", "missing", entry_with("edges", {}, edge_kind=None)),
    ("unknown_kind", "scope", entry_with("scopes", {"kind": "class"}, kind="room")),
    ("unknown_kind", "binding", entry_with("bindings", {}, kind="rope")),
    ("unknown_kind", "point", entry_with("points", MET, kind="dot")),
    ("unknown_kind", "severity", entry_with("diagnostics", {}, severity="fatal")),
]
ON_PLACES: list[tuple[str, str, Callable[[Row], None]]] = [
    ("span_half", "no-end", entry_with("nodes", NAME, bend=None)),
    ("span_half", "no-start-of-a-name", entry_with("nodes", {"name": "m"}, name_bstart=None)),
    ("span_half", "diagnostic", entry_with("diagnostics", {}, bend=None)),
    ("span_reversed", "node", reversed_span),
    ("span_reversed", "name", entry_with("nodes", {"ast_kind": "ClassDef"}, name_bstart=99, name_bend=98)),
    ("span_outside_file", "after", entry_with("nodes", {"node_kind": "FILE"}, bend=10**6)),
    ("span_outside_file", "before", entry_with("nodes", {"node_kind": "FILE"}, bstart=-1)),
    ("span_outside_file", "diagnostic", entry_with("diagnostics", {}, bend=10**6)),
    ("line_below_one", "node", entry_with("nodes", NAME, line=0)),
    ("span_outside_parent", "before", entry_with("nodes", {"name": "m"}, bstart=0)),
    ("span_outside_parent", "after", entry_with("nodes", {"name": "rest"}, bend=len(SOURCE))),
]
ON_FLOW: list[tuple[str, str, Callable[[Row], None]]] = [
    ("no_entry", "two", entry_with("points", MET, kind="entry", idom=None)),
    ("unreachable", "without-dominator", entry_with("points", MET, idom=None)),
    ("unreachable", "dominated-entry", entry_with("points", ENTRY, idom=0)),
    ("unreachable", "dominated-though-dead", entry_with("points", DEAD, idom=0)),
    ("unreachable", "dominated-by-itself", entry_with("points", {**MET, "idom": 0}, idom=1)),
    ("unreachable", "dominated-by-the-dead", dominated_by_the_dead),
    ("unreachable", "dominated-from-another-def", dominated_from_another_def),
    ("unreachable", "no-way-leads-there", no_way),
]
CASES = [*ON_NODES, *ON_PLACES, *ON_FLOW]


@pytest.mark.parametrize(
    ("issue", "breaking"),
    [(issue, breaking) for issue, _, breaking in CASES],
    ids=[f"{issue}-{name}" for issue, name, _ in CASES],
)
def test_one_thing_wrong_breaks_the_law_that_is_about_it(issue: str, breaking: Callable[[Row], None]) -> None:
    row = row_of(SOURCE + b"return\n")  # which does not compile, so that there is a diagnostic
    assert violations_of(row) == []
    breaking(row)
    assert issues(row) == {issue}


def test_a_def_without_an_entry_is_told_beside_what_then_hangs_in_the_air() -> None:
    row = row_of(SOURCE)
    change(row, "points", first(row, "points", **ENTRY), kind="stmt")
    assert issues(row) == {"no_entry", "unreachable"}


def test_a_cell_of_a_notebook_lies_in_its_text() -> None:
    row = row_of(NOTEBOOK, "a.ipynb")
    change(row, "notebook_cell_map", 1, bend=10**6)
    assert issues(row) == {"span_outside_file"}


def test_a_decorator_stands_before_its_def() -> None:
    row = row_of(SOURCE)
    decorator = first(row, "nodes", field="decorator_list")
    change(row, "nodes", decorator, field="body")
    assert issues(row) == {"span_outside_parent"}


@given(st.data())
def test_any_number_that_is_out_of_range_is_told(data: st.DataObject) -> None:
    row = row_of(SOURCE)
    name, column = data.draw(st.sampled_from(sorted(REFERENCES)))
    size = len(row[REFERENCES[name, column]])
    entry = data.draw(st.integers(0, len(row[name]) - 1))
    wrong = data.draw(st.integers(-(2**31), -1) | st.integers(size, 2**31 - 1))
    change(row, name, entry, **{column: wrong})
    said = {"issue": "dangling", "detail": f"{name}.{column} of entry {entry}: {wrong}"}
    assert said in violations_of(row)


def test_every_number_is_either_of_an_entry_or_plain() -> None:
    numbers = {
        (name, column)
        for name, columns in LISTS.items()
        for column, kind in columns.items()
        if kind in {"INT", "BIGINT"}
    }
    plain = {(name, column) for name, columns in PLAIN.items() for column in columns}
    assert numbers == set(REFERENCES) | plain
    assert not set(REFERENCES) & plain


# --- how it is told ------------------------------------------------------------------------------------


def test_a_few_are_told_and_how_many_more_there_are() -> None:
    row = row_of(SOURCE)
    columns = columns_of(row["nodes"])
    count = len(row["nodes"])
    row["nodes"] = struct_of({**columns, "line": pa.array([0] * count, pa.int32())})
    said = violations_of(row)
    assert said[:2] == [
        {"issue": "line_below_one", "detail": f"nodes.line of entry {entry}: 0"} for entry in (0, 1)
    ]
    assert len(said) == MOST_TOLD + 1
    assert said[-1] == {"issue": "more", "detail": f"{count - MOST_TOLD} violations more"}


def test_an_edge_is_told_once_for_each_time_too_many() -> None:
    row = row_of(SOURCE)
    edges = row["edges"]
    row["edges"] = pa.concat_arrays([edges, edges.slice(0, 2)])
    assert [each["issue"] for each in violations_of(row)] == ["duplicate_id", "duplicate_id"]
