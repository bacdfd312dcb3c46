"""The pipeline itself: repository -> evidence -> nodes and resolution, and names for all that is in them.

Stored:

    sources             the repository's Python files, as git or the folder lists them
    evidence_<name>     one row per file, nested: what the extractors found; run in Python workers
    resolution_<name>   one row per file, nested: what its names, imports and calls mean, with all other files
    file_nodes          one row per node, with its byte span: syntax, names, beginnings and ends of defs
    definitions         one row per definition, with what it points to and what points to it

All other names are views of these: looking into one costs a look into evidence or resolution. The tables of
other repositories in the same warehouse are read as they are there. Not here: how a file is taken apart, and
how names are followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg import graph
from headwater.cpg.evidence import EVIDENCE_COLUMNS, evidence_of, extractor_version
from headwater.cpg.extract import extract_file
from headwater.cpg.installed import Installed, installed_for
from headwater.cpg.kinds import NODE_KINDS
from headwater.cpg.resolution import RESOLUTION_COLUMNS, RESOLVED_FROM, resolve_rows, resolver_version
from headwater.cpg.resolve import Distributions
from headwater.pipeline import extractor, pure, source, table, view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from headwater.cpg.extract import FileEvidence

# The evidence of a repository is in the table of this name and its own.
EVIDENCE = "evidence_"
# And what its names mean, in that of this one.
RESOLUTION = "resolution_"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a repository is called as a distribution, what is installed for it, and what else is there.

    Args:
        distribution: its name and version; those that it has as a repository, if it is none.
        installed: the distributions that its code can import.
        beside: the names of other repositories, with the folder of the warehouse's tables that they are in.
        roots: folders below the source, if each of them is a repository of its own.
    """

    distribution: tuple[str, str] | None = None
    installed: Installed = field(default_factory=installed_for)
    beside: Mapping[str, Path] = field(default_factory=dict[str, "Path"])
    roots: tuple[str, ...] = ()


def python_graph(
    name: str,
    around: Surroundings | None = None,
    extract: Callable[[str, str, bytes], FileEvidence] = extract_file,
) -> None:
    """Declares the pipeline for the repository of this name; call it where definitions are collected.

    Args:
        name: the repository's name.
        around: what there is besides it; nothing but what is installed for this Python if it is not given.
        extract: takes one file apart.
    """
    around = around or Surroundings()
    others = {other: place for other, place in around.beside.items() if other != name}
    folders = {"folders": "\n".join(around.roots)} if around.roots else {}
    source("sources", path=".", format="files", options=_OPTIONS | folders)
    for other, place in others.items():
        for kind in (EVIDENCE, RESOLUTION):
            source(kind + other, path=str(place / (kind + other)))
    _evidence(name, around.roots, extract)
    _resolution(name, around)
    _graph(name, around.roots, sorted(others))
    _names()
    _statements()
    _meanings()
    _flow()
    _quality()
    _accelerators()
    _impact()


def _evidence(name: str, roots: Sequence[str], extract: Callable[[str, str, bytes], FileEvidence]) -> None:
    repo_id = graph.repository_id(name)
    ids = {root: graph.repository_id(root) for root in roots}

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
        if not ids:
            return evidence_of(extract(repo_id, path, content))
        root = max((each for each in ids if path.startswith(f"{each}/")), key=len)
        return evidence_of(extract(ids[root], path[len(root) + 1 :], content))


def _resolution(name: str, around: Surroundings) -> None:
    @table(name=RESOLUTION + name, enable_features=("deletionVectors",))
    def of_this_repository(spark: SparkSession) -> DataFrame:
        evidence = graph.evidence_in(spark, EVIDENCE + name, name, around.roots)
        asked = evidence.where("node_ids IS NOT NULL").selectExpr(
            "repo_id", *(f"{expression} AS {column}" for column, expression in RESOLVED_FROM.items())
        )
        columns = f"repo_id STRING, {RESOLUTION_COLUMNS}"
        return asked.groupBy("repo_id").applyInArrow(_resolving(name, around), columns)


def _resolving(name: str, around: Surroundings) -> Callable[[pa.Table], pa.Table]:
    """What makes the rows of one repository of those of its evidence."""
    # A function is known by what it holds on to, so these are plain values.
    of_modules, versions = dict(around.installed.of_modules), dict(around.installed.versions)
    known = {
        graph.repository_id(each): around.distribution or (each.replace(" ", "_"), ".")
        for each in (name, *around.roots)
    }

    def resolve(rows: pa.Table) -> pa.Table:
        repo_id = rows.column("repo_id")[0].as_py()
        dist, version = known[repo_id]
        names = Distributions(name=dist, version=version, of_modules=of_modules, versions=versions)
        made = resolve_rows(rows, repo_id, names)
        return made.add_column(0, "repo_id", rows.column("repo_id"))

    vars(resolve)["version"] = resolver_version()
    return pure(resolve)


