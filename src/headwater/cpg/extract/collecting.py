"""One pass over a module, scope by scope, that notes every name at its site.

It goes without recursion, so no tree that Python can make is too deep. Not here: how scopes open, and what
names stand for.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.opening import OPENERS, annotation_roots, open_scope
from headwater.cpg.extract.sites import (
    ANN,
    ANNOTATE,
    ASSIGN,
    AUG,
    DECLARE,
    DEL,
    EXCEPT,
    FOR,
    IMPORT,
    IS_DEFINED,
    IS_GLOBAL,
    IS_LENT,
    IS_NONLOCAL,
    MATCH,
    USE,
    WALRUS,
    WITH,
    Scope,
    Sites,
)
from headwater.cpg.extract.walk import AST_CLASSES

if TYPE_CHECKING:
    from headwater.cpg.extract.opening import Handler

_CALLED_FUNCTIONS = frozenset({"function", "lambda", "comprehension"})
_CELL, _SUPER = "__class__", "super"


def collect_sites(module: ast.Module) -> Sites:
    """All scopes of a module, outer before inner, with their names and sites."""
    sites = Sites(never_evaluates_annotations=_imports_annotations(module))
    pending = [Scope(module, "module", None, "", list[Any](module.body))]
    while pending:
        scope = pending.pop()
        scope.index = len(sites.scopes)
        sites.scopes.append(scope)
        open_scope(sites, scope)
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
    sites.stack.extend(annotation_roots(sites, node, [node.annotation], sites.scope))
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
    for binding, name in _declared(sites, node).items():
        sites.flags[binding] |= IS_GLOBAL
        sites.flags[module[sites.mangled.get(binding, name)]] |= IS_GLOBAL


def _nonlocal(sites: Sites, node: ast.Nonlocal) -> None:
    for binding in _declared(sites, node):
        sites.flags[binding] |= IS_NONLOCAL


def _declared(sites: Sites, node: ast.Global | ast.Nonlocal) -> dict[int, str]:
    """Note the names of a statement; the bindings that it declares, each once however often it is named."""
    names = {sites.scope.names[name]: name for name in node.names}
    for name in names.values():
        sites.add(name, node, DECLARE)
    return names


def _match_mapping(sites: Sites, node: ast.MatchMapping) -> None:
    sites.stack.extend(reversed([*node.keys, *node.patterns]))
    if node.rest is not None:
        sites.add(node.rest, node, MATCH)


def _match_name(sites: Sites, node: ast.MatchAs | ast.MatchStar) -> None:
    if isinstance(node, ast.MatchAs):
        sites.stack.append(node.pattern)
    if node.name is not None:
        sites.add(node.name, node, MATCH)


_HANDLERS: dict[type, Handler] = {
    **OPENERS,
    ast.Assign: _assign,
    ast.AugAssign: _aug_assign,
    ast.AnnAssign: _ann_assign,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.withitem: _with_item,
    ast.Delete: _delete,
    ast.NamedExpr: _named,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.ExceptHandler: _except,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.MatchMapping: _match_mapping,
    ast.MatchAs: _match_name,
    ast.MatchStar: _match_name,
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
