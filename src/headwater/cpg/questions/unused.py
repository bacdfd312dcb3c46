"""Definitions that nothing seems to need, with how sure that is.

What only its own code, or only other unused code, needs is unused as well. Not here: removing anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from headwater.cpg.questions.answer import Answer, Finding

if TYPE_CHECKING:
    import pyarrow as pa

    from headwater.cpg.questions.code import Code

_NEEDS = ("CALLS", "REFERENCES_SYMBOL", "IMPORTS", "INHERITS")
_DUNDER = re.compile(r"__\w+__")
# What frameworks call by the beginning of a name.
_CALLED_BY_NAME = re.compile(r"(test_|visit_|do_|on_|handle_|setUp|tearDown)")
# How sure it is for what is private, for what is public, and less for what somebody may call by its name.
_PRIVATE, _PUBLIC, _PUBLIC_METHOD, _BY_NAME = 0.9, 0.6, 0.5, 0.2
DECORATED = "SELECT DISTINCT parent_id FROM file_nodes WHERE field = 'decorator_list'"


def dead(code: Code, decorated: pa.Table, module: str | None = None) -> Answer:
    """Classes, functions and methods that nothing known needs, surest first.

    Args:
        code: the graph's definitions.
        decorated: the ids of those that have a decorator, which may keep them somewhere.
        module: only what is in this module, or below it.
    """
    kept = cast("set[str]", set(decorated.column(0).to_pylist()))
    needed = _needed(code, kept)
    found = [
        Finding(
            name=code.names[node],
            kind=code.kinds[node],
            path=code.paths[node],
            line=code.lines[node],
            reason=_why(code, node),
            confidence=_sure(code, node),
        )
        for node in range(len(code))
        if _is_candidate(code, node) and node not in needed and not _is_inside_unused(code, node, needed)
    ]
    if module is not None:
        found = [each for each in found if f"{each.name}.".startswith(f"{module}.")]
    found.sort(key=lambda each: (-(each.confidence or 0), each.path or "", each.line or 0))
    notes = ("What is called by a name made up at run time, by templates or by others is not seen.",)
    return Answer(question="dead", subject=module or "everything", findings=tuple(found), notes=notes)


def _is_candidate(code: Code, node: int) -> bool:
    """Whether something can be unused at all, as far as it is told: no modules, lambdas or variables."""
    if code.is_outside(node) or code.is_test[node] or code.kinds[node] not in {"class", "function", "method"}:
        return False
    return _DUNDER.fullmatch(_last(code, node)) is None and not (code.paths[node] or "").endswith(".pyi")


def _needed(code: Code, decorated: set[str]) -> set[int]:
    """What can be reached from modules and tests, by use or because something outside calls it."""
    starts = [
        node
        for node in range(len(code))
        if code.is_test[node] or (code.kinds[node] == "module" and not code.is_outside(node))
    ]
    found = set(starts)
    front = list(starts)
    while front:
        node = front.pop()
        for other in _leads_to(code, node, decorated):
            if other not in found:
                found.add(other)
                front.append(other)
    return found


def _leads_to(code: Code, node: int, decorated: set[str]) -> list[int]:
    """What is needed with a definition: what it uses, and what others call in it without naming it."""
    found = [each.target for each in code.out_of(node, *_NEEDS) if each.target != node]
    # Who calls the one may get the other, and what is overridden says what has to be there.
    found += [each.source for each in code.into(node, "OVERRIDES")]
    found += [each.target for each in code.out_of(node, "OVERRIDES")]
    found += [
        edge.target
        for edge in code.out_of(node, "CONTAINS")
        if code.kinds[edge.target] == "lambda"
        or code.ids[edge.target] in decorated
        or _DUNDER.fullmatch(_last(code, edge.target))
        or any(code.is_outside(each.target) for each in code.out_of(edge.target, "OVERRIDES"))
    ]
    return [each for each in found if not code.is_outside(each)]


def _is_inside_unused(code: Code, node: int, needed: set[int]) -> bool:
    """Whether what it stands in is told already."""
    owner = code.owner_of(node)
    return owner is not None and owner not in needed and _is_candidate(code, owner)


def _why(code: Code, node: int) -> str:
    users = [each for each in code.into(node, *_NEEDS) if each.source != node]
    if not users:
        return "nothing uses it"
    return f"only used by what is unused itself: {code.names[users[0].source]}"


def _sure(code: Code, node: int) -> float:
    name = _last(code, node)
    if _CALLED_BY_NAME.match(name):
        return _BY_NAME
    if name.startswith("_"):
        return _PRIVATE
    owner = code.owner_of(node)
    if code.kinds[node] == "method" and owner is not None:
        outside = any(code.is_outside(each.target) for each in code.out_of(owner, "INHERITS"))
        return _BY_NAME if outside else _PUBLIC_METHOD
    return _PUBLIC


def _last(code: Code, node: int) -> str:
    return code.names[node].rsplit(".", 1)[-1]
