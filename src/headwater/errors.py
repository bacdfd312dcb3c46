"""Every error a caller can meet, under one root; nothing else is raised on purpose.

    HeadwaterError
    ├── UsageError                    exit 2: the request or its configuration is wrong
    │   ├── ConfigSyntax              HW-CONFIG-001  a TOML file does not parse
    │   ├── UnknownSetting            HW-CONFIG-002  a key nobody knows
    │   ├── InvalidSetting            HW-CONFIG-003  a known key with a value it cannot have
    │   ├── UnknownProfile            HW-CONFIG-004  --profile names none of the profiles
    │   ├── ProjectNotFound           HW-CONFIG-005  neither headwater.toml nor Python files in a folder
    │   ├── FileNameNotUtf8           HW-CONFIG-006  a file name that cannot be shown or recorded
    │   ├── TargetNotEmpty            HW-CONFIG-007  init or an export would write over something
    │   └── WrongUsage                HW-USAGE-001   a command, flag or argument that is not there
    ├── RuntimeFailure                the engine cannot be had
    │   ├── JavaNotFound              HW-RUNTIME-001
    │   ├── JavaTooOld                HW-RUNTIME-002
    │   ├── JarsUnavailable           HW-RUNTIME-003  not cached, and could not be fetched
    │   ├── JarCorrupt                HW-RUNTIME-004  fetched bytes have another sha256
    │   ├── EngineStartFailed         HW-RUNTIME-005
    │   ├── SessionMismatch           HW-RUNTIME-006  one process, one Spark application, one set of settings
    │   ├── HomeNotWritable           HW-RUNTIME-007
    │   ├── SessionIncompatible       HW-RUNTIME-008  a session that was given to work in will not do
    │   ├── MasterUnreachable         HW-RUNTIME-009  nobody answers where the cluster should be
    │   └── NoExecutors               HW-RUNTIME-010  the cluster gave the application nothing to work with
    ├── DefinitionError               a view or source is not a value yet
    │   ├── ViewRaised                HW-VIEW-001
    │   ├── DuplicateName             HW-VIEW-002
    │   ├── InvalidName               HW-VIEW-003
    │   ├── ViewNotReproducible       HW-VIEW-004  two builds of one view gave different bytes
    │   ├── NotInAView                HW-VIEW-005  an action, a write or a command inside a view
    │   ├── FunctionNotIdentifiable   HW-VIEW-006  a Python function whose code has no digest
    │   ├── NotAFrame                 HW-VIEW-007  the function returned something else
    │   ├── DefinitionFileFailed      HW-VIEW-008  it cannot be read or imported
    │   └── InvalidDdl                HW-VIEW-009  a schema string that does not parse
    ├── PlanError                     the views do not fit together
    │   ├── UnknownTable              HW-PLAN-001
    │   ├── Cycle                     HW-PLAN-002
    │   ├── AnalysisFailed            HW-PLAN-003  Spark cannot resolve the view
    │   ├── SqlSyntax                 HW-PLAN-004
    │   ├── OrderMismatch             HW-PLAN-005  the analysed plan reads other names than the parsed one
    │   ├── UnpinnedRead              HW-PLAN-006  the view reads something that is no registered table
    │   ├── FunctionDisabled          HW-PLAN-007  the profile has switched off a function that the view uses
    │   ├── PlanNotUnderstood         HW-PLAN-008  an operator whose lineage nobody has worked out
    │   ├── SemanticMismatch          HW-PLAN-010  columns that mean different things, taken for one
    │   ├── NotPlanned                HW-PLAN-011  a view, dataset or column that the plan does not have
    │   ├── FixpointColumns           HW-PLAN-012  a fixpoint whose step makes other columns than declared
    │   └── NotDeterministic          a view whose rows depend on more than its inputs
    │       ├── ClockUsed             HW-DET-001
    │       ├── RandomUsed            HW-DET-002
    │       ├── UuidUsed              HW-DET-003
    │       ├── SampleUsed            HW-DET-004
    │       ├── ShuffleUsed           HW-DET-005  an array in a random order
    │       ├── PartitionIdUsed       HW-DET-006
    │       ├── RowIdUsed             HW-DET-007
    │       ├── FileMetadataUsed      HW-DET-008
    │       ├── LimitWithoutOrder     HW-DET-009
    │       ├── ReflectionUsed        HW-DET-010  a method of the Java process
    │       ├── SessionUsed           HW-DET-011  who runs it, where, with which settings
    │       ├── FunctionUndeclared    HW-DET-012  a function in another language that nothing declares
    │       ├── FloatAggregated       HW-DET-013  a sum that depends on the order of its rows
    │       ├── TieLeftOpen           HW-DET-014  an order that leaves open which row comes first
    │       ├── CollectionUnordered   HW-DET-015  a list or a choice of rows that have no order
    │       └── SketchUsed            HW-DET-016  an estimate that depends on the order of its rows
    ├── DeltaError                    storage refuses
    │   ├── NotADeltaTable            HW-DELTA-001
    │   ├── LogUnreadable             HW-DELTA-002
    │   ├── CommitConflict            HW-DELTA-003  another writer was first
    │   ├── RemoteRefused             HW-DELTA-004  require_local_paths and a remote address
    │   ├── VersionNotFound           HW-DELTA-005
    │   ├── SourceUnreadable          HW-DELTA-006  a file source that is missing or unreadable
    │   ├── NotStorable               HW-DELTA-007  a column that a Delta table cannot have
    │   ├── SourceChanged             HW-DELTA-008  a file is not what the run has pinned
    │   ├── GateClosed                a table's protocol is less than what a feature gate asks for
    │   │   ├── ReaderVersionTooLow   HW-DELTA-009
    │   │   ├── WriterVersionTooLow   HW-DELTA-010
    │   │   ├── ReaderFeatureMissing  HW-DELTA-011
    │   │   └── WriterFeatureMissing  HW-DELTA-012
    │   ├── ProtocolUnsupported       HW-DELTA-013  a table that is newer than this Delta can read
    │   ├── TimestampOutOfRange       HW-DELTA-014  no version of the table was there at that time
    │   ├── DataFileMissing           HW-DELTA-015
    │   ├── DataFileUnreadable        HW-DELTA-016
    │   ├── RowsDiffer                HW-DELTA-017  a scan gives other rows than the log promises
    │   ├── DegradedRefused           HW-DELTA-018  a read around Delta that the profile does not allow
    │   ├── ChangesNotRecorded        HW-DELTA-019  a change feed that the table did not keep
    │   ├── WindowOutOfRange          HW-DELTA-020  a change feed window that the table does not have
    │   ├── ScanNotResolved           HW-DELTA-021  a projection, default or filter that Spark cannot resolve
    │   ├── FileNotInSnapshot         HW-DELTA-022  a file list names what the version does not have
    │   ├── BeyondRetention           HW-DELTA-023  a version that Delta refuses because of its age
    │   ├── RemoteUnsupported         HW-DELTA-024  a remote table; logs are read from local paths so far
    │   ├── ConstraintViolated        HW-DELTA-025  rows that a constraint does not allow; nothing was written
    │   ├── ConstraintInvalid         HW-DELTA-026  a constraint that is no condition over the table's columns
    │   ├── SchemaDiffers             HW-DELTA-027  rows that do not fit the table's columns
    │   ├── PolicyRefused             HW-DELTA-028  a write policy that this table cannot have
    │   ├── FeatureUnknown            HW-DELTA-029  a table feature that this Delta does not have
    │   ├── MeaningDiffers            HW-DELTA-030  a column that does not have its semantic type
    │   ├── MergeAmbiguous            HW-DELTA-031  two rows of a merge's source for one row of the table
    │   ├── StoreUnsafe               HW-DELTA-032  a write to S3 without a log store that was proven safe
    │   ├── WriteFailed               HW-DELTA-033  the file system did not take what was written
    │   ├── MutationRefused           HW-DELTA-034  a change that Delta does not make to this table
    │   ├── RowsUnusable              HW-DELTA-035  rows to be written that Spark cannot take
    │   ├── PinsAtRisk                HW-DELTA-036  upkeep would take what a recorded run still needs
    │   └── RetentionTooShort         HW-DELTA-037  less time than the table promises to keep its past
    ├── QueryError                    a query is refused, or cannot be answered
    │   ├── NotReadOnly               HW-QUERY-001  it would do more than read the project's names
    │   ├── NotBuilt                  HW-QUERY-002  the project has no run yet
    │   ├── UnknownDataset            HW-QUERY-003  a name that the last run did not record
    │   ├── NothingToRead             HW-QUERY-004  a recorded name without rows
    │   ├── NotResolved               HW-QUERY-005  Spark cannot resolve the query
    │   ├── NoSuchForm                HW-QUERY-006  a column that the asked format cannot hold
    │   ├── ResultClosed              HW-QUERY-007  a result was read after it was closed
    │   ├── NameUnknown               HW-QUERY-008  nothing in a code graph is called that
    │   ├── NameAmbiguous             HW-QUERY-009  several things in a code graph are
    │   ├── NotAGraph                 HW-QUERY-010  a question about code, asked of a project without a graph
    │   ├── RevisionUnknown           HW-QUERY-011  git does not know it, or there is no git
    │   └── RequestBroken             HW-QUERY-012  a line to a server of questions that asks nothing
    ├── RunError                      the run cannot go on
    │   ├── WarehouseNotWritable      HW-RUN-001
    │   ├── ManifestUnreadable        HW-RUN-002
    │   ├── CapabilityMissing         HW-RUN-003
    │   ├── RecordUnreadable          HW-RUN-004  bytes that are no such record
    │   ├── RunNotFound               HW-RUN-005
    │   ├── RunAmbiguous              HW-RUN-006  the beginning of more than one run's id
    │   ├── PlanDrift                 HW-RUN-007  what was planned with is not what is here
    │   ├── PinsGone                  HW-RUN-008  versions that a recorded run needs are gone
    │   ├── NotRecorded               HW-RUN-009  a run, or something of a run, that is not on record
    │   ├── NoFixpoint                HW-RUN-010  rows were still new in the last round that is allowed
    │   └── AlreadyServed             HW-RUN-011  a second server for one code graph
    ├── Defect                        HW-BASE-001    an exception nobody meant to let through
    └── EngineFailed                  HW-ENGINE-001  Spark, Delta or py4j failed at work

Not here: how an error is shown; `cli` does that, in one place.
"""

