"""A table's properties and clustering brought to what a policy wants: a commit of its own, where needed.

It goes before the mutation's commit, or ends it, and carries its note with a mark; so a mutation that is
tried again after a kill finds it done. The first rows of a table bring its properties along, where Delta
takes them with rows. A property that a policy set before and no longer wants is taken back. Not here: rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from headwater.delta.columns import table_in_sql
from headwater.delta.features import feature_of
from headwater.delta.head import read_head
from headwater.delta.layout import MAPPING, Layout, path_of
from headwater.delta.mutation import NOTE_SETTING
from headwater.errors import PolicyRefused
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql.types import StructType

    from headwater.delta.head import LogHead
    from headwater.delta.mutation import Mutation, Step
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.origin import Origin
    from headwater.runtime import RunSession

# Delta knows delta.targetFileSize in other products only; it is theirs to read, and ours to keep.
_ANY_PROPERTY = "spark.databricks.delta.allowArbitraryProperties.enabled"
FILE_SIZE = "delta.targetFileSize"
# The keys of what a policy has set. Delta takes keys of its own with the first rows, and no others.
_MANAGED = "delta.headwater.policy"
_MANAGED_BEFORE = "headwater.policy"  # as tables have it that are older than this
_NOT_DELTAS = frozenset({FILE_SIZE, _MANAGED})
_CLUSTERING = "cluster_by"


def create_table(
    session: RunSession, mutation: Mutation, layout: Layout, schema: StructType
) -> LogHead | None:
    """Makes a table without rows if its layout needs one before its rows are written; None if it does not."""
    if not _needs_table(layout):
        return None
    own = _own_session(session, mutation, layout, "prepare")
    try:
        for key, value in mutation.birth_settings().items():
            own.spark.conf.set(key, value)
        builder: Any = session.jvm.io.delta.tables.DeltaTable.createIfNotExists(own.jvm_session)
        builder = builder.location(str(local_path_of(mutation.uri)))
        builder = builder.addColumns(_nullable(session, schema))
        for key, value in _with_list(layout).items():
            builder = builder.property(key, value)
        if layout.partition_by:
            builder = builder.partitionedBy(java_texts(session, layout.partition_by))
        if layout.cluster_by:
            paths = tuple(path_of(name, schema.names) for name in layout.cluster_by)
            builder = builder.clusterBy(java_texts(session, paths))
        builder.execute()
    finally:
        own.release()
    return read_head(mutation.uri)


def born_with(session: RunSession, layout: Layout) -> tuple[dict[str, str], dict[str, str]]:
    """The properties that a table's first rows bring along, and what their session must have for that."""
    if _needs_table(layout):
        return {}, {}
    properties = _with_list(layout)
    return properties, property_settings(session, properties)


def _needs_table(layout: Layout) -> bool:
    """Whether a table must be there before its first rows.

    Delta takes neither clustering nor keys of others along with rows, and spells a key in small letters that
    it does not know. Where it maps columns, what is set for a column of the files needs the name there.
    """
    keys = {key.lower() for key in layout.properties}
    is_plain = all(key.startswith("delta.") for key in keys) and FILE_SIZE.lower() not in keys
    return bool(layout.cluster_by) or not is_plain or MAPPING.lower() in keys


def settle_table(
    session: RunSession,
    mutation: Mutation,
    layout: Layout,
    snapshot: SnapshotInfo,
    *,
    rewrites: bool,
    origin: Origin | None = None,
) -> LogHead | None:
    """Brings a table's properties and clustering to what its layout wants; None if there was no need.

    A mutation that `rewrites` the whole table brings its own layout; see `finish_table`.

    Raises:
        PolicyRefused: the table is laid out in another way, and this mutation does not rewrite it.
    """
    path = str(local_path_of(mutation.uri))
    wanted, unwanted = _differences(layout, snapshot)
    statements: list[str] = []
    if not rewrites:
        _check_folders(layout, snapshot, path, origin)
        present = clustering_of(session, mutation.uri, snapshot)
        clustering = wanted_clustering(mutation, layout, snapshot, present)
        if clustering != present:
            statements.append(_cluster_by(clustering))
    if wanted:
        statements.append(f"SET TBLPROPERTIES ({property_list(wanted)})")
    if unwanted:
        statements.append(f"UNSET TBLPROPERTIES IF EXISTS ({', '.join(map(sql_text, unwanted))})")
    return _altered(_own_session(session, mutation, layout, "prepare"), mutation, statements)


def finish_table(
    session: RunSession, mutation: Mutation, layout: Layout, clustering: tuple[str, ...]
) -> LogHead | None:
    """Clusters a table that was rewritten: Delta drops the clustering of what it overwrites.

    The commit carries the mutation's note, marked as its end.
    """
    own = _own_session(session, mutation, layout, "finish")
    return _altered(own, mutation, [_cluster_by(clustering)])


