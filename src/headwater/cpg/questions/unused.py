"""Definitions that nothing seems to need, with how sure that is.

What only its own code, or only other unused code, needs is unused as well. Not here: removing anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.pipeline import RESOLUTION
from headwater.inquiry import Answer, Finding

if TYPE_CHECKING:
    import pyarrow as pa

    from headwater.cpg.questions.code import Code

_NEEDS = ("CALLS", "REFERENCES_SYMBOL", "IMPORTS", "INHERITS")
_DUNDER = re.compile(r"__\w+__")
# What frameworks call by the beginning of a name.
_CALLED_BY_NAME = re.compile(r"(test_|visit_|do_|on_|handle_|setUp|tearDown)")
# How sure it is for what is private, for what is public, and less for what others may look for: a class below
# one that they know, or what they ask for by its name.
_PRIVATE, _PUBLIC, _PUBLIC_METHOD, _MAY_BE_FOUND, _BY_NAME = 0.9, 0.6, 0.5, 0.4, 0.2
# Bases outside that call nothing of what is in a class.
_IDLE_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
_SIGNS = """
    SELECT DISTINCT IF(field = 'decorator_list', parent_id, NULL) AS decorated,
        IF(ast_kind = 'Attribute' AND props['ctx'] IS NULL AND known_id IS NULL, name, NULL) AS asked_for
    FROM file_nodes LEFT JOIN
        (SELECT node_id AS known_id FROM (SELECT inline(references) FROM {table}) WHERE confidence >= 800)
        ON node_id = known_id
    WHERE field = 'decorator_list' OR ast_kind = 'Attribute'
