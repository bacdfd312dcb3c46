"""What a graph has, in numbers, and questions to begin with. Not here: how they are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.kinds import EDGE_FAMILIES
from headwater.cpg.pipeline import EVIDENCE, RESOLUTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Three that work on any graph; the last two look into evidence.
_BRANCHES = """
SELECT qualname, count(*) AS branches FROM cfg_nodes JOIN nodes ON nodes.node_id = def_node_id
WHERE kind = 'branch' GROUP BY ALL ORDER BY branches DESC, qualname LIMIT 10
"""
EXAMPLE_QUESTIONS = (
    "SELECT path, line, qualname FROM nodes WHERE node_kind = 'CLASS' ORDER BY path, line LIMIT 10",
    "SELECT callee_text, count(*) AS calls FROM calls GROUP BY ALL ORDER BY calls DESC, callee_text LIMIT 10",
    " ".join(_BRANCHES.split()),
)
# It asks two tables, once, and no views, so that no definition is read for it. Names have letters and `_`.
_NUMBERS = """
    SELECT of, kind, sum(count) AS count FROM (
        SELECT inline(concat(
            coalesce(counts, array()),
            transform(
                coalesce(diagnostics.severity, array()),
                each -> named_struct('of', 'diagnostic', 'kind', each, 'count', 1)
            ),
            filter(
                array(named_struct(
                    'of', 'diagnostic', 'kind', if(skip_reason IS NULL, 'error', 'warning'), 'count', 1
                )),
                each -> skip_reason IS NOT NULL OR extract_error IS NOT NULL
            ),
            array(named_struct(
                'of', 'file',
                'kind', if(skip_reason IS NULL, coalesce(parse_status, 'failed'), 'skipped'),
                'count', 1
            ))
        )) FROM {evidence}
        UNION ALL SELECT inline(counts) FROM {resolution}
        UNION ALL SELECT 'node', 'REPO', 1
    ) GROUP BY ALL
"""
_DEFINITIONS = ("CLASS", "FUNCTION", "METHOD", "LAMBDA")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSummary:
    """The numbers of a repository's graph, by kind: of files the status, of diagnostics the severity."""

    files: Mapping[str, int] = field(default_factory=dict[str, int])
    nodes: Mapping[str, int] = field(default_factory=dict[str, int])
    edges: Mapping[str, int] = field(default_factory=dict[str, int])
    diagnostics: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def definitions(self) -> Mapping[str, int]:
        """Of the nodes, those that define something."""
        return {kind: self.nodes[kind] for kind in _DEFINITIONS if self.nodes.get(kind)}

    @property
    def families(self) -> Mapping[str, Mapping[str, int]]:
        """The edges by what they are about, and then by kind, most first."""
        most = sorted(self.edges.items(), key=lambda each: (-each[1], each[0]))
        found = {
            name: {kind: n for kind, n in most if kind in kinds} for name, kinds in EDGE_FAMILIES.items()
        }
        return {name: kinds for name, kinds in found.items() if kinds}


def summary_query(name: str) -> str:
    """The query whose rows `summary_of` takes, for the repository of this name."""
    return _NUMBERS.format(evidence=f"{EVIDENCE}{name}", resolution=f"{RESOLUTION}{name}")


def summary_of(rows: Iterable[Mapping[str, object]]) -> GraphSummary:
    """The summary that these rows are."""
    found: dict[str, dict[str, int]] = {"file": {}, "node": {}, "edge": {}, "diagnostic": {}}
    for row in rows:
        found[str(row["of"])][str(row["kind"])] = int(str(row["count"]))
    return GraphSummary(**{f"{of}s": dict(sorted(counts.items())) for of, counts in found.items()})
