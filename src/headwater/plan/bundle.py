"""A planned view as a value: the system of record of what will run, and of what ran.

Everything in it is the same on every machine, but for the bytes that Spark runs: they say where each line of
the view stood. Not here: how a bundle is made, which `run` does, and what differs between two.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from headwater.digest import digest_of
from headwater.plan.agreement import SemanticCheck  # noqa: TC001  msgspec reads the annotations
from headwater.plan.canonical import dot_of
from headwater.plan.fingerprint import Fingerprint  # noqa: TC001  msgspec reads the annotations
from headwater.plan.lineage import ViewLineage  # noqa: TC001  the same
from headwater.plan.rules import CHANCES

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = 1
# What the names of functions begin with that a project has in Python; the rest is `<name>:<digest>`.
IN_PYTHON = "python:"


class PlanText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A plan in canonical form; or, where there is none, the error that stood in its way."""

    text: str = ""
    error: str | None = None

    @property
    def digest(self) -> str:
        """The identity of the text."""
        return digest_of(self.text)


class PlannedInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that a view reads.

    A `pin` is a dataset at a version that is there; a `slot` will be filled by this run; a `view` is not
    stored, and a part of the plan.
    """

    name: str
    kind: Literal["pin", "slot", "view"]
    identity: str
    version: int | None = None


class PlannedColumn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column that a view puts out; `semantic_type` is what its values stand for, if it says so."""

    name: str
    type: str
    semantic_type: str | None = None


class PlannedFunction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A function that a view calls; `digest` changes with what it computes."""

    name: str
    digest: str


class ScanUnit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one pinned table is read for: the files there are, those that are left, and by which filters.

    Attributes:
        key: `scan::<dataset>::<version>`.
        candidate_files, candidate_bytes: All files of the version.
        kept_files, kept_bytes, kept_rows: Those that statistics and partitions cannot rule out; rows are None
            where the log does not count them.
        used_filters, unused_filters: The filters that could rule files out, and those that could not.
        columns: The columns that are read.
    """

    key: str
    dataset: str
    version: int
    candidate_files: int
    candidate_bytes: int
    kept_files: int
    kept_bytes: int
    kept_rows: int | None = None
    used_filters: tuple[str, ...] = ()
    unused_filters: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


class PlanFinding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something in a plan that a rerun may not repeat, and what was decided about it.

    Attributes:
        code, rule: What it is, by its code and by the name that settings call it.
        severity: What was decided.
        detail: Where it is, in words.
        approximate: Columns whose floating-point values may differ in their last digits.
        arbitrary: Columns that may have any other value.
        rows: Whether it decides which rows there are.
    """

    code: str
    rule: str
    severity: Literal["refuse", "warn", "allow"]
    detail: str
    approximate: tuple[str, ...] = ()
    arbitrary: tuple[str, ...] = ()
    rows: bool = False


class PlannedFixpoint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That a view is applied to its own rows until nothing new appears.

    Attributes:
        schema: The columns that it declares, in Spark's JSON.
        max_rounds: How many rounds there may be; the last of them finds nothing new.
        linear: Whether a round is given the rows alone that the one before it added, and not all so far.
        reason: Why not, if not.
    """

    schema: str
    max_rounds: int
    linear: bool
    reason: str = ""


