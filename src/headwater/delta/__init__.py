"""Storage; never knows why it is asked. The only area that touches a Delta log.

Without Spark:
read_head, find_head, is_head   the newest commit of a table: LogHead
read_commit, find_commit        one commit; read_history all of them: CommitRecord; commits_between some
schema_at, writes_rows          the schema of a version, as commits tell it; and if one touches rows
pin_version                     a table at a version or a time, pinned
pin_changes                     a window of a change feed, pinned: ChangePin
pin_files                       files that are no Delta table: FilePin, ListedFile
scan_files                      the files themselves as rows, by ScanOptions
LatestVersions                  the newest version as a session may see it (cache profiles)
find_staged                     the newest commit, if it is one task's and its files are there

Values that definitions and locations write down:
FeatureGate, CdfWindow, ReadOptions    what a table must have, and what is read of it
StorageProfile                         where tables live, and with which options

With it:
snapshot_info, describe_pin     a table at a version, described: SnapshotInfo
check_gate                      whether it has what a gate asks for
read_pinned, open_pinned        rows at a version: PinnedRead, its ScanColumn
read_changes, open_changes      what changed between two versions: ChangeRead
netted_changes                  the same, less what cancels out
affected_keys, compared_keys    the keys of those rows: from the feed, or from two versions
changed_keys                    either of the two
window_between, table_bytes     what would be read to know them, and all there is: ChangeWindow
restrict_rows                   the rows that have one of some keys
FewKeys                         keys as values; few_keys of rows, if they are few
checkpointed                    rows that are made once and read often
complaint_of_keys               why those of a table cannot be replaced
list_files, preview_scan        data files, and those a filter leaves: DataFile, ScanPreview
scans_of                        what a query reads of each table: TableScan
verify_pin, promised_rows       whether rows are as the log promises: Verification
row_promise                     what it promises: RowPromise; missing_files: its data files that are gone
ScanCounter                     the same, in a job that reads everything anyway
read_files, read_scanned        the rows of files that are no table
read_over_connect, read_files_over_connect
                                either of them, read by a client of Spark Connect
frame_in                        rows of one session as a frame of another
register_delta, register_changes, register_listing, register_table
                                a name for any of them: TableKind, TableSpec -> Registration
reading_errors, storage_error   a failed job's error, if storage is to blame
probe_commit, probe_change_feed small real uses, for doctor

Writing:
commit_mutation                 the one way to write: a Mutation (by MutationKind) -> Receipt, its Outcome
Append, Overwrite, ReplaceWhere, ReplaceKeys, Merge, Update, Delete
                                what is meant to happen; MergeClause, UPSERT, same_keys for a Merge
WritePolicy, write_policy       how a table is written
ConstraintCheck, MeaningCheck, Attempt, Protocol
                                what a receipt tells beside the version
ContentDigest, content_of_text  the rows of a table as one short text
find_content, compute_content   that of a version: kept, or by reading all rows; keep_content
marked_approximate              columns that are left out of it (APPROXIMATE_KEY)
digest_rows, hash_rows          that of a frame, and its parts, row by row
check_storable, check_policy    whether rows can be a table's, and be written as its policy says
CommitNote, note_of             what a commit says of its own making

Upkeep, each asked for by itself (see `upkeep`):
optimize_table, Optimizing      fewer, fuller files; small_files and file_size_of tell whether it is due
vacuum_table, clean_log         what nobody needs any more, deleted: files, and commits of the log
restore_table, export_snapshot  an earlier version made the newest, or copied so that it stands alone
checkpoint_table                a log that loads faster
commits_since_checkpoint, commits_since_clustered, last_vacuumed, first_kept
                                when something is due again
alter_properties, enable_features, alter_constraints
                                what a table says of itself
UpkeepTask                               one operation on one table, as it is asked for
UpkeepNote, upkeep_note_of, Operation    who asked for what, and why
Hold, merged_holds, Guard, Loss          what must stay readable, and what would not
UpkeepReceipt, TableState   what was done, and the table before and after
Retention, retention_of, retention_properties, wider_properties    how far back a table can be read
rows_made_by, rows_commit, newest_with_same_rows      the first and the last commit that has a version's rows
keeps_rows                               whether a commit leaves rows as they were
list_log                                 what lies in a log's folder
table_constraints                        the conditions that a table puts on its rows
clustering_of                            the columns it is clustered by
"""

