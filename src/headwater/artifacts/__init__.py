"""What happened, kept: the manifest of each run.

Manifest                    one run, frozen and typed; SCHEMA_VERSION is that of its form
SourceRecord, ViewRecord, TableRecord, SchemaRecord, SqlRecord, PinRecord, FileRecord    its parts
RegistrationRecord, SnapshotRecord, ColumnRecord    how each name was read, and what was there
Action, Status              words of the contract
encode_manifest             its one JSON form
commit_manifest             written whole or not at all
read_manifest               one run
last_manifest               the newest run
"""

from headwater.artifacts.manifest import (
    SCHEMA_VERSION,
    Action,
    ColumnRecord,
    FileRecord,
    Manifest,
    PinRecord,
    RegistrationRecord,
    SchemaRecord,
    SnapshotRecord,
    SourceRecord,
    SqlRecord,
    Status,
    TableRecord,
    ViewRecord,
    commit_manifest,
    encode_manifest,
    last_manifest,
    read_manifest,
)

__all__ = [
    "SCHEMA_VERSION",
    "Action",
    "ColumnRecord",
    "FileRecord",
    "Manifest",
    "PinRecord",
    "RegistrationRecord",
    "SchemaRecord",
    "SnapshotRecord",
    "SourceRecord",
    "SqlRecord",
    "Status",
    "TableRecord",
    "ViewRecord",
    "commit_manifest",
    "encode_manifest",
    "last_manifest",
    "read_manifest",
]
