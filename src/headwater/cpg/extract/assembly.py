"""All facts of one file in one numbering of nodes: the tree's, then those that are in no tree.

    BINDING      a name of a scope that stands for no name of another scope
    CFG_ENTRY    where a module, class, function or lambda begins
    CFG_EXIT     where it ends; a second one, with the property `exit`, where an exception leaves it
    COMMENT      a comment, with its kind as a property
    DIAGNOSTIC   what is wrong with the file

Edges go from number to number. Beside those that syntax alone says (relations.py):

    BINDS                      a def and each name of its scope
    REFERS_TO                  a name where it is written, and what it stands for; labelled use, def or del
    READS, WRITES, DELETES     a def and the names that it reads, binds or deletes, its own and others'
    CAPTURES                   a def and the names of defs around it that it holds on to
    CFG_NEXT, CFG_TRUE, CFG_FALSE, CFG_EXC     what may follow what; the label says why, where that is special
    DOMINATES, POST_DOMINATES  a node and those that it comes nearest before, or after, on every way
    CONTROL_DEP                what decides, what it decides about; the label is the kind of way
    REACHING_DEF               where a name gets a value, and where that is read
    DOCUMENTS                  a docstring and its def; a comment, so labelled, and what it speaks of
    HAS_DIAGNOSTIC             the file and what is wrong with it

Not here: finding any of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, cast

from headwater.cpg.extract.comments import find_comments, find_docstrings
from headwater.cpg.extract.evidence import Diagnostic
from headwater.cpg.extract.flow import (
    EDGE_KINDS,
    POINT_KINDS,
    ControlColumns,
    DefColumns,
    EventColumns,
    FlowEdgeColumns,
    FlowEvidence,
    HandlerColumns,
    PointColumns,
    TooManyPairs,
    find_flow,
    find_reaching,
)
from headwater.cpg.extract.identity import node_ids, text_part
from headwater.cpg.extract.relations import RelationEvidence, find_relations
from headwater.cpg.extract.scopes import (
    BindingColumns,
    ScopeColumns,
    ScopeEvidence,
    SiteColumns,
    find_scopes,
)
from headwater.digest import stable_id

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Sequence

    from headwater.cpg.extract.evidence import NodeColumns
    from headwater.cpg.extract.identity import Digest
    from headwater.cpg.extract.relations import RelationColumns
    from headwater.cpg.extract.source import SourceText
    from headwater.cpg.extract.walk import Walk

_BINDING, _ENTRY, _EXIT, _DIAGNOSTIC = "BINDING", "CFG_ENTRY", "CFG_EXIT", "DIAGNOSTIC"
TOO_MANY_PAIRS = Diagnostic(
    stage="flow",
    source="headwater",
    code="too-many-flows",
    severity="warning",
    message="so many definitions reach so many uses that the file has no data flow in the graph",
)
_COMMENT_PART = [text_part("COMMENT")]
_BY_EXCEPTION = {"exit": "exception"}
# What an edge of each kind is in the graph, and its label.
_FLOW_EDGES: dict[str, tuple[str, str | None]] = {
    "next": ("CFG_NEXT", None),
    "true": ("CFG_TRUE", None),
    "false": ("CFG_FALSE", None),
    "exception": ("CFG_EXC", None),
    **{kind: ("CFG_NEXT", kind) for kind in ("finally", "case", "break", "continue", "back")},
}
_USES = {"use": "READS", "def": "WRITES", "del": "DELETES"}


@dataclass(frozen=True, slots=True)
class AddedColumns:
    """Nodes that are in no tree: those with a `span` have a place of their own, others that of a node."""

    node_id: list[str] = field(default_factory=list[str])
    node_kind: list[str] = field(default_factory=list[str])
    owner: list[int | None] = field(default_factory=list["int | None"])
    name: list[str | None] = field(default_factory=list["str | None"])
    span: list[tuple[int, int] | None] = field(default_factory=list["tuple[int, int] | None"])
    of: list[int | None] = field(default_factory=list["int | None"])
    props: list[dict[str, str] | None] = field(default_factory=list["dict[str, str] | None"])

    def add(
        self,
        node_id: str,
        node_kind: str,
        owner: int | None,
        name: str | None,
        *,
        of: int | None = None,
        span: tuple[int, int] | None = None,
        props: dict[str, str] | None = None,
    ) -> None:
        """One more."""
        self.node_id.append(node_id)
        self.node_kind.append(node_kind)
        self.owner.append(owner)
        self.name.append(name)
        self.of.append(of)
        self.span.append(span)
        self.props.append(props)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All facts of a file but its tree, with nodes told by their number.

    `scope_ids` and `binding_ids` belong to the scopes and bindings; `places` are the nodes of
    points; `defined` and `used` are the sites of definitions, and the sites of uses that they reach.
    """

    added: AddedColumns
    relations: RelationEvidence
    scopes: ScopeEvidence
    scope_ids: list[str]
    binding_ids: list[str]
    flow: FlowEvidence
    places: list[int]
    defined: list[int]
    used: list[int]
    said: tuple[Diagnostic, ...] = ()