from headwater.datasets import CdfWindow, FeatureGate, ReadOptions
from headwater.delta.affected import complaint_of_keys
from headwater.delta.changes import ChangePin, ChangeRead, open_changes, pin_changes, read_changes
from headwater.delta.columns import frame_in
from headwater.delta.commit import commit_mutation
from headwater.delta.constraints import table_constraints
from headwater.delta.content import (
    APPROXIMATE_KEY,
    ContentDigest,
    content_of_text,
    digest_rows,
    hash_rows,
    marked_approximate,
)
from headwater.delta.digests import compute_content, find_content, keep_content
from headwater.delta.failures import reading_errors, storage_error
from headwater.delta.files import DataFile, ScanPreview, list_files, preview_scan
from headwater.delta.gates import check_gate
from headwater.delta.head import LogHead, find_commit, find_head, is_head, read_commit, read_head
from headwater.delta.history import CommitRecord, commits_between, read_history, schema_at, writes_rows
from headwater.delta.key_values import FewKeys, few_keys
from headwater.delta.listing import FilePin, ListedFile, pin_files, read_files
from headwater.delta.log_files import list_log
from headwater.delta.mutation import (
    UPSERT,
    Append,
    CommitNote,
    Delete,
    Merge,
    MergeClause,
    Mutation,
    MutationKind,
    Overwrite,
    ReplaceKeys,
    ReplaceWhere,
    Update,
    note_of,
    same_keys,
)
from headwater.delta.netting import affected_keys, changed_keys, compared_keys, netted_changes
from headwater.delta.over_connect import read_files_over_connect, read_over_connect
from headwater.delta.preparing import check_policy
from headwater.delta.probes import probe_change_feed, probe_commit
from headwater.delta.projection import ScanColumn
from headwater.delta.reads import LatestVersions, PinnedRead, open_pinned, read_pinned
from headwater.delta.receipt import Attempt, ConstraintCheck, MeaningCheck, Outcome, Protocol, Receipt
from headwater.delta.registration import (
    Registration,
    TableKind,
    TableSpec,
    register_changes,
    register_delta,
    register_listing,
    register_table,
)
from headwater.delta.replacing import checkpointed, restrict_rows
from headwater.delta.scanning import ScanOptions, read_scanned, scan_files
from headwater.delta.scans import TableScan, scans_of
from headwater.delta.schema import check_storable
from headwater.delta.settling import clustering_of
from headwater.delta.snapshot import SnapshotInfo, describe_pin, pin_version, snapshot_info
from headwater.delta.staged import find_staged
from headwater.delta.upkeep import (
    Guard,
    Hold,
    Loss,
    Operation,
    Optimizing,
    Retention,
    TableState,
    UpkeepNote,
    UpkeepReceipt,
    UpkeepTask,
    alter_constraints,
    alter_properties,
    checkpoint_table,
    clean_log,
    commits_since_checkpoint,
    commits_since_clustered,
    enable_features,
    export_snapshot,
    file_size_of,
    first_kept,
    keeps_rows,
    last_vacuumed,
    merged_holds,
    newest_with_same_rows,
    optimize_table,
    restore_table,
    retention_of,
    retention_properties,
    rows_commit,
    rows_made_by,
    small_files,
    upkeep_note_of,
    vacuum_table,
    wider_properties,
)
from headwater.delta.verifying import (
    RowPromise,
    ScanCounter,
    Verification,
    missing_files,
    promised_rows,
    row_promise,
    verify_pin,
)
from headwater.delta.windows import ChangeWindow, table_bytes, window_between
from headwater.policies import WritePolicy, write_policy
from headwater.runtime import StorageProfile

__all__ = [
    "APPROXIMATE_KEY",
    "UPSERT",
    "Append",
    "Attempt",
    "CdfWindow",
    "ChangePin",
    "ChangeRead",
    "ChangeWindow",
    "CommitNote",
    "CommitRecord",
    "ConstraintCheck",
    "ContentDigest",
    "DataFile",
    "Delete",
    "FeatureGate",
    "FewKeys",
    "FilePin",
    "Guard",
    "Hold",
    "LatestVersions",
    "ListedFile",
    "LogHead",
    "Loss",
    "MeaningCheck",
    "Merge",
    "MergeClause",
    "Mutation",
    "MutationKind",
    "Operation",
    "Optimizing",
    "Outcome",
    "Overwrite",
    "PinnedRead",
    "Protocol",
    "ReadOptions",
    "Receipt",
    "Registration",
    "ReplaceKeys",
    "ReplaceWhere",
    "Retention",
    "RowPromise",
    "ScanColumn",
    "ScanCounter",
    "ScanOptions",
    "ScanPreview",
    "SnapshotInfo",
    "StorageProfile",
    "TableKind",
    "TableScan",
    "TableSpec",
    "TableState",
    "Update",
    "UpkeepNote",
    "UpkeepReceipt",
    "UpkeepTask",
    "Verification",
    "WritePolicy",
    "affected_keys",
    "alter_constraints",
    "alter_properties",
    "changed_keys",
    "check_gate",
    "check_policy",
    "check_storable",
    "checkpoint_table",
    "checkpointed",
    "clean_log",
    "clustering_of",
    "commit_mutation",
    "commits_between",
    "commits_since_checkpoint",
    "commits_since_clustered",
    "compared_keys",
    "complaint_of_keys",
    "compute_content",
    "content_of_text",
    "describe_pin",
    "digest_rows",
    "enable_features",
    "export_snapshot",
    "few_keys",
    "file_size_of",
    "find_commit",
    "find_content",
    "find_head",
    "find_staged",
    "first_kept",
    "frame_in",
    "hash_rows",
    "is_head",
    "keep_content",
    "keeps_rows",
    "last_vacuumed",
    "list_files",
    "list_log",
    "marked_approximate",
    "merged_holds",
    "missing_files",
    "netted_changes",
    "newest_with_same_rows",
    "note_of",
    "open_changes",
    "open_pinned",
    "optimize_table",
    "pin_changes",
    "pin_files",
    "pin_version",
    "preview_scan",
    "probe_change_feed",
    "probe_commit",
    "promised_rows",
    "read_changes",
    "read_commit",
    "read_files",
    "read_files_over_connect",
    "read_head",
    "read_history",
    "read_over_connect",
    "read_pinned",
    "read_scanned",
    "reading_errors",
    "register_changes",
    "register_delta",
    "register_listing",
    "register_table",
    "restore_table",
    "restrict_rows",
    "retention_of",
    "retention_properties",
    "row_promise",
    "rows_commit",
    "rows_made_by",
    "same_keys",
    "scan_files",
    "scans_of",
    "schema_at",
    "small_files",
    "snapshot_info",
    "storage_error",
    "table_bytes",
    "table_constraints",
    "upkeep_note_of",
    "vacuum_table",
    "verify_pin",
    "wider_properties",
    "window_between",
    "write_policy",
    "writes_rows",
]
