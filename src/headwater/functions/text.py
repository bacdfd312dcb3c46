"""Texts and names in one form, so that equal things are written alike.

Not here: identity of what a name means; these functions only shape texts.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import StringType

from headwater.functions.builtins import F, call_arrow
from headwater.functions.definition import ColumnOrName, Value, define, given
from headwater.functions.guards import as_text, unless_condition, unless_text

if TYPE_CHECKING:
    from pyspark.sql import Column

_TAGS = ("string_norm", "symbol")
_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
_FILLED = r"(?U)\S"
_LOCALS = r"\A(?:<locals>\.)+|(?:\.<locals>)+(?=\.|\z)"


def normalized(texts: pa.Array[Any], forms: pa.Array[Any], folds: pa.Array[Any]) -> pa.Array[Any]:
    """Each text in its Unicode form, folded or not: what runs in Python workers."""
    made: list[str | None] = []
    columns: list[list[Any]] = [texts.to_pylist(), forms.to_pylist(), folds.to_pylist()]
    for text, form, fold in zip(*columns, strict=True):
        if text is None or form is None or fold is None:
            made.append(None)
        elif fold:
            # Folding can undo the form, and the form can undo the folding; the Unicode standard's own remedy.
            once = unicodedata.normalize(form, text).casefold()
            made.append(unicodedata.normalize(form, once))
        else:
            made.append(unicodedata.normalize(form, text))
    return pa.array(made, pa.string())


@define(
    "utf8_normalize(text STRING [, form STRING [, casefold BOOLEAN]]) -> STRING",
    tags=_TAGS,
    examples=(
        ("SELECT utf8_normalize('ﬁve ①')", "five 1"),
        ("SELECT utf8_normalize('Straße', 'NFC', true)", "strasse"),
    ),
    worker=normalized,
)
def utf8_normalize(text: ColumnOrName, form: Value = "NFKC", casefold: Value = False) -> Column:
    """A text in a Unicode normal form (NFC, NFD, NFKC, NFKD), with case folded away if asked for.

    Null if anything is missing.
    Spark has no such function: Python workers run it, with the Unicode tables of their Python. The planner
    cannot look into it, so filter first.
    """
    shape = as_text(given(form))
    wrong = F.raise_error(F.concat(F.lit("no Unicode form is called "), shape))
    known = F.when(shape.isNull() | shape.isin(*_FORMS), shape).otherwise(wrong)
    # Guards stand before the worker's arguments: it has run before anything around it is asked.
    return call_arrow(
        normalized,
        StringType(),
        F.coalesce(unless_text(given(text), "utf8_normalize: text"), as_text(given(text))),
        F.coalesce(unless_text(given(form), "utf8_normalize: form"), known),
        F.coalesce(unless_condition(given(casefold), "utf8_normalize: casefold"), given(casefold)),
    )


@define(
    "utf8_null_if_blank(text STRING) -> STRING",
    tags=_TAGS,
    examples=(
        (r"SELECT utf8_null_if_blank(' \t\n') IS NULL", "true"),
        ("SELECT utf8_null_if_blank(' a ')", " a "),
    ),
)
def utf8_null_if_blank(text: ColumnOrName) -> Column:
    """The text as it is, or null if it is empty or white space only."""
    column = as_text(given(text))
    return F.coalesce(
        unless_text(given(text), "utf8_null_if_blank: text"), F.when(column.rlike(_FILLED), column)
    )


@define(
    "qname_normalize(name STRING [, module STRING [, lang STRING]]) -> STRING",
    tags=_TAGS,
    examples=(
        ("SELECT qname_normalize(' pkg . mod:Class.<locals>.f ')", "pkg.mod.Class.f"),
        ("SELECT qname_normalize('..util.f', 'pkg.sub.mod')", "pkg.util.f"),
        ("SELECT qname_normalize('f', 'pkg.mod')", "pkg.mod.f"),
    ),
)
def qname_normalize(name: ColumnOrName, module: ColumnOrName | None = None, lang: Value = "python") -> Column:
    """A dotted name in one form: `:` is a dot; white space at dots, `<locals>` and a last `__init__` go.

    With a module, which is brought into the same form, the name is put below it, unless it is there already;
    leading dots climb from the module as in an import; a blank module is none. Null for a name of which
    nothing is left, for one that climbs out of its module, below a module that has leading dots itself, and
    without a language. The only language is `python`.
    """
    text, tongue, within = as_text(given(name)), as_text(given(lang)), _dotted(as_text(given(module)))
    plain, place = _dotted(text), F.when(within != "", within)
    # A package's own file is a step to climb from, and no step in a name.
    steps, home = F.split(place, r"\."), _without_init(place)
    climbs = F.length(F.regexp_extract(plain, r"^(\.*)", 1))
    left = F.size(steps) - climbs
    below = F.array_join(F.slice(steps, F.lit(1), F.greatest(left, F.lit(0))), ".")
    rest = F.regexp_replace(plain, F.lit(r"^\.+"), F.lit(""))
    relative = F.when(left > 0, F.concat_ws(".", below, F.when(rest != "", rest)))
    inside = (plain == home) | F.startswith(plain, F.concat(home, F.lit(".")))
    absolute = F.when(home.isNull() | inside, plain).otherwise(F.concat(home, F.lit("."), plain))
    shaped = _without_init(F.when(climbs > 0, relative).otherwise(absolute))
    wrong = F.raise_error(F.concat(F.lit("names of this language are not known: "), tongue))
    known = F.when(tongue != "python", wrong).when(tongue.isNotNull(), F.lit(True))
    named = known & text.rlike(_FILLED) & shaped.rlike(r"\A[^.]")
    return F.coalesce(
        unless_text(given(name), "qname_normalize: name"),
        unless_text(given(module), "qname_normalize: module"),
        unless_text(given(lang), "qname_normalize: lang"),
        F.when(named, shaped),
    )


def _dotted(text: Column) -> Column:
    dotted = F.regexp_replace(text, F.lit(r"(?U)\s*[.:]\s*"), F.lit("."))
    trimmed = F.regexp_replace(dotted, F.lit(r"(?U)\A\s+|\s+\z"), F.lit(""))
    return F.regexp_replace(trimmed, F.lit(_LOCALS), F.lit(""))


def _without_init(name: Column) -> Column:
    return F.regexp_replace(name, F.lit(r"(?<=[^.])(?:\.__init__)+\z"), F.lit(""))
