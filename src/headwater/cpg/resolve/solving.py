"""Variables, what they may have, and how that spreads until nothing changes.

A variable that gets something hands what is new on to the variables that copy it, and to the rules that wait
for it. What a variable may have is bounded: constants beyond a few become their type, and a variable with too
much in it takes in no more and is called wide. All is done in the order in which it comes up, and what comes
up does not depend on hashes, so a second run does the same.
Not here: the rules.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from headwater.cpg.resolve.objects import CONST, TYPED, Objects

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from headwater.cpg.resolve.modules import ModuleIndex
    from headwater.cpg.resolve.objects import Call, Class, Function

MOST_CONSTANTS = 8
MOST_OBJECTS = 40
# What is solved in the end takes some five steps for each fact; more than this and it is given up.
LEAST_STEPS, STEPS_PER_FACT = 1_000_000, 50

# What waits for a variable: a function that is given the solver, the new objects and the tuple itself.
Rule: TypeAlias = "tuple[Any, ...]"


@dataclass(slots=True)
class Solver:
    """All of a program that is known so far.

    `has` are the objects of each variable, `copies` the variables that get the same, `rules` what waits for
    it; most have one of each at most, so one object is a tuple that all share, and one copy or rule stands
    for itself, without a list. `cells` are the variables of attributes and items by object and name;
    `looked_up` those of attributes as they are read, bound and inherited. `fallbacks` wait until nothing else
    is left to do. `class_of` has classes by their objects, `classes` by their variables. `believed` are
    variables that have what they are annotated with because nothing else is known of them.
    """

    index: ModuleIndex
    objects: Objects = field(default_factory=Objects)
    has: list[Collection[int] | None] = field(default_factory=list["Collection[int] | None"])
    singles: dict[int, tuple[int]] = field(default_factory=dict[int, "tuple[int]"])
    copies: list[list[int] | int | None] = field(default_factory=list["list[int] | int | None"])
    rules: list[list[Rule] | Rule | None] = field(default_factory=list["list[Rule] | Rule | None"])
    fresh: dict[int, Sequence[int]] = field(default_factory=dict[int, "Sequence[int]"])
    queue: deque[int] = field(default_factory=deque[int])
    tasks: deque[tuple[Rule, Any]] = field(default_factory=deque["tuple[Rule, Any]"])
    wide: set[int] = field(default_factory=set[int])
    cells: dict[tuple[int, str], int] = field(default_factory=dict["tuple[int, str]", int])
    looked_up: dict[tuple[int, str], int] = field(default_factory=dict["tuple[int, str]", int])
    functions: dict[int, Function] = field(default_factory=dict[int, "Function"])
    classes: dict[int, Class] = field(default_factory=dict[int, "Class"])
    class_of: dict[int, Class] = field(default_factory=dict[int, "Class"])
    subclasses: dict[int, list[int]] = field(default_factory=dict[int, "list[int]"])
    calls: list[Call] = field(default_factory=list["Call"])
    implied: dict[tuple[int, str], Call] = field(default_factory=dict["tuple[int, str]", "Call"])
    partials: dict[int, Call] = field(default_factory=dict[int, "Call"])
    fallbacks: list[Rule] = field(default_factory=list["Rule"])
    steps: int = 0
    most_steps: int = LEAST_STEPS
    is_cut: bool = False
    believed: set[int] = field(default_factory=set[int])
    put_off: list[tuple[Call, int]] | None = field(default_factory=list["tuple[Call, int]"])
    unbound: list[tuple[int, int, int]] = field(default_factory=list["tuple[int, int, int]"])
    early: list[tuple[int, str, int]] = field(default_factory=list["tuple[int, str, int]"])
    has_hooks: bool = False
    known_members: dict[tuple[int, str], bool] = field(default_factory=dict["tuple[int, str]", bool])
    hooked: dict[int, list[tuple[int, int, int]]] = field(
        default_factory=dict[int, "list[tuple[int, int, int]]"]
    )
    decorated: set[int] = field(default_factory=set[int])
    decorated_names: set[str] = field(default_factory=set[str])
    modules: list[dict[str, int]] = field(default_factory=list["dict[str, int]"])
    stars: list[list[tuple[int | None, str]]] = field(default_factory=list["list[tuple[int | None, str]]"])
    exports: list[list[str] | None] = field(default_factory=list["list[str] | None"])
    places: Sequence[str] = ()
    keys_of: dict[int, list[str]] = field(default_factory=dict[int, "list[str]"])
    watchers: dict[int, list[Rule]] = field(default_factory=dict[int, "list[Rule]"])
    file_of_path: dict[str, int] = field(default_factory=dict[str, int])
    late_members: dict[str, list[tuple[int, int, int]]] = field(
        default_factory=dict[str, "list[tuple[int, int, int]]"]
    )
    callers: dict[int, Callable[[Solver, int, Call], None]] = field(
        default_factory=dict[int, "Callable[[Solver, int, Call], None]"]
    )
    readers: dict[int, Callable[[Solver, int, str, int], None]] = field(
        default_factory=dict[int, "Callable[[Solver, int, str, int], None]"]
    )

    def variable(self) -> int:
        """A new variable."""
        self.has.append(None)
        self.copies.append(None)
        self.rules.append(None)
        return len(self.has) - 1

    def extend(self, count: int) -> int:
        """Many of them; the first."""
        first = len(self.has)
        self.has.extend([None] * count)
        self.copies.extend([None] * count)
        self.rules.extend([None] * count)
        return first

    def add(self, variable: int, thing: int) -> None:
        """The variable may have an object; nobody wants what has none."""
        if variable < 0:
            return
        known = self.has[variable]
        if known is None:
            self._begin(variable, self._single(thing))
        elif thing not in known:
            self.add_all(variable, (thing,))

    def _single(self, thing: int) -> tuple[int]:
        """One object alone, which all variables share that have nothing else: most do."""
        found = self.singles.get(thing)
        if found is None:
            found = self.singles[thing] = (thing,)
        return found

    def _begin(self, variable: int, single: tuple[int]) -> None:
        """The first object of a variable, which nothing of it can wait for yet."""
        self.has[variable] = self.fresh[variable] = single
        self.queue.append(variable)

    def add_all(self, variable: int, things: Sequence[int]) -> None:
        """The variable may have all of these."""
        known: Any = self.has[variable]
        if known is None:
            if len(things) == 1:
                self._begin(variable, self._single(things[0]))
                return
            fresh, known = list(things), ()
        else:
            fresh = [each for each in things if each not in known]
        if not fresh:
            return
        if len(known) + len(fresh) > MOST_CONSTANTS:
            fresh = self._bounded(variable, known, fresh)
            if not fresh:
                return
        if known.__class__ is not set:
            self.has[variable] = known = set(known)
        known.update(fresh)
        waiting = self.fresh.get(variable)
        if waiting is None:
            self.fresh[variable] = fresh
            self.queue.append(variable)
        else:
            self.fresh[variable] = [*waiting, *fresh]

    def is_wide(self, variable: int) -> bool:
        """Whether a variable may have more than it was let have, by itself or by where it has it from."""
        if variable < 0:
            return False
        known = self.has[variable]
        return self.is_cut or variable in self.wide or (known is not None and len(known) >= MOST_OBJECTS)

    def _bounded(self, variable: int, known: Collection[int], fresh: list[int]) -> list[int]:
        """What is new without what is too much."""
        objects = self.objects
        kinds = objects.kind
        constants = [each for each in fresh if kinds[each] == CONST]
        if constants:
            before = len([each for each in known if kinds[each] == CONST])
            if before + len(constants) > MOST_CONSTANTS:
                types = {objects.get(TYPED, objects.of[each]): None for each in constants}
                fresh = [each for each in fresh if kinds[each] != CONST]
                fresh += [each for each in types if each not in known and each not in fresh]
        if len(known) + len(fresh) > MOST_OBJECTS:
            self.wide.add(variable)
            fresh = fresh[: max(0, MOST_OBJECTS - len(known))]
        return fresh

    def copy(self, source: int, target: int) -> None:
        """The target gets all that the source has, now and later."""
        if source < 0 or target < 0 or source == target:
            return
        self.link(source, target)
        known = self.has[source]
        if known and known is not self.has[target]:
            settled = self._settled(source, known)
            if settled:
                self.add_all(target, settled)

    def link(self, source: int, target: int) -> None:
        """Let the target get what the source will have."""
        copies: Any = self.copies[source]
        if copies is None:
            self.copies[source] = target
        elif copies.__class__ is int:
            self.copies[source] = [copies, target]
        else:
            copies.append(target)

    def copies_of(self, variable: int) -> Sequence[int]:
        """The variables that get what a variable has."""
        copies = self.copies[variable]
        return (copies,) if isinstance(copies, int) else copies or ()

    def watch(self, variable: int, rule: Rule) -> None:
        """Let a rule have what the variable will have."""
        rules: Any = self.rules[variable]
        if rules is None:
            self.rules[variable] = rule
        elif rules.__class__ is tuple:
            self.rules[variable] = [rules, rule]
        else:
            rules.append(rule)

    def wait(self, variable: int, rule: Rule) -> None:
        """Let a rule have what the variable has, soon and later; never at once, or rules would nest."""
        if variable < 0:
            return
        self.watch(variable, rule)
        known = self.has[variable]
        if known:
            settled = self._settled(variable, known)
            if settled:
                self.tasks.append((rule, settled))

    def _settled(self, variable: int, known: Any) -> Sequence[int]:
        """What a variable has handed on already of what it has; the rest is still to come."""
        waiting = self.fresh.get(variable)
        if waiting is None:
            return known if known.__class__ is tuple else list(known)
        if len(waiting) >= len(known):
            return ()
        to_come = set(waiting)
        return [each for each in known if each not in to_come]

    def run(self) -> None:
        """Let everything spread until nothing changes, or until it takes too long: then `is_cut` says so."""
        queue, fresh, tasks = self.queue, self.fresh, self.tasks
        rules = cast("list[Any]", self.rules)
        while queue or tasks:
            self.steps += 1
            if self.steps > self.most_steps:
                self.is_cut = True
                queue.clear()
                fresh.clear()
                tasks.clear()
                return
            if tasks:
                rule, given = tasks.popleft()
                rule[0](self, given, rule)
                continue
            variable = queue.popleft()
            things = fresh.pop(variable)
            if self.copies[variable] is not None:
                self._hand_on(self.copies[variable], things)
            waiting = rules[variable]
            if waiting is not None:
                if waiting.__class__ is tuple:
                    waiting[0](self, things, waiting)
                else:
                    for rule in list(waiting):
                        rule[0](self, things, rule)

    def _hand_on(self, targets: Any, things: Sequence[int]) -> None:
        """Give what is new to one variable or to several; most have nothing yet, or the same."""
        has, fresh = cast("list[Any]", self.has), self.fresh
        is_single = things.__class__ is tuple
        for target in (targets,) if targets.__class__ is int else targets:
            known = has[target]
            if known is None and is_single:
                has[target] = fresh[target] = things
                self.queue.append(target)
            elif known is not things:
                self.add_all(target, things)

    def forget(self) -> None:
        """Let go of what only solving needs, so that there is room for what is made of it.

        Objects that several variables have stay in the order that their set has; many have the same.
        """
        for each in (self.rules, self.looked_up, self.singles, self.known_members, self.late_members):
            each.clear()
        self.copies.clear()
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        for variable, known in enumerate(self.has):
            if known.__class__ is set:
                things = tuple(cast("set[int]", known))
                self.has[variable] = shared.setdefault(things, things)
        for call in self.calls:
            call.bound = cast("Any", tuple(call.bound))
        for each in (self.hooked, self.watchers, self.implied, self.fallbacks, self.unbound, self.early):
            each.clear()

    def cell(self, thing: int, name: str) -> int:
        """The variable of what an object has under a name, by itself."""
        key = (thing, name)
        found = self.cells.get(key)
        if found is None:
            found = self.cells[key] = self.variable()
        return found

    def attribute(self, thing: int, name: str) -> int:
        """The variable of an attribute as it is read: bound, inherited, looked up where it may be."""
        key = (thing, name)
        found = self.looked_up.get(key)
        if found is None:
            found = self.looked_up[key] = self.variable()
            reader = self.readers.get(self.objects.kind[thing])
            if reader is not None:
                reader(self, thing, name, found)
        return found

    def invoke(self, thing: int, call: Call) -> None:
        """An object is called."""
        if self.put_off is not None:
            self.put_off.append((call, thing))
            return
        caller = self.callers.get(self.objects.kind[thing])
        if caller is not None:
            caller(self, thing, call)
