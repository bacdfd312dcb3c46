"""What is outside of a repository, as nodes."""

from __future__ import annotations

from typing import Any

from resolution_sample import REPO, evidence_rows, resolution_table

from headwater.cpg.resolution.outside import Outside
from headwater.cpg.resolution.reading import Repository
from headwater.digest import stable_id

DUMPS, LOAD = "headwater python python . json/dumps.", "headwater python PyYAML 6.0 yaml/load."
LOADER = "headwater python PyYAML 6.0 yaml/`a.b`/Loader#"
PATHS = ("b.py", "c.py", "a.py")


def made(repo_id: str = REPO) -> tuple[Outside, Repository]:
    repository = Repository(resolution_table(evidence_rows(dict.fromkeys(PATHS, "x = 1"))))
    return Outside(repository, repo_id), repository


def entries(outside: Outside) -> list[dict[str, Any]]:
    """What is listed, with the path of the file that lists it."""
    rows, columns = outside.listed()
    return [
        {"path": PATHS[row], **dict(zip(columns, values, strict=True))}
        for row, *values in zip(rows, *columns.values(), strict=True)
    ]


def test_a_definition_is_its_node_and_all_else_is_outside() -> None:
    outside, repository = made()
    found = (
        outside.def_ids(
            ["a.py"] * 4,
            ["headwater python . . b/", DUMPS, None, DUMPS],
            ["b.py", *[None] * 3],
            [1, *[None] * 3],
        )
        .array()
        .to_pylist()
    )
    (module,) = repository.node_ids(["b.py"], [1]).array().to_pylist()
    assert found == [module, found[1], None, found[1]]
    assert found[1] == stable_id("node", REPO, "", DUMPS, 0, "EXTERNAL_SYMBOL", "")
    assert [each["symbol"] for each in entries(outside)] == [None, DUMPS]


def test_ids_belong_to_a_repository() -> None:
    asked: Any = (["a.py"], [DUMPS], [None], [None])
    found = {made(repo)[0].def_ids(*asked).array().to_pylist()[0] for repo in ("repo:1", "repo:2")}
    assert len(found) == 2


def test_the_first_file_by_path_lists_it() -> None:
    outside, _ = made()
    outside.def_ids(["c.py", "b.py", "c.py"], [DUMPS, LOAD, LOAD], [None] * 3, [None] * 3)
    outside.def_ids(["a.py", "c.py"], [DUMPS, LOADER], [None] * 2, [None] * 2)
    found = {each["name"]: each["path"] for each in entries(outside)}
    assert found == {
        "python": "a.py",
        "PyYAML": "b.py",
        "json.dumps": "a.py",
        "yaml.load": "b.py",
        "yaml.a.b.Loader": "c.py",
    }


def test_each_is_listed_once_with_its_distribution() -> None:
    outside, _ = made()
    (dumps, load, loader) = (
        outside.def_ids(["a.py"] * 3, [DUMPS, LOAD, LOADER], [None] * 3, [None] * 3).array().to_pylist()
    )
    found = entries(outside)
    assert len({each["node_id"] for each in found}) == len(found) == 5
    of = {each["node_id"]: each for each in found}
    ids = {each["dist"]: each["node_id"] for each in found if each["kind"] == "DISTRIBUTION"}
    assert {each["dist_id"] for each in found if each["kind"] == "DISTRIBUTION"} == {None}
    assert (of[dumps]["dist"], of[dumps]["version"], of[dumps]["dist_id"]) == ("python", ".", ids["python"])
    assert (of[load]["dist"], of[load]["version"], of[load]["dist_id"]) == ("PyYAML", "6.0", ids["PyYAML"])
    assert of[loader]["dist_id"] == ids["PyYAML"]
    assert {each["kind"] for each in found} == {"DISTRIBUTION", "EXTERNAL_SYMBOL"}


def test_two_versions_are_two_distributions() -> None:
    outside, _ = made()
    outside.def_ids(["a.py"] * 2, [LOAD, LOAD.replace("6.0", "5")], [None] * 2, [None] * 2)
    found = [each for each in entries(outside) if each["kind"] == "DISTRIBUTION"]
    assert [(each["name"], each["version"]) for each in found] == [("PyYAML", "5"), ("PyYAML", "6.0")]
    assert len({each["node_id"] for each in found}) == 2


def test_nothing_is_outside_of_what_speaks_of_nothing() -> None:
    assert entries(made()[0]) == []


def test_the_first_file_that_speaks_of_any_of_it_lists_a_distribution() -> None:
    outside, _ = made()
    outside.def_ids(["c.py", "a.py"], [LOADER, LOAD], [None] * 2, [None] * 2)
    assert {each["path"] for each in entries(outside) if each["kind"] == "DISTRIBUTION"} == {"a.py"}
