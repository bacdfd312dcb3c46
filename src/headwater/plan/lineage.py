"""Column lineage of one view, read from its analysed tree: from which columns, and in which role.

Not here: all edges across views; the task graph has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import PlanNotUnderstood
from headwater.names import same_name
from headwater.plan.dependence import ColumnPath, Dependence, minimal_paths, without_covered
from headwater.plan.operators import Walk
from headwater.plan.tree import deep_trees

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from headwater.origin import Origin
    from headwater.plan.dependence import Kind
    from headwater.plan.tree import PlanTree


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """One column that another depends on. A field inside a column is written `column.field`."""

    from_dataset: str
    from_column: str
    to_dataset: str
    to_column: str
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnLineage:
    """A column that a view puts out, and what its values depend on."""

    name: str
    dependences: tuple[Dependence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewLineage:
    """What a view's columns depend on, and what decides which rows it has; all of it sorted.

    Attributes:
        view: Its name.
        columns: Its columns, in order.
        rows: What decides which rows it has, and so matters to every column.
        datasets: What it reads, be it only to count the rows.
    """

    view: str
    columns: tuple[ColumnLineage, ...]
    rows: tuple[Dependence, ...]
    datasets: tuple[str, ...]

    @property
    def required(self) -> dict[str, tuple[str, ...]]:
        """The columns and fields of each dataset that must be read."""
        return self.required_for(None)

    def required_for(self, columns: Collection[str] | None) -> dict[str, tuple[str, ...]]:
        """Those that some of the view's columns need, and its rows; of all columns if None."""
        wanted = [each for each in self.columns if columns is None or each.name in columns]
        needed = {*self.rows, *(each for column in wanted for each in column.dependences)}
        found: dict[str, list[str]] = {}
        for path in minimal_paths(needed):
            found.setdefault(path.dataset, []).append(path.column)
        return {name: tuple(found[name]) for name in sorted(found)}

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every dependence, column by column; what decides about rows matters to each column."""
        return tuple(
            sorted(
                Edge(path.dataset, path.column, self.view, column.name, kind)
                for column in self.columns
                for path, kind in without_covered((*column.dependences, *self.rows))
            )
        )

    def used_as(self, *kinds: Kind) -> tuple[ColumnPath, ...]:
        """The columns that are used in one of some roles, sorted."""
        return tuple(sorted({path for path, kind in self._all() if kind in kinds}))

    def _all(self) -> set[Dependence]:
        return {*self.rows, *(each for column in self.columns for each in column.dependences)}


def lineage_of(tree: PlanTree, view: str, origin: Origin | None = None) -> ViewLineage:
    """The lineage of a view whose analysed tree this is; registered views are its leaves.

    Raises:
        PlanNotUnderstood: the plan has an operator, or a reference, that nobody has looked at.
    """
    walk = Walk(tree, view, origin)
    try:
        with deep_trees():
            found = walk.rows_of(tree.root)
            columns = tuple(
                ColumnLineage(
                    name=column.name, dependences=tuple(without_covered(found.columns[column.id].all()))
                )
                for column in tree.columns
            )
    except KeyError as error:
        raise PlanNotUnderstood(view=view, node=f"the reference {error}", origin=origin) from error
    rows = tuple(without_covered(found.rows))
    return ViewLineage(view=view, columns=columns, rows=rows, datasets=tuple(sorted(walk.datasets)))


def lineage_through(own: ViewLineage, inner: Mapping[str, ViewLineage]) -> ViewLineage:
    """The same view's lineage without the views in between: what each of `inner` depends on takes its place.

    The role is that of the last step, seen from the start, that does more than hand a value on. A fixpoint
    depends on what all its rounds do, and not on itself.
    """
    known = {same_name(name): each for name, each in inner.items()} | {same_name(own.view): own}
    met = _met(own, known)
    rows = _far_ends((each for view in met if view in known for each in known[view].rows), known)
    return ViewLineage(
        view=own.view,
        columns=tuple(
            ColumnLineage(name=column.name, dependences=_far_ends(column.dependences, known))
            for column in own.columns
        ),
        rows=rows,
        datasets=tuple(sorted(name for view, name in met.items() if view not in known)),
    )


def _met(own: ViewLineage, known: Mapping[str, ViewLineage]) -> dict[str, str]:
    """Every name that a view reads, itself or through those that are known, and its own."""
    found = {same_name(own.view): own.view}
    waiting = [*own.datasets]
    while waiting:
        name = waiting.pop()
        if same_name(name) not in found:
            found[same_name(name)] = name
            view = known.get(same_name(name))
            waiting += view.datasets if view else ()
    return found


def _far_ends(start: Iterable[Dependence], known: Mapping[str, ViewLineage]) -> tuple[Dependence, ...]:
    """What dependences come down to, through the views that are known."""
    seen, waiting = set[Dependence](), list(start)
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        view = known.get(same_name(each.path.dataset))
        for column in view.columns if view else ():
            if same_name(column.name) == same_name(each.path.parts[0]):
                waiting += (
                    Dependence(path, kind if each.kind == "value" else each.kind)
                    for path, kind in column.dependences
                )
    return tuple(without_covered(each for each in seen if same_name(each.path.dataset) not in known))
