"""Python functions inside views: their code is part of what a view is, and travels with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater

if TYPE_CHECKING:
    from headwater.run import RunOutcome
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
VIEWS = """import headwater
import pandas as pd
from pyspark.sql import functions as F
from words import shout

headwater.source("names", rows=[("ada",), ("bea",)], schema="name STRING")

@headwater.table
def loud(names):
    return names.select(F.udf(shout, "string")("name").alias("name"))

@headwater.table
def longer(names):
    @F.pandas_udf("bigint")
    @headwater.pure
    def length(values: pd.Series) -> pd.Series:
        return values.str.len()
    return names.select(length("name").alias("n"))
"""

WORDS = """import headwater

END = '!'

@headwater.pure
def shout(word):
    return word.upper() + END
"""


@pytest.fixture(scope="module")
def built(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after its first build; tests that change it take a copy."""
    assert runtime.profile.is_local
    folder = tmp_path_factory.mktemp("built") / "small"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    (folder / "views" / "v.py").write_text(VIEWS)
    (folder / "words.py").write_text(WORDS)
    build(folder)
    return folder


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "small")


def build(folder: Path) -> RunOutcome:
    outcome = headwater.open(folder, settings=SETTINGS).build()
    assert outcome.error is None, outcome.error
    return outcome


def values(runtime: SessionRuntime, folder: Path, table: str, column: str) -> list[object]:
    with runtime.checkout() as session:
        frame = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / table))
        return sorted(row[column] for row in frame.collect())


def test_functions_of_the_project_run_in_workers(built: Path, runtime: SessionRuntime) -> None:
    assert values(runtime, built, "loud", "name") == ["ADA!", "BEA!"]
    assert values(runtime, built, "longer", "n") == [3, 3]
    assert build(built).status == "unchanged"


@pytest.mark.parametrize(
    ("old", "new"), [("word.upper() + END", "word.upper() + END * 2"), ("END = '!'", "END = '!!'")]
)
def test_an_edited_helper_is_noticed(copy: Path, runtime: SessionRuntime, old: str, new: str) -> None:
    """Pickled by reference, the function would look the same; its code and what it names are what counts."""
    words = copy / "words.py"
    words.write_text(words.read_text().replace(old, new))
    outcome = build(copy)
    assert {table.name: table.action for table in outcome.tables} == {"loud": "built", "longer": "skipped"}
    assert values(runtime, copy, "loud", "name") == ["ADA!!", "BEA!!"]


def test_a_function_that_fails_at_work_names_its_line(copy: Path) -> None:
    words = copy / "words.py"
    words.write_text(WORDS.replace("+ END", "+ 3"))
    outcome = headwater.open(copy, settings=SETTINGS).build()
    assert outcome.error is not None
    assert outcome.error.origin is not None
    assert (Path(outcome.error.origin.path).name, outcome.error.origin.line) == ("words.py", 7)
    assert "TypeError" in outcome.error.message


MADE_AT_IMPORT = """import headwater
import pandas as pd
from pyspark.sql import Window
from pyspark.sql import functions as F
from views.w import END

headwater.source("names", rows=[("ada", 1), ("bea", -1)], schema="name STRING, n INT")
BIG = F.col("n") > 0
W = Window.partitionBy("name").orderBy("n")

@headwater.pure
@F.udf("string")
def shout(word):
    return word.upper() + END.text

@F.pandas_udf("bigint")
@headwater.pure
def length(values: pd.Series) -> pd.Series:
    return values.str.len()

@headwater.table
def loud(names):
    from late_words import ending
    numbered = names.where(BIG).withColumn("i", F.row_number().over(W))
    name = F.concat(shout("name"), F.udf(ending, "string")("name"))
    return numbered.select(name.alias("name"), length("name").alias("n"), "i")
"""
DATACLASS = """import dataclasses
import headwater

@dataclasses.dataclass
class End:
    text: str
    times: int = 1

END = End("!")
headwater.source("others", rows=[(1,)], schema="k INT")
"""


def test_functions_columns_and_windows_of_a_file_run(
    project_folder: MakeProject, runtime: SessionRuntime
) -> None:
    folder = project_folder(v_py=MADE_AT_IMPORT, w_py=DATACLASS)
    (folder / "late_words.py").write_text(
        "import headwater\n\n@headwater.pure\ndef ending(word):\n    return '?'\n"
    )
    build(folder)
    assert values(runtime, folder, "loud", "name") == ["ADA!?"]
    assert values(runtime, folder, "loud", "n") == [3]
    assert build(folder).status == "unchanged"
