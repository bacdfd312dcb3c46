"""Scopes, bindings and the places where names are written. Not here: what names of other files mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.functions import stable_id_parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def scopes_of(evidence: DataFrame) -> DataFrame:
    """One row per scope; the scope around it is the one that Python looks names up in next."""
    return entries(evidence, "scopes", _all_scopes()).select(
        repository(),
        "scope_id",
        typed("file_id", "FileId"),
        typed("node_id", "NodeId", node_at("node")),
        _scope_at("parent").alias("parent_scope_id"),
        "kind",
        "qualpath",
    )


def bindings_of(evidence: DataFrame) -> DataFrame:
    """One row per name of a scope; names that stand for one of another scope say for which, and why."""
    return entries(evidence, "bindings", _all_scopes(), _all_bindings()).select(
        repository(),
        typed("binding_id", "NodeId"),
        typed("file_id", "FileId"),
        _scope_at("scope").alias("scope_id"),
        "name",
        "kind",
        typed("resolves_to_binding_id", "NodeId", _binding_at("resolves_to")),
        F.col("reason").alias("resolves_reason"),
        "is_exported",
        "mangled_name",
    )


def binding_sites_of(evidence: DataFrame) -> DataFrame:
    """One row per place where a name is bound, used, deleted, annotated or declared."""
    found = entries(evidence, "sites", _all_bindings()).select(
        *("repo_id", "file_id"),
        _binding_at("binding").alias("binding_id"),
        node_at("node").alias("node_id"),
        "role",
        "def_kind",
    )
    return found.select(
        repository(),
        stable_id_parts("site", "binding_id", "node_id", "role").alias("site_id"),
        typed("binding_id", "NodeId"),
        typed("file_id", "FileId"),
        typed("node_id", "NodeId"),
        "role",
        "def_kind",
    )


def _all_scopes() -> Column:
    return F.col("scopes").alias("_scopes")


def _scope_at(number: str) -> Column:
    return F.get("_scopes", number).getField("scope_id")


def _all_bindings() -> Column:
    return F.col("bindings").alias("_bindings")


def _binding_at(number: str) -> Column:
    return F.get("_bindings", number).getField("binding_id")
