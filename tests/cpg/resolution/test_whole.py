"""Rows of small repositories, from their evidence on."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from resolution_sample import (
    NAMES,
    REPO,
    SHOP,
    TRICKY,
    evidence_rows,
    resolution_table,
    resolve,
    resolved,
    shop,
    tricky,
)

from headwater.cpg import evidence
from headwater.cpg.resolution import resolve_rows, resolver_version
from headwater.cpg.resolve import Distributions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def by_path(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=lambda row: row["path"])


@pytest.mark.parametrize("files", [SHOP, TRICKY])
def test_the_order_of_files_does_not_matter(files: Mapping[str, str | bytes]) -> None:
    first = by_path(resolve(files)[1])
    for order in (sorted(files), sorted(files, reverse=True), list(files)[2:] + list(files)[:2]):
        assert by_path(resolve({path: files[path] for path in order})[1]) == first


def test_chunks_do_not_matter() -> None:
    table = resolution_table(evidence_rows(SHOP))
    parts = pa.concat_tables([table.slice(0, 3), table.slice(3, 1), table.slice(4)])
    assert parts.column("path").num_chunks == 3
    assert by_path(resolve_rows(parts, REPO, NAMES)) == by_path(resolve_rows(table, REPO, NAMES))


def test_each_file_has_one_row_in_the_order_of_the_files() -> None:
    found = tricky()
    assert [(row["path"], row["file_id"]) for row in found.rows] == [
        (row["path"], row["file_id"]) for row in found.evidence
    ]
    assert {row["path"]: row["module"] for row in shop().rows}["src/shop/cart.py"] == "shop.cart"


def test_no_files_have_no_rows() -> None:
    found = resolve_rows(resolution_table([]), REPO, NAMES)
    assert found.num_rows == 0
    assert found.schema.equals(resolve(SHOP)[1].schema)


def test_symbols_have_the_distribution_of_the_repository() -> None:
    _, table = resolve({"m.py": "import yaml"}, Distributions(name="mine", version="3"))
    (row,) = table.to_pylist()
    assert row["definitions"][0]["symbol"] == "headwater python mine 3 m/"
    assert row["imports"][0]["symbol"] == "headwater python yaml . yaml/"


def test_a_test_is_told_with_what_it_calls() -> None:
    found = shop()
    told = {
        (path, found.called(each["node_id"]), found.called(each["tested_id"]))
        for path, each in found.entries("tests")
    }
    path = "tests/test_cart.py"
    assert told == {
        (path, "tests.test_cart.made", "shop.cart.Cart.__init__"),
        (path, "tests.test_cart.test_total", "shop.cart.Cart.total"),
        (path, "tests.test_cart.test_total", "shop.cart.most"),
    }
    assert len(list(found.entries("tests"))) == len(told)


def test_what_is_no_test_tests_nothing() -> None:
    files = {
        "src/m.py": "def f(): ...\ndef g(): f()\n",
        "src/n.py": "from m import f\ndef h(): f()\n",
        "tests/test_m.py": "def made(): ...\ndef test_it(): made()\n",
    }
    assert list(resolved(files).entries("tests")) == []


def test_only_the_most_likely_callee_is_tested() -> None:
    files = {
        "src/m.py": "class A:\n def go(self): ...\nclass B:\n def go(self): ...\n",
        "tests/test_m.py": "from m import A, B\ndef test_it(which):\n (A() if which else B()).go()\n",
    }
    found = resolved(files)
    tested = [found.called(each["tested_id"]) for _, each in found.entries("tests")]
    assert sorted(tested) == ["m.A", "m.A.go", "m.B"]


def test_a_stub_is_told_with_the_source_beside_it() -> None:
    found = shop()
    nodes = found.nodes()
    told = {
        (path, found.called(each["node_id"]), nodes[each["source_id"]][0], found.called(each["source_id"]))
        for path, each in found.entries("stubs")
    }
    stub, source = "src/shop/cart.pyi", "src/shop/cart.py"
    assert told == {
        (stub, name, source, name)
        for name in ("shop.cart", "shop.cart.Cart", "shop.cart.Cart.total", "shop.cart.most")
    }


@pytest.mark.parametrize("path", ["n.pyi", "a/m.pyi"])
def test_a_stub_elsewhere_is_of_nothing(path: str) -> None:
    found = resolved({"m.py": "def f(): ...", path: "def f(): ..."})
    assert list(found.entries("stubs")) == []


def test_a_call_inside_of_an_annotation_is_there_with_a_reason() -> None:
    source = (
        "from typing import Annotated\ndef gt(n): ...\n"
        "def f(x: Annotated[int, gt(3)]) -> Annotated[int, gt(4)]: gt(5)\ny: Annotated[int, gt(6)] = gt(7)\n"
    )
    found = resolved({"m.py": source})
    nodes = found.nodes()
    told = {
        source[node["bstart"] : node["bend"]]: (
            each["resolution"],
            each["reason"],
            each["confidence"] is None,
        )
        for _, each in found.entries("calls")
        for node in [nodes[each["node_id"]][1]]
    }
    assert set(told) == {"gt(3)", "gt(4)", "gt(5)", "gt(6)", "gt(7)"}
    for text in ("gt(3)", "gt(4)", "gt(6)"):
        assert told[text] == ("unresolved", "it stands in an annotation, which is not run", True)
    for text in ("gt(5)", "gt(7)"):
        assert told[text] == ("exact", None, False)


def test_a_call_that_finds_nothing_has_a_reason() -> None:
    found = resolved("def f(x): x()\n")
    (call,) = found.rows[0]["calls"]
    assert (call["resolution"], call["confidence"]) == ("unresolved", None)
    assert call["reason"]


def test_an_import_tells_the_file_and_the_modules_on_the_way() -> None:
    found = shop()
    file_ids = {row["path"]: row["file_id"] for row in found.rows}
    at = {each["symbol"]: each for each in found.row("tests/test_cart.py")["imports"]}
    cart = at["headwater python shop 1.0 `shop.cart`/Cart#"]
    assert cart["resolved_file_id"] == file_ids["src/shop/__init__.py"]
    assert cart["chain"] == ["shop", "shop.cart"]
    assert found.called(cart["def_id"]) == "shop.cart.Cart"
    assert at["headwater python PyYAML 6.0 yaml/"]["dist"] == "PyYAML"


def test_names_that_mean_themselves_have_no_definition() -> None:
    names = shop().row("src/shop/cart.py")["names"]
    own = {each["name"]: each for each in names if each["name"] is not None}
    assert set(own) == {"LIMIT", "items"}
    assert all(each["def_id"] is None for each in own.values())
    assert all(each["def_id"] is not None for each in names if each["name"] is None)
    assert own["items"]["symbol"] == "headwater python shop 1.0 `shop.cart`/Cart#items."


def test_an_argument_goes_to_its_parameter() -> None:
    found = shop()
    nodes = found.nodes()
    row = found.row("src/shop/cart.py")
    told: set[tuple[str, str | None, str | None]] = set()
    for each in row["arguments"]:
        if each["param_id"] is not None:
            told.add(
                (nodes[each["node_id"]][1]["ast_kind"], each["keyword"], nodes[each["param_id"]][1]["name"])
            )
    assert {("Name", None, "x"), ("keyword", "x", "x"), ("Constant", None, "more")} <= told
    assert ("keyword", "name", "rest") in told


def test_the_same_rows_come_again() -> None:
    assert by_path(resolve(TRICKY)[1]) == sorted(tricky().rows, key=lambda row: row["path"])


def test_ids_of_what_is_outside_belong_to_the_repository() -> None:
    tables = [resolve({"m.py": "import json\nx: int = 1"}, repo_id=each)[1] for each in ("repo:1", "repo:2")]
    first, second = (
        {
            entry["node_id"]
            for row in table.to_pylist()
            for name in ("externals", "types")
            for entry in row[name]
        }
        for table in tables
    )
    assert first
    assert not first & second


def test_the_search_for_cycles_goes_on_afterwards() -> None:
    assert gc.isenabled()
    resolve({"m.py": ""})
    assert gc.isenabled()
    with pytest.raises(KeyError):
        resolve_rows(pa.table({"path": pa.array(["m.py"])}), REPO, NAMES)
    assert gc.isenabled()


def test_the_version_follows_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resolver_version()
    assert resolver_version() == before
    read: list[str] = []

    def digest_of_file(file: Path) -> str:
        read.append(str(file))
        return "another"

    monkeypatch.setattr(evidence, "digest_of_file", digest_of_file)
    assert resolver_version() != before
    for part in ("resolution/whole.py", "resolve/referring.py", "cpg/nested.py", "values/facts.py"):
        assert any(each.endswith(part) for each in read), part
