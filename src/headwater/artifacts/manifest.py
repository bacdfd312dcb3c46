"""What one run did, as one JSON file: enough to answer for it, and to know that nothing changed since.

In the file, what depends on the moment or the machine is in a part of its own, `observed`. Not here: what
belongs there, and the ledger's Delta tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from headwater.artifacts.observed import merge, split
from headwater.artifacts.records import RegistrationRecord, check_version, write_whole
from headwater.artifacts.writes import MutationRecord, ViolationRecord  # noqa: TC001  the same
from headwater.errors import ManifestUnreadable
from headwater.plan import OperatorMetrics, RefreshWindow, StatisticsDecision  # noqa: TC001  the same

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA_VERSION = 2
Action = Literal["built", "incremental", "skipped", "failed"]
Status = Literal["done", "unchanged", "failed"]


class PinRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dataset at a version, with the digest of the commit that made it."""

    version: int
    digest: str


class FileRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of a listing as it was read."""

    path: str
    size: int
    changed_ns: int
    sha256: str
    skip_reason: str | None = None


class SourceRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the run started from; `rows`: the commit that made its rows, if later ones rearranged them.

    `content` is the digest of rows that a source of the project made.
    """

    name: str
    kind: str
    digest: str
    pin: PinRecord
    path: str | None = None
    files: tuple[FileRecord, ...] = ()
    options: dict[str, Any] = {}
    starting_version: int | None = None
    rows: PinRecord | None = None
    content: str | None = None


class ViewRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A view as it was: where it stands in the project, the digest of its plan, what it reads and calls.

    `functions` are those of the catalogue, `tags` the families they belong to, `policy` what it says of how
    its table is written, as far as that is not the default. `every_run`: a clock or chance is allowed in it,
    so that no run can rely on an earlier one.
    """

    name: str
    file: str
    line: int
    language: str
    stored: bool
    digest: str
    reads: tuple[str, ...]
    functions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    policy: dict[str, Any] = {}
    every_run: bool = False


class RefreshRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a table was brought up to date, and why.

    Attributes:
        mode: Whether all of it was made, or the rows of affected keys.
        code, detail: Why, as a code and in words.
        key: The columns of those keys.
        keys: How many there were.
        windows: Where they came from.
    """

    mode: Literal["full", "incremental"]
    code: str
    detail: str = ""
    key: tuple[str, ...] = ()
    keys: int | None = None
    windows: tuple[RefreshWindow, ...] = ()


class RoundRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One round of a fixpoint: how many rows it found that were new, and how many there are with them.

    It was `given` no rows of the table, or the new ones of the round before, or all of the rounds before.
    """

    number: int
    given: Literal["none", "new", "all"]
    new_rows: int
    rows: int
    seconds: float


class TableRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stored table after the run.

    `started_at` and `seconds` are of the task that made it, and `refresh` tells how, if one ran; `rounds` are
    those of a fixpoint.
    """

    name: str
    action: Action
    reason: str
    version: int | None = None
    rows: int | None = None
    digest: str | None = None
    pin: PinRecord | None = None
    task_key: str | None = None
    started_at: str | None = None
    seconds: float | None = None
    refresh: RefreshRecord | None = None
    rounds: tuple[RoundRecord, ...] = ()


class OperatorsRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the operators of a slow task counted."""

    table: str
    operators: tuple[OperatorMetrics, ...]


class CapabilityRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that a run needed and did: by which door, and what came of it."""

    name: str
    compatible: bool
    entrypoint: str
    module: str
    ctx_kind: str
    probe_result: str | None = None
    error: str | None = None


class HistoryRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of the last commits of a dataset that a run touched; `run_id` if a run of Headwater made it."""

    dataset: str
    version: int
    timestamp: str
    operation: str
    run_id: str | None = None


class ViewCache(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a run kept the rows of a view that is not stored.

    `cache_path` is where they lie in staging, from the warehouse's folder. `hit`: they were there already,
    and nothing was run for them; `used`: a task of the run has read them.
    """

    view_name: str
    cache_policy: str
    cache_path: str | None
    plan_fingerprint: str
    hit: bool
    used: bool = False


class SchemaRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A schema that a view asked for, under a key that changes with whatever could change the answer."""

    key: str
    schema: str


class SqlRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tables that a SQL text reads and the functions of the catalogue that it calls, under its digest.

    A record of before there was a catalogue has nothing to say about functions.
    """

    digest: str
    reads: tuple[str, ...]
    functions: tuple[str, ...] | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run, whole. Everything in it is sorted by name.

    `rules` is the digest of what the project says about determinism and keys, None if it says nothing. `only`
    are the views that were asked for, if not all; `resumes` is the run whose pins this one has taken over.
    `history` are the last commits of every dataset, `caches` every view that is not stored.
    """

    schema_version: int = SCHEMA_VERSION
    run_id: str
    project: str
    status: Status
    started_at: str
    finished_at: str
    runtime_digest: str
    results_digest: str
    settings_results: dict[str, str]
    settings_speed: dict[str, str]
    storage: dict[str, str]
    cache: str
    rules: str | None = None
    function_digest: str
    families: tuple[str, ...] = ()
    versions: dict[str, str]
    sources: tuple[SourceRecord, ...]
    views: tuple[ViewRecord, ...]
    tables: tuple[TableRecord, ...]
    registrations: tuple[RegistrationRecord, ...] = ()
    mutations: tuple[MutationRecord, ...] = ()
    violations: tuple[ViolationRecord, ...] = ()
    statistics: tuple[StatisticsDecision, ...] = ()
    caches: tuple[ViewCache, ...] = ()
    schemas: tuple[SchemaRecord, ...] = ()
    sql: tuple[SqlRecord, ...] = ()
    only: tuple[str, ...] = ()
    resumes: str | None = None
    capabilities: tuple[CapabilityRecord, ...] = ()
    operators: tuple[OperatorsRecord, ...] = ()
    history: tuple[HistoryRecord, ...] = ()
    host: str = ""
    error: str | None = None


def manifest_document(manifest: Manifest) -> dict[str, Any]:
    """The manifest as its file has it: deterministic, but for what is under `observed`."""
    return split(msgspec.to_builtins(manifest))


def encode_manifest(manifest: Manifest) -> bytes:
    """The manifest's one form: keys sorted, indented, a final newline."""
    content = msgspec.json.encode(manifest_document(manifest), order="sorted")
    return msgspec.json.format(content, indent=2) + b"\n"


def commit_manifest(warehouse: Path, manifest: Manifest) -> Path:
    """Writes the manifest in one step: it is there whole, or not at all."""
    path = warehouse / "runs" / manifest.run_id / "manifest.json"
    return write_whole(path, encode_manifest(manifest), warehouse)


def read_manifest(path: Path) -> Manifest:
    """One run's manifest; raises ManifestUnreadable if it is not one, or one of another schema version."""
    try:
        content = path.read_bytes()
        check_version(content, SCHEMA_VERSION)
        return msgspec.convert(merge(msgspec.json.decode(content, type=dict[str, Any])), type=Manifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise ManifestUnreadable(path=str(path), detail=str(error)) from error


def read_manifests(warehouse: Path, *, pass_over: bool = False) -> Iterator[Manifest]:
    """Every run of a warehouse that came to an end, oldest first; `pass_over` those that cannot be read.

    Raises:
        ManifestUnreadable: one of them cannot be read.
    """
    for path in manifest_paths(warehouse):
        try:
            yield read_manifest(path)
        except ManifestUnreadable:
            if not pass_over:
                raise


def last_manifest(warehouse: Path) -> Manifest | None:
    """The manifest of the newest run that came to an end, good or bad; None if there is none."""
    paths = manifest_paths(warehouse)
    return read_manifest(paths[-1]) if paths else None


def manifest_paths(warehouse: Path) -> list[Path]:
    """The manifests of a warehouse, each in a folder that has its run's id, oldest first: ids sort by time.

    Raises:
        ManifestUnreadable: there are runs, and their folder cannot be read.
    """
    folder = warehouse / "runs"
    try:
        runs = sorted(folder.iterdir())
        return [path for run in runs if (path := run / "manifest.json").is_file()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:  # whoever asks what runs need must not hear that there are none
        raise ManifestUnreadable(path=str(folder), detail=error.strerror or str(error)) from error
