"""How Spark would run a view, over the tables as they are; and, if asked, what each operator then counts.

Not here: canonical plans, and whether a view would run at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from headwater.errors import HeadwaterError, NothingToRead, NotPlanned
from headwater.names import near_hint
from headwater.pipeline import SourceSpec, ViewSpec
from headwater.plan import PlanText, canonical_text, plan_error, planned_trees, run_metrics
from headwater.run.compile import rehydrate_view
from headwater.run.making import reached_by
from headwater.run.outcome import Progress
from headwater.run.planning import Planning, recorded_plans
from headwater.run.sessions import LazySession
from headwater.run.steps import bundling_of, open_run, plan_views, read_definitions
from headwater.runtime import ENGINE_EXCEPTIONS, engine_errors, local_path_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.clock import Clock
    from headwater.pipeline import Pipeline
    from headwater.plan import OperatorMetrics, PlanBundle
    from headwater.run.outcome import Listener
    from headwater.run.pins import PinnedSource
    from headwater.run.steps import RunRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A view's bundle with all three plans; `metrics` are there if it was run."""

    bundle: PlanBundle
    metrics: tuple[OperatorMetrics, ...] = ()


def explain_view(
    request: RunRequest, clock: Clock, listen: Listener, name: str, *, analyze: bool = False
) -> Explanation:
    """Plans a view to the end; with `analyze` runs it, too, and throws its rows away. Writes nothing.

    Raises:
        NotPlanned: there is no such view.
        NothingToRead: it is to be run, and a table that it reads is not there as it should be.
    """
    with (
        engine_errors(),
        LazySession(
            request.profile, lambda message: listen(Progress(message=message)), request.spark
        ) as engine,
    ):
        run = open_run(request, clock, listen, engine)
        pipeline = read_definitions(run)
        view = _view(pipeline, name)
        sources = [run.pins.pinned(source) for source in pipeline.sources]
        bundling = bundling_of(run, pipeline)
        compiled = plan_views(run, pipeline, sources, bundling)
        planning = Planning(run, pipeline, compiled, bundling, recorded_plans(run), scans=False)
        planned = planning.plan()
        frame = rehydrate_view(planning.session, view)
        bundle = _with_plans(planning, planned.bundles[view.name], view, frame)
        if not analyze:
            return Explanation(bundle=bundle)
        missing = {each.name: each.reason for each in planned.views if each.action == "built"}
        missing |= {each.spec.name: "it was not made yet" for each in sources if each.pin is None}
        for each in reached_by(compiled, pipeline, view.name):
            if each in missing:
                raise NothingToRead(name=each, reason=missing[each], path=str(request.config.root))
        listen(Progress(message=f"running {view.name}"))
        return Explanation(bundle=bundle, metrics=tuple(run_metrics(frame)))


def _view(pipeline: Pipeline, name: str) -> ViewSpec:
    found = pipeline.spec(name)
    if isinstance(found, ViewSpec):
        return found
    known = tuple(view.name for view in pipeline.views)
    raise NotPlanned(what="view", name=name, known=known, hint=near_hint(name, known))


def _with_plans(planning: Planning, bundle: PlanBundle, view: ViewSpec, frame: DataFrame) -> PlanBundle:
    names = _names_of_places(planning, view.name)
    try:
        optimised, physical = planned_trees(frame)
        texts = [PlanText(text=canonical_text(tree, names)) for tree in (optimised, physical)]
    except ENGINE_EXCEPTIONS as error:
        texts = [_failed(plan_error(error, view.name, view.origin))] * 2
    except HeadwaterError as error:
        texts = [_failed(error)] * 2
    return replace(bundle, optimised=texts[0], physical=texts[1])


def _failed(error: HeadwaterError) -> PlanText:
    """What is recorded of a plan that Spark could not make."""
    return PlanText(error=f"{error.code} {error.message}")


def _names_of_places(planning: Planning, view: str) -> dict[str, str]:
    """The datasets behind the places that scans read: tables with their versions, and files of listings."""
    found: dict[str, str] = {}
    for name in (view, *reached_by(planning.compiled, planning.pipeline, view)):
        pin, spec = planning.pin_of(name), planning.pipeline.spec(name)
        if pin is not None:
            found[f"file:{local_path_of(pin.uri)}"] = f"{pin.name}@{pin.version}"
        elif isinstance(spec, SourceSpec):
            found = {**_places_of(planning.run.pins.pinned(spec)), **found}
    return found


def _places_of(source: PinnedSource) -> dict[str, str]:
    """The same for a source that is no Delta table at a version: its changes, or files of a listing."""
    name = source.spec.name
    if source.changes is not None:
        pin = source.changes.pin
        return {f"file:{local_path_of(pin.uri)}": f"{name}@{pin.version}"}
    if source.files is None:
        return {}
    root = local_path_of(source.files.pin.uri)
    return {f"file:{root / each.path}": f"{name}/{each.path}".rstrip("/") for each in source.files.files}
