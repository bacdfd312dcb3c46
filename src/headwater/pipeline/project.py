"""A project's folder: headwater.toml and the files that define its views.

Not here: importing those files.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, TypeVar, cast

from headwater.datasets import ReadOptions, read_options_of
from headwater.digest import digest_of
from headwater.errors import (
    ConfigSyntax,
    InvalidDdl,
    InvalidName,
    InvalidSetting,
    ProjectNotFound,
    UnknownSetting,
)
from headwater.given import texts
from headwater.names import PROJECT_FILE, check_name, same_name
from headwater.origin import Origin
from headwater.pipeline.fixpoints import FIXPOINT_KEYS, fixpoint_of
from headwater.pipeline.openlineage import OPENLINEAGE_KEYS, OpenLineageSettings, openlineage_of
from headwater.policies import SEVERITIES, Severity, WritePolicy, view_cache_of, write_choices_of
from headwater.runtime import TomlSource, check_keys
from headwater.upkeep import UPKEEP_KEYS, UpkeepPolicy, upkeep_policy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from headwater.pipeline.spec import Fixpoint
    from headwater.policies import ViewCachePolicy

EVERY_TABLE = "*"
_SECTIONS = (
    *("project", "profiles", "locations", "tables", "maintenance"),
    *("determinism", "keys", "cache", "fixpoints", "openlineage"),
)
_KEYS = ("name", "definitions", "profile")
_LOCATION_KEYS = ("path", "version", "timestamp", "files", "gate", "pushdown")
_TABLE_KEYS = tuple(each.name for each in fields(WritePolicy))
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a source is in this project, and what holds there beside what its definition says."""

    path: str | None = None
    read: ReadOptions = field(default_factory=ReadOptions)
    said: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ProjectConfig:
    """What headwater.toml says; `profiles` are left to the runtime to read.

    `tables` are fields of a WritePolicy, by the name of the view that is stored; each was checked by itself.
    `maintenance` is what is said of a table's upkeep, by its name; "*" stands for every other one.
    `determinism` is what is done about rules that a view breaks, by its name; "*" stands for every view.
    `keys` are the columns of a dataset that are unique together, by its name.
    `cache` is how a run keeps the rows of a view that is not stored, by its name.
    `fixpoints` are the tables of SQL files that are made of themselves, by the table's name.
    `openlineage` is where events go.
    A pipeline that comes with a package has no such file: `declare` runs its decorators, and `root` is the
    folder that its sources are taken from.
    """

    root: Path
    name: str
    definitions: tuple[str, ...]
    profile: str | None
    profiles: Mapping[str, Mapping[str, object]]
    source: TomlSource
    locations: Mapping[str, Location] = field(default_factory=dict[str, "Location"])
    tables: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, "Mapping[str, object]"])
    maintenance: Mapping[str, UpkeepPolicy] = field(default_factory=dict[str, "UpkeepPolicy"])
    determinism: Mapping[str, Mapping[str, Severity]] = field(
        default_factory=dict[str, "Mapping[str, Severity]"]
    )
    keys: Mapping[str, tuple[tuple[str, ...], ...]] = field(
        default_factory=dict[str, "tuple[tuple[str, ...], ...]"]
    )
    cache: Mapping[str, ViewCachePolicy] = field(default_factory=dict[str, "ViewCachePolicy"])
    fixpoints: Mapping[str, Fixpoint] = field(default_factory=dict[str, "Fixpoint"])
    openlineage: OpenLineageSettings = field(default_factory=OpenLineageSettings)
    declare: Callable[[], None] | None = None

    def upkeep_of(self, name: str) -> UpkeepPolicy:
        """What holds for a table's upkeep: what is said of it, of all, or of nothing."""
        found = self.maintenance.get(same_name(name))
        return found or self.maintenance.get(EVERY_TABLE) or UpkeepPolicy()

    @property
    def rules_digest(self) -> str | None:
        """The identity of what is said about determinism and keys; None if nothing is."""
        said = {name: dict(rules) for name, rules in self.determinism.items() if rules}
        return digest_of([said, dict(self.keys)]) if said or self.keys else None

    def origin_of(self, section: str, name: str, key: str = "") -> Origin:
        """The line of `[section.name]` that sets `key`; that of the table itself if none does."""
        return _origin(self.source, section, name, key)


