"""What changed since a revision, definition by definition, and what could break because of it.

Two sources are compared by their trees, so that neither comments nor layout are changes. Not here: which
edges an impact follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from headwater.cpg.questions.calling import impact_of
from headwater.cpg.questions.history import known_history
from headwater.cpg.questions.naming import named
from headwater.cpg.questions.pieces import Piece, pieces_of, written
from headwater.cpg.questions.sources import has_id, is_python, module_names, parse, read_now, shown
from headwater.inquiry import Answer, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from headwater.cpg.questions.code import Code
    from headwater.cpg.questions.graph import Graph
    from headwater.cpg.questions.history import History

_CHANGED, _REMOVED, _IMPACT = "changed", "removed", "impact"
_ADDED = "added"
# How what speaks of a definition reads.
_VERBS = {
    "CALLS": "calls",
    "REFERENCES_SYMBOL": "uses",
    "IMPORTS": "imports",
    "INHERITS": "inherits from",
    "OVERRIDES": "overrides",
}
_Nodes: TypeAlias = "Mapping[tuple[str, str], list[int]]"
_NO_PIECES: Mapping[str, Piece] = {}


@dataclass(slots=True)
class _Changes:
    """Files that differ, and what differs in them: path, name in the module, the piece, and how."""

    found: list[tuple[str, str, Piece, str]] = field(default_factory=list["tuple[str, str, Piece, str]"])
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    same: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])

    def name_of(self, path: str, own: str) -> str:
        """The dotted name of a piece."""
        module = self.names.get(path, path)
        return f"{module}.{own}" if own else module

    def inside(self, how: str) -> dict[tuple[str, str], int]:
        """What came or went, each with how many others that stand right in it."""
        outer = {(path, own): 0 for path, own, _, each in self.found if each == how}
        for path, own in outer:
            if own and (place := (path, own.rpartition(".")[0])) in outer:
                outer[place] += 1
        return outer

    def kept(self, wanted: Iterable[str]) -> None:
        """Leave out what is neither named nor in what is named."""
        ends = tuple(wanted)
        self.found = [
            each
            for each in self.found
            if any(f".{self.name_of(each[0], each[1])}.".find(f".{end}.") >= 0 for end in ends)
        ]


def impact_since(
    graph: Graph, revision: str, names: tuple[str, ...] = (), *, depth: int | None = None
) -> Answer:
    """What changed between a revision and the working tree, and what could break because of it.

    Args:
        graph: what was built.
        revision: what git is to compare with.
        names: leave out what is neither of these nor in one of these; nothing is left out without any.
        depth: the most steps from a change; as many as it takes if None.

    Raises:
        RevisionUnknown: git does not know the revision, or nothing of the folder.
        NameUnknown: a name is neither that of a change nor in the graph.
    """
    history, commit = known_history(graph.root, revision)
    changes = _changes(history, commit)
    if names:
        changes.kept(names)
    code = graph.code
    for each in names if not changes.found else ():
        named(code, each)
    by_name = _named(code, changes)
    nodes = {
        (path, own): [each for each in by_name[changes.name_of(path, own)] if code.paths[each] == path]
        for path, own, _, _ in changes.found
    }
    starts = list(
        dict.fromkeys(
            node for path, own, _, how in changes.found if how == _CHANGED for node in nodes[path, own]
        )
    )
    subject = f"changes since {revision}"
    whole = [each for each in starts if code.kinds[each] != "module"]
    broken = impact_of(code, starts, subject, depth=depth, whole=whole)
    findings = [
        *_lines(code, changes, nodes),
        *_removals(code, changes, by_name, set(starts)),
        *(replace(each, section=_IMPACT) for each in broken.findings),
    ]
    notes = (*_notes(code, changes, nodes), *broken.notes)
    return replace(broken, findings=tuple(findings), notes=notes)


def _changes(history: History, commit: str) -> _Changes:
    then = {path: each for path, each in history.files(commit).items() if is_python(path)}
    paths = sorted({*then, *(each for each in history.listed() if is_python(each))})
    now = read_now(history.root, paths)
    changes = _Changes(names=module_names(paths))
    differing = [
        each for each in paths if not (each in now and each in then and has_id(now[each], then[each]))
    ]
    contents = history.contents(then[each] for each in differing if each in then)
    for path in differing:
        _compare(changes, path, contents.get(then.get(path, "")), now.get(path))
    return changes


def _compare(changes: _Changes, path: str, old: bytes | None, new: bytes | None) -> None:
    """Tell what differs in one file."""
    trees = [None if each is None else parse(each) for each in (old, new)]
    if any(tree is None and content is not None for tree, content in zip(trees, (old, new), strict=True)):
        changes.unread.append(path)
        how = _ADDED if old is None else _REMOVED if new is None else _CHANGED
        changes.found.append((path, "", Piece("module", 1, 1), how))
        return
    before, after = (_NO_PIECES if tree is None else pieces_of(tree) for tree in trees)
    found = [(path, own, piece, _ADDED) for own, piece in after.items() if own not in before]
    found += [(path, own, piece, _REMOVED) for own, piece in before.items() if own not in after]
    found += [
        (path, own, piece, _CHANGED)
        for own, piece in after.items()
        if own in before and (before[own].kind, written(before[own])) != (piece.kind, written(piece))
    ]
    changes.found += sorted(found, key=lambda each: (each[2].line, each[1]))
    if not found and before and after:
        changes.same.append(path)


def _named(code: Code, changes: _Changes) -> dict[str, list[int]]:
    """The definitions of the graph that have the names of what differs."""
    found: dict[str, list[int]] = {changes.name_of(path, own): [] for path, own, _, _ in changes.found}
    for node, name in enumerate(code.names):
        if name in found:
            found[name].append(node)
    return found


def _lines(code: Code, changes: _Changes, nodes: _Nodes) -> Iterator[Finding]:
    """What came or changed, as lines of the answer; what came with something else is counted there."""
    added = changes.inside(_ADDED)
    for path, own, piece, how in changes.found:
        is_inner = bool(own) and (path, own.rpartition(".")[0]) in added
        if how == _REMOVED or (how == _ADDED and is_inner):
            continue
        known = nodes[path, own]
        is_own = how == _CHANGED and piece.kind in {"module", "class"} and path not in changes.unread
        yield Finding(
            name=changes.name_of(path, own),
            kind=code.kinds[known[0]] if known else piece.kind,
            path=path,
            line=piece.line,
            reason=f"{how} in its own statements" if is_own else _with(how, added.get((path, own), 0)),
            section=_CHANGED,
        )


def _with(how: str, inside: int) -> str:
    return f"{how}, with {inside} definitions in it" if inside and how != _CHANGED else how


def _removals(
    code: Code, changes: _Changes, by_name: Mapping[str, list[int]], changed: set[int]
) -> list[Finding]:
    """What is gone, each with those who still speak of it as far as the graph knows."""
    removed = changes.inside(_REMOVED)
    gone = {(changes.name_of(path, own), path) for path, own in removed}
    moved = {changes.name_of(path, own): path for path, own, _, how in changes.found if how == _ADDED}
    found: list[Finding] = []
    for path, own, piece, how in changes.found:
        if how != _REMOVED:
            continue
        name = changes.name_of(path, own)
        known = [each for each in by_name[name] if code.paths[each] in {path, None}]
        edges = [edge for node in known for edge in code.into(node, *_VERBS) if name not in moved]
        sites = dict.fromkeys((edge.source, edge.line, edge.kind) for edge in edges)
        users = [each for each in sites if (code.names[each[0]], code.paths[each[0]]) not in gone]
        if not users and own and (path, own.rpartition(".")[0]) in removed:
            continue
        reason = f"now in {moved[name]}" if name in moved else _with(how, removed[path, own])
        found.append(
            Finding(name=name, kind=piece.kind, path=path, line=piece.line, reason=reason, section=_REMOVED)
        )
        users.sort(key=lambda each: (code.paths[each[0]] or "", each[1] or 0, each[2]))
        found += (_user(code, name, each, is_sure=each[0] not in changed) for each in users)
    return list(dict.fromkeys(found))


def _user(code: Code, name: str, site: tuple[int, int | None, str], *, is_sure: bool) -> Finding:
    """Who speaks of something that is gone."""
    source, line, kind = site
    before = "" if is_sure else ", or did before it was changed"
    return Finding(
        name=code.names[source],
        kind=code.kinds[source],
        path=code.paths[source],
        line=line or code.lines[source] or 1,
        reason=f"{_VERBS[kind]} {name}, which is gone{before}",
        section=_REMOVED,
        depth=1,
    )


def _notes(code: Code, changes: _Changes, nodes: _Nodes) -> list[str]:
    notes: list[str] = []
    if changes.same:
        words = "differ only in comments, layout and docstrings"
        notes.append(f"{len(changes.same)} files {words}: {shown(changes.same)}")
    if changes.unread:
        notes.append(
            f"{len(changes.unread)} files do not parse, and count as a whole: {shown(changes.unread)}"
        )
    stale = {
        path
        for path, own, piece, how in changes.found
        if path not in changes.unread
        and piece.kind != "variable"
        and (
            bool(nodes[path, own])
            if how == _REMOVED
            else all(code.lines[each] not in {None, piece.line, piece.first} for each in nodes[path, own])
        )
    }
    if stale:
        notes.append(f"The graph is of another state of {shown(stale)}: build it again for all edges")
    return notes
