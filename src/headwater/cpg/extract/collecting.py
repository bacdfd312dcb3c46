"""One pass over a module, scope by scope: every name at its site, every scope where it opens.

It goes without recursion, so no tree that Python can make is too deep. Siblings come in the order in which
Python's own symbol table has them, as far as they may be on one line: what is outside of an inner scope
(decorators, defaults, the first iterable) comes before it. Not here: what names stand for.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from headwater.cpg.extract.sites import (
    ANN,
    ANNOTATE,
    ASSIGN,
    AUG,
    CLASS,
    COMP,
    DECLARE,
    DEL,
    EXCEPT,
    FOR,
    FUNCTION,
    IMPORT,
    IS_DEFINED,
    IS_GLOBAL,
    IS_LENT,
    IS_NONLOCAL,
    MATCH,
    PARAM,
    TYPE,
    USE,
    WALRUS,
    WITH,
    Names,
    Receiver,
    Scope,
    Sites,
)
from headwater.cpg.extract.walk import AST_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Handler: TypeAlias = "Callable[[Sites, Any], None]"
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_ANNOTATIONS_ARE_LATE = sys.version_info >= (3, 14)
_CALLED_FUNCTIONS = frozenset({"function", "lambda", "comprehension"})
_CELL, _SUPER = "__class__", "super"
_COMPREHENSIONS = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}


def collect_sites(module: ast.Module) -> Sites:
    """All scopes of a module, outer before inner, with their names and sites."""
    sites = Sites(never_evaluates_annotations=_imports_annotations(module))
    pending = [Scope(module, "module", None, "", list[Any](module.body))]
    while pending:
        scope = pending.pop()
        scope.index = len(sites.scopes)
        sites.scopes.append(scope)
        _open(sites, scope)
        first = len(sites.bindings)
        _go_through(sites)
        if _SUPER in scope.names and scope.kind in _CALLED_FUNCTIONS:
            _note_cells(sites, first)
        pending.extend(reversed(sites.children))
        sites.children.clear()
    for names, spelling in sites.spellings:
        names.pop(spelling, None)
    return sites


def _go_through(sites: Sites) -> None:
    """Note every site of the scope at hand, beginning with the nodes on the stack."""
    stack, names, receiver = sites.stack, sites.scope.names, sites.scope.receiver
    pop, push, extend = stack.pop, stack.append, stack.extend
    add_binding, add_node, add_code = sites.bindings.append, sites.nodes.append, sites.codes.append
    handlers, fields_of = _HANDLERS, _FIELDS
    received = receiver.name if receiver is not None else None
    while stack:
        node = pop()
        kind = node.__class__
        if kind is ast.Name:
            add_binding(names[node.id])
            add_node(node)
            add_code(USE)
        elif kind is ast.Attribute:
            value = node.value
            if value.__class__ is ast.Name and value.id != received:
                add_binding(names[value.id])
                add_node(value)
                add_code(USE)
            else:
                sites.add_attribute(node, USE)
        elif kind is ast.Call:
            if node.keywords:
                extend([each.value for each in reversed(node.keywords)])
            extend(node.args[::-1])
            push(node.func)
        elif kind in handlers:
            handlers[kind](sites, node)
        else:
            for name in fields_of[kind]:
                value = getattr(node, name)
                if value.__class__ is list:
                    extend(value[::-1])
                else:
                    push(value)


def _open(sites: Sites, scope: Scope) -> None:
    """Make a scope the one at hand: its parameters or targets are bound, its nodes are on the stack."""
    node, parent = scope.node, scope.parent
    private = parent.names.private if parent is not None else ""
    if isinstance(node, ast.ClassDef) and scope.kind in {"class", "type_params"}:
        private = node.name
    scope.names = Names(scope, private, sites)
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


def _note_cells(sites: Sites, first: int) -> None:
    """Note a use of `__class__` with each use of `super` in the scope at hand."""
    binding = sites.scope.names[_SUPER]
    for site in range(first, len(sites.bindings)):
        if sites.bindings[site] == binding and sites.codes[site] == USE:
            sites.add(_CELL, sites.nodes[site], USE)


def _imports_annotations(module: ast.Module) -> bool:
    return any(
        isinstance(each, ast.ImportFrom)
        and each.module == "__future__"
        and any(alias.name == "annotations" for alias in each.names)
        for each in module.body
    )


def _function(sites: Sites, node: Function) -> None:
    sites.add(node.name, node, FUNCTION)
    path = sites.path_of(node.name)
    outside = sites.scope
    annotations = _annotations_of(node)
    if getattr(node, "type_params", None):
        generic = Scope(node, "type_params", outside, f"{path}.<type_params>", [])
        generic.roots = _late(sites, node, annotations, generic)
        generic.roots.append(Scope(node, "function", generic, path, list[Any](node.body)))
        sites.stack.append(generic)
        annotations = []
    else:
        sites.stack.append(Scope(node, "function", outside, path, list[Any](node.body)))
    if annotations:
        sites.stack.extend(reversed(_late(sites, node, annotations, outside)))
    args = node.args
    sites.stack.extend(reversed([*node.decorator_list, *args.defaults, *args.kw_defaults]))


def _annotations_of(node: Function) -> list[Any]:
    args = node.args
    written = [each.annotation for each in (*args.posonlyargs, *args.args)]
    written += [each.annotation for each in (args.vararg, args.kwarg, *args.kwonlyargs) if each is not None]
    return [each for each in (*written, node.returns) if each is not None]


def _late(sites: Sites, node: ast.AST, annotations: list[Any], around: Scope) -> list[Any]:
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


def _assign(sites: Sites, node: ast.Assign) -> None:
    sites.stack.append(node.value)
    for target in node.targets:
        sites.add_target(target, ASSIGN)


def _aug_assign(sites: Sites, node: ast.AugAssign) -> None:
    sites.stack.append(node.value)
    if isinstance(node.target, ast.Name):
        sites.add(node.target.id, node.target, USE)
    sites.add_target(node.target, AUG)


def _ann_assign(sites: Sites, node: ast.AnnAssign) -> None:
    """A plain name in parentheses is assigned if there is a value; the annotation is not the name's."""
    target = node.target
    sites.stack.append(node.value)
    sites.stack.extend(_late(sites, node, [node.annotation], sites.scope))
    if node.simple or not isinstance(target, ast.Name):
        sites.add_target(target, ANNOTATE if node.value is None else ANN)
    elif node.value is not None:
        sites.add_target(target, ASSIGN)


