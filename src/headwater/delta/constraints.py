"""Constraints on rows that are about to be written: the policy's, and the table's own CHECK and NOT NULL.

A condition holds for a row that makes it true; null is not true, as Delta has it. Delta tests the table's
own ones while it writes. The policy's are tested in the same job where the rows are at hand, and by one more
pass where Delta makes them itself (update, merge). Not here: what happens to the write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from headwater.delta.columns import quoted
from headwater.delta.projection import Boundary
from headwater.errors import ConstraintInvalid, ConstraintViolated, ScanNotResolved
from headwater.runtime import ENGINE_EXCEPTIONS, engine_errors, failure_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from headwater.delta.snapshot import SnapshotInfo
    from headwater.origin import Origin
    from headwater.policies import WritePolicy
    from headwater.runtime import RunSession

_OWN = "delta.constraints."
_SAMPLE = 5
_LONGEST_ROW = 1000
# What Spark and Delta say when a row breaks one of them.
VIOLATIONS = (
    "USER_RAISED_EXCEPTION",
    "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
    "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
    "DELTA_REPLACE_ON_OR_USING_TABLE_CONSTRAINT_VIOLATION",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A condition on every row; `owner` says whether the table has it, or only who writes."""

    name: str
    expression: str
    owner: Literal["table", "policy"]


def constraints_of(
    policy: WritePolicy, snapshot: SnapshotInfo | None, *, rewrites: bool = False
) -> tuple[Constraint, ...]:
    """The policy's constraints and the table's, sorted by name; what the table has too is the table's.

    Who `rewrites` a table's schema keeps its CHECKs, and not that its columns may not be null.
    """
    found = table_constraints(snapshot, rewrites=rewrites) if snapshot else []
    own = {each.expression: each for each in found}
    said = [Constraint(name=name, expression=text, owner="policy") for name, text in policy.constraints]
    for each in (*said, *(_not_null(name, "policy") for name in policy.not_null)):
        own.setdefault(each.expression, each)
    return tuple(sorted(own.values(), key=lambda each: (each.name, each.owner)))


def check_constraints(
    session: RunSession,
    constraints: Sequence[Constraint],
    rows: DataFrame,
    dataset: str,
    origin: Origin | None = None,
) -> None:
    """Raises ConstraintInvalid for the first of the policy's that is no condition over one row."""
    boundary = Boundary(session, dataset, origin)
    for each in constraints:
        if each.owner == "table":
            continue
        try:
            boundary.check_plain(rows, each.expression, each.name)
            rows.where(each.expression)
        except ScanNotResolved as error:
            raise _invalid(each, error.detail, error.condition, error.sql_state, origin) from error
        except ENGINE_EXCEPTIONS as error:  # it resolves, and is no condition
            failed = failure_of(error)
            raise _invalid(each, failed.detail, failed.condition, failed.sql_state, origin) from error


def guard_of(constraints: Sequence[Constraint]) -> str | None:
    """The policy's constraints as one condition in SQL; None if it has none."""
    own = [f"({each.expression}\n)" for each in constraints if each.owner == "policy"]
    return " AND ".join(own) if own else None


def find_violation(
    constraints: Sequence[Constraint], rows: DataFrame, path: str, origin: Origin | None = None
) -> ConstraintViolated | None:
    """The constraint that most rows break, with their number and a few of them; one pass, a second if so."""
    usable = countable(constraints, rows)
    if not usable:
        return None
    with engine_errors(origin):
        row: Any = rows.selectExpr(*(f"count_if({broken_by(each)})" for each in usable)).collect()[0]
    return violation_in(usable, [int(each) for each in row], rows, path, origin)


def countable(constraints: Sequence[Constraint], rows: DataFrame) -> list[Constraint]:
    """Those constraints of which it can be told how many of these rows break them.

    A table's may speak of columns that rows leave out.
    """
    return [each for each in constraints if _fits(each, rows)]


def violation_in(
    constraints: Sequence[Constraint],
    counts: Sequence[int],
    rows: DataFrame,
    path: str,
    origin: Origin | None = None,
) -> ConstraintViolated | None:
    """The constraint that most rows break, by how many break each, with a few of them; one pass if so."""
    worst = max(range(len(constraints)), key=lambda index: counts[index], default=None)
    if worst is None or not counts[worst]:
        return None
    found = constraints[worst]
    with engine_errors(origin):
        columns = ", ".join(quoted(name) for name in rows.columns)
        wrong = rows.where(broken_by(found)).limit(_SAMPLE)
        sample = wrong.selectExpr(f"to_json(struct({columns}), map('ignoreNullFields', 'false'))").collect()
    return ConstraintViolated(
        path=path,
        constraint=found.name,
        expression=found.expression,
        count=counts[worst],
        sample=tuple(_shortened(str(row[0])) for row in sample),
        origin=origin,
    )


def broken_by(constraint: Constraint) -> str:
    """In SQL: that a row does not make a constraint true."""
    return f"NOT coalesce({constraint.expression}\n, false)"


def table_constraints(snapshot: SnapshotInfo, *, rewrites: bool = False) -> list[Constraint]:
    """A table's own constraints; those on columns are not there for who `rewrites` its schema."""
    found = [
        Constraint(name=key.removeprefix(_OWN), expression=value, owner="table")
        for key, value in snapshot.table_properties.items()
        if key.startswith(_OWN)
    ]
    if rewrites:
        return found
    needed = [field.name for field in snapshot.schema.fields if not field.nullable]
    return [*found, *(_not_null(name, "table") for name in needed)]


def _not_null(column: str, owner: Literal["table", "policy"]) -> Constraint:
    return Constraint(name=f"not_null.{column}", expression=f"{quoted(column)} IS NOT NULL", owner=owner)


def _fits(constraint: Constraint, rows: DataFrame) -> bool:
    """Whether the rows have the columns that a constraint speaks of; a table's may have been left out."""
    try:
        rows.where(constraint.expression)
    except ENGINE_EXCEPTIONS:
        return False
    return True


def _invalid(
    constraint: Constraint, detail: str, condition: str | None, state: str | None, origin: Origin | None
) -> ConstraintInvalid:
    return ConstraintInvalid(
        constraint=constraint.name,
        expression=constraint.expression,
        detail=detail,
        condition=condition,
        sql_state=state,
        origin=origin,
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_ROW else f"{text[:_LONGEST_ROW]} ..."
