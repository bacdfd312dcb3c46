"""The public surface of a set of sources: what may be imported from its modules without an underscore.

A name is public if `__all__` has it; without one, if it has no underscore and is defined there, imported `as`
itself, or imported into a package from within it. Not here: how two surfaces differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.questions.skeleton import Skeleton, skeleton_of
from headwater.cpg.questions.sources import is_test, module_names, packages, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater.cpg.questions.skeleton import Import, Member

_INIT = ("/__init__.py", "/__init__.pyi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A public name: where it stands, what it is, and its dotted name where it is defined."""

    name: str
    kind: str
    path: str
    line: int
    origin: str
    member: Member | None = None

    @property
    def text(self) -> str:
        """How it reads: its signature, its bases or its annotation."""
        return "" if self.member is None else self.member.text


@dataclass(slots=True)
class Surface:
    """Public names by their dotted names, and the files that do not parse."""

    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    unread: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Modules:
    """The skeletons of all modules by their dotted names, and their files."""

    skeletons: dict[str, Skeleton] = field(default_factory=dict[str, Skeleton])
    paths: dict[str, str] = field(default_factory=dict[str, str])

    def target(self, module: str, told: Import) -> str:
        """The absolute name of the module that an import means."""
        if not told.level:
            return told.module
        parts = module.split(".")
        up = told.level - f"/{self.paths[module]}".endswith(_INIT)
        base = parts[: len(parts) - up] if up else parts
        return ".".join((*base, *([told.module] if told.module else [])))

    def exposed(self, module: str, seen: frozenset[str] = frozenset()) -> Iterator[str]:
        """The public names of a module."""
        skeleton = self.skeletons[module]
        if skeleton.exported is not None:
            yield from dict.fromkeys(skeleton.exported)
            return
        names = [each for each in skeleton.members if "." not in each]
        is_package = self.paths[module].endswith(_INIT)
        top = module.partition(".")[0]
        for name, told in skeleton.imports.items():
            is_own = self.target(module, told).partition(".")[0] == top
            if told.is_meant or (is_package and told.name is not None and is_own):
                names.append(name)
        if is_package:
            for star in skeleton.stars:
                source = self.target(module, star)
                if source in self.skeletons and source not in seen and source != module:
                    names += self.exposed(source, seen | {module})
        yield from (each for each in dict.fromkeys(names) if not each.startswith("_"))

    def found(self, module: str, name: str) -> tuple[str, str | None] | None:
        """Where a name of a module is defined: the module and the name in it; no name for a module itself."""
        seen: set[tuple[str, str]] = set()
        waiting = [(module, name)]
        while waiting:
            module, name = waiting.pop(0)
            if (module, name) in seen:
                continue
            seen.add((module, name))
            skeleton = self.skeletons.get(module)
            if skeleton is not None and name in skeleton.members:
                return module, name
            if skeleton is not None and (told := skeleton.imports.get(name)) is not None:
                target = self.target(module, told)
                if told.name is None:
                    return target, None
                if target not in self.skeletons and f"{target}.{told.name}" not in self.skeletons:
                    return target, told.name
                waiting.insert(0, (target, told.name))
            elif f"{module}.{name}" in self.skeletons:
                return f"{module}.{name}", None
            elif skeleton is not None:
                sources = [self.target(module, each) for each in skeleton.stars]
                waiting += [(each, name) for each in sources if each in self.skeletons]
        return None


def surface_of(sources: Mapping[str, bytes], known: dict[bytes, Skeleton | None]) -> Surface:
    """The public surface of these files; `known` keeps what was found in contents that come again."""
    names, folders = module_names(sources), packages(sources)
    surface, modules = Surface(), _Modules()
    for path in sorted(sources, key=lambda each: (each.rpartition(".")[2], each)):
        if is_test(path) or names[path] in modules.skeletons:
            continue
        content = sources[path]
        if content not in known:
            tree = parse(content)
            known[content] = None if tree is None else skeleton_of(tree)
        skeleton = known[content]
        if skeleton is None:
            surface.unread.append(path)
            continue
        modules.skeletons[names[path]] = skeleton
        modules.paths[names[path]] = path
    for module in sorted(modules.skeletons):
        if _is_public(module) and _is_packaged(modules.paths[module], folders):
            _expose(surface, modules, module)
    return surface


def _expose(surface: Surface, modules: _Modules, module: str) -> None:
    path, skeleton = modules.paths[module], modules.skeletons[module]
    surface.entries[module] = Entry(name=module, kind="module", path=path, line=1, origin=module)
    for name in modules.exposed(module):
        dotted = f"{module}.{name}"
        where = modules.found(module, name)
        if dotted in modules.skeletons and where == (dotted, None):
            continue
        told = skeleton.imports.get(name)
        line = told.line if told is not None else 1
        home = None if where is None or where[1] is None else modules.skeletons.get(where[0])
        if where is None or home is None or where[1] is None:
            origin = dotted if where is None else ".".join(each for each in where if each)
            entry = Entry(name=dotted, kind="name", path=path, line=line, origin=origin)
            surface.entries.setdefault(dotted, entry)
            continue
        inner = f"{where[1]}."
        for own, member in home.members.items():
            rest = own.removeprefix(inner) if own.startswith(inner) else None
            if own != where[1] and (rest is None or not _is_open(rest, member)):
                continue
            full = dotted if rest is None else f"{dotted}.{rest}"
            surface.entries[full] = Entry(
                name=full,
                kind=member.kind,
                path=path,
                line=member.line if where[0] == module else line,
                origin=f"{where[0]}.{own}",
                member=member,
            )


def _is_public(module: str) -> bool:
    return all(part.isidentifier() and not part.startswith("_") for part in module.split("."))


def _is_open(own: str, member: Member) -> bool:
    """Whether a member of a class is for everybody: no underscore, or a method that Python itself calls."""
    *around, last = own.split(".")
    is_special = (
        member.kind != "variable"
        and last.startswith("__")
        and last.endswith("__")
        and len(last) > len("____")
    )
    return not any(each.startswith("_") for each in around) and (is_special or not last.startswith("_"))


def _is_packaged(path: str, folders: frozenset[str]) -> bool:
    """Whether a file is in a package; where there is none, every module is offered."""
    if not folders:
        return True
    parts = path.split("/")[:-1]
    return any("/".join(parts[:number]) in folders for number in range(1, len(parts) + 1)) or "" in folders
