"""Imports, classes, calls, arguments and code, as far as one file tells. Not here: what they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.functions import stable_id_parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def imports_of(evidence: DataFrame) -> DataFrame:
    """One row per imported name."""
    found = entries(evidence, "imports", F.col("module_fqn").alias("importer_module"))
    return found.withColumn("node_id", node_at("node")).select(
        repository(),
        stable_id_parts("import", "node_id").alias("import_id"),
        typed("file_id", "FileId"),
        typed("node_id", "NodeId"),
        *("importer_module", "kind", "module", "name", "asname", "level"),
        *("is_type_checking", "is_conditional", "is_lazy"),
    )


def classes_of(evidence: DataFrame) -> DataFrame:
    """One row per class and base; a class without bases has one row."""
    return entries(evidence, "classes").select(
        repository(),
        typed("file_id", "FileId"),
        typed("class_node_id", "NodeId", node_at("node")),
        "base_idx",
        typed("base_node_id", "NodeId", node_at("base")),
        *("base_text", "metaclass", "is_dataclass", "is_protocol", "is_enum", "is_abstract"),
    )


def calls_of(evidence: DataFrame) -> DataFrame:
    """One row per call."""
    found = entries(evidence, "calls", F.col("nodes").alias("_nodes"))
    return found.withColumn("node_id", node_at("node")).select(
        repository(),
        _call_id("node_id").alias("call_id"),
        typed("file_id", "FileId"),
        typed("node_id", "NodeId"),
        typed("caller_def_id", "NodeId", node_at(F.get("_nodes", "node").getField("owner"))),
        typed("callee_node_id", "NodeId", node_at("callee")),
        "callee_text",
        typed("receiver_node_id", "NodeId", node_at("receiver")),
        *("dispatch", "arg_count", "has_star", "has_kwstar"),
    )


def call_args_of(evidence: DataFrame) -> DataFrame:
    """One row per argument of a call."""
    found = entries(evidence, "call_args").withColumn("call_node_id", node_at("call"))
    return found.select(
        repository(),
        _call_id("call_node_id").alias("call_id"),
        typed("file_id", "FileId"),
        "idx",
        typed("arg_node_id", "NodeId", node_at("node")),
        "keyword",
        "star",
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


def _call_id(node: str) -> Column:
    return stable_id_parts("call", node)