def find_facts(
    module: ast.Module, walk: Walk, source: SourceText, tree: NodeColumns, diagnostics: Sequence[str]
) -> Facts:
    """All facts of a walked module with these nodes; `diagnostics` are the codes of its own.

    Where there are too many ways for data to flow, there are none, and `said` says so.
    """
    ids = tree.node_id
    relations = find_relations(walk.rows)
    scopes = find_scopes(module)
    flow = find_flow(module)
    meant = meanings_of(scopes)
    said: tuple[Diagnostic, ...] = ()
    try:
        defined, used = find_reaching(flow, _variables(scopes, meant))
    except TooManyPairs:
        defined, used, said = [], [], (TOO_MANY_PAIRS,)
    added = AddedColumns()
    binding_ids = _binding_ids(walk, scopes)
    nodes = _add_bindings(added, len(ids), scopes, binding_ids)
    places = _add_ends(added, len(ids), walk, flow)
    edges = relations.relations
    _bind(edges, scopes, nodes)
    _refer(edges, cast("list[int]", tree.owner), scopes, [nodes[each] for each in meant])
    _follow(edges, flow, places)
    _extend(edges, "REACHING_DEF", zip(defined, used, strict=True))
    _comment(added, edges, len(ids), walk, source)
    _diagnose(added, edges, len(ids), walk, [*diagnostics, *(each.code for each in said)])
    return Facts(
        added=added,
        relations=relations,
        scopes=scopes,
        scope_ids=[
            stable_id("scope", ids[node], kind)
            for node, kind in zip(scopes.scopes.node, scopes.scopes.kind, strict=True)
        ],
        binding_ids=binding_ids,
        flow=flow,
        places=places,
        defined=defined,
        used=used,
        said=said,
    )


def no_facts(walk: Walk, diagnostics: Sequence[str]) -> Facts:
    """The facts of a file in which nothing could be parsed: what is wrong with it."""
    nothing = Facts(
        added=AddedColumns(),
        relations=RelationEvidence(),
        scopes=ScopeEvidence(**_empty(scopes=ScopeColumns, bindings=BindingColumns, sites=SiteColumns)),
        scope_ids=[],
        binding_ids=[],
        flow=FlowEvidence(
            **_empty(
                defs=DefColumns,
                points=PointColumns,
                edges=FlowEdgeColumns,
                control=ControlColumns,
                events=EventColumns,
                handlers=HandlerColumns,
            )
        ),
        places=[],
        defined=[],
        used=[],
    )
    _diagnose(nothing.added, nothing.relations.relations, 1, walk, diagnostics)
    return nothing


def _empty(**kinds: type[Any]) -> dict[str, Any]:
    """Columns without entries."""
    return {name: kind(**{each.name: [] for each in fields(kind)}) for name, kind in kinds.items()}


