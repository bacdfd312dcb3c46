"""What a change of a file can be felt in: modules by their files, resolved imports, users of files.

One step is told, from a file to those that use it: who wants more asks again with what was found. What has
changed between two versions is in no graph of one: `headwater ask api --since` compares. Not here: edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import repository, typed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Of several reasons why a file feels a change of another the first of these is told.
_REASONS = ("CALLS", "INHERITS", "OVERRIDES", "REFERENCES_SYMBOL", "IMPORTS")


def module_index_of(definitions: DataFrame) -> DataFrame:
    """Which file each module of a repository is."""
    return definitions.where("kind = 'module' AND NOT is_external").select(
        repository(),
        F.col("name").alias("module"),
        typed("file_id", "FileId"),
        "path",
        typed("node_id", "NodeId"),
        F.col("path").rlike(r"(^|/)__init__\.pyi?$").alias("is_package"),
        "is_test",
    )


def imports_resolved_of(imports: DataFrame) -> DataFrame:
    """The imports of which it is known what they mean, in the repository or outside."""
    return imports.where("resolved_module IS NOT NULL OR resolved_symbol IS NOT NULL").select(
        repository(),
        "import_id",
        typed("file_id", "FileId"),
        "importer_module",
        "resolved_module",
        typed("resolved_file_id", "FileId"),
        "resolved_symbol",
        typed("resolved_node_id", "NodeId"),
        *("dist", "is_type_checking", "is_lazy"),
    )


def impacted_files_of(definitions: DataFrame) -> DataFrame:
    """One row per file and file that uses it: the strongest reason, and one definition that is used."""
    edges = definitions.where("NOT is_external").select(
        "repo_id",
        F.col("file_id").alias("changed_file_id"),
        F.col("path").alias("changed_path"),
        F.col("node_id").alias("used_id"),
        "kind",
        F.explode("incoming").alias("edge"),
    )
    # Who imports a module for one of its names feels a change of that name, and has an edge to it.
    felt = edges.where(
        f"edge.edge_kind IN {_REASONS} AND NOT (edge.edge_kind = 'IMPORTS' AND "
        "(kind = 'module' OR edge.label <=> 'type-checking'))"
    )
    users = definitions.where("NOT is_external").select(
        F.col("node_id").alias("user_id"),
        F.col("file_id").alias("user_file"),
        F.col("path").alias("user_path"),
    )
    order = F.array_position(F.array(*map(F.lit, _REASONS)), F.col("edge.edge_kind"))
    strongest = F.struct(order.alias("order"), F.col("edge.edge_kind").alias("kind"), "used_id")
    between = felt.join(users, F.col("edge.other_id") == F.col("user_id")).where(
        "user_file <> changed_file_id"
    )
    found = between.groupBy("repo_id", "changed_file_id", "changed_path", "user_file", "user_path").agg(
        F.min(strongest).alias("first"), F.count("*").alias("uses")
    )
    return found.select(
        repository(),
        typed("changed_file_id", "FileId"),
        "changed_path",
        typed("file_id", "FileId", F.col("user_file")),
        F.col("user_path").alias("path"),
        F.col("first.kind").alias("reason_kind"),
        typed("reason_ref", "NodeId", F.col("first.used_id")),
        "uses",
    )
