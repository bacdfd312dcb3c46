"""Files, and what is wrong with them. Not here: what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import repository
from headwater.functions import file_id, stable_id_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def files_of(evidence: DataFrame) -> DataFrame:
    """One row per file, read or not."""
    path = F.col("path")
    by_name = (
        F.when(path.endswith(".pyi"), "stub").when(path.endswith(".ipynb"), "notebook").otherwise("python")
    )
    return evidence.select(
        repository(),
        file_id("repo_id", "path").alias("file_id"),
        "path",
        "content_sha256",
        "size_bytes",
        "encoding",
        "newline",
        F.coalesce("language", by_name).alias("language"),
        "is_test",
        "module_fqn",
        "line_starts",
        "line_count",
        "text_bytes",
        "notebook_cell_map",
        F.when(F.col("skip_reason").isNotNull(), "skipped")
        .otherwise(F.coalesce("parse_status", F.lit("failed")))
        .alias("parse_status"),
        F.coalesce("skip_reason", "extract_error").alias("skip_reason"),
    )


def diagnostics_of(evidence: DataFrame) -> DataFrame:
    """What the extractors said, and a row for each file that was left out or that they failed on."""
    file = file_id("repo_id", "path").alias("file_id")
    said = evidence.select("repo_id", file, "path", F.inline("diagnostics"))
    is_skipped = F.col("skip_reason").isNotNull()
    own = evidence.where("skip_reason IS NOT NULL OR extract_error IS NOT NULL").select(
        *("repo_id", file, "path"),
        F.when(is_skipped, "scan").otherwise("extract").alias("stage"),
        F.lit("headwater").alias("source"),
        F.when(is_skipped, "skipped").otherwise("extractor-failed").alias("code"),
        F.when(is_skipped, "warning").otherwise("error").alias("severity"),
        F.coalesce("skip_reason", "extract_error").alias("message"),
    )
    rows = said.unionByName(own, allowMissingColumns=True)
    parts = ("file_id", "stage", "code", "bstart", "bend", "message")
    return rows.select(
        repository(),
        stable_id_parts("diag", *parts).alias("diag_id"),
        *("file_id", "path", "stage", "source", "code", "severity", "message", "bstart", "bend"),
    )
