"""The kinds that are listed are those that are made, no fewer and no more."""

from __future__ import annotations

from typing import get_args, get_type_hints

from headwater.cpg.extract import Diagnostic, extract_file
from headwater.cpg.extract.kinds import NODE_KINDS as SYNTAX_KINDS
from headwater.cpg.kinds import BINDING_KINDS, EDGE_KINDS, NODE_KINDS, SCOPE_KINDS, SEVERITIES, STEP_EDGES

SOURCE = '''\
@first
async def f(a: int, *rest):
    """Doc."""
    try:
        del a.b[0], rest
        await a.g(a)
    except E as e:
        raise
    finally:
        yield lambda: a
    if a or f:
        raise E()
    del e
'''
WRONG = "a = (:\nb = 1\n"  # one statement that does not parse among others
NAMES = """\
from __future__ import annotations
import os
class C:
    def m(self, a: int):
        self.b = c = 0
        def inner():
            nonlocal c
            return [a, print, os]
        return lambda: inner
    d = [e for e in C]
"""
SINCE_3_12 = {"type_params", "type_alias"}
# Kinds that come from no class of the tree: by place, and where repository and files are put together.
BY_PLACE = {"FILE", "METHOD", "REPO"}
BY_NESTING = {"AST", "CONTAINS"}
# Kinds that it takes all files together to see; tests of the graph's views find each of them.
OUTSIDE = {"EXTERNAL_SYMBOL", "DISTRIBUTION", "TYPE"}
LINKS = {
    *("CALLS", "ARG_PASSES", "RETURNS_TO", "TESTS", "IMPORTS", "EXPORTS", "REEXPORTS", "STUB_OF"),
    *("INHERITS", "MRO", "OVERRIDES", "HAS_TYPE"),
}


def made(source: str) -> tuple[set[str], set[str]]:
    """The kinds of nodes that are in no tree, and of edges."""
    facts = extract_file("repo", "a.py", source.encode()).facts
    return set(facts.added.node_kind), set(facts.relations.relations.kind)


def test_every_kind_of_node_is_listed_and_none_that_is_never_made() -> None:
    added = made(SOURCE + "# end\n")[0] | made(WRONG)[0]
    assert added == {"BINDING", "CFG_ENTRY", "CFG_EXIT", "COMMENT", "DIAGNOSTIC"}
    assert set(NODE_KINDS) == {*SYNTAX_KINDS.values()} | BY_PLACE | added | OUTSIDE


def test_every_kind_of_edge_is_listed_and_none_that_is_never_made() -> None:
    steps = set(STEP_EDGES.values())
    assert set(EDGE_KINDS) == made(SOURCE)[1] | made(WRONG)[1] | BY_NESTING | steps | LINKS


def test_every_kind_of_scope_and_of_name_is_listed_and_none_that_is_never_made() -> None:
    scopes = extract_file("repo", "a.py", NAMES.encode()).facts.scopes
    assert set(SCOPE_KINDS) == {*scopes.scopes.kind} | SINCE_3_12
    assert set(BINDING_KINDS) == {*scopes.bindings.kind}


def test_every_severity_is_listed() -> None:
    assert {*get_args(get_type_hints(Diagnostic)["severity"])} < {*SEVERITIES}


def test_nothing_is_listed_twice() -> None:
    for kinds in (NODE_KINDS, EDGE_KINDS, SCOPE_KINDS, BINDING_KINDS, SEVERITIES):
        assert len(set(kinds)) == len(kinds)
