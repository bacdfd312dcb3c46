"""What is said of a fixpoint, by the decorator and in headwater.toml; and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.errors import InvalidDdl, InvalidSetting, UnknownSetting
from headwater.pipeline import (
    SourceSpec,
    ViewSpec,
    build_pipeline,
    fixpoint,
    open_definitions,
    read_project,
)
from headwater.pipeline.definition import FunctionDefinition, collecting
from headwater.pipeline.fixpoints import MAX_ROUNDS, fixpoint_of
from headwater.policies import WritePolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import StructType

    from headwater.pipeline import Pipeline, PlanBytes

MakeProject = Callable[..., Path]


class Oracle:
    """Knows the schema of a source in memory, and what was asked about."""

    def __init__(self) -> None:
        self.reached: list[Mapping[str, ViewSpec | SourceSpec]] = []

    def names_in(self, sql: str, origin: str) -> tuple[str, ...]:
        del origin
        return tuple(word for word in sql.split() if word in {"t", "u"})

    def schema_of(self, relation: PlanBytes, reached: Mapping[str, ViewSpec | SourceSpec]) -> StructType:
        del relation
        self.reached.append(reached)
        return fixpoint_of({"schema": "n INT"}).columns


def built(folder: Path, oracle: Oracle | None = None) -> Pipeline:
    with open_definitions(read_project(folder)) as loaded:
        return build_pipeline(loaded, oracle or Oracle())


def test_the_decorator_keeps_the_function_and_what_it_says() -> None:
    with collecting() as found:

        @headwater.fixpoint(schema="src STRING, dst STRING", max_rounds=7, partition_by=["src"])
        def reach(reach: object) -> object:
            return reach

        @fixpoint(schema="n INT", name="Other")
        def plain(other: object) -> object:
            return other

    first, second = found
    assert isinstance(first, FunctionDefinition)
    assert (first.name, first.kind, first.function) == ("reach", "table", reach)
    assert first.policy == WritePolicy(partition_by=("src",))
    assert first.fixpoint is not None
    assert first.fixpoint.columns.simpleString() == "struct<src:string,dst:string>"
    assert first.fixpoint.max_rounds == 7
    assert isinstance(second, FunctionDefinition)
    assert second.fixpoint is not None
    assert (second.name, second.fixpoint.max_rounds) == ("Other", MAX_ROUNDS)
    assert plain("x") == "x"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"schema": "n INT", "max_rounds": 0}, "'max_rounds' cannot be 0"),
        ({"schema": "n INT", "max_rounds": -1}, "'max_rounds' cannot be -1"),
        ({"schema": "n INT", "max_rounds": "many"}, "'max_rounds' cannot be 'many'"),
        ({}, "'schema' cannot be None"),
        ({"schema": "BIGINT"}, "'schema' cannot be 'BIGINT'"),
        ({"schema": "a INT, m MAP<STRING, INT>"}, "with m map<string,int>"),
        ({"schema": "s STRUCT<x: ARRAY<VARIANT>>"}, "with s struct<x:array<variant>>"),
        ({"schema": "s STRING COLLATE UTF8_LCASE"}, "with s string collate UTF8_LCASE"),
    ],
)
def test_what_cannot_be_is_refused(said: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        fixpoint_of(said)
    assert told in caught.value.message


def test_what_can_be_compared_is_taken() -> None:
    schema = "a ARRAY<STRUCT<b: DOUBLE>>, d TIMESTAMP, e DECIMAL(38, 3), f STRING COLLATE UTF8_BINARY"
    assert len(fixpoint_of({"schema": schema}).columns.fields) == 4


def test_a_mistake_has_its_line() -> None:
    def plain() -> None: ...

    for schema, kind in (("n INT INT", InvalidDdl), ("m MAP<INT, INT>", InvalidSetting)):
        with pytest.raises(kind) as caught:
            fixpoint(schema=schema)(plain)
        assert caught.value.origin is not None
        assert caught.value.origin.path == __file__
        assert caught.value.origin.line == plain.__code__.co_firstlineno


def test_a_sql_file_is_a_fixpoint_by_headwater_toml(project_folder: MakeProject) -> None:
    folder = project_folder(t_sql="-- headwater: table\nSELECT n + 1 AS n FROM t", v_sql="SELECT 1 AS n")
    toml = (folder / "headwater.toml").read_text()
    said = toml + '[fixpoints.T]\nschema = "n INT"\nmax_rounds = 3\n'
    (folder / "headwater.toml").write_text(said)
    found = built(folder).spec("t")
    assert isinstance(found, ViewSpec)
    assert found.fixpoint is not None
    assert (found.stored, found.fixpoint.max_rounds) == (True, 3)
    lines = len(said.splitlines())
    for text, kind, line in (
        (said + "rounds = 3\n", UnknownSetting, lines + 1),
        (said.replace("n INT", "n INTEGERS"), InvalidDdl, lines - 1),
        (said.replace("= 3", "= 0"), InvalidSetting, lines),
        (said.replace("fixpoints.T", "fixpoints.v"), UnknownSetting, lines - 2),
        (said.replace("fixpoints.T", "fixpoints.w"), UnknownSetting, lines - 2),
    ):
        (folder / "headwater.toml").write_text(text)
        with pytest.raises(kind) as caught:
            built(folder)
        assert caught.value.origin is not None
        assert (Path(caught.value.origin.path).name, caught.value.origin.line) == ("headwater.toml", line)


def test_a_fixpoint_that_asks_about_itself_is_told_what_it_declares(project_folder: MakeProject) -> None:
    text = (
        "import headwater\n@headwater.fixpoint(schema='n INT')\n"
        "def t(t, u): return t.select(t.columns).union(u)\n"
        "@headwater.view\ndef u(t): return t.where(t.n > 1)\n"
        "@headwater.view\ndef w(t): return t.select(t.limit(1).columns)\n"
    )
    oracle = Oracle()
    pipeline = built(project_folder(all_py=text), oracle)
    assert [view.name for view in pipeline.views] == ["t", "u", "w"]
    itself = oracle.reached[0]["t"]
    assert isinstance(itself, SourceSpec)
    assert (itself.kind, itself.plan is not None) == ("memory", True)
    assert isinstance(oracle.reached[-1]["t"], ViewSpec)
