"""What names, imports and calls mean across the files of a repository: plain functions, no Spark, no Arrow.

resolve_files    all rows of a repository, from the value facts of its files
FileValues       what is needed of a file: its path, counts of nodes and bindings, and its value facts
Distributions    the distribution of the repository, and those of modules outside
ResolvedRows     what resolve_files gives back: the columns below
DefinitionRows   modules, classes and functions with their symbols
ImportRows       what imports mean, and the modules they came through
ExportRows       what others get from each module
BaseRows         the bases of classes
OrderRows        the order in which attributes are looked up in classes
OverrideRows     which method overrides which
CallRows         calls, written and implied
TargetRows       all candidates of each call, with how they were found and how sure they are
ArgumentRows     which parameter each argument goes to
call_graph       who calls whom, by dotted names
EXPORT_THRESHOLD how sure a candidate must be to be in that graph, unless another is asked for
"""

from headwater.cpg.resolve.arguments import ArgumentRows
from headwater.cpg.resolve.callgraph import call_graph
from headwater.cpg.resolve.confidence import EXPORT_THRESHOLD
from headwater.cpg.resolve.defining import FileValues
from headwater.cpg.resolve.definitions import DefinitionRows
from headwater.cpg.resolve.hierarchy import BaseRows, OrderRows, OverrideRows
from headwater.cpg.resolve.importing import ExportRows, ImportRows
from headwater.cpg.resolve.outcome import CallRows, TargetRows
from headwater.cpg.resolve.symbols import Distributions
from headwater.cpg.resolve.whole import ResolvedRows, resolve_files

__all__ = [
    "EXPORT_THRESHOLD",
    "ArgumentRows",
    "BaseRows",
    "CallRows",
    "DefinitionRows",
    "Distributions",
    "ExportRows",
    "FileValues",
    "ImportRows",
    "OrderRows",
    "OverrideRows",
    "ResolvedRows",
    "TargetRows",
    "call_graph",
    "resolve_files",
]
