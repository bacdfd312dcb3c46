"""Places for the nodes to which `ast` gives none, read from the text around them.

An operator spans its token: of `and` and `or` the first one, of `not in` and `is not` both words, of
`x += y` also the sign of equality. A clause of a comprehension runs from its `for` or `async` to its last
part; an item of `with` from its first to its last part; a case from `case` to the end of its body. Each takes
in the brackets that its parts stand in, where they open or close inside of it. Parameters run from the first
token after the bracket (or after `lambda`) to the last parameter, default or `/`, without a comma after it;
where there are none they are empty and stand right behind the bracket (or `lambda`).
Not here: the inside of f-strings.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from headwater.cpg.extract.scanning import BETWEEN_CASES, GAP, TRIVIA

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.extract.scanning import Placed, Scan

Placer: TypeAlias = "Callable[[ast.AST, Scan], None]"
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

_Operator = TypeVar("_Operator", ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
_TRIVIA = TRIVIA.pattern
HEADING = re.compile(rb"(?:async%b)?(?:def|class)%b([A-Za-z0-9_\x80-\xff]+)" % (_TRIVIA, _TRIVIA))
_SLASH = re.compile(rb"%b,%b/" % (_TRIVIA, _TRIVIA))
_TYPE_PARAMETERS_END = re.compile(rb"(?:[ \t\f\r\n\\),]+|#[^\r\n]*)*+\]")
_LAMBDA = len(b"lambda")
_TOKENS: dict[type[ast.AST], tuple[bytes, ...]] = {
    ast.Add: (b"+",),
    ast.Sub: (b"-",),
    ast.Mult: (b"*",),
    ast.MatMult: (b"@",),
    ast.Div: (b"/",),
    ast.Mod: (b"%",),
    ast.Pow: (b"**",),
    ast.LShift: (b"<<",),
    ast.RShift: (b">>",),
    ast.BitOr: (b"|",),
    ast.BitXor: (b"^",),
    ast.BitAnd: (b"&",),
    ast.FloorDiv: (b"//",),
    ast.And: (b"and",),
    ast.Or: (b"or",),
    ast.Invert: (b"~",),
    ast.Not: (b"not",),
    ast.UAdd: (b"+",),
    ast.USub: (b"-",),
    ast.Eq: (b"==",),
    ast.NotEq: (b"!=",),
    ast.Lt: (b"<",),
    ast.LtE: (b"<=",),
    ast.Gt: (b">",),
    ast.GtE: (b">=",),
    ast.Is: (b"is",),
    ast.IsNot: (b"is", b"not"),
    ast.In: (b"in",),
    ast.NotIn: (b"not", b"in"),
}


def place_binary(node: ast.AST, scan: Scan) -> None:
    """Give `node.op` of a BinOp its place."""
    each = cast("ast.BinOp", node)
    each.op = _operator(each.op, scan.after(GAP, scan.end_of(each.left)), scan)


def place_augmented(node: ast.AST, scan: Scan) -> None:
    """Give `node.op` of an AugAssign its place, with the sign of equality."""
    each = cast("ast.AugAssign", node)
    each.op = _operator(each.op, scan.after(GAP, scan.end_of(each.target)), scan, more=1)


def place_boolean(node: ast.AST, scan: Scan) -> None:
    """Give `node.op` of a BoolOp the place of its first token."""
    each = cast("ast.BoolOp", node)
    each.op = _operator(each.op, scan.after(GAP, scan.end_of(each.values[0])), scan)


def place_unary(node: ast.AST, scan: Scan) -> None:
    """Give `node.op` of a UnaryOp its place."""
    each = cast("ast.UnaryOp", node)
    each.op = _operator(each.op, scan.start_of(each), scan)


def place_comparisons(node: ast.AST, scan: Scan) -> None:
    """Give each of `node.ops` of a Compare its place."""
    each = cast("ast.Compare", node)
    operands = (each.left, *each.comparators)
    each.ops = [
        _operator(operator, scan.after(GAP, scan.end_of(left)), scan)
        for operator, left in zip(each.ops, operands, strict=False)
    ]


def _operator(operator: _Operator, start: int, scan: Scan, *, more: int = 0) -> _Operator:
    """A node of its own for an operator: `ast` has one object for all that are alike."""
    first, *others = _TOKENS[type(operator)]
    end = start + len(first) + more
    for word in others:
        end = scan.after(TRIVIA, end) + len(word)
    fresh = type(operator)()
    scan.place(fresh, start, end)
    return fresh


def place_clauses(node: ast.AST, scan: Scan) -> None:
    """Give the clauses of a comprehension their places."""
    each = cast("Comprehension", node)
    before: ast.expr = each.value if isinstance(each, ast.DictComp) else each.elt
    for clause in each.generators:
        parts = (clause.target, clause.iter, *clause.ifs)
        start = scan.after(GAP, scan.end_of(before))
        scan.place(clause, start, scan.closed(start, parts))
        before = parts[-1]


def place_items(node: ast.AST, scan: Scan) -> None:
    """Give the items of a `with` their places."""
    each = cast("ast.With | ast.AsyncWith", node)
    before = scan.start_of(each)
    for item in each.items:
        start, end = scan.start_of(item.context_expr), scan.end_of(item.context_expr)
        if item.optional_vars is not None:
            gap = scan.gap(end, scan.start_of(item.optional_vars))
            start = scan.opened(before, start, gap.count(b")"))
            end = scan.closed(start, (item.context_expr, item.optional_vars))
        scan.place(item, start, end)
        before = end


def place_cases(node: ast.AST, scan: Scan) -> None:
    """Give the cases of a `match` their places."""
    each = cast("ast.Match", node)
    before: Placed = each.subject
    for case in each.cases:
        start = scan.after(BETWEEN_CASES, scan.end_of(before))
        before = case.body[-1]
        scan.place(case, start, scan.end_of(before))


def place_parameters(node: ast.AST, scan: Scan) -> None:
    """Give the parameters of a function or lambda their place."""
    each = cast("Definition | ast.Lambda", node)
    inside = scan.start_of(each) + _LAMBDA if isinstance(each, ast.Lambda) else _inside(each, scan)
    last, default = _last_parameter(each.args)
    if last is None:
        scan.place(each.args, inside, inside)
        return
    end = scan.end_of(last)
    if default is not None:
        end = scan.closed(end, (default,))
    slash = _SLASH.match(scan.data, end)
    scan.place(each.args, scan.after(TRIVIA, inside), slash.end() if slash else end)


def _inside(definition: Definition, scan: Scan) -> int:
    """The offset behind the bracket that opens a function's parameters."""
    heading = HEADING.match(scan.data, scan.start_of(definition))
    end = heading.end() if heading else scan.start_of(definition)
    type_parameters = cast("Sequence[Placed]", getattr(definition, "type_params", ()))
    if type_parameters:
        closing = _TYPE_PARAMETERS_END.match(scan.data, scan.end_of(type_parameters[-1]))
        end = closing.end() if closing else end
    return scan.after(TRIVIA, end) + 1


