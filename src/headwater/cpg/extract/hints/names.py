"""Which variables names stand for, in annotations and in texts, and which nodes they are.

Not here: what is said of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.extract.hints.facts import NAME, HintColumns
from headwater.cpg.extract.hints.terms import NotAType
from headwater.cpg.extract.hints.writing import written

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

    from headwater.cpg.extract.scopes import ScopeEvidence
    from headwater.cpg.extract.walk import Row

_FIRST_BINDING = -2
_SHARED = frozenset({"module", "class"})
_FUNCTIONS = frozenset({"function", "lambda", "comprehension"})


@dataclass(slots=True)
class Names:
    """The names of a file, and the hints so far.

    `count` is how many nodes the tree has: names are nodes behind them. `known` is what NAME has said last.
    What takes a look at all sites is made when it is asked for: most files have no annotations.
    """

    rows: Sequence[Row]
    scopes: ScopeEvidence
    count: int
    hints: HintColumns = field(default_factory=HintColumns)
    known: dict[str, int] = field(default_factory=dict[str, int])
    meant: list[int] = field(default_factory=list[int])
    nodes: list[int] = field(default_factory=list[int])
    uses: Mapping[int, int] | None = None
    bound: Mapping[tuple[int, str], int] | None = None
    defined: Mapping[int, int] | None = None
    opened: Mapping[int, int] | None = None

    def __post_init__(self) -> None:
        behind = self.count
        for binding, there in enumerate(self.scopes.bindings.resolves_to):
            self.meant.append(binding if there is None else there)
            self.nodes.append(behind)
            behind += there is None

    def write(self, node: ast.expr, scope: int, prefix: str = "") -> str | None:
        """The text of an annotation in a scope, after what its names stand for; nothing if it is none."""
        found: dict[str, int] = {}
        try:
            text = written(node, found)
        except NotAType:
            return None
        for name, row in found.items():
            binding = self._use(row) if row >= 0 else self._lookup(scope, name)
            if binding is not None:
                self._say(name, self.variable(binding))
            elif name in self.known:
                self._say(name, -1)
        return prefix + text

    def _say(self, name: str, variable: int) -> None:
        if self.known.get(name) != variable:
            self.known[name] = variable
            self.hints.add(NAME, variable, -1, name)

    def variable(self, binding: int) -> int:
        """The variable of a name; in a function it is where the name is defined."""
        if self.scopes.scopes.kind[self.scopes.bindings.scope[binding]] in _SHARED:
            return _FIRST_BINDING - binding
        if self.defined is None:
            sites = self.scopes.sites
            self.defined = {
                self.meant[each]: node
                for each, node, role in zip(sites.binding, sites.node, sites.role, strict=True)
                if role == "def"
            }
        return self.defined.get(binding, _FIRST_BINDING - binding)

    def scope_around(self, row: int) -> int:
        """The scope in which the annotations of a def, or of a name in it, are read."""
        scopes = self.scopes.scopes
        if self.opened is None:
            self.opened = {
                node: number
                for number, (node, kind) in enumerate(zip(scopes.node, scopes.kind, strict=True))
                if kind in _SHARED or kind in _FUNCTIONS
            }
        own = self.opened.get(row, 0)
        return scopes.parent[own] or 0

    def _use(self, row: int) -> int | None:
        if self.uses is None:
            sites = self.scopes.sites
            self.uses = {
                node: self.meant[binding]
                for binding, node, role in zip(sites.binding, sites.node, sites.role, strict=True)
                if role == "use"
            }
        return self.uses.get(row)

    def _lookup(self, scope: int, name: str) -> int | None:
        """The binding of a name that is written in a text: as Python finds it from a scope outwards."""
        bindings, scopes = self.scopes.bindings, self.scopes.scopes
        if self.bound is None:
            self.bound = {
                (around, each): number
                for number, (around, each, kind) in enumerate(
                    zip(bindings.scope, bindings.name, bindings.kind, strict=True)
                )
                if kind != "instance_attr"
            }
        at: int | None = scope
        is_inside = False
        while at is not None:
            if not is_inside or scopes.kind[at] != "class":
                found = self.bound.get((at, name))
                if found is not None:
                    return self.meant[found]
            is_inside = is_inside or scopes.kind[at] in _FUNCTIONS
            at = scopes.parent[at]
        return None
