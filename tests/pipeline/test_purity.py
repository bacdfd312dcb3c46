"""A function in Python is let into a view on somebody's word, or by what the project says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import functions as F

import headwater
from headwater.errors import FunctionUndeclared
from headwater.pipeline import pure
from headwater.pipeline.purity import is_pure

MakeProject = Callable[..., Path]
VIEWS = """
import headwater
from functools import partial
from pyspark.sql import functions as F

headwater.source("words", rows=[("a",)], schema="word STRING")

def plain(x):
    return x

@headwater.pure
def declared(x):
    return x

{more}

@headwater.view
def marked(words):
    return words.select({used}("word").alias("word"))
"""
ABOVE = """
@headwater.pure
@F.udf("string")
def given(x):
    return x
"""
BELOW = """
@F.udf("string")
@headwater.pure
def given(x):
    return x
"""
# What is used, what else is defined, and whether it is declared.
USES = {
    "a declared function": ('F.udf(declared, "string")', "", True),
    "a function that nobody declared": ('F.udf(plain, "string")', "", False),
    "a promise above udf": ("given", ABOVE, True),
    "a promise below udf": ("given", BELOW, True),
    "a declared part of a function": (
        "other",
        'other = F.udf(headwater.pure(partial(plain)), "string")',
        True,
    ),
    "a function that calls a declared one": (
        'F.udf(calls, "string")',
        "def calls(x):\n    return declared(x)",
        False,
    ),
    "two of one name, one of them declared": (
        'F.udf(plain, "string")(F.udf(again, "string")("word")) if True else F.upper',
        "again = headwater.pure(lambda x: x)\nagain.__name__ = 'plain'",
        False,
    ),
}


def planned(folder: Path, toml: str = "") -> headwater.ProjectPlan:
    (folder / "headwater.toml").write_text(toml)
    return headwater.open(folder, settings={"master": "local[2]", "driver_memory": "2g"}).plan(scans=False)


def test_a_promise_is_seen_and_changes_nothing_else() -> None:
    def one(x: int) -> int:
        return x

    assert not is_pure(one)
    assert pure(one) is one
    assert is_pure(one)
    assert one(3) == 3
    assert not is_pure(len)
    assert is_pure(pure(partial(one)))
