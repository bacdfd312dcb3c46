"""Where tables live and with which options: one value for snapshots, reads and writes alike.

Not here: any I/O; this is policy, and part of the runtime's identity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headwater.errors import RemoteRefused

REDACTED = "*********"
_SECRET = re.compile(
    r"(?i)secret|passw|passphrase|token|credential|signature|private|[._-]sas([._-]|$)"
    r"|(access|account|api|encryption|shared|master)[._-]?key"
)


def is_secret(key: str) -> bool:
    """Whether a setting's value must never be written down."""
    return _SECRET.search(key) is not None


def redacted(settings: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The settings with the values of secret keys struck out."""
    return tuple((key, REDACTED if is_secret(key) else value) for key, value in settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageProfile:
    """Options for the data's file system, options for Delta's log store, and what addresses are allowed."""

    options: tuple[tuple[str, str], ...] = ()
    log_store_options: tuple[tuple[str, str], ...] = ()
    require_local_paths: bool = False

    def spark_settings(self) -> tuple[tuple[str, str], ...]:
        """The same options as Spark settings: Hadoop's for data, Delta's for the log."""
        data = [(f"spark.hadoop.{key}", value) for key, value in self.options]
        log = [(f"spark.delta.{key}", value) for key, value in self.log_store_options]
        return tuple(sorted(data + log))

    def identity(self) -> tuple[tuple[str, str], ...]:
        """What is hashed and recorded; a rotated secret is the same storage."""
        local = (("require_local_paths", str(self.require_local_paths).lower()),)
        return (*local, *redacted(self.spark_settings()))

    def canonical_uri(self, path: str) -> str:
        """One address per place: `file:///a/b` for anything local, the URI without a final slash otherwise.

        Raises:
            RemoteRefused: the address is remote and this profile allows local ones only.
        """
        parts = urlsplit(path)
        if parts.scheme in {"", "file"}:
            local = unquote(parts.path) if parts.scheme == "file" else path
            return Path(local).resolve().as_uri()
        if self.require_local_paths:
            raise RemoteRefused(uri=path)
        return path.rstrip("/")


def local_path_of(uri: str) -> Path:
    """The path behind a `file:` address."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise RemoteRefused(uri=uri)
    return Path(unquote(parts.path))
