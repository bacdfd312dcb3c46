from __future__ import annotations

import hashlib
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import SparkRuntimeException
from pyspark.sql import functions as F

from headwater import functions as H
from headwater.digest import stable_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

Part = str | int | bool | date | None

LONG = "é" * 9_000
TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(alphabet="0123456789:~sibd", max_size=8),
    st.sampled_from(["", "~", ":", "s1:a", "1", "true", "2024-02-29", "\x00", "a\nb", "\U0001d4b3😀", LONG]),
)
WHOLE = st.integers(-(2**63), 2**63 - 1)
DATES = st.dates(min_value=date(1, 1, 1))
PARTS = st.one_of(st.none(), TEXTS, WHOLE, st.booleans(), DATES)
# pyspark makes no literal of a date before the year 1000.
LITERALS = PARTS.filter(lambda part: not isinstance(part, date) or part.year > 999)
ROWS = st.lists(
    st.tuples(
        TEXTS | st.none(),
        TEXTS | st.none(),
        WHOLE | st.none(),
        st.integers(-(2**31), 2**31 - 1) | st.none(),
        st.booleans() | st.none(),
        DATES | st.none(),
    ),
    min_size=20,
    max_size=60,
)
NESTED = ("ARRAY<INT>", "STRUCT<a: INT>", "MAP<STRING, INT>")
LETTERS = {str: "s", int: "i", bool: "b", date: "d"}


def written(parts: tuple[Part, ...]) -> str:
    """The text that an id hashes, from its description alone."""
    made: list[str] = []
    for part in parts:
        text = str(part).lower() if isinstance(part, bool) else str(part)
        made.append("~" if part is None else f"{LETTERS[type(part)]}{len(text)}:{text}")
    return "".join(made)


def read_back(text: str) -> list[Part]:
    """The parts of a written text: that there is such a reading is why no two lists share one."""
    parts: list[Part] = []
    while text:
        if text.startswith("~"):
            parts.append(None)
            text = text[1:]
            continue
        head = re.match(r"([sibd])(\d+):", text)
        assert head
        content, text = text[head.end() :][: int(head[2])], text[head.end() + int(head[2]) :]
        kinds: dict[str, Callable[[str], Part]] = {
            "s": str,
            "i": int,
            "b": lambda each: each == "true",
            "d": date.fromisoformat,
        }
        parts.append(kinds[head[1]](content))
    return parts


def expected(prefix: str, parts: tuple[Part, ...], digits: int = 32) -> str | None:
    if parts[0] is None:
        return None
    return f"{prefix}:{hashlib.sha256(written(parts).encode()).hexdigest()[:digits]}"


@given(st.lists(PARTS, min_size=1, max_size=6))
def test_what_is_hashed_can_be_read_back_so_no_two_lists_share_an_id(parts: list[Part]) -> None:
    again = read_back(written(tuple(parts)))
    assert [(type(each), each) for each in again] == [(type(each), each) for each in parts]


@given(st.lists(st.one_of(st.none(), TEXTS, WHOLE, st.booleans()), min_size=1, max_size=6))
def test_plain_python_gives_the_same_ids(parts: list[str | int | bool | None]) -> None:
    digest = hashlib.sha256(written(tuple(parts)).encode()).hexdigest()
    assert stable_id("node", *parts) == f"node:{digest[:32]}"


@settings(max_examples=3)
@given(rows=ROWS)
def test_ids_of_columns_are_what_is_described(
    spark: SparkSession, rows: list[tuple[str | None, str | None, int | None, int | None, bool | None, date]]
) -> None:
    columns = "s STRING, t STRING, i BIGINT, n INT, b BOOLEAN, d DATE"
    frame = spark.createDataFrame(rows, columns)
    got = frame.select(
        H.stable_id_parts("part", "s", "t", "i", "n", "b", "d"),
        F.expr("stable_id_parts('part', i, d, b, s)"),
        H.prefixed_hash_parts64("short", "t", "s"),
        H.node_id("d", "b"),
        F.expr("edge_id(b, n, t)"),
        H.file_id("n"),
    ).collect()
    for (s, t, i, n, b, d), row in zip(rows, got, strict=True):
        assert tuple(row) == (
            expected("part", (s, t, i, n, b, d)),
            expected("part", (i, d, b, s)),
            expected("short", (t, s), 16),
            expected("node", (d, b)),
            expected("edge", (b, n, t)),
            expected("file", (n,)),
        )


