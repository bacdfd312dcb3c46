"""Rows counted while a job reads them anyway: what a table's log promises must be what came out of its scan.

A view that reads a table to its last row, with nothing that could be pushed into the scan, is run in its own
session, in which that table is counted. Not here: which views those are; the plan says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.delta import ReadOptions, ScanCounter, promised_rows, read_pinned, verify_pin
from headwater.names import same_name
from headwater.plan import analysed_tree, names_read_whole
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pyspark.sql import DataFrame

    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.run.scheduled import ScheduledView
    from headwater.runtime import RunSession


@dataclass(kw_only=True)
class RowChecks:
    """What a run knows of its tables' rows: pins that can be counted, promises, counts that were right."""

    pins: dict[str, tuple[TablePin, ReadOptions]] = field(
        default_factory=dict[str, "tuple[TablePin, ReadOptions]"]
    )
    promised: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    checked: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, pin: TablePin, *, read: ReadOptions | None = None, promised: int | None = None) -> None:
        """A table that can be counted; `promised` are its rows, if its last commit wrote them all."""
        if read is not None and read.files is not None:
            return  # the promise is about all files
        self.pins[same_name(pin.name)] = pin, read or ReadOptions()
        if promised is not None:
            self.promised[same_name(pin.name)] = promised

    def pins_of(self, names: Collection[str] | None = None) -> tuple[TablePin, ...]:
        """The tables among `names`, or all."""
        wanted = self.pins if names is None else {same_name(name) for name in names}
        return tuple(pin for name, (pin, _) in self.pins.items() if name in wanted)

    def pin_of(self, name: str) -> TablePin | None:
        """A table by its name; None if it is not known, or not read as a whole."""
        found = self.pins.get(same_name(name))
        return found[0] if found else None

    def read_whole(self, rows: DataFrame, reached: Collection[str] | None = None) -> tuple[str, ...]:
        """The tables, of those that a view reaches, that its rows need whole and nobody has counted yet."""
        near = None if reached is None else {same_name(name) for name in reached}
        waiting = {each for each in self.pins if each not in self.checked and (near is None or each in near)}
        return names_read_whole(analysed_tree(rows, opens_views=True), waiting) if waiting else ()

    def promise(self, session: RunSession, name: str, origin: Origin | None) -> int | None:
        """How many rows a table has by its log; raises RowsDiffer if its checksum says otherwise."""
        if name not in self.promised:
            self.promised[name] = promised_rows(session, self.pins[name][0], origin)
        return self.promised[name]

    def confirm(self, session: RunSession, name: str, origin: Origin | None) -> None:
        """Reads a table on its own to see that it is whole; raises RowsDiffer if it is not."""
        pin = self.pins[name][0]
        found = verify_pin(session, pin)
        error = found.error(origin)
        if error is not None:
            raise error
        self.checked[name] = found.rows_scanned or 0


class WatchedView:
    """A view's rows, with each table that is read whole counted on the way.

    `session` is the task's own: names in it come to stand for rows that are counted.
    """

    def __init__(
        self,
        session: RunSession,
        view: ScheduledView,
        between: Sequence[ScheduledView],
        checks: RowChecks,
        reached: Collection[str] | None = None,
    ) -> None:
        self._session = session
        self._reached = reached
        self._view = view
        self._checks = checks
        self._counters: dict[str, ScanCounter] = {}
        self.rows = self._watched(between)

    def _watched(self, between: Sequence[ScheduledView]) -> DataFrame:
        rows = self._view.rows(self._session)
        whole = self._checks.read_whole(rows, self._reached)
        if not whole:
            return rows
        for name in whole:  # before anything is written: a log that contradicts itself is not read at all
            self._checks.promise(self._session, name, self._view.origin)
        with engine_errors(self._view.origin):
            for name in whole:
                pin, read = self._checks.pins[name]
                counted = read_pinned(self._session, pin, read, self._view.origin)
                counter = ScanCounter(self._session, pin, counted)
                counter.rows.createOrReplaceTempView(pin.name)
                self._counters[name] = counter
            for each in between:  # what lies between was planned over rows that nobody counts
                each.rows(self._session).createOrReplaceTempView(each.name)
        return self._view.rows(self._session)

    def check(self) -> None:
        """Raises RowsDiffer for a table that gave other rows than its log promises."""
        for name, counter in self._counters.items():
            promised = self._checks.promised[name]
            if counter.check(promised, self._view.origin):
                self._checks.checked[name] = promised or 0
