"""Plan-driven Delta Lake pipelines on Spark that can prove what they did.

open, Project           a project or a repository's code graph, to build it and ask it
ask, graph_of           an answer out of a code graph: Answer; the graph itself, for many questions
HeadwaterError          the root of every error
view, table, source     how a project says what it is made of
extractor               how it says what is in files
fixpoint                how it says that a table is made of itself, until nothing new appears
pure                    the promise that a function in Python depends on its arguments alone
capabilities_snapshot   what this installation can do, tried
dependency_manifest     versions and jars below it
check_session           whether `open` would work beside a session that is open: CompatibilityReport

In packages of their own: headwater.functions, deterministic functions over columns that SQL knows, too.
"""

from headwater.cpg import Answer
from headwater.errors import HeadwaterError
from headwater.opening import ask, graph_of
from headwater.opening import open_project as open  # noqa: A004  the library's front door
from headwater.pipeline import extractor, fixpoint, pure, source, table, view
from headwater.run import Project, capabilities_snapshot
from headwater.runtime import CompatibilityReport, check_session, dependency_manifest

__all__ = [
    "Answer",
    "CompatibilityReport",
    "HeadwaterError",
    "Project",
    "ask",
    "capabilities_snapshot",
    "check_session",
    "dependency_manifest",
    "extractor",
    "fixpoint",
    "graph_of",
    "open",
    "pure",
    "source",
    "table",
    "view",
]
