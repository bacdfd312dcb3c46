"""`headwater plan`, `lineage` and `explain`: what would run and why, where a column comes from, and how.

Not here: how any of it is found out, and how it is drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import (
    ProjectPath,
)
from headwater.cli.planned import (
    explanation_document,
    explanation_lines,
    lineage_document,
    lineage_lines,
    plan_document,
    plan_lines,
)
from headwater.cli.render import print_lines, write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.errors import WrongUsage
from headwater.plan import lineage_dot

_Dot = Annotated[bool, typer.Option("--dot", help="A graph for Graphviz on stdout.")]
_Target = Annotated[
    str,
    typer.Argument(metavar="VIEW[.COLUMN]", help="A view or source of the project, or one of its columns."),
]
_View = Annotated[str, typer.Argument(metavar="VIEW", help="A view of the project.")]


@over_project
def plan(
    path: ProjectPath = Path(),
    dot: _Dot = False,
    full: Annotated[bool, typer.Option("--full", help="As if every table were to be made anew.")] = False,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Show what a build would do and why, and what it would read; runs nothing and writes nothing.

    Example: headwater plan examples/orders --json
    """
    _check_one("plan", json=shown.json, dot=dot)
    project = place.opened(path)
    with shown.progress() as listen:
        planned = project.plan(full=full, listen=listen)
    if shown.json:
        write_json(plan_document(planned))
    elif dot:
        sys.stdout.write(planned.graph.dot())
    else:
        print_lines(*plan_lines(planned), no_color=shown.no_color)


@over_project
def lineage(
    target: _Target,
    path: ProjectPath = Path(),
    up: Annotated[bool, typer.Option("--up", help="Only what it depends on.")] = False,
    down: Annotated[bool, typer.Option("--down", help="Only what depends on it.")] = False,
    dot: _Dot = False,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Show which columns a view, or one of its columns, depends on, and which depend on it.

    Example: headwater lineage revenue_by_country.revenue_eur examples/orders --up
    """
    _check_one("lineage", json=shown.json, dot=dot)
    project = place.opened(path)
    both = up == down
    with shown.progress() as listen:
        edges = project.lineage(target, up=up or both, down=down or both, listen=listen)
    if shown.json:
        write_json(lineage_document(target, edges))
    elif dot:
        sys.stdout.write(lineage_dot(edges))
    else:
        print_lines(*lineage_lines(target, edges, up=up or both, down=down or both), no_color=shown.no_color)


@over_project
def explain(
    view: _View,
    path: ProjectPath = Path(),
    analyze: Annotated[
        bool, typer.Option("--analyze", help="Run it, throw its rows away, and show what operators counted.")
    ] = False,
    dot: _Dot = False,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Show a view's analysed, optimised and physical plan, in the form in which plans are recorded.

    Example: headwater explain daily_revenue examples/orders --analyze
    """
    _check_one("explain", json=shown.json, dot=dot)
    project = place.opened(path)
    with shown.progress() as listen:
        explained = project.explain(view, analyze=analyze, listen=listen)
    if shown.json:
        write_json(explanation_document(explained))
    elif dot:
        sys.stdout.write(explained.bundle.dot)
    else:
        print_lines(*explanation_lines(explained), no_color=shown.no_color)


def _check_one(command: str, *, json: bool, dot: bool) -> None:
    if json and dot:
        raise WrongUsage(detail="--json and --dot ask for two forms", command=f"headwater {command}")
