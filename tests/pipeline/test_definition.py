from __future__ import annotations

import pytest

import headwater
from headwater.errors import InvalidName, InvalidSetting, NotInAView
from headwater.pipeline.definition import (
    FunctionDefinition,
    PathDefinition,
    RowsDefinition,
    collecting,
    source,
    table,
    view,
)


def test_a_decorator_gives_the_function_back_unchanged() -> None:
    def plain(orders: object) -> object:
        return orders

    for decorated in (
        view(plain),
        table(plain),
        view(name="x")(plain),
        table(name="y")(plain),
        source(plain),
    ):
        assert decorated is plain
    assert vars(plain) == {}


def test_definitions_are_collected_with_their_place() -> None:
    with collecting() as found:

        @headwater.view
        def one(orders: object) -> object:
            return orders

        @headwater.table(name="Two")
        def other(one: object) -> object:
            return one

        source("files", path="data", format="csv", schema="a INT", options={"b": "2", "a": "1"})
        source("rows", rows=[[1, "x"]], schema="a INT, b STRING")
    first, second, third, fourth = found
    assert isinstance(first, FunctionDefinition)
    assert (first.name, first.kind, first.function) == ("one", "view", one)
    assert first.origin.path == __file__
    assert first.origin.line == one.__code__.co_firstlineno
    assert isinstance(second, FunctionDefinition)
    assert (second.name, second.kind, second.function) == ("Two", "table", other)
    assert isinstance(third, PathDefinition)
    assert third.options == (("a", "1"), ("b", "2"))
    assert third.origin.path == __file__
    assert isinstance(fourth, RowsDefinition)
    assert fourth.rows == ((1, "x"),)


def test_outside_a_project_decorators_do_nothing() -> None:
    with collecting() as found:
        pass
    view(test_outside_a_project_decorators_do_nothing)
    source("rows", rows=[], schema="a INT")
    assert found == []


def test_bad_names_and_shapes_are_refused() -> None:
    with pytest.raises(InvalidName):
        view(name="a-b")(lambda orders: orders)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(InvalidName):
        source("hw_runs", rows=[], schema="a INT")
    with pytest.raises(InvalidSetting, match="rows or path"):
        source("x")  # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(InvalidSetting, match="schema"):
        source("x", rows=[])  # pyright: ignore[reportCallIssue]
    with pytest.raises(NotInAView, match="@view"):
        view(print)
