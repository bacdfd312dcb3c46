"""Which file a module is: as Python's own importer finds it, and where roots are guessed."""

from __future__ import annotations

from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.resolve.modules import index_modules, is_of_python

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

NAMES = ("qa", "qb", "__init__")
PATHS = st.sets(
    st.lists(st.sampled_from(NAMES[:2]), max_size=2).flatmap(
        lambda folders: st.sampled_from(NAMES).map(lambda name: "/".join([*folders, f"{name}.py"]))
    ),
    min_size=1,
    max_size=6,
).map(lambda paths: paths - {"__init__.py"} | {"main.py"})
DOTTED = [
    ".".join(parts)
    for length in (1, 2, 3)
    for parts in ([a, b, c][:length] for a in NAMES[:2] for b in NAMES[:2] for c in NAMES[:2])
]


def spec_of(root: Path, name: str) -> ModuleSpec | None:
    """What Python finds, without running anything."""
    folders = [str(root)]
    spec: ModuleSpec | None = None
    for part in name.split("."):
        finder = FileFinder(folders[0], (SourceFileLoader, SOURCE_SUFFIXES)) if folders else None
        spec = None if finder is None else finder.find_spec(part)
        if spec is None:
            return None
        folders = list(spec.submodule_search_locations or ())
    return spec


@given(PATHS)
def test_a_name_means_the_file_that_python_finds(paths: set[str]) -> None:
    index = index_modules(paths)
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for path in sorted(paths):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).touch()
        for name in DOTTED:
            spec = spec_of(root, name)
            found = index.find("main.py", name)
            if spec is not None:  # what Python does not find may be found from a root that is guessed
                assert found is not None
                expected = None if spec.origin is None else str(Path(spec.origin).relative_to(root))
                assert found[0] == expected


@pytest.mark.parametrize(
    ("paths", "names", "roots"),
    [
        (["a.py", "p/__init__.py", "p/q.py"], ["a", "p", "p.q"], ("",)),
        (["src/p/__init__.py", "src/p/q.py"], ["p", "p.q"], ("", "src")),
        (["src/alone.py"], ["alone"], ("", "src")),
        (["tests/p/__init__.py", "tests/p/q.py", "tests/t.py"], ["p", "p.q", "tests.t"], ("", "tests")),
        (["nest/inner/x.py"], ["nest.inner.x"], ("",)),
        (["__init__.py", "main.py", "sub/__init__.py"], ["__init__", "main", "sub"], ("",)),
        (["p/__init__.pyi", "p/q.pyi"], ["p", "p.q"], ("",)),
    ],
)
def test_names_count_from_above_the_outermost_package(
    paths: list[str], names: list[str], roots: tuple[str, ...]
) -> None:
    index = index_modules(paths)
    assert [index.names[path] for path in paths] == names
    assert index.roots == roots


def test_a_source_beats_the_stub_beside_it() -> None:
    index = index_modules(["a.pyi", "a.py", "b.pyi"])
    assert index.find("main.py", "a") == ("a.py", "a")
    assert index.find("main.py", "b") == ("b.pyi", "b")


def test_dots_count_from_the_folder_of_the_file() -> None:
    index = index_modules(["p/__init__.py", "p/a.py", "p/q/__init__.py", "p/q/b.py"])
    assert index.find_relative("p/q/b.py", 1, "") == ("p/q/__init__.py", "p/q")
    assert index.find_relative("p/q/b.py", 2, "a") == ("p/a.py", "p/a")
    assert index.find_relative("p/q/__init__.py", 1, "b") == ("p/q/b.py", "p/q/b")
    assert index.find_relative("p/a.py", 1, "none") is None


def test_a_package_of_tests_is_found_from_beside_it() -> None:
    index = index_modules(
        ["lib/__init__.py", "tests/one/__init__.py", "tests/one/m.py", "tests/two/__init__.py"]
    )
    assert index.find("tests/two/__init__.py", "one.m") == ("tests/one/m.py", "tests/one/m")
    assert index.find("tests/two/__init__.py", "lib") == ("lib/__init__.py", "lib")


def test_the_standard_library_is_known_by_its_names() -> None:
    assert is_of_python("os.path")
    assert not is_of_python("numpy.linalg")
