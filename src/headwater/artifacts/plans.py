"""The plans of one run, as one JSON file beside its manifest: what a later run is compared with.

Not here: the plans themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater.artifacts.records import check_version, write_whole
from headwater.errors import ManifestUnreadable
from headwater.plan import PlanBundle  # noqa: TC001  msgspec reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_SCHEMA_VERSION = 1


class PlannedSource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source as it was declared, so that it can be read again when its definition is gone.

    `plan` makes rows that are in memory, or that a source makes; the manifest has its pin and its options.
    """

    name: str
    kind: str
    path: str | None = None
    file_format: str | None = None
    schema: str | None = None
    options: dict[str, str] = {}
    plan: bytes | None = None


class PlanBasis(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that the plans of a run were made of, so that a later run can tell that its own would be the same.

    `definitions` is one digest of views, declarations, rules, settings and the planner itself; `sources` has
    a digest of the columns of each source, which belong to its data.
    """

    definitions: str
    sources: dict[str, str]


class PlansRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every view of a run as it was planned, and every source as it was declared, sorted by name.

    `derived` are the plans that were run instead of a view's own, to make the rows of some keys. `basis` is
    what the plans were made of.
    """

    schema_version: int = _SCHEMA_VERSION
    plans: tuple[PlanBundle, ...]
    sources: tuple[PlannedSource, ...] = ()
    derived: tuple[PlanBundle, ...] = ()
    basis: PlanBasis | None = None


def encode_plans(
    bundles: Iterable[PlanBundle], sources: Iterable[PlannedSource] = (), basis: PlanBasis | None = None
) -> bytes:
    """The plans' one form: keys sorted, a final newline."""
    ordered = sorted(bundles, key=lambda each: each.view)
    record = PlansRecord(
        plans=tuple(each for each in ordered if each.refresh is None),
        sources=tuple(sorted(sources, key=lambda each: each.name)),
        derived=tuple(each for each in ordered if each.refresh is not None),
        basis=basis,
    )
    return msgspec.json.encode(record, order="sorted") + b"\n"


def commit_plans(
    warehouse: Path,
    run_id: str,
    bundles: Iterable[PlanBundle],
    sources: Iterable[PlannedSource] = (),
    basis: PlanBasis | None = None,
) -> Path:
    """Writes a run's plans in one step."""
    return write_whole(_path(warehouse, run_id), encode_plans(bundles, sources, basis), warehouse)


def read_plans(warehouse: Path, run_id: str) -> dict[str, PlanBundle]:
    """A run's plans by view; none if it was recorded before plans were.

    Raises:
        ManifestUnreadable: the file is there, and is not one, or one of another schema version.
    """
    return {each.view: each for each in read_schedule(warehouse, run_id).plans}


def read_schedule(warehouse: Path, run_id: str) -> PlansRecord:
    """A run's plans and sources; none if it was recorded before plans were.

    Raises:
        ManifestUnreadable: the file is there, and is not one, or one of another schema version.
    """
    path = _path(warehouse, run_id)
    try:
        content = path.read_bytes()
        check_version(content, _SCHEMA_VERSION)
        return msgspec.json.decode(content, type=PlansRecord)
    except FileNotFoundError:
        return PlansRecord(plans=())
    except (OSError, msgspec.MsgspecError) as error:
        raise ManifestUnreadable(path=str(path), detail=str(error)) from error


def _path(warehouse: Path, run_id: str) -> Path:
    return warehouse / "runs" / run_id / "plans.json"
