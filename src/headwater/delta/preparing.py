"""What must hold before a mutation is done, and what is made ready for it.

    the table is there, its protocol has what the gate asks for
    rows fit its columns under the schema mode · so does the policy · semantic types · constraints
    properties and clustering are settled, by a commit of their own if need be
    rows stand in the order of the layout · digest and constraints are watched in the job that writes them

Not here: doing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.types import StructField, StructType

from headwater.delta.affected import keys_of
from headwater.delta.candidates import candidate_rows
from headwater.delta.constraints import (
    VIOLATIONS,
    Constraint,
    check_constraints,
    constraints_of,
    find_violation,
    guard_of,
)
from headwater.delta.content import ObservedContent
from headwater.delta.gates import check_gate
from headwater.delta.layout import Layout, arrange, as_folders_hold, maps_columns, resolve_layout
from headwater.delta.meanings import METADATA_KEY, check_meanings, kept_meanings, with_meanings
from headwater.delta.mutation import (
    Append,
    Delete,
    Merge,
    Overwrite,
    ReplaceKeys,
    ReplaceWhere,
    Update,
    is_step,
)
from headwater.delta.receipt import ConstraintCheck
from headwater.delta.replacing import NewRows, Replacing, count_new_rows, prepare_replacing
from headwater.delta.schema import check_storable, fit_rows, is_whole, same_type
from headwater.delta.settling import clustering_of, create_table, settle_table, wanted_clustering
from headwater.delta.snapshot import describe_pin
from headwater.errors import HeadwaterError, NotADeltaTable, RowsUnusable
from headwater.policies import WritePolicy
from headwater.runtime import ENGINE_EXCEPTIONS, failure_of, local_path_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from headwater.delta.head import LogHead
    from headwater.delta.mutation import Mutation
    from headwater.delta.old_rows import OldRows
    from headwater.delta.receipt import MeaningCheck
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.errors import ConstraintViolated
    from headwater.origin import Origin
    from headwater.policies import SchemaMode
    from headwater.runtime import RunSession


_MAPPING = "delta.columnMapping."


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedWrite:
    """A mutation that can be done: on which version, with which rows, watched by what.

    `given` are the rows as they came, once they fit.
    `in_place` and `clustering` are about a table that is overwritten: whether its clustering can stay, and
    if not, what it is to be clustered by once the rows are there; `replacing` is about keys.
    """

    base: LogHead | None
    rows: DataFrame | None
    given: DataFrame | None
    schema: StructType
    layout: Layout
    schema_mode: SchemaMode | None
    constraints: tuple[Constraint, ...]
    checks: tuple[ConstraintCheck, ...]
    meanings: tuple[MeaningCheck, ...]
    observed: ObservedContent | None
    in_place: bool = False
    clustering: tuple[str, ...] = ()
    replacing: Replacing | None = None


def prepare_write(
    session: RunSession,
    mutation: Mutation,
    rows: DataFrame | None,
    base: LogHead | None,
    origin: Origin | None = None,
    *,
    affected: DataFrame | None = None,
    ahead: Callable[[], OldRows | None] | None = None,
) -> PreparedWrite:
    """Makes it ready on a version of its table; `ahead` gives rows that go, if somebody has counted them."""
    name, path = mutation.note.table, str(local_path_of(mutation.uri))
    policy, snapshot = mutation.policy or WritePolicy(), _opened(session, mutation, rows, base, origin)
    keys = keys_of(session, mutation, rows, affected, snapshot, origin)
    mode = _schema_mode(mutation)
    rewrites = isinstance(mutation, Overwrite) and mode == "overwrite"
    rows = _fitted(session, mutation, rows, None if rewrites else snapshot, mode, origin)
    schema = _schema_after(rows, None if rewrites else snapshot, merges=mode == "merge")
    layout = resolve_layout(session, policy, schema, snapshot, path, origin)
    meanings = check_meanings(policy.semantic_types, schema, name, origin)
    meanings = kept_meanings(meanings, snapshot.schema) if snapshot and not rewrites else meanings
    if rows is not None and not isinstance(mutation, Merge):
        rows = with_meanings(session, rows, meanings)
    folders = snapshot.partition_columns if snapshot and not rewrites else layout.partition_by
    given = rows = as_folders_hold(session, rows, folders)
    constraints = constraints_of(policy, snapshot, rewrites=rewrites)
    checks = _checked(session, mutation, constraints, rows, base, schema, origin)
    new = _counted(session, mutation, rows, keys, folders, snapshot, constraints, origin)
    settled = _settled(session, mutation, layout, snapshot, rows, rewrites=rewrites, origin=origin)
    if settled is not None:
        base = settled
        snapshot = describe_pin(session, settled.pin(name), origin)
        layout = resolve_layout(session, policy, schema, snapshot, path, origin)
    in_place, clustering = _clustered(session, mutation, layout, snapshot, schema, rewrites=rewrites)
    rows, observed = _watched(session, mutation, rows, layout, guard_of(constraints), schema)
    return PreparedWrite(
        base=base,
        rows=rows,
        given=given,
        schema=schema,
        layout=layout,
        schema_mode=mode,
        constraints=constraints,
        checks=checks,
        meanings=meanings,
        observed=observed,
        in_place=in_place,
        clustering=clustering,
        replacing=_replaced(session, mutation, new, base, snapshot, layout, ahead),
    )


def _counted(
    session: RunSession,
    mutation: Mutation,
    rows: DataFrame | None,
    keys: DataFrame | None,
    folders: tuple[str, ...],
    snapshot: SnapshotInfo | None,
    constraints: tuple[Constraint, ...],
    origin: Origin | None,
) -> NewRows | None:
    """The new rows of keys, tested while they are counted; None for all other mutations."""
    keys = as_folders_hold(session, keys, folders)
    if not isinstance(mutation, ReplaceKeys) or rows is None or keys is None or snapshot is None:
        return None
    tested = constraints if guard_of(constraints) else ()
    return count_new_rows(session, mutation, rows, keys, snapshot, tested, origin)


def _replaced(
    session: RunSession,
    mutation: Mutation,
    new: NewRows | None,
    base: LogHead | None,
    snapshot: SnapshotInfo | None,
    layout: Layout,
    ahead: Callable[[], OldRows | None] | None,
) -> Replacing | None:
    """How keys are replaced; None for all other mutations."""
    if not isinstance(mutation, ReplaceKeys) or new is None or base is None or snapshot is None:
        return None
    pin = base.pin(mutation.note.table)
    return prepare_replacing(session, mutation, new, pin, snapshot, layout, ahead)


def _watched(
    session: RunSession,
    mutation: Mutation,
    rows: DataFrame | None,
    layout: Layout,
    guard: str | None,
    schema: StructType,
) -> tuple[DataFrame | None, ObservedContent | None]:
    """Rows for Spark's writer, in the layout's order, guarded, and with their digest if it counts."""
    if rows is None or not isinstance(mutation, Append | Overwrite | ReplaceWhere):
        return rows, None
    rows = arrange(session, rows, layout)
    is_blind = isinstance(mutation, Append) and mutation.blind
    if guard is None and (is_blind or isinstance(mutation, ReplaceWhere)):
        return rows, None
    # Right under the write: a sort looks at its rows twice.
    observed = ObservedContent(session, rows, guard)
    return observed.rows, observed if is_whole(observed.rows, schema) else None


def check_policy(
    session: RunSession, policy: WritePolicy, rows: DataFrame, dataset: str, origin: Origin | None = None
) -> DataFrame:
    """The rows with what their columns mean in their schema, once the policy was seen to fit them.

    Nothing is read: it is asked while everything is still only planned.

    Raises:
        MeaningDiffers, ConstraintInvalid, PolicyRefused, FeatureUnknown: it does not fit.
    """
    resolve_layout(session, policy, rows.schema, None, f"'{dataset}'", origin)
    meanings = check_meanings(policy.semantic_types, rows.schema, dataset, origin)
    check_constraints(session, constraints_of(policy, None), rows, dataset, origin)
    return with_meanings(session, rows, meanings)


def violation_of(
    session: RunSession,
    mutation: Mutation,
    prepared: PreparedWrite | None,
    failure: Exception,
    origin: Origin | None,
) -> ConstraintViolated | None:
    """The constraint behind a failed write, counted by a pass over the rows; None if it is not one."""
    if prepared is None or failure_of(failure).condition not in VIOLATIONS:
        return None
    constraints = list(prepared.constraints)
    if isinstance(mutation, ReplaceWhere):
        constraints.append(Constraint(name="replace_where", expression=mutation.where, owner="table"))
    pin = prepared.base.pin(mutation.note.table) if prepared.base else None
    try:
        rows = candidate_rows(session, mutation, prepared.given, pin, prepared.schema)
        if rows is None:
            return None
        return find_violation(constraints, rows, str(local_path_of(mutation.uri)), origin)
    except (HeadwaterError, *ENGINE_EXCEPTIONS):  # then the failure itself is all there is to tell
        return None


def _opened(
    session: RunSession,
    mutation: Mutation,
    rows: DataFrame | None,
    base: LogHead | None,
    origin: Origin | None,
) -> SnapshotInfo | None:
    """The table as it is, if the mutation can be about it at all; None where there is none yet."""
    path = str(local_path_of(mutation.uri))
    has_rows = isinstance(mutation, Append | Overwrite | ReplaceWhere | ReplaceKeys | Merge)
    if has_rows != (rows is not None):
        detail = f"a mutation of the kind {mutation.kind} {'needs' if has_rows else 'takes no'} rows"
        raise RowsUnusable(path=path, detail=detail, origin=origin)
    if base is None and not isinstance(mutation, Append | Overwrite):
        raise NotADeltaTable(path=path, origin=origin)
    if base is None:
        return None
    snapshot = describe_pin(session, base.pin(mutation.note.table), origin)
    check_gate(mutation.gate, snapshot, mutation.note.table, origin)
    return snapshot


def _schema_mode(mutation: Mutation) -> SchemaMode | None:
    """The write's own mode, else the policy's; only a whole table's schema can be overwritten."""
    if isinstance(mutation, Append | Overwrite | ReplaceWhere) and mutation.schema_mode is not None:
        return mutation.schema_mode
    if isinstance(mutation, ReplaceKeys):
        return None
    mode = mutation.policy.schema_mode if mutation.policy else None
    return mode if mode == "merge" or isinstance(mutation, Overwrite) else None