def _graph(name: str, roots: Sequence[str], others: Sequence[str]) -> None:
    every = sorted([*(roots or [name]), *others])

    @view
    def evidence(spark: SparkSession) -> DataFrame:
        own = graph.evidence_in(spark, EVIDENCE + name, name, roots)
        return graph.all_of([own, *(graph.evidence_in(spark, EVIDENCE + each, each, ()) for each in others)])

    @view
    def resolution(spark: SparkSession) -> DataFrame:
        return graph.all_of([spark.table(RESOLUTION + each) for each in (name, *others)])

    @view
    def repos(spark: SparkSession, files: DataFrame) -> DataFrame:
        return graph.repos_of(graph.repositories_of(spark, every), files)

    @view
    def files(evidence: DataFrame) -> DataFrame:
        return graph.files_of(evidence)

    @table(refresh="incremental", refresh_by="path", constraints=_OF_NODES, enable_features=_BY_FILE)
    def file_nodes(spark: SparkSession, evidence: DataFrame) -> DataFrame:
        return graph.file_nodes_of(evidence, graph.repositories_of(spark, every))

    @view
    def nodes(file_nodes: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.nodes_of(file_nodes, resolution)

    @view
    def edges(file_nodes: DataFrame, evidence: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.edges_of(file_nodes, evidence, resolution)

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
    def imports(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.imports_of(evidence, resolution)

    @view
    def classes(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.classes_of(evidence, resolution)

    @view
    def calls(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.calls_of(evidence, resolution)

    @view
    def call_args(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.call_args_of(evidence, resolution)

    @view
    def call_targets(resolution: DataFrame) -> DataFrame:
        return graph.call_targets_of(resolution)

    @view
    def code_objects(evidence: DataFrame) -> DataFrame:
        return graph.code_objects_of(evidence)


def _meanings() -> None:
    @view
    def symbols(resolution: DataFrame) -> DataFrame:
        return graph.symbols_of(resolution)

    @view
    def occurrences(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.occurrences_of(evidence, resolution)

    @view
    def mro(resolution: DataFrame) -> DataFrame:
        return graph.mro_of(resolution)

    @view
    def overrides(resolution: DataFrame) -> DataFrame:
        return graph.overrides_of(resolution)

    @view
    def exported_defs(resolution: DataFrame) -> DataFrame:
        return graph.exported_defs_of(resolution)

    @view
    def types(resolution: DataFrame) -> DataFrame:
        return graph.types_of(resolution)

    @view
    def type_facts(resolution: DataFrame) -> DataFrame:
        return graph.type_facts_of(resolution)

    @view
    def module_deps(imports: DataFrame) -> DataFrame:
        return graph.module_deps_of(imports)


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
    def dfg(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.dfg_of(evidence, resolution)

    @view
    def summaries(resolution: DataFrame) -> DataFrame:
        return graph.summaries_of(resolution)

    @view
    def def_effects(resolution: DataFrame) -> DataFrame:
        return graph.def_effects_of(resolution)


def _accelerators() -> None:
    # Few rows are asked for at a time, by their ids: each file, and each part of one, has some range of them.
    # What it is made of is made anew in full, and to compare that takes longer than to read it.
    @table(order_by="node_id", target_file_size="3mb", refresh="full")
    def definitions(resolution: DataFrame) -> DataFrame:
        return graph.definitions_of(resolution)

    @view
    def edges_by_src(definitions: DataFrame) -> DataFrame:
        return graph.edges_by_src_of(definitions)

    @view
    def edges_by_dst(definitions: DataFrame) -> DataFrame:
        return graph.edges_by_dst_of(definitions)


def _impact() -> None:
    @view
    def module_index(definitions: DataFrame) -> DataFrame:
        return graph.module_index_of(definitions)

    @view
    def imports_resolved(imports: DataFrame) -> DataFrame:
        return graph.imports_resolved_of(imports)

    @view
    def impacted_files(definitions: DataFrame) -> DataFrame:
        return graph.impacted_files_of(definitions)


def _quality() -> None:
    @view
    def node_props(nodes: DataFrame) -> DataFrame:
        return graph.node_props_of(nodes)

    @view
    def edge_props(edges: DataFrame) -> DataFrame:
        return graph.edge_props_of(edges)

    @view
    def file_coverage(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.file_coverage_of(evidence, resolution)

    @view
    def kind_counts(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
        return graph.kind_counts_of(evidence, resolution)

    @view
    def nodes_quality(nodes: DataFrame, files: DataFrame) -> DataFrame:
        return graph.nodes_quality_of(nodes, files)

    @view
    def edges_quality(edges: DataFrame, nodes: DataFrame) -> DataFrame:
        return graph.edges_quality_of(edges, nodes)

    @view
    def relation_candidates(resolution: DataFrame, calls: DataFrame, call_targets: DataFrame) -> DataFrame:
        return graph.relation_candidates_of(resolution, calls, call_targets)

    @view
    def relation_quality(relation_candidates: DataFrame) -> DataFrame:
        return graph.relation_quality_of(relation_candidates)

    @view
    def relation_ambiguity(relation_candidates: DataFrame) -> DataFrame:
        return graph.relation_ambiguity_of(relation_candidates)
