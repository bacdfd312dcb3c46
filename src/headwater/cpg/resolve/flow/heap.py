"""Flow through attributes and items: from where one is stored to where it is loaded of the same object.

Which objects a variable may have is known; objects of which nothing is known are the same if their variable
is. An item also goes to where its container is made, and from there to all who have the container.
Not here: what is put into a container by calling its methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import INT_KEY, SLICE_KEY
from headwater.cpg.resolve.confidence import confidence_of
from headwater.cpg.resolve.flow.outside import homes_of
from headwater.cpg.resolve.lookup import member_of, module_member
from headwater.cpg.resolve.objects import CLASS, CONTAINER, FUNCTION, INSTANCE, MODULE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.flow.rows import Flowing

MOST_STORES = 24  # that reach one load; a load that more reach is left out

_WITH_CELLS = frozenset({INSTANCE, CLASS, MODULE, FUNCTION})
_ANY = "[*]"


@dataclass(slots=True)
class _Stores:
    """Where attributes and items are stored, by object and name; an unknown object is `~variable`."""

    at: dict[tuple[int, str], list[int]] = field(default_factory=dict["tuple[int, str]", "list[int]"])
    names: set[str] = field(default_factory=set[str])
    seen: dict[tuple[int, str], Sequence[int]] = field(
        default_factory=dict["tuple[int, str]", "Sequence[int]"]
    )

    def add(self, thing: int, name: str, node: int) -> None:
        self.names.add(name)
        self.at.setdefault((thing, name), []).append(node)


def flow_at_once(flowing: Flowing) -> None:
    """Add the ways from values to attributes and items that are loaded right after they were stored."""
    for load, source, text in flowing.sites.recalled:
        path = text if text.startswith(".") else path_of_key(text[1:])
        if flowing.sites.is_node(source):
            flowing.found.append((source, load, "load", path, True, None, 1.0))


def flow_through_attributes(flowing: Flowing) -> None:
    """Add the ways from stores of attributes to their loads."""
    sites, stores = flowing.sites, _Stores()
    for target, source, name in sites.stored:
        things = _things(flowing, source, _WITH_CELLS)
        for each in things:
            stores.add(each, name, target)
        if not things and source >= 0:
            stores.add(~source, name, target)
            flowing.found += [
                (target, each, "store", f".{name}", False, None, 1.0) for each in homes_of(flowing, source)
            ]
    wanted = stores.names | _data_members(flowing)
    known: dict[tuple[int, str], Sequence[int]] = {}  # many loads of one name are of one variable
    for load, (source, name, _) in sites.receivers.items():
        if source < 0 or (name not in wanted and not _is_module(flowing, source)):
            continue
        reaching = known.get((source, name))
        if reaching is None:
            things = _things(flowing, source, _WITH_CELLS) or [~source]
            reaching = known[source, name] = _reaching(flowing, stores, name, things)
        if len(reaching) > MOST_STORES:
            flowing.leave_out("load")
        elif reaching:
            _load(flowing, load, source, name, reaching)


def _data_members(flowing: Flowing) -> set[str]:
    """The names that classes give values which are neither functions nor classes."""
    classes = flowing.outcome.program.solver.classes.values()
    return {name for each in classes for name, member in each.members.items() if _given(flowing, member)}


def _is_module(flowing: Flowing, variable: int) -> bool:
    solver = flowing.outcome.program.solver
    return any(solver.objects.kind[each] == MODULE for each in solver.has[variable] or ())


def _things(flowing: Flowing, variable: int, kinds: frozenset[int]) -> list[int]:
    solver = flowing.outcome.program.solver
    known = solver.has[variable] if variable >= 0 else None
    if not known:
        return []
    found = [each for each in known if solver.objects.kind[each] in kinds]
    return sorted(found) if len(found) > 1 else found


def _reaching(flowing: Flowing, stores: _Stores, name: str, things: Sequence[int]) -> Sequence[int]:
    reaching: dict[int, None] = {}
    for each in things:
        found = stores.seen.get((each, name))
        if found is None:
            found = stores.seen[each, name] = _stores_of(flowing, stores, each, name)
        if found:
            reaching.update(dict.fromkeys(found))
    return list(reaching)


def _load(flowing: Flowing, load: int, source: int, name: str, reaching: Sequence[int]) -> None:
    kind, path = ("global", None) if _is_module(flowing, source) else ("load", f".{name}")
    sure = confidence_of("value", len(flowing.outcome.program.solver.has[source] or ()))
    flowing.found += [(each, load, kind, path, True, None, sure) for each in reaching]


def _stores_of(flowing: Flowing, stores: _Stores, thing: int, name: str) -> Sequence[int]:
    """Where an attribute of an object may come from: its own, or that of the first class that has it."""
    found = list(stores.at.get((thing, name), ()))
    if thing < 0:
        return found
    solver = flowing.outcome.program.solver
    objects = solver.objects
    if objects.kind[thing] == MODULE:
        member = module_member(solver, objects.of[thing], name)
        return found if member is None else [*found, *_given(flowing, member)]
    if objects.kind[thing] == FUNCTION:
        return found
    for each in solver.classes[objects.of[thing]].order:
        if objects.kind[each] != CLASS:
            continue
        if each != thing:
            found += stores.at.get((each, name), ())
        member = member_of(solver, solver.classes[objects.of[each]], name)
        if member is not None:
            found += _given(flowing, member)
            break
    return list(dict.fromkeys(found))


def _given(flowing: Flowing, binding: int) -> list[int]:
    """The nodes that a name of a module or class gets its value from; functions and classes are no data."""
    solver, sites = flowing.outcome.program.solver, flowing.sites
    return [
        each
        for each in sites.copied(binding)
        if sites.is_node(each) and each not in solver.functions and each not in solver.classes
    ]


def flow_through_items(flowing: Flowing) -> None:
    """Add the ways from stores of items to where containers are made, and to loads with the same key."""
    sites, stores = flowing.sites, _Stores()
    for target, source, key in sites.item_stores:
        path = path_of_key(key)
        homes = homes_of(flowing, source)
        flowing.found += [(target, each, "store", path, False, None, 1.0) for each in homes]
        for each in _things(flowing, source, frozenset({CONTAINER, INSTANCE})) or (
            [~source] if source >= 0 else []
        ):
            stores.add(each, path, target)
    for load, source, key, _ in sites.item_loads:
        path = path_of_key(key)
        if source < 0 or path not in stores.names:
            continue
        things = _things(flowing, source, frozenset({CONTAINER, INSTANCE})) or [~source]
        reaching = dict.fromkeys(node for each in things for node in stores.at.get((each, path), ()))
        if len(reaching) > MOST_STORES:
            flowing.leave_out("load")
            continue
        sure = confidence_of("value", len(things))
        flowing.found += [(each, load, "load", path, path != _ANY, None, sure) for each in reaching]


def path_of_key(key: str | None) -> str:
    """A key of value facts as a path: `[0]`, `['k']`, or `[*]`."""
    if key is None or key.startswith(SLICE_KEY):
        return _ANY
    return f"[{key[1:]}]" if key.startswith(INT_KEY) else f"[{key[1:]!r}]"


def flow_through_imports(flowing: Flowing) -> None:
    """Add the ways from values of a module's names to where other modules import them."""
    program = flowing.outcome.program
    for each in program.imports:
        if each.name is None or each.module is None:
            continue
        member = module_member(program.solver, each.module, each.name)
        if member is None:
            continue
        variable = each.imported.variable
        flowing.found += [
            (source, variable, "global", None, True, None, 1.0)
            for source in dict.fromkeys(flowing.sites.copied(member))
            if flowing.sites.is_node(source)
        ]
