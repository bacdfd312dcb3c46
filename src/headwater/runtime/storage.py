"""Where tables live and with which options: one value for snapshots, reads and writes alike.

Not here: any I/O but following links of local paths; this is policy, and part of the runtime's identity.
"""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from headwater.errors import InvalidSetting, RemoteRefused, RemoteUnsupported, StoreUnsafe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

REDACTED = "*********"
_SECRET = re.compile(
    r"(?i)secret|passw|passphrase|token|credential|signature|private|[._-]sas([._-]|$)"
    r"|(access|account|api|encryption|shared|master)[._-]?key"
)
_LOGIN = re.compile(r"(?<=://)[^/\s@:]*:[^/\s]*@")

_FLAGS = re.ASCII | re.IGNORECASE | re.DOTALL
_FILE_SCHEME = "file:"
_FILE_URI = re.compile(r"file:(?://(?P<host>[^/]*)|(?!//))(?P<path>/.*)", _FLAGS)
_REMOTE = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://(?P<authority>[^/]*)(?P<path>.*)", _FLAGS)
_HOST = r"(?:[a-z0-9._-]*|\[[0-9a-f:.]+\])(?::[0-9]+)?"
_AUTHORITY = re.compile(_HOST, _FLAGS)
# A bucket has no port: what stands behind a colon is a secret that was cut at its first slash.
_BUCKET = re.compile(r"[a-z0-9._-]+", _FLAGS)
# Azure writes a container where others write a user.
_CONTAINER = re.compile(rf"(?:[a-z0-9$-]+@)?{_HOST}", _FLAGS)
_S3_SCHEMES = frozenset({"s3", "s3n", "s3a"})
_CONTAINER_SCHEMES = frozenset({"abfs", "abfss", "wasb", "wasbs"})

# A log store that lets one of two writers win, and the other one know; S3 alone does not.
SAFE_LOG_STORES = ("io.delta.storage.S3DynamoDBLogStore",)

_HADOOP = "spark.hadoop."
# What a log store option may begin with, and what Spark wants in front of it.
_LOG_PREFIXES = {
    "logStore.": "spark.delta.",
    "io.delta.storage.": "spark.",
    "spark.delta.": "",
    "spark.io.delta.": "",
}
_ENDPOINT_KEY = re.compile(r"(?P<prefix>fs\.s3a\.(?:bucket\..+\.)?)endpoint")
_ENDPOINT = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?P<path>/[^\s?#@]*)?",
    _FLAGS,
)
_OWN_PORTS = {"http": "80", "https": "443"}


def is_secret(key: str) -> bool:
    """Whether a setting's value must never be written down."""
    return _SECRET.search(key) is not None


