"""Sources that lie at a path: what their definitions say, where this project's locations put them.

Not here: sources that a function makes, or whose rows stand in a definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.errors import InvalidSetting
from headwater.names import same_name
from headwater.pipeline.definition import FunctionDefinition, PathDefinition
from headwater.pipeline.extracting import FILES
from headwater.pipeline.project import Location
from headwater.pipeline.spec import SourceKind, SourceSpec

if TYPE_CHECKING:
    from headwater.pipeline.loading import LoadedProject
    from headwater.pipeline.project import ProjectConfig


def sources_ahead(loaded: LoadedProject) -> tuple[SourceSpec, ...] | None:
    """The sources of a project before anything of it is built; None where functions make some of them."""
    if any(isinstance(each, FunctionDefinition) and each.kind == "source" for each in loaded.definitions):
        return None
    paths = (each for each in loaded.definitions if isinstance(each, PathDefinition))
    return tuple(path_source(each, loaded.config) for each in paths)


def path_source(definition: PathDefinition, config: ProjectConfig) -> SourceSpec:
    """A source as its definition says, where this project's locations put it."""
    locations = {same_name(name): each for name, each in config.locations.items()}
    place = locations.get(same_name(definition.name), Location())
    kinds: dict[str, SourceKind] = {"delta": "delta", FILES: "files"}
    kind = kinds.get(definition.file_format, "listing")
    if kind != "delta" and place.said:
        raise InvalidSetting(
            key=definition.name,
            value=f"a location with {place.said[0]}",
            expected=f"a path alone: the source is not a Delta table but {definition.file_format}",
            origin=definition.origin,
        )
    try:
        read = definition.read.with_location(place.read, place.said)
    except InvalidSetting as error:
        error.origin = definition.origin
        raise
    return SourceSpec(
        name=definition.name,
        origin=definition.origin,
        kind="changes" if read.changes is not None else kind,
        path=place.path or definition.path,
        file_format=definition.file_format,
        schema=definition.schema,
        options=definition.options,
        read=read,
    )
