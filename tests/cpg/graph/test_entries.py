"""Lists of evidence as rows, with ids in place of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_sample import REPO, evidence_rows, told
from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.functions import SEMANTIC_TYPE_KEY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_an_entry_has_its_file_and_the_nodes_that_it_speaks_of_by_number(evidence: DataFrame) -> None:
    found = entries(evidence, "calls", F.col("path").alias("_path"))
    assert {"file_id", *evidence_rows()[0]["calls"][0]} < set(found.columns)
    rows = told(found.select("*", node_at("callee").alias("name")), "file_id", "_path", "name")
    assert rows == [
        ("app/shop.py", "app/shop.py", "basket.add 6"),
        ("app/wrong.pyi", "app/wrong.pyi", "print 2"),
    ]


def test_no_number_is_no_node(evidence: DataFrame) -> None:
    found = entries(evidence, "calls").select("callee_text", node_at("receiver").alias("receiver"))
    assert told(found, "callee_text", "receiver") == [("basket.add", "basket 6"), ("print", None)]


def test_columns_say_what_they_are(evidence: DataFrame) -> None:
    made = evidence.select(repository(), typed("file_id", "FileId"), typed("n", "NodeId", F.lit("a")))
    types = {field.name: field.metadata.get(SEMANTIC_TYPE_KEY) for field in made.schema}
    assert types == {"repo_id": "RepoId", "file_id": "FileId", "n": "NodeId"}
    assert set(told(made, "repo_id", "n")) == {(REPO, "a")}
