"""A write policy over the columns that are really there: properties, clustering, settings, order of rows.

Not here: bringing a table's properties to what is wanted; see `settling`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    MapType,
    StringType,
    StructType,
    VariantType,
)

from headwater.delta.columns import quoted, sql_column
from headwater.delta.features import feature_properties
from headwater.errors import PolicyRefused
from headwater.names import near_hint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql.types import StructField

    from headwater.delta.snapshot import SnapshotInfo
    from headwater.origin import Origin
    from headwater.policies import WritePolicy
    from headwater.runtime import RunSession

# What a protocol is, is decided by the features that are asked for, not by numbers that somebody wrote down.
PROTOCOL_KEYS = re.compile(
    r"(?i)delta\.(minReaderVersion|minWriterVersion|ignoreProtocolDefaults|feature\..*)"
)
_SPARKS_OWN = ("location", "owner", "provider", "external", "path", "comment", "collation")
_INDEXED_BY_DEFAULT = 32
_WITHOUT_RANGE = (ArrayType, MapType, BinaryType, BooleanType, VariantType)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAPPING = "delta.columnMapping.mode"
_PHYSICAL = "delta.columnMapping.physicalName"
_PIECES = 200
_PIECE_BYTES = 128 << 20
# Rows in a page of an ordered table: who looks for some of them reads the pages that may have them, and of
# Parquet's own size, 20,000, that is most of a file.
_PAGE_ROWS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A policy resolved: what the table must have, what the session of the write must have, how rows stand.

    `left_out` are properties of the policy that are not a table's to set.
    """

    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    zorder_by: tuple[str, ...] = ()
    order_by: tuple[str, ...] = ()
    file_bytes: int | None = None
    properties: dict[str, str] = field(default_factory=dict[str, str])
    settings: dict[str, str] = field(default_factory=dict[str, str])
    left_out: tuple[str, ...] = ()


def resolve_layout(
    session: RunSession,
    policy: WritePolicy,
    schema: StructType,
    snapshot: SnapshotInfo | None,
    path: str,
    origin: Origin | None = None,
) -> Layout:
    """A policy over a schema: each name as the schema spells it, statistics chosen, features by properties.

    `snapshot` is the table before the write: with column mapping, it knows how files name a column.

    Raises:
        PolicyRefused: a column that is not there, or cannot be what the policy makes of it.
        FeatureUnknown: a feature that this Delta does not have.
    """
    finder = _Columns(schema, snapshot, path, origin)
    layout = {key: finder.all(key, getattr(policy, key)) for key in _ORDERS}
    finder.check_folders(layout["partition_by"], len(schema.fields))
    for key in ("not_null", "bloom_filters", "dictionary"):
        names = [each if isinstance(each, str) else each[0] for each in getattr(policy, key)]
        finder.all(key, names)
    for key, _ in policy.properties:
        if key.lower() in _SPARKS_OWN:
            finder.refuse("properties", key, "Spark keeps that name for itself")
    properties = {key: value for key, value in policy.properties if not PROTOCOL_KEYS.fullmatch(key)}
    properties |= feature_properties(session, policy.features(), origin)
    properties |= _statistics(policy, finder, layout)
    if policy.column_mapping_mode:
        properties[MAPPING] = policy.column_mapping_mode
    if policy.target_file_size:
        properties["delta.targetFileSize"] = str(policy.target_file_size)
    return Layout(
        **layout,
        file_bytes=policy.target_file_size,
        properties=dict(sorted(properties.items())),
        settings=_settings(policy, finder),
        left_out=tuple(key for key, _ in policy.properties if PROTOCOL_KEYS.fullmatch(key)),
    )


def as_folders_hold(session: RunSession, rows: DataFrame | None, folders: Sequence[str]) -> DataFrame | None:
    """The rows with null for a text that is empty and names a folder: that is what comes back from there."""
    if rows is None or not folders:
        return rows
    columns: list[Any] = []
    for each in rows.schema.fields:
        name = quoted(each.name)
        is_folder = each.name in folders and isinstance(each.dataType, StringType)
        column: Any = sql_column(session, f"nullif({name}, '')" if is_folder else name)
        columns.append(column.alias(each.name, metadata=each.metadata) if is_folder else column)
    return rows.select(*columns)


