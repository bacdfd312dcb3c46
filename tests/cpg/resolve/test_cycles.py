"""What leads back to itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.resolve.cycles import find_components

NUMBERS = st.integers(0, 7)


def reach(links: dict[int, list[int]], start: int) -> set[int]:
    """All that can be got to from a number, in one step or more."""
    found: set[int] = set()
    waiting = [each for each in links[start] if each in links]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += [each for each in links[at] if each in links]
    return found


@given(st.dictionaries(NUMBERS, st.lists(NUMBERS)))
def test_what_leads_to_each_other_is_together_behind_what_it_leads_to(
    links: dict[int, list[int]],
) -> None:
    found = find_components(links)
    assert sorted(each for component in found for each in component) == sorted(links)
    place = {each: number for number, component in enumerate(found) for each in component}
    for one in links:
        for other in reach(links, one):
            assert place[other] <= place[one]
            assert (place[other] == place[one]) == (one == other or one in reach(links, other))


def test_a_long_chain() -> None:
    assert find_components({n: [n + 1] for n in range(20_000)})[0] == [19_999]
