"""Where a module comes from (the project, a package, Python itself), its source, and what it imports.

Not here: loading the project's own modules.
"""

from __future__ import annotations

import ast
import dis
import enum
import importlib.util
import sys
import sysconfig
import types
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pyspark import cloudpickle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

_SITES = tuple(
    Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib") if sysconfig.get_path(kind)
)


class Home(enum.Enum):
    """Whose a module is; that decides what changes in it count."""

    STANDARD = "part of Python"
    INSTALLED = "part of an installed package"
    PROJECT = "the project's own"


def home_of(name: str | None) -> Home:
    """Whose the module is; one that is nobody else's is the project's."""
    if name is None:
        return Home.PROJECT
    parts = name.split(".")
    by_value = names_pickled_by_value()
    if any(".".join(parts[:end]) in by_value for end in range(1, len(parts) + 1)):
        return Home.PROJECT
    if parts[0] in sys.stdlib_module_names:
        return Home.STANDARD
    spec = _spec_of(name)
    if spec is None or spec.origin is None:
        # A namespace package, or a name that only an extension module knows.
        return Home.INSTALLED if parts[0] in _distributions() else Home.PROJECT
    origin = Path(spec.origin).resolve()
    return Home.INSTALLED if any(origin.is_relative_to(site) for site in _SITES) else Home.PROJECT


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
    found = sorted(set(_distributions().get(name.partition(".")[0], [])))
    return ", ".join(f"{package} {version(package)}" for package in found)


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
def _distributions() -> dict[str, list[str]]:
    return {name: list(found) for name, found in packages_distributions().items()}
