"""The columns of a small file, one by one."""

from __future__ import annotations

from dataclasses import fields

from headwater.cpg.extract import NodeColumns, extract_syntax

SOURCE = b"class C:\n    def f(self):\n        return 1\ndef g(): pass\n"


def extracted(content: bytes = SOURCE) -> NodeColumns:
    return extract_syntax("repo", "package/module.py", content).nodes


def test_all_columns_have_an_entry_for_each_node() -> None:
    nodes = extracted()
    lengths = {each.name: len(getattr(nodes, each.name)) for each in fields(nodes)}
    assert set(lengths.values()) == {11}


def test_a_file_says_what_is_in_it() -> None:
    nodes = extracted()
    assert nodes.node_kind == [
        *("FILE", "MODULE", "CLASS", "METHOD", "EXPRESSION", "PARAMETER", "STATEMENT", "LITERAL"),
        *("FUNCTION", "EXPRESSION", "STATEMENT"),
    ]
    assert nodes.qualname == [None, None, "C", "C.f", None, None, None, None, "g", None, None]
    assert nodes.name == [
        *("module.py", "package.module", "C", "f", None, "self", None, None, "g", None, None),
    ]
    assert nodes.line == [1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4]
    assert nodes.col == [0, 0, 0, 4, 10, 10, 8, 15, 0, 6, 9]
    assert nodes.end_line == [4, 4, 3, 3, 2, 2, 3, 3, 4, 4, 4]
    assert nodes.end_col == [14, 14, 16, 16, 14, 14, 16, 16, 13, 6, 13]
    assert (nodes.bstart[:2], nodes.bend[:2]) == ([0, 0], [len(SOURCE)] * 2)


def test_a_function_in_a_class_is_a_method_wherever_it_stands_there() -> None:
    nodes = extracted(b"class C:\n if a:\n  def f(self):\n   def g(): pass\n")
    kinds = dict(zip(nodes.qualname, nodes.node_kind, strict=True))
    assert (kinds["C.f"], kinds["C.f.g"]) == ("METHOD", "FUNCTION")


def test_a_column_counts_bytes_of_utf_8_and_an_offset_those_of_the_file() -> None:
    nodes = extracted("# coding: latin-1\n'é', x\n".encode("latin-1"))
    row = nodes.name.index("x")
    assert (nodes.line[row], nodes.col[row], nodes.bstart[row]) == (2, 6, 23)
    assert (nodes.name_bstart[row], nodes.name_bend[row]) == (23, 24)


def test_parents_are_nodes_that_came_before() -> None:
    nodes = extracted()
    assert nodes.parent[0] is None
    assert all(parent is not None and parent < row for row, parent in enumerate(nodes.parent) if row)
