"""What names in types mean: classes of the repository, builtins, what is outside, aliases, type variables.

A name is followed through the same variables as values are. An alias is what it stands for; where it stands
in itself, or has become too large to tell, it is `Unknown` as it is written. Not here: the types that come
of it.
"""

from __future__ import annotations

import builtins
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.extract.hints.terms import NotAType, Term, parse_term
from headwater.cpg.resolve.canonical import quoted_name
from headwater.cpg.resolve.cycles import find_components
from headwater.cpg.resolve.lookup import member_of, module_at, module_member
from headwater.cpg.resolve.modules import is_of_python
from headwater.cpg.resolve.objects import BUILTIN, CLASS, EXTERNAL, MODULE, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from headwater.cpg.resolve.linking import Linked
    from headwater.cpg.resolve.outcome import Outcome

_RANKS = {CLASS: 0, EXTERNAL: 1, BUILTIN: 2, MODULE: 3, NAMESPACE: 4}
_WORDS = {"callable": "Callable", "any": "Any"}  # functions that people write where they mean a type
_RESERVED = frozenset({"None", "Any", "Callable", "Literal", "True", "False", "Self"})
_MARKS = frozenset({"|", "[]", "...", "()", "*", "**"})
_AGAIN = re.compile(r"\(\+\d+\)(?=[#.]$)")
_EXTENSIONS = "typing_extensions."
_LARGEST, _DEEPEST = 500, 60  # of what an alias stands for
_MODULE_ROW = 1


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a type is written: its file, what names there stand for, and the variable of `Self`'s class."""

    file: int
    names: Mapping[str, int]
    own: int = -1


