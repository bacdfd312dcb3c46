"""Half-open stretches of a text: from `bstart` up to, not including, `bend`; in bytes unless said otherwise.

A span is STRUCT<bstart: BIGINT, bend: BIGINT, unit: STRING>, SPAN for short. Spans of two units are never
compared: that is an error, not a false. Not here: lines and columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.functions.builtins import F
from headwater.functions.definition import ColumnOrName, Value, define, given
from headwater.functions.guards import TEXTS, WHOLE_NUMBERS, as_text, unless_one_of, unless_text
from headwater.functions.ids import hash_of_texts, written

if TYPE_CHECKING:
    from pyspark.sql import Column

_TAGS = ("span", "position_encoding")
_UNITS = ("byte", "char", "utf16")
_SPANS = tuple(f"struct<bstart:bigint,bend:bigint,unit:{text}>" for text in TEXTS)


def _span(value: object) -> Column:
    """A span as it is; a bare NULL becomes one that is missing."""
    return F.coalesce(given(value), F.lit(None).cast(_SPANS[0]))


def _unless_span(value: object, wanted: str) -> Column:
    return unless_one_of(_SPANS, given(value), f"{wanted} is a SPAN")


def _unless_whole(bound: Column, wanted: str) -> Column:
    return unless_one_of(WHOLE_NUMBERS, bound, f"{wanted}: the bounds of a span are whole numbers")


def _comparable(one: Column, two: Column, answer: Column) -> Column:
    wrong = F.raise_error(
        F.concat(F.lit("spans in "), one["unit"], F.lit(" and in "), two["unit"], F.lit(" are not compared"))
    )
    missing = one.isNull() | two.isNull()
    return F.when(missing, F.lit(None)).when(one["unit"] == two["unit"], answer).otherwise(wrong)


@define(
    "span_make(bstart BIGINT, bend BIGINT [, unit STRING]) -> SPAN",
    tags=_TAGS,
    examples=(
        ("SELECT span_make(3, 8)", "{3, 8, byte}"),
        ("SELECT span_make(3, NULL) IS NULL", "true"),
    ),
)
def span_make(bstart: ColumnOrName, bend: ColumnOrName, unit: Value = "byte") -> Column:
    """The span from `bstart` up to `bend`, in bytes, or in `char` or `utf16` units; null if one is missing.

    SPAN is short for STRUCT<bstart: BIGINT, bend: BIGINT, unit: STRING>.
    Bounds are whole numbers, not negative and not the wrong way round: anything else is an error.
    """
    start, end, measure = given(bstart), given(bend), as_text(given(unit))
    made = F.named_struct(
        F.lit("bstart"), start.cast("bigint"), F.lit("bend"), end.cast("bigint"), F.lit("unit"), measure
    )
    shown = F.concat(
        F.lit("no span from "),
        start.cast("string"),
        F.lit(" to "),
        end.cast("string"),
        F.lit(" in "),
        measure,
    )
    return F.coalesce(
        _unless_whole(start, "span_make: bstart"),
        _unless_whole(end, "span_make: bend"),
        unless_text(given(unit), "span_make: unit"),
        F.when(start.isNull() | end.isNull() | measure.isNull(), F.lit(None))
        .when((start >= 0) & (end >= start) & measure.isin(*_UNITS), made)
        .otherwise(F.raise_error(shown)),
    )


@define(
    "span_len(span SPAN) -> BIGINT",
    tags=_TAGS,
    examples=(("SELECT span_len(span_make(3, 8))", "5"),),
)
def span_len(span: ColumnOrName) -> Column:
    """How many units a span covers."""
    column = _span(span)
    return F.coalesce(_unless_span(span, "span_len: span"), column["bend"] - column["bstart"])


@define(
    "span_overlaps(one SPAN, two SPAN) -> BOOLEAN",
    tags=_TAGS,
    examples=(
        ("SELECT span_overlaps(span_make(3, 8), span_make(7, 9))", "true"),
        ("SELECT span_overlaps(span_make(3, 8), span_make(8, 9))", "false"),
    ),
)
def span_overlaps(one: ColumnOrName, two: ColumnOrName) -> Column:
    """Whether two spans have a unit in common; an empty span has none. Null if either is missing."""
    left, right = _span(one), _span(two)
    filled = (left["bstart"] < left["bend"]) & (right["bstart"] < right["bend"])
    crossing = (left["bstart"] < right["bend"]) & (right["bstart"] < left["bend"])
    return F.coalesce(
        _unless_span(one, "span_overlaps: one"),
        _unless_span(two, "span_overlaps: two"),
        _comparable(left, right, filled & crossing),
    )


@define(
    "span_contains(outer SPAN, inner SPAN) -> BOOLEAN",
    tags=_TAGS,
    examples=(
        ("SELECT span_contains(span_make(3, 8), span_make(4, 8))", "true"),
        ("SELECT span_contains(span_make(4, 8), span_make(3, 8))", "false"),
    ),
)
def span_contains(outer: ColumnOrName, inner: ColumnOrName) -> Column:
    """Whether the inner span begins and ends within the outer one. Null if either is missing."""
    wide, narrow = _span(outer), _span(inner)
    within = (wide["bstart"] <= narrow["bstart"]) & (narrow["bend"] <= wide["bend"])
    return F.coalesce(
        _unless_span(outer, "span_contains: outer"),
        _unless_span(inner, "span_contains: inner"),
        _comparable(wide, narrow, within),
    )


@define(
    "span_id(repo_id STRING, path STRING, span SPAN) -> STRING",
    tags=_TAGS,
    examples=(
        ("SELECT span_id('repo:1', 'app.py', span_make(3, 8))", "span:eb34339f0bd689a2899d12dadc104f6b"),
    ),
    semantic_type="SpanId",
)
def span_id(repo_id: ColumnOrName, path: ColumnOrName, span: ColumnOrName) -> Column:
    """The id of a place: `stable_id_parts('span', repo_id, path, bstart, bend)`; null if there is no span.

    The unit is no part of it, so the span must be in bytes: another unit is an error.
    """
    place = _span(span)
    texts = [written(as_text(given(each)), F.lit("s")) for each in (repo_id, path)]
    bounds = [written(place[each], F.lit("i")) for each in ("bstart", "bend")]
    hashed = F.when(given(repo_id).isNotNull(), hash_of_texts([*texts, *bounds], 32))
    unit = F.coalesce(place["unit"], F.lit("no unit"))
    wrong = F.raise_error(F.concat(F.lit("span_id: a span with an id is in bytes, not in "), unit))
    identity = F.when(unit == "byte", F.concat(F.lit("span:"), hashed)).otherwise(wrong)
    return F.coalesce(
        unless_text(given(repo_id), "span_id: repo_id"),
        unless_text(given(path), "span_id: path"),
        _unless_span(span, "span_id: span"),
        F.when(place.isNotNull(), identity),
    )
