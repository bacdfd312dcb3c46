"""Call graphs of repositories, for other tools: by the dotted name of each def, the names of what it calls.

Not here: how names are made; and files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.cpg.graph import repository_id
from headwater.cpg.pipeline import RESOLUTION
from headwater.cpg.resolve import is_called

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# It asks one table and no views, so that no definition is read for it.
_CALLS = """
    SELECT d.repo_id, d.name AS caller, t.name AS callee, dispatch, resolver, confidence, rank
    FROM (SELECT repo_id, inline(definitions) FROM {table}) AS d
    LEFT JOIN (
        SELECT calls[call].caller_id AS caller_id, calls[call].dispatch AS dispatch,
            name, resolver, confidence, rank
        FROM (SELECT calls, inline(targets) FROM {table})
    ) AS t ON d.node_id = t.caller_id
"""


def callgraph_query(name: str) -> str:
    """The query whose rows `callgraphs_of` takes, for the repositories that were declared by this name."""
    return _CALLS.format(table=f"{RESOLUTION}{name}")


def callgraphs_of(
    rows: Iterable[Mapping[str, Any]], names: Iterable[str], threshold: float
) -> dict[str, dict[str, list[str]]]:
    """By the name of each repository its call graph; one without a single def has an empty one.

    Args:
        rows: what the query gave
        names: the names of the repositories
        threshold: how sure a candidate must be that is not the best of its call, or that was found by name
    """
    found: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        graph = found.setdefault(row["repo_id"], {})
        callees = graph.setdefault(row["caller"], set())
        if row["callee"] is not None and is_called(
            threshold,
            sure=row["confidence"] / 1000,
            is_winner=row["rank"] == 1,
            resolver=row["resolver"],
            dispatch=row["dispatch"],
        ):
            callees.add(row["callee"])
    return {
        name: {caller: sorted(graph[caller]) for caller in sorted(graph)}
        for name in names
        for graph in [found.get(repository_id(name), {})]
    }