@settings(max_examples=2)
@given(lists=st.lists(st.lists(LITERALS, min_size=1, max_size=4), min_size=4, max_size=6))
def test_ids_of_literals_of_any_mixture_are_what_is_described(
    spark: SparkSession, lists: list[list[Part]]
) -> None:
    made = [H.stable_id_parts("mixed", *[F.lit(part) for part in parts]) for parts in lists]
    (row,) = spark.range(1).select(*made).collect()
    assert list(row) == [expected("mixed", tuple(parts)) for parts in lists]


def test_the_ids_of_today_are_the_ids_of_tomorrow(asked: Callable[..., tuple[Any, ...]]) -> None:
    assert tuple(
        asked(
            "stable_id_parts('node', 'a', 1, NULL, true)",
            "prefixed_hash_parts64('file', 'a', 1)",
            "node_id('é', DATE'2024-02-29', -1)",
            "edge_id('AST', 'node:1', 'node:2')",
            "file_id('repo', 'src/app.py')",
            "span_id('repo:1', 'app.py', span_make(3, 8))",
            "stable_hash_any(array(1, NULL))",
            "stable_hash_any(CAST(NULL AS STRING))",
        )
    ) == (
        "node:9a4361bae37750643ecdb46ce3c99818",
        "file:919759daf83ac5e8",
        expected("node", ("é", date(2024, 2, 29), -1)),
        "edge:4d193a9a0ed60d72f2a5313e8238ef5b",
        "file:4f408113dcaac4e8a7248785af60f6a6",
        "span:eb34339f0bd689a2899d12dadc104f6b",
        "172764f3cd971898ee8a167a61caf124",
        hashlib.sha256(b'string{"value":null}').hexdigest()[:32],
    )


def test_a_missing_part_counts_and_a_missing_first_part_is_no_id(
    asked: Callable[..., tuple[Any, ...]],
) -> None:
    row = asked(
        "node_id('a')",
        "node_id('a', NULL)",
        "node_id('a', CAST(NULL AS INT))",
        "node_id('a', '')",
        "node_id('a', NULL, NULL)",
        "node_id(NULL, 'a')",
        "node_id(CAST(NULL AS DATE))",
    )
    alone, one_missing, typed, empty, two_missing, no_first, no_typed_first = row
    assert one_missing == typed
    assert len({alone, one_missing, empty, two_missing}) == 4
    assert no_first is None
    assert no_typed_first is None


def test_whole_numbers_are_alike_whatever_their_width(asked: Callable[..., tuple[Any, ...]]) -> None:
    widths = ("TINYINT", "SMALLINT", "INT", "BIGINT")
    for function in ("node_id", "stable_hash_any"):
        assert len(set(asked(*[f"{function}(CAST(42 AS {width}))" for width in widths]))) == 1
    assert len(set(asked("node_id(1)", "node_id('1')", "node_id(true)"))) == 3


def test_a_type_that_cannot_be_written_down_is_an_error_even_without_a_value(
    errors: Callable[..., list[str]],
) -> None:
    plain = ("DOUBLE", "FLOAT", "TIMESTAMP", "TIMESTAMP_NTZ", "BINARY", "DECIMAL(10, 2)", "INTERVAL DAY")
    calls = ("node_id({})", "stable_id_parts('x', NULL, {})", "prefixed_hash_parts64('x', 'a', {})")
    wrong = [call.format(f"CAST(NULL AS {kind})") for kind in (*plain, *NESTED) for call in calls]
    assert all("a part of an id has the type" in error for error in errors(*wrong))


def test_a_value_of_such_a_type_is_an_error_too(
    asked: Callable[..., tuple[Any, ...]], errors: Callable[..., list[str]]
) -> None:
    values = ("1.5D", "array(1)", "map(1, 2)", "X'00'", "1.5", "named_struct('a', 1)")
    wrong = [f"node_id('a', {value})" for value in (*values, "TIMESTAMP'2024-01-01 00:00:00'")]
    assert all("cast it to one of them" in error for error in errors(*wrong))
    with pytest.raises(SparkRuntimeException, match="cast it to one of them"):
        asked(wrong[0])


def test_a_prefix_is_a_plain_word(errors: Callable[..., list[str]]) -> None:
    prefixes = ("''", "'A'", "'1a'", "'a-b'", "'a:b'", "'a\n'", "'a b'", "'é'", "NULL")
    functions = ("stable_id_parts", "prefixed_hash_parts64")
    wrong = [f"{function}({prefix}, 'a')" for prefix in prefixes for function in functions]
    assert all("the prefix of an id" in error for error in errors(*wrong))
    assert all("prefix is a STRING, not boolean" in each for each in errors("stable_id_parts(true, 'a')"))


# --- stable_hash_any -----------------------------------------------------------------------------------

