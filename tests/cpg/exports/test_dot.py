"""DOT: every line of it, and what labels may hold."""

from __future__ import annotations

from export_rows import ROWS, definition, table_of

from headwater.cpg.exports import dot_of, graph_tables


def lines_of(*rows: dict[str, object], kinds: tuple[str, ...] = ()) -> list[str]:
    return "".join(dot_of(graph_tables(table_of(list(rows)), kinds))).splitlines()


def test_a_module_is_a_box_around_what_stands_in_it() -> None:
    assert lines_of(*ROWS, kinds=("class", "external", "INHERITS")) == [
        "digraph definitions {",
        "  rankdir=LR;",
        "  node [shape=box];",
        '  "builtins.len" [label="builtins.len", shape=ellipse, style=dashed];',
        "  subgraph cluster_1 {",
        '    label="shop.py";',
        '    "shop.Basket" [label="shop.Basket", shape=component];',
        '    "shop.Cart" [label="shop.Cart", shape=component];',
        "  }",
        '  "shop.Basket" -> "shop.Cart" [label="INHERITS"];',
        "}",
    ]


def test_an_edge_says_how_it_is_made() -> None:
    assert '  "shop.Cart.total" -> "builtins.len" [label="CALLS (call)"];' in lines_of(*ROWS)


def test_a_label_is_drawn_as_it_is() -> None:
    odd = definition('a "b" \\N\nc\0', "function", "shop/X().", path='x"y.py')
    told = lines_of(odd)
    assert '    label="x\\"y.py";' in told
    assert any('[label="a \\"b\\" \\\\N\\nc\ufffd"]' in line for line in told)
