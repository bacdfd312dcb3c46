"""Which module each file of a repository is, and which file a dotted name means to an importer.

A folder with an `__init__` is a package, and the folder above the outermost package is where imports begin
for what is inside. Any other folder is a namespace package for those who import from above it. A source
beats the stub beside it, and a package the module of its name. Not here: what a module has in it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SUFFIXES = (".py", ".pyi")
_INIT = "__init__"
_SOURCES = "src"
STDLIB = "python"


@dataclass(frozen=True, slots=True)
class ModuleIndex:
    """The modules of a repository.

    `names` has the dotted name of each path; `roots` are the folders that imports begin at, the repository's
    own first; `files` has the path of each module by folder and name, such as `src/a/b`; `folders` are all
    folders with a module in them or below.
    """

    names: Mapping[str, str]
    roots: tuple[str, ...]
    files: Mapping[str, str]
    folders: frozenset[str]
    packages: frozenset[str]
    found: dict[tuple[str, str], tuple[str | None, str] | None] = field(
        default_factory=dict["tuple[str, str]", "tuple[str | None, str] | None"]
    )

    def find(self, importer: str, name: str) -> tuple[str | None, str] | None:
        """The file and the place of the module that an importer's absolute name means, or nothing.

        The file is missing for a namespace package. The place is its path without suffix and `__init__`.
        """
        begin = self.begin_of(importer)
        key = (begin, name)
        if key not in self.found:
            sure = dict.fromkeys((begin, "", _SOURCES))
            guessed = [root for root in self.roots if root not in sure]
            self.found[key] = self._find_below(name, sure) or self._find_below(name, guessed)
        return self.found[key]

    def _find_below(self, name: str, roots: Iterable[str]) -> tuple[str | None, str] | None:
        """The first file at a name; a namespace package only where there is none."""
        steps = name.replace(".", "/")
        some = [at for root in roots if (at := self.at(f"{root}/{steps}" if root else steps)) is not None]
        return next((each for each in some if each[0] is not None), some[0] if some else None)

    def find_relative(self, importer: str, level: int, name: str) -> tuple[str | None, str] | None:
        """The same for a name with dots before it."""
        folder = importer.rpartition("/")[0]
        for _ in range(level - 1):
            folder = folder.rpartition("/")[0]
        steps = name.replace(".", "/")
        place = f"{folder}/{steps}" if folder and steps else folder or steps
        return self.at(place)

    def at(self, place: str) -> tuple[str | None, str] | None:
        """The file of the module at a place."""
        path = self.files.get(place)
        if path is not None:
            return path, place
        return (None, place) if place in self.folders else None

    def begin_of(self, importer: str) -> str:
        """The folder at which imports of a file begin: above its outermost package."""
        folder = importer.rpartition("/")[0]
        while folder and folder in self.packages:
            folder = folder.rpartition("/")[0]
        return folder


def index_modules(paths: Iterable[str]) -> ModuleIndex:
    """The modules in files with these paths."""
    modules = sorted(path for path in paths if path.endswith(_SUFFIXES))
    files: dict[str, str] = {}
    for path in sorted(modules, key=lambda path: (path.rpartition(".")[2], _stem(path) != _INIT, path)):
        place = place_of(path)
        if place:
            files.setdefault(place, path)
    packages = frozenset(path.rpartition("/")[0] for path in modules if _stem(path) == _INIT)
    folders = _folders(modules)
    index = ModuleIndex({}, (), files, folders, packages)
    tops = {index.begin_of(path) for path in modules if path.rpartition("/")[0] in packages}
    likely = {"", *([_SOURCES] if _SOURCES in folders and _SOURCES not in packages else [])}
    roots = tuple(
        sorted(tops | likely, key=lambda root: (root != "", root != _SOURCES, root.count("/"), root))
    )
    names = {path: _name_of(path, index, roots) for path in modules}
    return ModuleIndex(names, roots, files, folders, packages)


def place_of(path: str) -> str:
    """The path of a module without its suffix, and without `__init__`."""
    stem = path.rpartition(".")[0]
    return stem.rpartition("/")[0] if stem.rpartition("/")[2] == _INIT else stem


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def is_of_python(name: str) -> bool:
    """Whether a dotted name is of the standard library."""
    return name.partition(".")[0] in sys.stdlib_module_names


def _folders(paths: Iterable[str]) -> frozenset[str]:
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)


def _name_of(path: str, index: ModuleIndex, roots: tuple[str, ...]) -> str:
    """A module in a package counts from above the package, others from the repository or its sources."""
    place = place_of(path)
    if path.rpartition("/")[0] in index.packages:
        begin = index.begin_of(path)
    else:
        begin = _SOURCES if _SOURCES in roots and path.startswith(f"{_SOURCES}/") else ""
    own = place[len(begin) + 1 :] if begin else place
    return own.replace("/", ".") or _INIT
