"""Which `node_kind` each class of `ast` has: one table, total by the rules below it; and one class more.

Not here: METHOD, which is a FUNCTION whose owner is a class; the walk knows owners.
"""

from __future__ import annotations

import ast


class Error(ast.stmt):
    """A statement that did not parse: it has a place, and nothing in it."""

    _fields = ()


_STATEMENTS = (
    *("Return", "Delete", "Assign", "TypeAlias", "AugAssign", "AnnAssign", "For", "AsyncFor", "While", "If"),
    *("With", "AsyncWith", "Match", "Raise", "Try", "TryStar", "Assert", "Global", "Nonlocal", "Expr"),
    *("Pass", "Break", "Continue", "ExceptHandler", "match_case"),
)
_EXPRESSIONS = (
    *("BoolOp", "NamedExpr", "BinOp", "UnaryOp", "IfExp", "Dict", "Set", "Await", "Yield", "YieldFrom"),
    *("Compare", "FormattedValue", "Interpolation", "Subscript", "Starred", "List", "Tuple", "Slice"),
    *("And", "Or", "Add", "Sub", "Mult", "MatMult", "Div", "Mod", "Pow", "LShift", "RShift", "BitOr"),
    *("BitXor", "BitAnd", "FloorDiv", "Invert", "Not", "UAdd", "USub", "Eq", "NotEq", "Lt", "LtE", "Gt"),
    *("GtE", "Is", "IsNot", "In", "NotIn", "arguments", "comprehension", "withitem"),
)
_PATTERNS = (
    *("MatchValue", "MatchSingleton", "MatchSequence", "MatchMapping", "MatchClass", "MatchStar", "MatchAs"),
    "MatchOr",
)

# By name, so that classes of a newer Python have their kind here before this Python has the class.
NODE_KINDS: dict[str, str] = {
    "Module": "MODULE",
    "ClassDef": "CLASS",
    "FunctionDef": "FUNCTION",
    "AsyncFunctionDef": "FUNCTION",
    "Lambda": "LAMBDA",
    "ListComp": "COMPREHENSION",
    "SetComp": "COMPREHENSION",
    "DictComp": "COMPREHENSION",
    "GeneratorExp": "COMPREHENSION",
    "arg": "PARAMETER",
    "Attribute": "ATTRIBUTE",
    "Import": "IMPORT",
    "ImportFrom": "IMPORT",
    "alias": "IMPORT_ALIAS",
    "Call": "CALL",
    "keyword": "ARGUMENT",
    "Name": "NAME",
    "Constant": "LITERAL",
    "JoinedStr": "LITERAL",
    "TemplateStr": "LITERAL",
    "TypeVar": "TYPE_PARAM",
    "ParamSpec": "TYPE_PARAM",
    "TypeVarTuple": "TYPE_PARAM",
    "TypeIgnore": "COMMENT",
    "Error": "ERROR",
    **dict.fromkeys(_STATEMENTS, "STATEMENT"),
    **dict.fromkeys(_EXPRESSIONS, "EXPRESSION"),
    **dict.fromkeys(_PATTERNS, "PATTERN"),
}

# What a class that the table does not name is, by what it derives from; the first that fits.
_BY_ANCESTOR: tuple[tuple[type[ast.AST], str], ...] = (
    (ast.stmt, "STATEMENT"),
    (ast.pattern, "PATTERN"),
    (ast.AST, "EXPRESSION"),
)


def node_kind_of(kind: type[ast.AST]) -> str:
    """The `node_kind` of a class of `ast`, also of one that this Python does not have yet."""
    named = NODE_KINDS.get(kind.__name__)
    return named or next(found for ancestor, found in _BY_ANCESTOR if issubclass(kind, ancestor))
