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

import typing
from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec

if typing.TYPE_CHECKING:
    from headwater.errors import HeadwaterError
    from headwater.inquiry import Answer
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

# Where each name is. They are imported when they are first asked for: who asks a server, or runs a function
# in a worker, would wait longer for all of them than for what is done.
_HOMES = {
    "Answer": "inquiry",
    "CompatibilityReport": "runtime",
    "HeadwaterError": "errors",
    "Project": "run",
    "ask": "opening",
    "capabilities_snapshot": "run",
    "check_session": "runtime",
    "dependency_manifest": "runtime",
    "extractor": "pipeline",
    "fixpoint": "pipeline",
    "graph_of": "opening",
    "open": "opening",
    "pure": "pipeline",
    "source": "pipeline",
    "table": "pipeline",
    "view": "pipeline",
}
_CALLED = {"open": "open_project"}


def __getattr__(name: str) -> typing.Any:
    home = _HOMES.get(name)
    if home is not None:
        found = getattr(_import_module(f"{__name__}.{home}"), _CALLED.get(name, name))
        globals()[name] = found
        return found
    if not name.startswith("_") and _find_spec(f"{__name__}.{name}") is not None:
        return _import_module(f"{__name__}.{name}")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message, name=name, obj=_import_module(__name__))


def __dir__() -> list[str]:
    return sorted(__all__)
