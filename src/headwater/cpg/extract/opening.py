"""What opens a scope, what it binds as it opens, and what of it belongs to the scope around.

Siblings come in the order of Python's own symbol table, as far as they may be on one line: what is outside
of an inner scope (decorators, defaults, the first iterable) comes before it. Not here: what is in a scope.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from headwater.cpg.extract.sites import CLASS, COMP, FUNCTION, PARAM, TYPE, Names, Receiver, Scope, Sites
from headwater.cpg.extract.walk import AST_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Handler: TypeAlias = "Callable[[Sites, Any], None]"
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_ANNOTATIONS_ARE_LATE = sys.version_info >= (3, 14)
_COMPREHENSIONS = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}


def open_scope(sites: Sites, scope: Scope) -> None:
    """Make a scope the one at hand: its parameters or targets are bound, its nodes are on the stack."""
    node, parent = scope.node, scope.parent
    private = parent.names.private if parent is not None else ""
    if isinstance(node, ast.ClassDef) and scope.kind in {"class", "type_params"}:
        private = node.name
    scope.names = Names(scope.index, private, sites)
    sites.scope = scope
    sites.stack.extend(reversed(scope.roots))
    if scope.kind in {"function", "lambda"}:
        _bind_parameters(sites, cast("ast.Lambda", node).args)
    elif scope.kind == "comprehension":
        for each in cast("Comprehension", node).generators:
            sites.add_target(each.target, COMP)
    elif scope.kind == "type_params":
        _bind_type_parameters(sites, cast("Any", node).type_params)
    if scope.kind == "function" and (owner := _owner_of(scope)) is not None:
        scope.receiver = _receiver_of(scope, owner)
    elif parent is not None and scope.kind != "class":
        scope.receiver = parent.receiver


def _bind_parameters(sites: Sites, args: ast.arguments) -> None:
    for each in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if each is not None:
            sites.add(each.arg, each, PARAM)


def _bind_type_parameters(sites: Sites, parameters: Iterable[Any]) -> None:
    """Bind them; a bound or a default is looked at late, in a scope of its own."""
    late: list[Scope] = []
    for each in parameters:
        sites.add(each.name, each, TYPE)
        for expression in (getattr(each, "bound", None), getattr(each, "default_value", None)):
            if expression is not None:
                path = sites.path_of(each.name)
                late.append(Scope(expression, "annotation", sites.scope, path, [expression]))
    sites.stack.extend(reversed(late))


def _owner_of(scope: Scope) -> Scope | None:
    """The class whose method a function's scope is."""
    parent = scope.parent
    if parent is not None and parent.kind == "type_params":
        parent = parent.parent
    return parent if parent is not None and parent.kind == "class" else None


def _receiver_of(scope: Scope, owner: Scope) -> Receiver | None:
    node = cast("Function", scope.node)
    first = (*node.args.posonlyargs, *node.args.args)[:1]
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
    return Receiver(first[0].arg, owner, scope.names[first[0].arg]) if first and not is_static else None


def _function(sites: Sites, node: Function) -> None:
    sites.add(node.name, node, FUNCTION)
    path, around = sites.path_of(node.name), sites.scope
    is_generic = bool(getattr(node, "type_params", None))
    if is_generic:
        around = Scope(node, "type_params", around, f"{path}.<type_params>", [])
    last = [
        *annotation_roots(sites, node, _annotations_of(node), around),
        Scope(node, "function", around, path, list[Any](node.body)),
    ]
    if is_generic:
        around.roots = last
        last = [around]
    args = node.args
    sites.stack.extend(reversed([*node.decorator_list, *args.defaults, *args.kw_defaults, *last]))


def _annotations_of(node: Function) -> list[Any]:
    args = node.args
    written = [each.annotation for each in (*args.posonlyargs, *args.args)]
    written += [each.annotation for each in (args.vararg, args.kwarg, *args.kwonlyargs) if each is not None]
    return [each for each in (*written, node.returns) if each is not None]


def annotation_roots(sites: Sites, node: ast.AST, annotations: list[Any], around: Scope) -> list[Any]:
    """What to go through for annotations: them, or a scope with them where they are not evaluated at once."""
    never = sites.never_evaluates_annotations
    if not annotations or not (never or _ANNOTATIONS_ARE_LATE):
        return annotations
    path = sites.path_of("<annotation>")
    return [Scope(node, "annotation", around, path, annotations, is_apart=never)]


def _class(sites: Sites, node: ast.ClassDef) -> None:
    sites.add(node.name, node, CLASS)
    path = sites.path_of(node.name)
    heads: list[Any] = [*node.bases, *(each.value for each in node.keywords)]
    body = list[Any](node.body)
    if getattr(node, "type_params", None):
        generic = Scope(node, "type_params", sites.scope, f"{path}.<type_params>", heads)
        heads.append(Scope(node, "class", generic, path, body))
        sites.stack.append(generic)
    else:
        sites.stack.append(Scope(node, "class", sites.scope, path, body))
        sites.stack.extend(reversed(heads))
    sites.stack.extend(reversed(node.decorator_list))


def _type_alias(sites: Sites, node: Any) -> None:
    sites.add_target(node.name, TYPE)
    path = sites.path_of(node.name.id)
    if node.type_params:
        generic = Scope(node, "type_params", sites.scope, f"{path}.<type_params>", [])
        generic.roots.append(Scope(node, "type_alias", generic, path, [node.value]))
        sites.stack.append(generic)
    else:
        sites.stack.append(Scope(node, "type_alias", sites.scope, path, [node.value]))


def _lambda(sites: Sites, node: ast.Lambda) -> None:
    sites.stack.append(Scope(node, "lambda", sites.scope, "<lambda>", [node.body]))
    sites.stack.extend(reversed([*node.args.defaults, *node.args.kw_defaults]))


def _comprehension(sites: Sites, node: Comprehension) -> None:
    """What makes the elements comes before them; the first iterable is the surrounding scope's."""
    first, *others = node.generators
    inside: list[Any] = [*first.ifs]
    for each in others:
        inside += [each.iter, *each.ifs]
    inside += [node.value, node.key] if isinstance(node, ast.DictComp) else [node.elt]
    sites.stack.append(Scope(node, "comprehension", sites.scope, _COMPREHENSIONS[node.__class__], inside))
    sites.stack.append(first.iter)


def _scope(sites: Sites, scope: Scope) -> None:
    """A scope that opens here, after what is outside of it."""
    if scope.kind in {"lambda", "comprehension"}:
        scope.qualpath = sites.path_of(scope.qualpath)
    sites.children.append(scope)


# How to go on at a node that opens a scope, and at the scope itself, which is next after what is around it.
OPENERS: dict[type, Handler] = {
    Scope: _scope,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Lambda: _lambda,
    **dict.fromkeys(_COMPREHENSIONS, _comprehension),
    **{kind: _type_alias for kind in AST_CLASSES if kind.__name__ == "TypeAlias"},  # from Python 3.12 on
}