@dataclass(slots=True)
class Naming:
    """The names of a program; `symbols` are those of the full names of the repository's own classes."""

    outcome: Outcome
    aliases: dict[int, tuple[str, Scope]] = field(default_factory=dict[int, "tuple[str, Scope]"])
    typevars: dict[int, Term] = field(default_factory=dict[int, Term])
    symbols: dict[str, str] = field(default_factory=dict[str, str])
    dotted: dict[int, str] = field(default_factory=dict[int, str])
    linked: dict[int, Linked] = field(default_factory=dict[int, "Linked"])
    expanded: dict[int, Term] = field(default_factory=dict[int, Term])
    known: dict[tuple[int, str], Term | int] = field(default_factory=dict["tuple[int, str]", "Term | int"])
    classes: dict[str, int] = field(default_factory=dict[str, int])
    bases: dict[str, frozenset[str]] = field(default_factory=dict[str, "frozenset[str]"])

    def expand_aliases(self) -> None:
        """Work out what aliases stand for, now that all are known; `full` needs it.

        What an alias needs is worked out before it, so each is read once, whatever stands in what.
        """
        written = {alias: _parsed(text) for alias, (text, _) in self.aliases.items()}
        links = {alias: self._links(alias, term) for alias, term in written.items()}
        for component in find_components(links):
            found = [(alias, self._expanded(alias, written[alias])) for alias in component]
            # Not before all are made: none of them is told inside the others.
            self.expanded.update((alias, term) for alias, term in found if term is not None)

    def _links(self, alias: int, term: Term | None) -> list[int]:
        """The aliases that stand in an alias."""
        scope = self.aliases[alias][1]
        heads = {each.head for each, _ in _parts(term) if not each.is_literal} - _MARKS
        meanings = [self._meaning(head, scope) for head in sorted(heads)]
        return [each for each in meanings if isinstance(each, int)]

    def _expanded(self, alias: int, term: Term | None) -> Term | None:
        """What an alias stands for, if that can be told."""
        if term is None:
            return None
        made = self._rename(term, self.aliases[alias][1])
        is_small = all(count < _LARGEST and depth < _DEEPEST for count, (_, depth) in enumerate(_parts(made)))
        return made if is_small else None

    def full(self, text: str, scope: Scope) -> Term:
        """The term of a text, with names in full."""
        return self._rename(parse_term(text), scope)

    def _rename(self, term: Term, scope: Scope) -> Term:
        if term.is_literal:
            return term
        head = Term(term.head) if term.head in _MARKS else self._head(term.head, scope)
        if not term.args or head.args:
            return head
        if head.head.rpartition(".")[2] == "Literal":
            return Term(head.head, tuple(self._member(each, scope) for each in term.args))
        return Term(head.head, tuple(self._rename(each, scope) for each in term.args))

    def _member(self, term: Term, scope: Scope) -> Term:
        """A literal, or a member of an enum."""
        class_, dot, name = term.head.rpartition(".")
        if term.is_literal or not dot:
            return term
        return Term(f"{self._head(class_, scope).head}.{name}")

    def _head(self, name: str, scope: Scope) -> Term:
        found = self._meaning(name, scope)
        if isinstance(found, int):
            return self.expanded.get(found) or _unknown(name)
        if found.head == "typing.Self" and scope.own >= 0:
            return Term(self.name_of(scope.own))
        return found

    def _meaning(self, name: str, scope: Scope) -> Term | int:
        """What a name stands for, or the alias that it is."""
        first, _, rest = name.partition(".")
        variable = scope.names.get(first, -1)
        if variable < 0:
            return self._unbound(name, scope)
        key = (variable, rest)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._follow(variable, rest.split(".") if rest else [], name)
        return found

    def _unbound(self, name: str, scope: Scope) -> Term | int:
        """A name that the file has not bound: a builtin, or one with its module."""
        first, dot, _ = name.partition(".")
        if not dot:
            if name == "Self" and scope.own >= 0:
                return Term(self.name_of(scope.own))
            return Term(name) if name in _RESERVED else self._builtin(name)
        program = self.outcome.program
        place, parts = program.files[scope.file].path, name.split(".")
        for count in range(len(parts) - 1, 0, -1):
            at = program.solver.index.find(place, ".".join(parts[:count]))
            if at is not None and at[0] is not None:
                thing = program.solver.objects.get(MODULE, program.solver.file_of_path[at[0]])
                return self._walk(thing, parts[count:], name)
        return Term(name) if is_of_python(first) else _unknown(name)

    def _follow(self, variable: int, rest: Sequence[str], name: str) -> Term | int:
        """What a variable means, or the part of it that the rest of a name leads to."""
        found = self._best(variable)
        if found is not None and self.outcome.program.solver.objects.kind[found] == CLASS:
            return self._walk(found, rest, name)
        origins = self._origins(variable)
        for each in origins if not rest else ():  # an alias of a generic has its class for a value
            if each in self.typevars:
                return self.typevars[each]
            if each in self.aliases:
                return each
        things = [thing for each in origins if (thing := self._best(each)) is not None]
        return self._walk(things[0], rest, name) if things else _unknown(name)

    def _origins(self, variable: int) -> list[int]:
        """A variable, and those that imports have it from, step by step."""
        found = [variable]
        for each in found:
            found += [source for source in self._sources(each) if source not in found]
        return found

    def _best(self, variable: int) -> int | None:
        """The object that a name in a type is for: a class of the repository before anything else."""
        objects = self.outcome.program.solver.objects
        found = [
            (_RANKS[objects.kind[each]], str(objects.of[each]), each)
            for each in self.outcome.program.solver.has[variable] or ()
            if objects.kind[each] in _RANKS
        ]
        return min(found)[2] if found else None

    def _sources(self, variable: int) -> list[int]:
        """The variables in other files that imports of a name lead to."""
        program = self.outcome.program
        if not self.linked:
            self.linked = {each.imported.variable: each for each in program.imports}
        found: list[int] = []
        for each in (variable, *program.sources_of(variable)):
            linked = self.linked.get(each)
            if linked is not None and linked.module is not None and linked.name:
                there = module_member(program.solver, linked.module, linked.name)
                if there is not None:
                    found.append(there)
        return found

    def _walk(self, thing: int, rest: Sequence[str], name: str) -> Term | int:
        solver = self.outcome.program.solver
        objects = solver.objects
        for place, part in enumerate(rest):
            kind, of = objects.kind[thing], objects.of[thing]
            if kind == EXTERNAL:
                return _outside(".".join((of, *rest[place:])))
            if kind == NAMESPACE:
                inner = module_at(solver, f"{of}/{part}")
                if inner is None:
                    return _unknown(name)
                thing = inner
                continue
            variable = None
            if kind == MODULE:
                variable = module_member(solver, of, part)
            elif kind == CLASS:
                variable = member_of(solver, solver.classes[of], part)
            return _unknown(name) if variable is None else self._follow(variable, rest[place + 1 :], name)
        return self._named(thing, name)

    def _named(self, thing: int, name: str) -> Term:
        objects = self.outcome.program.solver.objects
        kind, of = objects.kind[thing], objects.of[thing]
        if kind == CLASS:
            return Term(self.name_of(of))
        if kind == EXTERNAL:
            return _outside(of)
        return self._builtin(of) if kind == BUILTIN else _unknown(name)

    @staticmethod
    def _builtin(name: str) -> Term:
        found = getattr(builtins, name, None)
        if isinstance(found, type):
            return Term(name)
        return Term(_WORDS[name]) if name in _WORDS else _unknown(name)

    def name_of(self, variable: int) -> str:
        """The full name of a class as types have it; its symbol is noted."""
        name = quoted_name(self.path_of(variable))
        if name not in self.classes:
            self.classes[name] = variable
            self.symbols[name] = self.outcome.symbols[variable]
        return name

    def bases_of(self, name: str) -> frozenset[str]:
        """The full names of the classes that a class of the repository inherits from."""
        found = self.bases.get(name)
        if found is None:
            solver = self.outcome.program.solver
            variable = self.classes.get(name)
            order = solver.classes[variable].order[1:] if variable is not None else ()
            found = self.bases[name] = frozenset(self._named(each, name).head for each in order)
        return found

    def path_of(self, variable: int) -> str:
        """The dotted name of a module, class or function; `(+n)` is behind one that is there again."""
        found = self.dotted.get(variable)
        if found is not None:
            return found
        program = self.outcome.program
        solver = program.solver
        made = solver.classes.get(variable) or solver.functions.get(variable)
        if made is None:
            path, _ = program.place(variable)
            found = solver.index.names.get(path, path)
        else:
            again = _AGAIN.search(self.outcome.symbols[variable])
            found = f"{self.path_of(made.around)}.{made.name}{again[0] if again else ''}"
        self.dotted[variable] = found
        return found

    def add_typevar(self, variable: int, owner: int, name: str) -> None:
        """A type variable that belongs to a def, or to a module that assigns it."""
        head = f"~{quoted_name(f'{self.path_of(owner)}.{name}')}"
        self.typevars[variable] = Term(head)
        program = self.outcome.program
        module = program.bases[program.solver.file_of_path[program.place(owner)[0]]] + _MODULE_ROW
        around = self.outcome.symbols.get(owner, self.outcome.symbols[module])
        self.symbols[head] = f"{around}{name}." if owner == module else f"{around}[{name}]"


def _outside(dotted: str) -> Term:
    if dotted.startswith(_EXTENSIONS):
        dotted = f"typing.{dotted.removeprefix(_EXTENSIONS)}"
    return Term(quoted_name(dotted.removeprefix("builtins.")))


def _unknown(name: str) -> Term:
    return Term("Unknown", (Term(quoted_name(name)),))


def _parsed(text: str) -> Term | None:
    try:
        return parse_term(text)
    except NotAType:
        return None


def _parts(term: Term | None) -> Iterator[tuple[Term, int]]:
    """A term and all that is in it, with how deep it is in there."""
    waiting = [(term, 0)] if term is not None else []
    while waiting:
        part, depth = waiting.pop()
        yield part, depth
        waiting += [(each, depth + 1) for each in part.args]
