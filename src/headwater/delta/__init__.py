"""Storage; never knows why it is asked. The only area that touches a Delta log.

read_head, find_head, is_head   the newest commit of a table, without Spark: LogHead
read_commit                     one commit by its version
read_pinned                     rows at a version
LatestVersions                  the newest version as a session may see it (cache profiles)
pin_files, read_files           files that are no Delta table: FilePin, ListedFile
scan_files, read_scanned        the files themselves as rows, by ScanOptions
register_table                  a name for any of them: TableKind, TableSpec -> Registration
StorageProfile                  where tables live, and with which options
probe_commit, probe_change_feed small real uses, for doctor
commit_mutation                 the one way to write: Append, Overwrite (a Mutation) -> Receipt, its Outcome
check_storable                  whether a schema can be a table's
CommitNote, note_of             what a commit says of its own making
"""

from headwater.delta.commit import commit_mutation
from headwater.delta.head import LogHead, find_head, is_head, read_commit, read_head
from headwater.delta.listing import FilePin, ListedFile, pin_files, read_files
from headwater.delta.mutation import Append, CommitNote, Mutation, Overwrite, note_of
from headwater.delta.probes import probe_change_feed, probe_commit
from headwater.delta.reads import LatestVersions, read_pinned
from headwater.delta.receipt import Outcome, Receipt
from headwater.delta.registration import Registration, TableKind, TableSpec, register_table
from headwater.delta.scanning import ScanOptions, read_scanned, scan_files
from headwater.delta.schema import check_storable
from headwater.runtime import StorageProfile

__all__ = [
    "Append",
    "CommitNote",
    "FilePin",
    "LatestVersions",
    "ListedFile",
    "LogHead",
    "Mutation",
    "Outcome",
    "Overwrite",
    "Receipt",
    "Registration",
    "ScanOptions",
    "StorageProfile",
    "TableKind",
    "TableSpec",
    "check_storable",
    "commit_mutation",
    "find_head",
    "is_head",
    "note_of",
    "pin_files",
    "probe_change_feed",
    "probe_commit",
    "read_commit",
    "read_files",
    "read_head",
    "read_pinned",
    "read_scanned",
    "register_table",
    "scan_files",
]
