"""Kills writers in the middle of their commits, again and again, and looks for batches lost or done twice.

    .venv/bin/python scripts/soak.py --seed 1 --kills 50

A writer process (tests/delta/writers.py) commits numbered batches of all kinds to one table and is killed
with SIGKILL, Python and JVM, at points of a commit that the table's folder shows, or at any time. Its batch
is sent again, as the same mutation, to a new process. At the end every batch must be in the table exactly
once. A run in which no kill left a commit that nobody acknowledged proves nothing, and fails. The seed
settles the batches and the points; what a kill hits is a matter of milliseconds.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from headwater.clock import SystemClock
from headwater.delta import note_of, read_history
from headwater.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.delta.writers import Writer

Point = Literal["data", "draft", "commit", "prepare", "any"]
POINTS: tuple[Point, ...] = ("commit", "data", "draft", "prepare", "any")
KILLS = 50
WRITERS = Path(__file__).parents[1] / "tests" / "delta" / "writers.py"
SHOWN = 3
_TRIES = 10
_LONGEST = 3000  # milliseconds; a commit takes two or three seconds in a new process
_LOG = "_delta_log"


class SoakError(Exception):
    """The table is not what the batches make of it; the message says how."""


# --- batches, and what they make of a table --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dice:
    """Numbers that follow from a seed alone."""

    seed: int

    def pick(self, below: int, *about: str | int) -> int:
        """A number from 0 up to `below`; the same for the same matter."""
        return int(digest_of([self.seed, *about])[:12], 16) % below


@dataclass(frozen=True, slots=True)
class Batch:
    """A numbered mutation as the writer takes it, and the rows that the table has after it."""

    number: int
    command: dict[str, Any]
    after: dict[int, int]

    @property
    def settles(self) -> bool:
        """Whether its policy wants another property than the batch before, so that two commits are made."""
        return "properties" in self.command.get("policy", {})


def build_batch(dice: Dice, number: int, before: dict[int, int], *, settles: bool) -> Batch:
    """The batch of a number, on a table with these rows by key; it always changes something."""
    kinds = ("append", "merge", "replace_where", "update", "delete", "append", "overwrite", "replace_keys")
    kind = kinds[dice.pick(len(kinds), "kind", number)] if len(before) > 1 else "append"
    keys, new = sorted(before), {number * 10 + at: number for at in range(4)}
    after = dict(before)
    command: dict[str, Any] = {"do": kind, "mutation_id": f"batch {number}"}
    some = keys[dice.pick(len(keys), "key", number)] if keys else 0
    if kind == "append":
        after |= new
        command["rows"] = pairs(new)
    elif kind == "merge":
        source = new | {some: number}
        after |= source
        command["rows"] = pairs(source)
    elif kind == "replace_where":
        fresh = {some: number}
        after = {key: value for key, value in before.items() if key < some} | fresh
        command |= {"where": f"k >= {some}", "rows": pairs(fresh)}
    elif kind == "replace_keys":
        gone = [key for key in keys if key > some and dice.pick(2, "vanishes", number)]
        after = {key: value for key, value in before.items() if key not in gone} | {some: number}
        command |= {"rows": pairs({some: number}), "affected": [some, *gone]}
    elif kind == "overwrite":
        after = new
        command["rows"] = pairs(new)
    elif kind == "update":
        after = {key: value + (1000 if key >= some else 0) for key, value in before.items()}
        command |= {"where": f"k >= {some}", "assignments": {"v": "v + 1000"}}
    else:
        after = {key: value for key, value in before.items() if key != some}
        command["where"] = f"k = {some}"
    if settles:
        command["policy"] = {"properties": {"soak.batch": str(number)}}
    return Batch(number, command, after)


def pairs(rows: dict[int, int]) -> list[list[int]]:
    """Rows as the writer takes and gives them."""
    return [[key, rows[key]] for key in sorted(rows)]


# --- kills -----------------------------------------------------------------------------------------------


@dataclass
class Soak:
    """A table, the batches sent to it, and what became of the writers."""

    folder: Path
    dice: Dice
    points: Sequence[Point]
    kills: int = 0
    unacknowledged: int = 0
    batches: int = 0
    hits: Counter[str] = field(default_factory=Counter[str])
    contents: dict[int, str | None] = field(default_factory=dict[int, "str | None"])
    rows: dict[int, int] = field(default_factory=dict[int, int])
    _writer: Writer | None = None
    _spare: Writer | None = None

    @property
    def table(self) -> Path:
        """Where the table is."""
        return self.folder / "table"

    def run(self) -> None:
        """Commits a batch for each point, with a kill there, and two in peace; then looks at the table."""
        try:
            self.commit(self.next_batch(), None)
            for point in self.points:
                self.commit(self.next_batch(settles=point == "prepare"), point)
            self.commit(self.next_batch(), None)
            self.check()
        finally:
            for writer in (self._writer, self._spare):
                if writer is not None:
                    writer.kill()

    def next_batch(self, *, settles: bool = False) -> Batch:
        """The batch that follows."""
        self.batches += 1
        return build_batch(self.dice, self.batches, self.rows, settles=settles)

    def commit(self, batch: Batch, point: Point | None) -> None:
        """Sends a batch until it is acknowledged; the first time, its writer is killed at the point."""
        uri, base = self.table.as_uri(), newest_version(self.table)
        command: dict[str, Any] = {**batch.command, "uri": uri, "base_version": base}
        for _ in range(_TRIES):
            writer = self.take_writer()
            before = names_in(self.table)
            writer.send(**command)
            if point is not None:
                self.kill_at(point, writer, batch, before, base)
                point = None
                continue
            answer = writer.answer()
            if answer.get("outcome") not in {"committed", "already_committed"}:
                raise SoakError(f"batch {batch.number} ({batch.command['do']}): {answer}")
            self.contents[int(answer["version"])] = answer["content"]
            self.rows = batch.after
            return
        raise SoakError(f"batch {batch.number} was not acknowledged in {_TRIES} tries")

    def kill_at(self, point: Point, writer: Writer, batch: Batch, before: frozenset[str], base: int) -> None:
        """Waits for the point and kills; tells what was hit."""
        if point == "any":
            wait_until(lambda: writer.has_answered, self.dice.pick(_LONGEST, "pause", batch.number) / 1000)
        else:
            new = partial(is_at, point, self.table, before, base, settles=batch.settles)
            wait_until(lambda: writer.has_answered or new(), WRITER_MODULE.PATIENCE)
        answers = writer.kill()
        self._writer = None
        self.kills += 1
        landed = count_commits(self.table)[str(batch.command["mutation_id"])]
        left = sorted(names_in(self.table) - before)
        if answers:
            hit = "acknowledged in time"
        elif landed:
            hit = "commit that nobody acknowledged"
            self.unacknowledged += 1
        else:
            hit = f"nothing landed, {len(left)} files left"
        self.hits[f"{point}: {hit.partition(',')[0]}"] += 1
        kind = batch.command["do"]
        print(f"kill {self.kills} in batch {batch.number} ({kind}) at {point}: {hit}", flush=True)

    def take_writer(self) -> Writer:
        """The writer at work, or the one that started meanwhile; another starts while this one works."""
        if self._writer is not None:
            return self._writer
        writer: Writer = (self._spare or WRITER_MODULE.Writer()).ready()
        self._writer = writer
        self._spare = WRITER_MODULE.Writer() if self.kills < len(self.points) else None
        return writer

    # --- the end -------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises SoakError unless the table is whole and every batch is in it exactly once."""
        writer, uri = self.take_writer(), self.table.as_uri()
        found = writer.ask("verify", uri=uri)
        if found.get("problems") != []:
            raise SoakError(f"the table is not whole: {found}")
        rows = writer.ask("rows", uri=uri)["rows"]
        if rows != pairs(self.rows):
            raise SoakError(f"its rows are {rows}, expected {pairs(self.rows)}")
        commits = count_commits(self.table)
        wrong = {name: count for name, count in commits.items() if count != 1}
        if wrong or set(commits) != {f"batch {number}" for number in range(1, self.batches + 1)}:
            raise SoakError(f"commits by batch: {dict(commits)}")
        known = {version: text for version, text in self.contents.items() if text is not None}
        computed = writer.ask("content", uri=uri, versions=sorted(known))["content"]
        differing = [at for at, text in zip(sorted(known), computed, strict=True) if known[at] != text]
        if differing:
            raise SoakError(f"receipts with another digest than their rows: versions {differing}")
        self.tell_left_overs(found["files"], len(known))

    def tell_left_overs(self, files: list[str], digests: int) -> None:
        """Prints what the killed left behind, and how their batches came out."""
        orphans, drafts = orphans_of(self.table, files), drafts_of(self.table)
        for words, names in (("data files of no version", orphans), ("temporary log files", drafts)):
            print(f"{len(names)} {words}: {', '.join(names[:SHOWN])}".rstrip(": "))
        print("; ".join(f"{hit} x {count}" for hit, count in sorted(self.hits.items())))
        print(f"{digests} of {self.batches} receipts had a digest, each equal to one computed anew")
        print(
            f"{self.kills} kills, {self.unacknowledged} unacknowledged commits, "
            f"{self.batches} batches exactly once, {len(orphans) + len(drafts)} orphans"
        )


