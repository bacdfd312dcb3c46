"""The symbols of bindings, and what attributes refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from resolve_sample import values_of

from headwater.cpg.extract import extract_file
from headwater.cpg.resolve import Bound, Distributions, resolve_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cpg.resolve import ResolvedRows

OWN = "headwater python . . "
PYTHON = "headwater python python . "
BINDING = frozenset({"import", "function", "class"})


class Name(NamedTuple):
    """What a binding means: its symbol, where that is defined, and the name of one that means itself."""

    symbol: str
    place: str | None
    name: str | None


class Reference(NamedTuple):
    """What an attribute refers to."""

    symbol: str
    place: str | None
    resolver: str
    resolution: str


def bound_and_names(files: Mapping[str, str]) -> tuple[Bound, dict[tuple[str, int], str]]:
    """What binds names in files, and the names of their bindings with the scopes that these are in."""
    defining: dict[str, list[tuple[int, int]]] = {}
    attributes: dict[str, list[tuple[int, int, str]]] = {}
    names: dict[tuple[str, int], str] = {}
    for path, source in files.items():
        scopes = extract_file("repo", path, source.encode()).facts.scopes
        sites, bindings = scopes.sites, scopes.bindings
        defining[path] = [
            (binding, node)
            for binding, node, kind in zip(sites.binding, sites.node, sites.def_kind, strict=True)
            if kind in BINDING
        ]
        attributes[path] = [
            (number, scopes.scopes.node[scope], name)
            for number, (scope, name, kind) in enumerate(
                zip(bindings.scope, bindings.name, bindings.kind, strict=True)
            )
            if kind == "instance_attr"
        ]
        for number, (scope, name) in enumerate(zip(bindings.scope, bindings.name, strict=True)):
            around = scopes.scopes.qualpath[scope]
            names[path, number] = f"{path}:{around}.{name}" if around else f"{path}:{name}"
    return Bound(defining=defining, attributes=attributes), names


def resolved(files: Mapping[str, str], bound: Bound | None = None) -> ResolvedRows:
    values = [values_of(path, source) for path, source in files.items()]
    return resolve_files(
        values, Distributions(of_modules={"yaml": "PyYAML"}, versions={"PyYAML": "6"}), bound
    )


def place_in(rows: ResolvedRows, path: str | None, node: int | None) -> str | None:
    """The dotted name of the definition at a node, with its path."""
    if path is None:
        assert node is None
        return None
    made = rows.definitions
    (found,) = (
        name
        for there, number, name in zip(made.path, made.node, made.name, strict=True)
        if (there, number) == (path, node)
    )
    return f"{path}:{found}"


def names_of(files: Mapping[str, str] | str) -> dict[str, Name]:
    """By path and name what the bindings of a repository mean."""
    sources = {"main.py": files} if isinstance(files, str) else files
    bound, names = bound_and_names(sources)
    rows = resolved(sources, bound)
    found = rows.bindings
    columns = (found.path, found.binding, found.symbol, found.def_path, found.def_node, found.name)
    made = {
        names[path, binding]: Name(symbol, place_in(rows, at, node), name)
        for path, binding, symbol, at, node, name in zip(*columns, strict=True)
    }
    assert len(made) == len(found.path)
    return made


def references_of(files: Mapping[str, str] | str) -> dict[str, Reference]:
    """By the text of each attribute what it refers to."""
    sources = {"main.py": files} if isinstance(files, str) else files
    rows = resolved(sources)
    found = rows.references
    made: dict[str, Reference] = {}
    for index, (path, node) in enumerate(zip(found.path, found.node, strict=True)):
        nodes = extract_file("repo", path, sources[path].encode()).syntax.nodes
        text = sources[path].encode()[nodes.bstart[node] : nodes.bend[node]].decode()
        place = place_in(rows, found.def_path[index], found.def_node[index])
        made[text] = Reference(found.symbol[index], place, found.resolver[index], found.resolution[index])
    return made


def test_an_import_means_what_is_imported() -> None:
    files = {
        "a.py": "from b import f as g\nimport b\nimport yaml\nfrom yaml import load\nfrom b import *",
        "b.py": "from c import f",
        "c.py": "def f(): ...",
    }
    found = names_of(files)
    assert found["a.py:g"] == Name(f"{OWN}c/f().", "c.py:c.f", None)
    assert found["a.py:b"] == Name(f"{OWN}b/", "b.py:b", None)
    assert found["a.py:yaml"] == Name("headwater python PyYAML 6 yaml/", None, None)
    assert found["a.py:load"] == Name("headwater python PyYAML 6 yaml/load.", None, None)


def test_a_def_and_a_class_mean_themselves() -> None:
    found = names_of("def f():\n def inner(): ...\n class C: ...\nclass D:\n def m(self): ...\n")
    assert found == {
        "main.py:f": Name(f"{OWN}main/f().", "main.py:main.f", None),
        "main.py:f.inner": Name(f"{OWN}main/f().inner().", "main.py:main.f.inner", None),
        "main.py:f.C": Name(f"{OWN}main/f().C#", "main.py:main.f.C", None),
        "main.py:D": Name(f"{OWN}main/D#", "main.py:main.D", None),
        "main.py:D.m": Name(f"{OWN}main/D#m().", "main.py:main.D.m", None),
    }


def test_names_of_modules_and_classes_have_symbols_below_them() -> None:
    found = names_of("LIMIT = 1\nclass C:\n kind = 2\n def __init__(self):\n  self.size = 3\n")
    assert found["main.py:LIMIT"] == Name(f"{OWN}main/LIMIT.", None, "LIMIT")
    assert found["main.py:C.kind"] == Name(f"{OWN}main/C#kind.", None, "kind")
    assert [each for name, each in found.items() if name.endswith("size")] == [
        Name(f"{OWN}main/C#size.", None, "size")
    ]


def test_what_is_bound_inside_of_functions_is_nobody_elses() -> None:
    found = names_of("def f(x):\n y = x\n import json\n for z in y: ...\n return lambda w: w\n")
    assert found == {
        "main.py:f": Name(f"{OWN}main/f().", "main.py:main.f", None),
        "main.py:f.json": Name(f"{PYTHON}json/", None, None),
    }


def test_a_name_that_is_bound_twice_means_what_bound_it_first() -> None:
    found = names_of(
        {"m.py": "try:\n from a import f\nexcept ImportError:\n def f(): ...\n", "a.py": "def f(): ..."}
    )
    assert found["m.py:f"] == Name(f"{OWN}a/f().", "a.py:a.f", None)


def test_a_name_that_is_also_assigned_means_what_defines_it() -> None:
    found = names_of("def f(): ...\nf = 1\n")
    assert found == {"main.py:f": Name(f"{OWN}main/f().", "main.py:main.f", None)}


def test_an_import_of_nothing_that_is_known_is_a_name_of_its_own() -> None:
    assert names_of("from . import gone")["main.py:gone"] == Name(f"{OWN}main/gone.", None, "gone")


def test_without_what_binds_names_only_names_of_modules_and_classes_have_symbols() -> None:
    source = "LIMIT = 1\nclass C:\n kind = 2\n def m(self):\n  self.size = 3\ndef f():\n def g(): ...\n"
    rows = resolved({"main.py": source}).bindings
    symbols = {each.removeprefix(OWN) for each in rows.symbol}
    assert {"main/LIMIT.", "main/C#kind."} <= symbols
    assert not any("size" in each or "g" in each.rpartition("/")[2] for each in symbols)


def test_bindings_go_file_by_file_in_their_order() -> None:
    files = {"b.py": "x = 1\ndef f(): ...\ny = 2", "a.py": "z = 1\nimport json"}
    rows = resolved(files, bound_and_names(files)[0]).bindings
    places = list(zip(rows.path, rows.binding, strict=True))
    assert places == sorted(set(places))
    assert {path for path, _ in places} == {"a.py", "b.py"}


METHODS = (
    "class C:\n def m(self): ...\n @staticmethod\n def s(): ...\n @classmethod\n def k(cls): ...\nc = C()\n"
)


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("c.m", "main/C#m()."),
        ("C.m", "main/C#m()."),
        ("c.s", "main/C#s()."),
        ("c.k", "main/C#k()."),
        ("C.k", "main/C#k()."),
    ],
)
def test_an_attribute_refers_to_a_method_however_it_is_bound(text: str, symbol: str) -> None:
    found = references_of(f"{METHODS}{text}\n")
    name = symbol.removesuffix("().").replace("/", ".").replace("#", ".")
    assert found == {text: Reference(f"{OWN}{symbol}", f"main.py:{name}", "value", "exact")}


def test_an_attribute_refers_to_a_member_of_a_module() -> None:
    found = references_of(
        {
            "main.py": "import p.m\np.m.f\np.m.C\np.m.LIMIT",
            "p/__init__.py": "",
            "p/m.py": "def f(): ...\nclass C: ...\nLIMIT = 1",
        }
    )
    assert {text: (each.symbol, each.place, each.resolution) for text, each in found.items()} == {
        "p.m": (f"{OWN}`p.m`/", "p/m.py:p.m", "exact"),
        "p.m.f": (f"{OWN}`p.m`/f().", "p/m.py:p.m.f", "exact"),
        "p.m.C": (f"{OWN}`p.m`/C#", "p/m.py:p.m.C", "exact"),
    }
    assert found["p.m.C"].resolver == "class"


def test_an_attribute_refers_to_something_outside() -> None:
    found = references_of("import yaml\nyaml.load\n")
    assert found == {
        "yaml.load": Reference("headwater python PyYAML 6 yaml/load.", None, "external", "external")
    }


def test_an_attribute_refers_to_a_method_of_a_builtin() -> None:
    found = references_of("''.join\n")
    assert found == {"''.join": Reference(f"{PYTHON}builtins/str#join().", None, "builtin", "exact")}


def test_an_attribute_that_may_be_two_refers_to_one_and_says_so() -> None:
    source = "class A:\n def m(self): ...\nclass B:\n def m(self): ...\ndef f(x):\n x.m\nf(B())\nf(A())\n"
    assert references_of(source)["x.m"] == Reference(
        f"{OWN}main/A#m().", "main.py:main.A.m", "value", "ambiguous"
    )


def test_an_attribute_that_may_be_anything_refers_to_nothing() -> None:
    classes = "".join(f"class C{number}:\n def m(self): ...\n" for number in range(9))
    calls = [f"f(C{number}())\n" for number in range(9)]
    source = f"{classes}def f(x):\n x.m\n"
    assert "x.m" not in references_of(source + "".join(calls))
    assert "x.m" in references_of(source + "".join(calls[:8]))


def test_an_attribute_without_a_definition_refers_to_nothing() -> None:
    assert references_of("class C:\n kind = 1\nC.kind\ndef f(x): x.gone\n") == {}


def test_an_attribute_is_there_once_and_as_sure_as_it_says() -> None:
    rows = resolved({"main.py": f"{METHODS}c.m()\n"}).references
    assert len(rows.path) == len(set(zip(rows.path, rows.node, strict=True))) == 1
    assert 0 < rows.confidence[0] <= 1