from __future__ import annotations

import copyreg
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from headwater.origin import Origin

_INSTALL_JAVA = (
    "Install a JDK or JRE 17 or newer (for example the package openjdk-17-jre-headless) "
    "or point JAVA_HOME at one."
)


@dataclass(kw_only=True, eq=False)
class HeadwaterError(Exception):
    """The root of all errors raised on purpose: a code, what happened, where, and what to do next.

    A subclass writes `says` and `advises` as templates over its own typed fields.
    """

    code: ClassVar[str] = "HW-BASE-000"
    exit_code: ClassVar[int] = 1
    says: ClassVar[str] = "something failed"
    advises: ClassVar[str] = "Run again with --debug for the whole trace."
    origin: Origin | None = None

    @property
    def message(self) -> str:
        """What happened, in one sentence."""
        return self.says.format_map(self._words())

    @property
    def next_step(self) -> str:
        """What the reader can do about it."""
        return self.advises.format_map(self._words())

    def _words(self) -> dict[str, str]:
        return {field.name: _worded(getattr(self, field.name)) for field in fields(self)}

    def __str__(self) -> str:
        where = f" {self.origin}:" if self.origin else ""
        return f"{self.code}{where} {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are pickled by their positional arguments, and these have none.
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return copyreg.__newobj__, (type(self),), state  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]


