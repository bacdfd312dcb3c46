"""Functions, classes, parameters and decorators as they are loaded from facts.

Not here: all other facts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.values.facts import (
    ASYNC_FUNCTION,
    KEYWORD_ONLY,
    LAMBDA,
    POSITIONAL_ONLY,
    VAR_KEYWORD,
    VAR_POSITIONAL,
)
from headwater.cpg.resolve import objects as kinds
from headwater.cpg.resolve.calling import call_all
from headwater.cpg.resolve.objects import Call, Class, Function, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.extract.hints.facts import HintColumns
    from headwater.cpg.resolve.solving import Solver


@dataclass(frozen=True, slots=True, kw_only=True)
class FileValues:
    """What the solver needs of a file: its path, how many nodes and bindings it has, and its value facts.

    Only a file with `hints` has types told of it.
    """

    path: str
    nodes: int
    bindings: int
    op: Sequence[int]
    target: Sequence[int]
    source: Sequence[int]
    text: Sequence[str | None]
    hints: HintColumns | None = None


def variables_of(file: FileValues, base: int) -> list[int]:
    """The variables of a file at the ints that facts tell them by; those below nothing count from the end.

    >>> made = FileValues(path="m.py", nodes=3, bindings=2, op=(), target=(), source=(), text=())
    >>> known = variables_of(made, 10)
    >>> known[0], known[2], known[-1], known[-2], known[-3]
    (10, 12, -1, 13, 14)
    """
    first = base + file.nodes
    most = max(file.nodes, max(file.source, default=0) + 1)  # the level of an import is told in the same way
    return [*range(base, base + most), *range(first + file.bindings - 1, first - 1, -1), -1]


@dataclass(slots=True)
class Imported:
    """A name that an import binds: the alias's variable, and what is imported as facts tell it."""

    file: int
    op: int
    variable: int
    level: int
    text: str


@dataclass(slots=True)
class Loading:
    """A file that is being loaded; lists are of the whole program."""

    solver: Solver
    file: int = 0
    base: int = 0
    caller: int = 0
    call: Call | None = None
    keyed: tuple[int, int, int] = (0, 0, 0)
    decorators: list[tuple[int, int]] = field(default_factory=list["tuple[int, int]"])
    imports: list[Imported] = field(default_factory=list[Imported])
    annotations: list[tuple[int, int, str | None, int]] = field(
        default_factory=list["tuple[int, int, str | None, int]"]
    )
    builtins: list[tuple[int, int, str]] = field(default_factory=list["tuple[int, int, str]"])
    starred: list[tuple[int, int, str]] = field(default_factory=list["tuple[int, int, str]"])
    bases: list[int] = field(default_factory=list[int])
    decorated: list[tuple[int, int]] = field(default_factory=list["tuple[int, int]"])

    def at(self, site: int) -> tuple[int, int, int]:
        """Where a call that is not written is made."""
        return self.file, site, self.caller


def load_copy(loading: Loading, target: int, source: int, text: Any) -> None:
    """A variable that gets what another has."""
    del text
    loading.solver.link(source, target)


def definer(op: int) -> Callable[[Loading, int, int, Any], None]:
    """What loads functions of a kind."""

    def load(loading: Loading, target: int, source: int, text: Any) -> None:
        solver = loading.solver
        made = Function(target, text, source, target, solver.variable(), solver.variable())
        made.is_async = op == ASYNC_FUNCTION
        made.is_lambda = op == LAMBDA
        made.owner = source if source in solver.classes else None
        solver.functions[target] = made
        thing = solver.objects.get(kinds.FUNCTION, target)
        if loading.decorators:
            solver.decorated_names.add(text)
            made.raw = solver.variable()
            loading.decorated.append((target, made.raw))
            decorate(loading, made.raw, target, thing)
        solver.add(made.raw, thing)

    return load