def _fitted(
    session: RunSession,
    mutation: Mutation,
    rows: DataFrame | None,
    snapshot: SnapshotInfo | None,
    mode: SchemaMode | None,
    origin: Origin | None,
) -> DataFrame | None:
    if rows is None:
        return None
    rows = rows.toDF(*rows.columns)  # a frame's alias must not be taken for a column of that name
    if isinstance(mutation, Merge):
        return rows
    check_storable(rows.schema, mutation.note.table, origin, is_mapped=_is_mapped(mutation, snapshot))
    if snapshot is None:
        return rows
    path = str(local_path_of(mutation.uri))
    return fit_rows(session, rows, snapshot.schema, mode, path, origin)


def _is_mapped(mutation: Mutation, snapshot: SnapshotInfo | None) -> bool:
    said = mutation.policy.column_mapping_mode if mutation.policy else None
    return bool(said) or (snapshot is not None and maps_columns(snapshot))


def _schema_after(rows: DataFrame | None, snapshot: SnapshotInfo | None, *, merges: bool) -> StructType:
    """The table's columns as they will be."""
    if snapshot is None:
        return rows.schema if rows is not None else StructType([])
    table = snapshot.schema
    known = {name.lower() for name in table.names}
    more = (
        [each for each in rows.schema.fields if each.name.lower() not in known]
        if rows is not None and merges
        else []
    )
    return StructType([*table.fields, *more])


