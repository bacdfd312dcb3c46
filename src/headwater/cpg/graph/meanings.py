"""Symbols, where they occur, classes and modules among each other: views of what was resolved.

Not here: calls, and edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.functions import stable_id_parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# What an occurrence does, as numbers that can be added.
_DEFINES, _IMPORTS, _WRITES, _READS = 1, 2, 4, 8


def resolved(resolution: DataFrame, name: str, *more: str | Column) -> DataFrame:
    """One row for each entry of a list of what was resolved: its repository and file, and its columns."""
    return resolution.select("repo_id", "file_id", *more, F.inline(name))


def share(thousandths: str) -> Column:
    """A confidence, from thousandths."""
    return (F.col(thousandths) / F.lit(1000)).alias(thousandths)


def symbols_of(resolution: DataFrame) -> DataFrame:
    """One row per symbol and definition; what is outside has none."""
    module = F.col("module").alias("symbol_module")
    defined = resolved(resolution, "definitions", module).select(
        *("repo_id", "symbol", "kind"),
        F.element_at(F.split("name", "[.]"), -1).alias("display_name"),
        *("symbol_module", "node_id"),
    )
    variables = resolved(resolution, "names", module).where("name IS NOT NULL")
    named = variables.select(
        *("repo_id", "symbol", F.lit("variable").alias("kind"), F.col("name").alias("display_name")),
        *("symbol_module", F.col("binding_id").alias("node_id")),
    )
    outside = resolved(resolution, "externals").where("kind = 'EXTERNAL_SYMBOL'")
    foreign = outside.select(
        *("repo_id", "symbol", F.lit("external").alias("kind"), F.col("name").alias("display_name")),
        F.lit(None).cast("string").alias("symbol_module"),
        "node_id",
    )
    parts = F.split("symbol", " ", 5)
    return (
        defined.unionByName(named)
        .unionByName(foreign)
        .select(
            repository(),
            "symbol",
            "kind",
            "display_name",
            F.get(parts, 2).alias("dist"),
            F.get(parts, 3).alias("version"),
            F.col("symbol_module").alias("module"),
            F.get(parts, 4).alias("descriptor"),
            typed("def_node_id", "NodeId", F.col("node_id")),
            (F.col("kind") == "external").alias("is_external"),
        )
    )


def occurrences_of(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    """Every place where a symbol is written: names by what they are bound to, attributes by their values.

    A name that nobody else can mean has a symbol of its own, which begins with `local`.
    """
    known = resolved(resolution, "names").select(
        F.col("binding_id").alias("known_id"), F.col("symbol").alias("known")
    )
    sites = _sites(evidence).join(known, F.col("binding_id") == F.col("known_id"), "left")
    builtin = F.concat(F.lit("headwater python python . builtins/"), "name", F.lit("."))
    local = F.concat(F.lit("local "), F.element_at(F.split("binding_id", ":"), -1))
    by_name = sites.select(
        *("repo_id", "file_id", "node_id", "roles", "bstart", "bend"),
        F.coalesce("known", F.when(F.col("kind") == "builtin", builtin), local).alias("symbol"),
        F.lit("exact").alias("resolution"),
        F.lit(1.0).alias("confidence"),
    )
    read = resolved(resolution, "references").select(
        *("repo_id", "file_id", "node_id", F.lit(_READS).alias("roles"), "symbol", "resolution"),
        share("confidence"),
    )
    found = by_name.unionByName(read, allowMissingColumns=True)
    return found.select(
        repository(),
        stable_id_parts("occ", "node_id", "symbol", "roles").alias("occ_id"),
        typed("file_id", "FileId"),
        typed("node_id", "NodeId"),
        *("symbol", "roles", "bstart", "bend", "resolution", "confidence"),
    )


def _sites(evidence: DataFrame) -> DataFrame:
    """Names where they are written, each with the binding that it means in the end."""
    more = (F.col("bindings").alias("_bindings"), F.col("nodes").alias("_nodes"))
    written = entries(evidence, "sites", *more).where("role IN ('def', 'use', 'del')")
    meant = F.coalesce(F.get("_bindings", "binding")["resolves_to"], "binding")
    is_kind = F.col("def_kind").isin
    roles = (
        F.when(F.col("role") == "use", _READS)
        .when(is_kind("import"), _DEFINES + _IMPORTS)
        .when(is_kind("function", "class", "param"), _DEFINES)
        .otherwise(_WRITES)
    )
    place = F.get("_nodes", "node")
    return written.select(
        *("repo_id", "file_id", node_at("node").alias("node_id"), roles.alias("roles")),
        F.coalesce(place["name_bstart"], place["bstart"]).alias("bstart"),
        F.coalesce(place["name_bend"], place["bend"]).alias("bend"),
        *(F.get("_bindings", meant)[each].alias(each) for each in ("binding_id", "kind", "name")),
    )


def mro_of(resolution: DataFrame) -> DataFrame:
    """The order in which attributes of a class are looked up, itself first; `object` is left out."""
    return resolved(resolution, "orders").select(
        repository(),
        typed("file_id", "FileId"),
        typed("class_node_id", "NodeId", F.col("class_id")),
        "pos",
        "symbol",
        typed("node_id", "NodeId", F.col("def_id")),
    )


def overrides_of(resolution: DataFrame) -> DataFrame:
    """Which method overrides which; the nearest is not transitive."""
    return resolved(resolution, "overrides").select(
        repository(),
        typed("file_id", "FileId"),
        typed("method_node_id", "NodeId", F.col("node_id")),
        typed("overridden_node_id", "NodeId", F.col("overridden_id")),
        "is_transitive",
    )


def exported_defs_of(resolution: DataFrame) -> DataFrame:
    """What others get from each module."""
    return resolved(resolution, "exports", "module").select(
        repository(),
        typed("file_id", "FileId"),
        *("module", "name", "symbol"),
        typed("def_node_id", "NodeId", F.col("def_id")),
        "via",
    )


def types_of(resolution: DataFrame) -> DataFrame:
    """One row per type, by its text."""
    return resolved(resolution, "types").select(
        repository(),
        typed("type_id", "NodeId", F.col("node_id")),
        *("repr", "form", "origin_symbol", "args"),
    )


def type_facts_of(resolution: DataFrame) -> DataFrame:
    """Which type a parameter, function or name has, by whose word; one of each node's rows wins."""
    return resolved(resolution, "type_facts").select(
        repository(),
        typed("file_id", "FileId"),
        typed("node_id", "NodeId"),
        typed("type_id", "NodeId"),
        "source",
        share("confidence"),
        "is_winner",
    )


def module_deps_of(imports: DataFrame) -> DataFrame:
    """Which module imports which, how, and how many names of it."""
    asked = imports.where("resolved_module IS NOT NULL").groupBy(
        "repo_id",
        "importer_module",
        F.col("resolved_module").alias("imported_module"),
        "kind",
        "is_type_checking",
        (F.col("dist").isNotNull()).alias("is_external"),
    )
    return asked.agg(F.count("*").alias("weight"))
