"""The benches run, at sizes that measure nothing, and print what their readers look for."""

from __future__ import annotations

import re
import runpy
import subprocess
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


SHAPES = """
class Shape:
    def area(self): return 0
class Square(Shape):
    def __init__(self, side): self.side = side
    def area(self): return self.side * self.side
def areas(shapes): return [each.area() for each in shapes]
def largest(shapes): return max(shapes, key=lambda each: each.area())
def call(name): return globals()[name]()
def hidden(): return len("")
def parts():
    yield Square(1)
def made(): return parts()
"""
USED = """
from shapes import areas, call, largest, made
def test_all():
    assert areas(made()) == [1] and largest(list(made())).side == 1 and call("hidden") == 0
"""


def test_executed_calls_are_put_beside_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "shapes"
    for place, source in (("shapes/__init__.py", SHAPES), ("tests/test_shapes.py", USED)):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(source)
    monkeypatch.syspath_prepend(BENCH)
    monkeypatch.setattr(sys, "argv", ["executed_calls", str(folder)])
    runpy.run_path(str(BENCH / "executed_calls.py"), run_name="__main__")
    first, *table = capsys.readouterr().out.splitlines()
    # areas and the lambda call area, largest the lambda, parts the class, made the generator; and call hidden
    assert re.match(r"shapes edges=6 found=0.833 bar=0.85 miss exported=0.833 by=value:5 winners=", first)
    assert any(re.fullmatch(r"confidence value 1 called=1.00 of \d+ table=0.98", each) for each in table), (
        table
    )


ENDED_MEANWHILE = """
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from measuring import measured
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for it: what it took is gone with it
go, gone = os.pipe(), os.pipe()
if not os.fork():
    while time.process_time() < 0.5:
        pass
    os.write(gone[1], b".")
    os.read(go[0], 1)
    os._exit(0)
os.close(gone[1])
os.read(gone[0], 1)
def wait_until_it_ends():
    os.write(go[1], b".")
    os.read(gone[0], 1)
print(measured(wait_until_it_ends).cpu)
"""


def test_a_process_that_ends_meanwhile_does_not_count_against_the_others() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDED_MEANWHILE, str(BENCH)], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) >= 0
