"""How a dataset is to be read: values that a definition or a location writes down and storage obeys.

    FeatureGate    what a table's protocol must have
    CdfWindow      which versions of a change feed
    ReadOptions    both of them, and which version, files and columns

Not here: reading; and where the dataset is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from headwater.errors import InvalidSetting
from headwater.given import expressions, flag, number, text, texts

if TYPE_CHECKING:
    from headwater.digest import Plain

# Who reads a Delta table: Delta itself, or one of the ways around it. A profile allows each of those by its
# name, or it is refused.
DELTA_NATIVE = "delta_native"
DELTA_AS_FILES = "delta_as_files"
SNAPSHOT_CHANGES = "snapshot_changes"
DEGRADED_PROVIDERS = (DELTA_AS_FILES, SNAPSHOT_CHANGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureGate:
    """What a table's protocol must have, at the least, before it is read or written."""

    min_reader_version: int = 0
    min_writer_version: int = 0
    required_reader_features: tuple[str, ...] = ()
    required_writer_features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for key in ("min_reader_version", "min_writer_version"):
            number(key, getattr(self, key))
        for key in ("required_reader_features", "required_writer_features"):
            object.__setattr__(self, key, tuple(sorted(set(texts(key, getattr(self, key))))))

    def merged(self, other: FeatureGate) -> FeatureGate:
        """The gate that lets through what both let through."""
        return FeatureGate(
            min_reader_version=max(self.min_reader_version, other.min_reader_version),
            min_writer_version=max(self.min_writer_version, other.min_writer_version),
            required_reader_features=self.required_reader_features + other.required_reader_features,
            required_writer_features=self.required_writer_features + other.required_writer_features,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CdfWindow:
    """A stretch of a table's change feed, both ends included.

    It begins at a version or at a time, and ends at a version, at a time, or at the newest version. A start
    behind the newest version, or an end behind it, is refused unless `allow_out_of_range` is set; then there
    is nothing to read behind it. Times are ISO 8601; without a zone they are UTC.
    """

    starting_version: int | None = None
    ending_version: int | None = None
    starting_timestamp: str | None = None
    ending_timestamp: str | None = None
    allow_out_of_range: bool = False

    def __post_init__(self) -> None:
        if (self.starting_version is None) == (self.starting_timestamp is None):
            raise InvalidSetting(
                key="CdfWindow",
                value=f"without one start: {self}",
                expected="one of starting_version and starting_timestamp",
            )
        if self.ending_version is not None and self.ending_timestamp is not None:
            raise InvalidSetting(
                key="CdfWindow",
                value=f"with two ends: {self}",
                expected="one of ending_version and ending_timestamp, or neither",
            )
        for key in ("starting_version", "ending_version"):
            if getattr(self, key) is not None:
                number(key, getattr(self, key))
        for key in ("starting_timestamp", "ending_timestamp"):
            if getattr(self, key) is not None:
                milliseconds_of(getattr(self, key), key)
        if self._ends_before_it_starts():
            raise InvalidSetting(
                key="CdfWindow", value=str(self), expected="an end that is not before its start"
            )

    def _ends_before_it_starts(self) -> bool:
        if self.starting_version is not None and self.ending_version is not None:
            return self.ending_version < self.starting_version
        if self.starting_timestamp is not None and self.ending_timestamp is not None:
            return milliseconds_of(self.ending_timestamp) < milliseconds_of(self.starting_timestamp)
        return False

    def __str__(self) -> str:
        start = self.starting_version if self.starting_timestamp is None else self.starting_timestamp
        end = self.ending_version if self.ending_timestamp is None else self.ending_timestamp
        return f"{start} to {'the newest' if end is None else end}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Which rows and columns of a dataset are read, and under which conditions.

    Args:
        version: the version to read; the newest if neither this nor `timestamp` is given.
        timestamp: the time whose newest version is read, in ISO 8601.
        gate: what the table's protocol must have.
        changes: the change feed instead of the rows.
        require_change_feed: the table must keep a change feed.
        columns: names and SQL expressions of the columns that come out; all of the table's if empty.
        defaults: names and SQL expressions of columns that stand in where the table does not have them.
        schema: names and types that the columns are cast to, as Spark writes a schema; no others come out.
        files: the only data files to read, as the log writes their paths; all if None.
        file_column: a further column with the data file that a row came from.
        pushdown: whether Parquet may skip rows by filters; the rows are the same.
    """

    version: int | None = None
    timestamp: str | None = None
    gate: FeatureGate = FeatureGate()
    changes: CdfWindow | None = None
    require_change_feed: bool = False
    columns: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()
    schema: str | None = None
    files: tuple[str, ...] | None = None
    file_column: str | None = None
    pushdown: bool = True

    def __post_init__(self) -> None:
        if self.version is not None:
            number("version", self.version)
        if self.timestamp is not None:
            milliseconds_of(self.timestamp)
        if self.version is not None and self.timestamp is not None:
            raise InvalidSetting(key="version", value="given with a timestamp", expected="one of the two")
        if self.changes is not None:
            _check_plain_changes(self)
        if self.files is not None:
            object.__setattr__(self, "files", tuple(sorted(set(texts("files", self.files)))))
        for key in ("columns", "defaults"):
            object.__setattr__(self, key, expressions(key, getattr(self, key)))

    @property
    def is_plain(self) -> bool:
        """Whether nothing is asked for but the newest rows."""
        return self == ReadOptions()

    def with_location(self, location: ReadOptions, said: Collection[str] | None = None) -> ReadOptions:
        """These options in a place that has its own: gates add up, what else the place `said` wins.

        Without `said`, whatever is not the default was said.
        """
        names = set(location.identity() if said is None else said) - {"gate"}
        chosen = {name: getattr(location, name) for name in names}
        if "version" in chosen or "timestamp" in chosen:
            chosen = {"version": None, "timestamp": None} | chosen
        return replace(self, gate=self.gate.merged(location.gate), **chosen)

    def effective(self) -> dict[str, Plain]:
        """Every choice, those by default too: what is recorded with a read."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(ReadOptions)}

    def identity(self) -> dict[str, Plain]:
        """Every choice that is not the default: what is hashed, and what `read_options_of` reads again."""
        found: dict[str, Plain] = {}
        for each in fields(ReadOptions):
            value = getattr(self, each.name)
            if value != each.default:
                found[each.name] = _plain(value)
        return found


def read_options_of(given: Mapping[str, object]) -> ReadOptions:
    """Options as people write them: mappings for columns, gates and windows, lists for files and features.

    Raises:
        InvalidSetting: a key that there is not, or a value that it cannot have.
    """
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key not in _TAKES:
            raise InvalidSetting(key=key, value="given", expected=f"one of {', '.join(sorted(_TAKES))}")
        if value is not None:
            values[key] = _TAKES[key](key, value)
    return ReadOptions(**values)


def feature_gate_of(key: str, value: object) -> FeatureGate:
    """A gate, or its fields as a mapping."""
    return _fields_of(FeatureGate, key, value)


def _fields_of(kind: type[_V], key: str, value: object) -> _V:
    if isinstance(value, kind):
        return value
    known = {each.name for each in fields(cast("Any", kind))}
    if not isinstance(value, Mapping) or not set(cast("Mapping[str, object]", value)) <= known:
        expected = f"a {kind.__name__}, or its fields: {', '.join(sorted(known))}"
        raise InvalidSetting(key=key, value=repr(cast("object", value)), expected=expected)
    content = cast("Mapping[str, Any]", value)
    try:
        return kind(**{name: _frozen(each) for name, each in content.items()})
    except InvalidSetting as error:
        wrong = f"with {error.key} {error.value}"
        raise InvalidSetting(key=key, value=wrong, expected=error.expected) from None


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _moment(key: str, value: object) -> str:
    """A time as text; TOML has times of its own."""
    return value.isoformat() if isinstance(value, date) else text(key, value)


_V = TypeVar("_V", FeatureGate, CdfWindow)
_TAKES: Mapping[str, Callable[[str, object], object]] = {
    "version": number,
    "timestamp": _moment,
    "gate": feature_gate_of,
    "changes": lambda key, value: _fields_of(CdfWindow, key, value),
    "require_change_feed": flag,
    "columns": expressions,
    "defaults": expressions,
    "schema": text,
    "files": texts,
    "file_column": text,
    "pushdown": flag,
}


def milliseconds_of(timestamp: str, key: str = "timestamp") -> int:
    """A time in ISO 8601 as milliseconds since 1970, UTC where no zone is named.

    Raises:
        InvalidSetting: it is no such time.
    """
    try:
        moment = datetime.fromisoformat(timestamp)
    except (ValueError, TypeError):
        raise InvalidSetting(
            key=key, value=repr(timestamp), expected="a time such as 2026-01-31T12:00:00Z"
        ) from None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    # Whole milliseconds, rounded down: floats would lose some.
    delta = zoned - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000


def timestamp_of(milliseconds: int) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:  # a time that somebody made up
        return f"{milliseconds} ms after 1970"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: object) -> Plain:
    if isinstance(value, FeatureGate | CdfWindow):
        kind = type(value)
        return {each.name: _plain(getattr(value, each.name)) for each in fields(kind)}
    if isinstance(value, tuple):
        return [_plain(each) for each in cast("tuple[object, ...]", value)]
    return cast("Plain", value)


def _check_plain_changes(options: ReadOptions) -> None:
    beside = ("version", "timestamp", "files", "file_column")
    given = [name for name in beside if getattr(options, name) is not None]
    if given:
        raise InvalidSetting(
            key="changes", value=f"given with {given[0]}", expected="the window alone: it names its versions"
        )
