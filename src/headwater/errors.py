"""Every error a caller can meet, under one root; nothing else is raised on purpose.

    HeadwaterError
    ├── UsageError                    exit 2: the request or its configuration is wrong
    │   ├── ConfigSyntax              HW-CONFIG-001  a TOML file does not parse
    │   ├── UnknownSetting            HW-CONFIG-002  a key nobody knows
    │   ├── InvalidSetting            HW-CONFIG-003  a known key with a value it cannot have
    │   ├── UnknownProfile            HW-CONFIG-004  --profile names none of the profiles
    │   ├── ProjectNotFound           HW-CONFIG-005  no headwater.toml where one was expected
    │   ├── FileNameNotUtf8           HW-CONFIG-006  a file name that cannot be shown or recorded
    │   └── TargetNotEmpty            HW-CONFIG-007  init would write over something
    ├── RuntimeFailure                the engine cannot be had
    │   ├── JavaNotFound              HW-RUNTIME-001
    │   ├── JavaTooOld                HW-RUNTIME-002
    │   ├── JarsUnavailable           HW-RUNTIME-003  not cached, and could not be fetched
    │   ├── JarCorrupt                HW-RUNTIME-004  fetched bytes have another sha256
    │   ├── EngineStartFailed         HW-RUNTIME-005
    │   ├── SessionMismatch           HW-RUNTIME-006  one process, one Spark application, one set of settings
    │   └── HomeNotWritable           HW-RUNTIME-007
    ├── DefinitionError               a view or source is not a value yet
    │   ├── ViewRaised                HW-VIEW-001
    │   ├── DuplicateName             HW-VIEW-002
    │   ├── InvalidName               HW-VIEW-003
    │   ├── ViewNotReproducible       HW-VIEW-004  two builds of one view gave different bytes
    │   ├── NotInAView                HW-VIEW-005  an action, a write or a command inside a view
    │   ├── FunctionNotIdentifiable   HW-VIEW-006  a Python function whose code has no digest
    │   ├── NotAFrame                 HW-VIEW-007  the function returned something else
    │   ├── DefinitionFileFailed      HW-VIEW-008  importing the file raised
    │   └── InvalidDdl                HW-VIEW-009  a schema string that does not parse
    ├── PlanError                     the views do not fit together
    │   ├── UnknownTable              HW-PLAN-001
    │   ├── Cycle                     HW-PLAN-002
    │   ├── AnalysisFailed            HW-PLAN-003  Spark cannot resolve the view
    │   ├── SqlSyntax                 HW-PLAN-004
    │   ├── OrderMismatch             HW-PLAN-005  the analysed plan reads other names than the parsed one
    │   └── UnpinnedRead              HW-PLAN-006  the view reads something that is no registered table
    ├── DeltaError                    storage refuses
    │   ├── NotADeltaTable            HW-DELTA-001
    │   ├── LogUnreadable             HW-DELTA-002
    │   ├── CommitConflict            HW-DELTA-003  another writer was first
    │   ├── RemoteRefused             HW-DELTA-004  require_local_paths and a remote address
    │   ├── VersionNotFound           HW-DELTA-005
    │   └── SourceUnreadable          HW-DELTA-006  a file source that is missing or unreadable
    ├── RunError                      the run cannot go on
    │   ├── WarehouseNotWritable      HW-RUN-001
    │   ├── ManifestUnreadable        HW-RUN-002
    │   └── CapabilityMissing         HW-RUN-003
    └── EngineFailed                  HW-ENGINE-001  Spark, Delta or py4j failed; condition and SQLSTATE inside

Not here: how an error is shown; `cli` does that, in one place.
"""

from __future__ import annotations

import copyreg
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from headwater.origin import Origin


@dataclass(kw_only=True, eq=False)
class HeadwaterError(Exception):
    """The root of all errors raised on purpose: a code, what happened, where, and what to do next."""

    code: ClassVar[str] = "HW-BASE-000"
    exit_code: ClassVar[int] = 1
    origin: Origin | None = None

    @property
    def message(self) -> str:
        """What happened, in one sentence."""
        return type(self).__doc__ or type(self).__name__

    @property
    def next_step(self) -> str:
        """What the reader can do about it."""
        return "Run again with --debug for the whole trace."

    def __str__(self) -> str:
        where = f" {self.origin}:" if self.origin else ""
        return f"{self.code}{where} {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return copyreg.__newobj__, (type(self),), state  # pyright: ignore[reportAttributeAccessIssue]


