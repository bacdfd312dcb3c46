"""Ways of data, summaries and effects as lists: with ids, in the right file, and told apart."""

from __future__ import annotations

from collections import Counter

from resolution_sample import resolved

SOURCES = {
    "a.py": "import b\nx = b.hand(open('f'))\ny = b.hand(x)\n",
    "b.py": "class Box: ...\nbox = Box()\n\n\ndef hand(thing):\n    box.kept = thing\n    return box.kept\n",
}


def test_a_way_through_a_call_is_in_the_file_of_the_call() -> None:
    found = resolved(SOURCES)
    nodes = found.nodes()
    ways = list(found.entries("flows"))
    assert {each["kind"] for _, each in ways} >= {"arg_param", "return_call", "summary"}
    for path, each in ways:
        assert each["src_id"] in nodes
        assert each["dst_id"] in nodes
        if each["call"] is None:
            assert nodes[each["src_id"]][0] == path
        else:
            call = found.row(path)["calls"][each["call"]]
            assert nodes[call["node_id"]][0] == path
    returned = [(path, nodes[each["src_id"]][0]) for path, each in ways if each["kind"] == "return_call"]
    assert set(returned) == {("a.py", "b.py")}  # it begins in another file


def test_ways_with_the_same_ends_are_counted() -> None:
    found = resolved(SOURCES)
    keys = Counter(
        (each["src_id"], each["dst_id"], each["kind"], each["access_path"], each["ordinal"])
        for _, each in found.entries("flows")
    )
    assert set(keys.values()) == {1}


def test_functions_say_what_becomes_of_parameters_and_of_the_world() -> None:
    found = resolved(SOURCES)
    nodes = found.nodes()
    (path, summary), *_ = found.entries("summaries")
    assert (path, nodes[summary["def_id"]][1]["name"], summary["param_idx"]) == ("b.py", "hand", 0)
    effects = {nodes[each["def_id"]][0]: each for _, each in found.entries("effects")}
    assert effects["a.py"]["own_effects"] == ["fs"]
