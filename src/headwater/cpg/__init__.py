"""The code property graph of Python repositories: a pipeline on the public API, and nothing around it.

python_graph        declares its source, its extractor and its tables for one repository
graph_name          what the graph of a folder is called
has_python_files    whether there is anything among paths to make a graph of
GRAPH_TABLES        the tables people ask, in the order in which they are shown
"""

from headwater.cpg.pipeline import GRAPH_TABLES, graph_name, has_python_files, python_graph

__all__ = ["GRAPH_TABLES", "graph_name", "has_python_files", "python_graph"]
