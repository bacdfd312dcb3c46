"""No function of Spark's that depends on chance, or on the order of rows, goes unnoticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater.plan.catalyst import analysed_tree
from headwater.plan.chance import AGGREGATES, EXPRESSIONS, name_of, reads_clock, text_reads_clock
from headwater.plan.rules import RULES_BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.runtime import RunSession

_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
# They stand for others, and are gone after analysis.
_REWRITTEN = {"Grouping", "GroupingID", "SessionWindow", "TimeWindow", "WindowTime", "Measure"}


def _classes(session: RunSession) -> Iterator[tuple[str, Any]]:
    """Spark's own functions, by name, as classes."""
    registry = session.jvm_session.sessionState().functionRegistry()
    names = registry.listFunction().iterator()
    while names.hasNext():
        name = registry.lookupFunction(names.next()).get().getClassName()
        if name.startswith(_EXPRESSIONS):
            yield name.rpartition(".")[2], session.jvm.java.lang.Class.forName(name)


def test_every_function_of_chance_is_on_a_list(session: RunSession) -> None:
    """What is not deterministic by its own account, and what only a query's start can work out."""
    kinds = [
        session.jvm.java.lang.Class.forName(f"{_EXPRESSIONS}{name}")
        for name in ("Nondeterministic", "ExpressionWithRandomSeed", "Unevaluable")
    ]
    found = {name for name, each in _classes(session) if any(kind.isAssignableFrom(each) for kind in kinds)}
    assert found - set(EXPRESSIONS) - set(AGGREGATES) - _REWRITTEN == set()


def test_every_aggregate_and_window_function_is_on_a_list(session: RunSession) -> None:
    kinds = [
        session.jvm.java.lang.Class.forName(f"{_EXPRESSIONS}{name}")
        for name in ("aggregate.AggregateFunction", "WindowFunction")
    ]
    found = {name for name, each in _classes(session) if any(kind.isAssignableFrom(each) for kind in kinds)}
    assert found - set(AGGREGATES) - _REWRITTEN == set()
    assert len(found) > len(AGGREGATES) / 2, "the search itself finds them"


def test_lists_lead_to_rules() -> None:
    assert set(EXPRESSIONS.values()) <= set(RULES_BY_NAME)


def test_functions_have_the_names_that_sql_has() -> None:
    kinds = {"CollectList": "collect_list", "NTile": "ntile", "Average": "avg", "RegrR2": "regr_r2"}
    assert {kind: name_of(kind) for kind in kinds} == kinds
    assert name_of("org.apache.spark.some.OtherSum") == "other_sum"


@pytest.mark.parametrize(
    ("sql", "is_clock"),
    [
        ("SELECT date'today'", True),
        ('SELECT TIMESTAMP "Now "', True),
        ("VALUES (1, 'a--b', timestamp_ntz 'yesterday')", True),
        ("VALUES (r'\\', date r'today')", True),
        ("SELECT 1 -- date'today'", False),
        ("SELECT /* date'today' */ 1", False),
        ("SELECT date'2026-01-01', 'today', timestamp'epoch'", False),
        ("SELECT update'today'", False),
    ],
)
def test_words_for_times_in_a_text(sql: str, *, is_clock: bool) -> None:
    assert text_reads_clock(sql) is is_clock


def test_only_constants_become_times_by_words(session: RunSession) -> None:
    session.spark.sql("SELECT 'today' AS s").createOrReplaceTempView("t")
    tree = analysed_tree(session.spark.sql("SELECT cast(s AS date), cast('now' AS timestamp), 'now' FROM t"))
    assert [each.literal for each in tree.nodes() if reads_clock(each)] == [None]
