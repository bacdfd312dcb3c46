"""Delta's exceptions for "another writer was there", each with what to do about it: by class or condition.

    retry     nothing that was read is in question: try again
    replan    what was read is no longer the newest: look at the table again, then try again
    fail      trying again would give the same

Not here: how often, and how long between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.runtime import Failure

Verdict = Literal["retry", "replan", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A conflict by its name, and the verdict on it."""

    name: str
    verdict: Verdict


# By the last part of the Java class: Delta's own conflicts have no condition that pyspark could read.
_BY_CLASS: Mapping[str, Conflict] = {
    f"{each.name}Exception": each
    for each in (
        Conflict(name="ConcurrentAppend", verdict="replan"),
        Conflict(name="ConcurrentDeleteRead", verdict="replan"),
        Conflict(name="ConcurrentDeleteDelete", verdict="replan"),
        Conflict(name="ConcurrentWrite", verdict="replan"),
        Conflict(name="ConcurrentTransaction", verdict="replan"),
        Conflict(name="MetadataChanged", verdict="replan"),
        Conflict(name="ProtocolChanged", verdict="replan"),
        Conflict(name="CommitFailed", verdict="retry"),
    )
}
_BY_CONDITION: Mapping[str, Conflict] = {
    "DELTA_CONCURRENT_APPEND": _BY_CLASS["ConcurrentAppendException"],
    "DELTA_CONCURRENT_DELETE_READ": _BY_CLASS["ConcurrentDeleteReadException"],
    "DELTA_CONCURRENT_DELETE_DELETE": _BY_CLASS["ConcurrentDeleteDeleteException"],
    "DELTA_CONCURRENT_WRITE": _BY_CLASS["ConcurrentWriteException"],
    "DELTA_CONCURRENT_TRANSACTION": _BY_CLASS["ConcurrentTransactionException"],
    "DELTA_METADATA_CHANGED": _BY_CLASS["MetadataChangedException"],
    "DELTA_PROTOCOL_CHANGED": _BY_CLASS["ProtocolChangedException"],
    # Delta gave up taking the next version after as many tries of its own as it is allowed.
    "DELTA_MAX_COMMIT_RETRIES_EXCEEDED": Conflict(name="CommitRetriesExceeded", verdict="retry"),
    "DELTA_CONCURRENT_LOG": Conflict(name="ConcurrentLog", verdict="retry"),
}
# Delta returned, and the commit is not there: a transaction of the same number was, so it wrote nothing.
DROPPED = Conflict(name="TransactionDropped", verdict="replan")


def classify(failure: Failure) -> Conflict:
    """The conflict that a failure is; what is none is to fail, since trying again would not mend it."""
    java = (failure.java_class or "").rpartition(".")[2]
    family = (failure.condition or "").partition(".")[0]
    found = _BY_CLASS.get(java) or _BY_CONDITION.get(family)
    return found or Conflict(name=family or java or "Unknown", verdict="fail")
