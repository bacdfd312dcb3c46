"""What a view reads of each pinned table, as a part of its plan: files, filters and columns.

Not here: asking Delta; see `delta.scans_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.names import same_name
from headwater.plan import ScanUnit, scan_unit_key, top_column

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from headwater.delta import TableScan
    from headwater.plan import PlanBundle


def scan_units(
    bundles: Mapping[str, PlanBundle], view: str, scans: Iterable[TableScan]
) -> tuple[ScanUnit, ...]:
    """What Delta says it would read for a view, with the columns that are needed of each table."""
    needed = _needed(bundles, view)
    return tuple(_unit(each, needed.get(each.pin.name, ())) for each in scans)


def _needed(
    bundles: Mapping[str, PlanBundle], view: str, columns: Collection[str] | None = None
) -> dict[str, tuple[str, ...]]:
    """The columns of each dataset that a view needs, itself or through views that are not stored."""
    found: dict[str, set[str]] = {}
    for dataset, those in bundles[view].lineage.required_for(columns).items():
        inner = bundles.get(dataset)
        if inner is None or inner.stored:
            found.setdefault(dataset, set()).update(those)
            continue
        tops = {same_name(top_column(path)) for path in those}
        used = {column.name for column in inner.columns if same_name(column.name) in tops}
        for deeper, needed in _needed(bundles, dataset, used).items():
            found.setdefault(deeper, set()).update(needed)
    return {dataset: tuple(sorted(those)) for dataset, those in sorted(found.items())}


def _unit(scan: TableScan, columns: tuple[str, ...]) -> ScanUnit:
    return ScanUnit(
        key=scan_unit_key(scan.pin.name, scan.pin.version),
        dataset=scan.pin.name,
        version=scan.pin.version,
        candidate_files=scan.files_total,
        candidate_bytes=scan.bytes_total,
        kept_files=scan.files_kept,
        kept_bytes=scan.bytes_kept,
        kept_rows=scan.rows_kept,
        used_filters=scan.used_filters,
        unused_filters=scan.unused_filters,
        columns=columns,
    )
