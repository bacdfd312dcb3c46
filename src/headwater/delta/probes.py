"""Small real uses of Delta, by the path that runs use: what `headwater doctor` tries.

Not here: how their outcome is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.datasets import CdfWindow
from headwater.delta.changes import pin_changes, read_changes
from headwater.delta.commit import commit_mutation
from headwater.delta.head import read_head
from headwater.delta.mutation import Append, CommitNote, Overwrite
from headwater.delta.reads import read_pinned

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import RunSession


def probe_commit(session: RunSession, folder: Path) -> str:
    """Commits three rows, reads them back at their version, and says so."""
    uri = (folder / "commit").as_uri()
    rows = session.spark.range(3).toDF("id")
    receipt = commit_mutation(session, Overwrite(uri=uri, base_version=-1, note=_note("commit")), rows)
    count = read_pinned(session, receipt.pin).count()
    return f"{receipt.outcome} version {receipt.pin.version}, read {count} of {receipt.rows} rows"


def probe_change_feed(session: RunSession, folder: Path) -> str:
    """Makes a table with a change feed, appends to it, and reads what changed."""
    path = folder / "feed"
    session.spark.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT) USING delta "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    base = read_head(path.as_uri()).version
    rows = session.spark.range(2).toDF("id")
    receipt = commit_mutation(session, Append(uri=path.as_uri(), base_version=base, note=_note("feed")), rows)
    window = CdfWindow(starting_version=receipt.pin.version)
    feed = read_changes(session, pin_changes("feed", path.as_uri(), window))
    kinds = sorted({str(row["_change_type"]) for row in feed.select("_change_type").collect()})
    return f"version {receipt.pin.version} changed by {', '.join(kinds)}"


def _note(table: str) -> CommitNote:
    return CommitNote(
        pipeline="doctor", table=table, run_id="doctor", task_key="probe", mutation_id=f"probe-{table}"
    )
