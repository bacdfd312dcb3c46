"""A recorded run's plans, sent to a Spark Connect server as they are, and whether the rows are the same.

Each stored view is computed there at the versions that the run read, and its content digest is compared with
the recorded one; nothing is written anywhere. What takes a driver of Headwater's own is passed over, with the
reason. Not here: replays by a driver (`replaying`), which also compare rows with what is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.datasets import FeatureGate, ReadOptions
from headwater.delta import digest_rows, read_files_over_connect, read_over_connect
from headwater.errors import HeadwaterError
from headwater.run.outcome import Progress
from headwater.run.recorded import RecordedRun, open_recorded, origin_of
from headwater.run.replaying import ReplayedView, ReplayReport, chosen_views
from headwater.runtime import connect_session, engine_errors, frame_of_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.clock import Clock
    from headwater.run.outcome import Listener
    from headwater.run.pins import PinnedSource
    from headwater.run.replaying import ReplayRequest

# Under it the view itself is known to the server; numbers in its plan must not meet those of a new one.
_REPLAYED = "hw_replayed"
# What decides which rows of a table are read, or how; a version is pinned anyway.
_AS_IT_IS = ReadOptions()


def replay_over_connect(request: ReplayRequest, address: str, clock: Clock, listen: Listener) -> ReplayReport:
    """Computes the stored views of a run on the server at `sc://…`, and compares their digests.

    Raises:
        RunNotFound, RunAmbiguous: there is no such run, or several.
        NotRecorded: it has no such stored view.
        PinsGone: something that the run read is not there any more; all of it is listed.
        InvalidSetting, MasterUnreachable, SessionIncompatible: there is no such server.
    """
    start = clock.monotonic()
    run, profile = open_recorded(
        request.run, root=request.config.root, warehouse=request.warehouse, profile=request.profile
    )
    chosen, skipped = chosen_views(run, request.view)
    done = {each.name: each for each in skipped}
    for name in chosen:
        reason = _not_for_a_server(run, name)
        if reason is not None:
            recorded = run.tables[name].digest
            done[name] = ReplayedView(name=name, status="skipped", recorded=recorded, reason=reason)
    wanted = [name for name in chosen if name not in done]
    if wanted:
        run.check_pins(None, wanted)
        with connect_session(address, profile) as spark:
            sent = _Sent(run=run, spark=spark)
            for name in wanted:
                listen(Progress(message=f"sending {name}", done=len(done), total=len(run.order)))
                done[name] = sent.one(name)
    return ReplayReport(
        run_id=run.manifest.run_id,
        views=tuple(done[name] for name in run.order if name in done),
        seconds=clock.monotonic() - start,
    )


def _not_for_a_server(run: RecordedRun, view: str) -> str | None:
    """Why a view cannot be computed without a driver of Headwater's; None if it can."""
    if run.bundles[view].fixpoint is not None:
        return "not sent: a fixpoint is made in rounds, by a driver"
    for name in run.reached_by([view]):
        source = run.source(name) if run.table_pin(name) is None else None
        if source is None:
            continue
        plain = replace(
            source.spec.read, version=None, timestamp=None, gate=FeatureGate(), require_change_feed=False
        )
        if source.spec.kind in {"files", "changes"} or plain != _AS_IT_IS:
            return f"not sent: only a driver reads '{name}' as it was read"
    return None


@dataclass(frozen=True, kw_only=True)
class _Sent:
    """One replay on a server at work."""

    run: RecordedRun
    spark: SparkSession

    def one(self, name: str) -> ReplayedView:
        """A view, computed there; a failure is in what comes back."""
        bundle, recorded = self.run.bundles[name], self.run.tables[name].digest
        try:
            with engine_errors(origin_of(bundle)):
                self._register(name)
                frame_of_bytes(self.spark, bundle.plan).createOrReplaceTempView(_REPLAYED)
                found = digest_rows(self.spark.table(_REPLAYED).drop(*bundle.approximate))
        except HeadwaterError as error:
            reason = f"{error.code} {error.message}"
            return ReplayedView(name=name, status="failed", recorded=recorded, reason=reason)
        is_same = recorded is None or found.text == recorded
        return ReplayedView(
            name=name,
            status="equal" if is_same else "different",
            recorded=recorded,
            replayed=found.text,
            rows=found.rows,
            reason="" if is_same else "the server makes other rows than the run recorded",
        )

    def _register(self, view: str) -> None:
        """Gives names to all that a view reads, each after what it reads itself."""
        for name in self.run.read_by(view):
            pin, source = self.run.table_pin(name), self.run.source(name)
            if pin is not None:
                rows = read_over_connect(self.spark, pin)
            elif source is not None:
                rows = self._source(source)
            else:
                rows = frame_of_bytes(self.spark, self.run.bundles[name].plan)
            rows.createOrReplaceTempView(name)

    def _source(self, source: PinnedSource) -> DataFrame:
        spec = source.spec
        if source.files is not None:
            return read_files_over_connect(
                self.spark,
                source.files,
                file_format=spec.file_format or "",
                schema=spec.schema,
                options=spec.options,
            )
        if spec.kind == "memory" and spec.plan is not None:
            return frame_of_bytes(self.spark, spec.plan.executable)
        assert source.pin is not None  # noqa: S101  whatever is neither has a version
        return read_over_connect(self.spark, source.pin)
