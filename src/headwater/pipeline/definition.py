"""What the user wrote: the decorators, and the definitions they leave behind while a project is loaded.

    @headwater.view                      a step nobody stores
    @headwater.table                     a step whose rows are kept as a Delta table
    @headwater.source                    rows that are made once and then belong to the user
    headwater.source("name", path=...)   files or a Delta table that is there already
    headwater.source("name", rows=...)   rows in memory
    @headwater.extractor(files=...)      a table with one row for each file of a source
    @headwater.fixpoint(schema=...)      a table that is made of itself; see `fixpoints`

A decorator gives the function back unchanged, so that a test can call it. Not here: building a plan.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from inspect import currentframe
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, Unpack, cast, overload

from headwater.datasets import ReadOptions, read_options_of
from headwater.errors import InvalidDdl, InvalidSetting, NotInAView
from headwater.names import check_name
from headwater.origin import Origin
from headwater.policies import WritePolicy, view_cache_of, write_policy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from types import CodeType

    from headwater.datasets import CdfWindow, FeatureGate
    from headwater.pipeline.spec import Fixpoint
    from headwater.policies import ViewCachePolicy, WriteKeywords

P = ParamSpec("P")
R = TypeVar("R")
DefinitionKind = Literal["view", "table", "source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionDefinition:
    """A Python function that describes rows; if they are a `fixpoint`, of themselves."""

    name: str
    kind: DefinitionKind
    origin: Origin
    function: Callable[..., Any]
    policy: WritePolicy = field(default_factory=WritePolicy)
    cache: ViewCachePolicy = "none"
    fixpoint: Fixpoint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlDefinition:
    """A SQL file that describes rows; how they are written stands in `[tables.NAME]` of headwater.toml."""

    name: str
    kind: DefinitionKind
    origin: Origin
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PathDefinition:
    """Files or a Delta table that somebody else writes."""

    name: str
    origin: Origin
    path: str
    file_format: str
    schema: str | None
    options: tuple[tuple[str, str], ...]
    read: ReadOptions = field(default_factory=ReadOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsDefinition:
    """Rows written in the definition file itself."""

    name: str
    origin: Origin
    rows: tuple[tuple[Any, ...], ...]
    schema: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorDefinition:
    """A Python function of one file's path and content, run in workers over all files of a source."""

    name: str
    origin: Origin
    function: Callable[[str, bytes], Mapping[str, object]]
    files: str
    schema: str
    version: str
    policy: WritePolicy = field(default_factory=WritePolicy)


Definition = FunctionDefinition | SqlDefinition | PathDefinition | RowsDefinition | ExtractorDefinition

_collector: ContextVar[list[Definition] | None] = ContextVar("headwater_definitions", default=None)


@contextmanager
def collecting() -> Generator[list[Definition]]:
    """Within it, every decorator leaves its definition in the list; outside, decorators do nothing."""
    found: list[Definition] = []
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)


