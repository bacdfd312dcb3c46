"""The value facts of statements: targets, loops, imports, functions, classes, patterns.

Not here: expressions, and what is raised and caught.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.flow.definitions import parameters_of
from headwater.cpg.extract.values.annotations import annotate
from headwater.cpg.extract.values.expressions import METHODS, operate
from headwater.cpg.extract.values.facts import (
    ASYNC_FUNCTION,
    ATTR,
    BASE,
    CLASS,
    DECORATOR,
    DEFAULT,
    ENTER,
    FROM,
    FUNCTION,
    IMPORT,
    IMPORT_AS,
    INSTANCE,
    INT_KEY,
    ITEM,
    ITEM_BY,
    ITERATE,
    KEY,
    KEYWORD_ONLY,
    LAMBDA,
    METACLASS,
    NOTHING,
    PARAM,
    POSITIONAL,
    POSITIONAL_ONLY,
    RETURNED,
    RETURNS,
    STAR,
    UNPACK,
    VAR_KEYWORD,
    VAR_POSITIONAL,
)
from headwater.cpg.extract.values.gathering import written_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.cpg.extract.values.gathering import Gathering


def note_given(found: Gathering, node: Any) -> None:
    """Note what the names of a statement's targets are given, where that is one expression or variable."""
    kind = node.__class__
    if kind is ast.Assign:
        for target in node.targets:
            _give(found, target, node.value)
    elif kind is ast.AnnAssign:
        if (
            node.value is not None
            and node.target.__class__ is ast.Name
            and node.target.row not in found.given
        ):
            found.given[node.target.row] = node.value
    elif kind is ast.NamedExpr:
        found.given[node.target.row] = node.value
    elif kind is ast.withitem:
        if node.optional_vars.__class__ is ast.Name:
            found.given[node.optional_vars.row] = node.row
    elif node.target.__class__ is ast.Name:
        found.given[node.target.row] = node.row


def _give(found: Gathering, target: Any, value: Any) -> None:
    """A name gets the value itself; names of a tuple get the parts of a tuple that is written out."""
    todo = [(target, value)]
    while todo:
        target, value = todo.pop()
        if target.__class__ is ast.Name:
            found.given[target.row] = value
        elif target.__class__ in {ast.Tuple, ast.List} and _are_alike(target, value):
            todo.extend(zip(target.elts, value.elts, strict=True))


def _are_alike(target: Any, value: Any) -> bool:
    return (
        value.__class__ in {ast.Tuple, ast.List}
        and len(target.elts) == len(value.elts)
        and not any(each.__class__ is ast.Starred for each in (*target.elts, *value.elts))
    )


def assign(found: Gathering, target: Any, source: int) -> None:
    """Give a target that is no name with a given value what a variable has."""
    todo = [(target, source)]
    while todo:
        target, source = todo.pop()
        kind = target.__class__
        if source == NOTHING or (kind is ast.Name and target.row in found.given):
            continue
        if kind is ast.Tuple or kind is ast.List:
            todo.extend((each, each.row) for each in target.elts)
            _unpack(found, target.elts, source)
        elif kind is ast.Starred:
            todo.append((target.value, source))
        elif target.row != source:
            found.copy(target.row, source)


def _unpack(found: Gathering, elements: list[Any], source: int) -> None:
    """Items by their place; what a star takes begins at its place and leaves as many as follow it."""
    star = next((place for place, each in enumerate(elements) if each.__class__ is ast.Starred), None)
    for place, each in enumerate(elements):
        if star is None or place < star:
            text = f"{INT_KEY}{place}"
        elif place == star:
            text = f":{place}:{len(elements) - place - 1}"
        else:
            text = f"-{len(elements) - place}"
        found.facts.append((UNPACK, each.row, source, text))


