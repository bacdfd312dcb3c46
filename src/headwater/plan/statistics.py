"""Of which columns each stored table should keep minimum and maximum: those that the whole graph uses.

A view that filters, joins, groups or reads a stored table makes columns of it hot. A view that is not stored
is a part of those that read it, so what they do with its columns is done to the stored columns that those
are made from. It ends at a stored view: once it is written, nobody above it reads what lies below.
A decision is no part of any identity: it says how files are laid out at the next write, and rows stay as they
are. Not here: setting properties, and filling the places that a decision leaves free.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    MapType,
    StructType,
    VariantType,
)

from headwater.names import same_name
from headwater.plan.dependence import KINDS, ColumnPath
from headwater.policies import StatsPolicy, WritePolicy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from headwater.plan.bundle import PlanBundle
    from headwater.plan.dependence import Kind

# The more a range can save, the earlier: a filter rules out files, a join key may, an order seldom does.
_RANKS: Mapping[Kind, int] = {"filter": 0, "join": 1, "group": 2, "order": 2, "window": 2, "subquery": 2}
_LAST = 3
_WITHOUT_RANGE = (ArrayType, MapType, BinaryType, BooleanType, VariantType)
_DEFAULT = WritePolicy()


class StatisticsDecision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of which columns one table's files keep minimum and maximum.

    Attributes:
        dataset_name: The table.
        stats_policy: What its write policy asks for.
        stats_columns: The columns, the most useful first; with "auto", none leaves it to Delta.
        lineage_columns: Those that somebody uses, in the same order, whether or not there was room for them.
    """

    dataset_name: str
    stats_policy: StatsPolicy
    stats_columns: tuple[str, ...] = ()
    lineage_columns: tuple[str, ...] = ()


def statistics_of(
    bundles: Iterable[PlanBundle],
    policies: Mapping[str, WritePolicy],
    schemas: Mapping[str, StructType],
) -> tuple[StatisticsDecision, ...]:
    """The decision for each stored view, by name.

    The policy's own columns come first, then those it clusters or orders by. Then come the columns that views
    filter by, join by, group, order or partition windows by, and those that they only read; of one kind first
    those that more views use. A field inside structs counts as a column. What is inside arrays and maps does
    not, nor do folders and types without a range.

    Args:
        bundles: all planned views.
        policies: how views are written; one that is not named is written by default.
        schemas: the columns of each stored view.
    """
    views = {same_name(bundle.view): bundle for bundle in bundles}
    stored = {name: bundle for name, bundle in views.items() if bundle.stored}
    graph = _Graph(views)
    for bundle in views.values():
        graph.add(bundle)
    how = {same_name(name): policy for name, policy in policies.items()}
    columns = {same_name(name): schema for name, schema in schemas.items()}
    return tuple(
        _decision(stored[name].view, how.get(name, _DEFAULT), columns[name], graph.uses[name])
        for name in sorted(stored)
    )


# --- who uses what -------------------------------------------------------------------------------------

# A column and how useful its range is, with the views that use it so.
_Uses = dict[tuple[int, ColumnPath], set[str]]


@dataclass(slots=True)
class _Graph:
    """What all views do with the columns of stored ones."""

    views: Mapping[str, PlanBundle]
    uses: defaultdict[str, _Uses] = field(default_factory=lambda: defaultdict(dict))
    _known: dict[ColumnPath, frozenset[ColumnPath]] = field(
        default_factory=dict[ColumnPath, frozenset[ColumnPath]]
    )

    def add(self, bundle: PlanBundle) -> None:
        """What one view does with the columns of others."""
        for kind in KINDS:
            for path in bundle.lineage.used_as(kind):
                for each in self._behind(path):
                    key = _RANKS.get(kind, _LAST), each
                    self.uses[each.dataset].setdefault(key, set()).add(bundle.view)

    def _behind(self, path: ColumnPath) -> frozenset[ColumnPath]:
        """The columns of stored views that a column is made from, through views that are not stored."""
        if path not in self._known:
            self._known[path] = frozenset(self._sources(path))
        return self._known[path]

    def _sources(self, path: ColumnPath) -> Iterator[ColumnPath]:
        view = self.views.get(same_name(path.dataset))
        if view is None:
            return
        if view.stored:
            yield path._replace(dataset=same_name(view.view))
            return
        column, rest = same_name(path.parts[0]), path.parts[1:]
        for each in view.lineage.columns:
            if same_name(each.name) == column:
                for inner, kind in each.dependences:
                    if kind == "value":
                        # If it is a copy, its fields are those of what it was copied from.
                        below = ColumnPath(inner.dataset, (*inner.parts, *rest), inner.whole and path.whole)
                        yield from self._behind(below)


# --- one table -----------------------------------------------------------------------------------------


def _decision(name: str, policy: WritePolicy, schema: StructType, uses: _Uses) -> StatisticsDecision:
    leaves = [leaf for leaf, _ in _leaves(schema, "")]
    spelled = {each.lower(): each for each in (*leaves, *schema.names)}
    said, clustered, *others = (
        [spelled.get(each.lower(), each) for each in columns]
        for columns in (policy.stats_columns, policy.cluster_by, policy.zorder_by, policy.order_by)
    )
    folders = {each.lower() for each in policy.partition_by}
    hot = [each for each in _hot_columns(schema, leaves, uses) if each.lower() not in folders]
    match policy.stats_policy:
        case "off":
            chosen = []
        case "explicit":
            chosen = list(dict.fromkeys((*said, *clustered)))
        case "auto":
            wanted = dict.fromkeys((*said, *clustered, *(each for part in others for each in part), *hot))
            chosen = list(wanted)[: max(policy.stats_max_columns, len(clustered))]
    return StatisticsDecision(
        dataset_name=name,
        stats_policy=policy.stats_policy,
        stats_columns=tuple(chosen),
        lineage_columns=tuple(hot),
    )


def _hot_columns(schema: StructType, leaves: list[str], uses: _Uses) -> list[str]:
    """The columns that are used, by the most useful of their uses, then by how many views have it."""
    readers: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for (rank, path), views in uses.items():
        for leaf in _ranged(schema, path):
            readers[leaf, rank] |= views
    best: dict[str, int] = {}
    for leaf, rank in readers:
        best[leaf] = min(rank, best.get(leaf, rank))
    place = {leaf: number for number, leaf in enumerate(leaves)}
    return sorted(best, key=lambda leaf: (best[leaf], -len(readers[leaf, best[leaf]]), place[leaf]))


def _ranged(schema: StructType, path: ColumnPath) -> Iterator[str]:
    """The columns with a range that a path stands for; all those of a struct that is used as a whole."""
    kind: DataType = schema
    names: list[str] = []
    for part in path.parts:
        fields = kind.fields if isinstance(kind, StructType) else ()
        found = next((each for each in fields if same_name(each.name) == same_name(part)), None)
        if found is None:  # a part of what was made from the column, not of the column
            break
        names.append(found.name)
        kind = found.dataType
    if isinstance(kind, StructType):
        below = _leaves(kind, "".join(f"{each}." for each in names)) if path.whole and names else ()
        yield from (leaf for leaf, each in below if not isinstance(each, _WITHOUT_RANGE))
    elif not isinstance(kind, _WITHOUT_RANGE):
        yield ".".join(names)


def _leaves(kind: StructType, front: str) -> Iterator[tuple[str, DataType]]:
    for each in kind.fields:
        if isinstance(each.dataType, StructType):
            yield from _leaves(each.dataType, f"{front}{each.name}.")
        else:
            yield f"{front}{each.name}", each.dataType
