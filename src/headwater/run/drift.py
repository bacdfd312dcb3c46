"""Whether a session would run plans as they were planned: settings, versions, functions, gates, side by side.

Functions in Python are part of a plan's bytes, so they are what they were. Not here: what a plan reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from headwater.datasets import feature_gate_of
from headwater.delta import check_gate
from headwater.errors import GateClosed, PlanDrift
from headwater.plan import IN_PYTHON
from headwater.runtime import redacted, settings_in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from headwater.delta import SnapshotInfo
    from headwater.plan import PlanBundle
    from headwater.runtime import RunSession

_NOT_SET = "not set"
_NOT_THERE = "not there"
_STORAGE = "storage."
_VERSION = "version."


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Drift:
    """One thing that a plan was made with, and what is here instead."""

    kind: Literal["function", "setting", "version", "gate"]
    name: str
    planned: str
    found: str

    @property
    def text(self) -> str:
        """Both sides on one line."""
        return f"{self.kind} {self.name}: planned {self.planned}, found {self.found}"


def check_drift(
    bundles: Iterable[PlanBundle],
    session: RunSession,
    snapshot_of: Callable[[str], SnapshotInfo | None] = lambda _name: None,
) -> None:
    """Raises PlanDrift with everything in which the session is not what the bundles were planned with.

    Args:
        bundles: what is to be run.
        session: where; its settings are asked of Spark itself.
        snapshot_of: a dataset at its pin by its name, for the gates; None for what is no Delta table.

    Raises:
        PlanDrift: they differ. Nothing was run.
    """
    found = drift_of(bundles, session, snapshot_of)
    if found:
        raise PlanDrift(differences=tuple(each.text for each in found))


def drift_of(
    bundles: Iterable[PlanBundle],
    session: RunSession,
    snapshot_of: Callable[[str], SnapshotInfo | None] = lambda _name: None,
) -> tuple[Drift, ...]:
    """The same as values: each difference once, sorted by kind and name."""
    bundles = tuple(bundles)
    here = _settings(session, {key for bundle in bundles for key in bundle.settings})
    functions = {each.name: each.behaviour for each in session.runtime.identity.functions.definitions}
    own = {key for key, _ in session.runtime.identity.settings.results}
    found: set[Drift] = set()
    for bundle in bundles:
        found.update(_settings_drift(bundle, here, own))
        found.update(_function_drift(bundle, functions))
        found.update(_gate_drift(bundle, snapshot_of))
    return tuple(sorted(found))


def _settings(session: RunSession, planned: Collection[str]) -> dict[str, str]:
    identity = session.runtime.identity
    wanted = [key for key in planned if not key.startswith((_STORAGE, _VERSION))]
    return {
        **dict(redacted(tuple(settings_in_force(session, wanted).items()))),
        **{f"{_STORAGE}{key}": value for key, value in identity.storage},
        f"{_VERSION}delta": identity.versions.delta,
        f"{_VERSION}scala": identity.versions.scala,
        f"{_VERSION}spark": identity.versions.spark,
    }


def _settings_drift(bundle: PlanBundle, here: Mapping[str, str], own: set[str]) -> Iterator[Drift]:
    """`own` are the settings of the session's profile that affect results: the plan knows of each."""
    stored = {key for key in here if key.startswith(_STORAGE)}
    for name in {*bundle.settings, *own, *stored}:
        planned, found = bundle.settings.get(name, _NOT_SET), here.get(name, _NOT_SET)
        if planned != found:
            is_version = name.startswith(_VERSION)
            shown = name.removeprefix(_VERSION)
            yield Drift(kind="version" if is_version else "setting", name=shown, planned=planned, found=found)


def _function_drift(bundle: PlanBundle, here: Mapping[str, str]) -> Iterator[Drift]:
    for each in bundle.functions:
        found = here.get(each.name, _NOT_THERE)
        if found != each.digest and not each.name.startswith(IN_PYTHON):
            yield Drift(kind="function", name=each.name, planned=each.digest, found=found)


def _gate_drift(bundle: PlanBundle, snapshot_of: Callable[[str], SnapshotInfo | None]) -> Iterator[Drift]:
    for name, gate in bundle.gates.items():
        snapshot = snapshot_of(name)
        try:
            if snapshot is not None:
                check_gate(feature_gate_of("gate", gate), snapshot, name)
        except GateClosed as error:
            yield Drift(kind="gate", name=name, planned=error.required, found=error.found)
