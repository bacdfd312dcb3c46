"""Imports and classes with what they mean, and code. Not here: calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.cpg.graph.meanings import resolved
from headwater.functions import stable_id_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def imports_of(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    """One row per imported name, with the module and the definition that it means."""
    found = entries(evidence, "imports", F.col("module_fqn").alias("importer_fqn"))
    written = found.withColumn("node_id", node_at("node")).drop("node", "_ids")
    meant = resolved(resolution, "imports", F.col("module").alias("importer")).select(
        F.col("node_id").alias("meant_id"),
        *("importer", "resolved_module", "resolved_file_id"),
        F.col("symbol").alias("resolved_symbol"),
        F.col("def_id").alias("resolved_node_id"),
        *("dist", "resolution", "chain"),
    )
    joined = written.join(meant, F.col("node_id") == F.col("meant_id"), "left")
    return joined.select(
        repository(),
        stable_id_parts("import", "node_id").alias("import_id"),
        typed("file_id", "FileId"),
        typed("node_id", "NodeId"),
        F.coalesce("importer", "importer_fqn").alias("importer_module"),
        *("kind", "module", "name", "asname", "level"),
        *("is_type_checking", "is_conditional", "is_lazy", "resolved_module"),
        typed("resolved_file_id", "FileId"),
        "resolved_symbol",
        typed("resolved_node_id", "NodeId"),
        "dist",
        F.coalesce("resolution", F.lit("unresolved")).alias("resolution"),
        "chain",
    )


def classes_of(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    """One row per class, base and what that may be; a class without bases has one row."""
    written = entries(evidence, "classes").withColumn("class_node_id", node_at("node"))
    meant = resolved(resolution, "bases").select(
        F.col("class_id").alias("meant_id"),
        F.col("base_idx").alias("meant_idx"),
        F.col("symbol").alias("base_symbol"),
        F.col("def_id").alias("base_def_id"),
    )
    same = (F.col("class_node_id") == F.col("meant_id")) & (F.col("base_idx") == F.col("meant_idx"))
    return written.join(meant, same, "left").select(
        repository(),
        typed("file_id", "FileId"),
        typed("class_node_id", "NodeId"),
        "base_idx",
        typed("base_node_id", "NodeId", node_at("base")),
        *("base_text", "base_symbol"),
        typed("base_def_id", "NodeId"),
        *("metaclass", "is_dataclass", "is_protocol", "is_enum", "is_abstract"),
    )


def code_objects_of(evidence: DataFrame) -> DataFrame:
    """One row per code object that Python's compiler made."""
    return entries(evidence, "codes").select(
        repository(),
        typed("file_id", "FileId"),
        typed("node_id", "NodeId", node_at("node")),
        *("kind", "arg_count", "local_count", "cell_count", "free_count"),
        *("stack_size", "instructions", "line_count"),
    )