def _last_parameter(parameters: ast.arguments) -> tuple[ast.arg | None, ast.expr | None]:
    """The parameter that is written last, and its default."""
    if parameters.kwarg is not None:
        return parameters.kwarg, None
    if parameters.kwonlyargs:
        return parameters.kwonlyargs[-1], parameters.kw_defaults[-1]
    if parameters.vararg is not None:
        return parameters.vararg, None
    positional = parameters.args or parameters.posonlyargs
    if positional:
        return positional[-1], parameters.defaults[-1] if parameters.defaults else None
    return None, None


# Whose children have no place in `ast`, and what gives them one.
PLACERS: dict[type[ast.AST], Placer] = {
    ast.BinOp: place_binary,
    ast.AugAssign: place_augmented,
    ast.BoolOp: place_boolean,
    ast.UnaryOp: place_unary,
    ast.Compare: place_comparisons,
    ast.ListComp: place_clauses,
    ast.SetComp: place_clauses,
    ast.DictComp: place_clauses,
    ast.GeneratorExp: place_clauses,
    ast.With: place_items,
    ast.AsyncWith: place_items,
    ast.Match: place_cases,
    ast.FunctionDef: place_parameters,
    ast.AsyncFunctionDef: place_parameters,
    ast.Lambda: place_parameters,
}
