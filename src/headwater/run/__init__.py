"""The engine: the only place where plan and delta meet.

Project                         a project that is open
capabilities_snapshot           what this installation can do, tried: Capability
probe_capabilities              the same under a profile of one's own
RunOutcome, Progress, Listener  what a build tells (or ignore_progress), and what it did
QueryResult, ResultColumn       what a query gives: a stream of Arrow batches
"""

from headwater.run.capabilities import Capability, capabilities_snapshot, probe_capabilities
from headwater.run.outcome import Listener, Progress, RunOutcome, ignore_progress
from headwater.run.project import Project
from headwater.run.query import QueryResult, ResultColumn

__all__ = [
    "Capability",
    "Listener",
    "Progress",
    "Project",
    "QueryResult",
    "ResultColumn",
    "RunOutcome",
    "capabilities_snapshot",
    "ignore_progress",
    "probe_capabilities",
]