@overload
def view(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def view(
    *, name: str | None = None, cache: ViewCachePolicy = ...
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def view(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    cache: ViewCachePolicy = "none",
) -> Callable[..., Any]:
    """Declares a step of the pipeline that is not stored.

    The function's parameters are the names it reads (`spark` is the session); it returns a DataFrame.

    It is a part of every table that reads it. With `cache="memory"` a run computes its rows once and keeps
    them until its last reader is done; with `cache="delta_staging"` they are kept in the warehouse, for later
    runs, too. What `[cache]` of headwater.toml says goes before it.

    >>> @view
    ... def paid(orders):
    ...     return orders.where("status = 'paid'")
    """
    return declared("view", function, name, cache=cache)


@overload
def table(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def table(
    *, name: str | None = None, **write: Unpack[WriteKeywords]
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def table(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, **write: Any
) -> Callable[..., Any]:
    """Declares a step of the pipeline whose rows are kept as a Delta table; otherwise like `view`.

    How the table is written can be said, too: every field of a WritePolicy is a keyword. What
    `[tables.NAME]` of headwater.toml says goes before it.

    >>> @table
    ... def revenue(paid):
    ...     return paid.groupBy("customer_id").agg(F.sum("amount").alias("amount"))
    >>> @table(partition_by=["country"], constraints={"paid": "amount >= 0"})
    ... def payments(paid):
    ...     return paid.select("customer_id", "country", "amount")
    """
    return declared("table", function, name, write)


@overload
def source(target: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def source(
    target: str,
    /,
    *,
    path: str,
    format: str = ...,
    schema: str | None = ...,
    options: Mapping[str, str] | None = ...,
    version: int | None = ...,
    timestamp: str | None = ...,
    gate: FeatureGate | None = ...,
    changes: CdfWindow | None = ...,
    require_change_feed: bool = ...,
    columns: Mapping[str, str] | None = ...,
    defaults: Mapping[str, str] | None = ...,
    files: Sequence[str] | None = ...,
    file_column: str | None = ...,
    pushdown: bool = ...,
) -> None: ...
@overload
def source(target: str, /, *, rows: Sequence[Sequence[Any]], schema: str) -> None: ...
def source(
    target: Callable[..., Any] | str,
    /,
    *,
    path: str | None = None,
    format: str = "delta",  # noqa: A002  the word Spark's readers use
    schema: str | None = None,
    options: Mapping[str, str] | None = None,
    rows: Sequence[Sequence[Any]] | None = None,
    **read: Any,
) -> Callable[..., Any] | None:
    """Declares what the pipeline starts from: a path, rows in memory, or a function that makes rows once.

    A path is taken from the project's folder. With `format="files"` the rows are the files themselves, as git
    or the folder lists them, for an `extractor` to read; options: `include` (patterns of names, with spaces
    between) and `max_bytes`. What a function makes is written to the warehouse when it is
    not there, and again when the function changes, unless somebody else has written to it since.

    Of a Delta table, what is read can be said in more detail: `version` or `timestamp` (else the newest);
    `columns`, names and SQL expressions; `defaults` for columns that the table may lack; `schema`, to cast
    to; `files`, the only data files; `file_column`, a column with each row's file; `pushdown=False`, to keep
    Parquet from skipping rows; `gate`, a FeatureGate; `changes`, a CdfWindow of its change feed instead of
    its rows; `require_change_feed=True`, to refuse a table without one.

    >>> source("customers", path="data/customers.csv", format="csv", schema="id BIGINT, name STRING")
    >>> source("rates", rows=[("EUR", 1.0), ("USD", 0.9)], schema="currency STRING, rate DOUBLE")
    >>> source("orders", path="lake/orders", version=7, defaults={"country": "'unknown'"})
    """
    if callable(target):
        return declared("source", target, None)
    frame = currentframe()
    caller = frame.f_back if frame else None
    origin = Origin(caller.f_code.co_filename, caller.f_lineno) if caller else Origin("?")
    if (path is None) == (rows is None):
        raise InvalidSetting(
            key=target, value="without rows or path", expected="one of rows and path", origin=origin
        )
    if path is not None:
        _keep(_path_definition(target, origin, path, format, schema, options, read))
        return None
    if schema is None or read:
        wrong = f"rows with {min(read)}" if read else "rows without a schema"
        raise InvalidSetting(key=target, value=wrong, expected="rows and schema='...'", origin=origin)
    content = tuple(tuple(row) for row in rows or ())
    _keep(RowsDefinition(name=check_name(target), origin=origin, rows=content, schema=schema))
    return None


def _path_definition(
    name: str,
    origin: Origin,
    path: str,
    file_format: str,
    schema: str | None,
    options: Mapping[str, str] | None,
    read: Mapping[str, Any],
) -> PathDefinition:
    kind = file_format.lower() if file_format.lower() in {"delta", "files"} else file_format
    if kind != "delta" and read:
        raise InvalidSetting(
            key=name,
            value=f"{kind} with {min(read)}",
            expected=f"a Delta table for {min(read)}",
            origin=origin,
        )
    if kind == "delta" and options:
        raise InvalidSetting(
            key=name,
            value="a Delta source with options",
            expected="no options; version, columns, schema and the like say what is read",
            origin=origin,
        )
    pairs = tuple(sorted((str(key), str(value)) for key, value in (options or {}).items()))
    return PathDefinition(
        name=check_name(name),
        origin=origin,
        path=path,
        file_format=kind,
        schema=schema,
        options=pairs,
        read=_read_options(origin, {**read, "schema": schema}) if kind == "delta" else ReadOptions(),
    )


def _read_options(origin: Origin, read: Mapping[str, Any]) -> ReadOptions:
    with _at(origin):
        return read_options_of(read)


def extractor(
    *, files: str, schema: str, version: str = "", name: str | None = None, **write: Unpack[WriteKeywords]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    r"""Declares a table with one row for each file of a source, made by a function of its path and content.

    The function runs in Python workers and returns a mapping of values for the columns of `schema`; a list of
    structs may be an Arrow array. Before these columns the table has path, size_bytes, content_sha256,
    skip_reason (why a file was not read) and extract_error (how the function failed on it). How the table is
    written is said as with `table`: `@extractor(files="sources", schema="lines INT", zorder_by=["lines"])`.

    Args:
        files: the name of a source of files (`format="files"`).
        schema: the columns that the function makes, as Spark writes a schema.
        version: what to change when a result may change though the function's own code does not.
        name: the table's name, if it is not the function's.
        **write: the fields of a WritePolicy.

    >>> @extractor(files="sources", schema="lines INT")
    ... def line_counts(path: str, content: bytes) -> dict[str, object]:
    ...     return {"lines": content.count(b"\n")}
    """
    return partial(_extracting, files, schema, version, name, write)


def _extracting(
    files: str,
    schema: str,
    version: str,
    name: str | None,
    write: Mapping[str, object],
    function: Callable[P, R],
) -> Callable[P, R]:
    code, origin = _code_of("extractor", function)
    with _at(origin):
        _keep(
            ExtractorDefinition(
                name=check_name(name or code.co_name),
                origin=origin,
                function=cast("Callable[[str, bytes], Mapping[str, object]]", function),
                files=check_name(files),
                schema=schema,
                version=version,
                policy=write_policy_of(write),
            )
        )
    return function


def declared(
    kind: DefinitionKind,
    function: Callable[..., Any] | None,
    name: str | None,
    write: Mapping[str, object] | None = None,
    cache: object = "none",
    fixpoint: Callable[[], Fixpoint] | None = None,
) -> Callable[..., Any]:
    """The function, which is a definition from now on; without one, the decorator for it."""
    if function is None:
        return partial(_named, kind, name, write, cache)
    _, origin = _code_of(kind, function)
    with _at(origin):
        _keep(
            FunctionDefinition(
                name=check_name(name or function.__name__),
                kind=kind,
                origin=origin,
                function=function,
                policy=write_policy_of(write or {}),
                cache=view_cache_of(cache),
                fixpoint=fixpoint() if fixpoint else None,
            )
        )
    return function


@contextmanager
def _at(origin: Origin) -> Generator[None]:
    """Says where a definition stands whose settings are wrong."""
    try:
        yield
    except (InvalidSetting, InvalidDdl) as error:
        error.origin = origin
        raise


def _code_of(decorator: str, function: Callable[..., Any]) -> tuple[CodeType, Origin]:
    code = getattr(function, "__code__", None)
    if code is None:
        raise NotInAView(member=f"@{decorator} on {function!r}", remedy="Decorate a plain function.")
    return code, Origin(code.co_filename, code.co_firstlineno)


def _named(
    kind: DefinitionKind,
    name: str | None,
    write: Mapping[str, object] | None,
    cache: object,
    function: Callable[..., Any],
) -> Callable[..., Any]:
    return declared(kind, function, name, write, cache)


def _keep(definition: Definition) -> None:
    found = _collector.get()
    if found is not None:
        found.append(definition)
