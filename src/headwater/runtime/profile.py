"""The frozen profile a session is made from, and where its values come from.

Precedence, weakest first: built-in defaults, `[profiles.NAME]` of headwater.toml, `HEADWATER_<FIELD>` in the
environment, flags (`--master`, `--set key=value`). Not here: Spark; a profile is a value.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal, cast, get_args

from headwater.datasets import DEGRADED_PROVIDERS
from headwater.errors import HeadwaterError, InvalidSetting, UnknownProfile, UnknownSetting
from headwater.functions import FAMILIES
from headwater.names import near_hint, near_name
from headwater.origin import Origin
from headwater.runtime.masters import is_local
from headwater.runtime.storage import StorageProfile

CacheProfile = Literal["snapshot_pinned", "always_latest_ttl30s", "multi_tenant_strict"]
Catalog = Literal["in_memory", "hive"]
JavaCompiler = Literal["auto", "quick", "full"]

DEFAULT_PROFILE = "local"
_OTHER_VARIABLES = frozenset(
    {"HOME", "ARCHIVE", "PROFILE", "WAREHOUSE", "DEBUG"}
    | {"OPENLINEAGE_URL", "OPENLINEAGE_ENDPOINT", "OPENLINEAGE_FILE", "OPENLINEAGE_NAMESPACE"}
    | {"OPENLINEAGE_API_KEY_ENV", "OPENLINEAGE_TIMEOUT_SECONDS"}
)
_LOCAL_CORES = re.compile(r"local\[(\*|[0-9]+)(?:,.*)?\]")
_NO_ENDPOINT = (
    "the master of a cluster (spark://…, k8s://…, yarn) or local[*]: behind an endpoint of Spark Connect "
    "there is no driver that a build could work in. What a run recorded can be sent there: "
    "docs/tutorial/running-on-a-cluster.md"
)
_MEMORY = re.compile(r"[1-9][0-9]*[mg]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeProfile:
    """Everything that shapes a Spark session. Two equal profiles give two equal sessions, on any machine."""

    name: str = DEFAULT_PROFILE
    master: str = "local[*]"
    driver_memory: str = "2g"
    java_compiler: JavaCompiler = "auto"
    shuffle_partitions: int = 2
    snapshot_partitions: int = 1
    time_zone: str = "UTC"
    ansi: bool = True
    adaptive: bool = True
    parallel_tasks: int = 4
    slow_task_seconds: int = 10
    executor_wait_seconds: int = 120
    cache: CacheProfile = "snapshot_pinned"
    catalog: Catalog = "in_memory"
    disabled_families: tuple[str, ...] = ()
    allow_degraded: tuple[str, ...] = ()
    storage: StorageProfile = field(default_factory=StorageProfile)
    spark: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # it may hold secrets

    @property
    def is_local(self) -> bool:
        """Whether driver and executors share this machine and process."""
        return is_local(self.master)

    @property
    def workers(self) -> int:
        """How many tasks run at once: as many as were asked for, where there are cores for them."""
        if not self.is_local:
            return self.parallel_tasks
        said = _LOCAL_CORES.fullmatch(self.master)
        cores = said[1] if said else "1"
        return min(self.parallel_tasks, (os.cpu_count() or 1) if cores == "*" else int(cores))


_FIELDS = {
    each.name: each for each in fields(RuntimeProfile) if each.name not in {"name", "storage", "spark"}
}
_CHOICES = {
    "cache": get_args(CacheProfile),
    "catalog": get_args(Catalog),
    "java_compiler": get_args(JavaCompiler),
}
_STORAGE_FIELDS = tuple(each.name for each in fields(StorageProfile))
# Settings that a profile field owns; naming them twice would let the two disagree.
_OWNED = {
    "spark.master": "master",
    "spark.remote": "master",
    "spark.driver.memory": "driver_memory",
    "spark.sql.shuffle.partitions": "shuffle_partitions",
    "spark.databricks.delta.snapshotPartitions": "snapshot_partitions",
    "spark.sql.session.timeZone": "time_zone",
    "spark.sql.ansi.enabled": "ansi",
    "spark.sql.adaptive.enabled": "adaptive",
    "spark.sql.catalogImplementation": "catalog",
}

# Where tables are and how they are reached; two places that say it could disagree.
_STORAGE_KEYS = ("spark.hadoop.fs.", "spark.delta.logStore", "spark.io.delta.storage.")
# Spark's launcher would read these; the driver is started without it, so they would be ignored in silence.
_UNAPPLIED = frozenset(
    {
        "spark.driver.extraJavaOptions",
        "spark.driver.defaultJavaOptions",
        "spark.driver.extraClassPath",
        "spark.driver.extraLibraryPath",
    }
)


def resolve_profile(
    *,
    profiles: Mapping[str, Mapping[str, object]],
    environ: Mapping[str, str],
    chosen: str | None = None,
    flags: Mapping[str, str] | None = None,
    source: TomlSource | None = None,
) -> RuntimeProfile:
    """The profile that defaults, file, environment and flags give together.

    Args:
        profiles: the `[profiles]` tables of headwater.toml.
        environ: the process's environment.
        chosen: the profile's name, if a flag or the project names one.
        flags: `--set` pairs and `--master`, by field or Spark key.
        source: where the profiles were written, so that an error can name the line.
    """
    name = chosen or environ.get("HEADWATER_PROFILE") or DEFAULT_PROFILE
    known = tuple(sorted({DEFAULT_PROFILE, *profiles}))
    if name not in known:
        raise UnknownProfile(name=name, known=known)
    profile = RuntimeProfile(name=name)
    try:
        for key, value in profiles.get(name, {}).items():
            profile = _with_value(profile, key, value, where=f"[profiles.{name}]")
    except (UnknownSetting, InvalidSetting) as error:
        raise _placed(error, source, f"profiles.{name}") from None
    for key, value in sorted(_from_environment(environ).items()):
        profile = _with_value(profile, key, value, where="the environment")
    for key, value in (flags or {}).items():
        profile = _with_value(profile, key, value, where="the flags")
    return profile


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlSource:
    """A TOML file's path and text, kept to find the line of a key."""

    path: str
    text: str

    def origin_of(self, key: str, table: str = "") -> Origin:
        """The first line that sets `key`, quoted or not, behind the header of `table`."""
        lines = list(enumerate(self.text.splitlines(), 1))
        header = re.compile(rf"^\s*\[{re.escape(table)}[\].]")
        start = next((n for n, line in lines if header.match(line)), 1)
        pattern = re.compile(rf"""^\s*(\[.*)?["']?{re.escape(key)}["']?\s*[\]=]""")
        return Origin(self.path, next((n for n, line in lines if n >= start and pattern.match(line)), 0))


