"""How a dataset is to be written: a value that a definition or `[tables.NAME]` writes down and storage obeys.

    WritePolicy    files, layout, statistics, schema, features, constraints, semantic types, retries
    WriteKeywords  its fields as people write them, for type checkers
    SEMANTIC_TYPES what a column may be said to mean, and the type that it then has
    ViewCachePolicy how the rows of a view that is not stored are kept; view_cache_of reads one

Not here: writing; and which columns the rows really have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast

from headwater.errors import InvalidSetting
from headwater.given import columns, expressions, flag, number, pairs, size, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headwater.digest import Plain

StatsPolicy = Literal["auto", "explicit", "off"]
# What is done about something in a view that a rerun may not repeat.
Severity = Literal["refuse", "warn", "allow"]
SEVERITIES: tuple[Severity, ...] = ("refuse", "warn", "allow")
SchemaMode = Literal["merge", "overwrite"]
ColumnMapping = Literal["name", "id"]
# How the rows of a view that is not stored are kept while tables are made of them.
ViewCachePolicy = Literal["none", "memory", "delta_staging"]
VIEW_CACHE_POLICIES: tuple[ViewCachePolicy, ...] = ("none", "memory", "delta_staging")
RefreshMode = Literal["auto", "incremental", "full"]

# What `enable_features` may name beside Delta's own features: a set of them.
FEATURE_PRESETS: Mapping[str, tuple[str, ...]] = {
    "incremental": ("changeDataFeed", "rowTracking", "deletionVectors")
}
# Ids are texts of a kind and 128 bits in hex; see `stable_id`.
SEMANTIC_TYPES: Mapping[str, str] = {
    "NodeId": "string",
    "EdgeId": "string",
    "SpanId": "string",
    "SymbolId": "string",
    "FileId": "string",
    "RepositoryId": "string",
    "ByteOffset": "bigint",
    "LineNumber": "int",
}
_PASSING = ("refresh", "refresh_by", "max_attempts", "backoff_seconds")
_MOST_ATTEMPTS = 100
_LONGEST_WAIT = 600
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePolicy:
    """How a dataset is written; whatever is not said is Delta's default.

    Args:
        target_file_size: about how many bytes a data file has, as a number or as in "64mb".
        partition_by: columns whose values are folders.
        zorder_by: columns by which rows are brought together along a space-filling curve as they are written.
        cluster_by: the same as a property of the table (liquid clustering); it stands alone.
        order_by: columns by which files follow each other and rows within them are sorted.
        stats_policy: of which columns files keep minimum and maximum: "auto", "explicit" or "off".
        stats_columns: those of "explicit"; with "auto", those that come first.
        stats_max_columns: the most that "auto" takes.
        enable_features: Delta features by name, or "incremental" for those that incremental runs use.
        schema_mode: what other columns do: "merge" adds them, "overwrite" replaces the schema.
        column_mapping_mode: "name" or "id", so that columns can be renamed and dropped.
        bloom_filters: columns with the number of values expected per file; 0 finds a size by itself.
        dictionary: columns with whether Parquet may encode them by a dictionary.
        properties: further table properties.
        constraints: names with SQL conditions that every row must make true; null is not true.
        not_null: columns that no row may leave out.
        semantic_types: columns with what they mean, such as NodeId.
        refresh: what a build does when inputs change: "auto" makes just the rows of affected keys where that
            is proven to be enough and not the longer way; "incremental" wherever it is proven; "full" never.
        refresh_by: the columns whose values are those keys, also where several rows have one; without any,
            what is known to be unique.
        max_attempts: how often a write that met another one is tried.
        backoff_seconds: how long it waits before it is tried again; more with each time, and never the same.
    """

    target_file_size: int | None = None
    partition_by: tuple[str, ...] = ()
    zorder_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    order_by: tuple[str, ...] = ()
    stats_policy: StatsPolicy = "auto"
    stats_columns: tuple[str, ...] = ()
    stats_max_columns: int = 32
    enable_features: tuple[str, ...] = ()
    schema_mode: SchemaMode | None = None
    column_mapping_mode: ColumnMapping | None = None
    bloom_filters: tuple[tuple[str, int], ...] = ()
    dictionary: tuple[tuple[str, bool], ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    constraints: tuple[tuple[str, str], ...] = ()
    not_null: tuple[str, ...] = ()
    semantic_types: tuple[tuple[str, str], ...] = ()
    refresh: RefreshMode = "auto"
    refresh_by: tuple[str, ...] = ()
    max_attempts: int = 3
    backoff_seconds: float = 0.5

    def __post_init__(self) -> None:
        for each in fields(WritePolicy):
            value = getattr(self, each.name)
            if value is not None or each.default is not None:
                object.__setattr__(self, each.name, _TAKES[each.name](each.name, value))
        _check_layout(self)
        _check_statistics(self)

    def overridden(self, by: Mapping[str, object]) -> WritePolicy:
        """This policy with some of its fields replaced, as people write them; what is None is left.

        Raises:
            InvalidSetting: a key that there is not, a value that it cannot have, or one that does not go
                with the others.
        """
        return replace(self, **cast("dict[str, Any]", write_choices_of(by)))

    def identity(self) -> dict[str, Plain]:
        """Every choice that is not the default: what is hashed, and what `write_policy_of` reads again."""
        found: dict[str, Plain] = {}
        for each in fields(WritePolicy):
            value = getattr(self, each.name)
            if value != each.default:
                found[each.name] = _plain(value)
        return found

    def lasting(self) -> dict[str, Plain]:
        """Those of them that a table shows afterwards: how often, and how much, was written is not seen."""
        return {key: value for key, value in self.identity().items() if key not in _PASSING}

    def features(self) -> tuple[str, ...]:
        """The features by Delta's names, each once."""
        found: dict[str, None] = {}
        for name in self.enable_features:
            found.update(dict.fromkeys(FEATURE_PRESETS.get(name, (name,))))
        return tuple(found)


