"""Python sources of a repository, now and in a revision: their bytes, trees and the names of their modules.

Not here: what is in a tree.
"""

from __future__ import annotations

import ast
import hashlib
import stat
import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING

from headwater.cpg.extract.syntax import is_test_path
from headwater.cpg.resolve.modules import index_modules
from headwater.errors import NameUnknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from headwater.cpg.questions.graph import Graph
    from headwater.cpg.questions.history import History

_SUFFIXES = (".py", ".pyi")


def paths_now(graph: Graph, history: History | None) -> list[str]:
    """The Python files that git lists; without git, those that the graph has."""
    listed = sorted({each for each in graph.code.paths if each}) if history is None else history.listed()
    return [each for each in listed if is_python(each)]


def read_now(root: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """The contents of those that are files; links are not followed."""
    found: dict[str, bytes] = {}
    for each in paths:
        place = root / each
        try:
            if stat.S_ISREG(place.lstat().st_mode):
                found[each] = place.read_bytes()
        except (OSError, ValueError):
            continue
    return found


def read_then(history: History, commit: str) -> dict[str, bytes]:
    """The contents of the Python files of a commit."""
    files = {path: each for path, each in history.files(commit).items() if is_python(path)}
    contents = history.contents(files.values())
    return {path: contents[each] for path, each in files.items() if each in contents}


def is_python(path: str) -> bool:
    """Whether a file is Python by its name."""
    return path.endswith(_SUFFIXES)


def is_test(path: str) -> bool:
    """Whether a file is a test by its name or by a folder's."""
    return is_test_path(path)


def has_id(content: bytes, told: str) -> bool:
    """Whether a content is the one that git has under an id."""
    algorithm = hashlib.sha256 if len(told) == 64 else hashlib.sha1  # noqa: PLR2004  hexadecimal digits
    return algorithm(b"blob %d\0" % len(content) + content).hexdigest() == told


def parse(content: bytes) -> ast.Module | None:
    """The tree of a source; None if it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def module_names(paths: Iterable[str]) -> Mapping[str, str]:
    """The dotted name of the module in each file."""
    return index_modules(paths).names


def within(names: Mapping[str, str], module: str | None) -> set[str]:
    """The files of a module or package, by its dotted name or the end of one; all files without any.

    Raises:
        NameUnknown: there is no such module.
    """
    if module is None:
        return set(names)
    exact = {path for path, name in names.items() if name == module or name.startswith(f"{module}.")}
    found = exact or {path for path, name in names.items() if f".{module}." in f".{name}."}
    if not found:
        near = ", ".join(get_close_matches(module, sorted(set(names.values()))))
        raise NameUnknown(name=module, hint=f"Near: {near}. " if near else "")
    return found


def packages(paths: Iterable[str]) -> frozenset[str]:
    """The folders that are packages."""
    return index_modules(paths).packages


def shown(paths: Iterable[str], most: int = 3) -> str:
    """A few paths as words of a note, with what would break a line made visible."""
    listed = sorted(paths)
    words = ", ".join(each if each.isprintable() else ascii(each) for each in listed[:most])
    return words if len(listed) <= most else f"{words} and {len(listed) - most} more"
