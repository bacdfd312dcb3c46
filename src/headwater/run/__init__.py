"""The engine: the only place where plan and delta meet.

Project                         a project that is open
capabilities_snapshot           what this installation can do, tried: Capability
probe_capabilities              the same under a profile of one's own
RunOutcome, Progress, Listener  what a build tells (or ignore_progress), and what it did
ProjectPlan, PlannedView        what a build would do, and why
REFRESH_REASONS                 why all of a table is made, or the rows of some keys; refresh_words: in words
Explanation                     how Spark would run a view
QueryResult, ResultColumn       what a query gives: a stream of Arrow batches
RunSummary                      a run on record, in short; seconds_of, is_not_reached: told from a whole one
ReplayReport, ReplayedView      what a replay found; RowDifference, SampleRow: rows that differ
RunDiff, TableDiff              what differs between two runs; Cause, CauseCommit, Traced: and why

One Delta table, of a project or of none:
locate_table, is_table_path     what a path or a name means: LocatedTable
TableRequest                    the table at a version, asked about
describe_table                  what it is there: TableDescription
read_commits                    how it came to be; without Spark
preview_files                   its files, or those that filters leave
verify_table                    whether it holds what its log promises
keep_table                      an UpkeepOperation done to it, as an UpkeepRequest asks -> UpkeepDone:
                                Optimize, Vacuum, Restore, Export, Checkpoint, CleanLog, Properties, Features,
                                Constraints
maintain, maintain_request      what policies ask for: a MaintainRequest -> Maintained, each with its Due
holds_on                        what recorded runs need of it
"""

from headwater.run.capabilities import Capability, capabilities_snapshot, probe_capabilities
from headwater.run.causes import Cause, CauseCommit, Traced
from headwater.run.comparing import RowDifference, SampleRow
from headwater.run.diffing import RunDiff, TableDiff
from headwater.run.explaining import Explanation
from headwater.run.history import RunSummary, is_not_reached, seconds_of
from headwater.run.holds import holds_on
from headwater.run.maintaining import Due, Maintained, MaintainRequest, maintain, maintain_request
from headwater.run.outcome import Listener, Progress, RunOutcome, ignore_progress
from headwater.run.planning import PlannedView, ProjectPlan
from headwater.run.project import Project
from headwater.run.query import QueryResult, ResultColumn
from headwater.run.refreshes import REFRESH_REASONS, refresh_words
from headwater.run.replaying import ReplayedView, ReplayReport
from headwater.run.tables import (
    LocatedTable,
    TableDescription,
    TableRequest,
    describe_table,
    is_table_path,
    locate_table,
    preview_files,
    read_commits,
    verify_table,
)
from headwater.run.upkeep import (
    Checkpoint,
    CleanLog,
    Constraints,
    Export,
    Features,
    Optimize,
    Properties,
    Restore,
    UpkeepDone,
    UpkeepOperation,
    UpkeepRequest,
    Vacuum,
    keep_table,
)

__all__ = [
    "REFRESH_REASONS",
    "Capability",
    "Cause",
    "CauseCommit",
    "Checkpoint",
    "CleanLog",
    "Constraints",
    "Due",
    "Explanation",
    "Export",
    "Features",
    "Listener",
    "LocatedTable",
    "MaintainRequest",
    "Maintained",
    "Optimize",
    "PlannedView",
    "Progress",
    "Project",
    "ProjectPlan",
    "Properties",
    "QueryResult",
    "ReplayReport",
    "ReplayedView",
    "Restore",
    "ResultColumn",
    "RowDifference",
    "RunDiff",
    "RunOutcome",
    "RunSummary",
    "SampleRow",
    "TableDescription",
    "TableDiff",
    "TableRequest",
    "Traced",
    "UpkeepDone",
    "UpkeepOperation",
    "UpkeepRequest",
    "Vacuum",
    "capabilities_snapshot",
    "describe_table",
    "holds_on",
    "ignore_progress",
    "is_not_reached",
    "is_table_path",
    "keep_table",
    "locate_table",
    "maintain",
    "maintain_request",
    "preview_files",
    "probe_capabilities",
    "read_commits",
    "refresh_words",
    "seconds_of",
    "verify_table",
]
