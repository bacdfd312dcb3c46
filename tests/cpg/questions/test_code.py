"""Definitions and their edges in memory."""

from __future__ import annotations

from code_sample import code_of, row_of, small_repo

from headwater.cpg.graph import repository_id
from headwater.cpg.questions import code_query


def test_edges_are_the_same_from_either_end() -> None:
    code = small_repo()
    from_targets = {each for node in range(len(code)) for each in code.into(node)}
    from_sources = {each for node in range(len(code)) for each in code.out_of(node)}
    assert from_targets
    assert from_targets == from_sources
    assert set(code.edges("CALLS")) == {each for each in from_sources if each.kind == "CALLS"}


def test_an_edge_stands_in_the_file_of_its_source() -> None:
    code = small_repo()
    show = row_of(code, "library.cli.show")
    (call,) = [each for each in code.out_of(show, "CALLS") if code.is_outside(each.target)]
    assert (code.names[call.target], code.paths[call.source], call.line) == (
        "builtins.print",
        "library/cli.py",
        10,
    )
    assert code.is_outside(call.target)
    assert code.module_of(call.target) is None
    assert code.names[code.module_of(call.source) or 0] == "library.cli"
    owner = code.owner_of(row_of(code, "library.books.Catalogue.find"))
    assert owner is not None
    assert code.names[owner] == "library.books.Catalogue"


def test_a_name_has_all_its_definitions() -> None:
    code = code_of("def f(): ...\ndef f(x): ...\n\n\nf()\n")
    assert [code.lines[each] for each in code.of_name("main.f")] in [[1, 2], [2, 1]]
    assert code.of_name("main.g") == ()
    assert code.title(code.symbols[row_of(code, "main.f")]) == "main.f"
    assert code.title("headwater python python . builtins/nothing.") == "builtins.nothing"


def test_steps_end_at_a_depth_and_where_nothing_is_new() -> None:
    code = code_of("def a(): b()\ndef b(): c()\ndef c(): a()\n")
    start = row_of(code, "main.a")

    def found(depth: int | None) -> dict[str, int]:
        reached = code.reached([start], lambda node: code.out_of(node, "CALLS"), into=False, depth=depth)
        return {code.names[node]: steps for node, (steps, _) in reached.items()}

    assert found(None) == {"main.a": 0, "main.b": 1, "main.c": 2}
    assert found(1) == {"main.a": 0, "main.b": 1}
    assert found(0) == {"main.a": 0}


def test_a_repository_without_anything_is_empty() -> None:
    code = code_of({"empty.txt.py": ""})
    assert len(code) == 1
    assert list(code.edges("CALLS")) == []


def test_one_repository_of_a_warehouse_is_asked_for() -> None:
    assert repository_id("shop") in code_query("shop")
    assert "\n" not in code_query("shop")
