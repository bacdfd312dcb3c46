"""The content of a table as one short text: equal for equal rows, in whatever order, files and layout.

Every row is hashed twice to 64 bits over its columns in the order of their names: for each column that is
not null a number that stands for its name and type, then its value. The digest of rows is their count and
the two sums, modulo 2**64; so digests add up: a table's is what it was, less what was removed, plus what
was added. A column of nulls says nothing, so a column that is added later changes nothing in rows without it.
Lists of texts, whole numbers and structs of such are hashed as JSON: looking at element after element takes
several times as long. A column that is marked as approximate is left out: its last digits depend on how the
rows were laid out.
Not here: whether a table's rows can be read; and where its digests are kept.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    ByteType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    VariantType,
)

from headwater.delta.columns import quoted, sql_column
from headwater.delta.observing import Observed
from headwater.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pyspark.sql import Column, DataFrame

    from headwater.runtime import RunSession

# In a column's metadata: its values are close to what another run would make, not equal to it.
APPROXIMATE_KEY = "headwater.approximate"
_TEXT = re.compile(r"hw2:([0-9]+):([0-9a-f]{32})")
_MODULUS = 1 << 64
_LANES = (1, 2)
_HALF = (1 << 32) - 1
# Names say what is missing, so nulls can be left out.
_AS_JSON = "map('ignoreNullFields', 'true')"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentDigest:
    """How many rows, and two sums of their hashes.

    >>> one = ContentDigest(rows=1, first=5, second=2**64 - 1)
    >>> (one + one - one) == one
    True
    >>> one.text
    'hw2:1:0000000000000005ffffffffffffffff'
    """

    rows: int
    first: int
    second: int

    def __add__(self, other: ContentDigest) -> ContentDigest:
        return _reduced(self.rows + other.rows, self.first + other.first, self.second + other.second)

    def __sub__(self, other: ContentDigest) -> ContentDigest:
        return _reduced(self.rows - other.rows, self.first - other.first, self.second - other.second)

    @property
    def text(self) -> str:
        """The digest as it is shown and recorded."""
        return f"hw2:{self.rows}:{self.first:016x}{self.second:016x}"


NO_ROWS = ContentDigest(rows=0, first=0, second=0)


def content_of_text(text: str) -> ContentDigest | None:
    """The digest that was written as `text`; None if it is none, or one of another kind."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    return ContentDigest(rows=int(found[1]), first=int(found[2][:16], 16), second=int(found[2][16:], 16))


def marked_approximate(session: RunSession, rows: DataFrame, columns: Collection[str]) -> DataFrame:
    """The same rows, with a mark on columns whose last digits another run may change, and on no others."""
    listed: list[Any] = []
    is_marked = True
    for field in rows.schema.fields:
        said = {key: value for key, value in field.metadata.items() if key != APPROXIMATE_KEY}
        wanted = {**said, APPROXIMATE_KEY: True} if field.name in columns else said
        is_marked = is_marked and wanted == field.metadata
        column: Any = sql_column(session, quoted(field.name))
        listed.append(
            column if wanted == field.metadata else _with_metadata(session, column, field.name, wanted)
        )
    return rows if is_marked else rows.select(*listed)


def _with_metadata(session: RunSession, column: Any, name: str, metadata: dict[str, Any]) -> Column:
    """A column with just this metadata; given an empty mapping, Python's own alias leaves what is there."""
    said = session.jvm.org.apache.spark.sql.types.Metadata.fromJson(json.dumps(metadata))
    return type(column)(getattr(column._jc, "as")(name, said))


def hash_rows(rows: DataFrame, *more: str) -> DataFrame:
    """Each row's hashes as `first` and `second`, and further expressions in SQL over its columns."""
    hashes = row_hashes(rows.schema, free_prefix(rows.columns))
    inside = rows.selectExpr("*", *hashes.inside)
    return inside.selectExpr(f"{hashes.first} AS first", f"{hashes.second} AS second", *more)