# --- configuration -------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class UsageError(HeadwaterError):
    """The request or its configuration is wrong."""

    exit_code: ClassVar[int] = 2


@dataclass(kw_only=True, eq=False)
class ConfigSyntax(UsageError):
    """A configuration file does not parse."""

    code: ClassVar[str] = "HW-CONFIG-001"
    detail: str

    @property
    def message(self) -> str:
        return f"not valid TOML: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Correct the line named above; docs/reference/configuration.md shows every key."


@dataclass(kw_only=True, eq=False)
class UnknownSetting(UsageError):
    """A key that no profile, project or Spark setting has."""

    code: ClassVar[str] = "HW-CONFIG-002"
    key: str
    suggestion: str | None = None
    where: str = "the configuration"

    @property
    def message(self) -> str:
        return f"unknown setting {self.key!r} in {self.where}"

    @property
    def next_step(self) -> str:
        if self.suggestion:
            return f"Did you mean {self.suggestion!r}?"
        return "docs/reference/configuration.md lists every key; Spark's own begin with 'spark.'."


@dataclass(kw_only=True, eq=False)
class InvalidSetting(UsageError):
    """A known key with a value it cannot have."""

    code: ClassVar[str] = "HW-CONFIG-003"
    key: str
    value: str
    expected: str

    @property
    def message(self) -> str:
        return f"setting {self.key!r} cannot be {self.value}"

    @property
    def next_step(self) -> str:
        return f"Give it {self.expected}."


@dataclass(kw_only=True, eq=False)
class UnknownProfile(UsageError):
    """`--profile` names none of the profiles."""

    code: ClassVar[str] = "HW-CONFIG-004"
    name: str
    known: tuple[str, ...]

    @property
    def message(self) -> str:
        return f"there is no profile named {self.name!r}"

    @property
    def next_step(self) -> str:
        return f"Known profiles: {', '.join(self.known)}; add [profiles.{self.name}] to headwater.toml."


@dataclass(kw_only=True, eq=False)
class ProjectNotFound(UsageError):
    """No project where one was expected."""

    code: ClassVar[str] = "HW-CONFIG-005"
    path: str

    @property
    def message(self) -> str:
        return f"{self.path} is not a project: it has no headwater.toml"

    @property
    def next_step(self) -> str:
        return f"Make one with: headwater init {self.path}"


@dataclass(kw_only=True, eq=False)
class FileNameNotUtf8(UsageError):
    """A file name that cannot be shown or recorded."""

    code: ClassVar[str] = "HW-CONFIG-006"
    shown: str

    @property
    def message(self) -> str:
        return f"the file name {self.shown} is not valid UTF-8"

    @property
    def next_step(self) -> str:
        return "Rename the file; names of views and paths in manifests are text."


@dataclass(kw_only=True, eq=False)
class TargetNotEmpty(UsageError):
    """`init` would write over something."""

    code: ClassVar[str] = "HW-CONFIG-007"
    path: str

    @property
    def message(self) -> str:
        return f"{self.path} is there already and is not empty"

    @property
    def next_step(self) -> str:
        return "Name a folder that does not exist or is empty."


# --- runtime -------------------------------------------------------------------------------------------

_INSTALL_JAVA = (
    "Install a JDK or JRE 17 or newer (for example the package openjdk-17-jre-headless) "
    "or point JAVA_HOME at one."
)


@dataclass(kw_only=True, eq=False)
class RuntimeFailure(HeadwaterError):
    """The engine cannot be had."""


@dataclass(kw_only=True, eq=False)
class JavaNotFound(RuntimeFailure):
    """Neither JAVA_HOME nor the PATH leads to a Java."""

    code: ClassVar[str] = "HW-RUNTIME-001"
    looked: str = "JAVA_HOME and the PATH"

    @property
    def message(self) -> str:
        return f"Spark needs Java 17 or newer and none was found ({self.looked})"

    @property
    def next_step(self) -> str:
        return _INSTALL_JAVA


@dataclass(kw_only=True, eq=False)
class JavaTooOld(RuntimeFailure):
    """The Java that was found is older than Spark can use."""

    code: ClassVar[str] = "HW-RUNTIME-002"
    path: str
    version: str

    @property
    def message(self) -> str:
        return f"Spark needs Java 17 or newer and {self.path} is {self.version}"

    @property
    def next_step(self) -> str:
        return _INSTALL_JAVA


