"""The kinds of things that the graph has. Not here: which syntax is of which kind."""

from __future__ import annotations

NODE_KINDS = (
    *("REPO", "FILE", "MODULE", "CLASS", "FUNCTION", "METHOD", "LAMBDA", "COMPREHENSION", "PARAMETER"),
    *("ATTRIBUTE", "IMPORT", "IMPORT_ALIAS", "CALL", "ARGUMENT", "NAME", "LITERAL", "EXPRESSION"),
    *("STATEMENT", "PATTERN", "TYPE_PARAM", "COMMENT", "BINDING", "CFG_ENTRY", "CFG_EXIT"),
    *("DIAGNOSTIC", "ERROR", "EXTERNAL_SYMBOL", "DISTRIBUTION", "TYPE"),
)
# Edges by what they are about.
EDGE_FAMILIES = {
    "syntax": (
        *("AST", "CONTAINS", "ARGUMENT", "RECEIVER", "DECORATES", "DOCUMENTS", "ANNOTATED_WITH"),
        *("RAISES", "CATCHES", "AWAITS", "YIELDS", "HAS_DIAGNOSTIC"),
    ),
    "names": ("BINDS", "REFERS_TO", "READS", "WRITES", "DELETES", "CAPTURES"),
    "control flow": (
        *("CFG_NEXT", "CFG_TRUE", "CFG_FALSE", "CFG_EXC", "DOMINATES", "POST_DOMINATES", "CONTROL_DEP"),
    ),
    "data flow": ("REACHING_DEF", "STORES", "LOADS"),
    "modules": ("IMPORTS", "EXPORTS", "REEXPORTS", "STUB_OF"),
    "classes": ("INHERITS", "MRO", "OVERRIDES"),
    "types": ("HAS_TYPE",),
    "calls": ("CALLS", "ARG_PASSES", "RETURNS_TO", "TESTS"),
}
EDGE_KINDS = tuple(kind for kinds in EDGE_FAMILIES.values() for kind in kinds)
# The steps of data that are edges of their own, and what these are called.
STEP_EDGES = {"store": "STORES", "load": "LOADS"}
# What a CONTAINS edge leads to.
CONTAINED_KINDS = ("FILE", "MODULE", "CLASS", "FUNCTION", "METHOD")
SCOPE_KINDS = (
    *("module", "class", "function", "lambda", "comprehension"),
    *("annotation", "type_params", "type_alias"),
)
BINDING_KINDS = (
    *("param", "local", "global", "nonlocal", "free"),
    *("import", "class_attr", "instance_attr", "builtin"),
)
SEVERITIES = ("info", "warning", "error")