def _diagnose(
    added: AddedColumns, edges: RelationColumns, before: int, walk: Walk, codes: Sequence[str]
) -> None:
    """A node for each diagnostic, in order, and its edge from the file."""
    count, first = len(codes), before + len(added.node_id)
    _extend(edges, "HAS_DIAGNOSTIC", ((0, first + index) for index in range(count)))
    local = [f"{code}#{index}" for index, code in enumerate(codes)]
    digests = [walk.rows[0][2].digest] * count
    ids = node_ids([text_part(_DIAGNOSTIC)] * count, digests, local)
    for node_id, code in zip(ids, codes, strict=True):
        added.add(node_id, _DIAGNOSTIC, None, code)


def _comment(
    added: AddedColumns, edges: RelationColumns, before: int, walk: Walk, source: SourceText
) -> None:
    """A node for each comment, by its text, and edges from comments and docstrings to what they speak of."""
    _extend(edges, "DOCUMENTS", zip(*find_docstrings(walk), strict=True))
    found = find_comments(walk, source)
    seen: dict[tuple[int, str], int] = {}
    kinds = {kind: {"kind": kind} for kind in set(found.kind)}
    for start, end, kind, node, owner in zip(
        found.bstart, found.bend, found.kind, found.node, found.owner, strict=True
    ):
        text = source.data[start - source.shift : end - source.shift].decode(errors="replace")
        number = seen[owner, text] = seen.get((owner, text), -1) + 1
        digest, steps = _owner_of(walk, owner)
        (node_id,) = node_ids(_COMMENT_PART, [digest], [f"{steps}:{text}#{number}"])
        edges.add("DOCUMENTS", before + len(added.node_id), node, "comment")
        added.add(node_id, "COMMENT", owner, None, span=(start, end), props=kinds[kind])


def meanings_of(scopes: ScopeEvidence) -> list[int]:
    """For each binding the one that it stands for."""
    resolves = scopes.bindings.resolves_to
    return [binding if there is None else there for binding, there in enumerate(resolves)]


def _variables(scopes: ScopeEvidence, meant: Sequence[int]) -> dict[int, int]:
    """The variable of each site by its node; of several at one node, the first that is no declaration."""
    sites = scopes.sites
    found: dict[int, int] = {}
    for binding, node, role in zip(sites.binding, sites.node, sites.role, strict=True):
        if role in _USES:
            found.setdefault(node, meant[binding])
    return found


def _owner_of(walk: Walk, row: int) -> tuple[Digest, str]:
    """What ids of things in a def or scope are made of: the digest of a def, and the steps from there."""
    own = walk.owners.get(row)
    return (own.digest, "") if own is not None else (walk.rows[row][2].digest, walk.rows[row][5])


def _binding_ids(walk: Walk, scopes: ScopeEvidence) -> list[str]:
    """Ids of bindings: by the def's path and the name, so that they stay whatever is edited around."""
    places = [_owner_of(walk, row) for row in scopes.scopes.node]
    kinds = ["" if kind in {"module", "class", "function"} else f"{kind}:" for kind in scopes.scopes.kind]
    bindings = scopes.bindings
    digests: list[Digest] = []
    local: list[str] = []
    for scope, name, kind in zip(bindings.scope, bindings.name, bindings.kind, strict=True):
        digest, steps = places[scope]
        digests.append(digest)
        local.append(f"{steps}:{kinds[scope]}{'.' if kind == 'instance_attr' else ''}{name}")
    return node_ids([text_part(_BINDING)] * len(local), digests, local)


def _add_bindings(
    added: AddedColumns, first: int, scopes: ScopeEvidence, ids: Sequence[str]
) -> list[int | None]:
    """A node for each name that stands for itself; for each binding its number, or None."""
    bindings, sites = scopes.bindings, scopes.sites
    where: dict[int, int] = {}
    for binding, node, role in zip(sites.binding, sites.node, sites.role, strict=True):
        if role == "def":
            where.setdefault(binding, node)
    nodes: list[int | None] = []
    kinds = {kind: {"kind": kind} for kind in set(bindings.kind)}
    for binding, (scope, name, kind, there) in enumerate(
        zip(bindings.scope, bindings.name, bindings.kind, bindings.resolves_to, strict=True)
    ):
        if there is not None:
            nodes.append(None)
            continue
        nodes.append(first + len(added.node_id))
        owner, of = scopes.scopes.node[scope], where.get(binding)
        added.add(ids[binding], _BINDING, owner, name, of=of, props=kinds[kind])
    return nodes