@dataclass(kw_only=True, eq=False)
class JarsUnavailable(RuntimeFailure):
    """Jars are neither in the cache nor to be fetched."""

    code: ClassVar[str] = "HW-RUNTIME-003"
    jars: tuple[str, ...]
    home: str
    detail: str = ""

    @property
    def message(self) -> str:
        tail = f": {self.detail}" if self.detail else ""
        return f"{', '.join(self.jars)} not in the cache {self.home} and could not be fetched{tail}"

    @property
    def next_step(self) -> str:
        return "Connect to the network once, or copy HEADWATER_HOME/jars from a machine that has them."


@dataclass(kw_only=True, eq=False)
class JarCorrupt(RuntimeFailure):
    """A fetched jar has other bytes than the ones this version was made with."""

    code: ClassVar[str] = "HW-RUNTIME-004"
    jar: str
    expected: str
    found: str

    @property
    def message(self) -> str:
        return f"{self.jar} was fetched with sha256 {self.found}, not {self.expected}"

    @property
    def next_step(self) -> str:
        return "Nothing was kept. Check what stands between this machine and its package registry."


@dataclass(kw_only=True, eq=False)
class EngineStartFailed(RuntimeFailure):
    """The JVM or the Spark application did not come up."""

    code: ClassVar[str] = "HW-RUNTIME-005"
    detail: str
    log: str | None = None

    @property
    def message(self) -> str:
        return f"Spark did not start: {self.detail}"

    @property
    def next_step(self) -> str:
        return f"Read {self.log}." if self.log else super().next_step


@dataclass(kw_only=True, eq=False)
class SessionMismatch(RuntimeFailure):
    """A second profile in a process whose Spark application was started with another."""

    code: ClassVar[str] = "HW-RUNTIME-006"
    differences: tuple[str, ...]

    @property
    def message(self) -> str:
        return f"this process already runs Spark with other settings: {'; '.join(self.differences)}"

    @property
    def next_step(self) -> str:
        return "Close the open runtime first, or use another process."


@dataclass(kw_only=True, eq=False)
class HomeNotWritable(RuntimeFailure):
    """The cache folder cannot be written."""

    code: ClassVar[str] = "HW-RUNTIME-007"
    path: str
    detail: str

    @property
    def message(self) -> str:
        return f"the cache folder {self.path} cannot be written: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Point HEADWATER_HOME at a folder that can."


# --- definitions ---------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class DefinitionError(HeadwaterError):
    """A view or source is not a value yet."""


@dataclass(kw_only=True, eq=False)
class ViewRaised(DefinitionError):
    """The user's function raised while it was being built."""

    code: ClassVar[str] = "HW-VIEW-001"
    view: str
    detail: str

    @property
    def message(self) -> str:
        return f"view {self.view!r} raised {self.detail}"

    @property
    def next_step(self) -> str:
        return "Correct the line named above; --debug shows the whole trace."


@dataclass(kw_only=True, eq=False)
class DuplicateName(DefinitionError):
    """Two definitions claim one name."""

    code: ClassVar[str] = "HW-VIEW-002"
    name: str
    other: Origin

    @property
    def message(self) -> str:
        return f"{self.name!r} is defined here and at {self.other}"

    @property
    def next_step(self) -> str:
        return "Rename one of the two; names are compared without regard to case, as Spark does."


@dataclass(kw_only=True, eq=False)
class InvalidName(DefinitionError):
    """A name that cannot be a table's."""

    code: ClassVar[str] = "HW-VIEW-003"
    name: str

    @property
    def message(self) -> str:
        return f"{self.name!r} cannot be the name of a table"

    @property
    def next_step(self) -> str:
        return "Use letters, digits and underscores, begin with a letter, at most 128; hw_ is kept for the ledger."


@dataclass(kw_only=True, eq=False)
class ViewNotReproducible(DefinitionError):
    """Two builds of one view gave different plans."""

    code: ClassVar[str] = "HW-VIEW-004"
    view: str
    detail: str

    @property
    def message(self) -> str:
        return f"view {self.view!r} was built twice and came out different: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Take clocks, random values, unseeded samples and unordered sets out of the function."


@dataclass(kw_only=True, eq=False)
class NotInAView(DefinitionError):
    """An action, a write or a command inside a view; a view describes, the engine runs."""

    code: ClassVar[str] = "HW-VIEW-005"
    member: str
    remedy: str = "Return a DataFrame; the engine runs it."

    @property
    def message(self) -> str:
        return f"{self.member} cannot be used while a view is being built"

    @property
    def next_step(self) -> str:
        return self.remedy


