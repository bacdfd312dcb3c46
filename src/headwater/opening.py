"""The library's front door: a folder becomes a project, its own or the code graph of what lies in it.

    project = headwater.open("examples/orders")     a folder with headwater.toml
    graph = headwater.open("some/repository")       any other folder with Python files
    headwater.open("examples/orders", spark=spark)  the same, in the application of a session that is open

Not here: what a project can do.
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
    Surroundings,
    distribution_of,
    graph_name,
    has_python_files,
    installed_for,
    python_graph,
)
from headwater.delta import ScanOptions, find_head
from headwater.pipeline import PROJECT_FILE, packaged_project, project_not_found, read_project
from headwater.run import Project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

# The graph of a folder that is a project, too, has a warehouse of its own: two pipelines, two records.
_GRAPH_FOLDER = "graph"
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
    own = root.resolve() / ".headwater"
    if is_project:
        place = Path(warehouse or own / _GRAPH_FOLDER)
        config = read_project(root)
    else:
        place = Path(warehouse or os.environ.get("HEADWATER_WAREHOUSE") or own)
        config = packaged_project(root, name)
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


def _declare_graph(name: str, root: Path, tables: Path) -> None:
    """Declares the graph of a repository, and of those whose tables are in the same warehouse."""
    found = [each.name.removeprefix(EVIDENCE) for each in sorted(tables.glob(f"{EVIDENCE}*"))]
    beside = {each: tables for each in found if not each.startswith(_SEVERAL) and _is_whole(tables, each)}
    around = Surroundings(distribution=distribution_of(root), installed=installed_for(root), beside=beside)
    python_graph(name, around)


def _is_whole(tables: Path, name: str) -> bool:
    """Whether all that others read of a repository is there."""
    return all(find_head((tables / f"{kind}{name}").as_uri()) for kind in (EVIDENCE, RESOLUTION))
