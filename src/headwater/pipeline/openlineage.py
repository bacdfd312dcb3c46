"""Where a project's OpenLineage events go: `[openlineage]` of headwater.toml, and the environment before it.

Not here: the events.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from headwater.errors import InvalidSetting
from headwater.given import text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_VARIABLE = "HEADWATER_OPENLINEAGE_"
_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLineageSettings:
    """Where events go; nowhere if there is neither a `url` nor a `file`.

    Attributes:
        url, endpoint: The server, and the path on it that takes events.
        file: A file that gets one event per line; from the project's folder.
        namespace: That of every job.
        api_key_env: The variable that holds the server's key.
        timeout_seconds: How long the server may take to answer, and how long a build waits for it at its
            beginnings and, once more, at its end.
        api_key: What the variable holds.
    """

    url: str | None = None
    endpoint: str = "api/v1/lineage"
    file: str | None = None
    namespace: str = "headwater"
    api_key_env: str | None = None
    timeout_seconds: float = 5.0
    api_key: str | None = field(default=None, repr=False)

    @property
    def is_on(self) -> bool:
        """Whether anybody wants events."""
        return self.url is not None or self.file is not None


def openlineage_of(said: Mapping[str, object]) -> OpenLineageSettings:
    """The settings as `[openlineage]` writes them; its keys are known.

    Raises:
        InvalidSetting: a value that a key cannot have.
    """
    found = {key: _TAKES[key](key, value) for key, value in said.items()}
    return OpenLineageSettings(**cast("dict[str, Any]", found))


def openlineage_in(environ: Mapping[str, str], base: OpenLineageSettings) -> OpenLineageSettings:
    """The settings with what the environment says: `HEADWATER_OPENLINEAGE_URL` and so on, and the key.

    A variable that is empty takes a setting back. `OPENLINEAGE_DISABLED=true` takes back all of them.

    Raises:
        InvalidSetting: a value that a variable cannot have.
    """
    if environ.get("OPENLINEAGE_DISABLED", "").lower() == "true":
        return OpenLineageSettings()
    found: dict[str, Any] = {}
    for key, take in _TAKES.items():
        variable = f"{_VARIABLE}{key.upper()}"
        if variable in environ:
            value = environ[variable].strip()
            found[key] = take(variable, value) if value else getattr(OpenLineageSettings(), key)
    chosen = replace(base, **found)
    return replace(chosen, api_key=environ.get(chosen.api_key_env) if chosen.api_key_env else None)


def _url(key: str, value: object) -> str:
    """An address without anything secret in it; a wrong one is not shown, as it may have something."""
    expected = "an address such as http://localhost:5000, without a login and without ? and #"
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        is_plain = "@" not in parts.netloc and not parts.query and not parts.fragment and parts.port != 0
    except ValueError:
        raise InvalidSetting(key=key, value="what it is", expected=expected) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not is_plain:
        raise InvalidSetting(key=key, value="what it is", expected=expected)
    return parts.geturl().rstrip("/")


def _endpoint(key: str, value: object) -> str:
    found = text(key, value).strip("/")
    if not re.fullmatch(r"[\w.~/-]+", found):
        raise InvalidSetting(key=key, value=repr(value), expected="a path such as api/v1/lineage")
    return found


def _seconds(key: str, value: object) -> float:
    """A number in a file; in a variable, a text that is one."""
    is_number = isinstance(value, int | float | str) and not isinstance(value, bool)
    found = str(value) if is_number else ""
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3})?", found) or not 0 < float(found) <= _LONGEST:
        expected = f"a number of seconds above 0, {_LONGEST} at the most"
        raise InvalidSetting(key=key, value=repr(value), expected=expected)
    return float(found)


def _variable(key: str, value: object) -> str:
    """The name of a variable; what is none may be the key itself, and is not shown."""
    found = text(key, value)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", found):
        expected = "the name of the environment variable that holds the key"
        raise InvalidSetting(key=key, value="what it is", expected=expected)
    return found


_TAKES: Mapping[str, Callable[[str, object], object]] = {
    "url": _url,
    "endpoint": _endpoint,
    "file": text,
    "namespace": text,
    "api_key_env": _variable,
    "timeout_seconds": _seconds,
}
# What `[openlineage]` may say.
OPENLINEAGE_KEYS = tuple(_TAKES)
