"""Queries over a project that was really built: what names mean, and how a result behaves."""

from __future__ import annotations

import hashlib
import resource
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import headwater
from headwater.errors import (
    DefinitionFileFailed,
    EngineFailed,
    FunctionDisabled,
    HeadwaterError,
    NotBuilt,
    NothingToRead,
    NotReadOnly,
    ResultClosed,
    SqlSyntax,
    UnknownDataset,
    UnknownTable,
    VersionNotFound,
)
from headwater.functions import function_rows
from headwater.run import query as query_module

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.run import Progress, Project
    from headwater.runtime import RunSession, SessionRuntime

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
SOURCES = """
import headwater

headwater.source("moods", rows=[(1, "glad"), (2, "sad")], schema="person BIGINT, mood STRING")
HEADER = {"header": "true"}
headwater.source("visits", path="visits.csv", format="csv", schema="person BIGINT, n INT", options=HEADER)
headwater.source("towns", path="towns")


@headwater.source
def people(spark):
    return spark.range(1, 4).selectExpr("id", "concat('p', id) AS name")


@headwater.view
def glad(people, moods):
    return people.join(moods, people.id == moods.person).where("mood = 'glad'").select("id", "name")


@headwater.table
def totals(visits):
    return visits.groupBy("person").sum("n").withColumnRenamed("sum(n)", "n")


@headwater.view
def visitors(totals, people):
    columns = [field.name for field in totals.schema.fields]
    named = people.select(*people.columns)
    return named.join(totals.select(*columns), named.id == totals.person).select("id", "n")
"""


def opened(folder: Path) -> Project:
    return headwater.open(folder, settings=SETTINGS)


def ask(folder: Path, sql: str) -> list[dict[str, Any]]:
    with opened(folder).query(sql) as result:
        return result.read_all().to_pylist()


