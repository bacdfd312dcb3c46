"""What a code graph has, in forms that other tools read: rows become text or bytes here, without any files.

GraphTables, graph_tables, definitions_query
                            definitions and the edges between them as tables, and the query that gives them
DEFINITION_KINDS, DEFINITION_EDGES
                            the kinds that definitions and their edges have
graphml_of, dot_of          the tables as GraphML and for Graphviz
ScipIndex, scip_index, scip_queries
                            a SCIP index, and the queries that give what it is made of
scip_symbol                 a symbol in SCIP's own grammar
"""

from headwater.cpg.exports.dot import dot_of
from headwater.cpg.exports.grammar import scip_symbol
from headwater.cpg.exports.graphml import graphml_of
from headwater.cpg.exports.scip import ScipIndex, scip_index, scip_queries
from headwater.cpg.exports.tables import (
    DEFINITION_EDGES,
    DEFINITION_KINDS,
    GraphTables,
    definitions_query,
    graph_tables,
)

__all__ = [
    "DEFINITION_EDGES",
    "DEFINITION_KINDS",
    "GraphTables",
    "ScipIndex",
    "definitions_query",
    "dot_of",
    "graph_tables",
    "graphml_of",
    "scip_index",
    "scip_queries",
    "scip_symbol",
]
