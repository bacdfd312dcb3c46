"""What must be made before what: the order of views, and the graph of planned views, scans and columns.

    order_of               names in the order in which they can be made, from what each reads
    task_graph, TaskGraph  planned views: order, generations, critical path, what lies upstream and downstream
    lineage_dot            columns and what they depend on, for Graphviz

Not here: where names and lineage come from; and running.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import rustworkx

from headwater.errors import Cycle, NotPlanned, OrderMismatch, UnknownTable
from headwater.names import near_hint, same_name
from headwater.origin import Origin
from headwater.plan.bundle import scan_unit_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from headwater.plan.bundle import PlanBundle, PlannedInput
    from headwater.plan.lineage import Edge

_SHAPES = {"scan": "cylinder", "stored": "box", "view": "ellipse"}


def order_of(reads: Mapping[str, tuple[str, ...]], origins: Mapping[str, Origin]) -> tuple[str, ...]:
    """All names, each after those it reads.

    Args:
        reads: what each name reads; names are compared without regard to case.
        origins: where each name is defined, for errors.

    Raises:
        UnknownTable: something is read that is not among the names.
        Cycle: names read each other in a circle, which the error spells out.
    """
    known = {same_name(name) for name in reads}
    for name in sorted(reads):
        for read in reads[name]:
            if same_name(read) not in known:
                raise _unknown(name, read, tuple(reads), origins)
    return _ordered(_digraph(reads), origins)


def _digraph(reads: Mapping[str, tuple[str, ...]]) -> rustworkx.PyDiGraph[str, None]:
    """Names with an edge from what is read to each reader."""
    graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph(multigraph=False)
    nodes = {same_name(name): graph.add_node(name) for name in sorted(reads)}
    for name in sorted(reads):
        for read in reads[name]:
            graph.add_edge(nodes[same_name(read)], nodes[same_name(name)], None)
    return graph


def _ordered(graph: rustworkx.PyDiGraph[str, None], origins: Mapping[str, Origin]) -> tuple[str, ...]:
    circle = rustworkx.digraph_find_cycle(graph)
    if circle:
        # Edges run from what is read to the reader; the error's arrows run the other way.
        path = [graph[reader] for _, reader in reversed(list(circle))]
        first = path.index(min(path))
        path = [*path[first:], *path[:first]]
        places = [f"{name} ({origins[name]})" if name in origins else name for name in path]
        raise Cycle(path=" -> ".join([*places, path[0]]), origin=origins.get(path[0]))
    return tuple(rustworkx.lexicographical_topological_sort(graph, key=lambda name: name))


def _unknown(view: str, name: str, known: tuple[str, ...], origins: Mapping[str, Origin]) -> UnknownTable:
    return UnknownTable(view=view, name=name, hint=near_hint(name, known), origin=origins.get(view))


# --- the graph of planned views ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Task:
    """A node: a dataset that is scanned at a version, or a view with what it puts out.

    `key` is `scan::<dataset>::<version>` or `view::<name>::<fingerprint>`; a scan's columns are not known.
    """

    key: str
    name: str
    kind: Literal["scan", "view"]
    stored: bool = False
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGraph:
    """Planned views, what they scan, and which columns depend on which.

    Attributes:
        tasks: The nodes, sorted by key.
        arrows: Keys, each with the key of a task that reads it, sorted.
        edges: The column lineage of all views, sorted.
        order: The views, each after those it reads; ties by name.
        generations: The views by how many lie one upon another below them: none of one generation reads
            another of it, so they can run at the same time once the generation before has run.
    """

    tasks: tuple[Task, ...]
    arrows: tuple[tuple[str, str], ...]
    edges: tuple[Edge, ...]
    order: tuple[str, ...]
    generations: tuple[tuple[str, ...], ...]

    def upstream(self, name: str) -> tuple[str, ...]:
        """Every view and scanned dataset that a view depends on, sorted.

        Raises:
            NotPlanned: there is no such view and no such dataset.
        """
        return self._reached(name, rustworkx.ancestors)

    def downstream(self, name: str) -> tuple[str, ...]:
        """Every view that depends on a view or scanned dataset, sorted.

        Raises:
            NotPlanned: there is no such view and no such dataset.
        """
        return self._reached(name, rustworkx.descendants)

    def critical_path(self, weights: Mapping[str, float] | None = None) -> tuple[str, ...]:
        """The chain of views, from the first to the last, that weighs most: no run can be shorter.

        Args:
            weights: what each view takes; one that is not named takes nothing. Without them a stored view
                takes 1 and another 0, as it is a part of those that read it. Of chains that weigh the same,
                the longest, and then the first by name.
        """
        views = {task.key: task for task in self.tasks if task.kind == "view"}
        given = None if weights is None else {same_name(name): each for name, each in weights.items()}
        reads: dict[str, list[str]] = defaultdict(list)
        for source, reader in self.arrows:
            if source in views:
                reads[views[reader].name].append(views[source].name)
        stored = {task.name: float(task.stored) for task in views.values()}
        best: dict[str, tuple[float, int]] = {}
        before: dict[str, str] = {}
        for name in self.order:
            weight = stored[name] if given is None else given.get(same_name(name), 0.0)
            known = sorted(reads[name], key=lambda each: (-best[each][0], -best[each][1], each))
            total, length = best[known[0]] if known else (0.0, 0)
            before.update({name: known[0]} if known else {})
            best[name] = total + weight, length + 1
        if not best:
            return ()
        path = [min(best, key=lambda each: (-best[each][0], -best[each][1], each))]
        while path[-1] in before:
            path.append(before[path[-1]])
        return tuple(reversed(path))

    def column_upstream(self, name: str, column: str) -> tuple[Edge, ...]:
        """Every dependence, through all views, that a view's column comes from; sorted.

        A field inside a column of a view is followed as the whole column.

        Raises:
            NotPlanned: there is no such view or dataset, or the view has no such column.
        """
        into: dict[tuple[str, str], list[Edge]] = defaultdict(list)
        for edge in self.edges:
            into[_column_key(edge.to_dataset, edge.to_column)].append(edge)
        start = self._column(name, column)
        return _followed(into, start, lambda edge: (edge.from_dataset, top_column(edge.from_column)))

    def column_downstream(self, name: str, column: str) -> tuple[Edge, ...]:
        """Every dependence, through all views, on a column of a view or dataset, or a field of it; sorted.

        Raises:
            NotPlanned: there is no such view or dataset, or the view has no such column.
        """
        out_of: dict[tuple[str, str], list[Edge]] = defaultdict(list)
        for edge in self.edges:
            out_of[_column_key(edge.from_dataset, top_column(edge.from_column))].append(edge)
        return _followed(out_of, self._column(name, column), lambda edge: (edge.to_dataset, edge.to_column))

    def columns_of(self, name: str) -> tuple[str, ...]:
        """The columns of a view; of a scanned dataset, those that some view uses.

        Raises:
            NotPlanned: there is no such view and no such dataset.
        """
        own = {column for task in self._named(name) for column in task.columns}
        used = {
            top_column(edge.from_column)
            for edge in self.edges
            if same_name(edge.from_dataset) == same_name(name)
        }
        return tuple(sorted(own or used))

    def dot(self) -> str:
        """The graph for Graphviz: scans, stored views and others by their shape."""
        nodes = [
            f"  {_quoted(task.key)} [label={_quoted(task.name)}, shape={_SHAPES[_sort_of(task)]}];"
            for task in self.tasks
        ]
        arrows = [f"  {_quoted(source)} -> {_quoted(reader)};" for source, reader in self.arrows]
        return "\n".join(["digraph tasks {", "  rankdir=LR;", *nodes, *arrows, "}"]) + "\n"

    def _reached(
        self, name: str, reach: Callable[[rustworkx.PyDiGraph[str, None], int], set[int]]
    ) -> tuple[str, ...]:
        wanted = {task.key for task in self._named(name)}
        graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph()
        places = dict(zip((task.key for task in self.tasks), range(len(self.tasks)), strict=True))
        graph.add_nodes_from([task.name for task in self.tasks])
        graph.add_edges_from_no_data([(places[source], places[reader]) for source, reader in self.arrows])
        return tuple(sorted({graph[each] for key in wanted for each in reach(graph, places[key])}))

    def _named(self, name: str) -> tuple[Task, ...]:
        found = tuple(task for task in self.tasks if same_name(task.name) == same_name(name))
        if not found:
            known = tuple(sorted({task.name for task in self.tasks}))
            raise NotPlanned(what="view or dataset", name=name, known=known, hint=near_hint(name, known))
        return found

    def _column(self, name: str, column: str) -> tuple[str, str]:
        key = _column_key(name, column)
        for task in self._named(name):
            known = {_column_key(task.name, each) for each in task.columns}
            if task.kind == "view" and key not in known:
                hint = near_hint(column, task.columns)
                raise NotPlanned(what=f"column of '{task.name}'", name=column, known=task.columns, hint=hint)
        return key


def task_graph(bundles: Iterable[PlanBundle]) -> TaskGraph:
    """The graph of planned views.

    An arrow stands for something that a view reads: an input of its plan, which lineage confirms, or a scan
    that was looked into. An input that one of the views makes is that view; every other is a scan.

    Raises:
        OrderMismatch: a view's lineage names something that its plan was not seen to read.
        Cycle: the views read each other in a circle.
    """
    views = {same_name(bundle.view): bundle for bundle in sorted(bundles, key=lambda each: each.view)}
    reads: dict[str, tuple[str, ...]] = {}
    tasks: dict[str, Task] = {}
    arrows: set[tuple[str, str]] = set()
    for bundle in views.values():
        _check_lineage(bundle)
        columns = tuple(column.name for column in bundle.columns)
        tasks[bundle.key] = Task(
            key=bundle.key, name=bundle.view, kind="view", stored=bundle.stored, columns=columns
        )
        sources = {_scan_key(each): each.name for each in bundle.inputs if same_name(each.name) not in views}
        sources |= {each.key: each.dataset for each in bundle.scans if same_name(each.dataset) not in views}
        tasks |= {key: Task(key=key, name=name, kind="scan") for key, name in sources.items()}
        made = [views[same_name(each.name)] for each in bundle.inputs if same_name(each.name) in views]
        reads[bundle.view] = tuple(each.view for each in made)
        arrows |= {(key, bundle.key) for key in (*sources, *(each.key for each in made))}
    graph = _digraph(reads)
    order = _ordered(graph, {each.view: Origin(each.file, each.line) for each in views.values()})
    return TaskGraph(
        tasks=tuple(sorted(tasks.values())),
        arrows=tuple(sorted(arrows)),
        edges=tuple(sorted(edge for bundle in views.values() for edge in bundle.lineage.edges)),
        order=order,
        generations=tuple(
            tuple(sorted(graph[each] for each in generation))
            for generation in rustworkx.topological_generations(graph)
        ),
    )


def _check_lineage(bundle: PlanBundle) -> None:
    """Lineage may know of less: a common table that nobody uses is read by name alone. Never of more.

    A fixpoint's columns depend on each other, too; that is no arrow.
    """
    itself = (bundle.view,) if bundle.fixpoint is not None else ()
    promised = (*(each.name for each in bundle.inputs), *itself)
    found = bundle.lineage.datasets
    if not {same_name(name) for name in found} <= {same_name(name) for name in promised}:
        origin = Origin(bundle.file, bundle.line)
        raise OrderMismatch(view=bundle.view, promised=promised, found=found, origin=origin)


def _scan_key(each: PlannedInput) -> str:
    return f"scan::{each.name}::new" if each.version is None else scan_unit_key(each.name, each.version)


# --- columns -------------------------------------------------------------------------------------------


def top_column(path: str) -> str:
    """The column that a path such as `column.field` begins with; a name with dots stands in backquotes.

    >>> top_column("who.name"), top_column("`a.b`.c")
    ('who', 'a.b')
    """
    if path.startswith("`"):
        return path[1:].partition("`")[0]
    return path.partition(".")[0]


def _column_key(dataset: str, column: str) -> tuple[str, str]:
    return same_name(dataset), same_name(column)


def _followed(
    edges: Mapping[tuple[str, str], list[Edge]],
    start: tuple[str, str],
    far_end: Callable[[Edge], tuple[str, str]],
) -> tuple[Edge, ...]:
    found: set[Edge] = set()
    seen, waiting = {start}, [start]
    while waiting:
        for edge in edges.get(waiting.pop(), ()):
            found.add(edge)
            key = _column_key(*far_end(edge))
            if key not in seen:
                seen.add(key)
                waiting.append(key)
    return tuple(sorted(found))


def lineage_dot(edges: Iterable[Edge]) -> str:
    """Columns by dataset for Graphviz, with an arrow to each column from those that it depends on.

    A field is drawn by itself, behind the view's column that it is a part of.
    """
    listed = sorted(set(edges))
    made = {(edge.to_dataset, edge.to_column) for edge in listed}
    used = {(edge.from_dataset, edge.from_column) for edge in listed}
    lines = ["digraph lineage {", "  rankdir=LR;"]
    for dataset in sorted({name for name, _ in made | used}):
        lines.append(f"  subgraph {_quoted(f'cluster_{dataset}')} {{")
        lines.append(f"    label={_quoted(dataset)};")
        columns = sorted(column for name, column in made | used if name == dataset)
        lines += [f"    {_quoted(f'{dataset}.{each}')} [label={_quoted(each)}];" for each in columns]
        lines.append("  }")
    for dataset, path in sorted(used - made):
        if (dataset, top_column(path)) in made:
            whole = _quoted(f"{dataset}.{top_column(path)}")
            lines.append(f"  {whole} -> {_quoted(f'{dataset}.{path}')} [style=dashed, arrowhead=none];")
    for edge in listed:
        ends = (f"{edge.from_dataset}.{edge.from_column}", f"{edge.to_dataset}.{edge.to_column}")
        label = "" if edge.kind == "value" else f" [label={_quoted(edge.kind)}]"
        lines.append(f"  {_quoted(ends[0])} -> {_quoted(ends[1])}{label};")
    return "\n".join([*lines, "}"]) + "\n"


def _sort_of(task: Task) -> str:
    return "stored" if task.stored else task.kind


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
