from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import PinnedRead, ReadOptions, open_pinned, read_head
from headwater.delta.projection import project_columns
from headwater.errors import EngineFailed, ScanNotResolved
from headwater.origin import Origin
from headwater.runtime import RunSession, SessionRuntime, engine_errors

if TYPE_CHECKING:
    from collections.abc import Generator

    from pyspark.sql import DataFrame

    from headwater.names import TablePin

ORIGIN = Origin(path="views/a.py", line=7)


@pytest.fixture(scope="module")
def pin(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> TablePin:
    path = tmp_path_factory.mktemp("projection") / "t"
    with runtime.checkout() as session:
        session.spark.sql(
            f"CREATE TABLE delta.`{path}` (Id BIGINT, text STRING, at STRUCT<x: INT, `y z`: STRING>,"
            " xs ARRAY<INT>, `a.b` INT, `c d` INT, `e``f` INT) USING delta"
            " TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true')"
        )
        session.spark.sql(
            f"INSERT INTO delta.`{path}`"
            " SELECT 1, '12', named_struct('x', 5, 'y z', 'deep'), array(3, 4), 6, 7, 8"
        )
        session.spark.sql(f"INSERT INTO delta.`{path}` SELECT 2, 'word', NULL, NULL, NULL, NULL, NULL")
    return read_head(path.as_uri()).pin("orders")


def opened(session: RunSession, pin: TablePin, **options: Any) -> PinnedRead:
    for name in ("columns", "defaults"):
        options[name] = tuple(options.get(name, {}).items())
    return open_pinned(session, pin, ReadOptions(**options), ORIGIN)


def first(read: PinnedRead) -> dict[str, Any]:
    return read.rows.limit(1).collect()[0].asDict(recursive=True)


def expressions(read: PinnedRead) -> dict[str, str]:
    return {each.name: each.expression for each in read.columns}


def refused(session: RunSession, pin: TablePin, **options: Any) -> ScanNotResolved:
    with pytest.raises(ScanNotResolved) as caught:
        opened(session, pin, **options)
    assert caught.value.origin == ORIGIN
    return caught.value


def test_columns_are_computed_cast_and_renamed(session: RunSession, pin: TablePin) -> None:
    read = opened(
        session,
        pin,
        columns={
            "number": "CAST(text AS DECIMAL(5, 1))",
            "ID": "iD",
            "deep": "at.`y z`",
            "odd.name": "`a.b` + `c d`",
            "tick`s": "`e``f`",
            "many": "transform(xs, x -> x + Id)",
        },
    )
    assert read.rows.where("id = 1").collect()[0].asDict() == {
        "number": Decimal("12.0"),
        "ID": 1,
        "deep": "deep",
        "odd.name": 13,
        "tick`s": 8,
        "many": [4, 5],
    }
    assert {each.name: each.type for each in read.columns} == {
        "number": "decimal(5,1)",
        "ID": "bigint",
        "deep": "string",
        "odd.name": "int",
        "tick`s": "int",
        "many": "array<bigint>",
    }


def test_what_is_recorded_is_resolved_and_the_same_everywhere(session: RunSession, pin: TablePin) -> None:
    asked: dict[str, Any] = {
        "columns": {"number": "text::int + 1", "deep": "at.`y z`", "id": "ID", "odd": "`c d`", "n": "extra"},
        "defaults": {"extra": "upper('x')"},
        "schema": "number STRING, deep STRING, id BIGINT, odd INT, n STRING",
        "file_column": "file",
    }
    found = expressions(opened(session, pin, **asked))
    assert found == {
        "number": "CAST((CAST(text AS INT) + 1) AS STRING)",
        "deep": "at.`y z`",
        "id": "ID",
        "odd": "`c d`",
        "n": "upper('x')",
    }
    assert found == expressions(opened(session, pin, **asked))
    with_file = expressions(opened(session, pin, defaults={"extra": "1"}, file_column="file"))
    assert with_file["file"] == "file"
    with_row = expressions(
        opened(session, pin, columns={"r": "_metadata.row_id", "f": "file"}, file_column="file")
    )
    assert with_row == {"r": "_metadata.`row_id`", "f": "file"}
    for each in (*found.values(), *with_file.values()):
        assert not re.search(r"#\d|file:|/tmp|" + re.escape(pin.uri), each)


def test_nothing_asked_is_nothing_recorded(session: RunSession, pin: TablePin) -> None:
    read = opened(session, pin)
    assert read.columns == ()
    assert read.rows.columns == ["Id", "text", "at", "xs", "a.b", "c d", "e`f"]


def test_a_default_stands_in_only_where_a_column_is_missing(session: RunSession, pin: TablePin) -> None:
    read = opened(session, pin, defaults={"ID": "0", "odd. `one": "'new'", "next": "`odd. ``one` || Id"})
    assert read.rows.columns[-2:] == ["odd. `one", "next"]
    assert {(row["Id"], row["odd. `one"], row["next"]) for row in read.rows.collect()} == {
        (1, "new", "new1"),
        (2, "new", "new2"),
    }
    assert expressions(read)["Id"] == "Id"
    assert expressions(read)["next"] == "concat('new', CAST(Id AS STRING))"


def test_a_schema_casts_and_leaves_the_others_out(session: RunSession, pin: TablePin) -> None:
    read = opened(session, pin, schema="TEXT STRING, id INT, `A.b` BIGINT, at STRUCT<x: BIGINT, y: STRING>")
    assert read.rows.schema.simpleString() == (
        "struct<TEXT:string,id:int,A.b:bigint,at:struct<x:bigint,y:string>>"
    )
    assert first(opened(session, pin, columns={"Id": "Id", "b": "`a.b`"}, schema="b STRING")) in (
        {"b": "6"},
        {"b": None},
    )


def test_a_schema_with_a_column_that_is_missing_names_it(session: RunSession, pin: TablePin) -> None:
    error = refused(session, pin, schema="id INT, gone INT")
    assert error.expression == "the column gone of its schema"
    assert "defaults={'gone': 'NULL'}" in error.next_step
    read = opened(session, pin, schema="id INT, gone INT", defaults={"gone": "NULL"})
    assert {row["gone"] for row in read.rows.collect()} == {None}


def test_a_schema_is_names_with_types_each_once(session: RunSession, pin: TablePin) -> None:
    twice = refused(session, pin, schema="id INT, ID STRING")
    assert twice.detail == "a schema has names with types, each name once"
    assert refused(session, pin, schema="INT").condition == "PARSE_SYNTAX_ERROR"


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ({"columns": {"a": "nobody + 1"}}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ({"columns": {"a": "at.nobody"}}, "FIELD_NOT_FOUND"),
        ({"columns": {"a": "1 +"}}, "PARSE_SYNTAX_ERROR"),
        ({"columns": {"a": "*"}}, "INVALID_USAGE_OF_STAR_OR_REGEX"),
        ({"columns": {"a": "no_such_function(1)"}}, "UNRESOLVED_ROUTINE"),
        ({"defaults": {"a": "nobody"}}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ({"schema": "id NOTHING"}, "UNSUPPORTED_DATATYPE"),
        ({"schema": "id ARRAY<INT>"}, "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"),
    ],
)
def test_what_spark_cannot_resolve_has_its_condition(
    session: RunSession, pin: TablePin, options: dict[str, Any], condition: str
) -> None:
    assert refused(session, pin, **options).condition == condition


@pytest.mark.parametrize(
    "expression",
    [
        *("current_date()", "now()", "unix_timestamp()", "localtimestamp()", "date_add(curdate(), 1)"),
        *("date'today'", "TIMESTAMP ' now'", "timestamp_ntz'tomorrow'", "CAST('now' AS TIMESTAMP)"),
        *("to_date('yesterday')", "CAST('no' || 'w' AS DATE)"),
        *("rand()", "rand(1)", "randn(3)", "uuid()", "shuffle(xs)", "uniform(1, 3, 0)", "randstr(3, 1)"),
        *("(SELECT 1)", "Id IN (SELECT 2)", "EXISTS (SELECT 1)"),
        *("count(*)", "sum(Id)", "max(text) FILTER (WHERE Id > 1)"),
        *("row_number() OVER (ORDER BY Id)", "lag(Id) OVER (ORDER BY Id)", "sum(Id) OVER ()"),
        *("explode(xs)", "stack(2, 1, 2)"),
        *("input_file_name()", "input_file_block_start()", "monotonically_increasing_id()"),
        *("spark_partition_id()", "_metadata.file_path", "_metadata.file_modification_time", "_metadata"),
        "struct(_metadata.row_id, to_date('now'))",
        *(
            "current_user()",
            "session_user()",
            "current_database()",
            "current_catalog()",
            "current_timezone()",
        ),
        *("python_function(Id)", "session_value", "reflect('java.lang.System', 'nanoTime')"),
        *("session_window(TIMESTAMP'2020-01-01', '1 minute')", "window(now(), '1 minute').start"),
    ],
)
def test_what_is_more_than_a_row_is_refused(asking: tuple[RunSession, DataFrame], expression: str) -> None:
    session, rows = asking
    options = ReadOptions(columns=(("new", expression),))
    with pytest.raises(ScanNotResolved) as caught:
        project_columns(session, rows, options, dataset="orders", origin=ORIGIN)
    error = caught.value
    assert error.expression == f"{expression} AS new"
    assert error.condition is None
    assert "made from its own row alone" in error.detail


def test_a_default_is_no_more_than_a_row_either(session: RunSession, pin: TablePin) -> None:
    for each in ("now()", "explode(xs)", "sum(Id) OVER ()"):
        assert "made from its own row alone" in refused(session, pin, defaults={"new": each}).detail


def same(value: int) -> int:
    return value


@pytest.fixture(scope="module")
def asking(runtime: SessionRuntime, pin: TablePin) -> Generator[tuple[RunSession, DataFrame]]:
    """A session with a Python function and a variable, and the table's rows in it."""
    with runtime.checkout() as session:
        session.spark.udf.register("python_function", same, "bigint")
        session.spark.sql("DECLARE VARIABLE session_value INT DEFAULT 5")
        yield session, open_pinned(session, pin).rows


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("text = 'now'", False),
        ("date'2020-01-02' > date'1970-01-01'", True),
        ("stable_id_parts('order', text)", None),
        ("aggregate(xs, 0, (sum, x) -> sum + x)", 7),
    ],
)
def test_a_plain_expression_is_taken(
    session: RunSession, pin: TablePin, expression: str, value: object
) -> None:
    read = opened(session, pin, columns={"id": "Id", "made": expression})
    made = read.rows.where("id = 1").collect()[0]["made"]
    assert made == value if value is not None else re.fullmatch(r"order:[0-9a-f]{32}", made)


def test_a_cast_that_fails_fails_the_job(session: RunSession, pin: TablePin) -> None:
    for options in ({"schema": "text INT"}, {"columns": {"n": "CAST(text AS INT)"}}):
        read = opened(session, pin, **options)
        with pytest.raises(EngineFailed) as caught, engine_errors():
            read.rows.collect()
        assert caught.value.condition == "CAST_INVALID_INPUT"
