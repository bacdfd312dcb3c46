"""Numbers that Spark gathers from rows on their way through a job that reads them anyway.

Not here: what they prove. A task that was tried twice counts twice, so a number is checked against another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from headwater.delta.columns import sql_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.runtime import RunSession

_BUS_PATIENCE_MS = 60_000


class Observed:
    """Rows that give numbers, by SQL aggregates, to whoever asks once a job has read them all."""

    def __init__(self, session: RunSession, rows: Any, name: str, aggregates: Sequence[str]) -> None:
        self._session = session
        self._observation = session.jvm.org.apache.spark.sql.Observation(name)
        columns: list[Any] = [sql_column(session, each)._jc for each in aggregates]
        gateway: Any = session.spark.sparkContext._gateway
        rest = gateway.new_array(session.jvm.org.apache.spark.sql.Column, len(columns) - 1)
        for index, column in enumerate(columns[1:]):
            rest[index] = column
        self.rows = DataFrame(rows._jdf.observe(self._observation, columns[0], rest), session.spark)

    def found(self) -> tuple[int | None, ...] | None:
        """The numbers, once the job is over; None if no job came to its end."""
        context: Any = self._session.spark.sparkContext._jsc
        try:
            context.sc().listenerBus().waitUntilEmpty(_BUS_PATIENCE_MS)
        except Py4JJavaError:  # a bus that is not empty yet: then nothing was counted
            return None
        outcome = self._observation.future().value()
        if outcome.isEmpty() or outcome.get().isFailure():
            return None
        row = outcome.get().get()
        return (
            tuple(None if row.isNullAt(each) else int(row.getLong(each)) for each in range(row.length()))
            or None
        )
