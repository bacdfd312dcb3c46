"""Definitions with what they point to and what points to them: what most questions are answered from.

One row for each module, class, function, method and lambda, each variable of a module or class, and each
thing outside. Edges join definitions, not names or calls: a call in a function is an edge of that function,
at the line of the call. Not here: edges between all other nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import repository, typed
from headwater.cpg.graph.meanings import resolved, share

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_PROPERTIES = ("kind", "name", "symbol", "file_id", "path", "line", "end_line", "is_test", "dist", "version")
_EFFECTS = ("own_effects", "effects", "raises")
# A symbol's descriptors, in the order in which they are replaced, as a dotted name.
_DOTTED = (("`", ""), (r"\(\)\.|[/#]", "."), (r"\.$", ""))


def definitions_of(resolution: DataFrame) -> DataFrame:
    """One row for each definition, with its properties and its edges in both directions."""
    parts = [
        _part(resolved(resolution, "definitions", "path"), "node_id", "own", _own()),
        _part(
            resolved(resolution, "names", "path").where("name IS NOT NULL AND def_id IS NULL"),
            "binding_id",
            "own",
            _named(),
        ),
        _part(
            resolved(resolution, "externals").where("kind = 'EXTERNAL_SYMBOL'"), "node_id", "own", _foreign()
        ),
        _part(resolved(resolution, "effects"), "def_id", "told", F.struct(*_EFFECTS)),
        _ends(resolved(resolution, "links")),
    ]
    rows = parts[0]
    for part in parts[1:]:
        rows = rows.unionByName(part, allowMissingColumns=True)
    # Everything about one definition meets in one place, so that rows move once.
    met = rows.groupBy("repo_id", "node_id").agg(
        F.max("own").alias("own"),
        F.max("told").alias("told"),
        *(F.array_sort(F.collect_list(each)).alias(each) for each in ("outgoing", "incoming")),
    )
    nothing = F.array().cast("array<string>")
    return met.where("own IS NOT NULL").select(
        repository(),
        typed("node_id", "NodeId"),
        *(F.col("own")[each].alias(each) for each in _PROPERTIES),
        F.col("own")["path"].isNull().alias("is_external"),
        *(F.coalesce(F.col("told")[each], nothing).alias(each) for each in _EFFECTS),
        *("outgoing", "incoming"),
    )


def edges_by_src_of(definitions: DataFrame) -> DataFrame:
    """What each definition points to."""
    return _by_end(definitions, "outgoing", "out_degree")


def edges_by_dst_of(definitions: DataFrame) -> DataFrame:
    """What points to each definition."""
    return _by_end(definitions, "incoming", "in_degree")


def _part(rows: DataFrame, key: str, name: str, value: Column) -> DataFrame:
    return rows.select("repo_id", F.col(key).alias("node_id"), value.alias(name))


def _ends(links: DataFrame) -> DataFrame:
    """Each edge twice in one pass: as what leads away from one end, and as what leads to the other."""
    both = links.select(
        "repo_id",
        F.inline(
            F.array(
                F.struct(F.col("source_id").alias("node_id"), F.lit(True).alias("away"), _edge("target_id")),
                F.struct(F.col("target_id").alias("node_id"), F.lit(False).alias("away"), _edge("source_id")),
            )
        ),
    )
    return both.select(
        "repo_id",
        "node_id",
        F.when(F.col("away"), F.col("edge")).alias("outgoing"),
        F.when(~F.col("away"), F.col("edge")).alias("incoming"),
    )


def _properties(**given: Column | str) -> Column:
    """Those of one definition: every part has the same, whatever it knows."""
    kinds = {"line": "int", "end_line": "int", "is_test": "boolean"}
    columns = {name: F.lit(None) for name in _PROPERTIES} | {
        name: F.col(each) if isinstance(each, str) else each for name, each in given.items()
    }
    return F.struct(*(each.cast(kinds.get(name, "string")).alias(name) for name, each in columns.items()))


def _own() -> Column:
    names = ("kind", "name", "symbol", "file_id", "path", "line", "end_line", "is_test")
    return _properties(**dict(zip(names, names, strict=True)), **_distribution())


def _named() -> Column:
    """Those of a variable of a module or class; it has a place where it first gets a value."""
    dotted = F.get(F.split("symbol", " ", 5), 4)
    for pattern, instead in _DOTTED:
        dotted = F.regexp_replace(dotted, F.lit(pattern), F.lit(instead))
    return _properties(
        kind=F.lit("variable"),
        name=dotted,
        symbol="symbol",
        file_id="file_id",
        path="path",
        line="line",
        end_line="line",
        is_test=F.lit(False),
        **_distribution(),
    )


def _foreign() -> Column:
    return _properties(kind=F.lit("external"), name="name", symbol="symbol", dist="dist", version="version")


def _distribution() -> dict[str, Column]:
    parts = F.split("symbol", " ", 5)
    return {"dist": F.get(parts, 2), "version": F.get(parts, 3)}


def _edge(other: str) -> Column:
    return F.struct(
        "edge_kind",
        F.col(other).alias("other_id"),
        "line",
        "label",
        "resolution",
        share("confidence"),
    ).alias("edge")


def _by_end(definitions: DataFrame, name: str, degree: str) -> DataFrame:
    return definitions.where(F.size(name) > 0).select(
        repository(), typed("node_id", "NodeId"), F.size(name).alias(degree), F.col(name).alias("edges")
    )