def check_keys(keys: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    """Raises UnknownSetting, with the nearest known key, for the first key that is not known."""
    for key in keys:
        if key not in known:
            raise UnknownSetting(key=key, where=where, hint=near_hint(key, known))


def _placed(error: UnknownSetting | InvalidSetting, source: TomlSource | None, table: str) -> HeadwaterError:
    return replace(error, origin=source.origin_of(error.key, table)) if source else error


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    known = {f"HEADWATER_{name.upper()}": name for name in _FIELDS}
    for variable, value in environ.items():
        if not variable.startswith("HEADWATER_") or variable.removeprefix("HEADWATER_") in _OTHER_VARIABLES:
            continue
        if variable not in known:
            name = variable.removeprefix("HEADWATER_").lower()
            near = near_name(name, _FIELDS)
            hint = f"Did you mean 'HEADWATER_{near.upper()}'? " if near else ""
            raise UnknownSetting(key=variable, where="the environment", hint=hint)
        values[known[variable]] = value
    return values


def _with_value(profile: RuntimeProfile, key: str, value: object, *, where: str) -> RuntimeProfile:
    if key.startswith("spark."):
        return _with_spark(profile, key, value)
    if key == "spark" and isinstance(value, Mapping):
        for inner, setting in cast("Mapping[str, object]", value).items():
            profile = _with_spark(profile, inner, setting)
        return profile
    if key == "storage" and isinstance(value, Mapping):
        return replace(profile, storage=_storage(cast("Mapping[str, object]", value)))
    check_keys({key: value}, (*_FIELDS, "spark", "storage"), where)
    if key in {"spark", "storage"}:
        raise InvalidSetting(key=key, value=repr(value), expected="a table of keys and values")
    return replace(profile, **{key: _coerced(key, value)})


def _with_spark(profile: RuntimeProfile, key: str, value: object) -> RuntimeProfile:
    if key in _UNAPPLIED:
        raise InvalidSetting(
            key=key, value=str(value), expected="nothing: the driver starts with its own options"
        )
    if key in _OWNED:
        raise InvalidSetting(
            key=key, value=str(value), expected=f"a value through the profile's own '{_OWNED[key]}'"
        )
    if key.startswith(_STORAGE_KEYS):
        expected = "a value through the profile's [storage], where log and data are compared"
        raise InvalidSetting(key=key, value="set here", expected=expected)
    if not key.startswith("spark."):
        raise UnknownSetting(key=key, where="the Spark settings", hint="Spark's keys begin with 'spark.'. ")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    settings = {**dict(profile.spark), key: text}
    return replace(profile, spark=tuple(sorted(settings.items())))


def _storage(table: Mapping[str, object]) -> StorageProfile:
    check_keys(table, _STORAGE_FIELDS, "[storage]")
    local = table.get("require_local_paths", False)
    if not isinstance(local, bool):
        raise InvalidSetting(key="require_local_paths", value=repr(local), expected="true or false")
    return StorageProfile(
        options=_pairs("options", table.get("options", {})),
        log_store_options=_pairs("log_store_options", table.get("log_store_options", {})),
        require_local_paths=local,
    )


def _pairs(key: str, table: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(table, Mapping):
        raise InvalidSetting(key=key, value=repr(table), expected="a table of keys and values")
    return tuple(sorted(_flattened("", cast("Mapping[str, object]", table))))


def _flattened(prefix: str, table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """A key with dots that was not quoted is a table in a table to TOML, and one key to everybody else."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flattened(f"{prefix}{key}.", cast("Mapping[str, object]", value))
        else:
            yield f"{prefix}{key}", str(value).lower() if isinstance(value, bool) else str(value)


def _coerced(key: str, value: object) -> str | int | bool | tuple[str, ...]:
    default = _FIELDS[key].default
    if isinstance(default, tuple):
        return _chosen(key, value, FAMILIES if key == "disabled_families" else DEGRADED_PROVIDERS)
    if isinstance(default, bool):
        return _boolean(key, value)
    if isinstance(default, int):
        return _positive(key, value)
    if not isinstance(value, str) or not value:
        raise InvalidSetting(key=key, value=repr(value), expected="a text")
    choices = _CHOICES.get(key)
    if choices and value not in choices:
        raise InvalidSetting(key=key, value=repr(value), expected=f"one of {', '.join(choices)}")
    if key == "master" and value.startswith("sc://"):
        raise InvalidSetting(key=key, value=repr(value), expected=_NO_ENDPOINT)
    if key == "driver_memory" and not _MEMORY.fullmatch(value):
        raise InvalidSetting(key=key, value=repr(value), expected="a size such as 800m or 2g")
    return value


def _chosen(key: str, value: object, known: Collection[str]) -> tuple[str, ...]:
    """Some of the known words: a list in a file; with commas between them in variables and flags."""
    words = [word for word in value.split(",") if word.strip()] if isinstance(value, str) else value
    is_list = isinstance(words, list)
    names = {str(word).strip() for word in cast("list[object]", words)} if is_list else {str(value)}
    if not names <= set(known):
        raise InvalidSetting(key=key, value=repr(value), expected=f"some of {', '.join(known)}")
    return tuple(sorted(names))


def _boolean(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    raise InvalidSetting(key=key, value=repr(value), expected="true or false")


def _positive(key: str, value: object) -> int:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | str)
        or not re.fullmatch(r"[1-9][0-9]{0,6}", str(value))
    ):
        raise InvalidSetting(key=key, value=repr(value), expected="a whole number above zero")
    return int(value)
