"""Scopes of a module, what their names are bound to, and where: the columns, and the three steps to them.

Not here: the steps. One pass finds scopes and sites (collecting.py), names are resolved (resolving.py), and
attributes of instances are added (instances.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.extract.collecting import collect_sites
from headwater.cpg.extract.exports import listed_names
from headwater.cpg.extract.instances import add_instance_attributes
from headwater.cpg.extract.resolving import resolve_names
from headwater.cpg.extract.sites import DEF_KINDS, IS_BOUND, ROLES
from headwater.cpg.extract.walk import row_of

if TYPE_CHECKING:
    import ast

    from headwater.cpg.extract.resolving import Meanings
    from headwater.cpg.extract.sites import Sites


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeColumns:
    """The scopes of a module, outer before inner: entry `i` of every list belongs to scope `i`.

    `node` is the row of the node that opens the scope; a node opens at most one scope of a kind. `parent` is
    the scope around it as Python nests them. `kind` is module, class, function, lambda, comprehension,
    type_params, type_alias or annotation. `qualpath` has names joined by dots, and `#n` after a name that is
    the n-th again in its scope; it is empty for the module.

    An annotation scope holds the annotations of one function or one variable where Python does not evaluate
    them at once: with `from __future__ import annotations`, or from Python 3.14. It also holds the bound or
    the default of one type parameter.
    """

    node: list[int]
    parent: list[int | None]
    kind: list[str]
    qualpath: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingColumns:
    """The names of scopes: entry `i` of every list belongs to binding `i`.

    There is one for each name that Python's symbol table lists in a scope, so a name that a function only
    reads is one of the function, too. `resolves_to` is then the binding that it stands for, in the scope that
    binds it, and `reason` why: `enclosing` or `module` (where it was found), `declared` (by a global or
    nonlocal statement), `builtin`, `star-import` (no binding, but the module has a star import), `unbound`.
    It is missing if there is none: `__class__` is no name of its class. A name that functions declare global,
    and a builtin that they read, is one of the module in any case.

    `kind` is param, local, global, nonlocal, free, import (all that binds it are imports), class_attr,
    instance_attr or builtin. `is_exported` is false outside of the module's scope. `mangled_name` is the name
    that Python knows where that is another than the written one.
    """

    scope: list[int]
    name: list[str]
    kind: list[str]
    resolves_to: list[int | None]
    reason: list[str | None]
    is_exported: list[bool]
    mangled_name: list[str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteColumns:
    """Every place of a binding: entry `i` of every list belongs to site `i`.

    `node` is the row of a Name, arg, definition, alias, ExceptHandler, pattern, global or nonlocal statement,
    type parameter or, for an attribute of instances, Attribute. `role` is def, use, del, annotate or declare;
    `def_kind` says how a def binds. An augmented assignment is a use and a def. A walrus in a comprehension
    is a def in the scope that it binds in, and declares the name in the comprehension. `super` is a use of
    itself and of `__class__`, as Python has it.
    """

    binding: list[int]
    node: list[int]
    role: list[str]
    def_kind: list[str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeEvidence:
    """All that one module says of its scopes."""

    scopes: ScopeColumns
    bindings: BindingColumns
    sites: SiteColumns


def find_scopes(module: ast.Module) -> ScopeEvidence:
    """The scopes, bindings and sites of a module whose nodes have rows; also of one that does not compile."""
    sites = collect_sites(module)
    meanings = resolve_names(sites)
    exported = _exported(module, sites, meanings)
    add_instance_attributes(sites, meanings)
    count, mangled = len(sites.names), sites.mangled
    evidence = ScopeEvidence(
        scopes=ScopeColumns(
            node=[row_of(scope.node) for scope in sites.scopes],
            parent=[None if scope.parent is None else scope.parent.index for scope in sites.scopes],
            kind=[scope.kind for scope in sites.scopes],
            qualpath=[scope.qualpath for scope in sites.scopes],
        ),
        bindings=BindingColumns(
            scope=sites.scopes_of,
            name=sites.names,
            kind=meanings.kind,
            resolves_to=meanings.resolves_to,
            reason=meanings.reason,
            is_exported=[binding in exported for binding in range(count)],
            mangled_name=[mangled.get(binding) for binding in range(count)],
        ),
        sites=SiteColumns(
            binding=sites.bindings,
            node=[row_of(node) for node in sites.nodes],
            role=[ROLES[code] for code in sites.codes],
            def_kind=[DEF_KINDS[code] for code in sites.codes],
        ),
    )
    sites.let_go()
    return evidence


def _exported(module: ast.Module, sites: Sites, meanings: Meanings) -> frozenset[int]:
    """The bindings of the module that it exports."""
    names = sites.scopes[0].names
    listed = listed_names(module) if "__all__" in names else None
    if listed is not None:
        return frozenset(
            binding
            for name, binding in names.items()
            if name in listed and meanings.kind[binding] != "builtin"
        )
    return frozenset(
        binding
        for name, binding in names.items()
        if not name.startswith("_")
        and meanings.kind[binding] == "global"
        and (sites.flags[binding] & IS_BOUND or meanings.reason[binding] == "declared")
    )
