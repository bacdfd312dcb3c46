"""What the user said; data only. A view is a value: its serialised plan, made without a JVM.

view, table, source        the decorators
extractor                  the decorator for functions of files
fixpoint, Fixpoint         the decorator for tables that are made of themselves, and what it says
pure                       the promise that a function in Python depends on its arguments alone
FILE_COLUMNS               what a source of files tells of each
root_property, FileChanged where its files lie, and what a worker says of one that is not as pinned
packaged_project           a pipeline that comes with a package -> ProjectConfig
project_not_found          what is wrong with a path that is neither project nor repository
read_project               headwater.toml (PROJECT_FILE) -> ProjectConfig; EVERY_TABLE is its "*"
OpenLineageSettings        where its events go; openlineage_in: with what the environment says
open_definitions           the definition files, imported -> LoadedProject
build_plan                 one function -> PlanBytes
build_pipeline             definitions -> Pipeline (ViewSpec, SourceSpec of a SourceKind)
sources_ahead              its sources, before anything is built
SchemaOracle               who answers when a view asks for a schema
"""

from headwater.pipeline.building import SchemaOracle, build_pipeline, build_plan
from headwater.pipeline.canonical import PlanBytes
from headwater.pipeline.definition import extractor, source, table, view
from headwater.pipeline.extracting import FILE_COLUMNS, FileChanged, root_property
from headwater.pipeline.fixpoints import fixpoint
from headwater.pipeline.loading import LoadedProject, open_definitions
from headwater.pipeline.openlineage import OpenLineageSettings, openlineage_in
from headwater.pipeline.placing import sources_ahead
from headwater.pipeline.project import (
    EVERY_TABLE,
    PROJECT_FILE,
    ProjectConfig,
    packaged_project,
    project_not_found,
    read_project,
)
from headwater.pipeline.purity import pure
from headwater.pipeline.spec import Fixpoint, Pipeline, SourceKind, SourceSpec, ViewSpec

__all__ = [
    "EVERY_TABLE",
    "FILE_COLUMNS",
    "PROJECT_FILE",
    "FileChanged",
    "Fixpoint",
    "LoadedProject",
    "OpenLineageSettings",
    "Pipeline",
    "PlanBytes",
    "ProjectConfig",
    "SchemaOracle",
    "SourceKind",
    "SourceSpec",
    "ViewSpec",
    "build_pipeline",
    "build_plan",
    "extractor",
    "fixpoint",
    "open_definitions",
    "openlineage_in",
    "packaged_project",
    "project_not_found",
    "pure",
    "read_project",
    "root_property",
    "source",
    "sources_ahead",
    "table",
    "view",
]
