"""Plan-driven Delta Lake pipelines on Spark that can prove what they did.

open, Project           a project, to build it
HeadwaterError          the root of every error
view, table, source     how a project says what it is made of
capabilities_snapshot   what this installation can do, tried
dependency_manifest     versions and jars below it
"""

from headwater.errors import HeadwaterError
from headwater.pipeline import source, table, view
from headwater.run import Project, capabilities_snapshot
from headwater.run import open_project as open  # noqa: A004  the library's front door
from headwater.runtime import dependency_manifest

__all__ = [
    "HeadwaterError",
    "Project",
    "capabilities_snapshot",
    "dependency_manifest",
    "open",
    "source",
    "table",
    "view",
]
