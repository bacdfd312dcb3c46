from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta.conflicts import classify
from headwater.runtime import Failure

if TYPE_CHECKING:
    from headwater.runtime import RunSession

DELTA = "io.delta.exceptions"
FAMILIES = {
    "ConcurrentAppendException": "replan",
    "ConcurrentDeleteReadException": "replan",
    "ConcurrentDeleteDeleteException": "replan",
    "ConcurrentWriteException": "replan",
    "ConcurrentTransactionException": "replan",
    "MetadataChangedException": "replan",
    "ProtocolChangedException": "replan",
}


@pytest.mark.parametrize("name", FAMILIES)
def test_deltas_own_classes_are_known(session: RunSession, name: str) -> None:
    """The classes are Delta's: one that was renamed is not found, and the test fails."""
    kind: Any = session.jvm.java.lang.Class.forName(f"{DELTA}.{name}")
    root = session.jvm.java.lang.Class.forName(f"{DELTA}.DeltaConcurrentModificationException")
    assert root.isAssignableFrom(kind)
    found = classify(Failure(detail="whatever it says", java_class=str(kind.getName())))
    assert (f"{found.name}Exception", found.verdict) == (name, FAMILIES[name])


def test_every_class_that_delta_has_for_a_conflict_has_a_verdict(session: RunSession) -> None:
    there: list[str] = []
    source = session.jvm.java.lang.Class.forName("io.delta.exceptions.ConcurrentAppendException")
    jar = str(source.getProtectionDomain().getCodeSource().getLocation().getPath())
    entries: Any = session.jvm.java.util.jar.JarFile(jar).entries()
    while entries.hasMoreElements():
        entry = str(entries.nextElement().getName())
        if entry.startswith("io/delta/exceptions/") and entry.endswith("Exception.class"):
            there.append(entry.rpartition("/")[2].removesuffix(".class"))
    verdicts = {name: classify(Failure(detail="", java_class=f"{DELTA}.{name}")).verdict for name in there}
    known = {name for name, verdict in verdicts.items() if verdict != "fail"}
    assert known >= set(FAMILIES)
    assert set(there) - known <= {"DeltaConcurrentModificationException"}  # the root of them all


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("DELTA_CONCURRENT_APPEND.WITHOUT_HINT", "replan"),
        ("DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT", "replan"),
        ("DELTA_METADATA_CHANGED", "replan"),
        ("DELTA_PROTOCOL_CHANGED", "replan"),
        ("DELTA_MAX_COMMIT_RETRIES_EXCEEDED", "retry"),
        ("DELTA_METADATA_MISMATCH", "fail"),
        ("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "fail"),
        ("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "fail"),
        (None, "fail"),
    ],
)
def test_conditions_decide_and_words_do_not(condition: str | None, verdict: str) -> None:
    words = "ConcurrentAppendException [DELTA_CONCURRENT_APPEND] in the middle of a text"
    found = classify(Failure(detail=words, condition=condition, java_class="java.lang.RuntimeException"))
    assert found.verdict == verdict