class WriteKeywords(TypedDict, total=False):
    """The fields of a WritePolicy as people write them."""

    target_file_size: int | str
    partition_by: str | Sequence[str]
    zorder_by: str | Sequence[str]
    cluster_by: str | Sequence[str]
    order_by: str | Sequence[str]
    stats_policy: StatsPolicy
    stats_columns: str | Sequence[str]
    stats_max_columns: int
    enable_features: str | Sequence[str]
    schema_mode: SchemaMode
    column_mapping_mode: ColumnMapping
    bloom_filters: str | Sequence[str] | Mapping[str, int]
    dictionary: Mapping[str, bool]
    properties: Mapping[str, str | int | bool]
    constraints: Mapping[str, str]
    not_null: str | Sequence[str]
    semantic_types: Mapping[str, str]
    refresh: RefreshMode
    refresh_by: str | Sequence[str]
    max_attempts: int
    backoff_seconds: float


def write_policy(**choices: Unpack[WriteKeywords]) -> WritePolicy:
    """A policy by its fields, as people write them.

    >>> write_policy(partition_by=["country"], constraints={"paid": "amount >= 0"}).partition_by
    ('country',)
    """
    return write_policy_of(choices)


def write_policy_of(given_values: Mapping[str, object]) -> WritePolicy:
    """A policy as people write it: mappings, lists and sizes like "64mb".

    Raises:
        InvalidSetting: a key that there is not, or values that cannot be, or not together.
    """
    return WritePolicy().overridden(given_values)


def view_cache_of(value: object, key: str = "cache") -> ViewCachePolicy:
    """How a view's rows are kept, as people write it.

    Raises:
        InvalidSetting: there is no such policy.
    """
    if value not in VIEW_CACHE_POLICIES:
        expected = f"one of {', '.join(VIEW_CACHE_POLICIES)}"
        raise InvalidSetting(key=key, value=repr(value), expected=expected)
    return value


def write_choices_of(given_values: Mapping[str, object]) -> dict[str, object]:
    """Fields of a policy as people write them, each checked by itself; `overridden` puts them into one.

    Raises:
        InvalidSetting: a key that there is not, or a value that it cannot have.
    """
    for key in given_values:
        if key not in _TAKES:
            raise InvalidSetting(key=key, value="given", expected=f"one of {', '.join(sorted(_TAKES))}")
    return {key: _TAKES[key](key, value) for key, value in given_values.items() if value is not None}


def _check_layout(policy: WritePolicy) -> None:
    if policy.cluster_by:
        beside = [name for name in ("partition_by", "zorder_by", "order_by") if getattr(policy, name)]
        if beside:
            raise InvalidSetting(
                key="cluster_by",
                value=f"given with {beside[0]}",
                expected="one of the two: they exclude each other",
            )
    if policy.zorder_by and policy.order_by:
        raise InvalidSetting(key="zorder_by", value="given with order_by", expected="one of the two")
    folders = {name.casefold() for name in policy.partition_by}
    for key in ("zorder_by", "order_by"):
        for name in getattr(policy, key):
            if name.casefold() in folders:
                raise InvalidSetting(
                    key=key,
                    value=f"'{name}', which is in partition_by",
                    expected="columns that vary in a folder",
                )


