"""Steps of data inside one def: from an expression to what is made of it, and to what it is stored in.

Together with definitions that reach uses, they are ways of data from where it is made to where it is used:

    x = source()        call -> x (expr)
    y = [x]             x -> list (store, [0]); list -> y (expr)
    sink(y[0])          y -> y[0] (load, [0])

A step has a kind, which also says whether the value stays the same, and the path that it goes by. Conditions,
comparisons and keys decide, and hand no value on. Not here: what calls hand on, and stores that others load.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.cpg.extract.walk import end_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.extract.walk import Row

# What a step is in the graph, and whether the value stays the same.
STEP_KINDS: tuple[tuple[str, bool], ...] = (
    ("expr", True),
    ("expr", False),
    ("store", True),
    ("store", False),
    ("load", False),
    ("capture", True),
    ("global", True),
)
SAME, MADE, STORED, PUT, LOADED, CAPTURED, SHARED = range(len(STEP_KINDS))
ANY = "[*]"

Step: TypeAlias = "tuple[int, int, int, str | None]"

_ANNOTATIONS = frozenset({"annotation", "returns"})
_LONGEST_PATH = 60


@dataclass(frozen=True, slots=True)
class StepColumns:
    """The steps of a file, in order: entry `i` of every list belongs to step `i`; `kind` is of STEP_KINDS."""

    source: list[int] = field(default_factory=list[int])
    target: list[int] = field(default_factory=list[int])
    kind: list[int] = field(default_factory=list[int])
    path: list[str | None] = field(default_factory=list["str | None"])


def find_steps(rows: Sequence[Row], more: Sequence[Step] = ()) -> StepColumns:
    """The steps of a walked file; `more` are those that come of other defs."""
    steps: list[Step] = []
    handlers = _HANDLERS
    behind = 0
    for row, entry in enumerate(rows):
        handle = handlers.get(entry[0].__class__)
        if handle is None or row < behind:
            continue
        if entry[3] in _ANNOTATIONS:
            behind = end_of(rows, row)
        else:
            handle(steps, row, entry[0])
    steps += more
    return StepColumns(*(list(each) for each in zip(*steps, strict=True))) if steps else StepColumns()


def key_path(node: ast.expr) -> str:
    """The path of a subscript: `[0]`, `['k']`, or `[*]` where the key is not written out."""
    match node:
        case ast.Constant(value=int() | str() as value):
            text = f"[{value!r}]"
            return text if len(text) <= _LONGEST_PATH and text.isprintable() else ANY
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return f"[-{value}]"
        case _:
            return ANY


def _give(steps: list[Step], target: Any, value: Any) -> None:
    """A target gets a value; parts of a tuple get the parts of one that is written out, or items."""
    todo = [(target, value)]
    while todo:
        target, value = todo.pop()
        kind = target.__class__
        if kind is ast.Name:
            steps.append((value.row, target.row, SAME, None))
        elif kind is ast.Attribute:
            steps.append((value.row, target.row, STORED, f".{target.attr}"))
        elif kind is ast.Subscript:
            steps.append((value.row, target.row, STORED, key_path(target.slice)))
        elif kind is ast.Starred:
            steps.append((value.row, target.row, SAME, None))
            todo.append((target.value, target))
        elif value.__class__ in {ast.Tuple, ast.List} and _are_alike(target, value):
            todo.extend(zip(target.elts, value.elts, strict=True))
        else:
            _unpack(steps, target.elts, value.row, todo)


def _unpack(steps: list[Step], elements: list[Any], source: int, todo: list[tuple[Any, Any]]) -> None:
    """Items by their place, up to a star; behind it, and in it, any."""
    is_counted = True
    for place, each in enumerate(elements):
        is_counted = is_counted and each.__class__ is not ast.Starred
        steps.append((source, each.row, LOADED, f"[{place}]" if is_counted else ANY))
        if each.__class__ is ast.Starred:
            todo.append((each.value, each))
        elif each.__class__ is ast.Tuple or each.__class__ is ast.List:
            todo.append((each, each))


def _are_alike(target: Any, value: Any) -> bool:
    return len(target.elts) == len(value.elts) and not any(
        each.__class__ is ast.Starred for each in (*target.elts, *value.elts)
    )


def _assign(steps: list[Step], row: int, node: Any) -> None:
    del row
    for target in node.targets:
        _give(steps, target, node.value)


def _ann_assign(steps: list[Step], row: int, node: Any) -> None:
    del row
    if node.value is not None:
        _give(steps, node.target, node.value)


def _aug_assign(steps: list[Step], row: int, node: Any) -> None:
    """The value goes into the sum, and a method that makes it gives it to the statement."""
    steps.append((node.value.row, node.target.row, MADE, None))
    steps.append((row, node.target.row, SAME, None))
    if node.target.__class__ is not ast.Name:
        steps.append((node.op.row, node.target.row, MADE, None))  # where what was there is loaded


def _named(steps: list[Step], row: int, node: Any) -> None:
    steps.append((node.value.row, node.target.row, SAME, None))
    steps.append((node.value.row, row, SAME, None))


def _loop(steps: list[Step], row: int, node: Any) -> None:
    steps.append((node.iter.row, row, LOADED, ANY))
    _give(steps, node.target, node)


def _with_item(steps: list[Step], row: int, node: Any) -> None:
    steps.append((node.context_expr.row, row, MADE, None))
    if node.optional_vars is not None:
        _give(steps, node.optional_vars, node)


def _binary(steps: list[Step], row: int, node: Any) -> None:
    steps.append((node.left.row, row, MADE, None))
    steps.append((node.right.row, row, MADE, None))


def _unary(steps: list[Step], row: int, node: Any) -> None:
    if node.op.__class__ is not ast.Not:
        steps.append((node.operand.row, row, MADE, None))


def _choice(steps: list[Step], row: int, node: Any) -> None:
    values = node.values if node.__class__ is ast.BoolOp else (node.body, node.orelse)
    steps += [(each.row, row, SAME, None) for each in values]


def _sequence(steps: list[Step], row: int, node: Any) -> None:
    is_set = node.__class__ is ast.Set
    if not is_set and node.ctx.__class__ is not ast.Load:
        return  # a target, which is given its parts where it is given its value
    is_counted = not is_set
    for place, each in enumerate(node.elts):
        if each.__class__ is ast.Starred:
            is_counted = False
            steps.append((each.row, row, MADE, None))
        else:
            steps.append((each.row, row, PUT, f"[{place}]" if is_counted else ANY))


def _dict(steps: list[Step], row: int, node: Any) -> None:
    for key, each in zip(node.keys, node.values, strict=True):
        if key is None:
            steps.append((each.row, row, MADE, None))
            continue
        steps.append((each.row, row, PUT, key_path(key)))
        if key.__class__ is not ast.Constant:
            steps.append((key.row, row, PUT, ANY))


def _comprehension(steps: list[Step], row: int, node: Any) -> None:
    if node.__class__ is ast.DictComp:
        steps.append((node.key.row, row, PUT, ANY))
        steps.append((node.value.row, row, PUT, ANY))
    else:
        steps.append((node.elt.row, row, PUT, ANY))


def _joined(steps: list[Step], row: int, node: Any) -> None:
    steps += [(each.row, row, MADE, None) for each in node.values if each.__class__ is not ast.Constant]


def _formatted(steps: list[Step], row: int, node: Any) -> None:
    steps.append((node.value.row, row, MADE, None))


def _same(steps: list[Step], row: int, node: Any) -> None:
    if getattr(node, "ctx", None).__class__ is not ast.Store:
        steps.append((node.value.row, row, SAME, None))


def _attribute(steps: list[Step], row: int, node: Any) -> None:
    if node.ctx.__class__ is ast.Load:
        steps.append((node.value.row, row, LOADED, f".{node.attr}"))


def _subscript(steps: list[Step], row: int, node: Any) -> None:
    if node.ctx.__class__ is not ast.Load:
        return
    if node.slice.__class__ is ast.Slice:
        steps.append((node.value.row, row, MADE, None))
    else:
        steps.append((node.value.row, row, LOADED, key_path(node.slice)))


def _arguments(steps: list[Step], row: int, node: Any) -> None:
    del row
    positional = [*node.posonlyargs, *node.args]
    first = len(positional) - len(node.defaults)
    for each, default in (
        *zip(positional[first:], node.defaults, strict=True),
        *zip(node.kwonlyargs, node.kw_defaults, strict=True),
    ):
        if default is not None:
            steps.append((default.row, each.row, SAME, None))


# Patterns: what is matched goes from the top to the parts.


def _match(steps: list[Step], row: int, node: Any) -> None:
    del row
    steps += [(node.subject.row, case.pattern.row, SAME, None) for case in node.cases]


def _match_parts(steps: list[Step], row: int, node: Any) -> None:
    steps += [(row, each.row, SAME, None) for each in node.patterns]


def _match_as(steps: list[Step], row: int, node: Any) -> None:
    if node.pattern is not None:
        steps.append((row, node.pattern.row, SAME, None))


def _match_class(steps: list[Step], row: int, node: Any) -> None:
    steps += [(row, each.row, LOADED, None) for each in node.patterns]
    named = zip(node.kwd_attrs, node.kwd_patterns, strict=True)
    steps += [(row, each.row, LOADED, f".{name}") for name, each in named]


def _match_sequence(steps: list[Step], row: int, node: Any) -> None:
    is_counted = True
    for place, each in enumerate(node.patterns):
        is_counted = is_counted and each.__class__ is not ast.MatchStar
        steps.append((row, each.row, LOADED, f"[{place}]" if is_counted else ANY))


def _match_mapping(steps: list[Step], row: int, node: Any) -> None:
    keyed = zip(node.keys, node.patterns, strict=True)
    steps += [(row, each.row, LOADED, key_path(key)) for key, each in keyed]


_HANDLERS: dict[type[ast.AST], Callable[[list[Step], int, Any], None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.NamedExpr: _named,
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.comprehension), _loop),
    ast.withitem: _with_item,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    **dict.fromkeys((ast.BoolOp, ast.IfExp), _choice),
    **dict.fromkeys((ast.List, ast.Tuple, ast.Set), _sequence),
    ast.Dict: _dict,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), _comprehension),
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    **dict.fromkeys((ast.Starred, ast.keyword, ast.Await), _same),
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.arguments: _arguments,
    ast.Match: _match,
    ast.MatchOr: _match_parts,
    ast.MatchAs: _match_as,
    ast.MatchClass: _match_class,
    ast.MatchSequence: _match_sequence,
    ast.MatchMapping: _match_mapping,
}