class OperatorMetrics(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one operator of a physical plan counted while it ran: rows, bytes, milliseconds."""

    depth: int
    operator: str
    metrics: dict[str, int]


class RefreshWindow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was looked at to know which rows of an input changed.

    Attributes:
        dataset: The input.
        first, last: The versions whose changes count, both included; None for files.
        provider: `feed`, the table's change feed; `snapshots`, two versions compared; `listing`, two lists
            of files; `run`, the keys that the same run has replaced in it.
    """

    dataset: str
    first: int | None = None
    last: int | None = None
    provider: Literal["feed", "snapshots", "listing", "run"]


class RefreshPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a derived plan differs from its view's: inputs, and what is made of them, are cut to some keys.

    Attributes:
        key: The columns of the table that are the key.
        traces: By input, its columns that are cut to the keys, in the key's order.
        windows: Where the keys come from.
    """

    key: tuple[str, ...]
    traces: dict[str, tuple[str, ...]]
    windows: tuple[RefreshWindow, ...]


class PlanBundle(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One view, planned.

    Attributes:
        view, file, line, language, stored: What was planned, and where it is written.
        plan: The serialised plan that Spark runs; `plan_digest` is that of its canonical form. `written` is a
            digest of what its author wrote, where that can stay while the plan becomes another.
        analysed, optimised, physical: Spark's plans in canonical form. The last two depend on data, and are
            there once they were asked for.
        columns: What the view puts out.
        settings: The settings and versions that results depend on.
        functions, tags: The functions it calls and the families they belong to; `function_digest` is that of
            all functions of the session.
        inputs: What it reads; `gates` are what it asks of the protocol of each.
        policy: How its table is written, as far as that is not the default.
        semantics: What was seen about the meaning of columns.
        lineage: Which columns depend on which.
        scans: What is read of each pinned table, once that was asked for.
        findings: What may not repeat; `approximate` are the columns that are compared with a tolerance, be it
            by the view's own doing or by what it reads.
        keys: Columns that are unique together: those that the project declares, then those that the plan
            shows; one of no column means a single row.
        refresh: For a plan that was derived from a view's to make the rows of some keys, how.
        fixpoint: What holds for its rounds, if it is made of itself; its own name is none of its inputs.
        fingerprint: The identity of all this.
    """

    schema_version: int = SCHEMA_VERSION
    view: str
    file: str
    line: int
    language: str
    stored: bool
    plan: bytes
    plan_digest: str
    written: str | None = None
    analysed: PlanText
    optimised: PlanText | None = None
    physical: PlanText | None = None
    columns: tuple[PlannedColumn, ...]
    settings: dict[str, str]
    function_digest: str
    functions: tuple[PlannedFunction, ...]
    tags: tuple[str, ...]
    inputs: tuple[PlannedInput, ...]
    gates: dict[str, dict[str, Any]]
    policy: dict[str, Any]
    semantics: tuple[SemanticCheck, ...] = ()
    lineage: ViewLineage
    scans: tuple[ScanUnit, ...] = ()
    findings: tuple[PlanFinding, ...] = ()
    approximate: tuple[str, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()
    refresh: RefreshPlan | None = None
    fixpoint: PlannedFixpoint | None = None
    fingerprint: Fingerprint

    @property
    def key(self) -> str:
        """The view's node in the task graph."""
        return f"view::{self.view}::{self.fingerprint.digest}"

    @property
    def every_run(self) -> bool:
        """Whether a clock or chance is allowed in the view, so that its rows are other ones in every run."""
        return any(each.rule in CHANCES for each in self.findings)

    @property
    def required(self) -> dict[str, tuple[str, ...]]:
        """The columns and fields of each dataset that must be read."""
        return self.lineage.required

    @property
    def dot(self) -> str:
        """The analysed plan as a graph."""
        return dot_of(self.analysed.text, self.view)

    def _repr_html_(self) -> str:
        """The bundle in a notebook."""
        rows = "".join(
            f"<tr><td>{escape(column.name)}</td><td>{escape(column.type)}</td>"
            f"<td>{escape(_sources(self.lineage, column.name))}</td></tr>"
            for column in self.columns
        )
        return (
            f"<h4>{escape(self.view)} <small>{escape(self.file)}:{self.line}</small></h4>"
            f"<p><code>{escape(self.fingerprint.digest[:16])}</code> reads "
            f"{escape(', '.join(each.name for each in self.inputs) or 'nothing')}</p>"
            f"<table><tr><th>column</th><th>type</th><th>from</th></tr>{rows}</table>"
            f"<details><summary>plan</summary><pre>{escape(self.analysed.text)}</pre></details>"
        )


def parts_of(bundle: PlanBundle, bundles: Mapping[str, PlanBundle]) -> tuple[PlanBundle, ...]:
    """A view, and after it every one that is not stored and a part of it, each once.

    `bundles` are other views by name; parts that are not among them are left out.
    """
    found: dict[str, PlanBundle] = {}
    waiting = [bundle]
    while waiting:
        part = waiting.pop()
        if part.view not in found:
            found[part.view] = part
            inner = [bundles.get(each.name) for each in part.inputs if each.kind == "view"]
            waiting += [each for each in reversed(inner) if each is not None]
    return tuple(found.values())


def makes_fresh_rows(bundle: PlanBundle, bundles: Mapping[str, PlanBundle]) -> bool:
    """Whether every run makes other rows, be it by a view that is a part of this one."""
    return any(each.every_run for each in parts_of(bundle, bundles))


def scan_unit_key(dataset: str, version: int) -> str:
    """The key of a scan in the task graph."""
    return f"scan::{dataset}::{version}"


def _sources(lineage: ViewLineage, column: str) -> str:
    found = [each.dependences for each in lineage.columns if each.name == column]
    return ", ".join(
        sorted({f"{path.dataset}.{path.column}" for each in found for path, kind in each if kind == "value"})
    )
