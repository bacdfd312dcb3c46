"""Facts around a run that its steps do not need: what it has shown to work, and what became of its datasets.

Not here: what the run did; see `recording`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.artifacts import CapabilityRecord, HistoryRecord
from headwater.datasets import timestamp_of
from headwater.delta import note_of, read_history
from headwater.errors import DeltaError
from headwater.run.capabilities import PROBES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.delta import Receipt, Registration

_COMMITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All of them."""

    capabilities: tuple[CapabilityRecord, ...] = ()
    history: tuple[HistoryRecord, ...] = ()
    host: str = ""


def capabilities_shown(
    *, plans: int, receipts: Sequence[Receipt], registrations: Mapping[str, Registration]
) -> tuple[CapabilityRecord, ...]:
    """What a run has used and found to work, under the names that `doctor` tries the same things by."""
    feeds = sum("window" in each.options for each in registrations.values())
    seen = {
        "query": f"{len(registrations)} names were read" if registrations else None,
        "delta_commit": f"{len(receipts)} commits" if receipts else None,
        "change_feed": f"{feeds} feeds were read" if feeds else None,
        "plan_rehydration": f"{plans} plans were run" if plans else None,
    }
    return tuple(
        CapabilityRecord(
            name=name,
            compatible=True,
            entrypoint=f"headwater.{entrypoint}",
            module=module,
            ctx_kind="cloned_session",
            probe_result=result,
        )
        for name, entrypoint, module, _ in PROBES
        if (result := seen.get(name)) is not None
    )


def last_commits(uris: Mapping[str, str]) -> tuple[HistoryRecord, ...]:
    """The newest commits of each dataset, by name; nothing of one whose log cannot be read."""
    return tuple(record for name in sorted(uris) for record in _history(name, uris[name]))


def _history(name: str, uri: str) -> list[HistoryRecord]:
    try:
        commits = read_history(uri, _COMMITS)
    except DeltaError:
        return []
    return [
        HistoryRecord(
            dataset=name,
            version=each.version,
            timestamp=timestamp_of(each.timestamp_ms),
            operation=each.operation,
            run_id=note.run_id if (note := note_of(each.user_metadata)) else None,
        )
        for each in commits
    ]