def arrange(session: RunSession, rows: DataFrame, layout: Layout) -> DataFrame:
    """The rows in the files and the order that a layout asks for; as they are if it asks for nothing."""
    if layout.zorder_by:
        return _along_a_curve(session, rows, layout.zorder_by, "zorder", layout)
    if len(layout.cluster_by) > 1:
        return _along_a_curve(session, rows, layout.cluster_by, "hilbert", layout)
    order = [
        sql_column(session, path_of(name, rows.columns)) for name in layout.order_by or layout.cluster_by
    ]
    folders = [sql_column(session, quoted(name)) for name in layout.partition_by]
    if order:
        return rows.repartitionByRange(*folders, *order).sortWithinPartitions(*folders, *order)
    return rows.hint("rebalance", *folders) if layout.file_bytes else rows


def path_of(name: str, columns: Sequence[str]) -> str:
    """A column, or with dots a field inside one, as it stands in SQL."""
    if name in columns or "." not in name:
        return name if _PLAIN_NAME.fullmatch(name) else quoted(name)
    return ".".join(part if _PLAIN_NAME.fullmatch(part) else quoted(part) for part in name.split("."))


def maps_columns(snapshot: SnapshotInfo) -> bool:
    """Whether a table has names of its own for columns inside files."""
    return snapshot.table_properties.get(MAPPING, "none") != "none"


