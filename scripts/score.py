"""Scores the call graphs of small programs that others wrote against what they must be.

    .venv/bin/python scripts/score.py DIR

DIR holds pycg/<category>/<case>/: a program, with `callgraph.json`, {caller: [callee, ...]}. All cases are
exported in one run of the real command. One line per category, at last the score over all cases; the exit
code is 1 below the bar.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TRUTH = "callgraph.json"
HEADWATER = (sys.executable, "-m", "headwater")
LEAST_PRECISION, LEAST_RECALL = 0.98, 0.96
USAGE = 2

Edges = frozenset[tuple[str, str]]


@dataclass(slots=True)
class Score:
    """How many cases there are, how many are just so, and how many edges are right, too much and missing."""

    cases: int = 0
    exact: int = 0
    right: int = 0
    extra: int = 0
    missing: int = 0

    def add(self, truth: Edges, found: Edges) -> None:
        """One case more."""
        self.cases += 1
        self.exact += truth == found
        self.right += len(truth & found)
        self.extra += len(found - truth)
        self.missing += len(truth - found)

    @property
    def precision(self) -> float:
        """The share of what was found that is right."""
        return self.right / max(1, self.right + self.extra)

    @property
    def recall(self) -> float:
        """The share of what is right that was found."""
        return self.right / max(1, self.right + self.missing)

    def line(self, name: str) -> str:
        """The score as it is printed."""
        counts = f"cases={self.cases} exact={self.exact}"
        return f"{name:18} {counts} precision={self.precision:.3f} recall={self.recall:.3f}"


def cases_in(suite: Path) -> list[Path]:
    """The folders of all cases, sorted."""
    return sorted(each.parent for each in suite.glob(f"*/*/{TRUTH}"))


def edges_of(place: Path) -> Edges:
    """The edges of a call graph in a file; none if there is no file."""
    graph: dict[str, list[str]] = json.loads(place.read_text("utf-8")) if place.is_file() else {}
    return frozenset((caller, callee) for caller, callees in graph.items() for callee in callees)


def score(suite: Path) -> tuple[dict[str, Score], Score]:
    """The scores of all categories, and that of all cases."""
    cases = cases_in(suite)
    found: dict[str, Score] = {}
    total = Score()
    with tempfile.TemporaryDirectory() as place:
        export = [*HEADWATER, "export", "callgraph", *map(str, cases), "--out", place, "--quiet"]
        subprocess.run(export, check=True)
        for case in cases:
            category = case.parent.name
            truth, made = edges_of(case / TRUTH), edges_of(Path(place) / category / f"{case.name}.json")
            found.setdefault(category, Score()).add(truth, made)
            total.add(truth, made)
            if truth != made:
                extra, missing = sorted(made - truth)[:3], sorted(truth - made)[:3]
                print(f"  {category}/{case.name}: extra {extra} missing {missing}")
    return found, total


def main() -> int:
    """Prints the scores; what comes back is the exit code."""
    suite = Path(sys.argv[1] if len(sys.argv) > 1 else "") / "pycg"
    if not cases_in(suite):
        print(f"There are no cases in {suite}: name the folder with pycg/<category>/<case>/{TRUTH} in it")
        return USAGE
    found, total = score(suite)
    for category, each in sorted(found.items()):
        print(each.line(category))
    print(total.line("all"))
    return int(total.precision < LEAST_PRECISION or total.recall < LEAST_RECALL)


if __name__ == "__main__":
    sys.exit(main())
