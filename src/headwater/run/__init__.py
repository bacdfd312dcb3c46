"""The engine: the only place where plan and delta meet.

Project, open_project           a project that is open
RunOutcome, Progress, Listener  what a build tells, and what it did
"""

from headwater.run.outcome import Listener, Progress, RunOutcome, ignore_progress
from headwater.run.project import Project, open_project

__all__ = ["Listener", "Progress", "Project", "RunOutcome", "ignore_progress", "open_project"]