def redacted(settings: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The settings with the values of secret keys struck out, and `user:password@` inside other values."""
    return tuple((key, _value_shown(key, value)) for key, value in settings)


def is_remote(path: str) -> bool:
    """Whether a path is an address with a scheme, `s3a://…`, and not a local path or `file:` address.

    >>> [is_remote(each) for each in ("s3a://bucket/t", "file:///lake/t", "lake/a:b", "a:b")]
    [True, False, False, False]
    """
    return _remote(path) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageProfile:
    """Options for the data's file system, options for Delta's log store, and what addresses are allowed.

    Raises:
        InvalidSetting: an option is unknown, has two values, or leads the log to another place than the data.
    """

    options: tuple[tuple[str, str], ...] = ()
    log_store_options: tuple[tuple[str, str], ...] = ()
    require_local_paths: bool = False

    def __post_init__(self) -> None:
        _check_log_keys(self.log_store_options)
        settings = self._settings()
        data = {
            key.removeprefix(_HADOOP): option for key, option in settings.items() if key.startswith(_HADOOP)
        }
        _check_endpoints(data)
        _check_same_place(data, self.log_store_options)

    def __repr__(self) -> str:
        return (
            f"StorageProfile(options={redacted(self.options)}, "
            f"log_store_options={redacted(self.log_store_options)}, "
            f"require_local_paths={self.require_local_paths})"
        )

    def spark_settings(self) -> tuple[tuple[str, str], ...]:
        """The same options as Spark settings: Hadoop's for data, Delta's for the log."""
        return tuple(sorted((key, option.value) for key, option in self._settings().items()))

    def identity(self) -> tuple[tuple[str, str], ...]:
        """What is hashed and recorded; a rotated secret is the same storage."""
        local = (("require_local_paths", str(self.require_local_paths).lower()),)
        return (*local, *redacted(self.spark_settings()))

    def canonical_uri(self, path: str) -> str:
        """One address per place, however it is spelt, and the same again for an address from here.

        A local path becomes `file:///a/b`: absolute, links followed, percent-encoded. It may be written as a
        path, where every character stands for itself, or as a `file:` address, where `%20` is a space. An
        address with a scheme is made as Hadoop makes it, with scheme and host in small letters and `s3a` for
        all of S3.

        Raises:
            RemoteRefused: the address is remote and this profile allows local ones only.
            InvalidSetting: no place can have this address, or there is a password in it.
        """
        remote = _remote(path)
        if remote is None:
            return _resolved(path).as_uri()
        if self.require_local_paths:
            raise RemoteRefused(uri=_address_shown(path))
        return _remote_uri(remote)

    def _settings(self) -> dict[str, _Option]:
        """The options by their keys in Spark."""
        found: dict[str, _Option] = {}
        data = ((_data_key(key), key, value) for key, value in self.options)
        log = ((_log_key(key), key, value) for key, value in self.log_store_options)
        for key, written, value in (*data, *log):
            first = found.setdefault(key, _Option(written=written, value=value))
            if first.value != value:
                other = repr(_value_shown(first.written, first.value))
                raise InvalidSetting(
                    key=written,
                    value=repr(_value_shown(written, value)),
                    expected=f"one value: '{first.written}' is the same setting and has {other}",
                )
        return found


def local_path_of(uri: str) -> Path:
    """The path behind a `file:` address.

    Raises:
        RemoteUnsupported: the address is another one.
        InvalidSetting: the address names another machine, or no absolute path.
    """
    if not _is_file_uri(uri):
        raise RemoteUnsupported(uri=_address_shown(uri))
    return Path(_path_in(uri))


def check_writable(storage: StorageProfile, uri: str) -> None:
    """Raises StoreUnsafe for an address on S3 unless the profile names a log store that was proven safe.

    Delta's own store for S3 has no way to make a file only if it is not there: of two writers at one time,
    both are told that they committed.
    """
    remote = _remote(uri)
    if remote is None or remote["scheme"].lower() not in _S3_SCHEMES:
        return
    named = dict(storage.spark_settings()).get(f"spark.delta.logStore.{remote['scheme'].lower()}.impl")
    named = named or dict(storage.spark_settings()).get("spark.delta.logStore.s3a.impl")
    if named not in SAFE_LOG_STORES:
        store = named or "Delta's default for S3"
        raise StoreUnsafe(uri=_address_shown(uri), log_store=store, safe=SAFE_LOG_STORES)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    """An option's value, and the key as its author wrote it: the one to be found in the file."""

    written: str
    value: str


# --- addresses -----------------------------------------------------------------------------------------


def _is_file_uri(path: str) -> bool:
    return path[: len(_FILE_SCHEME)].lower() == _FILE_SCHEME


def _path_in(uri: str) -> str:
    """The path that a `file:` address stands for, its percent-encoding undone."""
    found = _FILE_URI.fullmatch(uri)
    if found is None or (found["host"] or "").lower() not in {"", "localhost"}:
        raise InvalidSetting(
            key="path",
            value=repr(_address_shown(uri)),
            expected="an absolute path on this machine, as in file:///lake/t",
        )
    # Through bytes, so that a name that is no UTF-8 comes out as the file system spells it.
    path = os.fsdecode(unquote_to_bytes(os.fsencode(found["path"])))
    return "/" + path.lstrip("/")


def _resolved(path: str) -> Path:
    try:
        local = _path_in(path) if _is_file_uri(path) else path
        if local and "\0" not in local:
            _check_ends(local)
            return Path(local).resolve()
    except (OSError, RuntimeError, UnicodeError):  # a loop of links, or characters that no file name has
        pass
    raise InvalidSetting(
        key="path",
        value=repr(path),
        expected="a path or an address, not empty, without NUL characters and without a loop of links",
    )


def _check_ends(path: str) -> None:
    """Raises the system's error for a loop of links, which newer Pythons resolve without a word."""
    try:
        Path(path).stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise


def _remote(path: str) -> re.Match[str] | None:
    return None if _is_file_uri(path) else _REMOTE.fullmatch(path)


def _remote_uri(parts: re.Match[str]) -> str:
    scheme, authority, path = parts["scheme"].lower(), parts["authority"].lower(), parts["path"]
    if "\0" in path or not _is_authority(scheme, authority):
        raise InvalidSetting(
            key="path",
            value=repr(_address_shown(parts[0])),
            expected="an address such as s3a://bucket/folder, without NUL characters and without a login; "
            "logins are storage options",
        )
    return f"{'s3a' if scheme in _S3_SCHEMES else scheme}://{authority}{_normal_path(path)}"


def _is_authority(scheme: str, authority: str) -> bool:
    """Whether this is a host, a bucket or a container, without a login."""
    if scheme in _S3_SCHEMES:
        return _BUCKET.fullmatch(authority) is not None
    pattern = _CONTAINER if scheme in _CONTAINER_SCHEMES else _AUTHORITY
    return pattern.fullmatch(authority) is not None


def _normal_path(path: str) -> str:
    """The path as Hadoop's Path has it once it no longer changes: `..` above the root stays."""
    kept: list[str] = []
    for part in path.split("/"):
        if part == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif part not in {"", "."}:
            kept.append(part)
    return "/" + "/".join(kept)


def _address_shown(uri: str) -> str:
    """An address as a message may show it: without what could be a login."""
    found = _REMOTE.fullmatch(uri)
    if found is None or _is_authority(found["scheme"].lower(), found["authority"]):
        return uri
    _, at, behind = (found["authority"] + found["path"]).rpartition("@")
    return f"{found['scheme']}://{REDACTED}{at}{behind if at else ''}"


# --- options -------------------------------------------------------------------------------------------


def _value_shown(key: str, value: str) -> str:
    return REDACTED if is_secret(key) else _LOGIN.sub(f"{REDACTED}@", value)


def _data_key(key: str) -> str:
    return key if key.startswith(_HADOOP) else f"{_HADOOP}{key}"


def _log_key(key: str) -> str:
    return next(f"{front}{key}" for start, front in _LOG_PREFIXES.items() if key.startswith(start))


def _check_log_keys(options: Iterable[tuple[str, str]]) -> None:
    for key, _ in options:
        if not key.startswith(tuple(_LOG_PREFIXES)):
            starts = ", ".join(f"{start}*" for start in _LOG_PREFIXES)
            raise InvalidSetting(key=key, value="a log store option", expected=f"a key like one of {starts}")


def _check_endpoints(data: Mapping[str, _Option]) -> None:
    """Each endpoint of S3, a bucket's own too, is one, and its scheme is not what the SSL switch denies."""
    for key, option in sorted(data.items()):
        found = _ENDPOINT_KEY.fullmatch(key)
        if found is None:
            continue
        endpoint = _endpoint(option.value)
        if endpoint is None:
            _, at, behind = option.value.rpartition("@")
            raise InvalidSetting(
                key=option.written,
                value=repr(f"{REDACTED}@{behind}" if at else option.value),
                expected="a host, as in minio:9000, or an http:// or https:// URL, without a login",
            )
        scheme = (endpoint["scheme"] or "").lower()
        switch = data.get(f"{found['prefix']}connection.ssl.enabled")
        if switch and (scheme, switch.value.lower()) in {("https", "false"), ("http", "true")}:
            raise InvalidSetting(
                key=switch.written,
                value=switch.value,
                expected=f"what '{option.written}' says, which begins with {scheme}://, or no value",
            )


def _check_same_place(data: Mapping[str, _Option], log: Iterable[tuple[str, str]]) -> None:
    """The log store's endpoint and region are the data's; DynamoDB has an endpoint of its own."""
    switch = data.get("fs.s3a.connection.ssl.enabled")
    is_ssl = switch is None or switch.value.lower() != "false"
    for key, value in log:
        if key.endswith(".region"):
            known = _known(data, "endpoint.region")
            # Without one the data's region comes from the machine's surroundings.
            differs = bool(known) and value.lower() not in {each.value.lower() for each in known}
        elif key.endswith(".endpoint") and not key.endswith("ddb.endpoint"):
            known = _known(data, "endpoint")
            differs = _place(value, is_ssl=is_ssl) not in {
                _place(each.value, is_ssl=is_ssl) for each in known
            }
        else:
            continue
        if differs:
            places = " or ".join(f"{each.value} ('{each.written}')" for each in known)
            raise InvalidSetting(
                key=key,
                value=repr(_value_shown(key, value.rpartition("@")[2])),
                expected=f"the place of the data, {places or 'and the same one to fs.s3a.endpoint'}",
            )


def _known(data: Mapping[str, _Option], name: str) -> tuple[_Option, ...]:
    """What S3A is told for all buckets or, where it is told nothing, for single ones."""
    if general := data.get(f"fs.s3a.{name}"):
        return (general,)
    return tuple(
        option
        for key, option in sorted(data.items())
        if key.startswith("fs.s3a.bucket.") and key.endswith(f".{name}")
    )


def _endpoint(text: str) -> re.Match[str] | None:
    found = _ENDPOINT.fullmatch(text)
    if found is None or int(found["port"] or 1) not in range(1, 65536):
        return None
    return found if found["scheme"] or found["path"] in {None, "/"} else None


def _place(endpoint: str, *, is_ssl: bool) -> tuple[str, str, str]:
    """Host, port and path of an endpoint, the same for all its spellings."""
    found = _endpoint(endpoint)
    if found is None:
        return endpoint, "", ""
    scheme = found["scheme"] or ("https" if is_ssl else "http")
    port = "" if found["port"] == _OWN_PORTS[scheme.lower()] else found["port"] or ""
    return found["host"].lower(), port, (found["path"] or "").rstrip("/")
