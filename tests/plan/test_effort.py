from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.plan import analysed_tree, effort_of

if TYPE_CHECKING:
    from headwater.runtime import RunSession


@pytest.mark.parametrize(
    ("query", "effort"),
    [
        ("SELECT id + 1 AS n FROM range(3) WHERE id > 1", 0),
        ("SELECT id, count(*) AS n FROM range(3) GROUP BY id", 1),
        ("SELECT DISTINCT l.id FROM range(3) l JOIN range(3) r ON l.id = r.id", 2),
        ("SELECT id, sum(id) OVER (PARTITION BY id) AS n FROM range(3) ORDER BY id", 3),
        ("SELECT id FROM range(3) WHERE id IN (SELECT max(id) FROM range(4))", 1),
    ],
)
def test_what_brings_rows_together_counts(session: RunSession, query: str, effort: int) -> None:
    assert effort_of(analysed_tree(session.spark.sql(query))) == effort


def test_python_counts_most(session: RunSession) -> None:
    rows = session.spark.range(3).mapInArrow(lambda batches: batches, "id BIGINT")
    assert effort_of(analysed_tree(rows)) == 3
