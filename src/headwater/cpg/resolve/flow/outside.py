"""Flow through calls of what is not in the repository: builtins, methods of builtin types, other libraries.

What comes back is taken to be made of the arguments, and of what a method is called on; some functions hand
on what they get, some only say something of it, and some methods put their arguments into a container.
Not here: where such a container comes from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.objects import BUILTIN, CLASS, CONTAINER, EXTERNAL, METHOD, MODULE, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.flow.rows import Flowing

UNKNOWN = 0.3  # how sure flow through a call is of which nothing is known

# Functions that give back what they get.
HANDING_ON = frozenset(
    {"iter", "aiter", "reversed", "memoryview", "copy.copy", "copy.deepcopy", "typing.cast"}
    | {"functools.update_wrapper", "contextlib.closing", "asyncio.run", "asyncio.shield", "weakref.proxy"}
    | {"operator.pos", "sys.intern", "os.fspath", "gettext.gettext", "inspect.unwrap", "abc.abstractmethod"}
)
# Functions and methods that say something of what they get; nothing of it is in what comes back.
SAYING = frozenset(
    {
        "len",
        "isinstance",
        "issubclass",
        "id",
        "hash",
        "callable",
        "hasattr",
        "bool",
        "print",
        "type",
        "any",
        "all",
    }
    | {"super", "setattr", "delattr", "startswith", "endswith", "count", "index", "find", "rfind", "rindex"}
    | {
        "isdigit",
        "isalpha",
        "isalnum",
        "isidentifier",
        "isspace",
        "isupper",
        "islower",
        "isnumeric",
        "isdecimal",
    }
    | {
        "issubset",
        "issuperset",
        "isdisjoint",
        "remove",
        "discard",
        "clear",
        "sort",
        "reverse",
        "isatty",
        "close",
    }
)
# Methods that put their arguments into what they are called on, as items or under a key.
ADDING = frozenset(
    {"append", "appendleft", "add", "insert", "push", "put", "put_nowait", "setdefault", "__setitem__"}
)
POURING = frozenset({"extend", "extendleft", "update", "union_update"})


def flow_outside(flowing: Flowing, number: int, things: Sequence[tuple[int, float]]) -> None:
    """Add the flow of a written call that reaches no function of the repository for sure."""
    call = flowing.outcome.order[number]
    if call.dispatch:
        return
    site = call.site
    read = flowing.sites.receivers.get(site + 1)
    name, sure, is_method = _called(flowing, things, read)
    arguments = flowing.sites.arguments.get(site, ())
    last = name.rpartition(".")[2]
    is_adding = (is_method or not things) and last in ADDING | POURING and read is not None
    if is_adding and read is not None:
        path = "[*]" if last in ADDING else None
        for node, text, _ in arguments:
            where = f"['{text}']" if text not in {None, "*", "**"} else path
            flowing.found += [
                (node, each, "store", where, False, number, sure) for each in homes_of(flowing, read[0])
            ]
    if last in SAYING or (is_adding and last != "setdefault"):
        return
    is_same = name in HANDING_ON
    flowing.found += [(node, site, "summary", None, is_same, number, sure) for node, _, _ in arguments]
    if read is not None and not _is_place(flowing, read[0]):
        flowing.found.append((site + 2, site, "summary", None, False, number, sure))


def _called(
    flowing: Flowing, things: Sequence[tuple[int, float]], read: tuple[int, str, int] | None
) -> tuple[str, float, bool]:
    """The name of what is called, how sure that is, and whether it is a method of a builtin type."""
    objects = flowing.outcome.program.solver.objects
    for each, sure in things:
        kind, of = objects.kind[each], objects.of[each]
        if kind == METHOD:
            return of[1], sure, True
        if kind in {BUILTIN, EXTERNAL}:
            return of, sure, kind == EXTERNAL and read is not None
    return ("" if read is None else read[1]), UNKNOWN, False


def _is_place(flowing: Flowing, variable: int) -> bool:
    """Whether what stands before a dot is a module or class, which is no data."""
    solver = flowing.outcome.program.solver
    if variable < 0:
        return False
    known = solver.has[variable]
    places = {MODULE, NAMESPACE, EXTERNAL, CLASS, BUILTIN}
    return bool(known) and all(solver.objects.kind[each] in places for each in known or ())


def homes_of(flowing: Flowing, variable: int) -> list[int]:
    """The nodes that stand for what a variable has: where its containers are made, or else itself.

    What is put into a container goes from there to all who have it, by whatever way they got it.
    """
    sites, solver = flowing.sites, flowing.outcome.program.solver
    objects = solver.objects
    if variable < 0:
        return []
    found = [
        objects.of[each]
        for each in sorted(solver.has[variable] or ())
        if objects.kind[each] == CONTAINER and sites.is_node(objects.of[each])
    ]
    if found:
        return found
    around = dict.fromkeys((variable, *sites.copied(variable)))
    return [each for each in around if sites.is_node(each)]
