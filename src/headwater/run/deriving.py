"""The derived plan of a refresh: the view's own plan over the rows of affected keys, and those keys.

The keys are those of rows that inputs gained or lost since the table was made. Names of changed inputs come
to stand for their rows of these keys, and what the plan makes of them is cut to these keys once more. Not
here: whether that is enough, which `refreshing` has proven; and the commit.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec.structs import replace
from pyspark.sql.types import StructType

from headwater.delta import changed_keys, checkpointed, few_keys, restrict_rows
from headwater.digest import digest_of
from headwater.names import same_name
from headwater.plan import PlannedInput, PlanText, RefreshPlan, RefreshWindow, analysed_tree, canonical_text

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from pyspark.sql import DataFrame

    from headwater.delta import FewKeys
    from headwater.plan import PlanBundle
    from headwater.run.refreshes import ChangedInput, Refresh, ReplacedKeys
    from headwater.run.scheduled import ScheduledView
    from headwater.runtime import RunSession

# The affected keys under a name that no view can have.
KEYS = "hw_keys"
# More keys than this are not sent to every task of a join.
_MOST_SENT = 500_000


@dataclass(frozen=True, kw_only=True)
class AffectedKeys:
    """The keys whose rows may have changed, made once; `rows` has the columns of the table's key.

    `few` are the same as values, None if they are too many.
    """

    rows: DataFrame
    count: int
    few: FewKeys | None
    windows: tuple[RefreshWindow, ...]


@contextmanager
def found_keys(
    session: RunSession,
    refresh: Refresh,
    view: ScheduledView,
    replaced: Mapping[str, ReplacedKeys] | None = None,
) -> Generator[AffectedKeys]:
    """Within it, the keys that the changed inputs affect, registered as `hw_keys`.

    `replaced` are those of tables that this run has refreshed: nobody has to look for them again.

    Raises:
        DeltaError: what would tell them is not there any more.
    """
    known = replaced or {}
    found = [_keys_of(session, each, view, known.get(same_name(each.name))) for each in refresh.changed]
    frames = [keys.toDF(*refresh.key) for keys, _ in found]
    windows = tuple(window for _, window in found)
    union = frames[0]
    for each in frames[1:]:
        union = union.unionAll(each)
    union = union.distinct() if len(frames) > 1 else union
    with ExitStack() as leaving:
        # What is not read from tables is at hand as it is; all else is made once.
        is_made = all(window.provider in {"listing", "run"} for window in windows)
        rows = union if is_made else leaving.enter_context(checkpointed(session, union, "MEMORY_AND_DISK"))
        few = few_keys(rows)
        count = rows.count() if few is None else len(few.values)
        sent = few.frame(session, rows.schema) if few else rows
        (sent.hint("broadcast") if count <= _MOST_SENT else sent).createOrReplaceTempView(KEYS)
        yield AffectedKeys(rows=session.spark.table(KEYS), count=count, few=few, windows=windows)


def cut_inputs(
    session: RunSession, refresh: Refresh, keys: AffectedKeys, between: Sequence[ScheduledView]
) -> None:
    """Lets the names of changed inputs, and views between, stand for what has one of these keys."""
    for each in refresh.changed:
        rows = session.spark.table(each.name)
        if keys.few is not None:
            # Values in a condition leave out files, and need no join.
            rows = rows.where(keys.few.condition(each.columns))
        else:
            rows = restrict_rows(session, rows, keys.rows, each.columns)
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
    session: RunSession, changed: ChangedInput, view: ScheduledView, replaced: ReplacedKeys | None
) -> tuple[DataFrame, RefreshWindow]:
    if changed.paths is not None:
        rows = session.spark.createDataFrame(pa.table({"path": pa.array(changed.paths, pa.string())}))
        return rows, RefreshWindow(dataset=changed.name, provider="listing")
    old, new = changed.before, changed.pin
    if new is None:
        message = f"nobody has said at which version '{changed.name}' is read"
        raise ValueError(message)
    known = replaced.keys_for(changed) if replaced else None
    if known is not None:
        fields = {same_name(each.name): each for each in session.spark.table(changed.name).schema.fields}
        rows = known.frame(session, StructType([fields[same_name(each)] for each in changed.columns]))
        return rows, RefreshWindow(
            dataset=changed.name, first=old.version + 1, last=new.version, provider="run"
        )
    rows, is_fed = changed_keys(session, old, new, changed.columns, view.origin)
    window = RefreshWindow(
        dataset=changed.name,
        first=old.version + 1,
        last=new.version,
        provider="feed" if is_fed else "snapshots",
    )
    return rows, window
