"""Where code changes often and is complex: what is likely to need care next.

Not here: how git counts commits, and what a branch is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.questions.history import history_of
from headwater.cpg.questions.pieces import measures_of
from headwater.cpg.questions.sources import is_test, module_names, parse, paths_now, read_now, shown, within
from headwater.inquiry import Answer, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cpg.questions.code import Code
    from headwater.cpg.questions.graph import Graph

_COMMITS = 5000
_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spot:
    name: str
    kind: str
    path: str
    line: int
    branches: int
    commits: int

    def score(self, *, is_known: bool) -> int:
        """The number of commits times that of branches; that of branches alone without a history."""
        return self.branches * self.commits if is_known else self.branches


def hotspots(graph: Graph, module: str | None = None) -> Answer:
    """Functions that have many branches and stand in files that many commits touched, most of both first.

    Args:
        graph: where to look; tests are left out.
        module: look at this module or package alone.

    Raises:
        NameUnknown: there is no such module.
    """
    history = history_of(graph.root)
    paths = paths_now(graph, history)
    names = module_names(paths)
    wanted = within(names, module)
    sources = read_now(graph.root, (each for each in paths if each in wanted and not is_test(each)))
    churn: Mapping[str, int] = {} if history is None else history.churn(_COMMITS)
    spots: list[_Spot] = []
    unread: list[str] = []
    for path, content in sources.items():
        if content not in graph.measures:
            tree = parse(content)
            graph.measures[content] = None if tree is None else measures_of(tree)
        measures = graph.measures[content]
        if measures is None:
            unread.append(path)
            continue
        spots += (
            _Spot(
                name=f"{names[path]}.{own}",
                kind=kind,
                path=path,
                line=line,
                branches=branches,
                commits=churn.get(path, 0),
            )
            for own, kind, line, branches in measures
        )
    is_known = bool(churn)
    spots = [each for each in spots if each.score(is_known=is_known)]
    spots.sort(key=lambda each: (-each.score(is_known=is_known), -each.branches, each.path, each.line))
    callers = _callers(graph.code)
    findings = tuple(_line(each, callers, is_known=is_known) for each in spots[:_MOST])
    notes = _notes(len(spots), unread, is_known=is_known)
    return Answer(question="hotspots", subject=module or graph.name, findings=findings, notes=notes)


def _callers(code: Code) -> dict[tuple[str | None, str], int]:
    """How many definitions call each function, by its file and name."""
    sources: dict[int, set[int]] = {}
    for edge in code.edges("CALLS"):
        sources.setdefault(edge.target, set()).add(edge.source)
    found: dict[tuple[str | None, str], int] = {}
    for node, (path, name) in enumerate(zip(code.paths, code.names, strict=True)):
        found[path, name] = max(found.get((path, name), 0), len(sources.get(node, ())))
    return found


def _line(spot: _Spot, callers: dict[tuple[str | None, str], int], *, is_known: bool) -> Finding:
    count = callers.get((spot.path, spot.name))
    parts = (
        f"score {spot.score(is_known=is_known)}",
        _counted(spot.commits, "commit") if is_known else None,
        _counted(spot.branches, "branch"),
        None if count is None else _counted(count, "caller"),
    )
    return Finding(
        name=spot.name,
        kind=spot.kind,
        path=spot.path,
        line=spot.line,
        reason=", ".join(each for each in parts if each is not None),
    )


def _counted(count: int, what: str) -> str:
    ending = "" if count == 1 else "es" if what.endswith("ch") else "s"
    return f"{count} {what}{ending}"


def _notes(count: int, unread: list[str], *, is_known: bool) -> tuple[str, ...]:
    told = (
        f"A score is the commits that touched the file, of the last {_COMMITS} without merges, times the "
        "branches of the function; a file that was renamed begins anew"
        if is_known
        else "git has no history of the folder: a score is the number of branches"
    )
    notes = [told] if count else []
    if count > _MOST:
        notes.append(f"{count - _MOST} further functions have a lower score")
    if unread:
        notes.append(f"{len(unread)} files do not parse: {shown(unread)}")
    return tuple(notes)