def _for(sites: Sites, node: ast.For | ast.AsyncFor) -> None:
    sites.stack.extend(reversed([node.iter, *node.body, *node.orelse]))
    sites.add_target(node.target, FOR)


def _with_item(sites: Sites, node: ast.withitem) -> None:
    if node.optional_vars is not None:
        sites.add_target(node.optional_vars, WITH)
    sites.stack.append(node.context_expr)


def _delete(sites: Sites, node: ast.Delete) -> None:
    for target in node.targets:
        sites.add_target(target, DEL)


def _named(sites: Sites, node: ast.NamedExpr) -> None:
    """In a comprehension the name is that of the nearest scope that is none, and lent to it."""
    target, scope = node.target, sites.scope
    sites.stack.append(node.value)
    if scope.kind != "comprehension":
        sites.add(target.id, target, WALRUS)
        return
    sites.flags[sites.add(target.id, target, DECLARE)] |= IS_LENT
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    binding = scope.names[target.id]
    sites.flags[binding] |= IS_DEFINED
    sites.bindings.append(binding)
    sites.nodes.append(target)
    sites.codes.append(WALRUS)


def _import(sites: Sites, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        if alias.name == "*":
            sites.has_star = True
        else:
            sites.add(alias.asname or alias.name.partition(".")[0], alias, IMPORT)


def _except(sites: Sites, node: ast.ExceptHandler) -> None:
    sites.stack.extend(reversed([node.type, *node.body]))
    if node.name is not None:
        sites.add(node.name, node, EXCEPT)


def _global(sites: Sites, node: ast.Global) -> None:
    """The names are the module's from here on, whether it has them itself or not."""
    module = sites.scopes[0].names
    for name in node.names:
        binding = sites.add(name, node, DECLARE)
        sites.flags[binding] |= IS_GLOBAL
        sites.flags[module[sites.mangled.get(binding, name)]] |= IS_GLOBAL


def _nonlocal(sites: Sites, node: ast.Nonlocal) -> None:
    for name in node.names:
        sites.flags[sites.add(name, node, DECLARE)] |= IS_NONLOCAL


def _match_mapping(sites: Sites, node: ast.MatchMapping) -> None:
    sites.stack.extend(reversed([*node.keys, *node.patterns]))
    if node.rest is not None:
        sites.add(node.rest, node, MATCH)


def _match_name(sites: Sites, node: ast.MatchAs | ast.MatchStar) -> None:
    if isinstance(node, ast.MatchAs):
        sites.stack.append(node.pattern)
    if node.name is not None:
        sites.add(node.name, node, MATCH)


# By name, so that what a newer Python adds is here before this Python has the class.
_BY_NAME: dict[str, Handler] = {
    "FunctionDef": _function,
    "AsyncFunctionDef": _function,
    "ClassDef": _class,
    "TypeAlias": _type_alias,
    "Lambda": _lambda,
    **{kind.__name__: _comprehension for kind in _COMPREHENSIONS},
    "Assign": _assign,
    "AugAssign": _aug_assign,
    "AnnAssign": _ann_assign,
    "For": _for,
    "AsyncFor": _for,
    "withitem": _with_item,
    "Delete": _delete,
    "NamedExpr": _named,
    "Import": _import,
    "ImportFrom": _import,
    "ExceptHandler": _except,
    "Global": _global,
    "Nonlocal": _nonlocal,
    "MatchMapping": _match_mapping,
    "MatchAs": _match_name,
    "MatchStar": _match_name,
}
_HANDLERS: dict[type, Handler] = {
    Scope: _scope,
    **{getattr(ast, name): handle for name, handle in _BY_NAME.items() if hasattr(ast, name)},
}

# Fields without names in them, and kinds that have none; all others are gone through from last to first.
_PLAIN_FIELDS = frozenset(
    {"ctx", "op", "ops", "kind", "type_comment", "conversion", "kwd_attrs", "type_ignores"}
)
_LEAVES = (
    ast.Constant,
    ast.MatchSingleton,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
    ast.boolop,
    ast.expr_context,
)
_FIELDS: dict[type, tuple[str, ...]] = {
    **{
        kind: ()
        if issubclass(kind, _LEAVES)
        else tuple(name for name in reversed(kind._fields) if name not in _PLAIN_FIELDS)
        for kind in AST_CLASSES
    },
    **dict.fromkeys((type(None), str, int, bool), ()),
}
