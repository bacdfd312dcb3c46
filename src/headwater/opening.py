"""The library's front door: a folder becomes a project, its own or the code graph of what lies in it.

    project = headwater.open("examples/orders")     a folder with headwater.toml
    graph = headwater.open("some/repository")       any other folder with Python files
    headwater.open("examples/orders", spark=spark)  the same, in the application of a session that is open
    headwater.ask(graph, "callers", "Cart.total")   an answer out of a code graph, with its places

Not here: what a project can do, and how questions are answered.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.cpg import (
    EVIDENCE,
    RESOLUTION,
    Graph,
    Surroundings,
    answer_to,
    distribution_of,
    graph_name,
    has_python_files,
    installed_for,
    python_graph,
)
from headwater.delta import ScanOptions, find_head
from headwater.errors import NotAGraph, NotBuilt, UnknownDataset
from headwater.inquiry import Answer, Asked, check_asked
from headwater.pipeline import PROJECT_FILE, packaged_project, project_not_found, read_project
from headwater.run import Listener, Project, ignore_progress
from headwater.served import warehouse_of_graph

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import SparkSession

# How the name of a graph of several repositories begins, which no other graph takes in.
_SEVERAL = "roots_of_"


def open_project(
    path: str | os.PathLike[str],
    *,
    graph: bool = False,
    warehouse: str | os.PathLike[str] | None = None,
    profile: str | None = None,
    settings: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
) -> Project:
    """The project at `path`, or the code graph of the Python files in it if there is no headwater.toml.

    Args:
        path: the folder.
        graph: the code graph, even if the folder is a project.
        warehouse: where tables and runs are kept, if not in the folder's `.headwater`.
        profile: a profile of headwater.toml.
        settings: profile fields or Spark settings, by key.
        spark: an open session to work beside, in its application; Headwater starts Spark itself if None.

    Raises:
        UsageError: there is no such folder, or its configuration is wrong.
        SessionIncompatible: the session that was given will not do.
    """
    root = Path(path)
    is_project = (root / PROJECT_FILE).exists()
    if is_project and not graph:
        config, place = read_project(root), warehouse
        return Project(config, warehouse=place, profile=profile, settings=settings, spark=spark)
    was_built = (root / ".headwater" / "runs").is_dir()  # what a run left can be asked, whatever became of it
    if not root.is_dir() or not (was_built or has_python_files(ScanOptions().paths_below(root))):
        raise project_not_found(root)
    name = graph_name(root)
    place = warehouse_of_graph(root, warehouse)
    config = read_project(root) if is_project else packaged_project(root, name)
    config = replace(
        config, name=name, declare=partial(_declare_graph, name, root, place.resolve() / "tables")
    )
    return Project(config, warehouse=place, profile=profile, settings=settings, spark=spark)


def open_roots(
    roots: Sequence[str | os.PathLike[str]],
    *,
    warehouse: str | os.PathLike[str],
    profile: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> tuple[Project, tuple[str, ...]]:
    """The code graphs of several repositories as one project, and their names: paths from where all lie.

    Raises:
        UsageError: one of them is no folder with Python files.
    """
    folders = sorted({Path(root).resolve() for root in roots})
    for folder in folders:
        if not folder.is_dir() or not has_python_files(ScanOptions().paths_below(folder)):
            raise project_not_found(folder)
    parent = Path(os.path.commonpath([each.parent for each in folders]))
    names = tuple(each.relative_to(parent).as_posix() for each in folders)
    name = _SEVERAL + graph_name(parent)
    config = packaged_project(parent, name)
    around = Surroundings(installed=installed_for(), roots=names)
    config = replace(config, name=name, declare=partial(python_graph, name, around))
    return Project(config, warehouse=warehouse, profile=profile, settings=settings), names


def graph_of(project: Project, listen: Listener = ignore_progress) -> Graph:
    """The code graph of a project that was opened as one, to ask it several questions.

    It is read when a question first needs it, and stays as the last build left it then.

    Raises:
        NotAGraph: it was never built; so does a question if what it needs was not built.
    """
    root = project.config.root
    if not project.runs(1):
        raise NotAGraph(path=str(root))

    def rows(sql: str) -> pa.Table:
        try:
            with project.query(sql, listen=listen) as result:
                return result.read_all()
        except (NotBuilt, UnknownDataset) as error:
            raise NotAGraph(path=str(root)) from error

    return Graph(project.config.name, root, rows)


def ask(
    graph: Graph | Project,
    question: str,
    *names: str,
    depth: int | None = None,
    diff: str | None = None,
    since: str | None = None,
) -> Answer:
    """The answer to a question about code.

    Args:
        graph: what is asked: a project that was opened as a code graph, or what `graph_of` gives, which is
            read once for any number of questions.
        question: callers, callees, refs, and the others that `headwater ask` lists.
        names: what it is about: dotted names, ends of them (`Cart.total`), or `path:line`.
        depth: the most steps, for questions that follow edges; 0 for as many as it takes.
        diff: a revision of git, for the impact of what changed since then.
        since: a revision of git to compare with.

    Raises:
        WrongUsage: there is no such question, or it takes other names.
        NameUnknown, NameAmbiguous: a name means nothing, or several things.
        NotAGraph: there is no graph to ask.
    """
    asked = Asked(question=question, names=names, depth=depth, diff=diff, since=since)
    check_asked(asked)
    return answer_to(graph if isinstance(graph, Graph) else graph_of(graph), asked)


def _declare_graph(name: str, root: Path, tables: Path) -> None:
    """Declares the graph of a repository, and of those whose tables are in the same warehouse."""
    found = [each.name.removeprefix(EVIDENCE) for each in sorted(tables.glob(f"{EVIDENCE}*"))]
    beside = {each: tables for each in found if not each.startswith(_SEVERAL) and _is_whole(tables, each)}
    around = Surroundings(distribution=distribution_of(root), installed=installed_for(root), beside=beside)
    python_graph(name, around)


def _is_whole(tables: Path, name: str) -> bool:
    """Whether all that others read of a repository is there."""
    return all(find_head((tables / f"{kind}{name}").as_uri()) for kind in (EVIDENCE, RESOLUTION))
