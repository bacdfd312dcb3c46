"""A project that is open: the library's front door.

    import headwater

    project = headwater.open("examples/orders")
    outcome = project.build()
    with project.query("SELECT country, revenue_eur FROM revenue_by_country") as result:
        table = result.read_all()

Not here: how a build goes; see `engine`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.clock import Clock, SystemClock
from headwater.delta import LatestVersions
from headwater.errors import UnknownProfile
from headwater.pipeline import ProjectConfig, openlineage_in, read_project
from headwater.run.diffing import DiffRequest, RunDiff, diff_runs
from headwater.run.engine import execute
from headwater.run.explaining import Explanation, explain_view
from headwater.run.history import RunSummary, find_run, recent_runs
from headwater.run.outcome import Listener, RunOutcome, ignore_progress
from headwater.run.over_connect import replay_over_connect
from headwater.run.planning import ProjectPlan, plan_project
from headwater.run.query import QueryRequest, QueryResult, open_query
from headwater.run.replaying import ReplayReport, ReplayRequest, is_view_of, replay_run
from headwater.run.steps import RunRequest
from headwater.run.warehouse import Warehouse
from headwater.runtime import adopt_session, cache_policy, resolve_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

    from headwater.artifacts import Manifest
    from headwater.plan import Edge


class Project:
    """A project's folder with a profile. Under `snapshot_pinned` it sees each source as it first saw it.

    `spark` is the session of somebody else in whose application it works; None if Headwater starts its own.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | ProjectConfig,
        *,
        warehouse: str | os.PathLike[str] | None = None,
        profile: str | None = None,
        settings: Mapping[str, str] | None = None,
        spark: SparkSession | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Clock | None = None,
    ) -> None:
        variables = os.environ if environ is None else environ
        self.config = path if isinstance(path, ProjectConfig) else read_project(Path(path))
        named = profile or variables.get("HEADWATER_PROFILE")
        try:
            self.profile = resolve_profile(
                profiles=self.config.profiles,
                environ=variables,
                chosen=named or self.config.profile,
                flags=settings,
                source=self.config.source,
            )
        except UnknownProfile as error:
            error.origin = None if named else self.config.source.origin_of("profile")
            raise
        self.openlineage = openlineage_in(variables, self.config.openlineage)
        self.spark = spark
        if spark is not None:
            adopt_session(spark, self.profile)
        place = warehouse or variables.get("HEADWATER_WAREHOUSE") or self.config.root / ".headwater"
        self.warehouse = Warehouse(Path(place).resolve())
        self._clock = clock or SystemClock()
        self._latest = LatestVersions(cache_policy(self.profile.cache), self._clock)

    def build(
        self,
        *,
        full: bool = False,
        resume: bool = False,
        only: Iterable[str] = (),
        alone: bool = False,
        listen: Listener = ignore_progress,
    ) -> RunOutcome:
        """Brings every stored table up to date.

        Args:
            full: make each anew, changed or not.
            resume: go on where the last run did not end well, with the versions of sources that it had.
            only: the views that are wanted, with all that they read; every view if there is none.
            alone: whether this process ends with it, so that Spark may be started for this build only.
            listen: hears what is being done.

        Raises:
            HeadwaterError: nothing was written. Failures later on are in the outcome's `errors`.
        """
        request = self._request(full=full, resume=resume, only=tuple(only), alone=alone)
        return execute(request, self._clock, listen)

    def plan(
        self, *, full: bool = False, scans: bool = True, listen: Listener = ignore_progress
    ) -> ProjectPlan:
        """What a build would do, and why; writes nothing, and starts Spark only if something changed.

        Args:
            full: as if every table were to be made anew.
            scans: whether to ask what would be read of each table.
            listen: hears what is being done.

        Raises:
            HeadwaterError: what a build would raise before it writes.
        """
        return plan_project(self._request(full=full), self._clock, listen, scans=scans)

    def lineage(
        self, target: str, *, up: bool = True, down: bool = True, listen: Listener = ignore_progress
    ) -> tuple[Edge, ...]:
        """Every dependence, through all views, that a dataset or `dataset.column` has, or that is on it.

        Raises:
            NotPlanned: there is no such dataset, or no such column.
        """
        return self.plan(scans=False, listen=listen).lineage(target, up=up, down=down)

    def explain(self, view: str, *, analyze: bool = False, listen: Listener = ignore_progress) -> Explanation:
        """How Spark would run a view; with `analyze` it is run, and each operator says what it counted.

        Raises:
            NotPlanned: there is no such view.
            NothingToRead: it is to be run, and a table that it reads is not there as it should be.
        """
        return explain_view(self._request(), self._clock, listen, view, analyze=analyze)

    def runs(self, limit: int | None = None) -> tuple[RunSummary, ...]:
        """The runs on record, newest first, `limit` of them at the most; starts no Spark.

        Raises:
            ManifestUnreadable: the folder of the runs cannot be read. A run that cannot be is listed as such.
        """
        return recent_runs(self.warehouse.root, limit)

    def run(self, run_id: str) -> Manifest:
        """What one run did: by its id, the beginning of it, or `last`; starts no Spark.

        Raises:
            RunNotFound: there is no such run.
            RunAmbiguous: there are several.
            ManifestUnreadable: its record cannot be read.
        """
        return find_run(self.warehouse.root, run_id)

    def _request(
        self, *, full: bool = False, resume: bool = False, only: tuple[str, ...] = (), alone: bool = False
    ) -> RunRequest:
        return RunRequest(
            config=self.config,
            profile=self.profile,
            warehouse=self.warehouse,
            latest=self._latest,
            full=full,
            resume=resume,
            only=only,
            alone=alone,
            spark=self.spark,
            openlineage=self.openlineage,
        )

    def query(self, sql: str, *, limit: int | None = None, listen: Listener = ignore_progress) -> QueryResult:
        """The rows of one SELECT over what the last run left, as a stream that is computed as it is read.

        Args:
            sql: reads names of the project and does nothing else.
            limit: the most rows that are wanted; all if None.
            listen: hears what is being done.

        Raises:
            QueryError, PlanError: the query is refused or wrong, or a name in it leads to no rows.
            VersionNotFound: what the last run recorded is not there any more.
        """
        request = QueryRequest(
            config=self.config,
            profile=self.profile,
            warehouse=self.warehouse,
            latest=self._latest,
            sql=sql,
            limit=limit,
            spark=self.spark,
        )
        return open_query(request, self._clock, listen)

    def replay(
        self,
        run: str,
        view: str | None = None,
        *,
        keep: bool = False,
        connect: str | None = None,
        listen: Listener = ignore_progress,
    ) -> ReplayReport:
        """Makes the stored tables of a recorded run again, in a scratch place, and compares the rows.

        Nothing of the project's definitions is read: the run's record has its plans.

        Args:
            run: a run's id, the beginning of one, or `last`.
            view: a stored view of that run; all if None.
            keep: leave what was made, and say where.
            connect: the address of a Spark Connect server, `sc://host:15002`: the recorded plans are sent to
                it as they are, and only digests of what it computes come back. Nothing is made then.
            listen: hears what is being done.

        Raises:
            RunNotFound, RunAmbiguous: there is no such run, or several.
            NotRecorded: there is no such stored view in it.
            PinsGone: something that the run read or made is not there any more.
            PlanDrift: this installation would not run the plans as they were planned.
            MasterUnreachable, SessionIncompatible: there is no such server, or one of another Spark.
        """
        request = ReplayRequest(
            config=self.config,
            profile=self.profile,
            warehouse=self.warehouse,
            run=run,
            view=view,
            keep=keep,
            spark=self.spark,
        )
        if connect is not None:
            return replay_over_connect(request, connect, self._clock, listen)
        return replay_run(request, self._clock, listen)

    def diff(
        self, before: str, after: str, *, rows: bool = True, listen: Listener = ignore_progress
    ) -> RunDiff:
        """What differs between the tables of two recorded runs, and what changed that accounts for it.

        Args:
            before: a run's id, the beginning of one, `previous` or `last`.
            after: the other run, usually the later one.
            rows: whether to read the tables that differ, and tell their rows apart.
            listen: hears what is being done.

        Raises:
            RunNotFound, RunAmbiguous: there is no such run, or several.
            NotRecorded, ManifestUnreadable: the plans of one were not kept, or cannot be read.
        """
        request = DiffRequest(
            config=self.config,
            profile=self.profile,
            warehouse=self.warehouse,
            before=before,
            after=after,
            rows=rows,
            spark=self.spark,
        )
        return diff_runs(request, listen)

    def has_view(self, run: str, name: str) -> bool:
        """Whether a recorded run has a view of that name; RunNotFound if there is no such run."""
        return is_view_of(find_run(self.warehouse.root, run), name)
