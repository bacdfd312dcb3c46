from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from headwater.cli.functions import functions
from headwater.errors import HeadwaterError, InvalidSetting, WrongUsage
from headwater.functions import FAMILIES, FUNCTIONS, function_rows, function_snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

APP = typer.Typer()
APP.command()(functions)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(APP, list(arguments), env={"COLUMNS": "200", "TERM": "dumb"})


def refused(*arguments: str) -> HeadwaterError:
    error = run(*arguments).exception
    assert isinstance(error, HeadwaterError)
    return error


def test_the_list_has_every_function_with_its_first_line() -> None:
    done = run("--no-color")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0].split() == ["name", "signature", "tags", "gives"]
    words = " ".join(done.output.split())
    assert [line.split()[0] for line in lines if line[:1].strip()][1:-1] == [
        row.name for row in function_rows()
    ]
    assert "How many units a span covers." in words
    assert lines[-1].startswith(f"{len(FUNCTIONS)} functions.")


def test_a_family_is_listed_alone() -> None:
    listed = {row["name"] for row in json.loads(run("--family", "cdf", "--json").output)["functions"]}
    assert listed == {"cdf_change_rank", "cdf_is_delete", "cdf_is_upsert"}
    assert run("--family", "cdf").output.splitlines()[-1].startswith("3 functions.")


def test_one_function_is_told_in_full() -> None:
    for row in function_rows():
        shown = run(row.name).output
        assert shown.splitlines()[0] == row.signature
        assert row.doc in shown
        assert all(f"> {sql};\n    {result}" in shown for sql, result in row.examples)
        assert f"digest: {row.digest}\n" in shown
        assert f"version: {row.version}\n" in shown
    assert "semantic type: NodeId" in run("NODE_ID").output
    assert "second name in Python: arg_max\n" in run("arg_max_det").output
    assert "semantic type" not in run("span_len").output


def test_a_second_name_finds_its_function() -> None:
    assert run("collect_set").output == run("collect_set_sorted").output


def test_json_is_the_rows_and_nothing_else() -> None:
    document = json.loads(run("--json").output)
    assert set(document) == {"schema_version", "functions", "digest", "families"}
    assert document["digest"] == function_snapshot().digest
    assert document["families"] == list(FAMILIES)
    for listed, row in zip(document["functions"], function_rows(), strict=True):
        examples = [{"sql": sql, "result": result} for sql, result in row.examples]
        assert listed == {**row._asdict(), "tags": list(row.tags), "examples": examples}
    assert json.loads(run("span_len", "--json").output)["functions"] == [
        each for each in document["functions"] if each["name"] == "span_len"
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("span_mak", "; did you mean 'span_make'?"), ("argmax", "; did you mean 'arg_max'?"), ("xyzzy", "")],
)
def test_an_unknown_name_is_wrong_usage_with_the_nearest_one(name: str, hint: str) -> None:
    error = refused(name)
    assert isinstance(error, WrongUsage)
    assert error.message == f"there is no function '{name}'{hint}"
    assert error.exit_code == 2


def test_an_unknown_family_is_refused_with_the_known_ones() -> None:
    error = refused("--family", "spans")
    assert isinstance(error, InvalidSetting)
    assert "position_encoding" in error.next_step


def test_quiet_says_nothing() -> None:
    assert (run("--quiet").output, run("span_len", "-q").output) == ("", "")


def test_no_java_is_needed(tmp_path: Path) -> None:
    script = "import typer; from headwater.cli.functions import functions; typer.run(functions)"
    done = subprocess.run(
        [sys.executable, "-c", script, "--json"],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert len(json.loads(done.stdout)["functions"]) == len(FUNCTIONS)
    assert list(tmp_path.iterdir()) == []