def packaged_project(root: Path, name: str) -> ProjectConfig:
    """A project over the folder `root` without a file of its own; `declare` says what it is made of."""
    return ProjectConfig(
        root=root.resolve(),
        name=name,
        definitions=(),
        profile=None,
        profiles={},
        source=TomlSource(path=str(root), text=""),
    )


def project_not_found(path: Path) -> ProjectNotFound:
    """The error for a path that is neither a project nor a repository, by what is there."""
    if not path.exists():
        complaint, remedy = "it is not there", f"Make a project with: headwater init {path}"
    elif not path.is_dir():
        complaint, remedy = "it is a file", f"Name its folder: {path.parent}"
    else:
        complaint = "it has no headwater.toml and no Python files"
        remedy = "Name a folder that has, or make a project in a new one: headwater init DIR"
    return ProjectNotFound(path=str(path), complaint=complaint, remedy=remedy)


def read_project(path: Path) -> ProjectConfig:
    """The project at `path`.

    Raises:
        ProjectNotFound: there is no headwater.toml.
        ConfigSyntax, UnknownSetting, InvalidSetting: there is, and it is wrong; with the line.
    """
    root = path.resolve()
    file = root / PROJECT_FILE
    try:
        text = file.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise project_not_found(path) from None
    except (UnicodeDecodeError, OSError) as error:
        raise ConfigSyntax(detail=str(error), origin=Origin(str(file))) from error
    source = TomlSource(path=str(file), text=text)
    try:
        content: dict[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigSyntax(detail=str(error), origin=Origin(str(file), _line_of(error, text))) from error
    try:
        return _config(root, content, source)
    except (UnknownSetting, InvalidSetting) as error:
        raise replace(error, origin=error.origin or source.origin_of(error.key)) from None


def _config(root: Path, content: dict[str, object], source: TomlSource) -> ProjectConfig:
    check_keys(content, _SECTIONS, "headwater.toml")
    project = _table("project", content.get("project", {}))
    check_keys(project, _KEYS, "[project]")
    profiles = _table("profiles", content.get("profiles", {}))
    definitions: object = project.get("definitions", ["views"])
    if not isinstance(definitions, list) or not all(
        isinstance(each, str) for each in cast("list[object]", definitions)
    ):
        raise InvalidSetting(
            key="definitions", value=str(project["definitions"]), expected="a list of folders or files"
        )
    profile = project.get("profile")
    if profile is not None and not isinstance(profile, str):
        raise InvalidSetting(key="profile", value=repr(profile), expected="the name of a profile")
    name = project.get("name", "project")
    if not isinstance(name, str):
        raise InvalidSetting(key="name", value=repr(name), expected="a text")
    return ProjectConfig(
        root=root,
        name=_project_name(name),
        definitions=tuple(cast("list[str]", definitions)),
        profile=profile,
        profiles={key: _table(key, value) for key, value in profiles.items()},
        source=source,
        locations=_by_name(source, "locations", content, _location),
        tables=_by_name(source, "tables", content, _choices),
        maintenance=_maintenance(source, content),
        determinism=_determinism(source, content),
        keys=_declared_keys(source, content),
        cache=_cache(source, content),
        fixpoints=_by_name(source, "fixpoints", content, _fixpoint),
        openlineage=_openlineage(source, content),
    )


def _by_name(
    source: TomlSource,
    section: str,
    content: Mapping[str, object],
    read: Callable[[str, Mapping[str, object]], _V],
) -> dict[str, _V]:
    """The tables of a section, each read; an error in one has its line there, not in its neighbour."""
    found: dict[str, _V] = {}
    for name, value in _table(section, content.get(section, {})).items():
        try:
            found[name] = read(name, _table(name, value))
        except (UnknownSetting, InvalidSetting) as error:
            raise replace(error, origin=_origin(source, section, name, error.key)) from None
        except InvalidDdl as error:
            raise replace(error, origin=_origin(source, section, name, "schema")) from None
    return found


def _origin(source: TomlSource, section: str, name: str, key: str) -> Origin:
    table = f"{section}.{name}"
    places = (
        *([source.origin_of(key, table)] if key else ()),
        source.origin_of(table),
        source.origin_of(name, section),
        source.origin_of(section),
    )
    return next((place for place in places if place.line), places[-1])


def _location(name: str, table: Mapping[str, object]) -> Location:
    check_keys(table, _LOCATION_KEYS, f"[locations.{name}]")
    path = table.get("path")
    if path is not None and not (isinstance(path, str) and path):
        raise InvalidSetting(key="path", value=repr(path), expected="a path or an address")
    given = {key: value for key, value in table.items() if key != "path"}
    return Location(path=path, read=read_options_of(given), said=tuple(sorted(given)))


def _choices(name: str, table: Mapping[str, object]) -> Mapping[str, object]:
    check_keys(table, _TABLE_KEYS, f"[tables.{name}]")
    return write_choices_of(table)


def _fixpoint(name: str, table: Mapping[str, object]) -> Fixpoint:
    check_keys(table, FIXPOINT_KEYS, f"[fixpoints.{name}]")
    return fixpoint_of(table)


def _maintenance(source: TomlSource, content: Mapping[str, object]) -> dict[str, UpkeepPolicy]:
    """The policies by name; what is said of every table holds for one that is named, unless it says else."""
    section = _by_name(source, "maintenance", content, _upkeep)
    every = upkeep_policy_of(section.get(EVERY_TABLE, {}))
    found = {same_name(name): upkeep_policy_of(said, every) for name, said in section.items()}
    return found | ({EVERY_TABLE: every} if EVERY_TABLE in section else {})


def _upkeep(name: str, table: Mapping[str, object]) -> Mapping[str, object]:
    check_keys(table, UPKEEP_KEYS, f"[maintenance.{name}]")
    upkeep_policy_of(table)
    return table


def _determinism(source: TomlSource, content: Mapping[str, object]) -> dict[str, Mapping[str, Severity]]:
    """`rule = "warn"` holds for every view, `[determinism.VIEW]` for one."""
    section = _table("determinism", content.get("determinism", {}))
    everywhere = {key: value for key, value in section.items() if not isinstance(value, dict)}
    found = {EVERY_TABLE: _severities(source, "determinism", everywhere)}
    for name, value in section.items():
        if isinstance(value, dict):
            said = cast("Mapping[str, object]", value)
            found[same_name(name)] = _severities(source, f"determinism.{name}", said)
    return found


def _severities(source: TomlSource, table: str, said: Mapping[str, object]) -> Mapping[str, Severity]:
    for rule, severity in said.items():
        if severity not in SEVERITIES:
            raise InvalidSetting(
                key=rule,
                value=repr(severity),
                expected=f"one of {', '.join(SEVERITIES)}",
                origin=source.origin_of(rule, table),
            )
    return cast("Mapping[str, Severity]", said)


def _declared_keys(
    source: TomlSource, content: Mapping[str, object]
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """`orders = "order_id"`, `["country", "day"]`, or a list of such lists: each is a key of its own."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name, value in _table("keys", content.get("keys", {})).items():
        listed: list[object] = cast("list[object]", value) if isinstance(value, list) else [value]
        several = listed if any(isinstance(each, list) for each in listed) else [listed]
        try:
            found[same_name(name)] = tuple(texts(name, each) for each in several)
        except InvalidSetting as error:
            raise replace(error, origin=source.origin_of(name, "keys")) from None
    return found


def _cache(source: TomlSource, content: Mapping[str, object]) -> dict[str, ViewCachePolicy]:
    """`paid = "memory"`, by the name of a view."""
    found: dict[str, ViewCachePolicy] = {}
    for name, value in _table("cache", content.get("cache", {})).items():
        try:
            found[name] = view_cache_of(value, name)
        except InvalidSetting as error:
            raise replace(error, origin=source.origin_of(name, "cache")) from None
    return found


def _openlineage(source: TomlSource, content: Mapping[str, object]) -> OpenLineageSettings:
    said = _table("openlineage", content.get("openlineage", {}))
    try:
        check_keys(said, OPENLINEAGE_KEYS, "[openlineage]")
        return openlineage_of(said)
    except (UnknownSetting, InvalidSetting) as error:
        raise replace(error, origin=source.origin_of(error.key, "openlineage")) from None


def _project_name(name: str) -> str:
    try:
        return check_name(name)
    except InvalidName as error:
        raise InvalidSetting(key="name", value=repr(name), expected=error.next_step) from None


def _table(key: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidSetting(key=key, value=repr(value), expected="a table, written [" + key + "]")
    return cast("Mapping[str, object]", value)


def _line_of(error: tomllib.TOMLDecodeError, text: str) -> int:
    """Python 3.11 keeps the line only in the message: 'Expected ... (at line 3, column 7)'."""
    _, _, tail = str(error).partition("(at line ")
    number = tail.partition(",")[0]
    return int(number) if number.isdigit() else len(text.splitlines())
