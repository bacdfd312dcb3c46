"""Column lineage of one view, read from its analysed tree: from which columns, and in which role.

Not here: lineage across views; the task graph has that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import PlanNotUnderstood
from headwater.plan.dependence import ColumnPath, Dependence, minimal_paths, without_covered
from headwater.plan.operators import Walk
from headwater.plan.tree import deep_trees

if TYPE_CHECKING:
    from collections.abc import Collection

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
