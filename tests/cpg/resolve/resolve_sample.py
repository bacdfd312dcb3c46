"""Small repositories in memory, and what they say when they are resolved and when they are run."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.assembly import find_facts
from headwater.cpg.extract.syntax import walk_file
from headwater.cpg.extract.values import find_values
from headwater.cpg.resolve import FileValues, call_graph, find_calls, resolve_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cpg.extract.values import ValueColumns
    from headwater.cpg.resolve import ResolvedRows
    from headwater.cpg.resolve.outcome import Outcome


def value_columns(source: str, path: str = "main.py") -> tuple[ValueColumns, int, int]:
    """The value facts of a file, and how many nodes and bindings it has."""
    walked = walk_file("repo", path, source.encode())
    assert walked.module is not None
    facts = find_facts(walked.module, walked.walk, walked.source, walked.syntax.nodes, [])
    bindings = facts.scopes.bindings.resolves_to
    meant = [number if there is None else there for number, there in enumerate(bindings)]
    nodes = walked.syntax.nodes
    found = find_values(walked.walk.rows, nodes.owner, facts.scopes, meant, (facts.defined, facts.used))
    return found, len(nodes.node_id), len(bindings)


def values_of(path: str, source: str) -> FileValues:
    """The same as the solver takes it."""
    found, nodes, bindings = value_columns(source, path)
    return FileValues(
        path=path,
        nodes=nodes,
        bindings=bindings,
        op=found.op,
        target=found.target,
        source=found.source,
        text=found.text,
    )


def resolved(files: Mapping[str, str] | str) -> ResolvedRows:
    """A repository of these files, or of one."""
    sources = {"main.py": files} if isinstance(files, str) else files
    return resolve_files([values_of(path, source) for path, source in sources.items()])


def called(files: Mapping[str, str] | str) -> Outcome:
    """The calls of the same repository."""
    sources = {"main.py": files} if isinstance(files, str) else files
    return find_calls([values_of(path, source) for path, source in sources.items()])


def graph_of(files: Mapping[str, str] | str) -> dict[str, set[str]]:
    """Who calls whom; those who call nobody are left out."""
    graph = call_graph(called(files))
    return {caller: set(callees) for caller, callees in graph.items() if callees}


def executed(source: str) -> dict[str, set[str]]:
    """Who really calls whom when a module is run: functions of the module, by their qualified names."""
    edges: dict[str, set[str]] = {}

    def note(frame: Any, event: str, arg: object) -> None:
        del arg
        if event != "call" or frame.f_code.co_filename != "<sample>":
            return
        callee = _name(frame.f_code)
        back = frame.f_back
        while back is not None and (
            back.f_code.co_filename != "<sample>" or back.f_code.co_name in {"<listcomp>", "<genexpr>"}
        ):
            back = back.f_back
        if back is not None and callee is not None and (caller := _name(back.f_code)) is not None:
            edges.setdefault(caller, set()).add(callee)

    code = compile(source, "<sample>", "exec")
    module = ModuleType("resolve_sample_main")  # dataclasses look for the module of their class
    sys.modules[module.__name__] = module
    sys.setprofile(note)
    try:
        exec(code, vars(module))  # noqa: S102  our own samples
    finally:
        sys.setprofile(None)
        del sys.modules[module.__name__]
    return edges


def _name(code: Any) -> str | None:
    """The name of a def as the graph has it; nothing for comprehensions, class bodies and lambdas."""
    name: str = code.co_qualname
    if name == "<module>":
        return "main"
    if name.endswith(("comp>", "<genexpr>", "<lambda>")) or not code.co_flags & 2:
        return None
    return "main." + name.replace(".<locals>", "")
