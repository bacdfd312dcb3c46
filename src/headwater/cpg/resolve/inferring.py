"""Types of what variables may have, as the solver found it.

None is no object and is told by hints; what is inside of containers is not told. Not here: what files say.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.resolve import objects as kinds
from headwater.cpg.resolve.canonical import (
    class_of,
    class_type,
    module_type,
    parse_type,
    quoted_name,
    union_of,
)

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from headwater.cpg.resolve.canonical import Type
    from headwater.cpg.resolve.naming import Naming

MOST_MEMBERS = 8  # a union of more says nothing that anybody would believe
_CALLABLE = parse_type("Callable")
_FUNCTIONS = frozenset(
    {kinds.FUNCTION, kinds.BOUND, kinds.METHOD, kinds.PARTIAL, kinds.DISPATCH, kinds.STATICMETHOD}
)
_NAMED = {
    kinds.GENERATOR: "collections.abc.Generator",
    kinds.COROUTINE: "collections.abc.Coroutine",
    kinds.PROPERTY: "property",
    kinds.CLASSMETHOD: "classmethod",
    kinds.ENTERED: "contextlib.AbstractContextManager",
}
_TYPED = {"file": "typing.IO"}
_CONTAINERS = {"iterator": "collections.abc.Iterator", "generator": "collections.abc.Generator"}


@dataclass(slots=True)
class Inferring:
    """Types of sets of objects; the same set is asked for again and again."""

    naming: Naming
    known: dict[AbstractSet[int], Type | None] = field(
        default_factory=dict["AbstractSet[int]", "Type | None"]
    )
    single: dict[int, Type | None] = field(default_factory=dict[int, "Type | None"])

    def type_of(self, things: AbstractSet[int]) -> Type | None:
        """The union of the types of objects; nothing if one has no type that is known, or they are too many.

        A class stands for those that inherit from it.
        """
        key = frozenset(things)
        if key not in self.known:
            self.known[key] = self._union(key)
        return self.known[key]

    def _union(self, things: AbstractSet[int]) -> Type | None:
        kept = self._without_subclasses(things)
        if len(kept) > MOST_MEMBERS * 2:
            return None
        members = [self._one(each) for each in sorted(kept)]
        told = [each for each in members if each is not None]
        if not told or len(told) < len(members) or len({each.text for each in told}) > MOST_MEMBERS:
            return None
        return union_of(told)

    def _without_subclasses(self, things: AbstractSet[int]) -> AbstractSet[int]:
        if len(things) == 1:
            return things
        solver = self.naming.outcome.program.solver
        objects = solver.objects
        made = {each: objects.of[each] for each in things if objects.kind[each] == kinds.INSTANCE}
        if len(made) < 2:  # noqa: PLR2004  one alone has nobody to stand for it
            return things
        classes = {objects.get(kinds.CLASS, of) for of in made.values()}
        below = {each for each, of in made.items() if not classes.isdisjoint(solver.classes[of].order[1:])}
        return things - below

    def _one(self, thing: int) -> Type | None:
        if thing not in self.single:
            self.single[thing] = self._made(thing)
        return self.single[thing]

    def _made(self, thing: int) -> Type | None:
        objects = self.naming.outcome.program.solver.objects
        kind, of = objects.kind[thing], objects.of[thing]
        if kind == kinds.INSTANCE:
            return class_type(self.naming.name_of(of))
        if kind == kinds.CLASS:
            return class_of(class_type(self.naming.name_of(of)))
        if kind in {kinds.CONST, kinds.TYPED}:
            name: str = of
            return class_type(_TYPED.get(name, name))
        if kind == kinds.CONTAINER:
            held: str = objects.to[thing]
            return class_type(_CONTAINERS.get(held, held))
        if kind in _FUNCTIONS:
            return _CALLABLE
        if kind in _NAMED:
            return class_type(_NAMED[kind])
        return self._outside(kind, of)

    def _outside(self, kind: int, of: object) -> Type | None:
        """What is outside: only names tell what is a class there."""
        if kind == kinds.BUILTIN:
            is_class = isinstance(getattr(builtins, str(of), None), type)
            return class_of(class_type(str(of))) if is_class else _CALLABLE
        if kind == kinds.MADE:
            return parse_type(quoted_name(str(of)))
        if kind == kinds.EXTERNAL:
            last = str(of).rpartition(".")[2].lstrip("_")
            is_class = last[:1].isupper() and not last.isupper()
            return class_of(parse_type(quoted_name(str(of)))) if is_class else None
        if kind == kinds.MODULE:
            program = self.naming.outcome.program
            variable = program.bases[int(str(of))] + 1
            made = module_type(quoted_name(self.naming.path_of(variable)))
            self.naming.symbols[made.text] = self.naming.outcome.symbols[variable]
            return made
        return None
