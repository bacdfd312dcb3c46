from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import SparkRuntimeException
from pyspark.sql import functions as F

from headwater import functions as H
from headwater.functions.text import normalized

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from pyspark.sql import SparkSession

FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
# Unicode's White_Space property, all of it.
WHITE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
TEXTS = st.none() | st.text(max_size=12)
STEPS = st.sampled_from(["a", "b_1", "__init__", "<locals>", "Ünï", "", " ", "x y", "<lambda>"])
JOINTS = st.sampled_from([".", ":", " . ", ".\t", "\u00a0:"])
NAMES = st.lists(st.tuples(STEPS, JOINTS), max_size=5).map(
    lambda parts: "".join(text for pair in parts for text in pair)
)


def folded(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> str:
    return unicodedata.normalize(form, unicodedata.normalize(form, text).casefold())


@settings(max_examples=3)
@given(texts=st.lists(TEXTS, min_size=10, max_size=60))
def test_forms_and_folding_are_pythons_own(spark: SparkSession, texts: list[str | None]) -> None:
    frame = spark.createDataFrame([(text,) for text in texts], "t STRING")
    plain = [H.utf8_normalize("t", form) for form in FORMS]
    folding = [F.expr(f"utf8_normalize(t, '{form}', true)") for form in FORMS]
    got = frame.select(*plain, *folding, H.utf8_normalize("t")).collect()
    for text, row in zip(texts, got, strict=True):
        if text is None:
            assert set(row) == {None}
        else:
            plain_texts = [unicodedata.normalize(form, text) for form in FORMS]
            assert list(row) == [*plain_texts, *(folded(text, form) for form in FORMS), plain_texts[2]]


@given(st.text(), st.sampled_from(FORMS))
def test_a_text_without_case_stays_so(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> None:
    texts = pa.array([text, None, text], pa.string())
    once = normalized(texts, pa.array([form, form, None]), pa.array([True, True, True])).to_pylist()
    assert once == [folded(text, form), None, None]
    assert unicodedata.is_normalized(form, str(once[0]))


def test_the_form_and_the_folding_may_be_columns(spark: SparkSession) -> None:
    rows = [
        ("ﬁ", "NFKC", True),
        ("ﬁ", "NFC", False),
        ("É", "NFD", None),
        ("x", None, True),
        (None, "NFC", True),
    ]
    frame = spark.createDataFrame(rows, "t STRING, f STRING, c BOOLEAN")
    got = frame.selectExpr("utf8_normalize(t, f, c)").collect()
    assert [row[0] for row in got] == ["fi", "ﬁ", None, None, None]


def test_a_form_that_unicode_does_not_have_is_an_error(
    asked: Callable[..., tuple[Any, ...]], errors: Callable[..., list[str]]
) -> None:
    wrong = [f"utf8_normalize('a', '{form}')" for form in ("nfc", "NFX", "")]
    assert all("no Unicode form is called" in error for error in errors(*wrong))
    with pytest.raises(SparkRuntimeException, match="no Unicode form is called NFX"):
        asked(wrong[1])


def test_an_argument_of_another_type_is_an_error_before_a_worker_sees_it(
    asked: Callable[..., tuple[Any, ...]], errors: Callable[..., list[str]]
) -> None:
    wrong = {
        "utf8_normalize('A', 'NFC', 'false')": "utf8_normalize: casefold is a BOOLEAN, not string",
        "utf8_normalize('A', 5)": "utf8_normalize: form is a STRING, not int",
        "utf8_normalize(12)": "utf8_normalize: text is a STRING, not int",
    }
    assert all(said in error for said, error in zip(wrong.values(), errors(*wrong), strict=True))
    with pytest.raises(SparkRuntimeException, match="utf8_normalize: text is a STRING, not int"):
        asked("utf8_normalize(12)")


def test_two_calls_in_one_query_do_not_mix(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("\uff21", "\uff22")], "a STRING, b STRING")
    got = frame.selectExpr("utf8_normalize(a)", "utf8_normalize(b)", "utf8_normalize(utf8_normalize(b))")
    assert tuple(got.collect()[0]) == ("A", "B", "B")


@settings(max_examples=3)
@given(
    texts=st.lists(st.none() | st.text(alphabet=WHITE + "a\u200b\x1c", max_size=4), min_size=10, max_size=60)
)
def test_blank_is_empty_or_white_space_of_unicode_only(spark: SparkSession, texts: list[str | None]) -> None:
    texts = [*texts, *WHITE, "\u200b", "\x1c", "", " a "]
    frame = spark.createDataFrame([(text,) for text in texts], "t STRING")
    got = [row[0] for row in frame.select(H.utf8_null_if_blank("t")).collect()]
    assert got == [text if text is not None and set(text) - set(WHITE) else None for text in texts]


@pytest.fixture(scope="module")
def forms(spark: SparkSession) -> dict[tuple[str | None, str | None], str | None]:
    """What becomes of every name below, in one query."""
    frame = spark.createDataFrame([(name, module) for name, module, _ in QUALIFIED], "n STRING, m STRING")
    rows = frame.select("n", "m", H.qname_normalize("n", "m").alias("q")).collect()
    return {(row["n"], row["m"]): row["q"] for row in rows}


QUALIFIED: list[tuple[str | None, str | None, str | None]] = [
    ("f", None, "f"),
    ("pkg.mod:Class.method", None, "pkg.mod.Class.method"),
    (" pkg . mod : f ", None, "pkg.mod.f"),
    ("\tpkg.f\n", None, "pkg.f"),
    ("\u00a0f\u3000", None, "f"),
    ("f.<locals>.g", None, "f.g"),
    ("f.<locals>.<locals>.g", None, "f.g"),
    ("f.<locals>", None, "f"),
    ("f.<locals>.<locals>", None, "f"),
    ("<locals>.f", None, "f"),
    ("f.<lambda>", None, "f.<lambda>"),
    ("f.my<locals>.g", None, "f.my<locals>.g"),
    ("pkg.__init__", None, "pkg"),
    ("pkg.__init__.__init__", None, "pkg"),
    ("pkg.__init__.f", None, "pkg.__init__.f"),
    ("__init__", None, "__init__"),
    ("f", "pkg.mod", "pkg.mod.f"),
    ("f", "", "f"),
    ("f", " ", "f"),
    ("pkg.mod.f", "pkg.mod", "pkg.mod.f"),
    ("pkg.mod", "pkg.mod", "pkg.mod"),
    ("pkg.model", "pkg.mod", "pkg.mod.pkg.model"),
    ("__init__", "pkg", "pkg"),
    (".f", "pkg.mod", "pkg.f"),
    ("..util.f", "pkg.sub.mod", "pkg.util.f"),
    (".", "pkg.mod", "pkg"),
    ("..f", "pkg.mod", None),
    (".f", None, None),
    ("", None, None),
    ("<locals>.", None, None),
    (" \t", "pkg", None),
    (None, "pkg", None),
    (None, None, None),
    ("f", " pkg . mod ", "pkg.mod.f"),
    ("f", "pkg:mod", "pkg.mod.f"),
    ("pkg.mod.f", "pkg:mod", "pkg.mod.f"),
    ("pkg:mod:f", " pkg.mod\n", "pkg.mod.f"),
    ("g", "pkg.f.<locals>", "pkg.f.g"),
    ("f", "pkg.__init__", "pkg.f"),
    ("pkg.f", "pkg.__init__", "pkg.f"),
    (".f", "pkg.__init__", "pkg.f"),
    ("..f", " pkg : sub . mod", "pkg.f"),
    ("f", "<locals>.", "f"),
    ("f", ".mod", None),
]


@pytest.mark.parametrize(("name", "module", "result"), QUALIFIED)
def test_a_name_has_one_form(
    forms: dict[tuple[str | None, str | None], str | None],
    name: str | None,
    module: str | None,
    result: str | None,
) -> None:
    assert forms[name, module] == result


@settings(max_examples=3)
@given(names=st.lists(NAMES, min_size=20, max_size=120))
def test_a_name_in_its_form_stays_as_it_is(spark: SparkSession, names: list[str]) -> None:
    frame = spark.createDataFrame([(name,) for name in names], "n STRING")
    once = frame.selectExpr("n", "qname_normalize(n) AS once").selectExpr(
        "*", "qname_normalize(once) AS twice"
    )
    assert [tuple(row) for row in once.collect() if row["once"] != row["twice"]] == []


def test_names_of_another_language_are_an_error_and_of_none_are_null(
    asked: Callable[..., tuple[Any, ...]],
) -> None:
    assert tuple(asked("qname_normalize('a', NULL, 'python')", "qname_normalize('a', 'b', NULL)")) == (
        "a",
        None,
    )
    with pytest.raises(SparkRuntimeException, match="names of this language are not known: java"):
        asked("qname_normalize('a', NULL, 'java')")


def test_a_bare_null_is_a_missing_text(spark: SparkSession) -> None:
    calls = (
        "utf8_normalize(NULL)",
        "utf8_null_if_blank(NULL)",
        "qname_normalize(NULL)",
        "qname_normalize(NULL, NULL)",
    )
    frame = spark.sql(f"SELECT {', '.join(calls)}")
    assert [tuple(row) for row in frame.collect()] == [(None, None, None, None)]
    assert {kind for _, kind in frame.dtypes} == {"string"}
