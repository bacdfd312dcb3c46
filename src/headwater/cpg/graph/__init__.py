"""The names of the graph, as views over evidence: ids in place of numbers, one row for each thing.

repository_id, repositories_of, evidence_in, all_of, repos_of
                                              the repositories of a warehouse, and all that they say
files_of, diagnostics_of                      files, and what is wrong with them
file_nodes_of, nodes_of, edges_of             nodes of files, all nodes, and all edges between them
scopes_of, bindings_of, binding_sites_of      names, where they live and where they are written
imports_of, classes_of, code_objects_of       what is written of each, and what it means
calls_of, call_targets_of, call_args_of       calls, what they may reach, and who gets their arguments
symbols_of, occurrences_of, mro_of, overrides_of, exported_defs_of, module_deps_of,
types_of, type_facts_of
                                              what names mean in all files
relation_candidates_of, relation_quality_of, relation_ambiguity_of
                                              how well that is known
cfg_nodes_of, cfg_edges_of, dominators_of, control_deps_of, dfg_of, summaries_of, def_effects_of
                                              control flow and data flow
definitions_of, edges_by_src_of, edges_by_dst_of
                                              definitions with their edges, from either end
module_index_of, imports_resolved_of, impacted_files_of
                                              what a change of a file can be felt in
node_props_of, edge_props_of                  every value of a node or edge as a row of its own
file_coverage_of, kind_counts_of, nodes_quality_of, edges_quality_of
                                              what could be read, and what is not as it should be
"""

from headwater.cpg.graph.calling import call_args_of, call_targets_of, calls_of
from headwater.cpg.graph.definitions import definitions_of, edges_by_dst_of, edges_by_src_of
from headwater.cpg.graph.edges import edges_of
from headwater.cpg.graph.files import diagnostics_of, files_of
from headwater.cpg.graph.flow import (
    cfg_edges_of,
    cfg_nodes_of,
    control_deps_of,
    def_effects_of,
    dfg_of,
    dominators_of,
    summaries_of,
)
from headwater.cpg.graph.impact import impacted_files_of, imports_resolved_of, module_index_of
from headwater.cpg.graph.meanings import (
    exported_defs_of,
    module_deps_of,
    mro_of,
    occurrences_of,
    overrides_of,
    symbols_of,
    type_facts_of,
    types_of,
)
from headwater.cpg.graph.names import binding_sites_of, bindings_of, scopes_of
from headwater.cpg.graph.nodes import file_nodes_of, nodes_of
from headwater.cpg.graph.properties import edge_props_of, node_props_of
from headwater.cpg.graph.quality import edges_quality_of, file_coverage_of, kind_counts_of, nodes_quality_of
from headwater.cpg.graph.relations import relation_ambiguity_of, relation_candidates_of, relation_quality_of
from headwater.cpg.graph.repositories import all_of, evidence_in, repos_of, repositories_of, repository_id
from headwater.cpg.graph.statements import classes_of, code_objects_of, imports_of

__all__ = [
    "all_of",
    "binding_sites_of",
    "bindings_of",
    "call_args_of",
    "call_targets_of",
    "calls_of",
    "cfg_edges_of",
    "cfg_nodes_of",
    "classes_of",
    "code_objects_of",
    "control_deps_of",
    "def_effects_of",
    "definitions_of",
    "dfg_of",
    "diagnostics_of",
    "dominators_of",
    "edge_props_of",
    "edges_by_dst_of",
    "edges_by_src_of",
    "edges_of",
    "edges_quality_of",
    "evidence_in",
    "exported_defs_of",
    "file_coverage_of",
    "file_nodes_of",
    "files_of",
    "impacted_files_of",
    "imports_of",
    "imports_resolved_of",
    "kind_counts_of",
    "module_deps_of",
    "module_index_of",
    "mro_of",
    "node_props_of",
    "nodes_of",
    "nodes_quality_of",
    "occurrences_of",
    "overrides_of",
    "relation_ambiguity_of",
    "relation_candidates_of",
    "relation_quality_of",
    "repos_of",
    "repositories_of",
    "repository_id",
    "scopes_of",
    "summaries_of",
    "symbols_of",
    "type_facts_of",
    "types_of",
]