def files_of(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def append(runtime: SessionRuntime, path: Path, sql: str) -> None:
    with runtime.checkout() as session:
        session.spark.sql(sql).write.format("delta").mode("append").save(str(path))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """A project with every kind of name, after its first build; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("built") / "small"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    (folder / "visits.csv").write_text("person,n\n1,5\n1,6\n2,7\n")
    (folder / "views" / "all.py").write_text(SOURCES)
    append(runtime, folder / "towns", "SELECT 1L AS id, 'Ulm' AS town")
    outcome = opened(folder).build()
    assert outcome.status == "done", outcome.error
    return folder


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    shutil.copytree(built, folder)
    return folder


# --- what names mean -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT * FROM totals ORDER BY person", [{"person": 1, "n": 11}, {"person": 2, "n": 7}]),
        ("SELECT count(*) AS n FROM PEOPLE", [{"n": 3}]),
        ("SELECT town FROM towns", [{"town": "Ulm"}]),
        ("SELECT mood FROM moods ORDER BY mood DESC", [{"mood": "sad"}, {"mood": "glad"}]),
        ("SELECT sum(n) AS n FROM visits", [{"n": 18}]),
        ("SELECT * FROM Glad", [{"id": 1, "name": "p1"}]),
        ("SELECT * FROM visitors ORDER BY id", [{"id": 1, "n": 11}, {"id": 2, "n": 7}]),
        (
            "SELECT g.name FROM glad g JOIN totals t ON g.id = t.person JOIN towns USING (id)",
            [{"name": "p1"}],
        ),
        ("SELECT 1 AS one", [{"one": 1}]),
    ],
)
def test_every_kind_of_name_can_be_read(built: Path, sql: str, rows: list[dict[str, Any]]) -> None:
    before = files_of(built)
    assert ask(built, sql) == rows
    assert files_of(built) == before


def test_later_writes_do_not_change_what_a_query_sees(copy: Path, runtime: SessionRuntime) -> None:
    append(runtime, copy / "towns", "SELECT 2L AS id, 'Bonn' AS town")
    append(runtime, copy / ".headwater" / "tables" / "totals", "SELECT 9L AS person, 9L AS n")
    append(runtime, copy / ".headwater" / "tables" / "people", "SELECT 1L AS id, 'again' AS name")
    assert ask(copy, "SELECT count(*) AS n FROM towns") == [{"n": 1}]
    assert ask(copy, "SELECT count(*) AS n FROM totals") == [{"n": 2}]
    assert ask(copy, "SELECT * FROM glad") == [{"id": 1, "name": "p1"}]


def test_stored_names_need_no_definitions(copy: Path) -> None:
    (copy / "views" / "all.py").write_text("this is not Python")
    assert len(ask(copy, "SELECT * FROM totals JOIN towns ON person = id")) == 1
    with pytest.raises(DefinitionFileFailed):
        ask(copy, "SELECT * FROM glad")


def test_a_changed_view_is_read_as_it_is_now_and_that_is_said(copy: Path) -> None:
    file = copy / "views" / "all.py"
    file.write_text(file.read_text().replace("'glad'", "'sad'"))
    heard: list[Progress] = []
    with opened(copy).query("SELECT name FROM glad", listen=heard.append) as result:
        assert result.read_all().to_pylist() == [{"name": "p2"}]
    assert "'glad' is not as the last run knew it" in " ".join(each.message for each in heard)


def test_files_that_changed_are_not_what_the_last_run_saw(copy: Path) -> None:
    (copy / "visits.csv").write_text("person,n\n1,500\n")
    assert len(ask(copy, "SELECT * FROM totals")) == 2
    with pytest.raises(VersionNotFound) as caught:
        ask(copy, "SELECT * FROM visits")
    assert caught.value.exit_code == 3


def test_a_version_that_is_gone_is_said(copy: Path) -> None:
    shutil.rmtree(copy / ".headwater" / "tables" / "totals" / "_delta_log")
    with pytest.raises(VersionNotFound):
        ask(copy, "SELECT * FROM totals")


def test_a_definition_that_is_gone_or_new_is_said(copy: Path) -> None:
    file = copy / "views" / "all.py"
    before = file.read_text()
    file.write_text(before.replace("def glad(", "def happy("))
    with pytest.raises(NothingToRead, match="definition is gone"):
        ask(copy, "SELECT * FROM glad")
    with pytest.raises(UnknownDataset):
        ask(copy, "SELECT * FROM happy")
    file.write_text(before.replace("def glad(people, moods)", "def glad(people, moods, nowhere)"))
    assert ask(copy, "SELECT * FROM glad") == [{"id": 1, "name": "p1"}]
    file.write_text(
        before.replace("def glad(people, moods)", "def glad(moods, nowhere, people)").replace(
            "people.join(moods", "people.crossJoin(nowhere).join(moods"
        )
    )
    with pytest.raises(UnknownTable):
        ask(copy, "SELECT * FROM glad")
    new = 'headwater.source("fresh", path="towns")\n'
    file.write_text(
        before.replace(
            "def glad(people, moods):", "def glad(fresh):\n    return fresh\n\n\ndef x(people, moods):"
        )
        + new
    )
    with pytest.raises(NothingToRead, match="new since the last run"):
        ask(copy, "SELECT * FROM glad")


def test_a_project_that_was_never_built_says_so(copy: Path) -> None:
    shutil.rmtree(copy / ".headwater")
    with pytest.raises(NotBuilt) as caught:
        ask(copy, "SELECT * FROM totals")
    assert caught.value.next_step == f"Build it first: headwater build {copy}"
    assert ask(copy, "SELECT 1 AS a") == [{"a": 1}]
    assert not (copy / ".headwater").exists()


def test_an_unknown_name_comes_with_a_near_one_and_all_others(built: Path) -> None:
    with pytest.raises(UnknownDataset) as caught:
        ask(built, "SELECT * FROM totls")
    assert caught.value.next_step.startswith(
        "Did you mean 'totals'? Known names: glad, hw_cache, hw_capabilities, hw_functions, hw_lineage, "
    )


def test_after_a_failed_run_what_was_made_can_be_read(copy: Path) -> None:
    more = "\n\n@headwater.table\ndef broken(totals):\n    return totals.selectExpr('n div (n - n) AS x')\n"
    file = copy / "views" / "all.py"
    file.write_text(file.read_text() + more)
    assert opened(copy).build().status == "failed"
    assert len(ask(copy, "SELECT * FROM totals")) == 2
    with pytest.raises(NothingToRead) as caught:
        ask(copy, "SELECT * FROM Broken")
    assert "DIVIDE_BY_ZERO" in caught.value.message


def test_a_table_of_the_system_is_made_when_it_is_read(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make(session: RunSession) -> DataFrame:
        made.append("hw_numbers")
        return session.spark.range(2)

    monkeypatch.setattr(query_module, "SYSTEM_TABLES", {"hw_numbers": make})
    assert ask(built, "SELECT count(*) AS n FROM totals") == [{"n": 2}]
    assert made == []
    assert ask(built, "SELECT t.n FROM HW_Numbers JOIN totals t ON id = person") == [{"n": 11}]
    assert made == ["hw_numbers"]
    with pytest.raises(UnknownDataset, match="hw_number"):
        ask(built, "SELECT * FROM hw_number")


# --- only reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE totals",
        "INSERT INTO totals VALUES (1, 1)",
        "CREATE TABLE x AS SELECT * FROM totals",
        "DELETE FROM delta.`{folder}/.headwater/tables/totals`",
        "SELECT * FROM delta.`{folder}/towns`",
        "SELECT * FROM csv.`{folder}/visits.csv`",
        "SELECT * FROM totals VERSION AS OF 0",
        "SELECT 1; DROP TABLE totals",
        "SET spark.sql.ansi.enabled=false",
        "WITH t AS (SELECT * FROM text.`{folder}/headwater.toml`) SELECT * FROM t",
        "SELECT reflect('java.lang.System', 'getProperty', 'user.home')",
        "SELECT TRANSFORM(n) USING 'cat' AS (a) FROM totals",
    ],
)
def test_a_query_that_does_more_leaves_the_project_as_it_is(built: Path, sql: str) -> None:
    before = files_of(built)
    with pytest.raises((NotReadOnly, SqlSyntax)) as caught:
        ask(built, sql.format(folder=built))
    error: HeadwaterError = caught.value
    assert error.exit_code == 1
    assert files_of(built) == before


def test_settings_of_a_query_end_with_it(built: Path, runtime: SessionRuntime) -> None:
    before = runtime.new_session().spark.conf.getAll
    with opened(built).query("SELECT * FROM totals") as result:
        assert result.read_all().num_rows == 2
    assert runtime.new_session().spark.conf.getAll == before


# --- the result ----------------------------------------------------------------------------------------


def test_a_result_is_an_arrow_stream(built: Path) -> None:
    with opened(built).query("SELECT person, n FROM totals ORDER BY person") as result:
        assert [(column.name, column.type) for column in result.columns] == [
            ("person", "bigint"),
            ("n", "bigint"),
        ]
        assert result.schema.names == ["person", "n"]
        table = pa.table(result)
    assert table.to_pydict() == {"person": [1, 2], "n": [11, 7]}


def test_a_limit_is_part_of_the_query(built: Path) -> None:
    with opened(built).query("SELECT id FROM range(1000000) ORDER BY id", limit=3) as result:
        assert result.read_all().to_pydict() == {"id": [0, 1, 2]}
    with opened(built).query("DESCRIBE FUNCTION abs", limit=1) as described:
        assert described.read_all().to_pydict() == {"function_desc": ["Function: abs"]}


def test_the_session_goes_back_when_the_rows_are_read_or_the_result_is_closed(built: Path) -> None:
    read = opened(built).query("SELECT * FROM totals")
    assert sum(batch.num_rows for batch in read) == 2
    assert read._session._spark is None
    with pytest.raises(ResultClosed):
        list(read)
    with pytest.raises(ResultClosed):
        read.read_all()
    left = opened(built).query("SELECT id FROM range(0, 100000, 1, 2)")
    with left:
        assert next(iter(left)).num_rows == 10000
        assert left._session._spark is not None
    assert left._session._spark is None
    with pytest.raises(ResultClosed):
        next(iter(left))
    left.close()
    unread = opened(built).query("SELECT 1")
    unread.close()
    with pytest.raises(ResultClosed):
        unread.read_all()


def test_two_results_can_be_open_at_once(built: Path) -> None:
    project = opened(built)
    with project.query("SELECT * FROM totals") as first, project.query("SELECT * FROM people") as second:
        assert (second.read_all().num_rows, first.read_all().num_rows) == (3, 2)


def test_a_failure_on_the_way_is_typed_and_gives_the_session_back(built: Path) -> None:
    result = opened(built).query("SELECT 1 div (n - 7) AS x FROM totals")
    with pytest.raises(EngineFailed) as caught:
        result.read_all()
    assert caught.value.condition == "DIVIDE_BY_ZERO"
    assert result._session._spark is None


def test_the_catalogue_of_functions_is_a_table(example: Path) -> None:
    with opened(example).query("SELECT * FROM hw_functions ORDER BY name") as result:
        rows = result.read_all().to_pylist()
    assert [row["name"] for row in rows] == [row.name for row in function_rows()]
    assert [(row["signature"], row["digest"], tuple(row["tags"])) for row in rows] == [
        (row.signature, row.digest, row.tags) for row in function_rows()
    ]


def test_a_view_with_a_function_that_is_switched_off_is_refused(project_folder: Callable[..., Path]) -> None:
    text = (
        "import headwater\nfrom headwater import functions as H\n"
        "headwater.source('rows', rows=[('a',)], schema='k STRING')\n"
        "@headwater.view\ndef named(rows):\n    return rows.select(H.node_id('k').alias('id'))\n"
        "@headwater.table\ndef kept(rows):\n    return rows\n"
    )
    folder = project_folder(v_py=text)
    assert opened(folder).build().error is None
    off = headwater.open(folder, settings={**SETTINGS, "disabled_families": "hash"})
    with pytest.raises(FunctionDisabled, match="node_id"):
        off.query("SELECT * FROM named")
    with off.query("SELECT * FROM kept") as result:
        assert result.read_all().num_rows == 1


def test_a_result_that_no_memory_could_hold_whole_is_streamed(built: Path) -> None:
    """Three million rows of 300 bytes: in two parts, the driver's one gigabyte would not hold one of them."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = 0
    with opened(built).query("SELECT id, repeat('x', 300) AS text FROM range(3000000)") as result:
        for batch in result:
            count += batch.num_rows
    assert count == 3_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB
