"""What was looked at is what Spark has: a new version's functions wait here until somebody has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.digest import digest_of
from headwater.plan.reviewed import DENIED_FUNCTIONS, FEWER_ARGUMENTS, TABLE_FUNCTIONS

if TYPE_CHECKING:
    from headwater.runtime import RunSession

BUILT_IN = "system.builtin."
REVIEWED = (564, "21b0da44bdbae2e9")


def built_in(session: RunSession, registry: str) -> list[str]:
    listed = getattr(session.jvm_session.sessionState(), registry)().listFunction().mkString("\0").split("\0")
    return sorted(name.removeprefix(BUILT_IN) for name in listed if name.startswith(BUILT_IN))


def test_every_function_of_this_spark_was_looked_at(session: RunSession) -> None:
    names = built_in(session, "functionRegistry")
    assert (len(names), digest_of(names)[:16]) == REVIEWED, "look at the new ones before changing this"


def test_the_table_functions_are_those_that_were_looked_at(session: RunSession) -> None:
    refused = {"python_worker_logs", "table_changes", "table_changes_by_path"}
    assert set(built_in(session, "tableFunctionRegistry")) == TABLE_FUNCTIONS | refused


def test_what_is_denied_is_there_to_be_denied(session: RunSession) -> None:
    names = set(built_in(session, "functionRegistry"))
    assert set(DENIED_FUNCTIONS) <= names
    assert set(FEWER_ARGUMENTS) <= names
    assert {name for name in names if name.startswith("xpath")} <= set(DENIED_FUNCTIONS)
