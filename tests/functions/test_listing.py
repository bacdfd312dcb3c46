from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.functions import FUNCTION_ROW_SCHEMA, FUNCTIONS, FunctionRow, function_rows

if TYPE_CHECKING:
    from types import ModuleType

    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]


def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_one_row_for_each_function_sorted_by_name() -> None:
    names = [row.name for row in function_rows()]
    assert names == sorted(each.name for each in FUNCTIONS)
    assert function_rows() == function_rows()


def test_a_summary_is_the_first_sentence() -> None:
    summaries = {row.name: row.summary for row in function_rows()}
    assert all(each.endswith(".") and "\n" not in each for each in summaries.values())
    assert summaries["span_overlaps"] == "Whether two spans have a unit in common; an empty span has none."


def test_rows_fit_their_schema_and_say_what_describe_function_says(spark: SparkSession) -> None:
    table = spark.createDataFrame(list(function_rows()), FUNCTION_ROW_SCHEMA)
    assert tuple(table.columns) == FunctionRow._fields
    for stored, row in zip(table.collect(), function_rows(), strict=True):
        assert (stored["name"], stored["tags"], stored["alias"]) == (row.name, list(row.tags), row.alias)
        told = "\n".join(each[0] for each in spark.sql(f"DESCRIBE FUNCTION EXTENDED {row.name}").collect())
        assert f"Usage: {row.signature}\n{row.doc}" in told
        assert f"Tags: {', '.join(row.tags)}. Version {row.version}." in told
        assert all(f"> {sql};\n       {result}" in told for sql, result in row.examples)


def test_the_reference_page_is_what_its_script_writes() -> None:
    written = (ROOT / "docs" / "reference" / "functions.md").read_text("utf-8")
    assert written == reference().functions_page(), "run: .venv/bin/python scripts/reference.py"
    assert all(f"### {row.name}\n" in written for row in function_rows())
