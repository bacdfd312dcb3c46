"""The value facts of expressions.

Not here: statements, and which variable a name stands for.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.values.facts import (
    ARG,
    ATTR,
    AWAIT,
    CALL,
    CONST,
    DISPLAY,
    ELEMENT,
    FORMATTED,
    INT_KEY,
    ITEM,
    ITEM_BY,
    KEY,
    KEYS,
    NOTHING,
    OPERATOR,
    SET_ATTR,
    SET_ITEM,
    SET_ITEM_BY,
    SPREAD,
    YIELDED,
    YIELDS,
    YIELDS_FROM,
)
from headwater.cpg.extract.values.gathering import prefix_text, written_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.cpg.extract.values.gathering import Gathering

METHODS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.BitAnd: "and",
    ast.FloorDiv: "floordiv",
}
_COMPARISONS: dict[type[ast.AST], str] = {
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
}
_UNARY: dict[type[ast.AST], str] = {ast.Invert: "__invert__", ast.UAdd: "__pos__", ast.USub: "__neg__"}


def _attribute(found: Gathering, row: int, node: Any) -> None:
    value = found.updated.get(row)
    if value is not None:
        found.copy(row, found.variable(value), f".{node.attr}")
        return
    source = found.variable(node.value)
    if source != NOTHING and node.ctx.__class__ is not ast.Del:
        found.enter(row)
        op = ATTR if node.ctx.__class__ is ast.Load else SET_ATTR
        found.facts.append((op, row, source, found.attribute(node)))


def _subscript(found: Gathering, row: int, node: Any) -> None:
    value = found.updated.get(row)
    if value is not None:
        found.copy(row, found.variable(value), f"[{written_key(node.slice)}")
        return
    source = found.variable(node.value)
    if source == NOTHING:
        return
    found.enter(row)
    context = node.ctx.__class__
    if context is ast.Del:
        found.facts.append((OPERATOR, row, source, "__delitem__"))
        return
    text = written_key(node.slice)
    if text is None:
        key = NOTHING if node.slice.__class__ is ast.Slice else found.variable(node.slice)
        found.facts.append((ITEM_BY if context is ast.Load else SET_ITEM_BY, row, source, None))
        found.facts.append((KEY, NOTHING, key, None))
    else:
        found.facts.append((ITEM if context is ast.Load else SET_ITEM, row, source, text))


def _call(found: Gathering, row: int, node: Any) -> None:
    variable = found.variable
    callee = variable(node.func)
    arguments: list[tuple[int, int, int, str | None]] = []
    for each in node.args:
        if each.__class__ is ast.Starred:
            arguments.append((ARG, each.row, variable(each.value), "*"))
        else:
            arguments.append((ARG, each.row, variable(each), None))
    arguments += [(ARG, each.row, variable(each.value), each.arg or "**") for each in node.keywords]
    found.enter(row)
    found.facts.append((CALL, row, callee, None))
    found.facts += arguments


def operate(found: Gathering, row: int, method: str, left: int, right: Any) -> None:
    """Add a call of an operator's method; `right` is the node of its argument."""
    argument = found.variable(right)
    found.enter(row)
    found.facts.append((OPERATOR, row, left, method))
    found.facts.append((ARG, right.row, argument, None))


def _binary(found: Gathering, row: int, node: Any) -> None:
    operate(found, row, f"__{METHODS[node.op.__class__]}__", found.variable(node.left), node.right)
    if node.left.__class__ is ast.Constant and node.op.__class__ in {ast.Add, ast.Mod}:
        text = prefix_text(node.left)
        if text != "str":
            found.facts.append((CONST, row, NOTHING, text))


def _unary(found: Gathering, row: int, node: Any) -> None:
    method = _UNARY.get(node.op.__class__)
    is_plain = method is None or node.operand.__class__ is ast.Constant
    source = NOTHING if is_plain else found.variable(node.operand)
    if source != NOTHING:
        found.enter(row)
        found.facts.append((OPERATOR, row, source, method))


