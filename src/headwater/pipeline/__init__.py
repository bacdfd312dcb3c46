"""What the user said; data only. A view is a value: its serialised plan, made without a JVM.

view, table, source        the decorators
read_project               headwater.toml (PROJECT_FILE) -> ProjectConfig
open_definitions           the definition files, imported -> LoadedProject
build_plan                 one function -> PlanBytes
build_pipeline             definitions -> Pipeline (ViewSpec, SourceSpec of a SourceKind)
SchemaOracle               who answers when a view asks for a schema
"""

from headwater.pipeline.building import SchemaOracle, build_pipeline, build_plan
from headwater.pipeline.canonical import PlanBytes
from headwater.pipeline.definition import source, table, view
from headwater.pipeline.loading import LoadedProject, open_definitions
from headwater.pipeline.project import PROJECT_FILE, ProjectConfig, read_project
from headwater.pipeline.spec import Pipeline, SourceKind, SourceSpec, ViewSpec

__all__ = [
    "PROJECT_FILE",
    "LoadedProject",
    "Pipeline",
    "PlanBytes",
    "ProjectConfig",
    "SchemaOracle",
    "SourceKind",
    "SourceSpec",
    "ViewSpec",
    "build_pipeline",
    "build_plan",
    "open_definitions",
    "read_project",
    "source",
    "table",
    "view",
]
