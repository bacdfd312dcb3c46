from __future__ import annotations

import json

from pyspark.sql.connect.proto import expressions_pb2, relations_pb2

from headwater.functions import read_mark, take_mark
from headwater.functions.marks import mark_of

Alias = expressions_pb2.Expression.Alias


def test_a_mark_is_read_and_taken() -> None:
    alias = Alias(name=["x"], metadata=json.dumps(mark_of("node_id")))
    assert read_mark(alias) == "node_id"
    take_mark(alias)
    assert read_mark(alias) is None
    assert not alias.HasField("metadata")


def test_other_metadata_stays() -> None:
    alias = Alias(name=["x"], metadata=json.dumps({**mark_of("node_id"), "unit": "m"}))
    take_mark(alias)
    assert json.loads(alias.metadata) == {"unit": "m"}


def test_what_has_no_mark_is_left_alone() -> None:
    plain = Alias(name=["x"])
    told = Alias(name=["x"], metadata='{"unit":  "m"}')
    for message in (plain, told, expressions_pb2.Expression()):
        before = message.SerializeToString()
        assert read_mark(message) is None
        take_mark(message)
        assert message.SerializeToString() == before


def test_a_mark_that_is_no_text_is_none() -> None:
    assert read_mark(Alias(name=["x"], metadata='{"headwater.function": 3}')) is None


def test_a_column_that_gets_a_name_keeps_what_is_said_of_it() -> None:
    inner = Alias(name=["node_id"], metadata=json.dumps({**mark_of("node_id"), "unit": "m"}))
    own = Alias(name=["y"], expr=expressions_pb2.Expression(alias=inner), metadata='{"unit": "km"}')
    columns = relations_pb2.WithColumns(
        aliases=[Alias(name=["x"], expr=expressions_pb2.Expression(alias=inner)), own, Alias(name=["z"])]
    )
    take_mark(columns)
    for alias in columns.aliases:
        take_mark(alias)
    assert [alias.metadata for alias in columns.aliases] == ['{"unit": "m"}', '{"unit": "km"}', ""]
