"""Schema strings: the laws of the pure parser, and its agreement with Spark's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    CalendarIntervalType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    GeographyType,
    GeometryType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    TimeType,
    VarcharType,
    VariantType,
    YearMonthIntervalType,
)

from headwater.errors import InvalidDdl
from headwater.pipeline.ddl import parse_ddl
from headwater.runtime import ENGINE_EXCEPTIONS

if TYPE_CHECKING:
    from headwater.runtime import RunSession

_ATOMS: list[DataType] = [
    BinaryType(),
    BooleanType(),
    ByteType(),
    CalendarIntervalType(),
    DateType(),
    DoubleType(),
    FloatType(),
    GeographyType(4326),
    GeographyType("ANY"),
    GeometryType(0),
    GeometryType("ANY"),
    IntegerType(),
    LongType(),
    NullType(),
    ShortType(),
    StringType(),
    StringType("UNICODE_CI"),
    StringType("sr_Cyrl_SRB_CI_AI"),
    TimestampNTZType(),
    TimestampType(),
    VariantType(),
    *(YearMonthIntervalType(start, end) for start in range(2) for end in range(start, 2)),
    *(DayTimeIntervalType(start, end) for start in range(4) for end in range(start, 4)),
]
_NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
_atoms = st.one_of(
    st.sampled_from(_ATOMS),
    st.builds(CharType, st.integers(1, 99)),
    st.builds(VarcharType, st.integers(1, 99)),
    st.builds(TimeType, st.integers(0, 6)),
    st.integers(1, 38).flatmap(lambda p: st.builds(DecimalType, st.just(p), st.integers(0, p))),
)


def _deeper(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    fields = st.builds(StructField, _NAMES, inner)
    return st.one_of(
        st.builds(ArrayType, inner),
        st.builds(MapType, inner, inner),
        st.builds(StructType, st.lists(fields, max_size=4)),
    )


_types = st.recursive(_atoms, _deeper, max_leaves=12)


@given(_types)
def test_a_type_reads_back_from_how_it_is_shown(kind: DataType) -> None:
    assert parse_ddl(kind.simpleString()) == kind


@given(st.lists(st.tuples(st.text(min_size=1), _types, st.booleans()), min_size=1, max_size=4))
def test_a_list_of_columns_is_a_struct(columns: list[tuple[str, DataType, bool]]) -> None:
    shown = ", ".join(
        f"`{name.replace('`', '``')}` {kind.simpleString().upper()}{'' if nullable else ' NOT NULL'}"
        for name, kind, nullable in columns
        if kind == parse_ddl(kind.simpleString().upper())
    )
    expected = [
        StructField(name, kind, nullable)
        for name, kind, nullable in columns
        if kind == parse_ddl(kind.simpleString().upper())
    ]
    assert parse_ddl(shown) == StructType(expected)


@given(st.text(alphabet="abint <>(),:`'\"-0129_/*\\\n", max_size=30))
@settings(max_examples=300)
def test_any_text_parses_or_is_refused_by_our_own_error(text: str) -> None:
    try:
        result: object = parse_ddl(text)
    except InvalidDdl as error:
        result = error
    assert isinstance(result, DataType) or (isinstance(result, InvalidDdl) and result.ddl == text)


@pytest.mark.parametrize(
    ("ddl", "detail"),
    [
        ("array<>", "expected a type instead of '>'"),
        ("a int b int", "expected the end instead of 'b'"),
        ("a int,", "a column name is missing at the end"),
        ("decimal(5,6)", "decimal(5,6) is out of range"),
        ("a struct<b: nope>", "expected a type instead of 'nope'"),
        ("a int comment x", "expected a quoted comment instead of 'x'"),
        ("a; int", "unexpected ';' at character 1"),
        ("string collate nope", "there is no collation 'nope'"),
        ("interval second to day", "expected a unit smaller than second instead of 'day'"),
        ("time(7)", "time(7) is out of range"),
        ("1 int", "expected a column name instead of '1'"),
    ],
)
def test_a_refusal_says_what_was_expected_and_found(ddl: str, detail: str) -> None:
    with pytest.raises(InvalidDdl) as caught:
        parse_ddl(ddl)
    assert caught.value.detail == detail


def test_a_spatial_type_with_an_unknown_reference_system_is_refused() -> None:
    with pytest.raises(InvalidDdl, match="ST_INVALID_SRID_VALUE"):
        parse_ddl("geometry(1)")


_STRINGS = """
int| INT |bigint|smallint|tinyint|float|real|double|boolean|string|binary|date|timestamp
timestamp_ntz|timestamp_ltz|decimal|dec(3)|numeric( 10 , 2 )|decimal(38,38)|void|variant|interval
interval day to second|interval year to month|char(3)|character(3)|varchar(9)|time
time(3) without time zone|timestamp without time zone|geometry(4326)|geometry(any)|geography(any)
timestamp with local time zone|interval hour|array<string>|ARRAY < int >|map<string,double>|struct<>
struct<a: int, `b c`: map<string,double>>|struct<`a``b`:int>|struct<a:int NOT NULL COMMENT 'hi'>
struct<a: string collate UNICODE_CI>|string collate utf8_lcase|string collate SR_ci_ai
string collate unicode_rtrim|string collate en_usa_ci|string collate zh_hans
id BIGINT NOT NULL COMMENT 'x', tags ARRAY<STRING>|a: int, b: string|a int|a  :  int|`a b` int
1a int|int int|date date, timestamp timestamp|select int|interval interval|time time
a int not null comment 'it''s'|a int comment "dq"|a int comment 'a\\nb\\t\\u0041\\101\\%\\_\\q'
a int comment r'a\\n'|a int comment 'a' 'b'|a int, a int|a: interval day to second, b: time(3)
a /* c */ int, b string||a struct<b: int not null> not null|`` int|`é` int
a struct<b int, c: string>|1e int|0x int|double precision|decimal(39,1)|decimal(5,6)|decimal(5,-2)
decimal()|null|interval second to day|char|varchar(a)|string(5)|int(3)|time(7)|geometry|geometry(1)
geometry(OGC:CRS84)|array|array<>|array<int|map<string>|struct|struct<a:int,>|struct<a.b:int>
string collate nope|a int,|a|a b|a-b int|1 int|a int NULL|a int comment 'x' not null|a int default 5
a int generated always as (b)|a int;|é int|a.b int|`a int|`int`|2d int|a$ int|{}|"int"|array<int>>
""".strip("\n")


def test_sparks_own_parser_says_the_same(session: RunSession) -> None:
    strings = [each for line in _STRINGS.splitlines() for each in line.split("|")]
    answers = {ddl: _sparks(session, ddl) for ddl in strings}
    assert len(answers) > 110
    assert {ddl: _ours(ddl) for ddl in answers} == answers


def _sparks(session: RunSession, ddl: str) -> DataType | None:
    try:
        return session.spark.sparkContext._parse_ddl(ddl)  # pyright: ignore[reportAttributeAccessIssue]
    except ENGINE_EXCEPTIONS:
        return None


def _ours(ddl: str) -> DataType | None:
    try:
        return parse_ddl(ddl)
    except InvalidDdl:
        return None
