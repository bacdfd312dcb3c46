"""The pipeline itself: repository -> evidence -> nodes and edges, and names for all that is in evidence.

Stored:

    sources       the repository's Python files, as git or the folder lists them
    evidence      one row per file, nested: what the extractors found; run in Python workers
    files         one row per file
    nodes         one row per node, with its byte span: syntax, names, beginnings and ends of defs
    edges         one row per edge between nodes
    diagnostics   what was left out, did not parse, or failed

All other names are views of these: looking into one costs a look into evidence. Not here: how a file is taken
apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.cpg import graph
from headwater.cpg.evidence import EVIDENCE_COLUMNS, evidence_of, extractor_version
from headwater.digest import stable_id
from headwater.pipeline import extractor, source, table, view

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

GRAPH_TABLES = ("files", "nodes", "edges", "diagnostics")
_SUFFIXES = (".py", ".pyi", ".ipynb")
# What is larger is data that somebody wrote as code.
_OPTIONS = {"include": " ".join(f"*{each}" for each in _SUFFIXES), "max_bytes": "2000000"}


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

    @table(refresh_by="path")
    def files(evidence: DataFrame) -> DataFrame:
        return graph.files_of(evidence, repo_id)

    @table(refresh_by="file_id")
    def nodes(spark: SparkSession, evidence: DataFrame) -> DataFrame:
        return graph.nodes_of(spark, evidence, repo_id, name)

    @table(refresh_by="file_id")
    def edges(nodes: DataFrame, evidence: DataFrame) -> DataFrame:
        return graph.edges_of(nodes, evidence, repo_id)

    @table(refresh_by="path")
    def diagnostics(evidence: DataFrame) -> DataFrame:
        return graph.diagnostics_of(evidence, repo_id)

    _names(repo_id)
    _statements(repo_id)
    _flow(repo_id)
    _quality(repo_id)


def _names(repo_id: str) -> None:
    @view
    def scopes(evidence: DataFrame) -> DataFrame:
        return graph.scopes_of(evidence, repo_id)

    @view
    def bindings(evidence: DataFrame) -> DataFrame:
        return graph.bindings_of(evidence, repo_id)

    @view
    def binding_sites(evidence: DataFrame) -> DataFrame:
        return graph.binding_sites_of(evidence, repo_id)


def _statements(repo_id: str) -> None:
    @view
    def imports(evidence: DataFrame) -> DataFrame:
        return graph.imports_of(evidence, repo_id)

    @view
    def classes(evidence: DataFrame) -> DataFrame:
        return graph.classes_of(evidence, repo_id)

    @view
    def calls(evidence: DataFrame) -> DataFrame:
        return graph.calls_of(evidence, repo_id)

    @view
    def call_args(evidence: DataFrame) -> DataFrame:
        return graph.call_args_of(evidence, repo_id)


def _flow(repo_id: str) -> None:
    @view
    def cfg_nodes(evidence: DataFrame) -> DataFrame:
        return graph.cfg_nodes_of(evidence, repo_id)

    @view
    def cfg_edges(evidence: DataFrame) -> DataFrame:
        return graph.cfg_edges_of(evidence, repo_id)

    @view
    def dominators(evidence: DataFrame) -> DataFrame:
        return graph.dominators_of(evidence, repo_id)

    @view
    def control_deps(evidence: DataFrame) -> DataFrame:
        return graph.control_deps_of(evidence, repo_id)

    @view
    def dfg(evidence: DataFrame) -> DataFrame:
        return graph.dfg_of(evidence, repo_id)


def _quality(repo_id: str) -> None:
    @view
    def node_props(nodes: DataFrame) -> DataFrame:
        return graph.node_props_of(nodes)

    @view
    def edge_props(edges: DataFrame) -> DataFrame:
        return graph.edge_props_of(edges)

    @view
    def file_coverage(evidence: DataFrame) -> DataFrame:
        return graph.file_coverage_of(evidence, repo_id)

    @view
    def nodes_quality(nodes: DataFrame, files: DataFrame) -> DataFrame:
        return graph.nodes_quality_of(nodes, files)

    @view
    def edges_quality(edges: DataFrame, nodes: DataFrame) -> DataFrame:
        return graph.edges_quality_of(edges, nodes)