def _worded(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(str(part) for part in value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    text = "" if value is None else str(value)
    return " ".join(text.split()) if "\n" in text else text  # a message is one line


@dataclass(kw_only=True, eq=False)
class EngineDetail(HeadwaterError):
    """What Spark says of a failure: its words, its condition and its SQLSTATE."""

    detail: str
    condition: str | None = None
    sql_state: str | None = None

    @property
    def message(self) -> str:
        """What happened, with Spark's condition and SQLSTATE behind it."""
        state = f"SQLSTATE {self.sql_state}" if self.sql_state else None
        known = ", ".join(part for part in (self.condition, state) if part)
        return f"{super().message} [{known}]" if known else super().message


# --- configuration -------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class UsageError(HeadwaterError):
    """The request or its configuration is wrong."""

    exit_code: ClassVar[int] = 2


@dataclass(kw_only=True, eq=False)
class ConfigSyntax(UsageError):
    """A configuration file does not parse."""

    code: ClassVar[str] = "HW-CONFIG-001"
    says: ClassVar[str] = "not valid TOML: {detail}"
    advises: ClassVar[str] = "Correct the line named above; docs/reference/configuration.md shows every key."
    detail: str


@dataclass(kw_only=True, eq=False)
class UnknownSetting(UsageError):
    """A key that no profile, project or Spark setting has."""

    code: ClassVar[str] = "HW-CONFIG-002"
    says: ClassVar[str] = "unknown setting '{key}' in {where}"
    advises: ClassVar[str] = (
        "{hint}docs/reference/configuration.md lists every key; Spark's own begin with 'spark.'."
    )
    key: str
    where: str = "the configuration"
    hint: str = ""


@dataclass(kw_only=True, eq=False)
class InvalidSetting(UsageError):
    """A known key with a value it cannot have."""

    code: ClassVar[str] = "HW-CONFIG-003"
    says: ClassVar[str] = "setting '{key}' cannot be {value}"
    advises: ClassVar[str] = "Give it {expected}."
    key: str
    value: str
    expected: str


@dataclass(kw_only=True, eq=False)
class UnknownProfile(UsageError):
    """`--profile` names none of the profiles."""

    code: ClassVar[str] = "HW-CONFIG-004"
    says: ClassVar[str] = "there is no profile named '{name}'"
    advises: ClassVar[str] = "Known profiles: {known}. Add [profiles.{name}] to headwater.toml for another."
    name: str
    known: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class ProjectNotFound(UsageError):
    """Neither a project nor a repository where one was expected."""

    code: ClassVar[str] = "HW-CONFIG-005"
    says: ClassVar[str] = "{path} is no project and no repository: {complaint}"
    advises: ClassVar[str] = "{remedy}"
    path: str
    complaint: str
    remedy: str


@dataclass(kw_only=True, eq=False)
class FileNameNotUtf8(UsageError):
    """A file name that cannot be shown or recorded."""

    code: ClassVar[str] = "HW-CONFIG-006"
    says: ClassVar[str] = "the file name {shown} is not valid UTF-8"
    advises: ClassVar[str] = "Rename the file; paths in plans and manifests are text."
    shown: str


@dataclass(kw_only=True, eq=False)
class TargetNotEmpty(UsageError):
    """`init` or an export would write over something."""

    code: ClassVar[str] = "HW-CONFIG-007"
    says: ClassVar[str] = "{path} is there already and is not an empty folder"
    advises: ClassVar[str] = "Name a folder that does not exist or is empty."
    path: str


@dataclass(kw_only=True, eq=False)
class WrongUsage(UsageError):
    """A command, flag or argument that the command line does not have."""

    code: ClassVar[str] = "HW-USAGE-001"
    says: ClassVar[str] = "{detail}"
    advises: ClassVar[str] = "See: {command} --help"
    detail: str
    command: str = "headwater"


# --- runtime -------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class RuntimeFailure(HeadwaterError):
    """The engine cannot be had."""


@dataclass(kw_only=True, eq=False)
class JavaNotFound(RuntimeFailure):
    """Neither JAVA_HOME nor the PATH leads to a Java."""

    code: ClassVar[str] = "HW-RUNTIME-001"
    says: ClassVar[str] = "Spark needs Java 17 or newer and none was found ({looked})"
    advises: ClassVar[str] = _INSTALL_JAVA
    looked: str = "JAVA_HOME and the PATH"


@dataclass(kw_only=True, eq=False)
class JavaTooOld(RuntimeFailure):
    """The Java that was found is older than Spark can use."""

    code: ClassVar[str] = "HW-RUNTIME-002"
    says: ClassVar[str] = "Spark needs Java 17 or newer and {path} is {version}"
    advises: ClassVar[str] = _INSTALL_JAVA
    path: str
    version: str


@dataclass(kw_only=True, eq=False)
class JarsUnavailable(RuntimeFailure):
    """Jars are neither in the cache nor to be fetched."""

    code: ClassVar[str] = "HW-RUNTIME-003"
    says: ClassVar[str] = "not in the cache {home} and could not be fetched: {jars} ({detail})"
    advises: ClassVar[str] = (
        "Connect to the network once, or copy HEADWATER_HOME/jars from a machine that has them."
    )
    jars: tuple[str, ...]
    home: str
    detail: str = "no answer"


@dataclass(kw_only=True, eq=False)
class JarCorrupt(RuntimeFailure):
    """A fetched jar has other bytes than the ones this version was made with."""

    code: ClassVar[str] = "HW-RUNTIME-004"
    says: ClassVar[str] = "{jar} was fetched with sha256 {found}, not {expected}"
    advises: ClassVar[str] = (
        "Nothing was kept. Check what stands between this machine and its package registry."
    )
    jar: str
    expected: str
    found: str


@dataclass(kw_only=True, eq=False)
class EngineStartFailed(RuntimeFailure):
    """The JVM or the Spark application did not come up."""

    code: ClassVar[str] = "HW-RUNTIME-005"
    says: ClassVar[str] = "Spark did not start: {detail}"
    advises: ClassVar[str] = "Read the engine's log: {log}"
    detail: str
    log: str = "(none was written)"


@dataclass(kw_only=True, eq=False)
class SessionMismatch(RuntimeFailure):
    """A second profile in a process whose Spark application was started with another."""

    code: ClassVar[str] = "HW-RUNTIME-006"
    says: ClassVar[str] = "this process already runs Spark with other settings: {differences}"
    advises: ClassVar[str] = "{remedy}"
    differences: tuple[str, ...]
    remedy: str = "Close the open runtime first, or use another process."


@dataclass(kw_only=True, eq=False)
class HomeNotWritable(RuntimeFailure):
    """The cache folder cannot be written."""

    code: ClassVar[str] = "HW-RUNTIME-007"
    says: ClassVar[str] = "the cache folder {path} cannot be written: {detail}"
    advises: ClassVar[str] = "Point HEADWATER_HOME at a folder that can."
    path: str
    detail: str


@dataclass(kw_only=True, eq=False)
class SessionIncompatible(RuntimeFailure):
    """A Spark session that was given to work in, and that will not do; each problem says what would help."""

    code: ClassVar[str] = "HW-RUNTIME-008"
    says: ClassVar[str] = "Headwater cannot work in this Spark session: {problems}"
    advises: ClassVar[str] = (
        "Change it where the session is made; headwater.check_session(spark) shows every check. "
        "Without spark=, in a process that has no Spark yet, Headwater starts its own."
    )
    problems: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class MasterUnreachable(RuntimeFailure):
    """Nobody answers at the address of the cluster's master; no Spark was started."""

    code: ClassVar[str] = "HW-RUNTIME-009"
    says: ClassVar[str] = "Spark's master {master} cannot be reached ({detail})"
    advises: ClassVar[str] = (
        "Check host and port (the master's web page shows spark://HOST:PORT) and whether it runs; "
        "or build here: --master 'local[*]'."
    )
    master: str
    detail: str


@dataclass(kw_only=True, eq=False)
class NoExecutors(RuntimeFailure):
    """The cluster took the application and gave it no executor."""

    code: ClassVar[str] = "HW-RUNTIME-010"
    says: ClassVar[str] = "{master} gave no executor in {seconds} s"
    advises: ClassVar[str] = (
        "See on the master's web page whether it has workers with free cores and memory; ask for less "
        "(--set spark.executor.memory=…, spark.executor.cores, spark.cores.max) or wait for longer "
        "(--set executor_wait_seconds=…). The logs of executors that ended are in the workers' work folders."
    )
    master: str
    seconds: int


# --- definitions ---------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class DefinitionError(HeadwaterError):
    """A view or source is not a value yet."""


@dataclass(kw_only=True, eq=False)
class ViewRaised(DefinitionError):
    """The user's function raised while it was being built."""

    code: ClassVar[str] = "HW-VIEW-001"
    says: ClassVar[str] = "'{view}' raised {detail}"
    advises: ClassVar[str] = "Correct the line named above; --debug shows the whole trace."
    view: str
    detail: str


@dataclass(kw_only=True, eq=False)
class DuplicateName(DefinitionError):
    """Two definitions claim one name."""

    code: ClassVar[str] = "HW-VIEW-002"
    says: ClassVar[str] = "'{name}' is defined here and at {other}"
    advises: ClassVar[str] = (
        "Rename one of the two; names are compared without regard to case, as Spark does."
    )
    name: str
    other: Origin


@dataclass(kw_only=True, eq=False)
class InvalidName(DefinitionError):
    """A name that cannot be a table's."""

    code: ClassVar[str] = "HW-VIEW-003"
    says: ClassVar[str] = "'{name}' cannot be the name of a table"
    advises: ClassVar[str] = (
        "Use letters, digits and underscores, begin with a letter, 128 at most; hw_ is kept for the ledger."
    )
    name: str


@dataclass(kw_only=True, eq=False)
class ViewNotReproducible(DefinitionError):
    """Two builds of one view gave different plans."""

    code: ClassVar[str] = "HW-VIEW-004"
    says: ClassVar[str] = "'{view}' was built twice and came out different: {detail}"
    advises: ClassVar[str] = (
        "Take clocks, random values, unseeded samples and unordered sets out of the function."
    )
    view: str
    detail: str


@dataclass(kw_only=True, eq=False)
class NotInAView(DefinitionError):
    """An action, a write or a command inside a view; a view describes, the engine runs."""

    code: ClassVar[str] = "HW-VIEW-005"
    says: ClassVar[str] = "{member} cannot be used while a view is being built"
    advises: ClassVar[str] = "{remedy}"
    member: str
    remedy: str = "Return a DataFrame; the engine runs it."


@dataclass(kw_only=True, eq=False)
class FunctionNotIdentifiable(DefinitionError):
    """A Python function that depends on something whose content has no digest."""

    code: ClassVar[str] = "HW-VIEW-006"
    says: ClassVar[str] = (
        "the Python function {function} depends on {dependency}, which has no stable identity"
    )
    advises: ClassVar[str] = "Pass the value in as a column or a constant, or make it inside the function."
    function: str
    dependency: str


@dataclass(kw_only=True, eq=False)
class NotAFrame(DefinitionError):
    """A view function that returned something other than a DataFrame."""

    code: ClassVar[str] = "HW-VIEW-007"
    says: ClassVar[str] = "'{view}' returned {returned}, not a DataFrame"
    advises: ClassVar[str] = "Return the DataFrame that the view is."
    view: str
    returned: str


@dataclass(kw_only=True, eq=False)
class DefinitionFileFailed(DefinitionError):
    """A definition file cannot be read or imported."""

    code: ClassVar[str] = "HW-VIEW-008"
    says: ClassVar[str] = "the file could not be loaded: {detail}"
    advises: ClassVar[str] = "Correct the line named above; --debug shows the whole trace."
    detail: str


@dataclass(kw_only=True, eq=False)
class InvalidDdl(DefinitionError):
    """A schema string that does not parse."""

    code: ClassVar[str] = "HW-VIEW-009"
    says: ClassVar[str] = "the schema '{ddl}' does not parse: {detail}"
    advises: ClassVar[str] = "Write it as in SQL: 'id BIGINT, tags ARRAY<STRING>'."
    ddl: str
    detail: str


# --- plans ---------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class PlanError(HeadwaterError):
    """The views do not fit together."""


@dataclass(kw_only=True, eq=False)
class UnknownTable(PlanError):
    """A view reads a name that nothing defines."""

    code: ClassVar[str] = "HW-PLAN-001"
    says: ClassVar[str] = "'{view}' reads '{name}', which is no view and no source of this project"
    advises: ClassVar[str] = "{hint}Declare it with headwater.source, or correct the name."
    view: str
    name: str
    hint: str = ""


@dataclass(kw_only=True, eq=False)
class Cycle(PlanError):
    """Views that read each other in a circle."""

    code: ClassVar[str] = "HW-PLAN-002"
    says: ClassVar[str] = "views read each other in a circle: {path}"
    advises: ClassVar[str] = "Break the circle; an arrow points from a view to one that it reads."
    path: str


@dataclass(kw_only=True, eq=False)
class AnalysisFailed(EngineDetail, PlanError):
    """Spark cannot resolve a view: a column, a type, a function that is not there."""

    code: ClassVar[str] = "HW-PLAN-003"
    says: ClassVar[str] = "'{view}': {detail}"
    advises: ClassVar[str] = "Correct the view at the place named above."
    view: str


@dataclass(kw_only=True, eq=False)
class SqlSyntax(EngineDetail, PlanError):
    """A SQL text that does not parse."""

    code: ClassVar[str] = "HW-PLAN-004"
    says: ClassVar[str] = "'{view}': {detail}"
    advises: ClassVar[str] = "Correct the SQL at the line named above."
    view: str


@dataclass(kw_only=True, eq=False)
class OrderMismatch(PlanError):
    """The analysed plan reads other names than the parsed one promised."""

    code: ClassVar[str] = "HW-PLAN-005"
    says: ClassVar[str] = (
        "'{view}' was ordered by the names ({promised}) but its analysed plan reads ({found})"
    )
    advises: ClassVar[str] = "This is a defect in Headwater: please report the view."
    view: str
    promised: tuple[str, ...]
    found: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class UnpinnedRead(PlanError):
    """A view reads storage around the registered tables."""

    code: ClassVar[str] = "HW-PLAN-006"
    says: ClassVar[str] = "'{view}' reads {leaf}, which is no registered table"
    advises: ClassVar[str] = "Declare it with headwater.source and read it by name, so that it can be pinned."
    view: str
    leaf: str


@dataclass(kw_only=True, eq=False)
class FunctionDisabled(PlanError):
    """A view or source uses a function of a family that the profile has switched off."""

    code: ClassVar[str] = "HW-PLAN-007"
    says: ClassVar[str] = "'{view}' uses {function}, of the family {family}, which the profile switches off"
    advises: ClassVar[str] = "Take {family} out of the profile's disabled_families, or do without {function}."
    view: str
    function: str
    family: str


@dataclass(kw_only=True, eq=False)
class PlanNotUnderstood(PlanError):
    """A view's plan has a part of which nobody knows what it does with columns and rows."""

    code: ClassVar[str] = "HW-PLAN-008"
    says: ClassVar[str] = "'{view}' has {node} in its plan, whose lineage is not known"
    advises: ClassVar[str] = "Say it with other operators, and please report the view."
    view: str
    node: str


@dataclass(kw_only=True, eq=False)
class SemanticMismatch(PlanError):
    """Two columns of different semantic types that a view compares, mixes, or writes one into the other."""

    code: ClassVar[str] = "HW-PLAN-010"
    says: ClassVar[str] = "'{view}' {deed} {one} ({one_type}) {joint} {other} ({other_type})"
    advises: ClassVar[str] = (
        "Take the column that is meant; or, if the value changes its meaning here, "
        "say so with the metadata headwater.semantic_type in an alias."
    )
    view: str
    deed: str
    one: str
    one_type: str
    joint: str
    other: str
    other_type: str


@dataclass(kw_only=True, eq=False)
class NotPlanned(PlanError):
    """A question about a view, dataset or column that the plan does not have."""

    code: ClassVar[str] = "HW-PLAN-011"
    says: ClassVar[str] = "the plan has no {what} '{name}'"
    advises: ClassVar[str] = "{hint}It has {known}."
    what: str
    name: str
    known: tuple[str, ...]
    hint: str = ""


@dataclass(kw_only=True, eq=False)
class FixpointColumns(PlanError):
    """A fixpoint's step makes other columns than it declares, so that its rows cannot be read by itself."""

    code: ClassVar[str] = "HW-PLAN-012"
    says: ClassVar[str] = "'{view}' declares the columns ({declared}) and makes ({found})"
    advises: ClassVar[str] = (
        "Make them the same, in the same order: correct the schema, or select and CAST in the view."
    )
    view: str
    declared: tuple[str, ...]
    found: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class NotDeterministic(PlanError):
    """A view whose rows depend on more than its inputs, in a way that the project refuses."""

    says: ClassVar[str] = "'{view}' {detail}{more}"
    view: str
    detail: str
    more: str = ""


@dataclass(kw_only=True, eq=False)
class ClockUsed(NotDeterministic):
    """A view that reads a clock."""

    code: ClassVar[str] = "HW-DET-001"
    advises: ClassVar[str] = "Take the time from a column of a source; it is pinned with the rest."


@dataclass(kw_only=True, eq=False)
class RandomUsed(NotDeterministic):
    """A view with random numbers; a seed does not help, for rows move between partitions."""

    code: ClassVar[str] = "HW-DET-002"
    advises: ClassVar[str] = "Work the number out of the row's key: pmod(xxhash64(key), 1000) / 1000."


@dataclass(kw_only=True, eq=False)
class UuidUsed(NotDeterministic):
    """A view that makes ids out of nothing."""

    code: ClassVar[str] = "HW-DET-003"
    advises: ClassVar[str] = "Make the id out of the row's key: sha2, or stable_id_parts of Headwater."


@dataclass(kw_only=True, eq=False)
class SampleUsed(NotDeterministic):
    """A view that takes a sample of rows."""

    code: ClassVar[str] = "HW-DET-004"
    advises: ClassVar[str] = (
        "Choose rows by their key: WHERE pmod(xxhash64(key), 100) < 10 is a tenth of them. "
    )


@dataclass(kw_only=True, eq=False)
class ShuffleUsed(NotDeterministic):
    """A view that puts an array into a random order."""

    code: ClassVar[str] = "HW-DET-005"
    advises: ClassVar[str] = "Give the array an order that follows from its values: array_sort."


@dataclass(kw_only=True, eq=False)
class PartitionIdUsed(NotDeterministic):
    """A view that tells the partitions of a run apart."""

    code: ClassVar[str] = "HW-DET-006"
    advises: ClassVar[str] = "Work the number out of the row's key: pmod(xxhash64(key), 8)."


@dataclass(kw_only=True, eq=False)
class RowIdUsed(NotDeterministic):
    """A view that numbers rows by where they happen to lie."""

    code: ClassVar[str] = "HW-DET-007"
    advises: ClassVar[str] = "Number them by their key: row_number() OVER (ORDER BY key)."


@dataclass(kw_only=True, eq=False)
class FileMetadataUsed(NotDeterministic):
    """A view that tells from which file a row came."""

    code: ClassVar[str] = "HW-DET-008"
    advises: ClassVar[str] = (
        "Keep the name as a column where the file is first read; a table's files change without its rows."
    )


@dataclass(kw_only=True, eq=False)
class LimitWithoutOrder(NotDeterministic):
    """A view that takes some rows, and nothing says which."""

    code: ClassVar[str] = "HW-DET-009"
    advises: ClassVar[str] = "Say which rows: ORDER BY a key, then LIMIT."


@dataclass(kw_only=True, eq=False)
class ReflectionUsed(NotDeterministic):
    """A view that calls a method of the Java process."""

    code: ClassVar[str] = "HW-DET-010"
    advises: ClassVar[str] = "Say it with functions of Spark or Headwater."


@dataclass(kw_only=True, eq=False)
class SessionUsed(NotDeterministic):
    """A view that asks who runs it, where, or with which settings."""

    code: ClassVar[str] = "HW-DET-011"
    advises: ClassVar[str] = "Write the value into the view, or take it from a column of a source."


@dataclass(kw_only=True, eq=False)
class FunctionUndeclared(NotDeterministic):
    """A view with a function in another language that nothing declares to be pure."""

    code: ClassVar[str] = "HW-DET-012"
    advises: ClassVar[str] = (
        "Say it with functions of Spark or Headwater, or declare with @headwater.pure that the function "
        "depends on its arguments alone."
    )


@dataclass(kw_only=True, eq=False)
class FloatAggregated(NotDeterministic):
    """A view that sums floating-point numbers, whose last digits depend on the order of rows."""

    code: ClassVar[str] = "HW-DET-013"
    advises: ClassVar[str] = (
        "Sum decimals: CAST(x AS DECIMAL(38, 6)). Or let it be warned of, and its columns be "
        "compared with a tolerance."
    )


@dataclass(kw_only=True, eq=False)
class TieLeftOpen(NotDeterministic):
    """A view that orders rows, and leaves open which of those that tie comes first."""

    code: ClassVar[str] = "HW-DET-014"
    advises: ClassVar[str] = (
        "Order by a key too, and declare the key; or let the value decide, with arg_max_det or arg_min_det."
    )


@dataclass(kw_only=True, eq=False)
class CollectionUnordered(NotDeterministic):
    """A view that lists rows, or takes one of them, where they have no order."""

    code: ClassVar[str] = "HW-DET-015"
    advises: ClassVar[str] = (
        "Sort the list, array_sort(collect_list(x)); take one by its value: min, max, any_value_det. "
    )


@dataclass(kw_only=True, eq=False)
class SketchUsed(NotDeterministic):
    """A view that estimates in a way that depends on the order of rows."""

    code: ClassVar[str] = "HW-DET-016"
    advises: ClassVar[str] = "Use the exact function: percentile, count and sort."


# --- storage -------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class DeltaError(HeadwaterError):
    """Storage refuses."""


@dataclass(kw_only=True, eq=False)
class NotADeltaTable(DeltaError):
    """A folder that is missing, or holds no Delta log."""

    code: ClassVar[str] = "HW-DELTA-001"
    says: ClassVar[str] = "{path} is not a Delta table"
    advises: ClassVar[str] = "Check the path; a Delta table is a folder with a _delta_log in it."
    path: str


@dataclass(kw_only=True, eq=False)
class LogUnreadable(DeltaError):
    """A Delta log that is there but cannot be read."""

    code: ClassVar[str] = "HW-DELTA-002"
    says: ClassVar[str] = "the Delta log of {path} cannot be read: {detail}"
    advises: ClassVar[str] = "Restore the log from a copy, or move the table away so that it is made anew."
    path: str
    detail: str


@dataclass(kw_only=True, eq=False)
class CommitConflict(EngineDetail, DeltaError):
    """Another writer committed first."""

    code: ClassVar[str] = "HW-DELTA-003"
    says: ClassVar[str] = "another writer committed to {path} first: {detail}"
    advises: ClassVar[str] = "Nothing of this write was kept. Run again; it plans on the new version."
    path: str


@dataclass(kw_only=True, eq=False)
class RemoteRefused(DeltaError):
    """A remote address under a storage profile that allows local paths only."""

    code: ClassVar[str] = "HW-DELTA-004"
    says: ClassVar[str] = "{uri} is remote and the storage profile says require_local_paths"
    advises: ClassVar[str] = "Use a local path, or set storage.require_local_paths = false."
    uri: str


@dataclass(kw_only=True, eq=False)
class VersionNotFound(DeltaError):
    """A pinned version that the log no longer has, or has with other content."""

    code: ClassVar[str] = "HW-DELTA-005"
    exit_code: ClassVar[int] = 3
    says: ClassVar[str] = "version {version} of {path} is not there, or no longer as it was pinned"
    advises: ClassVar[str] = (
        "headwater table history PATH shows what is there; build again to pin what is newest now."
    )
    path: str
    version: int


@dataclass(kw_only=True, eq=False)
class SourceUnreadable(DeltaError):
    """A source of files that is missing or cannot be read."""

    code: ClassVar[str] = "HW-DELTA-006"
    says: ClassVar[str] = "source '{source}' at {path} cannot be read: {detail}"
    advises: ClassVar[str] = "Check the path in the source's definition."
    source: str
    path: str
    detail: str


@dataclass(kw_only=True, eq=False)
class NotStorable(DeltaError):
    """A stored view with a column that a Delta table cannot have."""

    code: ClassVar[str] = "HW-DELTA-007"
    says: ClassVar[str] = "'{view}' cannot be stored: its column '{column}' {complaint}"
    advises: ClassVar[str] = "Give the column a name with alias(...) or AS, or cast it."
    view: str
    column: str
    complaint: str


@dataclass(kw_only=True, eq=False)
class SourceChanged(DeltaError):
    """A file was changed or removed between the moment it was pinned and the moment it was read."""

    code: ClassVar[str] = "HW-DELTA-008"
    says: ClassVar[str] = "'{view}' was not made: {detail}"
    advises: ClassVar[str] = "Build again when nobody writes to the files; nothing was recorded of that one."
    view: str
    detail: str


@dataclass(kw_only=True, eq=False)
class GateClosed(DeltaError):
    """A table's protocol has less than a feature gate asks for."""

    says: ClassVar[str] = "'{dataset}' at {path} has {found}; its feature gate asks for {required}"
    advises: ClassVar[str] = "Upgrade the table, or lower the gate in the dataset's definition or location."
    dataset: str
    path: str
    required: str
    found: str


@dataclass(kw_only=True, eq=False)
class ReaderVersionTooLow(GateClosed):
    """The table's reader protocol is older than the gate asks for."""

    code: ClassVar[str] = "HW-DELTA-009"


@dataclass(kw_only=True, eq=False)
class WriterVersionTooLow(GateClosed):
    """The table's writer protocol is older than the gate asks for."""

    code: ClassVar[str] = "HW-DELTA-010"


@dataclass(kw_only=True, eq=False)
class ReaderFeatureMissing(GateClosed):
    """The table lacks a reader feature that the gate asks for."""

    code: ClassVar[str] = "HW-DELTA-011"


@dataclass(kw_only=True, eq=False)
class WriterFeatureMissing(GateClosed):
    """The table lacks a writer feature that the gate asks for."""

    code: ClassVar[str] = "HW-DELTA-012"


@dataclass(kw_only=True, eq=False)
class ProtocolUnsupported(EngineDetail, DeltaError):
    """A table with a protocol or a feature that this Delta does not know."""

    code: ClassVar[str] = "HW-DELTA-013"
    says: ClassVar[str] = "{path} needs a newer Delta than this one: {detail}"
    advises: ClassVar[str] = "Read it with a newer Headwater, or drop the feature from the table."
    path: str


@dataclass(kw_only=True, eq=False)
class TimestampOutOfRange(DeltaError):
    """No version of the table was the newest at the time that is asked for."""

    code: ClassVar[str] = "HW-DELTA-014"
    says: ClassVar[str] = "{path} has no version at {timestamp}: {detail}"
    advises: ClassVar[str] = "Name a time within the table's history; headwater table history PATH shows it."
    path: str
    timestamp: str
    detail: str


@dataclass(kw_only=True, eq=False)
class DataFileMissing(DeltaError):
    """A data file that the log names is not there."""

    code: ClassVar[str] = "HW-DELTA-015"
    exit_code: ClassVar[int] = 3
    says: ClassVar[str] = "{path} lacks a data file that its log names: {file}"
    advises: ClassVar[str] = (
        "It was vacuumed or deleted. Restore the file from a copy, or read a newer version of the table."
    )
    path: str
    file: str


@dataclass(kw_only=True, eq=False)
class DataFileUnreadable(EngineDetail, DeltaError):
    """A data file or deletion vector that is there but cannot be read."""

    code: ClassVar[str] = "HW-DELTA-016"
    says: ClassVar[str] = "{path} has a file that cannot be read: {detail}"
    advises: ClassVar[str] = "Restore the file from a copy; headwater table verify PATH looks at all of them."
    path: str


@dataclass(kw_only=True, eq=False)
class RowsDiffer(DeltaError):
    """A scan of a pinned table does not give what its log promises."""

    code: ClassVar[str] = "HW-DELTA-017"
    says: ClassVar[str] = "version {version} of {path} is not what its log promises: {detail}"
    advises: ClassVar[str] = (
        "Do not trust reads of it; restore the table from a copy. headwater table verify PATH tells more."
    )
    path: str
    version: int
    detail: str


@dataclass(kw_only=True, eq=False)
class DegradedRefused(DeltaError):
    """A read that goes around Delta, under a profile that does not allow it by name."""

    code: ClassVar[str] = "HW-DELTA-018"
    says: ClassVar[str] = "'{dataset}' would be read as {provider_kind}, not by Delta itself: {detail}"
    advises: ClassVar[str] = '{remedy}Or allow it by name: allow_degraded = ["{provider_kind}"].'
    dataset: str
    provider_kind: str
    detail: str
    remedy: str = ""


@dataclass(kw_only=True, eq=False)
class ChangesNotRecorded(DeltaError):
    """A change feed of versions in which the table did not keep one."""

    code: ClassVar[str] = "HW-DELTA-019"
    says: ClassVar[str] = "'{dataset}' at {path} has no change feed: {detail}"
    advises: ClassVar[str] = "{remedy}"
    dataset: str
    path: str
    detail: str
    remedy: str = "Set delta.enableChangeDataFeed = true on the table; changes are kept from then on."


@dataclass(kw_only=True, eq=False)
class WindowOutOfRange(DeltaError):
    """A window of the change feed that begins or ends outside of the table's versions."""

    code: ClassVar[str] = "HW-DELTA-020"
    says: ClassVar[str] = "the window {window} does not fit {path}: {detail}"
    advises: ClassVar[str] = "{remedy}"
    path: str
    window: str
    detail: str
    remedy: str = "Name versions that are there, or say allow_out_of_range=True."


@dataclass(kw_only=True, eq=False)
class ScanNotResolved(EngineDetail, DeltaError):
    """An expression at the scan boundary that does not fit the table."""

    code: ClassVar[str] = "HW-DELTA-021"
    says: ClassVar[str] = "'{dataset}' cannot be read with {expression}: {detail}"
    advises: ClassVar[str] = "{remedy}"
    dataset: str
    expression: str
    remedy: str = "Correct the expression, or give the missing column a default."


@dataclass(kw_only=True, eq=False)
class FileNotInSnapshot(DeltaError):
    """A list of files with one that the pinned version does not have."""

    code: ClassVar[str] = "HW-DELTA-022"
    says: ClassVar[str] = "version {version} of {path} has no file {file}"
    advises: ClassVar[str] = "headwater table files PATH lists what it has, as the log writes it."
    path: str
    version: int
    file: str


@dataclass(kw_only=True, eq=False)
class BeyondRetention(DeltaError):
    """A version that is older than the table's deleted files are kept."""

    code: ClassVar[str] = "HW-DELTA-023"
    exit_code: ClassVar[int] = 3
    says: ClassVar[str] = "version {version} of {path} is older than the table keeps deleted files"
    advises: ClassVar[str] = (
        "Raise delta.deletedFileRetentionDuration on the table; it reads again if its files are still there."
    )
    path: str
    version: int


@dataclass(kw_only=True, eq=False)
class RemoteUnsupported(DeltaError):
    """A table at a remote address; logs are read from local paths so far."""

    code: ClassVar[str] = "HW-DELTA-024"
    says: ClassVar[str] = "{uri} is remote, and tables are read and written at local paths only"
    advises: ClassVar[str] = "Use a path that this machine has mounted."
    uri: str


@dataclass(kw_only=True, eq=False)
class ConstraintViolated(DeltaError):
    """Rows that a constraint does not allow; `sample` shows a few of them, as JSON."""

    code: ClassVar[str] = "HW-DELTA-025"
    says: ClassVar[str] = "{count} rows for {path} violate the constraint '{constraint}' ({expression})"
    advises: ClassVar[str] = "Nothing was written. Correct the rows, or the constraint."
    path: str
    constraint: str
    expression: str
    count: int
    sample: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """What happened, with one of the rows behind it."""
        return f"{super().message}; one of them: {self.sample[0]}" if self.sample else super().message


@dataclass(kw_only=True, eq=False)
class ConstraintInvalid(EngineDetail, DeltaError):
    """A constraint that does not parse, or is no condition over one row of the table."""

    code: ClassVar[str] = "HW-DELTA-026"
    exit_code: ClassVar[int] = 2
    says: ClassVar[str] = "the constraint '{constraint}' ({expression}) cannot be tested: {detail}"
    advises: ClassVar[str] = "Write a condition over the table's columns, such as amount >= 0."
    constraint: str
    expression: str


@dataclass(kw_only=True, eq=False)
class SchemaDiffers(DeltaError):
    """Rows whose columns do not fit the table's under the schema mode that holds."""

    code: ClassVar[str] = "HW-DELTA-027"
    says: ClassVar[str] = "the rows do not fit {path}: {differences}"
    advises: ClassVar[str] = "Change the rows, or write with schema_mode merge (adds columns) or overwrite."
    path: str
    differences: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class PolicyRefused(DeltaError):
    """A write policy that does not fit the table or its rows."""

    code: ClassVar[str] = "HW-DELTA-028"
    exit_code: ClassVar[int] = 2
    says: ClassVar[str] = "{path} cannot be written with {key} {value}: {complaint}"
    advises: ClassVar[str] = "{remedy}"
    path: str
    key: str
    value: str
    complaint: str
    remedy: str = "Correct the write policy of the dataset."


@dataclass(kw_only=True, eq=False)
class FeatureUnknown(DeltaError):
    """A table feature that is asked for and that this Delta does not have."""

    code: ClassVar[str] = "HW-DELTA-029"
    exit_code: ClassVar[int] = 2
    says: ClassVar[str] = "this Delta has no table feature '{feature}'"
    advises: ClassVar[str] = "{hint}It has {known}; 'incremental' stands for those of incremental runs."
    feature: str
    known: tuple[str, ...]
    hint: str = ""


@dataclass(kw_only=True, eq=False)
class MeaningDiffers(DeltaError):
    """A column that does not have the semantic type that is said of it."""

    code: ClassVar[str] = "HW-DELTA-030"
    says: ClassVar[str] = "column '{column}' of '{dataset}' is said to be a {semantic_type}, but {complaint}"
    advises: ClassVar[str] = "Correct semantic_types in the table's definition, or the column."
    dataset: str
    column: str
    semantic_type: str
    complaint: str


@dataclass(kw_only=True, eq=False)
class MergeAmbiguous(EngineDetail, DeltaError):
    """Several rows of a merge's source match one row of the table."""

    code: ClassVar[str] = "HW-DELTA-031"
    says: ClassVar[str] = "the merge into {path} is ambiguous: {detail}"
    advises: ClassVar[str] = "Nothing was written. Leave one row per key in the source."
    path: str


@dataclass(kw_only=True, eq=False)
class StoreUnsafe(DeltaError):
    """A write to S3 through a log store that can lose commits."""

    code: ClassVar[str] = "HW-DELTA-032"
    says: ClassVar[str] = "{uri} is not written: its log store, {log_store}, can lose acknowledged commits"
    advises: ClassVar[str] = "Name one that was proven safe, logStore.s3a.impl = {safe}, or write elsewhere."
    uri: str
    log_store: str
    safe: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class WriteFailed(EngineDetail, DeltaError):
    """The file system did not take what was written: a full disk, a lost permission."""

    code: ClassVar[str] = "HW-DELTA-033"
    says: ClassVar[str] = "{path} could not be written: {detail}"
    advises: ClassVar[str] = "The table is as it was. Make room or give back the permission, and run again."
    path: str


@dataclass(kw_only=True, eq=False)
class MutationRefused(EngineDetail, DeltaError):
    """A change that Delta does not make to this table, or that Spark cannot resolve."""

    code: ClassVar[str] = "HW-DELTA-034"
    says: ClassVar[str] = "{path} cannot be changed like this ({kind}): {detail}"
    advises: ClassVar[str] = "Nothing was written. Correct the mutation, or the table's properties."
    path: str
    kind: str


@dataclass(kw_only=True, eq=False)
class RowsUnusable(DeltaError):
    """Rows that were handed over to be written and that Spark cannot take."""

    code: ClassVar[str] = "HW-DELTA-035"
    says: ClassVar[str] = "the rows for {path} cannot be taken: {detail}"
    advises: ClassVar[str] = "Hand over a DataFrame or an Arrow stream whose columns Spark has types for."
    path: str
    detail: str


@dataclass(kw_only=True, eq=False)
class PinsAtRisk(DeltaError):
    """An operation after which versions could not be read that recorded runs name; `lost` says which."""

    code: ClassVar[str] = "HW-DELTA-036"
    says: ClassVar[str] = "{operation} of {path} would make unreadable what recorded runs name: {lost}"
    advises: ClassVar[str] = (
        "Nothing was done. Let --keep-pinned spare them where there is such a flag; if it is Delta that "
        "would clean the log, set delta.enableExpiredLogCleanup=false first. Or remove the folders of runs "
        "that need not be replayed, or give --force-unsafe REASON."
    )
    operation: str
    path: str
    lost: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class RetentionTooShort(DeltaError):
    """Less time than a table promises to keep its past: running readers and writers may still use it."""

    code: ClassVar[str] = "HW-DELTA-037"
    says: ClassVar[str] = "{path} keeps {what} for {kept} hours, and {hours} were asked for"
    advises: ClassVar[str] = (
        "Nothing was done. Shorten the table's property if that is meant, or give --force-unsafe REASON "
        "while nobody else uses the table."
    )
    path: str
    what: str
    hours: str
    kept: str


# --- queries -------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class QueryError(HeadwaterError):
    """A query is refused, or cannot be answered."""


@dataclass(kw_only=True, eq=False)
class NotReadOnly(QueryError):
    """A query with something in it that is more than reading the project's names."""

    code: ClassVar[str] = "HW-QUERY-001"
    says: ClassVar[str] = "a query reads the project's names and does nothing else; this one has {found}"
    advises: ClassVar[str] = "{remedy}"
    found: str
    remedy: str = "Write one SELECT over names of the project, without commands."


@dataclass(kw_only=True, eq=False)
class NotBuilt(QueryError):
    """A query in a project that has no run yet."""

    code: ClassVar[str] = "HW-QUERY-002"
    says: ClassVar[str] = "'{name}' cannot be read: {path} was never built"
    advises: ClassVar[str] = "Build it first: headwater build {path}"
    name: str
    path: str


@dataclass(kw_only=True, eq=False)
class UnknownDataset(QueryError):
    """A query reads a name that the last run did not record."""

    code: ClassVar[str] = "HW-QUERY-003"
    says: ClassVar[str] = "there is no '{name}' in what the last run recorded"
    advises: ClassVar[str] = "{hint}Known names: {known}. A definition that is new has to be built first."
    name: str
    known: tuple[str, ...]
    hint: str = ""


@dataclass(kw_only=True, eq=False)
class NothingToRead(QueryError):
    """A name that the last run knew, with no version of its rows."""

    code: ClassVar[str] = "HW-QUERY-004"
    says: ClassVar[str] = "'{name}' has no rows to read: {reason}"
    advises: ClassVar[str] = "Build again, and ask again: headwater build {path}"
    name: str
    reason: str
    path: str


@dataclass(kw_only=True, eq=False)
class NameUnknown(QueryError):
    """A question about something that is not in the code graph, as the last build left it."""

    code: ClassVar[str] = "HW-QUERY-008"
    says: ClassVar[str] = "nothing in the code graph is called '{name}'"
    advises: ClassVar[str] = "{hint}A name is dotted, or the end of one (Cart.total), or path:line."
    name: str
    hint: str = ""


@dataclass(kw_only=True, eq=False)
class NameAmbiguous(QueryError):
    """A name that several things in the code graph have; `candidates` are all of them, with their places."""

    code: ClassVar[str] = "HW-QUERY-009"
    says: ClassVar[str] = "'{name}' may be one of {count} things"
    advises: ClassVar[str] = "Write more of the name, or path:line. Candidates: {candidates}"
    name: str
    count: int
    candidates: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class NotAGraph(QueryError):
    """A question about code, asked where no code graph was built."""

    code: ClassVar[str] = "HW-QUERY-010"
    says: ClassVar[str] = "{path} has no code graph to ask"
    advises: ClassVar[str] = "Build it first: headwater build {path} --graph"
    path: str


@dataclass(kw_only=True, eq=False)
class RevisionUnknown(QueryError):
    """A question about a change in git, of a revision that git cannot tell of."""

    code: ClassVar[str] = "HW-QUERY-011"
    says: ClassVar[str] = "git cannot tell what '{revision}' is: {detail}"
    advises: ClassVar[str] = "Name a commit, tag or branch of the repository, such as HEAD~1."
    revision: str
    detail: str


@dataclass(kw_only=True, eq=False)
class RequestBroken(QueryError):
    """A request to a server of questions that is none."""

    code: ClassVar[str] = "HW-QUERY-012"
    says: ClassVar[str] = "the request is no question: {detail}"
    advises: ClassVar[str] = "Send one line of JSON: question, names, and perhaps depth, diff and since."
    detail: str


@dataclass(kw_only=True, eq=False)
class NotResolved(EngineDetail, QueryError):
    """A query that parses, with a column, function or type that is not there."""

    code: ClassVar[str] = "HW-QUERY-005"
    says: ClassVar[str] = "the query cannot be resolved: {detail}"
    advises: ClassVar[str] = "{hint}Correct the query; DESCRIBE FUNCTION name tells what a function takes."
    hint: str = ""


@dataclass(kw_only=True, eq=False)
class NoSuchForm(QueryError):
    """A column of a result that the asked format has no form for."""

    code: ClassVar[str] = "HW-QUERY-006"
    says: ClassVar[str] = "the column '{column}' {complaint}"
    advises: ClassVar[str] = "{remedy}"
    column: str
    complaint: str
    remedy: str


@dataclass(kw_only=True, eq=False)
class ResultClosed(QueryError):
    """A result was read further after it had been closed."""

    code: ClassVar[str] = "HW-QUERY-007"
    says: ClassVar[str] = "this result is closed: it was read to its end, or closed before"
    advises: ClassVar[str] = "Read it within its `with` block, or ask again."


# --- runs ----------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class RunError(HeadwaterError):
    """The run cannot go on."""


@dataclass(kw_only=True, eq=False)
class WarehouseNotWritable(RunError):
    """The folder for tables and runs cannot be written."""

    code: ClassVar[str] = "HW-RUN-001"
    says: ClassVar[str] = "the warehouse {path} cannot be written: {detail}"
    advises: ClassVar[str] = "Give write access, or name another folder with --warehouse DIR."
    path: str
    detail: str


@dataclass(kw_only=True, eq=False)
class ManifestUnreadable(RunError):
    """A run's manifest is there but cannot be read."""

    code: ClassVar[str] = "HW-RUN-002"
    says: ClassVar[str] = "the manifest {path} cannot be read: {detail}"
    advises: ClassVar[str] = "Remove that run's folder, or build with --full."
    path: str
    detail: str


@dataclass(kw_only=True, eq=False)
class CapabilityMissing(RunError):
    """A capability that runs rely on does not work here."""

    code: ClassVar[str] = "HW-RUN-003"
    says: ClassVar[str] = "this installation cannot: {names}"
    advises: ClassVar[str] = "headwater doctor shows what each probe saw."
    names: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class RecordUnreadable(RunError):
    """Bytes that are not the record they are taken for."""

    code: ClassVar[str] = "HW-RUN-004"
    says: ClassVar[str] = "not a {kind} in {form}: {detail}"
    advises: ClassVar[str] = "Read it with the version of Headwater that wrote it."
    kind: str
    form: str
    detail: str


@dataclass(kw_only=True, eq=False)
class RunNotFound(RunError):
    """A run that is asked for is not on record."""

    code: ClassVar[str] = "HW-RUN-005"
    says: ClassVar[str] = "there is no record of a run '{run}' in {warehouse}"
    advises: ClassVar[str] = "{remedy}"
    run: str
    warehouse: str
    near: tuple[str, ...] = ()
    remedy: str = "headwater runs lists those there are."


@dataclass(kw_only=True, eq=False)
class RunAmbiguous(RunError):
    """The beginning of an id, by which a run is asked for, is that of several."""

    code: ClassVar[str] = "HW-RUN-006"
    says: ClassVar[str] = "'{run}' is the beginning of {count} runs' ids"
    advises: ClassVar[str] = "Write more of it. The newest: {near}"
    run: str
    count: int
    near: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class PlanDrift(RunError):
    """Recorded plans, and a session that would run them otherwise; `differences` has all, side by side."""

    code: ClassVar[str] = "HW-RUN-007"
    says: ClassVar[str] = "what was planned with is not what is here: {differences}"
    advises: ClassVar[str] = (
        "Nothing was run. Use the versions, settings and functions that were planned with, or build again."
    )
    differences: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class PinsGone(RunError):
    """What a recorded run needs is not there any more, or is not what it was; `gone` has all of it."""

    code: ClassVar[str] = "HW-RUN-008"
    exit_code: ClassVar[int] = 3
    says: ClassVar[str] = "run {run_id} cannot be replayed, this is gone: {gone}"
    advises: ClassVar[str] = (
        "Bring it back from a copy, or replay a view that does not need it. [maintenance] retain_hours "
        "says how long tables keep their past."
    )
    run_id: str
    gone: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class NotRecorded(RunError):
    """A question about a run, or about something of a run, that is not on record."""

    code: ClassVar[str] = "HW-RUN-009"
    exit_code: ClassVar[int] = 2
    says: ClassVar[str] = "there is no {what} '{name}' on record"
    advises: ClassVar[str] = "{hint}"
    what: str
    name: str
    hint: str


@dataclass(kw_only=True, eq=False)
class NoFixpoint(RunError):
    """A fixpoint that still grew in the last round that is allowed; nothing was committed."""

    code: ClassVar[str] = "HW-RUN-010"
    says: ClassVar[str] = (
        "'{view}' has no fixpoint within {rounds} rounds: {new} of its {rows} rows were new in the last one"
    )
    advises: ClassVar[str] = (
        "Nothing was committed. If it only needs longer, raise max_rounds; if every round makes new values "
        "(a counter, a longer path), bound them in the view with a condition."
    )
    view: str
    rounds: int
    new: int
    rows: int


@dataclass(kw_only=True, eq=False)
class AlreadyServed(RunError):
    """A second server for a code graph that has one."""

    code: ClassVar[str] = "HW-RUN-011"
    says: ClassVar[str] = "another server listens at {path} already"
    advises: ClassVar[str] = "Ask with `headwater ask`, which finds it; or stop it first."
    path: str


@dataclass(kw_only=True, eq=False)
class EngineFailed(EngineDetail):
    """Spark, Delta or py4j failed while work was being done."""

    code: ClassVar[str] = "HW-ENGINE-001"
    says: ClassVar[str] = "{detail}"
    advises: ClassVar[str] = "{remedy}"
    java_class: str | None = None
    file: str | None = None
    remedy: str = "Run again with --debug for the whole trace."


@dataclass(kw_only=True, eq=False)
class Defect(HeadwaterError):
    """An exception that no part of Headwater meant to let through."""

    code: ClassVar[str] = "HW-BASE-001"
    says: ClassVar[str] = "a defect in Headwater: {detail}"
    advises: ClassVar[str] = "Run again with --debug and report what it prints."
    detail: str
