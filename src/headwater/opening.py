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

from headwater.cpg import EVIDENCE, graph_name, has_python_files, python_graph
from headwater.delta import ScanOptions, find_head
from headwater.pipeline import PROJECT_FILE, packaged_project, project_not_found, read_project
from headwater.run import Project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

# The graph of a folder that is a project, too, has a warehouse of its own: two pipelines, two records.
_GRAPH_FOLDER = "graph"


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
    config = replace(config, name=name, declare=partial(_declare_graph, name, place.resolve() / "tables"))
    return Project(config, warehouse=place, profile=profile, settings=settings, spark=spark)


def _declare_graph(name: str, tables: Path) -> None:
    """Declares the graph of a repository, and of those whose evidence is in the same warehouse."""
    found = [each for each in sorted(tables.glob(f"{EVIDENCE}*")) if find_head(each.as_uri())]
    python_graph(name, {each.name.removeprefix(EVIDENCE): str(each) for each in found})
