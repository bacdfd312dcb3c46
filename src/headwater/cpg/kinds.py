"""The kinds of things that the graph has. Not here: which syntax is of which kind."""

from __future__ import annotations

NODE_KINDS = (
    *("REPO", "FILE", "MODULE", "CLASS", "FUNCTION", "METHOD", "LAMBDA", "COMPREHENSION", "PARAMETER"),
    *("ATTRIBUTE", "IMPORT", "IMPORT_ALIAS", "CALL", "ARGUMENT", "NAME", "LITERAL", "EXPRESSION"),
    *("STATEMENT", "PATTERN", "TYPE_PARAM", "COMMENT", "BINDING", "CFG_ENTRY", "CFG_EXIT"),
    *("DIAGNOSTIC", "ERROR"),
)
EDGE_KINDS = (
    *("AST", "CONTAINS", "BINDS", "REFERS_TO", "READS", "WRITES", "DELETES", "CAPTURES", "ARGUMENT"),
    *("RECEIVER", "DECORATES", "DOCUMENTS", "RAISES", "CATCHES", "AWAITS", "YIELDS", "ANNOTATED_WITH"),
    *("CFG_NEXT", "CFG_TRUE", "CFG_FALSE", "CFG_EXC", "DOMINATES", "POST_DOMINATES", "CONTROL_DEP"),
    *("REACHING_DEF", "HAS_DIAGNOSTIC"),
)
SCOPE_KINDS = (
    *("module", "class", "function", "lambda", "comprehension"),
    *("annotation", "type_params", "type_alias"),
)
BINDING_KINDS = (
    *("param", "local", "global", "nonlocal", "free"),
    *("import", "class_attr", "instance_attr", "builtin"),
)
SEVERITIES = ("info", "warning", "error")
