"""Deterministic functions over columns, in Python and, under the same names, in SQL.

    from headwater import functions as H

    edges.withColumn("edge_id", H.edge_id("kind", "src", "dst"))

stable_id_parts, prefixed_hash_parts64, stable_hash_any                          hashes of parts
node_id, edge_id, file_id                                                        ids that say what they name
span_make, span_len, span_overlaps, span_contains, span_id                       half-open spans
utf8_normalize, utf8_null_if_blank, qname_normalize                              texts and names
map_get_default, map_normalize, list_compact, list_unique_sorted, struct_pick    nested values
any_value_det, arg_max_det, arg_min_det, collect_set_sorted, count_if_det        aggregates without chance
arg_max, arg_min, collect_set, count_if                                          the same, by a second name
cdf_change_rank, cdf_is_upsert, cdf_is_delete                                    rows of a change feed

The catalogue of them:

FUNCTIONS, FAMILIES, find_function     every function, every tag, one function by its name in SQL
tags_of, functions_mentioned           the tags of some, those that a SQL text could call
function_rows, FunctionRow             the catalogue as rows, the same for commands, pages and SQL
FUNCTION_ROW_SCHEMA                    the columns of such a row, as Spark writes a schema
FunctionDefinition, Example            one function with all that is said about it
FunctionSnapshot, function_snapshot    what a session has, with one digest
PLACEHOLDER                            what SQL's arguments take the place of
marking, take_mark                     how a plan tells what it used
SEMANTIC_TYPE_KEY                      the key of a column's metadata that says what it is
"""

from headwater.functions.aggregates import (
    any_value_det,
    arg_max_det,
    arg_min_det,
    collect_set_sorted,
    count_if_det,
)
from headwater.functions.catalog import (
    FAMILIES,
    FUNCTIONS,
    FunctionSnapshot,
    find_function,
    function_snapshot,
    functions_mentioned,
    tags_of,
)
from headwater.functions.changes import cdf_change_rank, cdf_is_delete, cdf_is_upsert
from headwater.functions.definition import SEMANTIC_TYPE_KEY, Example, FunctionDefinition
from headwater.functions.ids import (
    edge_id,
    file_id,
    node_id,
    prefixed_hash_parts64,
    stable_hash_any,
    stable_id_parts,
)
from headwater.functions.listing import FUNCTION_ROW_SCHEMA, FunctionRow, function_rows
from headwater.functions.marks import marking, take_mark
from headwater.functions.nested import (
    list_compact,
    list_unique_sorted,
    map_get_default,
    map_normalize,
    struct_pick,
)
from headwater.functions.spans import span_contains, span_id, span_len, span_make, span_overlaps
from headwater.functions.templates import PLACEHOLDER
from headwater.functions.text import qname_normalize, utf8_normalize, utf8_null_if_blank

arg_max, arg_min, collect_set, count_if = arg_max_det, arg_min_det, collect_set_sorted, count_if_det

__all__ = [
    "FAMILIES",
    "FUNCTIONS",
    "FUNCTION_ROW_SCHEMA",
    "PLACEHOLDER",
    "SEMANTIC_TYPE_KEY",
    "Example",
    "FunctionDefinition",
    "FunctionRow",
    "FunctionSnapshot",
    "any_value_det",
    "arg_max",
    "arg_max_det",
    "arg_min",
    "arg_min_det",
    "cdf_change_rank",
    "cdf_is_delete",
    "cdf_is_upsert",
    "collect_set",
    "collect_set_sorted",
    "count_if",
    "count_if_det",
    "edge_id",
    "file_id",
    "find_function",
    "function_rows",
    "function_snapshot",
    "functions_mentioned",
    "list_compact",
    "list_unique_sorted",
    "map_get_default",
    "map_normalize",
    "marking",
    "node_id",
    "prefixed_hash_parts64",
    "qname_normalize",
    "span_contains",
    "span_id",
    "span_len",
    "span_make",
    "span_overlaps",
    "stable_hash_any",
    "stable_id_parts",
    "struct_pick",
    "tags_of",
    "take_mark",
    "utf8_normalize",
    "utf8_null_if_blank",
]
