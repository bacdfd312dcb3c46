"""The pipeline itself: repository -> evidence -> nodes, and names for all that is in evidence.

Stored:

    sources           the repository's Python files, as git or the folder lists them
    evidence_<name>   one row per file, nested: what the extractors found; run in Python workers
    nodes             one row per node, with its byte span: syntax, names, beginnings and ends of defs

All other names are views of these: looking into one costs a look into evidence. The evidence of other
repositories in the same warehouse is read as it is there. Not here: how a file is taken apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.cpg import graph
from headwater.cpg.evidence import EVIDENCE_COLUMNS, evidence_of, extractor_version
from headwater.cpg.extract import extract_file
from headwater.cpg.kinds import NODE_KINDS
from headwater.pipeline import extractor, source, table, view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from headwater.cpg.extract import FileEvidence

# The evidence of a repository is in the table of this name and its own.
EVIDENCE = "evidence_"
_SUFFIXES = (".py", ".pyi", ".ipynb")
# What is larger is data that somebody wrote as code.
_OPTIONS = {"include": " ".join(f"*{each}" for each in _SUFFIXES), "max_bytes": "2000000"}
_KINDS = ", ".join(f"'{each}'" for each in sorted(NODE_KINDS))
# Of a changed file only its own rows are written, and read by who asks what changed.
_BY_FILE = ("changeDataFeed", "deletionVectors")
# What no row may break, so that a build in which one does commits nothing of it.
_OF_EVIDENCE = {
    "sound": "coalesce(size(violations), 0) = 0",
    "content": "content_sha256 IS NULL OR content_sha256 RLIKE '^[0-9a-f]{64}$'",
    "size": "size_bytes IS NULL OR size_bytes >= 0",
    "inside": "path NOT LIKE '/%'",
    "status": "coalesce(parse_status IN ('ok', 'recovered', 'failed'), true)",
}
_OF_NODES = {
    "id": "startswith(node_id, 'node:')",
    "kind": f"node_kind IN ({_KINDS})",
    "span": "(bstart IS NULL) = (bend IS NULL) AND coalesce(bstart >= 0 AND bend >= bstart, true)",
    "line": "coalesce(line >= 1, true)",
    "file": "file_id IS NOT NULL OR node_kind = 'REPO'",
}


def graph_name(root: Path) -> str:
    """The name of a folder's graph: the folder's, in letters that a name may have."""
    return re.sub(r"\W", "_", root.resolve().name.lower()).strip("_") or "repository"


def has_python_files(paths: Iterable[str]) -> bool:
    """Whether one of these is the path of a Python file; asks for no more paths after the first."""
    return any(path.endswith(_SUFFIXES) for path in paths)


def python_graph(
    name: str,
    beside: Mapping[str, str] | None = None,
    extract: Callable[[str, str, bytes], FileEvidence] = extract_file,
) -> None:
    """Declares the pipeline for the repository of this name; call it where definitions are collected.

    Args:
        name: the repository's name.
        beside: where the evidence of other repositories is, by their names; they are in the graph, too.
        extract: takes one file apart.
    """
    others = {other: place for other, place in (beside or {}).items() if other != name}
    source("sources", path=".", format="files", options=_OPTIONS)
    for other, place in others.items():
        source(EVIDENCE + other, path=place)
    _evidence(name, extract)
    _graph(sorted([name, *others]))
    _names()
    _statements()
    _flow()
    _quality()


def _evidence(name: str, extract: Callable[[str, str, bytes], FileEvidence]) -> None:
    repo_id = graph.repository_id(name)

    @extractor(
        name=EVIDENCE + name,
        files="sources",
        schema=EVIDENCE_COLUMNS,
        version=extractor_version(),
        constraints=_OF_EVIDENCE,
        enable_features=_BY_FILE,
        refresh="incremental",
    )
    def of_this_repository(path: str, content: bytes) -> Mapping[str, object]:
        return evidence_of(extract(repo_id, path, content))


def _graph(names: Sequence[str]) -> None:
    @view
    def evidence(spark: SparkSession) -> DataFrame:
        return graph.evidence_of_all(spark, {name: EVIDENCE + name for name in names})

    @view
    def repos(spark: SparkSession, files: DataFrame) -> DataFrame:
        return graph.repos_of(graph.repositories_of(spark, names), files)

    @view
    def files(evidence: DataFrame) -> DataFrame:
        return graph.files_of(evidence)

    @table(refresh="incremental", refresh_by="path", constraints=_OF_NODES, enable_features=_BY_FILE)
    def nodes(spark: SparkSession, evidence: DataFrame) -> DataFrame:
        return graph.nodes_of(evidence, graph.repositories_of(spark, names))

    @view
    def edges(nodes: DataFrame, evidence: DataFrame) -> DataFrame:
        return graph.edges_of(nodes, evidence)

    @view
    def diagnostics(evidence: DataFrame) -> DataFrame:
        return graph.diagnostics_of(evidence)


def _names() -> None:
    @view
    def scopes(evidence: DataFrame) -> DataFrame:
        return graph.scopes_of(evidence)

    @view
    def bindings(evidence: DataFrame) -> DataFrame:
        return graph.bindings_of(evidence)

    @view
    def binding_sites(evidence: DataFrame) -> DataFrame:
        return graph.binding_sites_of(evidence)


def _statements() -> None:
    @view
    def imports(evidence: DataFrame) -> DataFrame:
        return graph.imports_of(evidence)

    @view
    def classes(evidence: DataFrame) -> DataFrame:
        return graph.classes_of(evidence)

    @view
    def calls(evidence: DataFrame) -> DataFrame:
        return graph.calls_of(evidence)

    @view
    def call_args(evidence: DataFrame) -> DataFrame:
        return graph.call_args_of(evidence)

    @view
    def code_objects(evidence: DataFrame) -> DataFrame:
        return graph.code_objects_of(evidence)


def _flow() -> None:
    @view
    def cfg_nodes(evidence: DataFrame) -> DataFrame:
        return graph.cfg_nodes_of(evidence)

    @view
    def cfg_edges(evidence: DataFrame) -> DataFrame:
        return graph.cfg_edges_of(evidence)

    @view
    def dominators(evidence: DataFrame) -> DataFrame:
        return graph.dominators_of(evidence)

    @view
    def control_deps(evidence: DataFrame) -> DataFrame:
        return graph.control_deps_of(evidence)

    @view
    def dfg(evidence: DataFrame) -> DataFrame:
        return graph.dfg_of(evidence)


def _quality() -> None:
    @view
    def node_props(nodes: DataFrame) -> DataFrame:
        return graph.node_props_of(nodes)

    @view
    def edge_props(edges: DataFrame) -> DataFrame:
        return graph.edge_props_of(edges)

    @view
    def file_coverage(evidence: DataFrame) -> DataFrame:
        return graph.file_coverage_of(evidence)

    @view
    def kind_counts(evidence: DataFrame) -> DataFrame:
        return graph.kind_counts_of(evidence)

    @view
    def nodes_quality(nodes: DataFrame, files: DataFrame) -> DataFrame:
        return graph.nodes_quality_of(nodes, files)

    @view
    def edges_quality(edges: DataFrame, nodes: DataFrame) -> DataFrame:
        return graph.edges_quality_of(edges, nodes)
