"""Variables of modules that others import: names of theirs which stand for the variable where it is defined.

Not here: imports of modules, classes and functions, which have definitions of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import pyarrow as pa

    from headwater.cpg.resolution.reading import Repository
    from headwater.cpg.resolve import ResolvedRows

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
