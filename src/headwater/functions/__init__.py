"""Deterministic SQL primitives, installed before any planning.

FunctionDefinition   one primitive and the statement that installs it
FunctionSnapshot     all of them, with one digest
function_snapshot    what every session of this version has
"""

from headwater.functions.catalog import FunctionDefinition, FunctionSnapshot, function_snapshot

__all__ = ["FunctionDefinition", "FunctionSnapshot", "function_snapshot"]
