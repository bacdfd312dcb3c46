from __future__ import annotations

import contextvars
import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark.sql.connect.proto import expressions_pb2, relations_pb2

from headwater import functions as H
from headwater.functions import marking, take_mark
from headwater.functions.builtins import templating
from headwater.functions.marks import mark_of
from headwater.messages import messages_of

if TYPE_CHECKING:
    from collections.abc import Generator

Alias = expressions_pb2.Expression.Alias


@pytest.fixture(autouse=True)
def marked() -> Generator[None]:
    with marking():
        yield


def test_a_mark_is_read_and_taken() -> None:
    alias = Alias(name=["x"], metadata=json.dumps(mark_of("node_id")))
    assert take_mark(alias) == "node_id"
    assert take_mark(alias) is None
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
        assert take_mark(message) is None
        assert message.SerializeToString() == before


def test_a_mark_that_is_no_text_is_none() -> None:
    assert take_mark(Alias(name=["x"], metadata='{"headwater.function": 3}')) is None


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


def test_names_may_stand_in_names() -> None:
    inner = Alias(name=["node_id"], metadata=json.dumps({**mark_of("node_id"), "unit": "m"}))
    twice = Alias(name=["x"], expr=expressions_pb2.Expression(alias=inner))
    thrice = Alias(name=["y"], expr=expressions_pb2.Expression(alias=twice))
    columns = relations_pb2.WithColumns(
        aliases=[Alias(name=["z"], expr=expressions_pb2.Expression(alias=thrice))]
    )
    for message in messages_of(columns):
        take_mark(message)
    assert columns.aliases[0].metadata == inner_metadata(columns) == '{"unit": "m"}'


def inner_metadata(columns: relations_pb2.WithColumns) -> str:
    return columns.aliases[0].expr.alias.expr.alias.expr.alias.metadata


def test_only_those_who_take_marks_off_get_them() -> None:
    """Somebody's own Connect session would keep them in its tables."""
    context = contextvars.Context()
    assert context.run(marks_left) == [None]
    assert marks_left() == ["span_len"]
    with pytest.raises(KeyError), marking():
        raise KeyError
    assert marks_left() == ["span_len"]


def marks_left() -> list[str | None]:
    with templating():
        column = cast("Any", H.span_len("a"))
    return [take_mark(column._expr.to_plan(None).alias)]
