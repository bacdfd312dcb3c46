"""When a table was last kept in order, by what its commits say; without Spark.

Not here: whether it is due again; a policy says that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta.history import read_history

if TYPE_CHECKING:
    from headwater.delta.history import CommitRecord

_REARRANGES = "OPTIMIZE"
_VACUUMED = "VACUUM END"
_WITHOUT_ROWS = frozenset(
    {_REARRANGES, "VACUUM START", _VACUUMED, "SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "CLUSTER BY"}
    | {"ADD CONSTRAINT", "DROP CONSTRAINT", "UPGRADE PROTOCOL"}
)


def commits_since_clustered(uri: str) -> int:
    """How many commits changed rows since the table was last clustered or z-ordered, or since it was made."""
    count = 0
    for commit in read_history(uri):
        if _clusters(commit):
            break
        count += commit.operation not in _WITHOUT_ROWS
    return count


def last_vacuumed(uri: str) -> tuple[int | None, int]:
    """When a vacuum last ended, None if no commit says so; and when the oldest commit was made."""
    commits = read_history(uri)
    ended = [each.timestamp_ms for each in commits if each.operation == _VACUUMED]
    return max(ended, default=None), min(each.timestamp_ms for each in commits)


def _clusters(commit: CommitRecord) -> bool:
    told = dict(commit.parameters)
    columns = (told.get("zOrderBy", "[]"), told.get("clusterBy", "[]"))
    return commit.operation == _REARRANGES and any(each != "[]" for each in columns)