@dataclass(kw_only=True, eq=False)
class FunctionNotIdentifiable(DefinitionError):
    """A Python function that depends on something whose content has no digest."""

    code: ClassVar[str] = "HW-VIEW-006"
    function: str
    dependency: str

    @property
    def message(self) -> str:
        return f"the Python function {self.function} depends on {self.dependency}, which has no stable identity"

    @property
    def next_step(self) -> str:
        return "Pass the value in as a column or a constant, or make it inside the function."


@dataclass(kw_only=True, eq=False)
class NotAFrame(DefinitionError):
    """A view function that returned something other than a DataFrame."""

    code: ClassVar[str] = "HW-VIEW-007"
    view: str
    returned: str

    @property
    def message(self) -> str:
        return f"view {self.view!r} returned {self.returned}, not a DataFrame"

    @property
    def next_step(self) -> str:
        return "Return the DataFrame that the view is."


@dataclass(kw_only=True, eq=False)
class DefinitionFileFailed(DefinitionError):
    """Importing a definition file raised."""

    code: ClassVar[str] = "HW-VIEW-008"
    detail: str

    @property
    def message(self) -> str:
        return f"the file could not be loaded: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Correct the line named above; --debug shows the whole trace."


@dataclass(kw_only=True, eq=False)
class InvalidDdl(DefinitionError):
    """A schema string that does not parse."""

    code: ClassVar[str] = "HW-VIEW-009"
    ddl: str
    detail: str

    @property
    def message(self) -> str:
        return f"the schema {self.ddl!r} does not parse: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Write it as in SQL: 'id BIGINT, tags ARRAY<STRING>'."


# --- plans ---------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class PlanError(HeadwaterError):
    """The views do not fit together."""


@dataclass(kw_only=True, eq=False)
class UnknownTable(PlanError):
    """A view reads a name that nothing defines."""

    code: ClassVar[str] = "HW-PLAN-001"
    view: str
    name: str
    suggestion: str | None = None

    @property
    def message(self) -> str:
        return f"view {self.view!r} reads {self.name!r}, which is no view and no source of this project"

    @property
    def next_step(self) -> str:
        hint = f"Did you mean {self.suggestion!r}? " if self.suggestion else ""
        return f"{hint}Declare it with headwater.source or correct the name."


@dataclass(kw_only=True, eq=False)
class Cycle(PlanError):
    """Views that read each other in a circle."""

    code: ClassVar[str] = "HW-PLAN-002"
    names: tuple[str, ...]

    @property
    def message(self) -> str:
        return f"views read each other in a circle: {' -> '.join((*self.names, self.names[0]))}"

    @property
    def next_step(self) -> str:
        return "Break the circle; an arrow points from a view to one that it reads."


@dataclass(kw_only=True, eq=False)
class AnalysisFailed(PlanError):
    """Spark cannot resolve a view: a column, a type, a function that is not there."""

    code: ClassVar[str] = "HW-PLAN-003"
    view: str
    detail: str
    condition: str | None = None
    sql_state: str | None = None

    @property
    def message(self) -> str:
        return f"view {self.view!r}: {_with_condition(self.detail, self.condition, self.sql_state)}"

    @property
    def next_step(self) -> str:
        return "Correct the view at the place named above."


@dataclass(kw_only=True, eq=False)
class SqlSyntax(PlanError):
    """A SQL text that does not parse."""

    code: ClassVar[str] = "HW-PLAN-004"
    view: str
    detail: str
    condition: str | None = None
    sql_state: str | None = None

    @property
    def message(self) -> str:
        return f"view {self.view!r}: {_with_condition(self.detail, self.condition, self.sql_state)}"

    @property
    def next_step(self) -> str:
        return "Correct the SQL at the line named above."


@dataclass(kw_only=True, eq=False)
class OrderMismatch(PlanError):
    """The analysed plan reads other names than the parsed one promised."""

    code: ClassVar[str] = "HW-PLAN-005"
    view: str
    promised: tuple[str, ...]
    found: tuple[str, ...]

    @property
    def message(self) -> str:
        return (
            f"view {self.view!r} was ordered by the names {list(self.promised)} "
            f"but its analysed plan reads {list(self.found)}"
        )

    @property
    def next_step(self) -> str:
        return "This is a defect in Headwater: please report the view."


@dataclass(kw_only=True, eq=False)
class UnpinnedRead(PlanError):
    """A view reads storage around the registered tables."""

    code: ClassVar[str] = "HW-PLAN-006"
    view: str
    leaf: str

    @property
    def message(self) -> str:
        return f"view {self.view!r} reads {self.leaf}, which is no registered table"

    @property
    def next_step(self) -> str:
        return "Declare it with headwater.source and read it by name, so that it can be pinned."