def _checked(
    session: RunSession,
    mutation: Mutation,
    constraints: tuple[Constraint, ...],
    rows: DataFrame | None,
    base: LogHead | None,
    schema: StructType,
    origin: Origin | None,
) -> tuple[ConstraintCheck, ...]:
    """What rows are tested against; where Delta makes the rows itself, the policy's are tested now."""
    name, path = mutation.note.table, str(local_path_of(mutation.uri))
    if isinstance(mutation, Delete):
        return ()
    passes = int(isinstance(mutation, Merge | Update))  # rows of keys are counted anyway, and tested then
    if guard_of(constraints):
        pin = base.pin(name) if base else None
        written = candidate_rows(session, mutation, rows, pin, schema)
        if written is not None:
            check_constraints(session, constraints, written, name, origin)
            violated = find_violation(constraints, written, path, origin) if passes else None
            if violated is not None:
                raise violated
    return tuple(
        ConstraintCheck(
            name=each.name,
            expression=each.expression,
            enforced_by="delta" if each.owner == "table" else "headwater",
            extra_passes=passes if each.owner == "policy" else 0,
        )
        for each in constraints
    )


def _settled(
    session: RunSession,
    mutation: Mutation,
    layout: Layout,
    snapshot: SnapshotInfo | None,
    rows: DataFrame | None,
    *,
    rewrites: bool,
    origin: Origin | None,
) -> LogHead | None:
    """The commit that brought the table to what the layout wants; None if there was no need."""
    if mutation.policy is None:
        return None
    if snapshot is None:
        made = create_table(session, mutation, layout, rows.schema) if rows is not None else None
        if made is None or is_step(made.user_metadata, "prepare", mutation.note.mutation_id):
            return made
        snapshot = describe_pin(session, made.pin(mutation.note.table), origin)  # somebody else was first
    return settle_table(session, mutation, layout, snapshot, rewrites=rewrites, origin=origin)


def _clustered(
    session: RunSession,
    mutation: Mutation,
    layout: Layout,
    snapshot: SnapshotInfo | None,
    schema: StructType,
    *,
    rewrites: bool,
) -> tuple[bool, tuple[str, ...]]:
    """Whether a table can be overwritten in place, and what it is to be clustered by afterwards if not."""
    if snapshot is None or not isinstance(mutation, Overwrite):
        return False, ()
    present = clustering_of(session, mutation.uri, snapshot)
    wanted = wanted_clustering(mutation, layout, snapshot, present)
    is_same = not snapshot.partition_columns and _is_same(schema, snapshot.schema)
    if wanted and wanted == present and (is_same or not rewrites):
        return True, ()
    return False, wanted


def _is_same(one: StructType, other: StructType) -> bool:
    """Whether rows of one schema leave a table of the other as if it were made for them."""
    return one.names == other.names and all(
        same_type(mine.dataType, theirs.dataType)
        and theirs.nullable
        and not {key for key in theirs.metadata if key != METADATA_KEY and not key.startswith(_MAPPING)}
        and _meant(mine) == _meant(theirs)
        for mine, theirs in zip(one.fields, other.fields, strict=True)
    )


def _meant(field: StructField) -> object:
    return field.metadata.get(METADATA_KEY)
