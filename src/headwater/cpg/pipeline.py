"""The pipeline itself: repository -> evidence -> files, nodes, edges, diagnostics.

    sources       the repository's Python files, as git or the folder lists them
    evidence      one row per file, nested: what the extractors found; run in Python workers
    files         one row per file
    nodes         one row per syntax node, with its byte span; the FILE and REPO nodes, too
    edges         AST: parent to child, with role and index; CONTAINS: repository, file, module, definition
    diagnostics   what was left out, did not parse, or failed

Not here: how a file is taken apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.evidence import EVIDENCE_COLUMNS, NODE_COLUMNS, evidence_of, extractor_version
from headwater.digest import stable_id
from headwater.functions import SEMANTIC_TYPE_KEY, edge_id, file_id, stable_id_parts
from headwater.pipeline import extractor, source, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession

GRAPH_TABLES = ("files", "nodes", "edges", "diagnostics")
_SUFFIXES = (".py", ".pyi")
# What is larger is data that somebody wrote as code.
_OPTIONS = {"include": " ".join(f"*{each}" for each in _SUFFIXES), "max_bytes": "2000000"}
_DEFINITIONS = ("MODULE", "CLASS", "FUNCTION", "METHOD")


def graph_name(root: Path) -> str:
    """The name of a folder's graph: the folder's, in letters that a name may have."""
    return re.sub(r"\W", "_", root.resolve().name.lower()).strip("_") or "repository"


def has_python_files(paths: Iterable[str]) -> bool:
    """Whether one of these is the path of a Python file; asks for no more paths after the first."""
    return any(path.endswith(_SUFFIXES) for path in paths)


def python_graph(name: str) -> None:
    """Declares the pipeline for the repository of this name; call it where definitions are collected."""
    repo_id = stable_id("repo", name)
    source("sources", path=".", format="files", options=_OPTIONS)

    @extractor(files="sources", schema=EVIDENCE_COLUMNS, version=extractor_version())
    def evidence(path: str, content: bytes) -> Mapping[str, object]:
        return evidence_of(repo_id, path, content)

    @table
    def files(evidence: DataFrame) -> DataFrame:
        return files_of(evidence, repo_id)

    @table
    def nodes(spark: SparkSession, evidence: DataFrame) -> DataFrame:
        return nodes_of(spark, evidence, repo_id, name)

    @table
    def edges(nodes: DataFrame) -> DataFrame:
        return edges_of(nodes, repo_id)

    @table
    def diagnostics(evidence: DataFrame) -> DataFrame:
        return diagnostics_of(evidence, repo_id)


def files_of(evidence: DataFrame, repo_id: str) -> DataFrame:
    """One row per file, read or not."""
    path = F.col("path")
    by_name = F.when(path.endswith(".pyi"), "stub").when(path.endswith(".py"), "python")
    return evidence.select(
        _typed("repo_id", "RepoId", F.lit(repo_id)),
        file_id(F.lit(repo_id), "path").alias("file_id"),
        "path",
        "content_sha256",
        "size_bytes",
        "encoding",
        "newline",
        F.coalesce("language", by_name).alias("language"),
        "is_test",
        "module_fqn",
        "line_starts",
        "line_count",
        F.when(F.col("skip_reason").isNotNull(), "skipped")
        .otherwise(F.coalesce("parse_status", F.lit("failed")))
        .alias("parse_status"),
        F.coalesce("skip_reason", "extract_error").alias("skip_reason"),
    )


def nodes_of(spark: SparkSession, evidence: DataFrame, repo_id: str, name: str) -> DataFrame:
    """One row per node of every file, and one for the repository."""
    syntax = evidence.select("file_id", "path", F.inline("nodes"))
    repository = spark.range(1).select(
        F.lit(_repository_node(repo_id)).alias("node_id"),
        F.lit("REPO").alias("node_kind"),
        F.lit(name).alias("name"),
    )
    ids = {"node_id": "NodeId", "parent_id": "NodeId", "owner_def_id": "NodeId"}
    return syntax.unionByName(repository, allowMissingColumns=True).select(
        _typed("repo_id", "RepoId", F.lit(repo_id)),
        _typed("file_id", "FileId"),
        "path",
        *[_typed(column, ids[column]) if column in ids else column for column in NODE_COLUMNS],
        F.lit("ast").alias("origin"),
    )


def edges_of(nodes: DataFrame, repo_id: str) -> DataFrame:
    """Who is whose child, and who contains whom: at most two edges for each node, in one pass."""
    kind = F.col("node_kind")
    container = (
        F.when(kind == "FILE", F.lit(_repository_node(repo_id)))
        .when(kind == "MODULE", F.col("parent_id"))
        .when(kind.isin(*_DEFINITIONS), F.col("owner_def_id"))
    )
    child = _edge("AST", F.col("parent_id"), F.col("field"), F.col("idx"))
    content = _edge("CONTAINS", container, F.lit(None), F.lit(None))
    both = F.array(F.when(F.col("parent_id").isNotNull(), child), F.when(container.isNotNull(), content))
    found = nodes.select("node_id", "file_id", "bstart", "bend", F.inline(F.array_compact(both)))
    return found.select(
        _typed("repo_id", "RepoId", F.lit(repo_id)),
        edge_id("edge_kind", "source_id", "node_id", "label", "ordinal").alias("edge_id"),
        "edge_kind",
        _typed("src_node_id", "NodeId", F.col("source_id")),
        _typed("dst_node_id", "NodeId", F.col("node_id")),
        _typed("file_id", "FileId"),
        "label",
        "ordinal",
        "bstart",
        "bend",
        F.lit("ast").alias("origin"),
        F.lit("syntax").alias("resolver"),
        F.lit("exact").alias("resolution"),
        F.lit(1.0).alias("confidence"),
        F.lit(1).alias("rank"),
        F.lit(True).alias("is_winner"),
    )


def diagnostics_of(evidence: DataFrame, repo_id: str) -> DataFrame:
    """What the extractors said, and a row for each file that was left out or that they failed on."""
    file = file_id(F.lit(repo_id), "path").alias("file_id")
    said = evidence.select(file, "path", F.inline("diagnostics"))
    own = evidence.where("skip_reason IS NOT NULL OR extract_error IS NOT NULL").select(
        file_id(F.lit(repo_id), "path").alias("file_id"),
        "path",
        F.when(F.col("skip_reason").isNotNull(), "scan").otherwise("extract").alias("stage"),
        F.lit("headwater").alias("source"),
        F.when(F.col("skip_reason").isNotNull(), "skipped").otherwise("extractor-failed").alias("code"),
        F.when(F.col("skip_reason").isNotNull(), "warning").otherwise("error").alias("severity"),
        F.coalesce("skip_reason", "extract_error").alias("message"),
    )
    rows = said.unionByName(own, allowMissingColumns=True)
    parts = ("file_id", "stage", "code", "bstart", "bend", "message")
    return rows.select(
        _typed("repo_id", "RepoId", F.lit(repo_id)),
        stable_id_parts("diag", *parts).alias("diag_id"),
        *("file_id", "path", "stage", "source", "code", "severity", "message", "bstart", "bend"),
    )


def _edge(kind: str, source: Column, label: Column, ordinal: Column) -> Column:
    return F.struct(
        F.lit(kind).alias("edge_kind"),
        source.alias("source_id"),
        label.cast("string").alias("label"),
        ordinal.cast("int").alias("ordinal"),
    )


def _repository_node(repo_id: str) -> str:
    return stable_id("node", repo_id, "", "", 0, "REPO", "")


def _typed(name: str, semantic_type: str, column: Column | None = None) -> Column:
    """A column under a name, with what it is beyond its Spark type."""
    made = F.col(name) if column is None else column
    return made.alias(name, metadata={SEMANTIC_TYPE_KEY: semantic_type})
