"""What the tests of flow share: the flow of a text, the lines of its points, and a stand-in for variables."""

from __future__ import annotations

import ast
import sysconfig
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from headwater.cpg.extract.flow import (
    ACTIONS,
    EDGE_KINDS,
    POINT_KINDS,
    FlowEvidence,
    find_flow,
    find_reaching,
)
from headwater.cpg.extract.identity import file_digest, module_owner
from headwater.cpg.extract.parsing import parse_source
from headwater.cpg.extract.scanning import Scan
from headwater.cpg.extract.source import SourceText, read_source
from headwater.cpg.extract.walk import Walk, walk_module

_STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass
class Reading:
    """A text with its nodes by row and its flow."""

    nodes: list[Any]
    parents: list[int]
    flow: FlowEvidence

    def name_of(self, site: int) -> str:
        """The name that a site speaks of."""
        node = self.nodes[site]
        found = next(
            getattr(node, name) for name in ("id", "arg", "asname", "name", "rest") if has(node, name)
        )
        return found.partition(".")[0]

    def label(self, point: int) -> str:
        """A point in words: its kind, and its node as it is written, or the first line of that."""
        row, kind = self.flow.points.node[point], POINT_KINDS[self.flow.points.kind[point]]
        return kind if row is None else f"{kind} {self.text(row)}"

    def text(self, row: int) -> str:
        return ast.unparse(self.nodes[row]).strip().partition("\n")[0]

    def def_points(self, name: str) -> range:
        """The points of the def of that name; the module's is empty."""
        defs = self.flow.defs
        names = [getattr(self.nodes[row], "name", "") for row in defs.row]
        index = names.index(name)
        return range(defs.points[index], defs.points[index + 1])

    def edges(self, name: str = "f") -> list[tuple[str, str, str]]:
        """The edges of a def in words."""
        points, edges = self.def_points(name), self.flow.edges
        return [
            (self.label(source), EDGE_KINDS[kind], self.label(target))
            for source, target, kind in zip(edges.src, edges.dst, edges.kind, strict=True)
            if source in points
        ]

    def leaving(self, label: str, name: str = "f") -> set[tuple[str, str]]:
        """The kinds and ends of the edges that leave the points of a label."""
        return {(kind, target) for source, kind, target in self.edges(name) if source == label}

    def events(self, name: str = "f") -> list[tuple[str, str, str]]:
        """The points, actions and names of a def's events."""
        points, events = self.def_points(name), self.flow.events
        return [
            (self.label(point), ACTIONS[action], self.name_of(site))
            for point, site, action in zip(events.point, events.site, events.action, strict=True)
            if point in points
        ]

    def dead(self, name: str = "f") -> list[str]:
        points = self.flow.points
        return [self.label(point) for point in self.def_points(name) if points.is_dead[point]]

    @cached_property
    def variables(self) -> dict[int, int]:
        """A stand-in for scopes: one variable for each name in each def."""
        events, points = self.flow.events, self.flow.points
        keys = [
            (points.def_row[point], self.name_of(site))
            for point, site in zip(events.point, events.site, strict=True)
        ]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return {site: numbers[key] for site, key in zip(events.site, keys, strict=True)}

    def reaching(self) -> list[tuple[int, int]]:
        """Sites of definitions and of the uses they reach."""
        return list(zip(*find_reaching(self.flow, self.variables), strict=True))

    def reaching_lines(self) -> list[tuple[int, int]]:
        """The same as lines, sorted."""
        return sorted((self.nodes[made].lineno, self.nodes[used].lineno) for made, used in self.reaching())

    def lines_of(self, row: int) -> range:
        """The lines of a node that are not those of the statements in it."""
        node = self.nodes[row]
        start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        bodies: list[Any] = [each for name in _BODIES for each in as_list(getattr(node, name, None))]
        inside = [
            min([each.lineno, *(one.lineno for one in getattr(each, "decorator_list", []))])
            for each in bodies
            if hasattr(each, "lineno")
        ]
        is_def = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        end = min([node.end_lineno + 1, *(line + is_def for line in inside)])  # a body may begin in the head
        return range(start, max(end, node.lineno + 1))


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def has(node: ast.AST, name: str) -> bool:
    return getattr(node, name, None) is not None


def read(content: str | bytes) -> Reading:
    """Read a text that parses."""
    walk = walked(content)
    nodes: list[Any] = [row[0] for row in walk.rows]
    return Reading(nodes, [row[1] for row in walk.rows], find_flow(nodes[1]))


def walked(content: str | bytes) -> Walk:
    """A walk after which the nodes of a text know their rows; row 1 is the module."""
    source = read_source(content.encode() if isinstance(content, str) else content)
    assert isinstance(source, SourceText)
    module = parse_source(source)
    assert isinstance(module, ast.Module)
    digest = file_digest("repo", "a.py")
    walk = Walk(digest, Scan(source.data, source.starts))
    file = ast.Module([], [])
    for node in (file, module):
        walk.scan.place(node, 0, len(source.data))
    walk.rows.append((file, 0, module_owner(0, digest), "", None, ""))
    walk_module(module, walk)
    return walk


def standard_library(every: int) -> list[Path]:
    """Each n-th file of the standard library that parses."""
    files = [path for path in sorted(_STANDARD_LIBRARY.rglob("*.py")) if "site-packages" not in path.parts]
    return [path for path in files[::every] if parses(path)]


def parses(path: Path) -> bool:
    source = read_source(path.read_bytes())
    return isinstance(source, SourceText) and isinstance(parse_source(source), ast.Module)
