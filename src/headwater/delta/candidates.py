"""The rows that a mutation would write, before it does: those handed in, or those that Delta will make.

An update's and a merge's rows are made by Delta itself; here they are made once more, to be looked at, with
the types that the table stores them in. Not here: looking at them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.delta.columns import quoted, sql_column
from headwater.delta.files import open_rows
from headwater.delta.mutation import Delete, Merge, Update
from headwater.delta.projection import each_of
from headwater.delta.schema import TEXT_TYPE
from headwater.errors import MutationRefused
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

    from headwater.delta.mutation import MergeClause, Mutation
    from headwater.names import TablePin
    from headwater.runtime import RunSession

_GENERATED = "delta.generationExpression"
_CHAR = re.compile(r"char\(([0-9]+)\)")


def candidate_rows(
    session: RunSession,
    mutation: Mutation,
    rows: DataFrame | None,
    pin: TablePin | None,
    schema: StructType,
) -> DataFrame | None:
    """The rows that would be written to a table of this schema; None for a mutation that writes none.

    Raises:
        MutationRefused: it assigns to a part of a column, which cannot be foreseen.
    """
    if isinstance(mutation, Delete):
        return None
    if isinstance(mutation, Update) and pin is not None:
        table = open_rows(session, pin)
        chosen = table.where(mutation.where) if mutation.where else table
        new = _assigned(session, mutation, mutation.assignments)
        made = [f"({new.get(name.lower(), quoted(name))}\n) AS {quoted(name)}" for name in table.columns]
        return _as_stored(chosen.selectExpr(*made), schema)
    if isinstance(mutation, Merge) and pin is not None and rows is not None:
        return _as_stored(_merged(session, mutation, rows, pin), schema)
    return rows


def _assigned(
    session: RunSession, mutation: Mutation, assignments: tuple[tuple[str, str], ...]
) -> Mapping[str, str]:
    """The new values by the names of columns, however these are written: x, t.x, `x`."""
    parser = session.jvm_session.sessionState().sqlParser()
    found: dict[str, str] = {}
    for key, expression in assignments:
        parts = [str(each) for each in each_of(parser.parseMultipartIdentifier(key))]
        name = parts[1:] if len(parts) > 1 and parts[0].lower() == "t" else parts
        if len(name) > 1:
            raise MutationRefused(
                path=str(local_path_of(mutation.uri)),
                kind=mutation.kind,
                detail=f"constraints are not tested on a part of a column ({key}); assign the whole of it",
            )
        found[name[0].lower()] = expression
    return found


def _merged(session: RunSession, mutation: Merge, rows: DataFrame, pin: TablePin) -> DataFrame:
    """Every row that the first clause which fits it inserts or updates, as it would be afterwards."""
    table = open_rows(session, pin)
    mark = "_hw_there"
    while mark in {name.lower() for name in (*table.columns, *rows.columns)}:
        mark += "_"
    there = sql_column(session, f"true AS {mark}")
    target, source = table.select("*", there).alias("t"), rows.select("*", there).alias("s")
    joined = target.join(source, sql_column(session, mutation.on), "full_outer")
    clauses = list(enumerate(mutation.clauses))
    fires = " ".join(f"WHEN {_fires(clause, mark)} THEN {index}" for index, clause in clauses)
    fired = f"CASE {fires} END"
    writing = [
        (index, clause, _assigned(session, mutation, clause.assignments))
        for index, clause in clauses
        if clause.action != "delete"
    ]
    given = {name.lower() for name in rows.columns}
    columns: list[str] = []
    for name in table.columns:
        cases = " ".join(
            f"WHEN {index} THEN {_result(clause, said, name, given)}" for index, clause, said in writing
        )
        columns.append(f"CASE {fired} {cases} END AS {quoted(name)}" if cases else f"NULL AS {quoted(name)}")
    numbers = ", ".join(str(index) for index, _, _ in writing) or "NULL"
    return joined.where(f"({fired}) IN ({numbers})").selectExpr(*columns)


def _fires(clause: MergeClause, mark: str) -> str:
    sides = {
        "matched": f"t.{mark} AND s.{mark}",
        "not_matched": f"s.{mark} AND t.{mark} IS NULL",
        "not_matched_by_source": f"t.{mark} AND s.{mark} IS NULL",
    }
    return f"{sides[clause.when]} AND ({clause.condition}\n)" if clause.condition else sides[clause.when]


def _result(clause: MergeClause, said: Mapping[str, str], name: str, given: Collection[str]) -> str:
    """A column of the row that a clause leaves."""
    kept = f"t.{quoted(name)}" if clause.action == "update" else "NULL"
    if said:
        return f"({said[name.lower()]}\n)" if name.lower() in said else kept
    return f"s.{quoted(name)}" if name.lower() in given else kept


def _as_stored(rows: DataFrame, schema: StructType) -> DataFrame:
    """The rows as the table keeps them: cast to its types, texts padded, generated columns made anew."""
    fields = {field.name.lower(): field for field in schema.fields}
    known = [fields[name.lower()] for name in rows.columns if name.lower() in fields]
    typed = rows.selectExpr(*(f"{_typed(each)} AS {quoted(each.name)}" for each in known))
    made = [(each.metadata.get(_GENERATED) or quoted(each.name), quoted(each.name)) for each in known]
    return typed.selectExpr(*(f"({expression}\n) AS {name}" for expression, name in made))


def _typed(field: StructField) -> str:
    cast = f"CAST({quoted(field.name)} AS {field.dataType.simpleString()})"
    fixed = _CHAR.fullmatch(str(field.metadata.get(TEXT_TYPE, "")))
    return f"rpad({cast}, {fixed[1]}, ' ')" if fixed else cast
