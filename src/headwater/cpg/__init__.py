"""The code property graph of Python repositories: a pipeline on the public API, and nothing around it.

python_graph        declares its source, its extractor and its tables for one repository
graph_name          what the graph of a folder is called
has_python_files    whether there is anything among paths to make a graph of
Surroundings        what there is besides a repository: its distribution, what is installed, others
distribution_of     the name and version that a repository has as a distribution
installed_for       the distributions that the code of a repository can import
EVIDENCE            how the names of tables begin that hold the evidence of one repository each
RESOLUTION          the same of those that hold what its names mean
summary_query       asks for the numbers of a graph, and summary_of makes a GraphSummary of the answer
callgraph_query     asks who calls whom, and callgraphs_of makes call graphs of the answer
EXPORT_THRESHOLD    how sure a candidate must be to be in one, unless another is asked for
QUESTIONS           what people ask of code, by name; `answer_to` answers what is `Asked` of a `Graph` by an
                    `Answer`, which has a `Finding` for each line and a `Link` for each arrow
EXAMPLE_QUESTIONS   queries to begin with
definitions_query   asks for definitions with their edges, and graph_tables makes GraphTables of the answer,
                    of kinds out of DEFINITION_KINDS and DEFINITION_EDGES; graphml_of and dot_of write them
scip_queries        ask for occurrences, and scip_index makes a ScipIndex of the answers
"""

from headwater.cpg.callgraphs import callgraph_query, callgraphs_of
from headwater.cpg.exports import (
    DEFINITION_EDGES,
    DEFINITION_KINDS,
    GraphTables,
    ScipIndex,
    definitions_query,
    dot_of,
    graph_tables,
    graphml_of,
    scip_index,
    scip_queries,
)
from headwater.cpg.installed import distribution_of, installed_for
from headwater.cpg.pipeline import (
    EVIDENCE,
    RESOLUTION,
    Surroundings,
    graph_name,
    has_python_files,
    python_graph,
)
from headwater.cpg.questions import QUESTIONS, Answer, Asked, Finding, Graph, Link, answer_to
from headwater.cpg.resolve import EXPORT_THRESHOLD
from headwater.cpg.summary import EXAMPLE_QUESTIONS, GraphSummary, summary_of, summary_query

__all__ = [
    "DEFINITION_EDGES",
    "DEFINITION_KINDS",
    "EVIDENCE",
    "EXAMPLE_QUESTIONS",
    "EXPORT_THRESHOLD",
    "QUESTIONS",
    "RESOLUTION",
    "Answer",
    "Asked",
    "Finding",
    "Graph",
    "GraphSummary",
    "GraphTables",
    "Link",
    "ScipIndex",
    "Surroundings",
    "answer_to",
    "callgraph_query",
    "callgraphs_of",
    "definitions_query",
    "distribution_of",
    "dot_of",
    "graph_name",
    "graph_tables",
    "graphml_of",
    "has_python_files",
    "installed_for",
    "python_graph",
    "scip_index",
    "scip_queries",
    "summary_of",
    "summary_query",
]
