"""The plans of one run, as one JSON file beside its manifest: what a later run is compared with.

Not here: the plans themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater.artifacts.records import write_whole
from headwater.errors import ManifestUnreadable
from headwater.plan import PlanBundle  # noqa: TC001  msgspec reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class PlansRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every view of a run as it was planned, sorted by name."""

    schema_version: int = 1
    plans: tuple[PlanBundle, ...]


def encode_plans(bundles: Iterable[PlanBundle]) -> bytes:
    """The plans' one form: keys sorted, a final newline."""
    record = PlansRecord(plans=tuple(sorted(bundles, key=lambda each: each.view)))
    return msgspec.json.encode(record, order="sorted") + b"\n"


def commit_plans(warehouse: Path, run_id: str, bundles: Iterable[PlanBundle]) -> Path:
    """Writes a run's plans in one step."""
    return write_whole(_path(warehouse, run_id), encode_plans(bundles), warehouse)


def read_plans(warehouse: Path, run_id: str) -> dict[str, PlanBundle]:
    """A run's plans by view; none if it was recorded before plans were.

    Raises:
        ManifestUnreadable: the file is there, and is not one.
    """
    path = _path(warehouse, run_id)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ManifestUnreadable(path=str(path), detail=str(error)) from error
    try:
        found = msgspec.json.decode(content, type=PlansRecord)
    except msgspec.MsgspecError as error:
        raise ManifestUnreadable(path=str(path), detail=str(error)) from error
    return {each.view: each for each in found.plans}


def _path(warehouse: Path, run_id: str) -> Path:
    return warehouse / "runs" / run_id / "plans.json"