def digest_rows(rows: DataFrame) -> ContentDigest:
    """The digest of rows, by a pass over all of them."""
    return sum_hashes(hash_rows(rows))[0]


def sum_hashes(hashed: DataFrame, *more: str) -> tuple[ContentDigest, list[Any]]:
    """The digest of rows that `hash_rows` gave, and further aggregates in SQL over its columns."""
    halves = [f"sum(CAST({part} AS DECIMAL(20, 0)))" for part in _parts("first", "second")]
    found = hashed.selectExpr("count(1)", *halves, *more).collect()[0]
    sums = found[1 : 1 + len(halves)]
    return _of_halves(int(found[0]), [int(each or 0) for each in sums]), list(found[1 + len(halves) :])


class ObservedContent:
    """Rows whose digest comes out of the job that writes them: `rows` must be what is written.

    `guard` is a further condition in SQL: the job fails at the first row that does not make it true.
    """

    def __init__(self, session: RunSession, rows: DataFrame, guard: str | None = None) -> None:
        names = [quoted(each) for each in rows.columns]
        prefix = free_prefix(rows.columns)
        guarded, first, second, *halves = (f"{prefix}{index}" for index in range(3 + 4))
        found = row_hashes(rows.schema, prefix)
        inside = rows.selectExpr(*names, *found.inside)
        hashes = [f"{found.first} AS {first}", f"{found.second} AS {second}"]
        guards = [f"{_guarded(guard)} AS {guarded}"] if guard else []
        hashed = inside.selectExpr(*names, *hashes, *guards)
        parts = [f"{part} AS {name}" for part, name in zip(_parts(first, second), halves, strict=True)]
        split = hashed.selectExpr(*names, *parts, *([guarded] if guard else []))
        # Two billion rows and more do not fit these sums: then the rows have to be read again.
        sums = [f"try_sum({name})" for name in halves]
        asked = ("count(1)", *sums, *([f"max({guarded})"] if guard else []))
        self._observed = Observed(session, split, "content", asked)
        self.rows = self._observed.rows.selectExpr(*names)

    def found(self) -> ContentDigest | None:
        """The digest, once the job is over; None if it did not come to its end, or had too many rows."""
        count, *numbers = self._observed.found() or (None,)
        halves = [each or 0 for each in numbers[:4] if each is not None or not count]
        return _of_halves(count, halves) if count is not None and len(halves) == 4 else None  # noqa: PLR2004


def _guarded(condition: str) -> str:
    return f"CASE WHEN {condition} THEN 1L ELSE raise_error('a constraint does not hold') END"


def free_prefix(columns: Iterable[str]) -> str:
    """The beginning of names that no column has, without regard to case."""
    prefix, names = "_hw", [each.lower() for each in columns]
    while any(each.startswith(prefix) for each in names):
        prefix += "_"
    return prefix


def _parts(first: str, second: str) -> tuple[str, ...]:
    """Each hash in two halves, so that sums of billions fit."""
    return tuple(
        part
        for lane in (first, second)
        for part in (f"({lane} & {_HALF}L)", f"shiftrightunsigned({lane}, 32)")
    )


def _of_halves(rows: int, halves: list[int]) -> ContentDigest:
    return _reduced(rows, halves[0] + (halves[1] << 32), halves[2] + (halves[3] << 32))


def _reduced(rows: int, first: int, second: int) -> ContentDigest:
    return ContentDigest(rows=rows, first=first % _MODULUS, second=second % _MODULUS)


# --- the hash of a row ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RowHashes:
    """A row's two hashes in SQL, and named expressions below them: lists and maps, looked into only once."""

    first: str
    second: str
    inside: tuple[str, ...]


