"""Ids and hashes of parts: one way of writing parts down, so that no two different lists share a text.

Each part is written with a letter for its kind and its length in characters: `s3:abc`, `i2:42`, `b4:true`,
`d10:2024-02-29`; a missing part is `~`. Nothing stands between parts, since none can run into its neighbour.
`headwater.digest.stable_id` writes the same text in plain Python. Not here: spans, which have an id of their
own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.functions.builtins import F
from headwater.functions.definition import ColumnOrName, Value, all_given, define, given
from headwater.functions.guards import TEXTS, WHOLE_NUMBERS, as_text, unless_text

if TYPE_CHECKING:
    from pyspark.sql import Column

# `void` is the type of a bare NULL.
_PARTS = (*TEXTS, *WHOLE_NUMBERS, "boolean", "date", "void")
# Inside of other types, too; a field may be called like one of them.
_WITHOUT_A_HASH = r"(?:\A|[<:,])(?:map<|variant(?:\z|[>,]))"
_TAGS = ("id", "hash")


def hash_of_parts(parts: tuple[Column, ...], digits: int) -> Column:
    """So many hex digits of the sha256 of the parts' text; null if the first part is.

    A type that cannot be a part is an error wherever it stands, in rows without a value too.
    """
    wrong = F.lit(None).cast("string")
    for part in reversed(parts):
        kind = F.typeof(part)
        complaint = F.concat(
            F.lit("a part of an id has the type "),
            kind,
            F.lit("; parts are STRING, whole numbers, BOOLEAN or DATE: cast it to one of them"),
        )
        wrong = F.when(kind.isin(*_PARTS), wrong).otherwise(F.raise_error(complaint))
    texts = [written(part, _letter(part)) for part in parts]
    return F.coalesce(wrong, F.when(parts[0].isNotNull(), hash_of_texts(texts, digits)))


def hash_of_texts(texts: list[Column], digits: int) -> Column:
    """So many hex digits of the sha256 of written parts."""
    return F.substr(F.sha2(F.concat(*texts), 256), F.lit(1), F.lit(digits))


def written(part: Column, letter: Column) -> Column:
    """A part as it is hashed: the letter of its kind, its length and its text."""
    text = part.cast("string")
    length = F.length(text).cast("string")
    return F.when(part.isNull(), "~").otherwise(F.concat(letter, length, F.lit(":"), text))


def _letter(part: Column) -> Column:
    """The first of its type's name, and i for all whole numbers."""
    kind = F.regexp_replace(F.typeof(part), F.lit("^(tiny|small|big)int$"), F.lit("int"))
    return F.substr(kind, F.lit(1), F.lit(1))


def _prefixed(prefix: Column, hashed: Column) -> Column:
    fits = as_text(prefix).rlike(r"\A[a-z][a-z0-9_]*\z")
    wrong = F.raise_error(F.lit("the prefix of an id is a word of small letters, digits and underscores"))
    return F.when(fits, F.concat(as_text(prefix), F.lit(":"), hashed)).otherwise(wrong)


@define(
    "stable_id_parts(prefix STRING, part ANY, ...) -> STRING",
    tags=_TAGS,
    examples=(
        ("SELECT stable_id_parts('node', 'a', 1, NULL, true)", "node:9a4361bae37750643ecdb46ce3c99818"),
        ("SELECT stable_id_parts('node', 'a', 'bc') = stable_id_parts('node', 'ab', 'c')", "false"),
    ),
)
def stable_id_parts(prefix: Value, part: ColumnOrName, *parts: ColumnOrName) -> Column:
    """An id: the prefix, a colon and 128 bits of the sha256 of the parts, in hex.

    Parts are texts, whole numbers of any width, truth values or dates; any other type is an error. A missing
    part counts as such; if the first one is missing there is no id. The prefix is a word of small letters,
    digits and underscores.
    """
    made = _prefixed(given(prefix), hash_of_parts((given(part), *all_given(parts)), 32))
    return F.coalesce(unless_text(given(prefix), "stable_id_parts: prefix"), made)


