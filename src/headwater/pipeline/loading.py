"""Finds and imports a project's definition files, in sorted order.

A Python file is imported under a name of its own, with the project's folder on the path, and what it imported
from that folder is forgotten afterwards: two projects, or two states of one, never see each other's modules.
Not here: running the functions that were found.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import (
    DefinitionFileFailed,
    DuplicateName,
    FileNameNotUtf8,
    HeadwaterError,
    InvalidSetting,
    NotInAView,
)
from headwater.names import check_name, same_name
from headwater.origin import Origin
from headwater.pipeline.definition import Definition, SqlDefinition, collecting
from headwater.pipeline.modules import modules_below, modules_in_the_way, project_root
from headwater.pipeline.offline import OfflineSession, resume_offline
from headwater.pipeline.offline_mode import process_lock

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from types import ModuleType, TracebackType

    from headwater.pipeline.definition import DefinitionKind
    from headwater.pipeline.project import ProjectConfig

_DIRECTIVE = "-- headwater:"
_DIRECTIVE_LINE = re.compile(r"\s*--\s*headwater\s*:(.*)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class LoadedProject:
    """All definitions of a project, sorted by name, and the session that was there when they were imported.

    What a file makes as it is imported (a function for columns, a column, a window) belongs to that session,
    so views are built with the same one.
    """

    config: ProjectConfig
    definitions: tuple[Definition, ...]
    session: OfflineSession

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        """The project's own modules that are imported now; a view may import more of them as it is built."""
        return () if self.config.declare else tuple(modules_below(self.config.root).values())


@contextmanager
def open_definitions(
    config: ProjectConfig, *, settings: Mapping[str, str] | None = None
) -> Generator[LoadedProject]:
    """Imports the Python files and reads the SQL files that the project's configuration names.

    The project's modules stay imported within the context, so that its functions can be built, and are gone
    after it. One project is open at a time in a process: imports are process-wide. `settings` are Spark's, as
    the profile has them; files that ask for one while they are imported are told these.

    Raises:
        DefinitionFileFailed: a file does not import or cannot be read; with the line.
        DuplicateName, InvalidName, FileNameNotUtf8: the definitions do not add up.
    """
    files = [] if config.declare else _definition_files(config)
    session = OfflineSession(settings)
    # What comes with a package is imported already; the folder it works on is data, and stays off the path.
    with process_lock, nullcontext() if config.declare else _own_modules(config.root):
        with collecting() as found, resume_offline(session, None):
            if config.declare:
                config.declare()
            for file in files:
                if file.suffix == ".sql":
                    found.append(_read_sql(file))
                else:
                    _import_file(config.root, file)
        _check_distinct(found)
        ordered = tuple(sorted(found, key=lambda each: each.name))
        yield LoadedProject(config=config, definitions=ordered, session=session)


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
            raise _wrong_definitions(config, f"{entry!r}, which is not there")
        if not place.resolve().is_relative_to(config.root):
            raise _wrong_definitions(config, f"{entry!r}, which is outside")
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


def _wrong_definitions(config: ProjectConfig, value: str) -> InvalidSetting:
    return InvalidSetting(
        key="definitions",
        value=value,
        expected="folders or files that are there, below the project's own folder",
        origin=config.source.origin_of("definitions"),
    )


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
        directive = _DIRECTIVE_LINE.match(line)
        if directive:
            word = directive.group(1).strip()
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
    if any(getattr(module, "__file__", None) == str(file) for module in modules_below(root).values()):
        return  # by a file that comes earlier
    parts = file.relative_to(root).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
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
def _own_modules(root: Path) -> Generator[None]:
    """The project's folder first on the path, nothing of it imported yet, and nothing left behind."""
    path, writes = list(sys.path), sys.dont_write_bytecode
    before = {**modules_below(root), **modules_in_the_way(root)}
    _forget(before)
    importlib.invalidate_caches()
    sys.path.insert(0, str(root))
    sys.dont_write_bytecode = True
    try:
        with project_root(root):
            yield
    finally:
        sys.path[:] = path
        sys.dont_write_bytecode = writes
        _forget(modules_below(root))
        sys.modules.update(before)


def _forget(modules: Mapping[str, ModuleType]) -> None:
    for name in modules:
        del sys.modules[name]


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
