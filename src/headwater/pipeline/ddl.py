"""Spark's schema strings as types, without a JVM: `parse_ddl` reads what Spark's own parser reads.

Not here: JSON schemas, and every other clause of CREATE TABLE (defaults, constraints, generated columns).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PLAIN: Mapping[str, Callable[[], DataType]] = {
    "bigint": LongType,
    "binary": BinaryType,
    "boolean": BooleanType,
    "byte": ByteType,
    "date": DateType,
    "double": DoubleType,
    "float": FloatType,
    "int": IntegerType,
    "integer": IntegerType,
    "long": LongType,
    "real": FloatType,
    "short": ShortType,
    "smallint": ShortType,
    "timestamp_ltz": TimestampType,
    "timestamp_ntz": TimestampNTZType,
    "tinyint": ByteType,
    "variant": VariantType,
    "void": NullType,
}
_DAY_TIME = ("day", "hour", "minute", "second")
_YEAR_MONTH = ("year", "month")
_MAX_PRECISION = 38
_MAX_TIME_PRECISION = 6

_TOKEN = re.compile(
    r"""
      (?P<space>   \s+ | --[^\r\n]* | /\*.*?\*/ )
    | (?P<raw>     [rR](?: '[^']*' | "[^"]*" ) )
    | (?P<text>    '(?: [^'\\] | \\. | '' )*' | "(?: [^"\\] | \\. | "" )*" )
    | (?P<quoted>  `(?: [^`] | `` )*` )
    | (?P<word>    [A-Za-z0-9_]+ )
    | (?P<mark>    [<>(),:] )
    """,
    re.VERBOSE | re.DOTALL,
)
# What the lexer takes for a number (with its suffix) cannot be a name, though `1a` and `0x` can.
_NUMBER = re.compile(r"\d+(?:e\d+)?(?:l|s|y|d|f|bd)?", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_COLLATION = re.compile(
    r"(?P<root>UTF8_BINARY|UTF8_LCASE|UNICODE"
    r"|(?P<language>[a-z]{2,3})(?:_(?P<script>[a-z]{4}))?(?:_(?!RTRIM\b)(?P<country>[a-z]{3}))?)"
    r"(?P<modifiers>(?:_(?:CI|CS|AI|AS|RTRIM))*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str

    @property
    def keyword(self) -> str:
        return self.text.lower() if self.kind == "word" else self.text if self.kind == "mark" else ""


@dataclass(frozen=True, slots=True)
class _Trouble(Exception):
    at: int
    detail: str


def parse_ddl(text: str) -> DataType:
    """The type that `text` spells: one type, or a struct for a list of columns.

    >>> parse_ddl("array<string>")
    ArrayType(StringType(), True)
    >>> parse_ddl("id BIGINT NOT NULL, name: STRING").simpleString()
    'struct<id:bigint,name:string>'

    Raises:
        InvalidDdl: Spark would refuse the string too.
    """
    try:
        tokens = _tokens_of(text)
        if not tokens:
            return StructType([])
        return _Parser(tokens).parse()
    except _Trouble as trouble:
        raise InvalidDdl(ddl=text, detail=trouble.detail) from None


def _tokens_of(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise _Trouble(len(tokens), f"unexpected {text[position]!r} at character {position}")
        if match.lastgroup != "space":
            tokens.append(_Token(match.lastgroup, match.group()))
        position = match.end()
    return tokens


def _string_of(token: _Token) -> str:
    if token.kind == "raw":
        return token.text[2:-1]
    quote = token.text[0]
    return _ESCAPE.sub(_unescaped, token.text[1:-1].replace(quote * 2, quote))


def _unescaped(match: re.Match[str]) -> str:
    four, eight, octal, other = match.groups()
    if four or eight:
        return chr(int(four or eight, 16))
    if octal:
        return chr(int(octal, 8))
    return _ESCAPED.get(other, other)


class _Parser:
    """Recursive descent over the tokens; `position` is the next token to read."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._position = 0

    def parse(self) -> DataType:
        # Spark tries a list of columns first: `interval interval` is a column, `interval day` is a type.
        try:
            columns = self._fields_until(None)
            self._check_end()
        except _Trouble as of_columns:
            self._position = 0
            try:
                single = self._type()
                self._check_end()
            except _Trouble as of_type:
                raise max(of_columns, of_type, key=lambda trouble: trouble.at) from None
            return single
        return StructType(columns)

    # --- reading tokens ---

    def _peek(self) -> str:
        return self._tokens[self._position].keyword if self._position < len(self._tokens) else ""

    def _trouble(self, expected: str) -> _Trouble:
        if self._position >= len(self._tokens):
            return _Trouble(self._position, f"{expected} is missing at the end")
        return _Trouble(
            self._position, f"expected {expected} instead of {self._tokens[self._position].text!r}"
        )

    def _check_end(self) -> None:
        if self._position < len(self._tokens):
            raise self._trouble("the end")

    def _accept(self, *keywords: str) -> bool:
        found = [token.keyword for token in self._tokens[self._position : self._position + len(keywords)]]
        if found != list(keywords):
            return False
        self._position += len(keywords)
        return True

    def _expect(self, keyword: str) -> None:
        if not self._accept(keyword):
            raise self._trouble(repr(keyword))

    def _number(self, expected: str) -> int:
        if not self._peek().isdecimal():
            raise self._trouble(expected)
        self._position += 1
        return int(self._tokens[self._position - 1].text)

    def _name(self) -> str:
        if self._position >= len(self._tokens):
            raise self._trouble("a column name")
        token = self._tokens[self._position]
        if token.kind == "quoted":
            self._position += 1
            return token.text[1:-1].replace("``", "`")
        if token.kind != "word" or _NUMBER.fullmatch(token.text):
            raise self._trouble("a column name")
        self._position += 1
        return token.text

    # --- columns ---

    def _fields_until(self, closing: str | None) -> list[StructField]:
        fields: list[StructField] = []
        if closing is not None and self._accept(closing):
            return fields
        fields.append(self._field())
        while self._accept(","):
            fields.append(self._field())
        if closing is not None:
            self._expect(closing)
        return fields

    def _field(self) -> StructField:
        name = self._name()
        self._accept(":")
        kind = self._type()
        nullable = not self._accept("not", "null")
        metadata = {"comment": self._comment()} if self._accept("comment") else None
        return StructField(name, kind, nullable, metadata)

    def _comment(self) -> str:
        start = self._position
        while self._position < len(self._tokens) and self._tokens[self._position].kind in {"text", "raw"}:
            self._position += 1
        if start == self._position:
            raise self._trouble("a quoted comment")
        return "".join(_string_of(token) for token in self._tokens[start : self._position])

    # --- types ---

    def _type(self) -> DataType:
        name = self._peek()
        parse = _SHAPED.get(name)
        if name in _PLAIN:
            self._position += 1
            return _PLAIN[name]()
        if parse is None:
            raise self._trouble("a type")
        self._position += 1
        try:
            return parse(self)
        except PySparkException as refusal:
            raise _Trouble(self._position, str(refusal)) from None

    def _array(self) -> DataType:
        self._expect("<")
        element = self._type()
        self._expect(">")
        return ArrayType(element)

    def _map(self) -> DataType:
        self._expect("<")
        key = self._type()
        self._expect(",")
        value = self._type()
        self._expect(">")
        return MapType(key, value)

    def _struct(self) -> DataType:
        self._expect("<")
        return StructType(self._fields_until(">"))

    def _string(self) -> DataType:
        if not self._accept("collate"):
            return StringType()
        written = self._name()
        match = _COLLATION.fullmatch(written)
        if match is None:
            raise _Trouble(self._position, f"there is no collation {written!r}")
        return StringType(_collation_of(match))

    def _char(self) -> DataType:
        return CharType(self._length())

    def _varchar(self) -> DataType:
        return VarcharType(self._length())

    def _length(self) -> int:
        self._expect("(")
        length = self._number("a length")
        self._expect(")")
        return length

    def _decimal(self) -> DataType:
        if not self._accept("("):
            return DecimalType()
        precision, scale = self._number("a precision"), 0
        if self._accept(","):
            scale = self._number("a scale")
        self._expect(")")
        if not 0 <= scale <= precision <= _MAX_PRECISION:
            raise _Trouble(self._position, f"decimal({precision},{scale}) is out of range")
        return DecimalType(precision, scale)

    def _time(self) -> DataType:
        precision = _MAX_TIME_PRECISION
        if self._accept("("):
            precision = self._number("a precision")
            self._expect(")")
        self._accept("without", "time", "zone")
        if precision > _MAX_TIME_PRECISION:
            raise _Trouble(self._position, f"time({precision}) is out of range")
        return TimeType(precision)

    def _timestamp(self) -> DataType:
        if self._accept("without", "time", "zone"):
            return TimestampNTZType()
        self._accept("with", "local", "time", "zone")
        return TimestampType()

    def _geometry(self) -> DataType:
        return GeometryType(self._srid())

    def _geography(self) -> DataType:
        return GeographyType(self._srid())

    def _srid(self) -> int | str:
        self._expect("(")
        srid: int | str = "ANY" if self._accept("any") else self._number("a spatial reference id or ANY")
        self._expect(")")
        return srid

    def _interval(self) -> DataType:
        for units, make in ((_YEAR_MONTH, YearMonthIntervalType), (_DAY_TIME, DayTimeIntervalType)):
            if self._peek() in units:
                start = units.index(self._peek())
                self._position += 1
                end = start
                if self._accept("to"):
                    if self._peek() not in units[start + 1 :]:
                        raise self._trouble(f"a unit smaller than {units[start]}")
                    end = units.index(self._peek())
                    self._position += 1
                return make(start, end)
        return CalendarIntervalType()

    shaped = {  # noqa: RUF012 - read once, below
        "array": _array,
        "char": _char,
        "character": _char,
        "dec": _decimal,
        "decimal": _decimal,
        "geography": _geography,
        "geometry": _geometry,
        "interval": _interval,
        "map": _map,
        "numeric": _decimal,
        "string": _string,
        "struct": _struct,
        "time": _time,
        "timestamp": _timestamp,
        "varchar": _varchar,
    }


_SHAPED: Mapping[str, Callable[[_Parser], DataType]] = _Parser.shaped


def _collation_of(match: re.Match[str]) -> str:
    language, script, country = match["language"], match["script"], match["country"]
    if language is None:
        root = match["root"].upper()
    else:
        parts = (language.lower(), script and script.title(), country and country.upper())
        root = "_".join(part for part in parts if part)
    return root + match["modifiers"].upper()
