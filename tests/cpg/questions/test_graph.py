"""A graph that can be asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from code_sample import definitions_table

from headwater.cpg.questions import Graph, code_query

if TYPE_CHECKING:
    import pyarrow as pa


def test_definitions_are_read_once_and_only_if_they_are_needed() -> None:
    asked: list[str] = []

    def query(sql: str) -> pa.Table:
        asked.append(sql)
        return definitions_table("def f(): ...\n")

    graph = Graph("shop", Path(), query)
    assert asked == []
    assert graph.code is graph.code
    assert asked == [code_query("shop")]
