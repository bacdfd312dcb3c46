"""What names, imports and calls mean across the files of a repository: plain functions, no Spark, no Arrow.

resolve_files    all rows of a repository, from the value facts of its files
FileValues       what is needed of a file: its path, counts of nodes and bindings, and its value facts
Bound            what binds the names of its files
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
BindingRows      the symbols of names that others can mean
ReferenceRows    what attributes refer to
TypeRows         types in their canonical form
TypeFactRows     which type each parameter, function and name has, by what source, and how sure that is
FlowRows         from which node to which data goes, across defs
SummaryRows      where the parameters of each function go
EffectRows       what each def does to the world, and which exceptions leave it
find_calls       what a call graph is made of
call_graph       who calls whom, by dotted names
is_called        whether a candidate of a call is in it
symbol_parts     the distribution, version and dotted name in a symbol of something outside
EXPORT_THRESHOLD how sure a candidate must be to be in that graph, unless another is asked for
"""

from headwater.cpg.resolve.arguments import ArgumentRows
from headwater.cpg.resolve.callgraph import call_graph, is_called
from headwater.cpg.resolve.confidence import EXPORT_THRESHOLD
from headwater.cpg.resolve.defining import FileValues
from headwater.cpg.resolve.definitions import DefinitionRows
from headwater.cpg.resolve.flow import FlowRows
from headwater.cpg.resolve.hierarchy import BaseRows, OrderRows, OverrideRows
from headwater.cpg.resolve.importing import ExportRows, ImportRows
from headwater.cpg.resolve.outcome import CallRows, TargetRows
from headwater.cpg.resolve.referring import BindingRows, Bound, ReferenceRows
from headwater.cpg.resolve.summaries import EffectRows, SummaryRows
from headwater.cpg.resolve.symbols import Distributions, symbol_parts
from headwater.cpg.resolve.typefacts import TypeFactRows, TypeRows
from headwater.cpg.resolve.whole import ResolvedRows, find_calls, resolve_files

__all__ = [
    "EXPORT_THRESHOLD",
    "ArgumentRows",
    "BaseRows",
    "BindingRows",
    "Bound",
    "CallRows",
    "DefinitionRows",
    "Distributions",
    "EffectRows",
    "ExportRows",
    "FileValues",
    "FlowRows",
    "ImportRows",
    "OrderRows",
    "OverrideRows",
    "ReferenceRows",
    "ResolvedRows",
    "SummaryRows",
    "TargetRows",
    "TypeFactRows",
    "TypeRows",
    "call_graph",
    "find_calls",
    "is_called",
    "resolve_files",
    "symbol_parts",
]