"""


@dataclass(frozen=True, slots=True)
class Signs:
    """What may keep definitions alive without an edge to them.

    Args:
        decorated: the ids of those that have a decorator, which may keep them somewhere.
        asked_for: names of attributes that are read of what nobody knows.
    """

    decorated: frozenset[str] = frozenset()
    asked_for: frozenset[str] = frozenset()

    @classmethod
    def of(cls, table: pa.Table) -> Signs:
        """Those that rows of `signs_query` are."""
        decorated, asked_for = (
            frozenset(each for each in table.column(name).to_pylist() if each is not None)
            for name in ("decorated", "asked_for")
        )
        return cls(decorated, asked_for)


def signs_query(name: str) -> str:
    """The query whose rows `Signs.of` takes, for the repository of this name."""
    return " ".join(_SIGNS.format(table=f"{RESOLUTION}{name}").split())


def dead(code: Code, signs: Signs, module: str | None = None) -> Answer:
    """Classes, functions and methods that nothing known needs, surest first.

    Args:
        code: the graph's definitions.
        signs: what else may keep them alive.
        module: only what is in this module, or below it.
    """
    graph = _Unused(code, signs)
    needed = graph.needed()
    unused = [node for node in range(len(code)) if _is_candidate(code, node) and node not in needed]
    sure = graph.sureness(unused)
    found = [
        Finding(
            name=code.names[node],
            kind=code.kinds[node],
            path=code.paths[node],
            line=code.lines[node],
            reason=graph.why(node),
            confidence=sure[node],
        )
        for node in unused
        if not any(owner not in needed and _is_candidate(code, owner) for owner in graph.owners[node])
    ]
    if module is not None:
        found = [each for each in found if f"{each.name}.".startswith(f"{module}.")]
    found.sort(key=lambda each: (-(each.confidence or 0), each.path or "", each.line or 0))
    notes = ("What is called by a name made up at run time, by templates or by others is not seen.",)
    return Answer(question="dead", subject=module or "everything", findings=tuple(found), notes=notes)


def _is_candidate(code: Code, node: int) -> bool:
    """Whether something can be unused at all, as far as it is told: no modules, lambdas or variables."""
    if code.is_outside(node) or code.is_test[node] or code.kinds[node] not in {"class", "function", "method"}:
        return False
    return _DUNDER.fullmatch(_last(code, node)) is None and not (code.paths[node] or "").endswith(".pyi")


class _Unused:
    """What there is to look at while definitions are told from those that something needs."""

    def __init__(self, code: Code, signs: Signs) -> None:
        self.code, self.signs = code, signs
        self.needs, self.users = code.neighbours(*_NEEDS), code.neighbours(*_NEEDS, into=True)
        self.over, self.under = code.neighbours("OVERRIDES"), code.neighbours("OVERRIDES", into=True)
        self.inner, self.owners = code.neighbours("CONTAINS"), code.neighbours("CONTAINS", into=True)
        self.bases = code.neighbours("INHERITS")
        asking = code.neighbours("CALLS", into=True)
        # Classes with a method that asks for attributes by names that are values.
        self.asking = {
            owner
            for getter in code.of_name("builtins.getattr")
            for caller in asking[getter]
            for owner in self.owners[caller]
        }

    def needed(self) -> set[int]:
        """What can be reached from modules and tests, by use or because something outside calls it."""
        code = self.code
        front = [
            node
            for node in range(len(code))
            if code.is_test[node] or (code.kinds[node] == "module" and not code.is_outside(node))
        ]
        found = set(front)
        while front:
            node = front.pop()
            for other in self._leads_to(node):
                if other not in found and not code.is_outside(other):
                    found.add(other)
                    front.append(other)
        return found

    def _leads_to(self, node: int) -> list[int]:
        """What is needed with a definition: what it uses, and what others call in it without naming it."""
        # Who calls the one may get the other, and what is overridden says what has to be there.
        found = [*self.needs[node], *self.under[node], *self.over[node]]
        found += [each for each in self.inner[node] if self._is_kept(each)]
        found += self.code.of_name(self.code.names[node])  # a use of one of several is one of all
        return [each for each in found if each != node]

    def _is_kept(self, node: int) -> bool:
        code = self.code
        return bool(
            code.kinds[node] == "lambda"
            or code.ids[node] in self.signs.decorated
            or _DUNDER.fullmatch(_last(code, node))
            or any(map(code.is_outside, self.over[node]))
        )

    def why(self, node: int) -> str:
        """Why something is told."""
        users, last = [each for each in self.users[node] if each != node], _last(self.code, node)
        if users:
            return f"only used by what is unused itself: {self.code.names[users[0]]}"
        if last in self.signs.asked_for:
            return f"nothing known uses it, but .{last} is read of something unknown"
        return "nothing uses it"

    def sureness(self, unused: list[int]) -> dict[int, float]:
        """How sure it is of each that it is unused: not more than of any that uses it."""
        sure = {node: self._sure(node) for node in unused}
        front = list(unused)
        while front:
            node = front.pop()
            for other in self.needs[node]:
                if sure.get(other, 0) > sure[node]:
                    sure[other] = sure[node]
                    front.append(other)
        return sure

    def _sure(self, node: int) -> float:
        code, name = self.code, _last(self.code, node)
        if _CALLED_BY_NAME.match(name):
            return _BY_NAME
        owner = next((each for each in self.owners[node] if code.kinds[each] == "class"), None)
        if owner is None:
            found = name in self.signs.asked_for or (code.kinds[node] == "class" and self._above(node))
            return _PRIVATE if name.startswith("_") else _MAY_BE_FOUND if found else _PUBLIC
        above = self._above(owner)
        is_asked = name in self.signs.asked_for or self.asking.intersection([owner, *above])
        if is_asked or (code.kinds[node] == "class" and above) or any(map(code.is_outside, above)):
            return _BY_NAME
        return _PRIVATE if name.startswith("_") else _PUBLIC_METHOD

    def _above(self, node: int) -> list[int]:
        """The classes that a class inherits from, however far above, but for those that call nothing."""
        found = {node: None}
        for each in (waiting := [node]):
            new = [base for base in self.bases[each] if base not in found]
            found |= dict.fromkeys(new)
            waiting += new
        return [each for each in found if each != node and self.code.names[each] not in _IDLE_BASES]


def _last(code: Code, node: int) -> str:
    return code.names[node].rsplit(".", 1)[-1]
