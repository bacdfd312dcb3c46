"""From the value facts of files to variables, objects and rules that wait for them.

Not here: what rules do, and which module an import means.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.values.facts import (
    ANNOTATION,
    ARG,
    ASYNC_FUNCTION,
    ATTR,
    AWAIT,
    BASE,
    BUILTIN,
    CALL,
    CLASS,
    CONST,
    COPY,
    DECORATOR,
    DEFAULT,
    DISPLAY,
    ELEMENT,
    ENTER,
    EXPORT,
    FIELD,
    FROM,
    FUNCTION,
    IMPORT,
    IMPORT_AS,
    IN,
    INSTANCE,
    ITEM,
    ITEM_BY,
    ITERATE,
    KEY,
    KEYS,
    KEYWORD_ONLY,
    LAMBDA,
    MEMBER,
    METACLASS,
    OPERATOR,
    OPS,
    PARAM,
    POSITIONAL_ONLY,
    RAISE,
    RETURNS,
    SET_ATTR,
    SET_ITEM,
    SET_ITEM_BY,
    SPREAD,
    STAR,
    STARRED,
    UNPACK,
    VAR_KEYWORD,
    VAR_POSITIONAL,
    YIELDS,
    YIELDS_FROM,
)
from headwater.cpg.resolve import objects as kinds
from headwater.cpg.resolve.attributes import read_attribute, store_attribute
from headwater.cpg.resolve.calling import call_all, raise_all
from headwater.cpg.resolve.containers import (
    KEYS as KEYS_CELL,
)
from headwater.cpg.resolve.containers import (
    awaited,
    enter,
    item,
    iterate,
    read_item,
    read_item_by,
    spread,
    store_item,
    store_item_by,
    unpack,
)
from headwater.cpg.resolve.objects import Call, Class, Function, Parameter
from headwater.cpg.resolve.operating import operate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.resolve.solving import Solver

_MODULE_ROW = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FileValues:
    """What the solver needs of a file: its path, how many nodes and bindings it has, and its value facts."""

    path: str
    nodes: int
    bindings: int
    op: Sequence[int]
    target: Sequence[int]
    source: Sequence[int]
    text: Sequence[str | None]


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
    top: int = 0
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


def load_files(solver: Solver, files: Sequence[FileValues]) -> tuple[Loading, list[int]]:
    """Load all files, in the order of their paths; where the variables of each begin."""
    loading = Loading(solver)
    bases: list[int] = []
    loaders = _LOADERS
    for file, each in enumerate(files):
        base = solver.extend(each.nodes + each.bindings)
        bases.append(base)
        solver.modules.append({})
        solver.stars.append([])
        solver.exports.append(None)
        loading.file, loading.base, loading.top = file, base, base + each.nodes - 2
        loading.caller = base + _MODULE_ROW
        top = loading.top
        for op, target, source, text in zip(each.op, each.target, each.source, each.text, strict=True):
            loaders[op](
                loading,
                base + target if target >= 0 else top - target if target != -1 else -1,
                base + source if source >= 0 else top - source if source != -1 else -1,
                text,
            )
    loading.bases = bases
    return loading, bases


def _in(loading: Loading, target: int, source: int, text: Any) -> None:
    del source, text
    loading.caller = target


def _copy(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    copies = loading.solver.copies
    known = copies[source]
    if known is None:
        copies[source] = [target]
    else:
        known.append(target)


def _const(loading: Loading, target: int, source: int, text: Any) -> None:
    del source
    kind, _, key = text.partition(" ")
    objects = loading.solver.objects
    made = objects.get(kinds.CONST, kind, key) if key else objects.get(kinds.TYPED, kind)
    loading.solver.add(target, made)


def _builtin(loading: Loading, target: int, source: int, text: Any) -> None:
    del source
    loading.builtins.append((loading.file, target, text))


def _starred(loading: Loading, target: int, source: int, text: Any) -> None:
    del source
    loading.starred.append((loading.file, target, text))


def _member(loading: Loading, target: int, source: int, text: Any) -> None:
    solver = loading.solver
    class_ = solver.classes.get(target)
    if class_ is not None:
        class_.members[text] = source
        solver.has_hooks |= text == "__getattr__"
    elif target == loading.base + _MODULE_ROW:
        solver.modules[loading.file][text] = source


def _field(loading: Loading, target: int, source: int, text: Any) -> None:
    del source
    class_ = loading.solver.classes.get(target)
    if class_ is not None and text not in class_.fields:
        class_.fields.append(text)


def _export(loading: Loading, target: int, source: int, text: Any) -> None:
    del target, source
    exports = loading.solver.exports
    known = exports[loading.file]
    if known is None:
        exports[loading.file] = [text]
    else:
        known.append(text)


def _importer(op: int) -> Callable[[Loading, int, int, Any], None]:
    def load(loading: Loading, target: int, source: int, text: Any) -> None:
        loading.imports.append(Imported(loading.file, op, target, source - loading.base, text))

    return load


def _definer(op: int) -> Callable[[Loading, int, int, Any], None]:
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
            _decorate(loading, made.raw, target, thing)
        solver.add(made.raw, thing)

    return load


def _decorate(loading: Loading, raw: int, target: int, made: int) -> None:
    """Each decorator is called with what the one below gave."""
    solver, value = loading.solver, raw
    solver.decorated.add(made)
    last = len(loading.decorators) - 1
    for place, (site, source) in enumerate(loading.decorators):
        result = solver.variable()
        if place == last:
            _wait(loading, result, (_keep_own, target, made))
        call = Call(loading.file, site, loading.caller, "decorator", source, result, positional=[value])
        solver.calls.append(call)
        if source >= 0:
            _wait(loading, source, (call_all, call))
        value = result
    loading.decorators.clear()


def _keep_own(solver: Solver, things: Sequence[int], rule: Any) -> None:
    """Give a def what its decorator gave, but not what the same decorator gave other defs: not that again."""
    _, target, made = rule
    solver.add_all(target, [each for each in things if each == made or not _is_of_others(solver, each, made)])


def _is_of_others(solver: Solver, thing: int, made: int) -> bool:
    """Whether something is a decorated def as this one is, and not one that a decorator has inside of it."""
    if thing not in solver.decorated:
        return False
    objects = solver.objects
    defs = solver.functions if objects.kind[thing] == kinds.FUNCTION else solver.classes
    own = solver.functions if objects.kind[made] == kinds.FUNCTION else solver.classes
    around = defs[objects.of[thing]].around
    return around not in solver.functions or around == own[objects.of[made]].around


def _decorator(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    loading.decorators.append((target, source))


def _class(loading: Loading, target: int, source: int, text: Any) -> None:
    solver = loading.solver
    made = solver.objects.get(kinds.CLASS, target)
    solver.classes[target] = Class(target, text, source, order=(made,))
    if loading.decorators:
        raw = solver.variable()
        _decorate(loading, raw, target, made)
        solver.add(raw, made)
    solver.add(target, made)


def _base(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    loading.solver.classes[target].bases.append(source)


def _metaclass(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    if source >= 0:
        loading.solver.classes[target].metaclasses.append(source)


def _param(loading: Loading, target: int, source: int, text: Any) -> None:
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


def _default(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    function = loading.solver.functions[next(reversed(loading.solver.functions))]
    function.defaults[target] = source
    if source >= 0:
        loading.solver.copy(source, target)


def _annotation(loading: Loading, target: int, source: int, text: Any) -> None:
    loading.annotations.append((target, source, text, loading.file))


def _returns(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    function = loading.solver.functions.get(target)
    if function is None:
        return
    if not function.is_async:
        for place, each in enumerate(function.positional):
            if each.variable == source:
                function.passed[place] = None
                return
    _copy(loading, function.returned, source, None)


def _yields(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    function = loading.solver.functions.get(target)
    if function is not None:
        function.is_generator = True
        if source >= 0:
            _copy(loading, function.yielded, source, None)


def _yields_from(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    function = loading.solver.functions.get(loading.caller)
    if function is not None:
        function.is_generator = True
        if source >= 0:
            _wait(loading, source, (iterate, function.yielded, None, *loading.at(target)))
            _wait(loading, source, (_returned, target))


def _returned(solver: Solver, things: Sequence[int], rule: Any) -> None:
    for each in things:
        if solver.objects.kind[each] == kinds.GENERATOR:
            solver.copy(solver.functions[solver.objects.of[each]].returned, rule[1])


def _wait(loading: Loading, variable: int, rule: Any) -> None:
    """The same as the solver's, which has handed on nothing yet."""
    rules = loading.solver.rules
    known = rules[variable]
    if known is None:
        rules[variable] = [rule]
    else:
        known.append(rule)