def decorate(loading: Loading, raw: int, target: int, made: int) -> None:
    """Each decorator is called with what the one below gave."""
    solver, value = loading.solver, raw
    solver.decorated.add(made)
    last = len(loading.decorators) - 1
    for place, (site, source) in enumerate(loading.decorators):
        result = solver.variable()
        if place == last:
            wait(loading, result, (keep_own, target, made))
        call = Call(loading.file, site, loading.caller, "decorator", source, result, positional=[value])
        solver.calls.append(call)
        if source >= 0:
            wait(loading, source, (call_all, call))
        value = result
    loading.decorators.clear()


def keep_own(solver: Solver, things: Sequence[int], rule: Any) -> None:
    """Give a def what its decorator gave, but not what the same decorator gave other defs: not that again."""
    _, target, made = rule
    solver.add_all(target, [each for each in things if each == made or not is_of_others(solver, each, made)])


def is_of_others(solver: Solver, thing: int, made: int) -> bool:
    """Whether something is a decorated def as this one is, and not one that a decorator has inside of it."""
    if thing not in solver.decorated:
        return False
    objects = solver.objects
    defs = solver.functions if objects.kind[thing] == kinds.FUNCTION else solver.classes
    own = solver.functions if objects.kind[made] == kinds.FUNCTION else solver.classes
    around = defs[objects.of[thing]].around
    return around not in solver.functions or around == own[objects.of[made]].around


def load_decorator(loading: Loading, target: int, source: int, text: Any) -> None:
    """A decorator of the def that follows."""
    del text
    loading.decorators.append((target, source))


def load_class(loading: Loading, target: int, source: int, text: Any) -> None:
    """A class."""
    solver = loading.solver
    made = solver.objects.get(kinds.CLASS, target)
    class_ = Class(target, text, source, loading.file, order=(made,))
    solver.classes[target] = solver.class_of[made] = class_
    if loading.decorators:
        raw = solver.variable()
        decorate(loading, raw, target, made)
        solver.add(raw, made)
    solver.add(target, made)


def load_base(loading: Loading, target: int, source: int, text: Any) -> None:
    """A base of a class."""
    del text
    loading.solver.classes[target].bases.append(source)


def load_metaclass(loading: Loading, target: int, source: int, text: Any) -> None:
    """A metaclass of a class."""
    del text
    if source >= 0:
        loading.solver.classes[target].metaclasses.append(source)


def load_param(loading: Loading, target: int, source: int, text: Any) -> None:
    """A parameter of a function."""
    solver = loading.solver
    function = solver.functions[source]
    kind, name = text[0], text[1:]
    parameter = Parameter(target, kind, name)
    if kind == VAR_POSITIONAL:
        function.rest = parameter
        solver.add(target, solver.objects.get(kinds.CONTAINER, target, "tuple"))
        return
    if kind == VAR_KEYWORD:
        function.keywords = parameter
        solver.add(target, solver.objects.get(kinds.CONTAINER, target, "dict"))
        return
    if kind != KEYWORD_ONLY:
        function.positional.append(parameter)
    if kind != POSITIONAL_ONLY:
        function.named[name] = parameter


def load_default(loading: Loading, target: int, source: int, text: Any) -> None:
    """The default of a parameter of the last function."""
    del text
    function = loading.solver.functions[next(reversed(loading.solver.functions))]
    function.defaults[target] = source
    if source >= 0:
        loading.solver.copy(source, target)


def load_returns(loading: Loading, target: int, source: int, text: Any) -> None:
    """Something that a function returns; a parameter as it is goes back call by call."""
    del text
    function = loading.solver.functions.get(target)
    if function is None:
        return
    if not function.is_async:
        for place, each in enumerate(function.positional):
            if each.variable == source:
                function.passed[place] = None
                return
    load_copy(loading, function.returned, source, None)


def load_yields(loading: Loading, target: int, source: int, text: Any) -> None:
    """Something that a function yields."""
    del text
    function = loading.solver.functions.get(target)
    if function is not None:
        function.is_generator = True
        if source >= 0:
            load_copy(loading, function.yielded, source, None)


def wait(loading: Loading, variable: int, rule: Any) -> None:
    """The same as the solver's, which has handed on nothing yet."""
    loading.solver.watch(variable, rule)
