"""The kinds that are listed are those that are made, no fewer and no more."""

from __future__ import annotations

from headwater.cpg.extract import extract_file
from headwater.cpg.extract.kinds import NODE_KINDS as SYNTAX_KINDS
from headwater.cpg.kinds import EDGE_KINDS, NODE_KINDS

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
# Kinds that come from no class of the tree: by place, and where repository and files are put together.
BY_PLACE = {"FILE", "METHOD", "REPO"}
BY_NESTING = {"AST", "CONTAINS"}


def made(source: str) -> tuple[set[str], set[str]]:
    """The kinds of nodes that are in no tree, and of edges."""
    facts = extract_file("repo", "a.py", source.encode()).facts
    return set(facts.added.node_kind), set(facts.relations.relations.kind)


def test_every_kind_of_node_is_listed_and_none_that_is_never_made() -> None:
    added = made(SOURCE + "# end\n")[0] | made(WRONG)[0]
    assert added == {"BINDING", "CFG_ENTRY", "CFG_EXIT", "COMMENT", "DIAGNOSTIC"}
    assert set(NODE_KINDS) == {*SYNTAX_KINDS.values()} | BY_PLACE | added


def test_every_kind_of_edge_is_listed_and_none_that_is_never_made() -> None:
    assert set(EDGE_KINDS) == made(SOURCE)[1] | made(WRONG)[1] | BY_NESTING


def test_nothing_is_listed_twice() -> None:
    assert len(set(NODE_KINDS)) == len(NODE_KINDS)
    assert len(set(EDGE_KINDS)) == len(EDGE_KINDS)
