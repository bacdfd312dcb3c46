"""The plans of the last run, taken over where nothing that they were made of is another.

Planning goes by definitions, settings and the columns of sources, and never by rows. So where only rows
changed, every plan would come out as it did: it is taken from the record, and its inputs are filled in anew.
It is all plans or none. Not here: planning, and what may change without a plan becoming another.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from headwater.artifacts import PlanBasis, read_schedule
from headwater.digest import digest_of, digest_of_file
from headwater.errors import ManifestUnreadable
from headwater.plan import order_of
from headwater.run.bundling import file_of
from headwater.run.compile import Compiled, register_source
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.artifacts import Manifest, PlansRecord
    from headwater.digest import Plain
    from headwater.pipeline import Pipeline, ViewSpec
    from headwater.run.bundling import Bundling
    from headwater.run.pins import PinnedSource
    from headwater.runtime import RunSession


def basis_of(
    session: RunSession, pipeline: Pipeline, bundling: Bundling, reads: Mapping[str, tuple[str, ...]]
) -> PlanBasis:
    """What all plans of a pipeline are made of, once its sources are registered in `session`."""
    return PlanBasis(
        definitions=definitions_digest(pipeline, bundling, reads), sources=_columns_of(session, pipeline)
    )


def reused_plans(
    session: RunSession,
    pipeline: Pipeline,
    sources: Sequence[PinnedSource],
    bundling: Bundling,
    reads: Mapping[str, tuple[str, ...]],
    last: Manifest | None,
    warehouse: Path,
) -> tuple[Compiled, PlanBasis] | None:
    """The last run's plans with the inputs of this one; None if it must be planned. Sources are registered.

    Unlike after planning, no view is: whoever runs one registers first what it reads.
    """
    # A fixpoint reads its own name, for which something has to stand before it is made.
    if last is None or last.status != "done" or any(view.fixpoint for view in pipeline.views):
        return None
    recorded = _read(warehouse, last.run_id)
    if recorded is None or recorded.basis is None:
        return None
    if recorded.basis.definitions != definitions_digest(pipeline, bundling, reads):
        return None
    made = [register_source(session, source) for source in sources]
    if recorded.basis.sources != _columns_of(session, pipeline):
        return None
    everything = {**{source.spec.name: () for source in sources}, **reads}
    order = order_of(everything, {view.name: view.origin for view in pipeline.views})
    before, views = {each.view: each for each in recorded.plans}, {each.name: each for each in pipeline.views}
    bundles = {
        name: bundling.taken_over(replace(before[name], plan=views[name].plan.executable))
        for name in order
        if name in views
    }
    compiled = Compiled(
        order=order,
        reads=everything,
        registrations=tuple(each for each in made if each is not None),
        bundles=bundles,
        statistics=last.statistics,
    )
    return compiled, recorded.basis


def definitions_digest(pipeline: Pipeline, bundling: Bundling, reads: Mapping[str, tuple[str, ...]]) -> str:
    """One digest of whatever makes a plan what it is, but for the columns of sources."""
    identity, config = bundling.identity, bundling.config
    return digest_of(
        [
            _planner_digest(),
            identity.digest,
            identity.functions.digest,
            config.rules_digest,
            {view.name: _said(view, bundling, reads[view.name]) for view in pipeline.views},
            {each.name: [each.digest, each.read.identity()] for each in pipeline.sources},
        ]
    )


def _said(view: ViewSpec, bundling: Bundling, reads: tuple[str, ...]) -> Plain:
    """All of a view but the bytes that Spark runs: those of a function differ from process to process."""
    plan = view.plan
    return [
        [plan.digest, plan.reads, plan.sql, plan.functions, plan.python, plan.pure],
        [file_of(view, bundling.config), view.origin.line, view.language, view.written],
        [view.stored, view.cache, view.files, view.policy.identity()],
        [reads, bundling.functions_of(view)],
    ]


def _columns_of(session: RunSession, pipeline: Pipeline) -> dict[str, str]:
    """A digest of the columns of each source as views see them: names, types, nulls and what they mean."""
    with engine_errors():
        return {
            each.name: digest_of(session.spark.table(each.name).schema.json()) for each in pipeline.sources
        }


@lru_cache(maxsize=1)
def _planner_digest() -> str:
    """What changes when any line of this package does: all of it may have a part in a plan."""
    root = Path(__file__).parents[1]
    files = sorted(each for each in root.rglob("*") if each.suffix in {".py", ".java"})
    return digest_of([[str(each.relative_to(root)), digest_of_file(each)] for each in files])


def _read(warehouse: Path, run_id: str) -> PlansRecord | None:
    try:
        return read_schedule(warehouse, run_id)
    except ManifestUnreadable:
        return None