def _with_condition(detail: str, condition: str | None, sql_state: str | None) -> str:
    known = [part for part in (condition, f"SQLSTATE {sql_state}" if sql_state else None) if part]
    return f"{detail} [{', '.join(known)}]" if known else detail


# --- storage -------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class DeltaError(HeadwaterError):
    """Storage refuses."""


@dataclass(kw_only=True, eq=False)
class NotADeltaTable(DeltaError):
    """A folder that is missing, or holds no Delta log."""

    code: ClassVar[str] = "HW-DELTA-001"
    path: str

    @property
    def message(self) -> str:
        return f"{self.path} is not a Delta table"

    @property
    def next_step(self) -> str:
        return "Check the path; a Delta table is a folder with a _delta_log in it."


@dataclass(kw_only=True, eq=False)
class LogUnreadable(DeltaError):
    """A Delta log that is there but cannot be read."""

    code: ClassVar[str] = "HW-DELTA-002"
    path: str
    detail: str

    @property
    def message(self) -> str:
        return f"the Delta log of {self.path} cannot be read: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Restore the log from a copy, or remove the table so that it is made anew."


@dataclass(kw_only=True, eq=False)
class CommitConflict(DeltaError):
    """Another writer committed first."""

    code: ClassVar[str] = "HW-DELTA-003"
    path: str
    detail: str

    @property
    def message(self) -> str:
        return f"another writer committed to {self.path} first: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Nothing of this write was kept. Run again; it plans on the new version."


@dataclass(kw_only=True, eq=False)
class RemoteRefused(DeltaError):
    """A remote address under a storage profile that allows local paths only."""

    code: ClassVar[str] = "HW-DELTA-004"
    uri: str

    @property
    def message(self) -> str:
        return f"{self.uri} is remote and the storage profile says require_local_paths"

    @property
    def next_step(self) -> str:
        return "Use a local path, or set storage.require_local_paths = false."


@dataclass(kw_only=True, eq=False)
class VersionNotFound(DeltaError):
    """A pinned version that the log no longer has, or has with other content."""

    code: ClassVar[str] = "HW-DELTA-005"
    exit_code: ClassVar[int] = 3
    path: str
    version: int

    @property
    def message(self) -> str:
        return f"version {self.version} of {self.path} is no longer there as it was pinned"

    @property
    def next_step(self) -> str:
        return "Build again to pin what is there now."


@dataclass(kw_only=True, eq=False)
class SourceUnreadable(DeltaError):
    """A source of files that is missing or cannot be read."""

    code: ClassVar[str] = "HW-DELTA-006"
    source: str
    path: str
    detail: str

    @property
    def message(self) -> str:
        return f"source {self.source!r} at {self.path} cannot be read: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Check the path in the source's definition."


# --- runs ----------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class RunError(HeadwaterError):
    """The run cannot go on."""


@dataclass(kw_only=True, eq=False)
class WarehouseNotWritable(RunError):
    """The folder for tables and runs cannot be written."""

    code: ClassVar[str] = "HW-RUN-001"
    path: str
    detail: str

    @property
    def message(self) -> str:
        return f"the warehouse {self.path} cannot be written: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Give write access, or name another folder with --warehouse DIR."


@dataclass(kw_only=True, eq=False)
class ManifestUnreadable(RunError):
    """A run's manifest is there but cannot be read."""

    code: ClassVar[str] = "HW-RUN-002"
    path: str
    detail: str

    @property
    def message(self) -> str:
        return f"the manifest {self.path} cannot be read: {self.detail}"

    @property
    def next_step(self) -> str:
        return "Remove that run's folder, or build with --full."


@dataclass(kw_only=True, eq=False)
class CapabilityMissing(RunError):
    """A capability that runs rely on does not work here."""

    code: ClassVar[str] = "HW-RUN-003"
    names: tuple[str, ...]

    @property
    def message(self) -> str:
        return f"this installation cannot: {', '.join(self.names)}"

    @property
    def next_step(self) -> str:
        return "headwater doctor shows what each probe saw."


@dataclass(kw_only=True, eq=False)
class EngineFailed(HeadwaterError):
    """Spark, Delta or py4j failed while work was being done."""

    code: ClassVar[str] = "HW-ENGINE-001"
    detail: str
    condition: str | None = None
    sql_state: str | None = None
    java_class: str | None = None
    advice: str | None = None

    @property
    def message(self) -> str:
        return _with_condition(self.detail, self.condition, self.sql_state)

    @property
    def next_step(self) -> str:
        return self.advice or super().next_step