def clustering_of(session: RunSession, uri: str, snapshot: SnapshotInfo) -> tuple[str, ...]:
    """The columns that a table is clustered by; none for most."""
    if "clustering" not in snapshot.writer_features:
        return ()
    tables: Any = session.jvm.io.delta.tables.DeltaTable
    table = tables.forPath(session.jvm_session, str(local_path_of(uri)))
    row = DataFrame(table.detail(), session.spark).select("clusteringColumns").collect()[0]
    return tuple(str(each).replace("`", "") for each in row[0] or ())


def wanted_clustering(
    mutation: Mutation, layout: Layout, snapshot: SnapshotInfo, present: tuple[str, ...]
) -> tuple[str, ...]:
    """The columns that a table is to be clustered by: the policy's, unless that says nothing about it."""
    is_said = layout.cluster_by or layout.partition_by or _CLUSTERING in _managed(snapshot)
    if mutation.policy is not None and is_said:
        return layout.cluster_by
    return present


def _altered(own: RunSession, mutation: Mutation, statements: list[str]) -> LogHead | None:
    try:
        for each in statements:
            own.spark.sql(f"ALTER TABLE {table_in_sql(mutation.uri)} {each}")
    finally:
        own.release()
    return read_head(mutation.uri) if statements else None


def _cluster_by(columns: tuple[str, ...]) -> str:
    listed = ", ".join(path_of(name, ()) for name in columns)
    return f"CLUSTER BY {f'({listed})' if listed else 'NONE'}"


def _own_session(session: RunSession, mutation: Mutation, layout: Layout, step: Step) -> RunSession:
    own = session.copy()
    own.spark.conf.set(NOTE_SETTING, mutation.note.text(step))
    for key, value in property_settings(session, _with_list(layout)).items():
        own.spark.conf.set(key, value)
    return own


def property_settings(session: RunSession, properties: Mapping[str, str]) -> dict[str, str]:
    """What a session must have to set properties: some that are kept are taken only where any key is.

    Raises what Delta throws for another key that it does not know.
    """
    if _NOT_DELTAS.isdisjoint(properties):
        return {}
    others = {key: value for key, value in properties.items() if key not in _NOT_DELTAS}
    configs: Any = session.jvm.org.apache.spark.sql.delta.DeltaConfigs
    configs.validateConfigurations(session.jvm.PythonUtils.toScalaMap(others))
    return {_ANY_PROPERTY: "true"}


def _differences(layout: Layout, snapshot: SnapshotInfo) -> tuple[dict[str, str], list[str]]:
    """The properties that are to be set, and those that a policy once set and no longer wants."""
    present = {key.lower(): value for key, value in snapshot.table_properties.items()}  # Delta respells some
    known = (*snapshot.reader_features, *snapshot.writer_features, *snapshot.implied_writer_features)
    features = {name.lower() for name in known}
    listed = _with_list(layout)
    wanted = {
        key: value
        for key, value in listed.items()
        if present.get(key.lower()) != value and (feature_of(key) or "").lower() not in features
    }
    gone = [key for key in (*_managed(snapshot), _MANAGED, _MANAGED_BEFORE) if key not in listed]
    return wanted, [key for key in gone if key.lower() in present]


def _managed(snapshot: SnapshotInfo) -> list[str]:
    """What a policy has set of this table before."""
    properties = snapshot.table_properties
    listed = properties.get(_MANAGED, properties.get(_MANAGED_BEFORE, ""))
    return [key for key in listed.split(",") if key]


def _with_list(layout: Layout) -> dict[str, str]:
    """The properties, and one that says which they are."""
    kept = [key for key in sorted(layout.properties) if feature_of(key) is None]
    kept = [*kept, _CLUSTERING] if layout.cluster_by else kept
    return {**layout.properties, **({_MANAGED: ",".join(kept)} if kept else {})}


def _check_folders(layout: Layout, snapshot: SnapshotInfo, path: str, origin: Origin | None) -> None:
    """Raises PolicyRefused for a table in folders other than the policy's; only a rewrite changes them."""
    present = snapshot.partition_columns
    if layout.cluster_by and present:
        key, value = "cluster_by", layout.cluster_by
    elif layout.partition_by and layout.partition_by != present:
        key, value = "partition_by", layout.partition_by
    else:
        return
    raise PolicyRefused(
        path=path,
        key=key,
        value=", ".join(value),
        complaint=f"it is partitioned by {', '.join(present)}" if present else "it is not partitioned",
        remedy="Overwrite the table with schema_mode overwrite, or leave its layout as it is.",
        origin=origin,
    )


def _nullable(session: RunSession, schema: StructType) -> Any:
    return session.jvm.org.apache.spark.sql.types.StructType.fromJson(schema.json()).asNullable()


def java_texts(session: RunSession, names: Sequence[str]) -> Any:
    """Texts as an array of the JVM's."""
    gateway: Any = session.spark.sparkContext._gateway
    found = gateway.new_array(session.jvm.java.lang.String, len(names))
    for index, name in enumerate(names):
        found[index] = name
    return found


def sql_text(text: str) -> str:
    """A text as it stands in SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def property_list(properties: Mapping[str, str]) -> str:
    """Properties as SQL lists them."""
    return ", ".join(f"{sql_text(key)} = {sql_text(value)}" for key, value in properties.items())