def wait_until(is_so: Callable[[], bool], seconds: float) -> None:
    """Returns when something is so, or the time is over."""
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.0002)  # what is waited for may be there for a few milliseconds only


def is_at(point: Point, table: Path, before: frozenset[str], base: int, *, settles: bool) -> bool:
    """Whether the folder shows that a commit on the version `base` is at a point, or past it."""
    new = names_in(table) - before
    if point == "prepare" and f"{_LOG}/{base + 1:020}.json" in new:
        return True
    if point == "data" and any(name.endswith(".parquet") and "/" not in name for name in new):
        return True
    if point == "draft" and any(is_draft(name) for name in new):
        return True
    return f"{_LOG}/{base + 1 + settles:020}.json" in new


# --- the table's folder ----------------------------------------------------------------------------------


def names_in(table: Path) -> frozenset[str]:
    """The files of a table and of its log, by their names below the table."""
    found: set[str] = set()
    for folder, prefix in ((table, ""), (table / _LOG, f"{_LOG}/")):
        if folder.is_dir():
            found.update(f"{prefix}{each.name}" for each in folder.iterdir())
    return frozenset(found)


def is_draft(name: str) -> bool:
    """Whether a name is that of a log file that is being written."""
    return name.startswith(f"{_LOG}/.") and ".json." in name and not name.endswith(".crc")


