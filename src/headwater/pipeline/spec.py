"""Views and sources as values: everything a run needs to know of them, and nothing that can change.

Not here: how they were written; `building` makes them from definitions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pyspark.sql.types import StructType

from headwater.datasets import ReadOptions
from headwater.digest import digest_of
from headwater.names import same_name
from headwater.policies import WritePolicy

if TYPE_CHECKING:
    from headwater.origin import Origin
    from headwater.pipeline.canonical import PlanBytes
    from headwater.policies import ViewCachePolicy

SourceKind = Literal["delta", "changes", "listing", "files", "memory", "made"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixpoint:
    """That a table is the least set of rows that its definition makes of itself, round by round.

    `schema` has its columns in Spark's JSON. In the last of `max_rounds` rounds nothing may be new any more.
    """

    schema: str
    max_rounds: int

    @property
    def columns(self) -> StructType:
        """The schema as a value."""
        return StructType.fromJson(json.loads(self.schema))


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewSpec:
    """A step of the pipeline: its plan as bytes, whether its rows are kept, and how they are written.

    `cache` is how a run keeps the rows of a view that is not stored; results do not depend on it.
    `files` is the source of files of which it has a row for each, if it is an extractor.
    The plan of a `fixpoint` reads the view's own name. `written` is a digest of what the author wrote, where
    the plan can become another without that.
    """

    name: str
    origin: Origin
    language: Literal["python", "sql"]
    stored: bool
    plan: PlanBytes
    policy: WritePolicy = field(default_factory=WritePolicy)
    cache: ViewCachePolicy = "none"
    files: str | None = None
    fixpoint: Fixpoint | None = None
    written: str | None = None

    @property
    def digest(self) -> str:
        """The identity of what the view says, wherever and however it is written.

        How many rounds a fixpoint may take is not part of it: its rows do not depend on that.
        """
        if self.fixpoint is None:
            return self.plan.digest
        return digest_of([self.plan.digest, "fixpoint", self.fixpoint.schema])


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec:
    """What a pipeline starts from. `plan` is there for rows in memory and for rows that are made once."""

    name: str
    origin: Origin
    kind: SourceKind
    path: str | None = None
    file_format: str | None = None
    schema: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    plan: PlanBytes | None = None
    read: ReadOptions = field(default_factory=ReadOptions)

    @property
    def digest(self) -> str:
        """The identity of the declaration; the data has its own, the pin."""
        plan = self.plan.digest if self.plan else None
        said = [self.kind, self.path, self.file_format, self.schema, dict(self.options), plan]
        chosen = {key: value for key, value in self.read.identity().items() if key != "pushdown"}
        return digest_of([*said, chosen] if chosen else said)


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """All that a project says, each sorted by name."""

    name: str
    views: tuple[ViewSpec, ...]
    sources: tuple[SourceSpec, ...]

    def spec(self, name: str) -> ViewSpec | SourceSpec | None:
        """What a name means here, without regard to case; None if nothing."""
        return self._specs.get(same_name(name))

    @cached_property
    def _specs(self) -> dict[str, ViewSpec | SourceSpec]:
        return {same_name(each.name): each for each in (*self.sources, *self.views)}
