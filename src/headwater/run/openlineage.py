"""Whether anybody wants a run's OpenLineage events; what makes and sends them is loaded only then.

Not here: the events (`lineage_events`), when there are any (`emitting`), and where they go (`sending`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from headwater.run.events import NoEvents, RunEvents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.artifacts import Manifest
    from headwater.pipeline import Pipeline
    from headwater.run.compile import Compiled
    from headwater.run.steps import Run


def open_events(run: Run, pipeline: Pipeline, compiled: Compiled, stopped: Sequence[Manifest]) -> RunEvents:
    """Who is told of a run, and of those before it that were `stopped`."""
    if not run.request.openlineage.is_on:
        return NoEvents()
    # The library takes half a second to import: nobody pays for it who has no events.
    emitting = import_module("headwater.run.emitting")
    return cast("RunEvents", emitting.LineageEvents(run, pipeline, compiled, stopped))
