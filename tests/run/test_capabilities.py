"""The one authoritative test of what an installation must be able to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.run import capabilities, probe_capabilities
from headwater.runtime import RuntimeProfile, SessionRuntime

if TYPE_CHECKING:
    from pathlib import Path

PROFILE = RuntimeProfile(master="local[2]", driver_memory="2g")
REQUIRED = ["query", "delta_commit", "change_feed", "plan_rehydration", "arrow_function"]


@pytest.mark.usefixtures("runtime")
def test_every_required_capability_works() -> None:
    found = probe_capabilities(PROFILE)
    assert [each.name for each in found] == REQUIRED
    assert [each.error for each in found] == [None] * len(REQUIRED)
    assert all(each.compatible for each in found)
    assert {each.name: each.probe_result for each in found}["change_feed"] == "version 1 changed by insert"
    assert {each.name: each.probe_result for each in found}[
        "arrow_function"
    ] == "a worker gave back [0, 1, 2]"


def test_a_probe_that_fails_is_reported_not_raised(
    runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(session: object, _folder: Path) -> str:
        with runtime.checkout() as inner:
            inner.spark.sql("SELECT nope")
        return str(session)

    monkeypatch.setattr(capabilities, "PROBES", (("query", "x", "y", broken),))
    (failed,) = probe_capabilities(PROFILE)
    assert not failed.compatible
    assert failed.error is not None
    assert failed.error.startswith("HW-ENGINE-001")