def _compare(found: Gathering, row: int, node: Any) -> None:
    del row
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        kind = operator.__class__
        if kind in _COMPARISONS:
            if left.__class__ is not ast.Constant:
                operate(found, operator.row, _COMPARISONS[kind], found.variable(left), right)
        elif kind is ast.In or kind is ast.NotIn:
            operate(found, operator.row, "__contains__", found.variable(right), left)
        left = right


def _choice(found: Gathering, row: int, node: Any) -> None:
    values = node.values if node.__class__ is ast.BoolOp else (node.body, node.orelse)
    for each in values:
        found.copy(row, found.variable(each))


def _sequence(found: Gathering, row: int, node: Any) -> None:
    if node.__class__ is not ast.Set and node.ctx.__class__ is not ast.Load:
        return  # a target, whose parts are given their values where it is given its own
    facts = found.facts
    facts.append((DISPLAY, row, NOTHING, node.__class__.__name__.lower()))
    is_counted = node.__class__ is not ast.Set
    for index, each in enumerate(node.elts):
        if each.__class__ is ast.Starred:
            is_counted = False
            facts.append((SPREAD, row, found.variable(each.value), str(index)))
            continue
        value = found.variable(each)
        if value != NOTHING:
            facts.append((ELEMENT, row, value, f"{INT_KEY}{index}" if is_counted else None))


def _dict(found: Gathering, row: int, node: Any) -> None:
    facts = found.facts
    facts.append((DISPLAY, row, NOTHING, "dict"))
    for key, each in zip(node.keys, node.values, strict=True):
        value = found.variable(each)
        if key is None:
            facts.append((SPREAD, row, value, None))
            continue
        name = found.variable(key)
        if name != NOTHING:
            facts.append((KEYS, row, name, None))
        if value != NOTHING:
            facts.append((ELEMENT, row, value, written_key(key)))


def _comprehension(found: Gathering, row: int, node: Any) -> None:
    kind = node.__class__
    names = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator"}
    found.facts.append((DISPLAY, row, NOTHING, names[kind]))
    if kind is ast.DictComp:
        key = found.variable(node.key)
        if key != NOTHING:
            found.facts.append((KEYS, row, key, None))
    value = found.variable(node.value if kind is ast.DictComp else node.elt)
    if value != NOTHING:
        found.facts.append((ELEMENT, row, value, None))


def _formatted(found: Gathering, row: int, node: Any) -> None:
    source = found.variable(node.value)
    if source != NOTHING and node.value.__class__ is not ast.Constant:
        found.facts.append((FORMATTED, found.rows[row][1], row, None))
        found.enter(row)
        found.facts.append((OPERATOR, row, source, "__repr__" if node.conversion == ord("r") else "__str__"))


def _await(found: Gathering, row: int, node: Any) -> None:
    source = found.variable(node.value)
    if source != NOTHING:
        found.enter(row)
        found.facts.append((AWAIT, row, source, None))


def _yield(found: Gathering, row: int, node: Any) -> None:
    owner = found.runners[row]
    source = NOTHING if node.value is None else found.variable(node.value)
    if owner is not None:
        found.facts.append((YIELDS, owner, source, None))
        if node.value is not None:
            found.facts.append((YIELDED, owner, node.value.row, None))


def _yield_from(found: Gathering, row: int, node: Any) -> None:
    owner = found.runners[row]
    if owner is not None:
        found.enter(row)
        found.facts.append((YIELDS_FROM, row, found.variable(node.value), None))
        found.facts.append((YIELDED, owner, node.value.row, "from"))


EXPRESSIONS: dict[type[ast.AST], Callable[[Gathering, int, Any], None]] = {
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _choice,
    ast.IfExp: _choice,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), _comprehension),
    ast.FormattedValue: _formatted,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}
