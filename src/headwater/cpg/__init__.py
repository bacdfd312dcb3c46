"""The code property graph of Python repositories: a pipeline on the public API, and nothing around it.

python_graph        declares its source, its extractor and its tables for one repository
graph_name          what the graph of a folder is called
has_python_files    whether there is anything among paths to make a graph of
EVIDENCE            how the names of tables begin that hold the evidence of one repository each
summary_query       asks for the numbers of a graph, and summary_of makes a GraphSummary of the answer
EXAMPLE_QUESTIONS   queries to begin with
"""

from headwater.cpg.pipeline import EVIDENCE, graph_name, has_python_files, python_graph
from headwater.cpg.summary import EXAMPLE_QUESTIONS, GraphSummary, summary_of, summary_query

__all__ = [
    "EVIDENCE",
    "EXAMPLE_QUESTIONS",
    "GraphSummary",
    "graph_name",
    "has_python_files",
    "python_graph",
    "summary_of",
    "summary_query",
]