def _add_ends(added: AddedColumns, first: int, walk: Walk, flow: FlowEvidence) -> list[int]:
    """Nodes for the beginnings and ends of defs; for each point the number of its node."""
    places: list[int] = []
    parts = {kind: [text_part(kind)] for kind in (_ENTRY, _EXIT)}
    for row, node, number in zip(flow.points.def_row, flow.points.node, flow.points.kind, strict=True):
        if node is not None:
            places.append(node)
            continue
        kind = POINT_KINDS[number]
        digest, steps = _owner_of(walk, row)
        node_kind = _ENTRY if kind == "entry" else _EXIT
        places.append(first + len(added.node_id))
        (node_id,) = node_ids(parts[node_kind], [digest], [f"{steps}:{kind}"])
        props = _BY_EXCEPTION if kind == "exc_exit" else None
        added.add(node_id, node_kind, row, None, of=row, props=props)
    return places


def _bind(edges: RelationColumns, scopes: ScopeEvidence, nodes: Sequence[int | None]) -> None:
    opened = scopes.scopes.node
    of_scope = scopes.bindings.scope
    pairs = ((opened[of_scope[each]], node) for each, node in enumerate(nodes) if node is not None)
    _extend(edges, "BINDS", pairs)


def _refer(
    edges: RelationColumns, owners: Sequence[int], scopes: ScopeEvidence, meant: Sequence[int | None]
) -> None:
    """What sites stand for; and, of each def, the names that it reads, binds, deletes or holds on to."""
    sites = scopes.sites
    of_defs: dict[tuple[str, int, int], None] = {}
    for binding, node, role in zip(sites.binding, sites.node, sites.role, strict=True):
        target = meant[binding]
        if target is not None and role in _USES:
            edges.add("REFERS_TO", node, target, role)
            of_defs[_USES[role], owners[node], target] = None
    for kind, owner, target in of_defs:
        edges.add(kind, owner, target)
    bindings, opened = scopes.bindings, scopes.scopes.node
    held = {
        (opened[scope], target)
        for scope, kind, target in zip(bindings.scope, bindings.kind, meant, strict=True)
        if kind in {"free", "nonlocal"} and target is not None
    }
    _extend(edges, "CAPTURES", sorted(held))


def _follow(edges: RelationColumns, flow: FlowEvidence, places: Sequence[int]) -> None:
    """Flow between nodes; two ways of one kind between the same nodes are one."""
    kinds = [_FLOW_EDGES[kind] for kind in EDGE_KINDS]
    ways = {
        (kind, places[src], places[dst]): None
        for src, dst, kind in zip(flow.edges.src, flow.edges.dst, flow.edges.kind, strict=True)
    }
    for number, src, dst in ways:
        kind, label = kinds[number]
        edges.add(kind, src, dst, label)
    for kind, column in (("DOMINATES", flow.points.idom), ("POST_DOMINATES", flow.points.ipdom)):
        pairs = {
            (places[above], places[point]): None
            for point, above in enumerate(column)
            if above is not None and places[above] != places[point]
        }
        _extend(edges, kind, pairs)
    control = flow.control
    decided = {
        (places[on], places[point], EDGE_KINDS[branch]): None
        for point, on, branch in zip(control.point, control.on, control.branch, strict=True)
    }
    for on, point, label in decided:
        edges.add("CONTROL_DEP", on, point, label)


def _extend(edges: RelationColumns, kind: str, pairs: Iterable[tuple[int, int]]) -> None:
    before = len(edges.kind)
    for src, dst in pairs:
        edges.src.append(src)
        edges.dst.append(dst)
    more = len(edges.src) - before
    edges.kind.extend([kind] * more)
    edges.label.extend([None] * more)
    edges.ordinal.extend([None] * more)