def drafts_of(table: Path) -> list[str]:
    """Files beside the data that never came to be, with their checksums."""
    places = (table / _LOG, table / "_headwater" / "content")
    found = [path.name for place in places for path in place.glob(".*") if not is_checksum(path)]
    return sorted(found)


def is_checksum(path: Path) -> bool:
    """Whether a hidden file is Hadoop's checksum of a file that is there."""
    return path.suffix == ".crc" and path.with_name(path.stem.removeprefix(".")).exists()


def orphans_of(table: Path, files: list[str]) -> list[str]:
    """Data files that no version has: neither the newest, nor any commit."""
    log = "".join(path.read_text("utf-8") for path in sorted((table / _LOG).glob("*.json")))
    data = sorted(path.name for path in table.glob("*.parquet"))
    return [name for name in data if name not in files and name not in log]


def newest_version(table: Path) -> int:
    """The version of the newest commit file, -1 if there is none."""
    return max((int(path.stem) for path in (table / _LOG).glob("[0-9]*.json")), default=-1)


def count_commits(table: Path) -> Counter[str]:
    """How many commits each mutation has."""
    if newest_version(table) < 0:
        return Counter()
    notes = [note_of(each.user_metadata) for each in read_history(table.as_uri())]
    return Counter(note.mutation_id for note in notes if note is not None)


def load_writers() -> Any:
    """The module of the writer process, which is a test's; tests are not a package."""
    spec = importlib.util.spec_from_file_location("writers", WRITERS)
    if spec is None or spec.loader is None:
        raise ImportError(str(WRITERS))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


WRITER_MODULE = load_writers()


def main(arguments: list[str]) -> int:
    """Runs it; 0 if every batch landed once and some kill left a commit unacknowledged, else 1."""
    parser = argparse.ArgumentParser(prog="soak", description="kills writers in the middle of their commits")
    parser.add_argument("--seed", type=int, default=int(SystemClock().now().timestamp()))
    parser.add_argument("--kills", type=int, default=KILLS)
    given = parser.parse_args(arguments)
    print(f"seed {given.seed}, {given.kills} kills", flush=True)
    dice = Dice(given.seed)
    points: list[Point] = [POINTS[dice.pick(len(POINTS), "point", at)] for at in range(given.kills)]
    folder = Path(tempfile.mkdtemp(prefix="headwater-soak-"))
    soak = Soak(folder, dice, points)
    try:
        soak.run()
    except SoakError as error:
        print(f"soak: {error}; seed {given.seed}, the table is in {folder}", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    if not soak.unacknowledged:
        print("soak: no kill left a commit that nobody acknowledged: this proves nothing", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
