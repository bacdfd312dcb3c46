from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.delta import Append, Overwrite, read_pinned, write_policy
from headwater.errors import MeaningDiffers

if TYPE_CHECKING:
    from tests.delta.conftest import Table

NODES = "('node:1', 'edge:1', 7) AS t(node, edge, n)"
POLICY = write_policy(semantic_types={"NODE": "NodeId", "edge": "EdgeId", "n": "OwnKind"})


def test_a_meaning_is_in_the_schema_and_on_the_receipt(table: Table) -> None:
    receipt = table.change(Overwrite, table.values(NODES), policy=POLICY)
    assert [(each.column_name, each.semantic_type) for each in receipt.meanings] == [
        ("node", "NodeId"),
        ("edge", "EdgeId"),
        ("n", "OwnKind"),
    ]
    key = receipt.meanings[0].metadata_key
    schema = read_pinned(table.session, receipt.pin).schema
    assert [each.metadata.get(str(key)) for each in schema.fields] == ["NodeId", "EdgeId", "OwnKind"]
    assert table.rows() == [("node:1", "edge:1", 7)]


def test_a_column_that_is_passed_on_keeps_its_meaning(table: Table) -> None:
    first = table.change(Overwrite, table.values(NODES), policy=POLICY)
    rows = read_pinned(table.session, first.pin).selectExpr("node AS id", "edge", "n").where("n > 0")
    assert table.change(Overwrite, rows, schema_mode="overwrite").outcome == "committed"
    again = read_pinned(table.session, table.head.pin("t"))
    with pytest.raises(MeaningDiffers) as caught:
        table.change(Overwrite, again, policy=write_policy(semantic_types={"id": "EdgeId"}))
    assert "known as a NodeId" in caught.value.message


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"other": "NodeId"}, "no such column"),
        ({"n": "NodeId"}, "it is int and not string"),
        ({"node": "LineNumber"}, "it is string and not int"),
    ],
)
def test_a_column_that_cannot_mean_it_is_refused(table: Table, said: dict[str, str], complaint: str) -> None:
    with pytest.raises(MeaningDiffers) as caught:
        table.change(Append, table.values(NODES), policy=write_policy(semantic_types=said))
    assert complaint in caught.value.message
    assert not table.path.exists()


def test_what_the_table_says_of_a_column_holds(table: Table) -> None:
    table.change(Append, table.values(NODES), policy=POLICY)
    with pytest.raises(MeaningDiffers):
        table.change(Append, table.values(NODES), policy=write_policy(semantic_types={"node": "SpanId"}))
    assert table.version == 0
