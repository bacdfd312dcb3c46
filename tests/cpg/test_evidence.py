from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from headwater.cpg.evidence import EVIDENCE_COLUMNS, NODE_COLUMNS, evidence_of, extractor_version
from headwater.pipeline.ddl import parse_ddl
from headwater.pipeline.extracting import batch_of

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

SOURCE = b'"""Doc."""\nasync def f(x: int = 1) -> None:\n    del x\n'


def row_of(content: bytes) -> dict[str, Any]:
    schema = to_arrow_schema(cast("StructType", parse_ddl(EVIDENCE_COLUMNS)))
    (row,) = batch_of([evidence_of("repo:1", "a.py", content)], schema).to_pylist()
    return row


def test_evidence_fits_its_schema_and_every_node_keeps_its_columns() -> None:
    row = row_of(SOURCE)
    assert (row["parse_status"], row["language"], row["line_starts"]) == ("ok", "python", [0, 11, 44])
    assert row["diagnostics"] == []
    assert all(tuple(node) == NODE_COLUMNS for node in row["nodes"])
    texts = {node["ast_kind"]: SOURCE[node["bstart"] : node["bend"]] for node in row["nodes"]}
    assert texts["arg"] == b"x: int"
    assert texts["Delete"] == b"del x"


def test_sparse_properties_are_maps_or_missing() -> None:
    nodes = row_of(SOURCE)["nodes"]
    kinds = {node["ast_kind"]: node["props"] for node in nodes}
    assert kinds["Delete"] is None
    assert dict(next(n["props"] for n in nodes if n["name"] == "x" and n["ast_kind"] == "Name")) == {
        "ctx": "Del"
    }


def test_a_file_that_does_not_parse_says_where() -> None:
    row = row_of(b"broken  = (:\n")
    assert row["parse_status"] == "failed"
    assert [node["node_kind"] for node in row["nodes"]] == ["FILE"]
    (said,) = row["diagnostics"]
    assert (said["stage"], said["severity"], said["bstart"]) == ("parse", "error", 11)


def test_nodes_are_handed_over_as_columns() -> None:
    assert isinstance(evidence_of("repo:1", "a.py", SOURCE)["nodes"], pa.StructArray)


def test_the_version_is_that_of_the_extractors_files() -> None:
    assert extractor_version() == extractor_version()
    assert len(extractor_version()) == 64
