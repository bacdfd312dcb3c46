"""`headwater query` from outside, over the example."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from headwater.cli import main

if TYPE_CHECKING:
    from conftest import BuiltExample, Finished
    from headwater.runtime import SessionRuntime

Run = Callable[..., "Finished"]
RunMany = Callable[..., dict[str, "Finished"]]
BY_COUNTRY = "SELECT country, orders FROM revenue_by_country ORDER BY country"
SMALL = ("--set", "driver_memory=2g")


@pytest.fixture
def built(built_example: BuiltExample, runtime: SessionRuntime) -> Path:
    assert runtime.profile.driver_memory == "2g"
    return built_example.folder


def test_a_table_a_view_and_a_source_are_shown(headwater_here: Run, built: Path) -> None:
    sql = "SELECT r.country, r.orders, (SELECT count(*) FROM paid_orders) AS paid FROM revenue_by_country r"
    whole = f"{sql} JOIN customers USING (country) GROUP BY ALL ORDER BY 1"
    lines = headwater_here("query", whole, built, "--no-color", *SMALL).out.splitlines()
    assert lines[0].split() == ["country", "orders", "paid"]
    assert lines[1].split() == ["BR", "192", "1000"]
    assert lines[-1] == "5 rows"


def test_a_process_of_its_own_answers_in_one_document_what_comes_from_stdin(built: Path) -> None:
    command = [str(Path(sys.executable).parent / "headwater"), "query", "-", "--json", "--quiet", *SMALL]
    environment = {**os.environ, "HEADWATER_ARCHIVE": "off"}
    done = subprocess.run(
        command, cwd=built, env=environment, input=b"SELECT 1 AS one", capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["rows"] == [{"one": 1}]


def test_json_is_one_document(headwater_here: Run, built: Path) -> None:
    done = headwater_here("query", BY_COUNTRY, "--json", "--quiet", *SMALL, cwd=built)
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["schema_version"] == 1
    assert document["columns"] == [
        {"name": "country", "type": "string"},
        {"name": "orders", "type": "bigint"},
    ]
    assert document["rows"][0] == {"country": "BR", "orders": 192}


def test_the_shares_of_the_example_are_shares_of_the_whole(headwater_here: Run, built: Path) -> None:
    sql = "SELECT country, share FROM revenue_by_country ORDER BY country"
    rows = json.loads(headwater_here("query", sql, "--json", *SMALL, cwd=built).out)["rows"]
    assert [row["country"] for row in rows] == ["BR", "DE", "FR", "JP", "US"]
    assert abs(sum(float(row["share"]) for row in rows) - 1) < 1e-4


def test_csv_keeps_to_the_limit(headwater_here: Run, built: Path) -> None:
    done = headwater_here("query", BY_COUNTRY, built, "--format", "csv", "--limit", "2", *SMALL)
    assert list(csv.reader(io.StringIO(done.out))) == [["country", "orders"], ["BR", "192"], ["DE", "192"]]


def test_arrow_goes_to_a_program(
    built: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    arguments = ["headwater", "query", BY_COUNTRY, str(built), "--format", "arrow", "--quiet", *SMALL]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    table = pa.ipc.open_stream(capfdbinary.readouterr().out).read_all()
    assert table["orders"].to_pylist()[0] == 192


def test_a_table_shows_fifty_rows_and_says_that_there_are_more(headwater_here: Run, built: Path) -> None:
    done = headwater_here("query", "SELECT * FROM daily_revenue", built, "--no-color", *SMALL)
    lines = done.out.splitlines()
    assert len(lines) == 52
    assert lines[-1].startswith("50 rows; there are more")


def test_json_that_fails_on_the_way_is_whole_and_exits_with_1(headwater_here: Run, built: Path) -> None:
    sql = "SELECT 1 div (id - 1500) AS x FROM range(0, 2000, 1, 2)"
    done = headwater_here("query", sql, built, "--json", *SMALL)
    document = json.loads(done.out)
    assert (done.code, len(document["rows"])) == (1, 1000)
    assert document["error"]["code"] == "HW-ENGINE-001"
    assert "HW-ENGINE-001" in done.err


def test_arrow_to_a_terminal_is_refused(built: Path) -> None:
    above, below = pty.openpty()
    command = [str(Path(sys.executable).parent / "headwater"), "query", "SELECT 1", str(built)]
    done = subprocess.run(
        [*command, "--format", "arrow"], stdout=below, stderr=subprocess.PIPE, check=False, timeout=60
    )
    os.close(below)
    os.close(above)
    assert done.returncode == 2
    assert "HW-USAGE-001 Arrow is binary and stdout is a terminal" in done.stderr.decode()


def test_a_command_is_refused_in_words_and_in_json(headwater_here: Run, built: Path) -> None:
    done = headwater_here("query", "DROP TABLE revenue_by_country", built, "--json", *SMALL)
    assert done.code == 1
    assert json.loads(done.out)["error"]["code"] == "HW-QUERY-001"
    assert "HW-QUERY-001 a query reads the project's names and does nothing else; this one has" in done.err
    assert "Write one SELECT" in done.err


def test_wrong_usage_needs_no_spark(headwaters: RunMany, tmp_path: Path, built: Path) -> None:
    ends = headwaters(
        two={"arguments": ("query", "SELECT 1", built, "--json", "--format", "csv")},
        nowhere={"arguments": ("query", "SELECT 1", tmp_path)},
        unknown={"arguments": ("query", "SELECT 1", built, "--format", "xml")},
        missing={"arguments": ("query",)},
    )
    assert {name: done.code for name, done in ends.items()} == dict.fromkeys(ends, 2)
    assert "two forms" in ends["two"].err
    assert ends["nowhere"].err.split()[0] == "HW-CONFIG-005"
    assert ends["unknown"].err.split()[0] == "HW-USAGE-001"
    assert ends["missing"].err.split()[0] == "HW-USAGE-001"
