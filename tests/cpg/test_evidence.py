from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from headwater.cpg.evidence import EVIDENCE_COLUMNS, LISTS, evidence_of, extractor_version
from headwater.cpg.extract import extract_file
from headwater.pipeline.ddl import parse_ddl
from headwater.pipeline.extracting import batch_of

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

SOURCE = b'"""Doc."""\nasync def f(x: int = 1) -> None:\n    del x\n'


def row_of(content: bytes) -> dict[str, Any]:
    schema = to_arrow_schema(cast("StructType", parse_ddl(EVIDENCE_COLUMNS)))
    (row,) = batch_of([evidence_of(extract_file("repo:1", "a.py", content))], schema).to_pylist()
    return row


def test_evidence_fits_its_schema_and_every_node_keeps_its_columns() -> None:
    row = row_of(SOURCE)
    assert (row["parse_status"], row["language"], row["line_starts"]) == ("ok", "python", [0, 11, 44])
    assert row["diagnostics"] == []
    for name, columns in LISTS.items():
        assert all(tuple(entry) == tuple(columns) for entry in row[name] or ()), name
    assert len(row["node_ids"]) == len(set(row["node_ids"])) == len(row["nodes"])
    texts = {
        node["ast_kind"]: SOURCE[node["bstart"] : node["bend"]] for node in row["nodes"] if node["ast_kind"]
    }
    assert texts["arg"] == b"x: int"
    assert texts["Delete"] == b"del x"


def test_sparse_properties_are_pairs_or_missing() -> None:
    nodes = row_of(SOURCE)["nodes"]
    kinds = {node["ast_kind"]: node["props"] for node in nodes}
    assert kinds["Delete"] is None
    (deleted,) = [n["props"] for n in nodes if n["name"] == "x" and n["ast_kind"] == "Name"]
    assert deleted == [{"key": "ctx", "value": "Del"}]


def test_every_list_speaks_of_nodes_that_are_there() -> None:
    row = row_of(b"def f(a):\n    return a\n")
    names = {
        "edges": ("src", "dst"),
        "scopes": ("node",),
        "sites": ("node",),
        "points": ("def_node", "node"),
        "reaching": ("def_node", "use_node"),
    }
    for name, columns in names.items():
        assert row[name], name
        assert all(0 <= entry[column] < len(row["nodes"]) for entry in row[name] for column in columns)


def test_nodes_and_edges_are_counted_by_kind() -> None:
    row = row_of(b"def f(a):\n    return a\n")
    counted = {(each["of"], each["kind"]): each["count"] for each in row["counts"]}
    of_nodes = Counter(("node", each["node_kind"]) for each in row["nodes"])
    of_edges = Counter(("edge", each["edge_kind"]) for each in row["edges"])
    of_edges["edge", "AST"] = sum(each["parent"] is not None for each in row["nodes"])
    of_edges["edge", "CONTAINS"] = 3  # the file, its module, and the function
    assert counted == of_nodes | of_edges


def test_what_is_in_no_tree_has_the_place_of_what_it_is_about() -> None:
    source = b"x = 1  # why\n"
    added = {node["node_kind"]: node for node in row_of(source)["nodes"] if not node["ast_kind"]}
    assert set(added) == {"FILE", "BINDING", "CFG_ENTRY", "CFG_EXIT", "COMMENT"}
    assert source[added["BINDING"]["bstart"] : added["BINDING"]["bend"]] == b"x"
    comment = added["COMMENT"]
    assert (source[comment["bstart"] : comment["bend"]], comment["line"]) == (b"# why", 1)


def test_a_notebook_says_where_its_cells_are() -> None:
    cells = '[{"cell_type": "code", "source": "x = 1"}, {"cell_type": "code", "source": "y = x"}]'
    content = f'{{"nbformat": 4, "metadata": {{}}, "cells": {cells}}}'.encode()
    schema = to_arrow_schema(cast("StructType", parse_ddl(EVIDENCE_COLUMNS)))
    (row,) = batch_of([evidence_of(extract_file("repo:1", "a.ipynb", content))], schema).to_pylist()
    assert [each["cell"] for each in row["notebook_cell_map"]] == [0, 1]
    assert row_of(SOURCE)["notebook_cell_map"] is None


def test_a_file_that_does_not_parse_says_where() -> None:
    row = row_of(b"broken  = (:\n")
    assert row["parse_status"] == "failed"
    assert [node["node_kind"] for node in row["nodes"]] == ["FILE", "DIAGNOSTIC"]
    (said,) = row["diagnostics"]
    assert (said["stage"], said["severity"], said["bstart"]) == ("parse", "error", 11)


def test_nodes_are_handed_over_as_columns() -> None:
    assert isinstance(evidence_of(extract_file("repo:1", "a.py", SOURCE))["nodes"], pa.StructArray)


def test_the_version_is_that_of_the_extractors_files() -> None:
    assert extractor_version() == extractor_version()
    assert len(extractor_version()) == 64
