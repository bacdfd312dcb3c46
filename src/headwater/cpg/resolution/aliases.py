"""What others import of a module by name, where that is not what the name means in the end.

A variable is that of the module which defines it. A function that is decorated means what its decorator made
of it, and yet it is what somebody wrote: whoever uses the one uses the other. Not here: all other imports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import pyarrow as pa

    from headwater.cpg.resolution.reading import Repository
    from headwater.cpg.resolve import ResolvedRows

_WRITTEN = frozenset({"function", "class"})
_Place: TypeAlias = "tuple[str, int]"


class Aliases:
    """By the binding of an import, and by its node, the binding that it stands for in another file."""

    def __init__(self, repository: Repository, found: ResolvedRows) -> None:
        self._repository = repository
        rows = zip(
            found.bindings.path,
            found.bindings.binding,
            found.bindings.name,
            found.bindings.symbol,
            strict=True,
        )
        variables = {
            (path, name): binding
            for path, binding, name, symbol in rows
            if name is not None and symbol.endswith((f"/{name}.", f"/`{name}`."))
        }
        asked = repository.imported_names()
        self._by_node: dict[_Place, _Place] = {}
        for path, node, symbol, module in zip(
            found.imports.path,
            found.imports.node,
            found.imports.symbol,
            found.imports.resolved_path,
            strict=True,
        ):
            binding = variables.get((module or "", asked.get((path, node), "")))
            if symbol is None and module is not None and binding is not None:
                self._by_node[path, node] = (module, binding)
        self._written = _written(found, asked)
        kinds = zip(found.definitions.path, found.definitions.node, found.definitions.kind, strict=True)
        self._own = {(path, node): (path, node) for path, node, kind in kinds if kind in _WRITTEN}
        self._by_binding = {
            (path, binding): self._by_node[path, node]
            for path, bound in repository.defining().items()
            for binding, node in bound
            if (path, node) in self._by_node
        }

    def of_bindings(self, paths: Sequence[str], bindings: Sequence[int]) -> pa.Array[Any]:
        """The ids of what bindings stand for; null for what is no alias."""
        return self._ids([self._end(each) for each in zip(paths, bindings, strict=True)])

    def of_imports(self, paths: Sequence[str], nodes: Sequence[int]) -> pa.Array[Any]:
        """The ids of the variables that imports mean; null for what is none."""
        found = [self._by_node.get(each) for each in zip(paths, nodes, strict=True)]
        return self._ids([None if each is None else self._end(each) or each for each in found])

    def written(self) -> tuple[list[_Place], list[_Place]]:
        """Imports of functions and classes that mean something else: their places, and what was written."""
        return list(self._written), list(self._written.values())

    def written_for_bindings(self) -> tuple[list[_Place], list[_Place]]:
        """The same by the bindings of these imports."""
        found = {
            (path, binding): self._written[path, node]
            for path, bound in self._repository.defining().items()
            for binding, node in bound
            if (path, node) in self._written
        }
        return list(found), list(found.values())

    def written_at(self, places: Sequence[_Place]) -> list[_Place | None]:
        """The functions and classes that bindings have the names of, where they are written."""
        found: dict[_Place, _Place] = {}
        for path, bound in self._repository.defining().items():
            for binding, node in bound:
                place = self._written.get((path, node)) or self._own.get((path, node))
                if place is not None:
                    found[path, binding] = place
        return [found.get(each) for each in places]

    def _end(self, place: _Place) -> _Place | None:
        """Where a chain of aliases ends; imports that go round in a circle end anywhere in it."""
        seen = {place}
        while (following := self._by_binding.get(place)) is not None and following not in seen:
            seen.add(following)
            place = following
        return place if len(seen) > 1 else None

    def _ids(self, places: Sequence[_Place | None]) -> pa.Array[Any]:
        paths = [None if each is None else each[0] for each in places]
        numbers = [None if each is None else each[1] for each in places]
        return self._repository.binding_ids(paths, numbers).array()


def _written(found: ResolvedRows, asked: Mapping[_Place, str]) -> dict[_Place, _Place]:
    """By the node of an import the function or class of that name, if it means something else."""
    rows = found.definitions
    own = {
        (path, name.rsplit(".", 1)[-1]): node
        for path, node, kind, module, name in zip(
            rows.path, rows.node, rows.kind, rows.module, rows.name, strict=True
        )
        if kind in _WRITTEN and name.rsplit(".", 1)[0] == module
    }
    imports = found.imports
    return {
        (path, node): (module, written)
        for path, node, module, at, there in zip(
            imports.path, imports.node, imports.resolved_path, imports.def_path, imports.def_node, strict=True
        )
        if module is not None
        and (written := own.get((module, asked.get((path, node), "")))) is not None
        and (at, there) != (module, written)
    }