VALUES = st.lists(
    st.one_of(
        st.none(),
        st.tuples(
            st.none() | st.text(max_size=4),
            st.none() | st.lists(st.none() | st.integers(-9, 9), max_size=3),
            st.none() | st.sampled_from([0.0, -0.0, 1.5, float("inf"), 1e300]),
        ),
    ),
    min_size=10,
    max_size=40,
)


@settings(max_examples=4)
@given(values=VALUES)
def test_two_values_have_one_hash_when_and_only_when_they_are_equal(
    spark: SparkSession, values: list[tuple[str | None, list[int | None] | None, float | None] | None]
) -> None:
    schema = "v STRUCT<a: STRING, b: ARRAY<INT>, c: DOUBLE>"
    frame = spark.createDataFrame([(value,) for value in values], schema)
    hashes = [row[0] for row in frame.select(H.stable_hash_any("v")).collect()]
    shown = [repr(value) for value in values]
    assert len(set(zip(hashes, shown, strict=True))) == len(set(hashes)) == len(set(shown))
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in hashes)


def test_values_of_different_types_have_different_hashes(asked: Callable[..., tuple[Any, ...]]) -> None:
    row = asked(
        *[f"stable_hash_any({each})" for each in ("'1'", "1", "1D", "1.0", "true", "array(1)", "NULL")],
        "stable_hash_any(named_struct('a', 1))",
        "stable_hash_any(named_struct('b', 1))",
        "stable_hash_any(array(named_struct('a', CAST(NULL AS INT))))",
        "stable_hash_any(array(CAST(NULL AS STRUCT<a: INT>)))",
        "stable_hash_any('NaN')",
        "stable_hash_any(double('NaN'))",
        "stable_hash_any(CAST(NULL AS STRING))",
        "stable_hash_any('null')",
        "stable_hash_any(X'31')",
        "stable_hash_any(DATE'2024-01-01')",
        "stable_hash_any('2024-01-01')",
    )
    assert len(set(row)) == len(row)


def test_a_text_has_one_hash_whoever_made_it(spark: SparkSession) -> None:
    """Spark calls the type of a text by two names; the same text must not have two hashes for it."""
    frame = spark.sql("SELECT utf8_normalize(t) AS made, t FROM VALUES ('a') AS t(t)")
    hashes = frame.select(H.stable_hash_any("made"), H.stable_hash_any("t")).collect()[0]
    ids = frame.select(H.node_id("made"), H.node_id("t")).collect()[0]
    assert (hashes[0], ids[0]) == (hashes[1], ids[1])


def test_a_timestamps_hash_does_not_depend_on_the_sessions_zone(spark: SparkSession) -> None:
    moments = [(datetime(1969, 12, 31, 23, 59, 59, 999_999),), (datetime(2024, 3, 31, 1, 30, 0, 1),), (None,)]  # noqa: DTZ001
    frame = spark.createDataFrame(moments, "at TIMESTAMP")
    found: set[tuple[str, ...]] = set()
    for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
        other = spark.newSession()
        other.conf.set("spark.sql.session.timeZone", zone)
        micros = [row[0] for row in frame.select(F.unix_micros("at")).collect()]
        again = other.createDataFrame([(each,) for each in micros], "n BIGINT")
        hashed = again.select(H.stable_hash_any(F.timestamp_micros("n"))).collect()
        found.add(tuple(row[0] for row in hashed))
    assert len(found) == 1
    assert len(set(found.pop())) == 3


def test_a_map_and_a_variant_have_no_hash(errors: Callable[..., list[str]]) -> None:
    values = ("map('a', 1)", "array(map('a', 1))", "named_struct('m', map('a', 1))")
    missing = ("CAST(NULL AS MAP<STRING, INT>)", "CAST(NULL AS VARIANT)")
    # 1.0 and 1 are one variant, written in two ways.
    variants = ("parse_json('1.0')", "array(parse_json('1'))", "named_struct('a', 1, 'v', parse_json('1'))")
    wrong = [f"stable_hash_any({value})" for value in (*values, *missing, *variants)]
    assert all("stable_hash_any: a map has no order" in error for error in errors(*wrong))
    assert errors("stable_hash_any(named_struct('variant', 1, 'map', 2))") == [""]


def test_a_maps_entries_have_one_whatever_their_order(asked: Callable[..., tuple[Any, ...]]) -> None:
    one, two = asked(
        "stable_hash_any(map_entries(map_normalize(map('a', 1, 'b', 2))))",
        "stable_hash_any(map_entries(map_normalize(map('b', 2, 'a', 1))))",
    )
    assert one == two
