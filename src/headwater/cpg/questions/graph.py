"""A graph that can be asked: its definitions in memory, once they are needed, and SQL for everything else.

Not here: questions, and the engine that runs the SQL.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from headwater.cpg.questions.code import Code, code_query
from headwater.cpg.questions.flows import PLACES, STEPS, Flows, Sites, sites_query
from headwater.cpg.questions.unused import Signs, signs_query

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyarrow as pa

    from headwater.cpg.questions.pieces import Measures
    from headwater.cpg.questions.skeleton import Skeleton


class Graph:
    """The graph of one repository, as one build left it.

    Args:
        name: the repository's name, as its tables have it.
        root: its folder; git is asked there.
        query: gives the rows of a SELECT over the names of the graph.
    """

    def __init__(self, name: str, root: Path, query: Callable[[str], pa.Table]) -> None:
        self.name = name
        self.root = root
        self.query = query
        # What was found in contents of files, which are asked about again.
        self.skeletons: dict[bytes, Skeleton | None] = {}
        self.measures: dict[bytes, Measures | None] = {}

    @cached_property
    def code(self) -> Code:
        """Its definitions and the edges between them."""
        return Code.of(self.query(code_query(self.name)))

    @cached_property
    def flows(self) -> Flows:
        """Where values go in it, step by step."""
        return Flows.of(self.query(STEPS), self.query(PLACES))

    @cached_property
    def signs(self) -> Signs:
        """What may keep definitions alive without an edge to them."""
        return Signs.of(self.query(signs_query(self.name)))

    @cached_property
    def sites(self) -> Sites:
        """Where its definitions give values and take them."""
        return Sites.of(self.query(sites_query(self.name)))
