"""What a repository offers to others, and what of that changed since a revision.

Not here: what is public, and which changes of a signature break calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.questions.history import history_of, known_history
from headwater.cpg.questions.signature import Signature, breaks, eases
from headwater.cpg.questions.sources import module_names, paths_now, read_now, read_then, shown, within
from headwater.cpg.questions.surface import surface_of
from headwater.inquiry import Answer, Finding

if TYPE_CHECKING:
    from headwater.cpg.questions.graph import Graph
    from headwater.cpg.questions.skeleton import Member
    from headwater.cpg.questions.surface import Entry, Surface

_REMOVED, _CHANGED, _ADDED = "removed", "changed", "added"
_BREAKS, _COMPATIBLE = "breaks: ", "compatible: "
# Kinds that users of the first do not tell from the second.
_EASY = frozenset(
    {
        ("method", "class method"),
        ("method", "static method"),
        ("class method", "static method"),
        ("variable", "property"),
        ("property", "variable"),
    }
)


def api(graph: Graph, module: str | None = None, *, since: str | None = None) -> Answer:
    """The public surface of a repository, with signatures; with a revision, what changed of it since then.

    Args:
        graph: what it is about; tests are left out, and so is what is in no package where there are any.
        module: tell of this module or package alone.
        since: a revision of git to compare with.

    Raises:
        NameUnknown: there is no such module.
        RevisionUnknown: git does not know the revision, or nothing of the folder.
    """
    known = graph.skeletons
    if since is not None:
        history, commit = known_history(graph.root, since)
        now, then = read_now(graph.root, paths_now(graph, history)), read_then(history, commit)
        before, after = surface_of(then, known), surface_of(now, known)
        wanted = within({**module_names(then), **module_names(now)}, module)
        found = [each for each in differences(before, after) if each.path in wanted]
        count = sum(each.reason.startswith(_BREAKS) for each in found)
        total = (f"{len(found)} in all; callers break by {count}",) if found else ()
        subject = f"{module or graph.name} since {since}"
        notes = (*total, *_notes(after, "now"), *_notes(before, since))
        return Answer(question="api", subject=subject, findings=tuple(found), notes=notes)
    now = read_now(graph.root, paths_now(graph, history_of(graph.root)))
    surface = surface_of(now, known)
    wanted = within(module_names(now), module)
    findings = [
        _line(each, surface)
        for each in surface.entries.values()
        if each.path in wanted and not (_is_inner(each, surface) and _is_repeated(each, surface))
    ]
    return Answer(
        question="api", subject=module or graph.name, findings=tuple(findings), notes=_notes(surface, "now")
    )


def differences(before: Surface, after: Surface) -> list[Finding]:
    """What is gone, what changed and what is new; what comes or goes with something else is not told."""
    old, new = before.entries, after.entries
    removed = [each for name, each in old.items() if name not in new and not _goes_along(each, before, after)]
    added = [each for name, each in new.items() if name not in old and not _goes_along(each, after, before)]
    changed = [
        (each, reason)
        for name, each in new.items()
        if name in old
        and not (old[name].origin == each.origin and _is_repeated(each, after) and each.origin in old)
        and (reason := _difference(old[name], each))
    ]
    changed.sort(key=lambda each: not each[1].startswith(_BREAKS))
    return [
        *(_finding(each, _REMOVED, _gone(each, before, after)) for each in removed),
        *(_finding(each, _CHANGED, reason) for each, reason in changed),
        *(_finding(each, _ADDED, _came(each, before, after)) for each in added),
    ]


def _goes_along(entry: Entry, here: Surface, there: Surface) -> bool:
    """Whether something comes or goes with what it is in, or with what it is another name for."""
    around = _around(entry)
    if around in here.entries and around not in there.entries:
        return True
    return _is_inner(entry, here) and _is_repeated(entry, here) and entry.origin not in there.entries


def _difference(old: Entry, new: Entry) -> str:
    """How a public name differs, and whether that breaks its users; nothing if it does not."""
    then, now = old.member, new.member
    if then is None or now is None:
        return "" if old.kind == new.kind else f"{_COMPATIBLE}it is defined elsewhere"
    if (then.kind, then.text, then.signature) == (now.kind, now.text, now.signature):
        return ""
    bad: list[str] = []
    good: list[str] = []
    if then.kind != now.kind:
        (good if (then.kind, now.kind) in _EASY else bad).append(f"it was a {then.kind}, is a {now.kind}")
    if then.signature is not None and now.signature is not None:
        bad += breaks(then.signature, now.signature)
        good += eases(then.signature, now.signature)
    if then.kind == now.kind == "class":
        bad += [f"it no longer inherits from {each}" for each in then.bases if each not in now.bases]
        good += [f"it inherits from {each}" for each in now.bases if each not in then.bases]
    told = "; ".join((*(bad or good), f"{_shown(then, now)} -> {_shown(now, then)}"))
    return f"{_BREAKS if bad else _COMPATIBLE}{told}"


def _gone(entry: Entry, before: Surface, after: Surface) -> str:
    around = after.entries.get(_around(entry))
    has_bases = around is not None and around.member is not None and bool(around.member.bases)
    inside = sum(_around(each) == entry.name for each in before.entries.values())
    told = f", with {inside} names in it" if inside else ", unless a base has it" if has_bases else ""
    return f"{_BREAKS}it is gone{told}"


def _came(entry: Entry, before: Surface, after: Surface) -> str:
    """What a new name is; an `__init__` is new to those who made objects without one."""
    around = before.entries.get(_around(entry))
    signature = None if entry.member is None else entry.member.signature
    if entry.name.endswith(".__init__") and signature is not None and around is not None:
        bases = () if around.member is None else around.member.bases
        bad = breaks(Signature(), signature) if not bases else []
        if bad:
            return f"{_BREAKS}{'; '.join(bad)}; {entry.text}"
    inside = sum(_around(each) == entry.name for each in after.entries.values())
    return ", ".join(each for each in (entry.text, f"with {inside} names in it" if inside else "") if each)


def _shown(one: Member, other: Member) -> str:
    text = one.text.removeprefix(": ")
    return f"{one.kind} {text}".strip() if one.kind != other.kind or not text else text


def _line(entry: Entry, surface: Surface) -> Finding:
    """A public name with how it reads, and where it is defined if that is elsewhere."""
    if entry.origin == entry.name or _is_inner(entry, surface):
        return _finding(entry, "", entry.text)
    return _finding(entry, "", f"{entry.text}, from {entry.origin}".removeprefix(", "))


def _finding(entry: Entry, section: str, reason: str) -> Finding:
    return Finding(
        name=entry.name, kind=entry.kind, path=entry.path, line=entry.line, reason=reason, section=section
    )


def _around(entry: Entry) -> str:
    return entry.name.rpartition(".")[0]


def _is_inner(entry: Entry, surface: Surface) -> bool:
    """Whether it is a member of a class."""
    around = surface.entries.get(_around(entry))
    return around is not None and around.kind == "class"


def _is_repeated(entry: Entry, surface: Surface) -> bool:
    """Whether it is another name for something that is public where it is defined."""
    return entry.origin != entry.name and entry.origin in surface.entries


def _notes(surface: Surface, when: str) -> tuple[str, ...]:
    if not surface.unread:
        return ()
    return (f"{len(surface.unread)} files do not parse ({when}): {shown(surface.unread)}",)
