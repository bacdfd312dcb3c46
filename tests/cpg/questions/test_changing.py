"""What changed since a revision, and what could break because of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from questions_sample import commit, definition, edge, git, graph_of, write

from headwater.cpg.questions import Asked, answer_to
from headwater.cpg.questions.changing import impact_since
from headwater.errors import NameUnknown, RevisionUnknown

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.cpg.questions import Answer, Graph

SHOP = """\
import json

LIMIT = 3


class Cart:
    rate = 1

    def total(self):
        return self.rate

    def empty(self):
        return json.dumps([])


def buy(cart):
    return cart.total()
"""
DEFINITIONS = (
    definition("shop", "module", "shop.py", 1, 17),
    definition("shop.LIMIT", "variable", "shop.py", 3, 3),
    definition("shop.Cart", "class", "shop.py", 6, 13),
    definition("shop.Cart.rate", "variable", "shop.py", 7, 7),
    definition("shop.Cart.total", "method", "shop.py", 9, 10),
    definition("shop.Cart.empty", "method", "shop.py", 12, 13),
    definition("shop.buy", "function", "shop.py", 16, 17),
    definition("site", "module", "site.py", 1, 9),
    definition("site.page", "function", "site.py", 4, 6),
)
EDGES = (
    edge("shop", "shop.Cart", "CONTAINS"),
    edge("shop", "shop.buy", "CONTAINS"),
    edge("shop.Cart", "shop.Cart.total", "CONTAINS"),
    edge("shop.Cart", "shop.Cart.empty", "CONTAINS"),
    edge("shop.buy", "shop.Cart.total", line=17),
    edge("site.page", "shop.buy", line=5),
    edge("site.page", "shop.LIMIT", "REFERENCES_SYMBOL", line=6),
    edge("site", "shop.buy", "IMPORTS", line=1),
)


@pytest.fixture
def shop(tmp_path: Path) -> Graph:
    commit(tmp_path, {"shop.py": SHOP})
    return graph_of(tmp_path, DEFINITIONS, EDGES)


def lines(answer: Answer, section: str) -> list[tuple[str, int | None, str]]:
    return [(each.name, each.line, each.reason) for each in answer.findings if each.section == section]


def names(answer: Answer, section: str) -> list[str]:
    return [name for name, _, _ in lines(answer, section)]


def test_nothing_changed_is_an_empty_answer(shop: Graph) -> None:
    answer = impact_since(shop, "HEAD")
    assert (answer.subject, answer.findings, answer.notes) == ("changes since HEAD", (), ())


def test_the_innermost_definition_changed_and_its_callers_may_break(shop: Graph) -> None:
    write(shop.root, {"shop.py": SHOP.replace("return self.rate", "return self.rate + 1")})
    answer = impact_since(shop, "HEAD")
    assert lines(answer, "changed") == [("shop.Cart.total", 9, "changed")]
    assert lines(answer, "impact") == [
        ("shop.buy", 17, "calls shop.Cart.total"),
        ("site", 1, "imports shop.buy"),
        ("site.page", 5, "calls shop.buy"),
    ]
    assert answer.notes == ("3 definitions in 2 files, 0 of them in tests",)


def test_the_question_takes_a_revision(shop: Graph) -> None:
    write(shop.root, {"shop.py": SHOP.replace("return self.rate", "return 2")})
    asked = answer_to(shop, Asked(question="impact", diff="HEAD", depth=1))
    assert names(asked, "changed") == ["shop.Cart.total"]
    assert names(asked, "impact") == ["shop.buy"]


def test_a_variable_of_a_module_or_class_changes_by_itself(shop: Graph) -> None:
    write(shop.root, {"shop.py": SHOP.replace("LIMIT = 3", "LIMIT = 4").replace("rate = 1", "rate = 2")})
    answer = impact_since(shop, "HEAD")
    assert names(answer, "changed") == ["shop.LIMIT", "shop.Cart.rate"]
    assert names(answer, "impact") == ["site.page"]


def test_a_new_import_changes_the_module_and_not_all_that_is_in_it(shop: Graph) -> None:
    write(shop.root, {"shop.py": SHOP.replace("import json", "import json, os")})
    answer = impact_since(shop, "HEAD")
    assert names(answer, "changed") == ["shop"]
    assert names(answer, "impact") == []


def test_another_base_changes_a_class_with_all_that_is_in_it(shop: Graph) -> None:
    write(shop.root, {"shop.py": SHOP.replace("class Cart:", "class Cart(dict):")})
    answer = impact_since(shop, "HEAD")
    assert names(answer, "changed") == ["shop.Cart"]
    assert names(answer, "impact") == ["shop.buy", "site", "site.page"]


def test_comments_layout_and_docstrings_are_no_changes(shop: Graph) -> None:
    write(shop.root, {"shop.py": SHOP.replace("LIMIT = 3", "# so many\nLIMIT = (3)")})
    answer = impact_since(shop, "HEAD")
    assert answer.findings == ()
    assert answer.notes == ("1 files differ only in comments, layout and docstrings: shop.py",)


def test_what_is_gone_is_told_with_who_still_speaks_of_it(shop: Graph) -> None:
    gone = SHOP[: SHOP.index("def buy")].rstrip() + "\n"
    write(shop.root, {"shop.py": gone})
    answer = impact_since(shop, "HEAD")
    assert lines(answer, "removed") == [
        ("shop.buy", 16, "removed"),
        ("site", 1, "imports shop.buy, which is gone"),
        ("site.page", 5, "calls shop.buy, which is gone"),
    ]
    assert names(answer, "impact") == []
    assert answer.notes == ("The graph is of another state of shop.py: build it again for all edges",)


def test_a_user_that_changed_itself_may_have_stopped_using_it(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "def f(): ...\ndef g(): f()\n"})
    code = (definition("a.f", "function", "a.py", 1), definition("a.g", "function", "a.py", 2))
    graph = graph_of(tmp_path, code, (edge("a.g", "a.f", line=2),))
    write(tmp_path, {"a.py": "def g(): ...\n"})
    answer = impact_since(graph, "HEAD")
    assert lines(answer, "removed")[1:] == [
        ("a.g", 2, "calls a.f, which is gone, or did before it was changed")
    ]


def test_a_deleted_file_takes_everything_in_it_along(shop: Graph) -> None:
    write(shop.root, {"shop.py": None})
    answer = impact_since(shop, "HEAD")
    removed = [name for name, _, reason in lines(answer, "removed") if reason == "removed"]
    assert removed == ["shop.LIMIT", "shop.buy"]
    assert lines(answer, "removed")[0] == ("shop", 1, "removed, with 3 definitions in it")
    users = {name for name, _, reason in lines(answer, "removed") if "which is gone" in reason}
    assert users == {"site", "site.page"}


def test_a_file_that_git_does_not_have_yet_is_added(shop: Graph) -> None:
    write(shop.root, {"new.py": "def f():\n    pass\n"})
    answer = impact_since(shop, "HEAD")
    assert lines(answer, "changed") == [("new", 1, "added, with 1 definitions in it")]
    assert answer.notes == ("The graph is of another state of new.py: build it again for all edges",)


def test_a_module_that_became_a_package_is_not_gone(shop: Graph) -> None:
    write(shop.root, {"shop.py": None, "shop/__init__.py": SHOP})
    answer = impact_since(shop, "HEAD")
    assert lines(answer, "removed") == [("shop", 1, "now in shop/__init__.py")]


def test_a_graph_below_the_top_of_git_sees_its_own_files(tmp_path: Path) -> None:
    commit(tmp_path, {"in/a.py": "x = 1\n", "b.py": "y = 1\n"})
    write(tmp_path, {"in/a.py": "x = 2\n", "b.py": "y = 2\n"})
    answer = impact_since(graph_of(tmp_path / "in"), "HEAD")
    assert [(each.name, each.path) for each in answer.findings] == [("a.x", "a.py")]


def test_commits_since_the_revision_count_too(shop: Graph) -> None:
    commit(shop.root, {"shop.py": SHOP.replace("LIMIT = 3", "LIMIT = 4")})
    assert names(impact_since(shop, "HEAD~1"), "changed") == ["shop.LIMIT"]
    assert names(impact_since(shop, "HEAD"), "changed") == []


def test_a_graph_whose_lines_do_not_fit_is_told(shop: Graph) -> None:
    write(shop.root, {"shop.py": "\n\n" + SHOP.replace("return cart", "return -cart")})
    answer = impact_since(shop, "HEAD")
    assert lines(answer, "changed") == [("shop.buy", 18, "changed")]
    assert "The graph is of another state of shop.py: build it again for all edges" in answer.notes


def test_files_that_do_not_parse_count_as_a_whole(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "def f(): ...\n", "b.py": "def (\n", "c.py": b"\0\xff", "d.bin": b"\0"})
    write(tmp_path, {"a.py": "def (\n", "b.py": "def f(): ...\n", "c.py": b"\xff\0", "d.bin": b"\1"})
    answer = impact_since(graph_of(tmp_path), "HEAD")
    assert [(each.name, each.reason) for each in answer.findings] == [
        ("a", "changed"),
        ("b", "changed"),
        ("c", "changed"),
    ]
    assert answer.notes == ("3 files do not parse, and count as a whole: a.py, b.py, c.py",)


def test_sources_in_other_encodings_are_read_as_they_say(tmp_path: Path) -> None:
    text = "# coding: latin-1\nname = 'ü'\n"
    commit(tmp_path, {"a.py": text.encode("latin-1")})
    write(tmp_path, {"a.py": text.replace("ü", "é").encode("latin-1")})
    assert [each.name for each in impact_since(graph_of(tmp_path), "HEAD").findings] == ["a.name"]


@pytest.mark.parametrize("name", ['a"b.py', "a\nb.py", "ü.py", "-x.py", ":(top)d.py"])
def test_hostile_names_are_files_like_others(tmp_path: Path, name: str) -> None:
    commit(tmp_path, {name: "x = 1\n"})
    write(tmp_path, {name: "x = 2\n"})
    assert [each.path for each in impact_since(graph_of(tmp_path), "HEAD").findings] == [name]


def test_names_leave_out_what_is_not_in_them(shop: Graph) -> None:
    write(shop.root, {"shop.py": SHOP.replace("LIMIT = 3", "LIMIT = 4").replace("rate = 1", "rate = 2")})
    assert names(impact_since(shop, "HEAD", ("Cart",)), "changed") == ["shop.Cart.rate"]
    assert names(impact_since(shop, "HEAD", ("shop.buy",)), "changed") == []
    with pytest.raises(NameUnknown):
        impact_since(shop, "HEAD", ("nothing",))


def test_a_revision_that_is_an_option_is_unknown(shop: Graph) -> None:
    with pytest.raises(RevisionUnknown):
        impact_since(shop, "--output=x")


def test_a_repository_without_a_commit_knows_no_revision(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    with pytest.raises(RevisionUnknown):
        impact_since(graph_of(tmp_path), "HEAD")