def _assign(found: Gathering, row: int, node: Any) -> None:
    del row
    targets = [each for each in node.targets if each.__class__ is not ast.Name]
    for target in targets:
        if target.__class__ in {ast.Tuple, ast.List} and _are_alike(target, node.value):
            _assign_parts(found, target, node.value)
        else:
            assign(found, target, found.variable(node.value))


def _assign_parts(found: Gathering, target: Any, value: Any) -> None:
    todo = [(target, value)]
    while todo:
        target, value = todo.pop()
        if target.__class__ in {ast.Tuple, ast.List} and _are_alike(target, value):
            todo.extend(zip(target.elts, value.elts, strict=True))
        elif target.__class__ is not ast.Name:
            assign(found, target, found.variable(value))


def _ann_assign(found: Gathering, row: int, node: Any) -> None:
    del row
    if node.value is not None:
        assign(found, node.target, found.variable(node.value))
    annotate(found, node.target.row, node.annotation)


def _aug_assign(found: Gathering, row: int, node: Any) -> None:
    target, load = node.target, node.op.row
    if target.__class__ is ast.Name:
        left = found.name(target.row)
    else:
        left = load
        found.enter(row)
        _load_again(found, target, load)
        found.copy(target.row, row)
    operate(found, row, f"__i{METHODS[node.op.__class__]}__", left, node.value)


def _load_again(found: Gathering, target: Any, load: int) -> None:
    """What an augmented assignment reads before it stores."""
    source = found.variable(target.value)
    if target.__class__ is ast.Attribute:
        found.facts.append((ATTR, load, source, found.attribute(target)))
        return
    text = written_key(target.slice)
    if text is not None:
        found.facts.append((ITEM, load, source, text))
    else:
        key = found.variable(target.slice)
        found.facts.append((ITEM_BY, load, source, None))
        found.facts.append((KEY, NOTHING, key, None))


def _loop(found: Gathering, row: int, node: Any) -> None:
    source = found.variable(node.iter)
    if source != NOTHING:
        found.enter(row)
        is_async = node.__class__ is ast.AsyncFor or getattr(node, "is_async", 0)
        found.facts.append((ITERATE, row, source, "async" if is_async else None))
        assign(found, node.target, row)


def _with(found: Gathering, row: int, node: Any) -> None:
    text = "async" if node.__class__ is ast.AsyncWith else None
    for item in node.items:
        source = found.variable(item.context_expr)
        found.enter(row)
        found.facts.append((ENTER, item.row, source, text))
        if item.optional_vars is not None:
            assign(found, item.optional_vars, item.row)


def _import(found: Gathering, row: int, node: Any) -> None:
    del row
    for each in node.names:
        found.facts.append((IMPORT_AS if each.asname else IMPORT, each.row, 0, each.name))


def _import_from(found: Gathering, row: int, node: Any) -> None:
    del row
    for each in node.names:
        if each.name == "*":
            found.facts.append((STAR, each.row, node.level, node.module or ""))
        else:
            found.facts.append((FROM, each.row, node.level, f"{node.module or ''} {each.name}"))


def _decorators(found: Gathering, row: int, node: Any) -> None:
    if node.decorator_list:
        made = [(DECORATOR, each.row, found.variable(each), None) for each in node.decorator_list]
        found.enter(row)
        found.facts += reversed(made)


def _function(found: Gathering, row: int, node: Any) -> None:
    _decorators(found, row, node)
    op = ASYNC_FUNCTION if node.__class__ is ast.AsyncFunctionDef else FUNCTION
    found.facts.append((op, row, found.rows[row][2].row, node.name))
    _parameters(found, row, node.args)
    if node.returns is not None:
        annotate(found, row, node.returns)


def _lambda(found: Gathering, row: int, node: Any) -> None:
    found.facts.append((LAMBDA, row, found.rows[row][2].row, "<lambda>"))
    _parameters(found, row, node.args)
    source = found.variable(node.body)
    if source != NOTHING:
        found.facts.append((RETURNS, row, source, None))
    found.facts.append((RETURNED, row, node.body.row, None))


