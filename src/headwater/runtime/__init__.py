"""A Spark session from a frozen profile: the only way to one.

RuntimeProfile, resolve_profile   the value (DEFAULT_PROFILE is its name), and where its fields come from
TomlSource, check_keys            lines and unknown keys of a TOML file
identity_of                       what a profile's runtime is, without starting it: RuntimeIdentity
SettingsSnapshot                  settings that affect results, apart from those that do not
with_results                      a profile with the settings that a recorded run had
settings_in_force                 what is really set in a session
open_runtime, close_runtime       the process's one Spark application; Notify hears of it, or ignore_notes
check_session                     whether a session that is open will do: CompatibilityReport, SessionCheck
adopt_session                     what is really there in one that will: Adoption
connect_session, frame_of_bytes   a session on a Spark Connect server, and recorded plans in it
prepare_engine                    what a first start needs, fetched beforehand
run_training                      a child's life while it trains a class archive
SessionRuntime, RunSession        sessions that are lent for one run
failure_of, ENGINE_EXCEPTIONS     what Spark throws, described: Failure; ENGINE_GONE if it is not there
engine_errors, engine_error       the same as a typed error
for_thread                        work on the same Spark in another thread
connect_planner                   Spark's translator from Connect's messages to Catalyst
ArrowStream, as_arrow_can         a frame's rows as Arrow batches, in bounded memory
dependency_manifest               versions and jars: DependencyManifest, Jar, engine_versions, EngineVersions
headwater_home, home_path         the cache folder, made on demand; where it is or would be
StorageProfile                    where tables live: local_path_of, is_remote, check_writable, redacted
CachePolicy, cache_policy         how long a session believes what it saw, by CacheProfile
"""

from headwater.home import headwater_home, home_path
from headwater.runtime.adopting import (
    Adoption,
    CompatibilityReport,
    SessionCheck,
    adopt_session,
    check_session,
)
from headwater.runtime.cache import CachePolicy, cache_policy
from headwater.runtime.connecting import connect_session, frame_of_bytes
from headwater.runtime.failures import (
    ENGINE_EXCEPTIONS,
    ENGINE_GONE,
    Failure,
    engine_error,
    engine_errors,
    failure_of,
)
from headwater.runtime.jars import Jar
from headwater.runtime.planner import connect_planner
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
    prepare_engine,
    settings_in_force,
)
from headwater.runtime.settings import SettingsSnapshot, with_results
from headwater.runtime.storage import StorageProfile, check_writable, is_remote, local_path_of, redacted
from headwater.runtime.streaming import ArrowStream, as_arrow_can
from headwater.runtime.threads import for_thread
from headwater.runtime.training import run_training
from headwater.runtime.versions import (
    DependencyManifest,
    EngineVersions,
    dependency_manifest,
    engine_versions,
)

__all__ = [
    "DEFAULT_PROFILE",
    "ENGINE_EXCEPTIONS",
    "ENGINE_GONE",
    "Adoption",
    "ArrowStream",
    "CachePolicy",
    "CacheProfile",
    "CompatibilityReport",
    "DependencyManifest",
    "EngineVersions",
    "Failure",
    "Jar",
    "Notify",
    "RunSession",
    "RuntimeIdentity",
    "RuntimeProfile",
    "SessionCheck",
    "SessionRuntime",
    "SettingsSnapshot",
    "StorageProfile",
    "TomlSource",
    "adopt_session",
    "as_arrow_can",
    "cache_policy",
    "check_keys",
    "check_session",
    "check_writable",
    "close_runtime",
    "connect_planner",
    "connect_session",
    "dependency_manifest",
    "engine_error",
    "engine_errors",
    "engine_versions",
    "failure_of",
    "for_thread",
    "frame_of_bytes",
    "headwater_home",
    "home_path",
    "identity_of",
    "ignore_notes",
    "is_remote",
    "local_path_of",
    "open_runtime",
    "prepare_engine",
    "redacted",
    "resolve_profile",
    "run_training",
    "settings_in_force",
    "with_results",
]
