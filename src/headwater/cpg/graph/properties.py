"""Every value of a node or an edge as a row of its own: one shape for all who want to look at anything.

Not here: values that are rows of other names already, such as who is whose child.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

_TYPES = {"string": "string", "int": "bigint", "float": "double", "bool": "boolean"}
_NODE = {
    **dict.fromkeys(("node_kind", "ast_kind", "name", "qualname", "path", "origin"), "string"),
    **dict.fromkeys(("bstart", "bend", "line", "col", "end_line", "end_col"), "int"),
}
_EDGE = {
    **dict.fromkeys(("edge_kind", "label", "origin", "resolver", "resolution"), "string"),
    **dict.fromkeys(("ordinal", "rank"), "int"),
    "confidence": "float",
    "is_winner": "bool",
}


def node_props_of(nodes: DataFrame) -> DataFrame:
    """What is known of nodes: their columns, and their properties."""
    return _told(nodes, "node", "node_id", _NODE, F.map_entries("props"))


def edge_props_of(edges: DataFrame) -> DataFrame:
    """What is known of edges."""
    return _told(edges, "edge", "edge_id", _EDGE)


def _told(
    rows: DataFrame, kind: str, entity: str, columns: Mapping[str, str], props: Column | None = None
) -> DataFrame:
    told = F.array(*[_value(F.lit(name), F.col(name), of) for name, of in columns.items()])
    if props is not None:
        more = F.transform(props, lambda each: _value(each.getField("key"), each.getField("value"), "string"))
        told = F.concat(told, F.coalesce(more, F.slice(told, 1, 0)))
    found = rows.select("repo_id", F.col(entity).alias("entity_id"), F.inline(told))
    is_there = F.coalesce(*[F.col(f"value_{each}").cast("string") for each in _TYPES]).isNotNull()
    return found.where(is_there).select(
        "repo_id",
        F.lit(kind).alias("entity_kind"),
        *("entity_id", "prop_key", "value_type"),
        *(f"value_{each}" for each in _TYPES),
    )


def _value(key: Column, value: Column, of: str) -> Column:
    return F.struct(
        key.alias("prop_key"),
        F.lit(of).alias("value_type"),
        *[
            (value if each == of else F.lit(None)).cast(kind).alias(f"value_{each}")
            for each, kind in _TYPES.items()
        ],
    )
