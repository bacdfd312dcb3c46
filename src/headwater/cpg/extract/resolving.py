"""What each name of a scope stands for: itself, a binding of another scope, a builtin, or nothing known.

Scopes are looked at outer before inner, so what a name means around a scope is known when the scope is
reached. A name that an inner scope takes from further out is a free name of all scopes between, as Python
has it. A builtin that any scope reads is one name of the module, for which the others stand. Not here: where
names are.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from headwater.cpg.extract.sites import (
    IS_BOUND,
    IS_DEFINED,
    IS_GLOBAL,
    IS_IMPORTED,
    IS_LENT,
    IS_NONLOCAL,
    IS_PARAMETER,
)

if TYPE_CHECKING:
    from headwater.cpg.extract.sites import Scope, Sites

# The kind of a binding, the binding that it stands for, and why.
Meaning: TypeAlias = "tuple[str, int | None, str | None]"

BUILTINS = frozenset(dir(builtins)) - {"_"}  # which is there only after an interactive answer or gettext
# Every module has these without binding them.
GIVEN = frozenset(
    {"__annotations__", "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__"}
    | {"__package__", "__path__", "__spec__"}
)
_CELL = "__class__"
_OWN_OF_CLASS = frozenset({"class_attr", "import"})
_BY_SCOPE = {"module": "global", "class": "class_attr"}


@dataclass(slots=True)
class Meanings:
    """The columns of bindings that say what they are; entry `i` belongs to binding `i`."""

    kind: list[str]
    resolves_to: list[int | None]
    reason: list[str | None]


@dataclass(slots=True)
class _Resolution:
    """The sites, and what is known so far."""

    sites: Sites
    meanings: Meanings
    in_module: dict[str, Meaning] = field(default_factory=dict[str, "Meaning"])


def resolve_names(sites: Sites) -> Meanings:
    """What each binding stands for; adds free names to scopes between, and the module's builtins to it."""
    count = len(sites.names)
    meanings = Meanings([""] * count, [None] * count, [None] * count)
    resolution = _Resolution(sites, meanings)
    flags, kinds, targets, reasons = sites.flags, meanings.kind, meanings.resolves_to, meanings.reason
    for scope in sites.scopes:
        bound_as = _BY_SCOPE.get(scope.kind, "local")
        is_module = scope.parent is None
        for name, binding in scope.names.items():
            known = flags[binding]
            if known & IS_BOUND and (is_module or not known & (IS_GLOBAL | IS_NONLOCAL)):
                kinds[binding] = _own_kind(known, bound_as)
                continue
            if is_module:
                meaning = _in_itself(resolution, name, known)
            elif known & (IS_GLOBAL | IS_NONLOCAL | IS_LENT):
                meaning = _declared(resolution, scope, name, known)
            else:
                meaning = _meaning(resolution, scope, name)
            kinds[binding], targets[binding], reasons[binding] = meaning
    return meanings


def _own_kind(flags: int, bound_as: str) -> str:
    if flags & IS_PARAMETER:
        return "param"
    return "import" if flags & IS_IMPORTED and not flags & IS_DEFINED else bound_as


def _in_itself(resolution: _Resolution, name: str, flags: int) -> Meaning:
    """What a name stands for that the module has and does not bind; a function that declares it may."""
    if flags & IS_GLOBAL:
        return "global", None, "declared"
    kind, _, reason = _in_module(resolution, name)
    return kind, None, reason


def _declared(resolution: _Resolution, scope: Scope, name: str, flags: int) -> Meaning:
    """What a name stands for that a statement, or a walrus in a comprehension, puts into another scope."""
    if flags & IS_GLOBAL:
        return "global", _in_module(resolution, name)[1], "declared"
    kind, target, reason = _meaning(resolution, scope, name)
    if flags & IS_NONLOCAL:
        return "nonlocal", target if kind == "free" else None, "declared" if kind == "free" else "unbound"
    return "nonlocal" if kind == "free" else kind, target, reason


def _meaning(resolution: _Resolution, scope: Scope, name: str) -> Meaning:
    """What a name stands for in a scope that does not bind it."""
    if scope.seen_class is not None:
        binding = scope.seen_class.names.get(name)
        if binding is not None and resolution.meanings.kind[binding] in _OWN_OF_CLASS:
            return "free", binding, "enclosing"
    if name == _CELL:
        return _cell(resolution, scope)
    around = scope.outer
    while around is not None:
        taken = _taken(resolution, around, name)
        if taken is not None:
            if taken[0] == "free":
                _pass_on(resolution, scope, around, name, taken)
            return taken
        around = around.outer
    return _in_module(resolution, name)


def _taken(resolution: _Resolution, around: Scope, name: str) -> Meaning | None:
    """What a name of a scope around means inside of it; nothing if that scope does not have the name."""
    binding = around.names.get(name)
    if binding is None:
        return None
    kind = resolution.meanings.kind[binding]
    if kind in {"free", "nonlocal"}:
        return "free", resolution.meanings.resolves_to[binding], "enclosing"
    if kind in {"global", "builtin"}:
        return _in_module(resolution, name)
    return "free", binding, "enclosing"


def _cell(resolution: _Resolution, scope: Scope) -> Meaning:
    """What `__class__` stands for: functions of a class have it of the class, which does not list it."""
    around = scope.parent
    while around is not None and around.parent is not None:
        if around.kind == "class":
            taken: Meaning | None = ("free", None, "enclosing")
        else:
            taken = _taken(resolution, around, _CELL)
        if taken is not None:
            if taken[0] == "free":
                _pass_on(resolution, scope, around, _CELL, taken)
            return taken
        around = around.parent
    return _in_module(resolution, _CELL)


def _pass_on(resolution: _Resolution, scope: Scope, end: Scope, name: str, meaning: Meaning) -> None:
    """Give the name to all scopes between that do not have it, as far as the scope is evaluated in them."""
    between = scope
    while not between.is_apart and between.parent is not None and between.parent is not end:
        between = between.parent
        if name not in between.names:
            _add(resolution, between, name, meaning)


def _add(resolution: _Resolution, scope: Scope, name: str, meaning: Meaning) -> int:
    """Give a scope a name that is not written in it."""
    meanings = resolution.meanings
    kind, target, reason = meaning
    meanings.kind.append(kind)
    meanings.resolves_to.append(target)
    meanings.reason.append(reason)
    return scope.names.add(name)


def _in_module(resolution: _Resolution, name: str) -> Meaning:
    """What a name stands for that no function around binds."""
    known = resolution.in_module.get(name)
    if known is None:
        known = resolution.in_module[name] = _look_up(resolution, name)
    return known


def _look_up(resolution: _Resolution, name: str) -> Meaning:
    sites = resolution.sites
    module = sites.scopes[0]
    binding = module.names.get(name)
    if binding is not None and sites.flags[binding] & (IS_BOUND | IS_GLOBAL):
        return "global", binding, "module"
    if name in GIVEN:
        return "global", None, "module"
    if name in BUILTINS:
        if binding is None:
            binding = _add(resolution, module, name, ("builtin", None, "builtin"))
        return "builtin", binding, "builtin"
    return "global", None, "star-import" if sites.has_star else "unbound"
