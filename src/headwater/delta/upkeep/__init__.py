"""A table kept in good order: operations that are asked for by themselves, never by the way of a write.

UpkeepTask                                one operation on one table, as it is asked for
UpkeepNote, upkeep_note_of, Operation     who asked for what, and why; in each commit
Hold, merged_holds, Guard, Loss           versions that somebody needs, and what an operation would take
optimize_table, Optimizing                fewer, fuller files; small_files, file_size_of for when it is due
vacuum_table                              files that no version has any more, deleted
restore_table                             an earlier version made the newest
export_snapshot                           a copy that stands alone
checkpoint_table, clean_log               a log that loads faster, and is no longer than it need be
commits_since_checkpoint, commits_since_clustered, last_vacuumed, first_kept
                                          when something is due again
alter_properties, enable_features, alter_constraints
                                          what a table says of itself
UpkeepReceipt, TableState    what was done, and the table before and after
Retention, retention_of, retention_properties, wider_properties
                                          how far back it can be read
rows_made_by, rows_commit, newest_with_same_rows       the first and the last commit that has a version's rows
keeps_rows                                whether a commit leaves rows as they were
"""

from headwater.delta.upkeep.altering import alter_constraints, alter_properties, enable_features
from headwater.delta.upkeep.content import keeps_rows, newest_with_same_rows, rows_commit, rows_made_by
from headwater.delta.upkeep.exporting import export_snapshot
from headwater.delta.upkeep.history import commits_since_clustered, last_vacuumed
from headwater.delta.upkeep.holds import Guard, Hold, Loss, merged_holds
from headwater.delta.upkeep.log import checkpoint_table, clean_log, commits_since_checkpoint, first_kept
from headwater.delta.upkeep.note import Operation, UpkeepNote, upkeep_note_of
from headwater.delta.upkeep.optimizing import Optimizing, file_size_of, optimize_table, small_files
from headwater.delta.upkeep.receipt import TableState, UpkeepReceipt
from headwater.delta.upkeep.restoring import restore_table
from headwater.delta.upkeep.retention import Retention, retention_of, retention_properties, wider_properties
from headwater.delta.upkeep.task import UpkeepTask
from headwater.delta.upkeep.vacuuming import vacuum_table

__all__ = [
    "Guard",
    "Hold",
    "Loss",
    "Operation",
    "Optimizing",
    "Retention",
    "TableState",
    "UpkeepNote",
    "UpkeepReceipt",
    "UpkeepTask",
    "alter_constraints",
    "alter_properties",
    "checkpoint_table",
    "clean_log",
    "commits_since_checkpoint",
    "commits_since_clustered",
    "enable_features",
    "export_snapshot",
    "file_size_of",
    "first_kept",
    "keeps_rows",
    "last_vacuumed",
    "merged_holds",
    "newest_with_same_rows",
    "optimize_table",
    "restore_table",
    "retention_of",
    "retention_properties",
    "rows_commit",
    "rows_made_by",
    "small_files",
    "upkeep_note_of",
    "vacuum_table",
    "wider_properties",
]
