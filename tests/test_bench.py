"""The benches run, at sizes that measure nothing, and print what their readers look for."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"
FIGURES = r"plain=[\d.]+s headwater=[\d.]+s ratio=[\d.]+ cpu: plain=[\d.]+s headwater=[\d.]+s ratio=[\d.]+"
SCRIPTS = {
    "ten_views": (
        ["--here", "--pairs", "1", "--rows", "200"],
        [
            rf"cold {FIGURES} bar=1.15 wall=(pass|miss) cpu=(pass|miss)",
            rf"unchanged {FIGURES} bar=1.5s,without-java with-java miss",
            rf"changed {FIGURES} bar=1.0 wall=(pass|miss) cpu=(pass|miss)",
            r"changed tables: facts built, daily_revenue \w+, top_customers \w+, markets skipped",
            "the rows of all tables are the same in both",
        ],
    ),
    "changed_rows": (
        ["--pairs", "1", "--rows", "1000"],
        [
            rf"changed heavy {FIGURES} bar=0.5 .* incremental \(proven\), the same rows",
            rf"changed light {FIGURES} bar=1.0 .*, the same rows",
            r"changed reader: \d+ looks, [12] different; apart skipped, .*",
        ],
    ),
    "planning": (["--views", "4", "--rounds", "1"], [rf"plan-4-views {FIGURES} bar=1.5 .*"]),
    "growth": (
        ["--views", "4,5,6", "--rows", "10,20,30"],
        [
            r"growth plan views=6 headwater=[\d.]+s cpu=[\d.]+s",
            r"growth plan-asking cpu-ms a view: .* bar=1.5 (pass|miss)",
            rf"growth build views=6 {FIGURES} added=-?[\d.]+cpu-s",
            rf"growth rows=30 copied {FIGURES} added=-?[\d.]+cpu-s",
            r"growth totals added from 10 to 30 rows: .* (pass|miss)",
        ],
    ),
}


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_bench_runs_and_prints_its_lines(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, lines = SCRIPTS[name]
    monkeypatch.syspath_prepend(BENCH)
    monkeypatch.setenv("BENCH_MEMORY", "2g")  # as the tests' own Spark
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(BENCH / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    missing = [line for line in lines if not any(re.fullmatch(line, each) for each in printed)]
    assert not missing, printed
