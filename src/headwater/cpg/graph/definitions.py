"""Definitions with what they point to and what points to them: what most questions are answered from.

One row for each module, class, function, method and lambda, each variable of a module or class, and each
thing outside. Edges join definitions, not names or calls: a call in a function is an edge of that function,
at the line of the call. Their confidence is stored in thousandths, since the digest of a table takes long
over lists of fractions. Not here: edges between all other nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import repository, typed
from headwater.cpg.graph.meanings import resolved

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OWN = ("line", "end_line", "is_test", "dist", "version")
_TOLD = ("own_effects", "effects", "raises", "outgoing", "incoming")


def definitions_of(resolution: DataFrame) -> DataFrame:
    """One row for each definition, with its properties and its edges in both directions."""
    is_external = F.col("kind") == "external"
    place = (F.when(~is_external, F.col(each)).alias(each) for each in ("file_id", "path"))
    return resolved(resolution, "things", "path").select(
        repository(),
        typed("node_id", "NodeId"),
        *("kind", "name", "symbol", *place, *_OWN),
        is_external.alias("is_external"),
        *_TOLD,
    )


def edges_by_src_of(definitions: DataFrame) -> DataFrame:
    """What each definition points to."""
    return _by_end(definitions, "outgoing", "out_degree")


def edges_by_dst_of(definitions: DataFrame) -> DataFrame:
    """What points to each definition."""
    return _by_end(definitions, "incoming", "in_degree")


def _by_end(definitions: DataFrame, name: str, degree: str) -> DataFrame:
    edges = F.transform(name, lambda each: each.withField("confidence", each["confidence"] / F.lit(1000)))
    return definitions.where(F.size(name) > 0).select(
        repository(), typed("node_id", "NodeId"), F.size(name).alias(degree), edges.alias("edges")
    )
