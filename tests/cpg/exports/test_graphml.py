"""GraphML, read back by an XML parser."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from export_rows import ROWS, definition, table_of

from headwater.cpg.exports import GraphTables, graph_tables, graphml_of

SPACE = "{http://graphml.graphdrawing.org/xmlns}"
READ = {"string": str, "int": int, "double": float, "boolean": {"true": True, "false": False}.__getitem__}


def read(text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The nodes and edges of a file, with what it says their values are."""
    root = ET.fromstring(text)  # noqa: S314  our own text
    keys = {each.attrib["id"]: each.attrib for each in root.iter(f"{SPACE}key")}
    assert root.find(f"{SPACE}graph") is not None

    def rows(tag: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for each in root.iter(SPACE + tag):
            data: dict[str, Any] = dict(each.attrib)
            for value in each.iter(f"{SPACE}data"):
                key = keys[value.attrib["key"]]
                assert key["for"] == tag
                data[key["attr.name"]] = READ[key["attr.type"]](value.text or "")
            found.append(data)
        return found

    return rows("node"), rows("edge")


def known(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def written(tables: GraphTables) -> str:
    return "".join(graphml_of(tables))


def test_what_is_read_back_is_what_was_written() -> None:
    tables = graph_tables(table_of(ROWS))
    nodes, edges = read(written(tables))
    assert nodes == known(tables.nodes.to_pylist())
    assert edges == known(tables.edges.to_pylist())


def test_every_text_is_well_formed_xml() -> None:
    odd = "a<b & \"c\" 'd' ]]> \t\r\n é 𝄞 \x00\x0b\x1f\ufffe\uffff"
    row = definition(odd, "class", "shop/X#", effects=odd)
    ((node,), _) = read(written(graph_tables(table_of([row]))))
    assert node["name"] == node["effects"] == odd[: odd.index("\x00")] + "\ufffd" * 5
    # As XML has it, an attribute's tabs and line ends may become blanks.
    assert node["id"].split() == node["name"].split()


def test_a_graph_without_definitions_is_a_file_too() -> None:
    assert read(written(graph_tables(table_of([])))) == ([], [])