def row_hashes(schema: StructType, prefix: str) -> RowHashes:
    """How a row is hashed. Spark's own hash passes over nulls: what is null is seen by what is missing."""
    inside: list[str] = []
    exact = StructType([field for field in schema.fields if not field.metadata.get(APPROXIMATE_KEY)])
    parts = _fields(exact, "", "", prefix, inside)
    first, second = (_hash(lane, parts) for lane in _LANES)
    return RowHashes(first=first, second=second, inside=tuple(inside))


def _hash(lane: int, parts: list[str]) -> str:
    return f"xxhash64({', '.join([str(lane), *parts])})"


def _fields(
    kind: StructType, value: str, path: str, prefix: str, inside: list[str] | None, depth: int = 0
) -> list[str]:
    front = f"{value}." if value else ""
    return [
        part
        for field in sorted(kind.fields, key=lambda each: each.name)
        for part in _value(
            f"{front}{quoted(field.name)}", field.dataType, f"{path}/{field.name}", prefix, inside, depth
        )
    ]


def _value(
    value: str, kind: DataType, path: str, prefix: str, inside: list[str] | None, depth: int
) -> list[str]:
    """What is hashed of one value: nothing if it is null, else a mark of its own and then the value.

    `inside` takes the expressions of lists and maps; None within one, where there is no row to name them in.
    """
    mark = int(digest_of([path, _tag(kind)])[:15], 16)
    marked = f"if({value} IS NULL, NULL, {mark}L)"
    if isinstance(kind, StructType):
        return [marked, *_fields(kind, value, path, prefix, inside, depth)]
    if not isinstance(kind, ArrayType | MapType):
        return [marked, *_plain(value, kind)]
    item = f"{prefix}_item{depth}"
    if isinstance(kind, ArrayType) and _is_told_by_json(kind):
        mark = int(digest_of([path, kind.simpleString()])[:15], 16)
        marked = f"if({value} IS NULL, NULL, {mark}L)"
        hashed = _hash(0, [f"to_json({value}, {_AS_JSON})"])
    elif isinstance(kind, ArrayType):
        parts = _value(item, kind.elementType, f"{path}[]", prefix, None, depth + 1)
        hashed = f"transform({value}, {item} -> {_hash(0, parts)})"
    else:
        parts = _value(f"{item}.key", kind.keyType, f"{path}{{}}", prefix, None, depth + 1)
        parts += _value(f"{item}.value", kind.valueType, f"{path}{{}}=", prefix, None, depth + 1)
        hashed = f"array_sort(transform(map_entries({value}), {item} -> {_hash(0, parts)}))"
    size = f"if({value} IS NULL, NULL, size({value}))"
    if inside is None:
        return [marked, size, hashed]
    name = f"{prefix}_in{len(inside)}"
    inside.append(f"{hashed} AS {name}")
    return [marked, size, name]


def _is_told_by_json(kind: DataType) -> bool:
    """Whether two values of a type are the same if, and only if, Spark writes them as the same JSON."""
    match kind:
        case ArrayType():
            return _is_told_by_json(kind.elementType)
        case StructType():
            return all(_is_told_by_json(field.dataType) for field in kind.fields)
        case StringType():
            return kind == StringType()
        case _:
            return isinstance(kind, ByteType | ShortType | IntegerType | LongType | BooleanType)


def _plain(value: str, kind: DataType) -> list[str]:
    match kind:
        case DoubleType() | FloatType():
            return [value, f"if({value} = 0, CAST({value} AS STRING), NULL)"]  # 0.0 and -0.0 hash alike
        case VariantType():
            return [f"schema_of_variant({value})", f"to_json({value})"]  # a variant itself cannot be hashed
        case StringType() if kind != StringType():
            return [f"CAST({value} AS BINARY)"]  # a collation hashes less
        case _:
            return [value]


def _tag(kind: DataType) -> str:
    match kind:
        case StructType():
            return "struct"
        case ArrayType():
            return "array"
        case MapType():
            return "map"
        case _:
            return kind.simpleString()
