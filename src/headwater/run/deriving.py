"""The derived plan of a refresh: the view's own plan over the rows of affected keys, and those keys.

The keys are those of rows that inputs gained or lost since the table was made. Names of changed inputs come
to stand for their rows of these keys, and what the plan makes of them is cut to these keys once more. Not
here: whether that is enough, which `refreshing` has proven; and the commit.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec.structs import replace

from headwater.delta import changed_keys, checkpointed, restrict_rows
from headwater.digest import digest_of
from headwater.plan import PlannedInput, PlanText, RefreshPlan, RefreshWindow, analysed_tree, canonical_text

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pyspark.sql import DataFrame

    from headwater.plan import PlanBundle
    from headwater.run.refreshes import ChangedInput, Refresh
    from headwater.run.scheduled import ScheduledView
    from headwater.runtime import RunSession

# The affected keys under a name that no view can have.
KEYS = "hw_keys"
# More keys than this are not sent to every task of a join.
_MOST_SENT = 500_000


@dataclass(frozen=True, kw_only=True)
class AffectedKeys:
    """The keys whose rows may have changed, made once; `rows` has the columns of the table's key."""

    rows: DataFrame
    count: int
    windows: tuple[RefreshWindow, ...]


@contextmanager
def found_keys(session: RunSession, refresh: Refresh, view: ScheduledView) -> Generator[AffectedKeys]:
    """Within it, the keys that the changed inputs affect, registered as `hw_keys`.

    Raises:
        DeltaError: what would tell them is not there any more.
    """
    frames: list[DataFrame] = []
    windows: list[RefreshWindow] = []
    for each in refresh.changed:
        keys, window = _keys_of(session, each, view)
        frames.append(keys.toDF(*refresh.key))
        windows.append(window)
    union = frames[0]
    for each in frames[1:]:
        union = union.unionAll(each)
    union = union.distinct() if len(frames) > 1 else union
    with checkpointed(session, union, "MEMORY_AND_DISK") as rows:
        count = rows.count()
        sent = rows.hint("broadcast") if count <= _MOST_SENT else rows
        sent.createOrReplaceTempView(KEYS)
        yield AffectedKeys(rows=session.spark.table(KEYS), count=count, windows=tuple(windows))


def cut_inputs(
    session: RunSession, refresh: Refresh, keys: AffectedKeys, between: Sequence[ScheduledView]
) -> None:
    """Lets the names of changed inputs, and views between, stand for what has one of these keys."""
    for each in refresh.changed:
        rows = restrict_rows(session, session.spark.table(each.name), keys.rows, each.columns)
        if each.paths is not None:  # a source has as many parts as all of its files are worth
            rows = rows.coalesce(max(1, len(each.paths)))
        rows.createOrReplaceTempView(each.name)
    for each in between:
        each.rows(session).createOrReplaceTempView(each.name)


def derived_bundle(
    bundle: PlanBundle, rows: DataFrame, refresh: Refresh, windows: tuple[RefreshWindow, ...]
) -> PlanBundle:
    """What was run instead of a view's own plan, as a bundle of its own."""
    analysed = PlanText(text=canonical_text(analysed_tree(rows)))
    identity = digest_of([[each.dataset, each.first, each.last] for each in windows])
    inputs = (*bundle.inputs, PlannedInput(name=KEYS, kind="slot", identity=identity))
    return replace(
        bundle,
        analysed=analysed,
        inputs=inputs,
        scans=(),
        refresh=RefreshPlan(
            key=refresh.key,
            traces={each.name: each.columns for each in refresh.changed},
            windows=windows,
        ),
        fingerprint=replace(
            bundle.fingerprint,
            code=analysed.digest,
            inputs=digest_of({each.name: each.identity for each in inputs}),
        ),
    )


def _keys_of(
    session: RunSession, changed: ChangedInput, view: ScheduledView
) -> tuple[DataFrame, RefreshWindow]:
    if changed.paths is not None:
        rows = session.spark.createDataFrame(pa.table({"path": pa.array(changed.paths, pa.string())}))
        return rows, RefreshWindow(dataset=changed.name, provider="listing")
    old, new = changed.before, changed.pin
    if new is None:
        message = f"nobody has said at which version '{changed.name}' is read"
        raise ValueError(message)
    rows, is_fed = changed_keys(session, old, new, changed.columns, view.origin)
    window = RefreshWindow(
        dataset=changed.name,
        first=old.version + 1,
        last=new.version,
        provider="feed" if is_fed else "snapshots",
    )
    return rows, window
