"""What the engine throws during an operation, as our errors.

Not here: what a guard refuses before anything is done.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from headwater.delta.conflicts import classify
from headwater.delta.failures import writing_error
from headwater.errors import CommitConflict
from headwater.runtime import ENGINE_EXCEPTIONS, failure_of, local_path_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwater.delta.upkeep.note import Operation


@contextmanager
def upkeep_errors(operation: Operation, uri: str) -> Generator[None]:
    """Within it a table is operated on.

    Raises:
        CommitConflict: another writer was first; nothing was committed.
        MutationRefused: Delta does not do this to the table.
        WriteFailed, DataFileMissing, DataFileUnreadable: storage failed.
    """
    path = str(local_path_of(uri))
    try:
        yield
    except ENGINE_EXCEPTIONS as error:
        failed = failure_of(error)
        if classify(failed).verdict != "fail":
            raise CommitConflict(
                path=path, detail=failed.detail, condition=failed.condition, sql_state=failed.sql_state
            ) from error
        raise writing_error(error, path, operation) from error