@define(
    "prefixed_hash_parts64(prefix STRING, part ANY, ...) -> STRING",
    tags=_TAGS,
    examples=(("SELECT prefixed_hash_parts64('file', 'a', 1)", "file:919759daf83ac5e8"),),
)
def prefixed_hash_parts64(prefix: Value, part: ColumnOrName, *parts: ColumnOrName) -> Column:
    """Like `stable_id_parts` with 64 bits: short, for buckets and joins; not for identity."""
    made = _prefixed(given(prefix), hash_of_parts((given(part), *all_given(parts)), 16))
    return F.coalesce(unless_text(given(prefix), "prefixed_hash_parts64: prefix"), made)


@define(
    "node_id(part ANY, ...) -> STRING",
    tags=_TAGS,
    examples=(("SELECT node_id('a', 1, NULL, true)", "node:9a4361bae37750643ecdb46ce3c99818"),),
    semantic_type="NodeId",
)
def node_id(part: ColumnOrName, *parts: ColumnOrName) -> Column:
    """`stable_id_parts` with the prefix `node`, and the semantic type NodeId."""
    return _prefixed(F.lit("node"), hash_of_parts((given(part), *all_given(parts)), 32))


@define(
    "edge_id(part ANY, ...) -> STRING",
    tags=_TAGS,
    examples=(("SELECT edge_id('AST', 'node:1', 'node:2')", "edge:4d193a9a0ed60d72f2a5313e8238ef5b"),),
    semantic_type="EdgeId",
)
def edge_id(part: ColumnOrName, *parts: ColumnOrName) -> Column:
    """`stable_id_parts` with the prefix `edge`, and the semantic type EdgeId."""
    return _prefixed(F.lit("edge"), hash_of_parts((given(part), *all_given(parts)), 32))


@define(
    "file_id(part ANY, ...) -> STRING",
    tags=_TAGS,
    examples=(("SELECT file_id('repo', 'src/app.py')", "file:4f408113dcaac4e8a7248785af60f6a6"),),
    semantic_type="FileId",
)
def file_id(part: ColumnOrName, *parts: ColumnOrName) -> Column:
    """`stable_id_parts` with the prefix `file`, and the semantic type FileId."""
    return _prefixed(F.lit("file"), hash_of_parts((given(part), *all_given(parts)), 32))


@define(
    "stable_hash_any(value ANY) -> STRING",
    tags=_TAGS,
    examples=(
        ("SELECT stable_hash_any(array(1, NULL))", "172764f3cd971898ee8a167a61caf124"),
        ("SELECT stable_hash_any(1) = stable_hash_any(CAST(1 AS BIGINT))", "true"),
        ("SELECT stable_hash_any('1') = stable_hash_any(1)", "false"),
    ),
)
def stable_hash_any(value: ColumnOrName) -> Column:
    """128 bits, in hex, of the sha256 of a value of any type: its type, then its JSON.

    Whole numbers are alike whatever their width. A missing value has a hash of its own. Zero and minus zero
    are two values, and so are two texts that a collation takes for equal. Maps have no order, so a type with
    a map in it is an error: hash the list `map_entries(map_normalize(m))`. VARIANT writes equal values in
    more than one way, so a type with one in it is an error, too: cast it first.
    """
    column = given(value)
    plain = F.replace(F.typeof(column), F.lit(" collate UTF8_BINARY"), F.lit(""))
    kind = F.regexp_replace(plain, F.lit(r"\b(tinyint|smallint|int)\b"), F.lit("bigint"))
    options = {
        "ignoreNullFields": "false",
        "timeZone": "UTC",
        "timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS",
        "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS",
    }
    text = F.to_json(F.struct(column.alias("value")), options)
    complaint = (
        "stable_hash_any: a map has no order: hash map_entries(map_normalize(...)) of it instead of the map; "
        "and a variant has no one form: cast it; the type is "
    )
    wrong = F.raise_error(F.concat(F.lit(complaint), F.typeof(column)))
    hashed = F.substr(F.sha2(F.concat(kind, text), 256), F.lit(1), F.lit(32))
    return F.when(F.typeof(column).rlike(_WITHOUT_A_HASH), wrong).otherwise(hashed)
