"""A view as it is run: the bytes that were planned, by name, with where they were written.

Not here: planning, and what becomes of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.plan import rehydrate
from headwater.policies import WritePolicy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.origin import Origin
    from headwater.pipeline import ViewSpec
    from headwater.plan import PlanBundle, PlannedFixpoint
    from headwater.runtime import RunSession


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledView:
    """What a task runs; nothing of the definition is looked at any more."""

    name: str
    plan: bytes = field(repr=False)
    origin: Origin
    policy: WritePolicy = field(default_factory=WritePolicy)
    fixpoint: PlannedFixpoint | None = None

    @classmethod
    def of(cls, bundle: PlanBundle, view: ViewSpec) -> ScheduledView:
        """A planned view, with the place and the policy of its definition."""
        return cls(
            name=bundle.view,
            plan=bundle.plan,
            origin=view.origin,
            policy=view.policy,
            fixpoint=bundle.fixpoint,
        )

    def rows(self, session: RunSession) -> DataFrame:
        """The rows of the view over what is registered in `session` now; of a fixpoint, those of one step."""
        return rehydrate(session, self.plan, self.name, self.origin)
