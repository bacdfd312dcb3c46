"""The names of the graph, as views over evidence: ids in place of numbers, one row for each thing.

repository_id, repositories_of, evidence_of_all, repos_of
                                              the repositories of a warehouse, and all that they say
files_of, diagnostics_of                      files, and what is wrong with them
nodes_of, edges_of                            nodes, and all edges between them
scopes_of, bindings_of, binding_sites_of      names, where they live and where they are written
imports_of, classes_of, calls_of, call_args_of, code_objects_of
                                              what one file says of each
cfg_nodes_of, cfg_edges_of, dominators_of, control_deps_of, dfg_of
                                              control flow and data flow
node_props_of, edge_props_of                  every value of a node or edge as a row of its own
file_coverage_of, kind_counts_of, nodes_quality_of, edges_quality_of
                                              what could be read, and what is not as it should be
"""

from headwater.cpg.graph.edges import edges_of
from headwater.cpg.graph.files import diagnostics_of, files_of
from headwater.cpg.graph.flow import cfg_edges_of, cfg_nodes_of, control_deps_of, dfg_of, dominators_of
from headwater.cpg.graph.names import binding_sites_of, bindings_of, scopes_of
from headwater.cpg.graph.nodes import nodes_of
from headwater.cpg.graph.properties import edge_props_of, node_props_of
from headwater.cpg.graph.quality import edges_quality_of, file_coverage_of, kind_counts_of, nodes_quality_of
from headwater.cpg.graph.repositories import evidence_of_all, repos_of, repositories_of, repository_id
from headwater.cpg.graph.statements import (
    call_args_of,
    calls_of,
    classes_of,
    code_objects_of,
    imports_of,
)

__all__ = [
    "binding_sites_of",
    "bindings_of",
    "call_args_of",
    "calls_of",
    "cfg_edges_of",
    "cfg_nodes_of",
    "classes_of",
    "code_objects_of",
    "control_deps_of",
    "dfg_of",
    "diagnostics_of",
    "dominators_of",
    "edge_props_of",
    "edges_of",
    "edges_quality_of",
    "evidence_of_all",
    "file_coverage_of",
    "files_of",
    "imports_of",
    "kind_counts_of",
    "node_props_of",
    "nodes_of",
    "nodes_quality_of",
    "repos_of",
    "repositories_of",
    "repository_id",
    "scopes_of",
]
