"""What the benches share: processes of their own, CPU seconds of all that they start, and lines of figures.

Wall seconds tell what somebody waits for, CPU seconds what it costs; the second are steadier where others
work on the same machine. They are read from /proc, and 0 where there is none.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


# Of the driver, where many rows are made; a process that runs Spark already has what it has.
MEMORY = os.environ.get("BENCH_MEMORY", "4g")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Wall and CPU seconds, and what a process had to tell."""

    wall: float
    cpu: float
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


def run_apart(script: str, *arguments: str) -> Taken:
    """Runs a bench in a process of its own, which must end with `tell`; its imports count, too."""
    began = time.perf_counter()
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    facts = json.loads(done.stdout.splitlines()[-1])
    return Taken(wall=wall, cpu=facts.pop("cpu"), facts=facts)


def tell(**facts: object) -> None:
    """The last words of a process that `run_apart` began: its CPU seconds so far, and facts."""
    print(json.dumps({"cpu": cpu_of_tree(), "java": "java" in {name for name, _ in _tree()}, **facts}))


def run_command(command: Sequence[str]) -> tuple[Taken, str]:
    """Runs any command; CPU seconds are its own and of those that it waited for. With what it printed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(wall=wall, cpu=cpu), done.stdout


def measured(work: Callable[..., object], *arguments: object, **named: object) -> Taken:
    """Does something in this process and the JVM that it has started."""
    before, began = cpu_of_tree(), time.perf_counter()
    work(*arguments, **named)
    return Taken(wall=time.perf_counter() - began, cpu=cpu_of_tree() - before)


def middle(taken: Sequence[Taken]) -> Taken:
    """The medians of all rounds, with the facts of the last."""
    wall, cpu = (statistics.median(numbers) for numbers in ([t.wall for t in taken], [t.cpu for t in taken]))
    return Taken(wall=wall, cpu=cpu, facts=taken[-1].facts)


def show(case: str, plain: Taken, ours: Taken, *words: str, bar: float | None = None) -> None:
    """Prints one line: wall and CPU of both, their ratios, and how they stand to a bar for both."""
    wall, cpu = ours.wall / plain.wall, ours.cpu / plain.cpu if plain.cpu else 0.0
    judged = [f"bar={bar} wall={verdict(wall <= bar)} cpu={verdict(cpu <= bar)}"] if bar is not None else []
    parts = (
        f"{case} plain={plain.wall:.1f}s headwater={ours.wall:.1f}s ratio={wall:.2f}",
        f"cpu: plain={plain.cpu:.1f}s headwater={ours.cpu:.1f}s ratio={cpu:.2f}",
        *judged,
        *words,
    )
    print(" ".join(parts), flush=True)


def verdict(holds: bool) -> str:
    """The word for a bar that holds, or does not; timings decide nothing else."""
    return "pass" if holds else "miss"


def cpu_of_tree() -> float:
    """CPU seconds of this process and all that it has started."""
    return sum(ticks for _, ticks in _tree()) / os.sysconf("SC_CLK_TCK")


def _tree() -> Iterator[tuple[str, float]]:
    """The name and the ticks of this process and of each that came from it, and is still there."""
    found: dict[int, tuple[int, str, float]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            head, _, rest = (entry / "stat").read_text().rpartition(") ")
        except OSError:  # it has ended
            continue
        fields = rest.split()
        found[int(entry.name)] = int(fields[1]), head.partition("(")[2], sum(map(float, fields[11:15]))
    waiting = [os.getpid()]
    while waiting:
        each = waiting.pop()
        if each in found:
            yield found[each][1:]
        waiting += [pid for pid, (parent, _, _) in found.items() if parent == each]