def _waiter(rule: Any) -> Callable[[Loading, int, int, Any], None]:
    """A fact that makes a rule wait for its source, with its text."""

    def load(loading: Loading, target: int, source: int, text: Any) -> None:
        if source >= 0:
            _wait(loading, source, (rule, target, text, loading.file, target, loading.caller))

    return load


def _keyed(rule: Any) -> Callable[[Loading, int, int, Any], None]:
    def load(loading: Loading, target: int, source: int, text: Any) -> None:
        del text
        loading.keyed = (rule, target, source)

    return load


def _key(loading: Loading, target: int, source: int, text: Any) -> None:
    del target, text
    rule, target, container = loading.keyed
    if container >= 0:
        _wait(loading, container, (rule, target, source, loading.file, target, loading.caller))


def _await(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    _wait(loading, source, (awaited, target, *loading.at(target)))


def _instance(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    _wait(loading, source, (make_instances, target))


def make_instances(solver: Solver, things: Sequence[int], rule: Any) -> None:
    """Rule (…, target): the target gets an instance of each class."""
    objects = solver.objects
    for each in things:
        kind = objects.kind[each]
        if kind == kinds.CLASS:
            solver.add(rule[1], objects.get(kinds.INSTANCE, objects.of[each]))
        elif kind == kinds.EXTERNAL:
            solver.add(rule[1], objects.get(kinds.MADE, objects.of[each]))
        elif kind == kinds.BUILTIN:
            solver.add(rule[1], objects.get(kinds.TYPED, objects.of[each]))
        elif kind == kinds.CONTAINER:
            _wait_all(solver, each, rule)


def _wait_all(solver: Solver, container: int, rule: Any) -> None:
    solver.wait(solver.cell(container, "+"), rule)


def _raise(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    call = Call(loading.file, target, loading.caller, "constructor", -1, -1, slot="raise")
    loading.solver.calls.append(call)
    _wait(loading, source, (raise_all, call))


def _display(loading: Loading, target: int, source: int, text: Any) -> None:
    del source
    loading.solver.add(target, loading.solver.objects.get(kinds.CONTAINER, target, text))


def _container(loading: Loading, target: int) -> int:
    return next(iter(loading.solver.has[target] or ()))


def _element(loading: Loading, target: int, source: int, text: Any) -> None:
    solver = loading.solver
    solver.copy(source, item(solver, _container(loading, target), text))


def _keys(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    solver = loading.solver
    solver.copy(source, solver.cell(_container(loading, target), KEYS_CELL))


def _spread(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    if source >= 0:
        _wait(loading, source, (spread, _container(loading, target), *loading.at(target)))


def _call(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    loading.call = call = Call(loading.file, target, loading.caller, "", source, target)
    loading.solver.calls.append(call)
    if source >= 0:
        _wait(loading, source, (call_all, call))


def _operator(loading: Loading, target: int, source: int, text: Any) -> None:
    loading.call = call = Call(loading.file, target, loading.caller, "dunder", source, target)
    if source >= 0:
        _wait(loading, source, (operate, call, text))


def _arg(loading: Loading, target: int, source: int, text: Any) -> None:
    del target
    call = loading.call
    if call is None:
        return
    if text is None:
        call.positional.append(source)
    elif text == "*":
        call.stars.append((len(call.positional), source))
    elif text == "**":
        call.mappings.append(source)
    else:
        call.named.append((text, source))


_BY_OP: dict[int, Callable[[Loading, int, int, Any], None]] = {
    IN: _in,
    COPY: _copy,
    CONST: _const,
    BUILTIN: _builtin,
    STARRED: _starred,
    MEMBER: _member,
    FIELD: _field,
    EXPORT: _export,
    **{op: _importer(op) for op in (IMPORT, IMPORT_AS, FROM, STAR)},
    **{op: _definer(op) for op in (FUNCTION, ASYNC_FUNCTION, LAMBDA)},
    PARAM: _param,
    DEFAULT: _default,
    ANNOTATION: _annotation,
    RETURNS: _returns,
    YIELDS: _yields,
    YIELDS_FROM: _yields_from,
    CLASS: _class,
    BASE: _base,
    METACLASS: _metaclass,
    DECORATOR: _decorator,
    ATTR: _waiter(read_attribute),
    SET_ATTR: _waiter(store_attribute),
    ITEM: _waiter(read_item),
    ITEM_BY: _keyed(read_item_by),
    SET_ITEM: _waiter(store_item),
    SET_ITEM_BY: _keyed(store_item_by),
    KEY: _key,
    UNPACK: _waiter(unpack),
    ITERATE: _waiter(iterate),
    ENTER: _waiter(enter),
    AWAIT: _await,
    INSTANCE: _instance,
    RAISE: _raise,
    DISPLAY: _display,
    ELEMENT: _element,
    KEYS: _keys,
    SPREAD: _spread,
    CALL: _call,
    OPERATOR: _operator,
    ARG: _arg,
}
_LOADERS = tuple(_BY_OP[op] for op in range(len(OPS)))
