"""What must hold before a table is read: its protocol has what a gate asks for, and Delta itself reads it.

Not here: what the protocol is; see `snapshot`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.datasets import DEGRADED_PROVIDERS
from headwater.errors import (
    DegradedRefused,
    GateClosed,
    ReaderFeatureMissing,
    ReaderVersionTooLow,
    WriterFeatureMissing,
    WriterVersionTooLow,
)
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from headwater.datasets import FeatureGate
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.origin import Origin
    from headwater.runtime import RunSession


def check_gate(gate: FeatureGate, snapshot: SnapshotInfo, dataset: str, origin: Origin | None = None) -> None:
    """Raises the error of the first thing that a table lacks of what its gate asks for.

    In order: reader version, writer version, reader features, writer features. A feature is there if the
    protocol lists it, or if the protocol is of an older version that implies it; Delta decides about that.

    Raises:
        ReaderVersionTooLow, WriterVersionTooLow, ReaderFeatureMissing, WriterFeatureMissing: it is closed.
    """
    found = _first_lack(gate, snapshot)
    if found is not None:
        kind, required, present = found
        raise kind(
            dataset=dataset,
            path=str(local_path_of(snapshot.table_uri)),
            required=required,
            found=present,
            origin=origin,
        )


def check_provider(
    session: RunSession, provider_kind: str, dataset: str, *, detail: str, remedy: str, origin: Origin | None
) -> None:
    """Raises DegradedRefused for a way around Delta that the session's profile does not allow by name."""
    if provider_kind in DEGRADED_PROVIDERS and provider_kind not in session.runtime.profile.allow_degraded:
        raise DegradedRefused(
            dataset=dataset, provider_kind=provider_kind, detail=detail, remedy=remedy, origin=origin
        )


def _first_lack(gate: FeatureGate, snapshot: SnapshotInfo) -> tuple[type[GateClosed], str, str] | None:
    if snapshot.min_reader_version < gate.min_reader_version:
        words = f"reader version {gate.min_reader_version}"
        return ReaderVersionTooLow, words, f"reader version {snapshot.min_reader_version}"
    if snapshot.min_writer_version < gate.min_writer_version:
        words = f"writer version {gate.min_writer_version}"
        return WriterVersionTooLow, words, f"writer version {snapshot.min_writer_version}"
    readable = {*snapshot.reader_features, *snapshot.implied_reader_features}
    writable = {*snapshot.writer_features, *snapshot.implied_writer_features}
    sides = (
        (ReaderFeatureMissing, "reader", gate.required_reader_features, readable),
        (WriterFeatureMissing, "writer", gate.required_writer_features, writable),
    )
    for kind, side, required, present in sides:
        lacking = tuple(sorted(set(required) - present))
        if lacking:
            return kind, _features(side, lacking), _features(side, tuple(sorted(present)))
    return None


def _features(side: str, names: tuple[str, ...]) -> str:
    if not names:
        return f"no {side} features"
    return f"the {side} feature{'' if len(names) == 1 else 's'} {', '.join(names)}"
