"""The rows that a mutation would write, before it does: those handed in, or those that Delta will make.

An update's and a merge's rows are made by Delta itself; here they are made once more, to be looked at.
Not here: looking at them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta.columns import quoted, sql_column
from headwater.delta.files import open_rows
from headwater.delta.mutation import Delete, Merge, Update

if TYPE_CHECKING:
    from collections.abc import Collection

    from pyspark.sql import DataFrame

    from headwater.delta.mutation import MergeClause, Mutation
    from headwater.names import TablePin
    from headwater.runtime import RunSession


def candidate_rows(
    session: RunSession, mutation: Mutation, rows: DataFrame | None, pin: TablePin | None
) -> DataFrame | None:
    """The rows that would be written; None for a mutation that writes none."""
    if isinstance(mutation, Delete):
        return None
    if isinstance(mutation, Update) and pin is not None:
        table = open_rows(session, pin)
        return _assigned(table.where(mutation.where) if mutation.where else table, mutation.assignments)
    if isinstance(mutation, Merge) and pin is not None and rows is not None:
        return _merged(session, mutation, rows, pin)
    return rows


def _assigned(rows: DataFrame, assignments: tuple[tuple[str, str], ...]) -> DataFrame:
    new = {name.casefold(): expression for name, expression in assignments}
    return rows.selectExpr(
        *(f"{new.get(name.casefold(), quoted(name))} AS {quoted(name)}" for name in rows.columns)
    )


def _merged(session: RunSession, mutation: Merge, rows: DataFrame, pin: TablePin) -> DataFrame:
    """Every row that the first clause which fits it inserts or updates, as it would be afterwards."""
    table = open_rows(session, pin)
    mark = "_hw_there"
    while mark in {name.casefold() for name in (*table.columns, *rows.columns)}:
        mark += "_"
    there = sql_column(session, f"true AS {mark}")
    target, source = table.select("*", there).alias("t"), rows.select("*", there).alias("s")
    joined = target.join(source, sql_column(session, mutation.on), "full_outer")
    clauses = list(enumerate(mutation.clauses))
    fires = " ".join(f"WHEN {_fires(clause, mark)} THEN {index}" for index, clause in clauses)
    fired = f"CASE {fires} END"
    writing = [(index, clause) for index, clause in clauses if clause.action != "delete"]
    given = {name.casefold() for name in rows.columns}
    columns: list[str] = []
    for name in table.columns:
        cases = " ".join(f"WHEN {index} THEN {_result(clause, name, given)}" for index, clause in writing)
        columns.append(f"CASE {fired} {cases} END AS {quoted(name)}" if cases else f"NULL AS {quoted(name)}")
    numbers = ", ".join(str(index) for index, _ in writing) or "NULL"
    return joined.where(f"({fired}) IN ({numbers})").selectExpr(*columns)


def _fires(clause: MergeClause, mark: str) -> str:
    sides = {
        "matched": f"t.{mark} AND s.{mark}",
        "not_matched": f"s.{mark} AND t.{mark} IS NULL",
        "not_matched_by_source": f"t.{mark} AND s.{mark} IS NULL",
    }
    return f"{sides[clause.when]} AND ({clause.condition})" if clause.condition else sides[clause.when]


def _result(clause: MergeClause, name: str, given: Collection[str]) -> str:
    """A column of the row that a clause leaves."""
    kept = f"t.{quoted(name)}" if clause.action == "update" else "NULL"
    if clause.assignments:
        said = {each.casefold(): expression for each, expression in clause.assignments}
        return f"({said[name.casefold()]})" if name.casefold() in said else kept
    return f"s.{quoted(name)}" if name.casefold() in given else kept
