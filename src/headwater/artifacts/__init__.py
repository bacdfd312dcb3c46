"""What happened, kept: the manifest of each run, and the rows of the ledger.

Manifest                    one run, frozen and typed; SCHEMA_VERSION is that of its form, whose one part
                            `observed` has what depends on the moment or the machine
SourceRecord, ViewRecord, TableRecord, SchemaRecord, SqlRecord, PinRecord, FileRecord    its parts
OperatorsRecord, CapabilityRecord, HistoryRecord, RefreshRecord, RoundRecord, ViewCache    more of them
Action, Status              words of the contract
encode_manifest             its one JSON form; manifest_document: the same, as built-in values
commit_manifest             written whole or not at all
read_manifest               one run
read_manifests              all of a warehouse; manifest_paths: where they are
last_manifest               the newest run
RunMark                     a run that is under way; marked_runs were stopped, and remove_mark forgets one
PlansRecord                 the plans of a run, with each PlannedSource and their PlanBasis: encode_plans,
                            commit_plans, read_plans, read_schedule

How tables were read (a ReadRecord), from the values that `delta` gives:
SnapshotRecord              snapshot_record: a table at a version
RegistrationRecord          registration_record: a name and who reads it, with its ColumnRecord
ScanRecord                  scan_record: files and filters of a scan
WindowRecord                window_record: versions of a change feed
VerificationRecord          verification_record: what a log promises, and what a scan gave

How they were written:
MutationRecord              mutation_record: a receipt, with its RetryRecord, ConstraintRecord, MeaningRecord
ViolationRecord             violation_record: rows that were not allowed

How they were kept in order:
UpkeepRecord                upkeep_record, ended_record: an operation; UpkeepStatus, StateRecord, LossRecord
commit_upkeep, read_upkeep  in the table's own folder; forget_upkeep if there was nothing to do

The same as rows of the ledger:
LedgerRow                   ledger_rows of a run, maintenance_row of an operation
LEDGER_NAMES                every name, as the LedgerEntry that its rows are; CacheEntry is one to hand in
LEDGER_COLUMNS              the columns of the table behind them; ledger_columns those of a name, and
                            ledger_select how it takes them from there

encode_record, decode_record    each of these as JSON or MessagePack (a Form)
"""

from headwater.artifacts.ledger import LedgerRow, ledger_rows, maintenance_row
from headwater.artifacts.ledger_names import LEDGER_NAMES, CacheEntry, LedgerEntry
from headwater.artifacts.ledger_sql import LEDGER_COLUMNS, ledger_columns, ledger_select
from headwater.artifacts.manifest import (
    SCHEMA_VERSION,
    Action,
    CapabilityRecord,
    FileRecord,
    HistoryRecord,
    Manifest,
    OperatorsRecord,
    PinRecord,
    RefreshRecord,
    RoundRecord,
    SchemaRecord,
    SourceRecord,
    SqlRecord,
    Status,
    TableRecord,
    ViewCache,
    ViewRecord,
    commit_manifest,
    encode_manifest,
    last_manifest,
    manifest_document,
    manifest_paths,
    read_manifest,
    read_manifests,
)
from headwater.artifacts.plans import (
    PlanBasis,
    PlannedSource,
    PlansRecord,
    commit_plans,
    encode_plans,
    read_plans,
    read_schedule,
)
from headwater.artifacts.records import (
    ColumnRecord,
    Form,
    ReadRecord,
    RegistrationRecord,
    ScanRecord,
    SnapshotRecord,
    VerificationRecord,
    WindowRecord,
    decode_record,
    encode_record,
    registration_record,
    scan_record,
    snapshot_record,
    verification_record,
    window_record,
)
from headwater.artifacts.started import RunMark, marked_runs, remove_mark
from headwater.artifacts.upkeep import (
    LossRecord,
    StateRecord,
    UpkeepRecord,
    UpkeepStatus,
    commit_upkeep,
    ended_record,
    forget_upkeep,
    read_upkeep,
    upkeep_record,
)
from headwater.artifacts.writes import (
    ConstraintRecord,
    MeaningRecord,
    MutationRecord,
    RetryRecord,
    ViolationRecord,
    mutation_record,
    violation_record,
)

__all__ = [
    "LEDGER_COLUMNS",
    "LEDGER_NAMES",
    "SCHEMA_VERSION",
    "Action",
    "CacheEntry",
    "CapabilityRecord",
    "ColumnRecord",
    "ConstraintRecord",
    "FileRecord",
    "Form",
    "HistoryRecord",
    "LedgerEntry",
    "LedgerRow",
    "LossRecord",
    "Manifest",
    "MeaningRecord",
    "MutationRecord",
    "OperatorsRecord",
    "PinRecord",
    "PlanBasis",
    "PlannedSource",
    "PlansRecord",
    "ReadRecord",
    "RefreshRecord",
    "RegistrationRecord",
    "RetryRecord",
    "RoundRecord",
    "RunMark",
    "ScanRecord",
    "SchemaRecord",
    "SnapshotRecord",
    "SourceRecord",
    "SqlRecord",
    "StateRecord",
    "Status",
    "TableRecord",
    "UpkeepRecord",
    "UpkeepStatus",
    "VerificationRecord",
    "ViewCache",
    "ViewRecord",
    "ViolationRecord",
    "WindowRecord",
    "commit_manifest",
    "commit_plans",
    "commit_upkeep",
    "decode_record",
    "encode_manifest",
    "encode_plans",
    "encode_record",
    "ended_record",
    "forget_upkeep",
    "last_manifest",
    "ledger_columns",
    "ledger_rows",
    "ledger_select",
    "maintenance_row",
    "manifest_document",
    "manifest_paths",
    "marked_runs",
    "mutation_record",
    "read_manifest",
    "read_manifests",
    "read_plans",
    "read_schedule",
    "read_upkeep",
    "registration_record",
    "remove_mark",
    "scan_record",
    "snapshot_record",
    "upkeep_record",
    "verification_record",
    "violation_record",
    "window_record",
]