def _parameters(found: Gathering, row: int, arguments: ast.arguments) -> None:
    kinds = (
        (POSITIONAL_ONLY, arguments.posonlyargs),
        (POSITIONAL, arguments.args),
        (VAR_POSITIONAL, [arguments.vararg]),
        (KEYWORD_ONLY, arguments.kwonlyargs),
        (VAR_KEYWORD, [arguments.kwarg]),
    )
    facts = found.facts
    for kind, some in kinds:
        for each in some:
            if each is not None:
                facts.append((PARAM, each.__dict__["row"], row, kind + each.arg))
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    for each, default in (
        *zip(positional[first:], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        if default is not None:
            facts.append((DEFAULT, each.__dict__["row"], found.variable(default), None))
    for each in parameters_of(arguments):
        if each.annotation is not None:
            annotate(found, each.row, each.annotation)


def _class(found: Gathering, row: int, node: Any) -> None:
    _decorators(found, row, node)
    found.enter(row)
    found.facts.append((CLASS, row, found.rows[row][2].row, node.name))
    for each in node.bases:
        value = each.value if each.__class__ is ast.Subscript else each  # a generic base is that of its class
        found.facts.append((BASE, row, found.variable(value), None))
    for each in node.keywords:
        if each.arg == "metaclass":
            found.facts.append((METACLASS, row, found.variable(each.value), None))


def _return(found: Gathering, row: int, node: Any) -> None:
    owner = found.runners[row]
    source = NOTHING if node.value is None else found.variable(node.value)
    if source != NOTHING and owner is not None:
        found.facts.append((RETURNS, owner, source, None))
    if node.value is not None and owner is not None:
        found.facts.append((RETURNED, owner, node.value.row, None))


# Patterns: what is matched is given from the top to the parts.


def _match(found: Gathering, row: int, node: Any) -> None:
    del row
    subject = found.variable(node.subject)
    for case in node.cases:
        found.copy(case.pattern.row, subject)


def _match_parts(found: Gathering, row: int, node: Any) -> None:
    for each in node.patterns:
        found.copy(each.row, row)


def _match_as(found: Gathering, row: int, node: Any) -> None:
    if node.pattern is not None:
        found.copy(node.pattern.row, row)
        if node.pattern.__class__ is ast.MatchClass:
            found.copy(row, node.pattern.row)


def _match_class(found: Gathering, row: int, node: Any) -> None:
    source = found.variable(node.cls)
    if source != NOTHING:
        found.facts.append((INSTANCE, row, source, None))
    for name, each in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
        found.facts.append((ATTR, each.row, row, name))


def _match_sequence(found: Gathering, row: int, node: Any) -> None:
    star = next((place for place, each in enumerate(node.patterns) if each.__class__ is ast.MatchStar), None)
    for place, each in enumerate(node.patterns):
        text = f"{INT_KEY}{place}"
        if star is not None and place >= star:
            behind = len(node.patterns) - place
            text = f":{place}:{behind - 1}" if place == star else f"-{behind}"
        found.facts.append((UNPACK, each.row, row, text))


def _match_mapping(found: Gathering, row: int, node: Any) -> None:
    for key, each in zip(node.keys, node.patterns, strict=True):
        text = written_key(key)
        if text is not None:
            found.facts.append((ITEM, each.row, row, text))


STATEMENTS: dict[type[ast.AST], Callable[[Gathering, int, Any], None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.comprehension), _loop),
    **dict.fromkeys((ast.With, ast.AsyncWith), _with),
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), _function),
    ast.Lambda: _lambda,
    ast.ClassDef: _class,
    ast.Return: _return,
    ast.Match: _match,
    ast.MatchOr: _match_parts,
    ast.MatchAs: _match_as,
    ast.MatchClass: _match_class,
    ast.MatchSequence: _match_sequence,
    ast.MatchMapping: _match_mapping,
}
GIVING = frozenset(
    {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension}
    | {ast.withitem}
)
