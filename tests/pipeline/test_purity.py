"""A function in Python is let into a view on somebody's word, or by what the project says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.errors import FunctionUndeclared
from headwater.origin import Origin
from headwater.pipeline.purity import is_pure

if TYPE_CHECKING:
    from headwater.run import ProjectPlan

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

def calls(x):
    return declared(x)

@headwater.pure
@F.udf("string")
def above(x):
    return x

@F.udf("string")
@headwater.pure
def below(x):
    return x

same = headwater.pure(lambda x: x)
same.__name__ = "plain"

@headwater.view
def by_name(words):
    return words.select(F.udf(declared, "string")("word").alias("word"))

@headwater.view
def by_promise_above(words):
    return words.select(above("word").alias("word"))

@headwater.view
def by_promise_below(words):
    return words.select(below("word").alias("word"))

@headwater.view
def of_pandas(words):
    return words.select(F.pandas_udf(declared, "string")("word").alias("word"))

@headwater.view
def not_at_all(words):
    return words.select(F.udf(plain, "string")("word").alias("word"))

@headwater.view
def only_inside(words):
    return words.select(F.udf(calls, "string")("word").alias("word"))

@headwater.view
def one_of_two_names(words):
    return words.select(F.udf(same, "string")(F.udf(plain, "string")("word")).alias("word"))
"""
UNDECLARED = ["not_at_all", "one_of_two_names", "only_inside"]
pytestmark = pytest.mark.usefixtures("runtime")


def test_a_promise_is_seen_and_changes_nothing_else() -> None:
    def one(x: int) -> int:
        return x

    assert not is_pure(one)
    assert headwater.pure(one) is one
    assert is_pure(one)
    assert one(3) == 3
    assert is_pure(headwater.pure(partial(one)))
    assert not is_pure(len)
    with pytest.raises(TypeError):  # there is nowhere to note the promise
        headwater.pure(len)


@pytest.fixture
def folder(project_folder: MakeProject) -> Path:
    return project_folder(all_py=VIEWS)


def planned(folder: Path, toml: str) -> ProjectPlan:
    (folder / "headwater.toml").write_text(toml)
    return headwater.open(folder, settings={"master": "local[2]", "driver_memory": "2g"}).plan(scans=False)


def findings(plan: ProjectPlan) -> list[tuple[str, str, str]]:
    return sorted((view.name, each.code, each.severity) for view in plan.views for each in view.findings)


def test_a_declared_function_is_accepted_and_any_other_is_found(folder: Path) -> None:
    found = findings(planned(folder, '[determinism]\npython-function = "warn"\n'))
    assert found == [(name, "HW-DET-012", "warn") for name in UNDECLARED]


def test_an_undeclared_function_is_refused_with_its_place_and_what_to_do(folder: Path) -> None:
    with pytest.raises(FunctionUndeclared) as caught:
        planned(folder, "")
    assert (caught.value.code, caught.value.view) == ("HW-DET-012", "not_at_all")
    assert "calls plain, which nothing declares to be pure" in caught.value.message
    assert "declare with @headwater.pure that the function" in caught.value.next_step
    line = VIEWS[: VIEWS.index("def not_at_all")].count("\n")
    assert caught.value.origin is not None
    assert caught.value.origin in {Origin(str(folder / "views" / "all.py"), line + more) for more in (0, 1)}


def test_what_a_project_says_of_a_view_goes_before_what_it_says_of_all(folder: Path) -> None:
    said = '[determinism]\npython-function = "warn"\n\n[determinism.Only_Inside]\npython-function = "allow"\n'
    assert {name: severity for name, _, severity in findings(planned(folder, said))} == {
        "not_at_all": "warn",
        "one_of_two_names": "warn",
        "only_inside": "allow",
    }
    with pytest.raises(FunctionUndeclared) as caught:
        planned(folder, said.replace('"allow"', '"refuse"'))
    assert caught.value.view == "only_inside"
