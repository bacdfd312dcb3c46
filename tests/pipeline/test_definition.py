from __future__ import annotations

from typing import Any

import pytest

import headwater
from headwater.datasets import CdfWindow, FeatureGate, ReadOptions
from headwater.errors import InvalidName, InvalidSetting, NotInAView
from headwater.pipeline.definition import (
    ExtractorDefinition,
    FunctionDefinition,
    PathDefinition,
    RowsDefinition,
    collecting,
    extractor,
    source,
    table,
    view,
)
from headwater.policies import WritePolicy


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


def test_a_delta_source_says_what_is_read() -> None:
    gate, window = FeatureGate(min_reader_version=2), CdfWindow(starting_version=1)
    with collecting() as found:
        source(
            "orders",
            path="lake/orders",
            format="Delta",
            version=7,
            gate=gate,
            columns={"b": "x + 1", "a": "y"},
            defaults={"y": "0"},
            schema="b BIGINT, a STRING",
            files=["two", "one"],
            file_column="file",
            pushdown=False,
            require_change_feed=True,
        )
        source("changes", path="lake/orders", changes=window)
    orders, changes = found
    assert isinstance(orders, PathDefinition)
    assert isinstance(changes, PathDefinition)
    assert orders.read == ReadOptions(
        version=7,
        gate=gate,
        columns=(("b", "x + 1"), ("a", "y")),
        defaults=(("y", "0"),),
        schema="b BIGINT, a STRING",
        files=("one", "two"),
        file_column="file",
        pushdown=False,
        require_change_feed=True,
    )
    assert changes.read == ReadOptions(changes=window)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"format": "csv", "version": 1}, "csv with version"),
        ({"format": "files", "columns": {"a": "b"}}, "files with columns"),
        ({"options": {"a": "b"}}, "options"),
        ({"verison": 1}, "verison"),
        ({"version": "1"}, "version"),
        ({"columns": ["a"]}, "columns"),
        ({"columns": {"a": 1}}, "columns"),
        ({"files": "one"}, "files"),
        ({"gate": {"min_reader": 1}}, "gate"),
        ({"changes": 3}, "changes"),
        ({"pushdown": "no"}, "pushdown"),
        ({"timestamp": "soon"}, "timestamp"),
        ({"file_column": ""}, "file_column"),
    ],
)
def test_what_a_source_cannot_take_is_refused_at_its_line(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSetting, match=words) as caught:
        source("orders", path="lake/orders", **wrong)
    assert caught.value.origin is not None
    assert caught.value.origin.path == __file__


def test_rows_take_no_options_of_a_table() -> None:
    with pytest.raises(InvalidSetting, match="version"):
        source("orders", rows=[[1]], schema="a INT", version=1)  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_a_table_says_how_it_is_written() -> None:
    with collecting() as found:

        @headwater.table(partition_by=["country"], constraints={"paid": "amount >= 0"})
        def payments(paid: object) -> object:
            return paid

        @headwater.extractor(files="sources", schema="lines INT", target_file_size="64mb", order_by="path")
        def lines(path: str, content: bytes) -> dict[str, object]:
            return {"lines": len(path) + len(content)}

        table(view(source(payments)))
    said, extracted, *plain = found
    assert isinstance(said, FunctionDefinition)
    assert (said.name, said.kind, said.function) == ("payments", "table", payments)
    assert said.policy == WritePolicy(partition_by=("country",), constraints=(("paid", "amount >= 0"),))
    assert isinstance(extracted, ExtractorDefinition)
    assert (extracted.name, extracted.function) == ("lines", lines)
    assert extracted.policy == WritePolicy(target_file_size=64 << 20, order_by=("path",))
    assert [each.policy for each in plain if isinstance(each, FunctionDefinition)] == [WritePolicy()] * 3


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"partiton_by": ["a"]}, "partiton_by"),
        ({"partiton_by": None}, "partiton_by"),
        ({"kind": "view"}, "kind"),
        ({"partition_by": 3}, "partition_by"),
        ({"target_file_size": "big"}, "target_file_size"),
        ({"cluster_by": "a", "zorder_by": "b"}, "cluster_by"),
        ({"constraints": ["amount >= 0"]}, "constraints"),
    ],
)
def test_how_a_table_cannot_be_written_is_refused_at_its_line(wrong: dict[str, Any], words: str) -> None:
    def rows(path: str, content: bytes) -> dict[str, object]:
        return {path: content}

    for decorator in (table(**wrong), extractor(files="sources", schema="lines INT", **wrong)):
        with pytest.raises(InvalidSetting, match=words) as caught:
            decorator(rows)
        assert caught.value.exit_code == 2
        assert caught.value.origin is not None
        assert (caught.value.origin.path, caught.value.origin.line) == (
            __file__,
            rows.__code__.co_firstlineno,
        )


def test_a_view_is_not_written() -> None:
    with pytest.raises(TypeError, match="partition_by"):
        view(partition_by=["a"])  # pyright: ignore[reportCallIssue]


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


def test_a_view_says_how_its_rows_are_kept() -> None:
    with collecting() as found:

        @headwater.view(cache="memory")
        def kept(orders: object) -> object:
            return orders

        @headwater.view
        def plain(orders: object) -> object:
            return orders

    assert [each.cache for each in found if isinstance(each, FunctionDefinition)] == ["memory", "none"]
    wrong: Any = "disk"
    with collecting(), pytest.raises(InvalidSetting, match="setting 'cache' cannot be 'disk'") as caught:
        view(cache=wrong)(kept)
    assert caught.value.expected == "one of none, memory, delta_staging"
    assert caught.value.origin is not None
    assert caught.value.origin.line == kept.__code__.co_firstlineno
    assert plain.__code__.co_firstlineno > kept.__code__.co_firstlineno
