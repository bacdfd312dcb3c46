"""Where a module comes from (the project, a package, Python itself), its source, and what it imports.

Not here: loading the project's own modules.
"""

from __future__ import annotations

import ast
import dis
import enum
import importlib.util
import os
import sys
import sysconfig
import types
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pyspark import cloudpickle

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping
    from importlib.machinery import ModuleSpec

_SITES = tuple(
    Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib") if sysconfig.get_path(kind)
)

_OWN = __name__.partition(".")[0]
_roots: list[Path] = []  # of the projects that are open


class Home(enum.Enum):
    """Whose a module is; that decides what changes in it count."""

    STANDARD = "part of Python"
    INSTALLED = "part of an installed package"
    PROJECT = "the project's own"


def home_of(name: str | None) -> Home:
    """Whose the module is; one that is nobody else's is the project's. This package is always installed.

    So its version stands for its code in a checkout, too, where looking at all of it would take seconds.
    """
    if name is None:
        return Home.PROJECT
    parts = name.split(".")
    if parts[0] == _OWN:
        return Home.INSTALLED
    by_value = names_pickled_by_value()
    if any(".".join(parts[:end]) in by_value for end in range(1, len(parts) + 1)):
        return Home.PROJECT
    if parts[0] in sys.stdlib_module_names:
        return Home.STANDARD
    spec = _spec_of(name)
    if spec is None or spec.origin is None:
        # A namespace package, or a name that only an extension module knows.
        return Home.INSTALLED if _packages_of(parts[0]) else Home.PROJECT
    origin = Path(spec.origin).resolve()
    return Home.INSTALLED if any(origin.is_relative_to(site) for site in _SITES) else Home.PROJECT


@contextmanager
def project_root(root: Path) -> Generator[None]:
    """While entered, modules in files below `root` are the project's own."""
    _roots.append(root)
    try:
        yield
    finally:
        _roots.remove(root)


def modules_below(root: Path) -> dict[str, types.ModuleType]:
    """The imported modules whose source is below `root`, by name, sorted; without this package."""
    return {name: module for name, module in _own_or_others() if _has_source_below(root, module)}


def modules_in_the_way(root: Path) -> dict[str, types.ModuleType]:
    """The imported modules that hide those in the folder `root`: of the same name, from another folder."""
    taken = {entry.stem for entry in sorted(root.iterdir()) if entry.suffix == ".py" or entry.is_dir()}
    return {
        name: module
        for name, module in _own_or_others()
        if name.partition(".")[0] in taken and _has_source_below(Path(root.anchor), module)
    }


def _own_or_others() -> list[tuple[str, types.ModuleType]]:
    return [
        (name, module)
        for name, module in sorted(sys.modules.items())
        if (top := name.partition(".")[0]) not in sys.stdlib_module_names and top not in {"__main__", _OWN}
    ]


def is_below_root(name: str) -> bool:
    """Whether the module's source is in the folder of a project that is open, imported or not."""
    top = name.partition(".")[0]
    if not _roots or top == _OWN or top in sys.stdlib_module_names:
        return False
    spec = _spec_of(name)
    return spec is not None and any(_is_source_below(root, spec.origin) for root in _roots)


