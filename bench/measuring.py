"""What the benches share: processes of their own, CPU seconds of all that they start, and lines of figures.

Wall seconds tell what somebody waits for, CPU seconds what it costs; the second are steadier where others
work on the same machine. They are read from /proc, and 0 where there is none.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


_PR_SET_CHILD_SUBREAPER = 36  # of prctl(2)


def driver_memory() -> str:
    """Of the driver, where many rows are made; a process that runs Spark already has what it has."""
    return os.environ.get("BENCH_MEMORY", "4g")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Wall and CPU seconds, the most bytes in memory where they were looked at, and what a process told."""

    wall: float
    cpu: float
    memory: int = 0
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
    print(json.dumps({"cpu": cpu_of_tree(), "java": "java" in {each.name for each in _tree()}, **facts}))


def run_command(command: Sequence[str]) -> tuple[Taken, str]:
    """Runs any command; CPU seconds are of all processes that come of it. With what it printed.

    Memory is that of all of them together, looked at four times a second; what several share counts once.
    """
    _adopt_orphans()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    most, is_over = [0], threading.Event()
    watch = threading.Thread(target=_watch_memory, args=(most, is_over))
    watch.start()
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        wall = time.perf_counter() - began
        _wait_for_orphans()
    finally:
        is_over.set()
        watch.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(wall=wall, cpu=cpu, memory=most[0]), done.stdout


def _adopt_orphans() -> None:
    """Become the parent of what outlives its own: a JVM does not wait for its Python workers when it ends.

    Without it, what those took would count for nobody.
    """
    if sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).prctl(
        _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0
    ):
        raise OSError(ctypes.get_errno(), "prctl")


def _wait_for_orphans() -> None:
    with suppress(ChildProcessError):  # there are no more
        while True:
            os.wait()


def _watch_memory(most: list[int], is_over: threading.Event) -> None:
    own = os.getpid()
    while not is_over.wait(0.25):
        taken = sum(_memory_of(each.pid) for each in _tree() if each.pid != own)
        most[0] = max(most[0], taken)


def _memory_of(pid: int) -> int:
    """The bytes that a process has in memory, and its part of those that it shares with others."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def measured(work: Callable[..., object], *arguments: object, **named: object) -> Taken:
    """Does something in this process and the JVM that it has started."""
    before, began = {each.pid: each.ticks for each in _tree()}, time.perf_counter()
    work(*arguments, **named)
    wall = time.perf_counter() - began
    # Process by process: what one that ended meanwhile had taken before must not count against the others.
    ticks = sum(each.ticks - before.get(each.pid, 0) for each in _tree())
    return Taken(wall=wall, cpu=ticks / os.sysconf("SC_CLK_TCK"))


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
    return sum(each.ticks for each in _tree()) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    parent: int
    name: str
    ticks: float


def _tree() -> Iterator[_Process]:
    """This process and each that came from it, and is still there."""
    found: dict[int, _Process] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            head, _, rest = (entry / "stat").read_text().rpartition(") ")
        except OSError:  # it has ended
            continue
        fields = rest.split()
        pid, name, ticks = int(entry.name), head.partition("(")[2], sum(map(float, fields[11:15]))
        found[pid] = _Process(pid, int(fields[1]), name, ticks)
    waiting = [os.getpid()]
    while waiting:
        each = waiting.pop()
        if each in found:
            yield found[each]
        waiting += [pid for pid, other in found.items() if other.parent == each]
