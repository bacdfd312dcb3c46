"""The rounds of a fixpoint: a step applied to what it has found, until nothing new appears.

    fixpoint_rows    the rows in the end, over whatever is registered in a session
    Rounds           what each round is given, and what it finds
    sweep_rounds     what a run that was stopped has left of its rounds

    S0 = {}    S(i+1) = S(i) UNION step(S(i)), each row once, nulls equal    until S(i+1) = S(i)

Each round's new rows are written to a folder. So the rows so far are one scan, and the new ones another:
plans do not grow from round to round. A step that is linear (`plan.linearity`) is given the new rows alone.
Not here: planning the step, and what becomes of the rows in the end.
"""

from __future__ import annotations

import json
import re
import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pyarrow.parquet as pq
from pyspark.sql.types import StructType

from headwater.artifacts import RoundRecord
from headwater.delta import reading_errors
from headwater.errors import NoFixpoint, WarehouseNotWritable
from headwater.run.compile import as_stored, register_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from pathlib import Path
    from typing import Literal

    from pyspark.sql import DataFrame

    from headwater.plan import PlannedFixpoint
    from headwater.run.scheduled import ScheduledView
    from headwater.runtime import RunSession

_TRIES = 10


@contextmanager
def fixpoint_rows(
    session: RunSession,
    view: ScheduledView,
    place: Path,
    *,
    monotonic: Callable[[], float],
    tell: Callable[[RoundRecord], None] = lambda _round: None,
) -> Generator[DataFrame]:
    """Within it, the rows of a fixpoint over what is registered in `session`; nobody else may work there.

    The rows are computed when it is entered, and are files that are removed when it is left. The view's own
    name stands for rows of some round afterwards.

    Args:
        session: where everything that the view reads is registered, but for itself.
        view: the fixpoint as it is planned.
        place: a folder that is not there yet.
        monotonic: tells how long a round took.
        tell: hears of each round.

    Raises:
        NoFixpoint: rows were still new in the last round that is allowed.
        WarehouseNotWritable: the folder cannot be made.
    """
    if view.fixpoint is None:
        message = f"'{view.name}' is no fixpoint"
        raise ValueError(message)
    _make_folder(place)
    try:
        rounds = Rounds(session, view, view.fixpoint, place)
        with reading_errors(view.origin):
            _run(rounds, monotonic, tell)
            rows = rounds.all()
        yield rows
    finally:
        _remove(place)


def sweep_rounds(staging: Path, runs: Iterable[str]) -> None:
    """Removes what runs have left of rounds that they could not remove themselves, by their ids."""
    for run_id in runs:
        shutil.rmtree(rounds_of(staging, run_id), ignore_errors=True)
    with suppress(OSError):  # others are at work there, or nobody ever was
        staging.rmdir()


def rounds_of(staging: Path, run_id: str) -> Path:
    """Where a run keeps the rounds of its fixpoints, each in a folder of its own."""
    return staging / f"rounds-{run_id}"


def _run(rounds: Rounds, monotonic: Callable[[], float], tell: Callable[[RoundRecord], None]) -> None:
    new, total, most = 0, 0, rounds.fixpoint.max_rounds
    for number in range(1, most + 1):
        start = monotonic()
        given = rounds.give(number)
        new = rounds.find_new(number)
        total += new
        seconds = round(monotonic() - start, 3)
        tell(RoundRecord(number=number, given=given, new_rows=new, rows=total, seconds=seconds))
        if not new:
            return
    raise NoFixpoint(view=rounds.view.name, rounds=most, new=new, rows=total, origin=rounds.view.origin)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of one fixpoint, by number from 1, each with a folder for the rows that it found."""

    session: RunSession
    view: ScheduledView
    fixpoint: PlannedFixpoint
    place: Path

    def give(self, number: int) -> Literal["none", "new", "all"]:
        """Lets the view's own name stand for the rows that a round is given."""
        columns = StructType.fromJson(json.loads(self.fixpoint.schema))
        if number == 1:
            register_empty(self.session, self.view.name, columns)
            return "none"
        is_linear = self.fixpoint.linear
        rows = self._scan(self._folder(number - 1) if is_linear else self.place, columns)
        rows.createOrReplaceTempView(self.view.name)
        return "new" if is_linear else "all"

    def find_new(self, number: int) -> int:
        """Writes the new rows of a round; how many they are."""
        folder = self._folder(number)
        self.new_rows(number).write.parquet(str(folder))
        return sum(pq.read_metadata(each).num_rows for each in sorted(folder.glob("*.parquet")))

    def new_rows(self, number: int) -> DataFrame:
        """The rows that a step makes of what it is given, each once, and that no round before has found."""
        made = self.view.rows(self.session)
        return made.subtract(self._scan(self.place, made.schema)) if number > 1 else made.distinct()

    def all(self) -> DataFrame:
        """The rows of all rounds, with the columns of the step, and what these say of themselves."""
        return self._scan(self.place, self.view.rows(self.session).schema)

    def _folder(self, number: int) -> Path:
        return self.place / f"{number:06}"

    def _scan(self, folder: Path, columns: StructType) -> DataFrame:
        kinds = self.session.jvm.org.apache.spark.sql.types.DataType
        reader = self.session.spark.read.option("recursiveFileLookup", "true")
        # Not through pyspark's `schema`: it asks the whole process which kind of session there is.
        cast("Any", reader)._jreader.schema(kinds.fromJson(as_stored(columns).json()))
        return reader.parquet(re.sub(r"([\[\]{}*?\\])", r"\\\1", str(folder)))


def _make_folder(place: Path) -> None:
    """Makes a folder and those above it, one of which another task may just be removing, as it is empty."""
    for left in reversed(range(_TRIES)):
        try:
            place.mkdir(parents=True)
        except OSError as error:
            if not left or not isinstance(error, FileNotFoundError):
                raise WarehouseNotWritable(path=str(place), detail=error.strerror or str(error)) from error
        else:
            return


def _remove(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    for folder in (place.parent, place.parent.parent):
        with suppress(OSError):  # others may be at work there
            folder.rmdir()
