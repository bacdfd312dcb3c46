"""From the value facts of files to variables, objects and rules that wait for them.

Not here: what rules do, and which module an import means.
"""

from __future__ import annotations

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
    CATCH,
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
    FORMATTED,
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
    LAMBDA,
    MEMBER,
    METACLASS,
    OPERATOR,
    OPS,
    PARAM,
    RAISE,
    RAISED,
    RETURNED,
    RETURNS,
    SET_ATTR,
    SET_ITEM,
    SET_ITEM_BY,
    SPREAD,
    STAR,
    STARRED,
    TRY,
    UNPACK,
    YIELDED,
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
from headwater.cpg.resolve.defining import (
    FileValues,
    Imported,
    Loading,
    definer,
    load_base,
    load_class,
    load_copy,
    load_decorator,
    load_default,
    load_metaclass,
    load_param,
    load_returns,
    load_yields,
    variables_of,
    wait,
)
from headwater.cpg.resolve.objects import Call
from headwater.cpg.resolve.operating import operate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.resolve.solving import Solver


_MODULE_ROW = 1


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
        loading.file, loading.base, loading.caller = file, base, base + _MODULE_ROW
        variable = variables_of(each, base).__getitem__
        facts = (map(loaders.__getitem__, each.op), map(variable, each.target), map(variable, each.source))
        for load, target, source, text in zip(*facts, each.text, strict=True):
            load(loading, target, source, text)
    loading.bases = bases
    return loading, bases


def _in(loading: Loading, target: int, source: int, text: Any) -> None:
    del source, text
    loading.caller = target


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


def _annotation(loading: Loading, target: int, source: int, text: Any) -> None:
    loading.annotations.append((target, source, text, loading.file))


def _yields_from(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    function = loading.solver.functions.get(loading.caller)
    if function is not None:
        function.is_generator = True
        if source >= 0:
            wait(loading, source, (iterate, function.yielded, None, *loading.at(target)))
            wait(loading, source, (_returned, target))


def _returned(solver: Solver, things: Sequence[int], rule: Any) -> None:
    for each in things:
        if solver.objects.kind[each] == kinds.GENERATOR:
            solver.copy(solver.functions[solver.objects.of[each]].returned, rule[1])


def _waiter(rule: Any) -> Callable[[Loading, int, int, Any], None]:
    """A fact that makes a rule wait for its source, with its text."""

    def load(loading: Loading, target: int, source: int, text: Any) -> None:
        if source >= 0:
            wait(loading, source, (rule, target, text, loading.file, target, loading.caller))

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
        wait(loading, container, (rule, target, source, loading.file, target, loading.caller))


def _await(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    wait(loading, source, (awaited, target, *loading.at(target)))


def _instance(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    wait(loading, source, (make_instances, target))


def make_instances(solver: Solver, things: Sequence[int], rule: Any) -> None:
    """Rule (…, target): the target gets an instance of each class."""
    objects = solver.objects
    for each in things:
        kind = objects.kind[each]
        if kind == kinds.CLASS:
            solver.add(rule[1], objects.get(kinds.INSTANCE, objects.of[each], kinds.DECLARED))
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
    wait(loading, source, (raise_all, call))


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
        wait(loading, source, (spread, _container(loading, target), *loading.at(target)))


def _call(loading: Loading, target: int, source: int, text: Any) -> None:
    del text
    loading.call = call = Call(loading.file, target, loading.caller, "", source, target)
    loading.solver.calls.append(call)
    if source >= 0:
        wait(loading, source, (call_all, call))


def _operator(loading: Loading, target: int, source: int, text: Any) -> None:
    loading.call = call = Call(loading.file, target, loading.caller, "dunder", source, target)
    if source >= 0:
        wait(loading, source, (operate, call, text))


def _arg(loading: Loading, target: int, source: int, text: Any) -> None:
    del target
    call = loading.call
    if call is None:
        return
    if text is None:
        call.positional.append(source)
    elif text == "*":
        call.stars = (*call.stars, (len(call.positional), source))
    elif text == "**":
        call.mappings = (*call.mappings, source)
    else:
        call.named = (*call.named, (text, source))


def _nothing(loading: Loading, target: int, source: int, text: Any) -> None:
    del loading, target, source, text


_BY_OP: dict[int, Callable[[Loading, int, int, Any], None]] = {
    IN: _in,
    COPY: load_copy,
    CONST: _const,
    BUILTIN: _builtin,
    STARRED: _starred,
    MEMBER: _member,
    FIELD: _field,
    EXPORT: _export,
    **{op: _importer(op) for op in (IMPORT, IMPORT_AS, FROM, STAR)},
    **{op: definer(op) for op in (FUNCTION, ASYNC_FUNCTION, LAMBDA)},
    PARAM: load_param,
    DEFAULT: load_default,
    ANNOTATION: _annotation,
    RETURNS: load_returns,
    YIELDS: load_yields,
    YIELDS_FROM: _yields_from,
    CLASS: load_class,
    BASE: load_base,
    METACLASS: load_metaclass,
    DECORATOR: load_decorator,
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
    **dict.fromkeys(
        (FORMATTED, RETURNED, YIELDED, RAISED, TRY, CATCH), _nothing
    ),  # rows of flow are made of these
}
_LOADERS = tuple(_BY_OP[op] for op in range(len(OPS)))