def _check_statistics(policy: WritePolicy) -> None:
    if (policy.stats_policy == "explicit") and not policy.stats_columns:
        raise InvalidSetting(key="stats_policy", value="'explicit'", expected="stats_columns with it")
    if policy.stats_policy == "off" and policy.stats_columns:
        raise InvalidSetting(key="stats_policy", value="'off' with stats_columns", expected="one of the two")


# --- fields as people write them -----------------------------------------------------------------------


def _set_of_names(key: str, value: object) -> tuple[str, ...]:
    return tuple(sorted(columns(key, value)))


def _chosen(*choices: str) -> Callable[[str, object], str]:
    def take(key: str, value: object) -> str:
        if value not in choices:
            raise InvalidSetting(key=key, value=repr(value), expected=f"one of {', '.join(choices)}")
        return cast("str", value)

    return take


def _blooms(key: str, value: object) -> tuple[tuple[str, int], ...]:
    listed = cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
    plain = cast("object", value)
    if isinstance(plain, str) or any(isinstance(each, str) for each in listed):
        return tuple((name, 0) for name in sorted(columns(key, plain)))
    found = pairs(key, plain, "columns, or columns with the number of values expected in a file")
    return tuple(sorted((name, number(key, each)) for name, each in found))


def _flags(key: str, value: object) -> tuple[tuple[str, bool], ...]:
    found = pairs(key, value, "columns with true or false")
    return tuple(sorted((name, flag(key, each)) for name, each in found))


def _properties(key: str, value: object) -> tuple[tuple[str, str], ...]:
    what = "names of properties with texts"
    found = pairs(key, tuple(_dotted("", pairs(key, value, what), key, what)), what)
    return tuple(sorted((name, _property(key, each)) for name, each in found))


def _dotted(
    prefix: str, found: tuple[tuple[str, object], ...], key: str, what: str
) -> Iterator[tuple[str, object]]:
    """A name with dots is one name, though TOML without quotes makes tables of it."""
    for name, each in found:
        if isinstance(each, Mapping):
            inner = pairs(key, cast("Mapping[str, object]", each), what)
            yield from _dotted(f"{prefix}{name}.", inner, key, what)
        else:
            yield f"{prefix}{name}", each


def _property(key: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else text(key, value)


def _conditions(key: str, value: object) -> tuple[tuple[str, str], ...]:
    found = expressions(key, value)
    for name, _ in found:
        if not _NAME.fullmatch(name):
            raise InvalidSetting(
                key=key, value=repr(name), expected="names of letters, digits and underscores"
            )
    return tuple(sorted(found))


def _meanings(key: str, value: object) -> tuple[tuple[str, str], ...]:
    found = pairs(key, value, "columns with what they mean, such as NodeId")
    for _, meaning in found:
        if not isinstance(meaning, str) or not _NAME.fullmatch(meaning):
            raise InvalidSetting(key=key, value=repr(meaning), expected="a name such as NodeId")
    return tuple(sorted(cast("tuple[tuple[str, str], ...]", found)))


def _attempts(key: str, value: object) -> int:
    count = number(key, value)
    if not 1 <= count <= _MOST_ATTEMPTS:
        raise InvalidSetting(key=key, value=repr(value), expected=f"a number from 1 to {_MOST_ATTEMPTS}")
    return count


def _seconds(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST_WAIT:
        raise InvalidSetting(key=key, value=repr(value), expected=f"seconds, from 0 to {_LONGEST_WAIT}")
    return float(value)


def _plain(value: object) -> Plain:
    if isinstance(value, tuple):
        return [_plain(each) for each in cast("tuple[object, ...]", value)]
    return cast("Plain", value)


_TAKES: Mapping[str, Callable[[str, object], object]] = {
    "target_file_size": size,
    "partition_by": columns,
    "zorder_by": columns,
    "cluster_by": columns,
    "order_by": columns,
    "stats_policy": _chosen("auto", "explicit", "off"),
    "stats_columns": columns,
    "stats_max_columns": number,
    "enable_features": _set_of_names,
    "schema_mode": _chosen("merge", "overwrite"),
    "column_mapping_mode": _chosen("name", "id"),
    "bloom_filters": _blooms,
    "dictionary": _flags,
    "properties": _properties,
    "constraints": _conditions,
    "not_null": _set_of_names,
    "semantic_types": _meanings,
    "refresh": _chosen("auto", "incremental", "full"),
    "refresh_by": columns,
    "max_attempts": _attempts,
    "backoff_seconds": _seconds,
}
