"""Graphs settle by content: sharing and order of discovery do not count, what is reached does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.pipeline.object_graph import Encoded, Node, Unordered, settled

Edges = list[tuple[str, list[int]]]


def graphs() -> st.SearchStrategy[Edges]:
    """Nodes with a label and references, drawn from few labels so that many nodes are alike."""
    sizes = st.integers(1, 6)
    return sizes.flatmap(
        lambda size: st.lists(
            st.tuples(st.sampled_from("ab"), st.lists(st.integers(0, size - 1), max_size=3)),
            min_size=size,
            max_size=size,
        )
    )


def encoded(graph: Edges) -> list[Encoded]:
    return [[label, [Node(target) for target in targets]] for label, targets in graph]


def unfolded(graph: Edges, node: int, depth: int) -> object:
    label, targets = graph[node]
    return label, [unfolded(graph, target, depth - 1) for target in targets] if depth else None


@given(graphs(), graphs())
def test_two_graphs_settle_alike_exactly_if_they_unfold_alike(one: Edges, two: Edges) -> None:
    # Graphs of n and m nodes that unfold alike to depth n + m unfold alike for ever. With three references
    # per node that is too much to unfold, so one is kept.
    one, two = ([(label, targets[:1]) for label, targets in graph] for graph in (one, two))
    same = unfolded(one, 0, 12) == unfolded(two, 0, 12)
    assert (settled(Node(0), encoded(one)) == settled(Node(0), encoded(two))) == same


@given(graphs())
def test_a_copy_of_a_node_changes_nothing(graph: Edges) -> None:
    copied = [*graph, graph[0]]
    assert settled(Node(0), encoded(graph)) == settled(Node(len(graph)), encoded(copied))


@given(graphs(), st.permutations(range(6)))
def test_numbers_of_nodes_do_not_count(graph: Edges, shuffled: list[int]) -> None:
    order = [each for each in shuffled if each < len(graph)]
    place = {old: new for new, old in enumerate(order)}
    turned: Edges = [(graph[old][0], [place[each] for each in graph[old][1]]) for old in order]
    assert settled(Node(0), encoded(graph)) == settled(Node(place[0]), encoded(turned))


def test_items_of_a_set_have_no_order_even_when_they_are_nodes() -> None:
    nodes: list[Encoded] = [["a", Node(1)], ["b", Node(0)]]
    there, back = (Unordered((Node(first), "x", Node(second))) for first, second in ((0, 1), (1, 0)))
    assert settled(there, nodes) == settled(back, nodes)
    assert settled(there, nodes) != settled(Unordered((Node(0), "x")), nodes)
