"""Finds and imports a project's definition files, in sorted order.

A Python file is imported under a name of its own, with the project's folder on the path, and what it imported
from that folder is forgotten afterwards: two projects, or two states of one, never see each other's modules.
Not here: running the functions that were found.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import DefinitionFileFailed, DuplicateName, FileNameNotUtf8, HeadwaterError, NotInAView
from headwater.names import check_name, same_name
from headwater.origin import Origin
from headwater.pipeline.definition import Definition, SqlDefinition, collecting

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import ModuleType, TracebackType

    from headwater.pipeline.definition import DefinitionKind
    from headwater.pipeline.project import ProjectConfig

_DIRECTIVE = "-- headwater:"
_lock = threading.RLock()


@dataclass(frozen=True, kw_only=True)
class LoadedProject:
    """All definitions of a project, sorted by name, and the project's own modules behind them."""

    config: ProjectConfig
    definitions: tuple[Definition, ...]
    modules: tuple[ModuleType, ...]


@contextmanager
def open_definitions(config: ProjectConfig) -> Generator[LoadedProject]:
    """Imports the Python files and reads the SQL files that the project's configuration names.

    The project's modules stay imported within the context, so that its functions can be built, and are gone
    after it. One project is open at a time in a process: imports are process-wide.

    Raises:
        DefinitionFileFailed: a file does not import or cannot be read; with the line.
        DuplicateName, InvalidName, FileNameNotUtf8: the definitions do not add up.
    """
    files = _definition_files(config)
    with _lock, _own_modules(config.root) as modules:
        with collecting() as found:
            for file in files:
                if file.suffix == ".sql":
                    found.append(_read_sql(file))
                else:
                    _import_file(config.root, file)
        _check_distinct(found)
        ordered = tuple(sorted(found, key=lambda each: each.name))
        yield LoadedProject(config=config, definitions=ordered, modules=tuple(modules()))


def user_origin(error: BaseException, root: Path) -> Origin | None:
    """The innermost line of the user's own files that an exception passed through."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(root):
        return Origin(error.filename, error.lineno or 0)
    found: Origin | None = None
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if Path(name).is_relative_to(root) and "site-packages" not in name:
            found = Origin(name, trace.tb_lineno)
        trace = trace.tb_next
    return found


def _definition_files(config: ProjectConfig) -> list[Path]:
    files: list[Path] = []
    for entry in config.definitions:
        place = config.root / entry
        if not place.exists():
            detail = f"the project's definitions name {entry!r}, which is not there"
            raise DefinitionFileFailed(detail=detail, origin=config.source.origin_of("definitions"))
        files += [place] if place.is_file() else sorted(place.rglob("*"))
    chosen = sorted(
        {file for file in files if file.suffix in {".py", ".sql"} and _is_visible(file, config.root)}
    )
    for file in chosen:
        try:
            str(file).encode()
        except UnicodeEncodeError:
            raise FileNameNotUtf8(shown=ascii(str(file.relative_to(config.root)))) from None
    return chosen


def _is_visible(file: Path, root: Path) -> bool:
    parts = file.relative_to(root).parts
    return file.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts)


def _read_sql(file: Path) -> SqlDefinition:
    origin = Origin(str(file), 1)
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionFileFailed(detail=str(error), origin=origin) from error
    kind: DefinitionKind = "view"
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(_DIRECTIVE):
            word = line.removeprefix(_DIRECTIVE).strip()
            if word == "table":
                kind = "table"
            elif word != "view":
                detail = (
                    f"'{_DIRECTIVE} {word}' is not known; write '{_DIRECTIVE} table' or '{_DIRECTIVE} view'"
                )
                raise DefinitionFileFailed(detail=detail, origin=Origin(str(file), number))
    try:
        name = check_name(file.stem)
    except HeadwaterError as error:
        error.origin = origin
        raise
    return SqlDefinition(name=name, kind=kind, origin=origin, text=text)


def _import_file(root: Path, file: Path) -> None:
    name = ".".join(file.relative_to(root).with_suffix("").parts)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise DefinitionFileFailed(detail="Python does not know how to import it", origin=Origin(str(file)))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except HeadwaterError as error:
        error.origin = error.origin or user_origin(error, root)
        raise
    except (Exception, SystemExit) as error:
        detail = f"{type(error).__name__}: {error}"
        raise DefinitionFileFailed(
            detail=detail, origin=user_origin(error, root) or Origin(str(file))
        ) from error


@contextmanager
def _own_modules(root: Path) -> Generator[_ModuleLister]:
    """The project's folder first on the path, nothing of it imported yet, and nothing left behind."""
    path, before = list(sys.path), dict(sys.modules)
    writes = sys.dont_write_bytecode
    sys.path.insert(0, str(root))
    sys.dont_write_bytecode = True
    try:
        yield _ModuleLister(root, before)
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = writes
        for name in sorted(set(sys.modules) - set(before)):
            if _is_below(sys.modules[name], root):
                del sys.modules[name]
        sys.modules.update(before)


class _ModuleLister:
    def __init__(self, root: Path, before: dict[str, ModuleType]) -> None:
        self._root = root
        self._before = before

    def __call__(self) -> list[ModuleType]:
        new = sorted(name for name, module in sys.modules.items() if self._before.get(name) is not module)
        return [sys.modules[name] for name in new if _is_below(sys.modules[name], self._root)]


def _is_below(module: ModuleType, root: Path) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).is_relative_to(root) and "site-packages" not in file


def _check_distinct(found: list[Definition]) -> None:
    seen: dict[str, Definition] = {}
    for definition in found:
        other = seen.setdefault(same_name(definition.name), definition)
        if other is not definition:
            raise DuplicateName(name=definition.name, other=other.origin, origin=definition.origin)
        if definition.name == "spark":
            raise NotInAView(
                member="the name 'spark'",
                remedy="It is the session's; choose another name.",
                origin=definition.origin,
            )
