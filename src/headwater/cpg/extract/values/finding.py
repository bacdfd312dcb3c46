"""The value facts of a file, in one pass over its nodes.

Not here: what each kind of node says.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.exports import listed_names
from headwater.cpg.extract.values.exceptions import EXCEPTIONS
from headwater.cpg.extract.values.expressions import EXPRESSIONS
from headwater.cpg.extract.values.facts import (
    ANNOTATION,
    BUILTIN,
    EXPORT,
    FIELD,
    FIRST_BINDING,
    MEMBER,
    NOTHING,
    STARRED,
    ValueColumns,
)
from headwater.cpg.extract.values.gathering import Gathering
from headwater.cpg.extract.values.statements import GIVING, STATEMENTS, note_given
from headwater.cpg.extract.values.updates import note_updates
from headwater.cpg.extract.walk import end_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.extract.scopes import ScopeEvidence
    from headwater.cpg.extract.walk import Row

_MODULE = 1  # the row of the module
_ANNOTATIONS = frozenset({"annotation", "returns"})
_HANDLERS: dict[type[ast.AST], Callable[[Gathering, int, Any], None]] = {
    **EXPRESSIONS,
    **STATEMENTS,
    **EXCEPTIONS,
}
_UPDATING = frozenset(
    {ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor}
    | {ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.ExceptHandler, ast.match_case}
)
_BODIES = ("body", "orelse", "finalbody")


def find_values(
    rows: Sequence[Row],
    runners: Sequence[int | None],
    scopes: ScopeEvidence,
    meant: Sequence[int],
    reaching: tuple[Sequence[int], Sequence[int]],
) -> ValueColumns:
    """The value facts of a walked file.

    Args:
        rows: the rows of the walk
        runners: for each row the def that runs it
        scopes: the file's scopes
        meant: for each binding the one that it stands for
        reaching: sites of definitions, and the sites of uses that they reach
    """
    found = Gathering(
        rows=rows,
        runners=runners,
        binding_of=_uses(scopes, meant),
        reaching=_reaching(*reaching),
        shared=_shared(scopes, meant),
    )
    for entry in rows:
        node: Any = entry[0]
        kind = node.__class__
        if kind in GIVING:
            note_given(found, node)
        elif kind in _UPDATING:
            for name in _BODIES:
                body = getattr(node, name, None)
                if body:
                    note_updates(found, body)
    _go_through(found)
    _add_bindings(found, scopes, meant)
    _add_exports(found, scopes)
    found.settle()
    if not found.facts:
        return ValueColumns()
    return ValueColumns(*(list(column) for column in zip(*found.facts, strict=True)))


def _go_through(found: Gathering) -> None:
    """Add the facts of all nodes but those of annotations."""
    rows, handlers = found.rows, _HANDLERS
    behind = 0
    for row, entry in enumerate(rows):
        if row < behind:
            continue
        handle = handlers.get(entry[0].__class__)
        if entry[3] in _ANNOTATIONS:
            behind = end_of(rows, row)
        elif handle is not None:
            handle(found, row, entry[0])


def _reaching(defined: Sequence[int], used: Sequence[int]) -> dict[int, list[int]]:
    reaching: dict[int, list[int]] = {}
    for made, use in zip(defined, used, strict=True):
        known = reaching.get(use)
        if known is None:
            reaching[use] = [made]
        else:
            known.append(made)
    return reaching


def _uses(scopes: ScopeEvidence, meant: Sequence[int]) -> dict[int, int]:
    """The binding of each site that is used; a name of `super` is its own before it is its class's."""
    sites = scopes.sites
    uses: dict[int, int] = {}
    for binding, node, role in zip(sites.binding, sites.node, sites.role, strict=True):
        if role == "use":
            uses.setdefault(node, meant[binding])
    return uses


def _shared(scopes: ScopeEvidence, meant: Sequence[int]) -> frozenset[int]:
    """Bindings that get values in another scope than their own."""
    sites = scopes.sites
    return frozenset(
        meant[binding]
        for binding, role in zip(sites.binding, sites.role, strict=True)
        if role == "def" and meant[binding] != binding
    )


def _add_bindings(found: Gathering, scopes: ScopeEvidence, meant: Sequence[int]) -> None:
    """Add what bindings get of all defs, where others may read it: in modules, classes, and other scopes."""
    kept = _keep_bindings(found, scopes, meant)
    sites, kinds, opened = scopes.sites, scopes.scopes.kind, scopes.scopes.node
    bindings = scopes.bindings
    annotated: dict[int, int] = {}
    for binding, node, role, how in zip(sites.binding, sites.node, sites.role, sites.def_kind, strict=True):
        if role == "use" or meant[binding] not in kept:
            continue
        if role == "def":
            found.copy(FIRST_BINDING - meant[binding], found.definition(node))
        if how == "ann" or role == "annotate":
            annotated[node] = FIRST_BINDING - meant[binding]
            if kinds[bindings.scope[binding]] == "class":
                owner = opened[bindings.scope[binding]]
                found.facts.append((FIELD, owner, FIRST_BINDING - binding, bindings.name[binding]))
    if annotated:  # what is said of a name that others read is said of it wherever it is read
        for number, (op, target, source, text) in enumerate(found.facts):
            if op == ANNOTATION and target in annotated:
                found.facts[number] = (ANNOTATION, annotated[target], source, text)


def _keep_bindings(found: Gathering, scopes: ScopeEvidence, meant: Sequence[int]) -> set[int]:
    """Add what names of modules and classes are; all bindings that are read elsewhere."""
    bindings, kinds, opened = scopes.bindings, scopes.scopes.kind, scopes.scopes.node
    read = {there for there in bindings.resolves_to if there is not None}
    facts = found.facts
    kept: set[int] = set()
    columns = (bindings.scope, bindings.name, bindings.kind, bindings.reason, bindings.mangled_name)
    for binding, (scope, name, kind, reason, known) in enumerate(zip(*columns, strict=True)):
        if kind == "builtin" and bindings.resolves_to[binding] is None:
            facts.append((BUILTIN, FIRST_BINDING - binding, NOTHING, name))
        elif reason == "star-import":
            facts.append((STARRED, FIRST_BINDING - binding, NOTHING, name))
        elif kind != "instance_attr" and meant[binding] == binding:
            if kinds[scope] in {"module", "class"}:
                kept.add(binding)
                facts.append((MEMBER, opened[scope], FIRST_BINDING - binding, known or name))
            elif binding in read:
                kept.add(binding)
    return kept


def _add_exports(found: Gathering, scopes: ScopeEvidence) -> None:
    if "__all__" not in scopes.bindings.name:
        return
    module: Any = found.rows[_MODULE][0]
    for name in sorted(listed_names(module) or ()):
        found.facts.append((EXPORT, _MODULE, NOTHING, name))