def _has_source_below(root: Path, module: types.ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if file is not None or not hasattr(module, "__path__"):
        return _is_source_below(root, file)
    parts = [str(part) for part in module.__path__]  # a package without a file is its folders
    return bool(parts) and all(_is_own(root, part) for part in parts)


def _is_source_below(root: Path, file: object) -> bool:
    return isinstance(file, str) and file.endswith(".py") and _is_own(root, file)


def _is_own(root: Path, path: str) -> bool:
    # Asked of all that is imported, for every function that is pickled; as texts, paths are ten times faster.
    start = str(root) if root == root.parent else f"{root}{os.sep}"
    return (path.startswith(start) or _real_path(path).startswith(start)) and "site-packages" not in path


def is_foreign(value: object) -> bool:
    """Whether a function or class can be imported by its name, and from elsewhere than the project."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or home_of(module) is Home.PROJECT:
        return False
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def names_pickled_by_value() -> frozenset[str]:
    """Names of the modules whose functions pyspark pickles with their code."""
    found = cast("set[str]", cloudpickle.list_registry_pickle_by_value())  # pyright: ignore[reportPrivateImportUsage]
    return frozenset(found)


def package_version(name: str) -> str:
    """The versions of the packages that bring the module's top-level name."""
    return ", ".join(f"{package} {version(package)}" for package in _packages_of(name.partition(".")[0]))


def is_module(name: str) -> bool:
    """Whether there is a module of that name, imported or not."""
    return name in sys.modules or _spec_of(name) is not None


def is_package(name: str) -> bool:
    """Whether relative imports in the module start from itself."""
    spec = _spec_of(name)
    return spec is not None and spec.submodule_search_locations is not None


def source_of(name: str) -> str | None:
    """The source of a module, or None where there is none to read."""
    spec = _spec_of(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    try:
        return Path(spec.origin).read_text(encoding="utf-8")
    except OSError:
        return None


def imports_of_source(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    """Pairs of module and name for every import statement; the name is empty for a plain `import`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node.module or "", node.level, package)
            yield from ((module, alias.name) for alias in node.names)


def imports_of_code(code: types.CodeType, package: str | None) -> Iterator[tuple[str, str]]:
    """The same, for imports that a function makes when it is called."""
    for part in _codes_of(code):
        before: list[dis.Instruction] = []
        for instruction in dis.get_instructions(part):
            if instruction.opname == "IMPORT_NAME":
                level, names = (cast("object", found.argval) for found in before[-2:])
                module = _absolute(cast("str", instruction.argval), cast("int", level), package or "")
                for name in cast("tuple[str, ...] | None", names) or ("",):
                    yield module, name
            before.append(instruction)


def modules_imported_by(name: str, part: str) -> tuple[str, ...]:
    """What may be modules in `from name import part`, or in `import name` if there is no part."""
    return (name, f"{name}.{part}") if part else (name,)


def globals_of_code(code: types.CodeType) -> Iterator[str]:
    """Names that the code, or code nested in it, looks up outside of itself."""
    for part in _codes_of(code):
        for instruction in dis.get_instructions(part):
            if instruction.opname in {"LOAD_GLOBAL", "LOAD_NAME"}:
                yield cast("str", instruction.argval)


def _codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes_of(constant)


def _absolute(module: str, level: int, package: str) -> str:
    if not level:
        return module
    base = package.rsplit(".", level - 1)[0] if package else ""
    return f"{base}.{module}".strip(".")


def _spec_of(name: str) -> ModuleSpec | None:
    module = sys.modules.get(name)
    if module is not None:
        spec = cast("ModuleSpec | None", getattr(module, "__spec__", None))
        return spec or _spec_from_file(name, module)
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None


def _spec_from_file(name: str, module: types.ModuleType) -> ModuleSpec | None:
    # `__main__` of a script, or a module made by exec, has a file but no spec.
    path = cast("str | None", getattr(module, "__file__", None))
    return importlib.util.spec_from_file_location(name, path) if path else None


@cache
def _real_path(path: str) -> str:
    return os.path.realpath(path)


@cache
def _packages_of(top: str) -> tuple[str, ...]:
    """The packages that bring a top-level name.

    Most have the name of what they bring; to ask every installed one takes a third of a second.
    """
    spec = _spec_of(top)
    is_namespace = spec is not None and spec.origin is None  # several may bring a part of it
    if not is_namespace and _brings_its_name(top):
        return (distribution(top).name,)
    return tuple(sorted(set(_distributions().get(top, ()))))


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


def _brings_its_name(package: str) -> bool:
    """Whether there is a package of this name, and it brings a module of this name."""
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return False
    # One that is installed in place has no files but a pointer to them.
    is_in_place = '"editable": true' in (found.read_text("direct_url.json") or "")
    own = {package, f"{package}.py"}
    return is_in_place or any(file.parts[0] in own for file in found.files or ())