def _along_a_curve(
    session: RunSession, rows: Any, columns: Sequence[str], curve: str, layout: Layout
) -> DataFrame:
    package: Any = session.jvm.org.apache.spark.sql.delta.skipping
    clustering = getattr(getattr(package, "MultiDimClustering$"), "MODULE$")
    size = int(str(rows._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
    pieces = min(_PIECES, max(1, -(-size // (layout.file_bytes or _PIECE_BYTES))))
    names = session.jvm.java.util.ArrayList()
    for name in columns:
        names.append(path_of(name, rows.columns))
    sequence = session.jvm.scala.jdk.javaapi.CollectionConverters.asScala(names).toSeq()
    return DataFrame(clustering.cluster(rows._jdf, pieces, sequence, curve), session.spark)


_ORDERS = ("partition_by", "cluster_by", "zorder_by", "order_by")


class _Columns:
    """The columns of a schema by name: those on top, and with dots those inside structs."""

    def __init__(
        self, schema: StructType, snapshot: SnapshotInfo | None, path: str, origin: Origin | None
    ) -> None:
        self._path = path
        self._origin = origin
        self._columns = schema.names
        self.leaves = dict(_leaves(schema, ""))
        self._known = {name.lower(): name for name in (*self.leaves, *schema.names)}
        self._in_files = _names_in_files(snapshot) if snapshot else None

    def all(self, key: str, names: Sequence[str]) -> tuple[str, ...]:
        """The names as the schema spells them."""
        for name in names:
            if name.lower() not in self._known:
                near = near_hint(name, self._known.values())
                self.refuse(key, name, "there is no such column", f"{near}Correct {key} in the write policy.")
        return tuple(self._known[name.lower()] for name in names)

    def in_files(self, key: str, name: str) -> str:
        """A column's name inside data files, as the schema spells it; column mapping gives it another."""
        name = self.all(key, [name])[0]
        if self._in_files is None:
            return name
        if name.lower() not in self._in_files:
            remedy = f"Write the table once without {key} for it."
            self.refuse(
                key, name, "with column mapping, files name a new column only as it is written", remedy
            )
        return self._in_files[name.lower()]

    def listed(self, names: Sequence[str]) -> str:
        """Columns and fields in one text, as Delta reads it."""
        return ",".join(path_of(name, self._columns) for name in names)

    def check_folders(self, folders: tuple[str, ...], columns: int) -> None:
        """Raises PolicyRefused for partition columns that Delta cannot have."""
        for name in folders:
            if name not in self.leaves or isinstance(self.leaves[name], _WITHOUT_RANGE[:2]):
                self.refuse("partition_by", name, "a folder's name is one plain value")
        if folders and len(folders) == columns:
            self.refuse("partition_by", ", ".join(folders), "one column at least must be in the files")

    def refuse(self, key: str, value: str, complaint: str, remedy: str | None = None) -> None:
        """Raises PolicyRefused."""
        words = {} if remedy is None else {"remedy": remedy}
        raise PolicyRefused(
            path=self._path, key=key, value=f"'{value}'", complaint=complaint, origin=self._origin, **words
        )


def _statistics(policy: WritePolicy, finder: _Columns, layout: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """The property that says of which columns files keep minimum and maximum; none for Delta's own choice."""
    if policy.stats_policy == "off":
        return {"delta.dataSkippingNumIndexedCols": "0"}
    said = finder.all("stats_columns", policy.stats_columns)
    for name in said:
        if isinstance(finder.leaves.get(name), (*_WITHOUT_RANGE, type(None))):
            finder.refuse("stats_columns", name, "its type has no minimum and maximum")
    folders = set(layout["partition_by"])
    hot = [name for key in _ORDERS[1:] for name in layout[key]]
    if policy.stats_policy == "explicit":
        chosen = list(dict.fromkeys((*said, *layout["cluster_by"])))
        return {"delta.dataSkippingStatsColumns": finder.listed(chosen)}
    leaves = [name for name in finder.leaves if name not in folders]
    by_default = leaves[:_INDEXED_BY_DEFAULT]
    wanted = list(dict.fromkeys((*said, *hot)))
    if policy.stats_max_columns >= len(by_default) and set(wanted) <= set(by_default):
        return {}
    able = [name for name in leaves if not isinstance(finder.leaves[name], _WITHOUT_RANGE)]
    chosen = list(dict.fromkeys((*wanted, *able)))[: max(policy.stats_max_columns, len(layout["cluster_by"]))]
    return {"delta.dataSkippingStatsColumns": finder.listed(chosen)}


def _settings(policy: WritePolicy, finder: _Columns) -> dict[str, str]:
    """What the session of the write must have: Parquet's per column, and how large Spark makes pieces."""
    found: dict[str, str] = {}
    for name, expected in policy.bloom_filters:
        column = finder.in_files("bloom_filters", name)
        found[f"parquet.bloom.filter.enabled#{column}"] = "true"
        if expected:
            found[f"parquet.bloom.filter.expected.ndv#{column}"] = str(expected)
        else:
            found[f"parquet.bloom.filter.adaptive.enabled#{column}"] = "true"
    for name, is_on in policy.dictionary:
        column = finder.in_files("dictionary", name)
        found[f"parquet.enable.dictionary#{column}"] = str(is_on).lower()
    if policy.order_by:
        found["parquet.page.row.count.limit"] = str(_PAGE_ROWS)
    if policy.target_file_size or policy.order_by:
        found["spark.sql.adaptive.coalescePartitions.initialPartitionNum"] = str(_PIECES)
        found["spark.sql.adaptive.coalescePartitions.parallelismFirst"] = "false"
    if policy.target_file_size:
        found["spark.sql.adaptive.advisoryPartitionSizeInBytes"] = str(policy.target_file_size)
        found["spark.sql.adaptive.coalescePartitions.minPartitionSize"] = str(policy.target_file_size // 2)
    return found


def _names_in_files(snapshot: SnapshotInfo) -> dict[str, str] | None:
    """How files name the columns of a table with column mapping; None for a table without it."""
    if not maps_columns(snapshot):
        return None
    found: dict[str, str] = {}
    for name, each in _fields(snapshot.schema, ""):
        above = found.get(name.lower().rpartition(".")[0])
        own = str(each.metadata.get(_PHYSICAL, each.name))
        found[name.lower()] = f"{above}.{own}" if above else own
    return found


def _leaves(kind: StructType, front: str) -> Iterator[tuple[str, DataType]]:
    for name, each in _fields(kind, front):
        if not isinstance(each.dataType, StructType):
            yield name, each.dataType


def _fields(kind: StructType, front: str) -> Iterator[tuple[str, StructField]]:
    for each in kind.fields:
        yield f"{front}{each.name}", each
        if isinstance(each.dataType, StructType):
            yield from _fields(each.dataType, f"{front}{each.name}.")
