"""A Spark session from a frozen profile: the only way to one.

RuntimeProfile, resolve_profile   the value, and where its fields come from
identity_of                       what a profile's runtime is, without starting it
open_runtime, close_runtime       the process's one Spark application
SessionRuntime, RunSession        sessions that are lent for one run
failure_of, engine_errors         what Spark throws, in typed words
dependency_manifest               versions and jars
StorageProfile, CachePolicy       policies that are part of a runtime's identity
"""

from headwater.runtime.cache import CachePolicy, cache_policy
from headwater.runtime.failures import Failure, engine_error, engine_errors, failure_of, is_engine_failure
from headwater.runtime.home import headwater_home
from headwater.runtime.jars import Jar
from headwater.runtime.profile import (
    DEFAULT_PROFILE,
    CacheProfile,
    RuntimeProfile,
    TomlSource,
    check_keys,
    resolve_profile,
)
from headwater.runtime.session import (
    Notify,
    RunSession,
    RuntimeIdentity,
    SessionRuntime,
    close_runtime,
    identity_of,
    ignore_notes,
    open_runtime,
)
from headwater.runtime.settings import SettingsSnapshot
from headwater.runtime.storage import StorageProfile, local_path_of, redacted
from headwater.runtime.versions import (
    DependencyManifest,
    EngineVersions,
    dependency_manifest,
    engine_versions,
)

__all__ = [
    "DEFAULT_PROFILE",
    "CachePolicy",
    "CacheProfile",
    "DependencyManifest",
    "EngineVersions",
    "Failure",
    "Jar",
    "Notify",
    "RunSession",
    "RuntimeIdentity",
    "RuntimeProfile",
    "SessionRuntime",
    "SettingsSnapshot",
    "StorageProfile",
    "TomlSource",
    "cache_policy",
    "check_keys",
    "close_runtime",
    "dependency_manifest",
    "engine_error",
    "engine_errors",
    "engine_versions",
    "failure_of",
    "headwater_home",
    "identity_of",
    "ignore_notes",
    "is_engine_failure",
    "local_path_of",
    "open_runtime",
    "redacted",
    "resolve_profile",
]
