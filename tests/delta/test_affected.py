"""Keys that a replacement is about fit its table, or are refused before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.delta import Append, ReplaceKeys, complaint_of_keys, describe_pin, write_policy
from headwater.errors import MutationRefused

if TYPE_CHECKING:
    from tests.delta.conftest import Table


@pytest.mark.parametrize("kind", ["MAP<STRING, INT>", "VARIANT", "CHAR(3)"])
def test_keys_that_spark_does_not_compare_are_refused(table: Table, kind: str) -> None:
    table.sql(f"CREATE TABLE {{t}} (k {kind}, s STRING) USING delta")
    rows = table.values("SELECT NULL AS k, 'x' AS s")
    with pytest.raises(MutationRefused, match="are not compared"):
        table.change(ReplaceKeys, rows, affected=rows, keys=("k",))


def test_names_of_folders_that_may_be_empty_texts_are_no_keys_of_a_query(table: Table) -> None:
    rows = table.values("SELECT '' AS k, 1 AS n, 'x' AS s")
    table.change(Append, rows, policy=write_policy(partition_by=["k", "n"]))
    snapshot = describe_pin(table.session, table.head.pin("t"))
    assert complaint_of_keys(snapshot, ["N", "s"]) is None
    assert complaint_of_keys(snapshot, ["n", "K"]) == "empty text and null are one folder of K, and two keys"
    assert complaint_of_keys(snapshot, ["other"]) == "the table has no column other"
