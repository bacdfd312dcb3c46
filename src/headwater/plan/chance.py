"""Spark's expressions and operators by how they depend on chance: on clocks, places, or the order of rows.

`tests/plan/test_chance.py` fails when Spark brings a function of that kind that is on no list. Not here: the
search for them.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from headwater.plan.tree import Node, nodes_below

if TYPE_CHECKING:
    from headwater.plan.tree import SparkType

# --- expressions ---------------------------------------------------------------------------------------

EXPRESSIONS = MappingProxyType(
    {
        **dict.fromkeys(
            (
                *("CurrentDate", "CurrentTimestamp", "Now", "LocalTimestamp", "CurrentTime"),
                *("CurrentTimestampLike", "CurrentBatchTimestamp"),
            ),
            "clock",
        ),
        **dict.fromkeys(("Rand", "Randn", "RandStr", "Uniform"), "random"),
        "Uuid": "uuid",
        "Shuffle": "shuffle",
        "SparkPartitionID": "partition-id",
        **dict.fromkeys(("MonotonicallyIncreasingID", "DistributedSequenceID"), "row-id"),
        **dict.fromkeys(("InputFileName", "InputFileBlockStart", "InputFileBlockLength"), "file-metadata"),
        "CallMethodViaReflection": "reflect",
        **dict.fromkeys(
            (
                *("CurrentUser", "CurrentCatalog", "CurrentDatabase", "CurrentPath", "CurrentTimeZone"),
                *("SparkVersion", "VariableReference"),
            ),
            "session",
        ),
    }
)
# Functions in another language.
FUNCTIONS = frozenset(
    {"PythonUDF", "PythonUDAF", "PythonUDTF", "UnresolvedPolymorphicPythonUDTF", "PythonFuncExpression"}
    | {"ScalaUDF", "ScalaUDAF", "ScalaAggregator", "TypedAggregateExpression", "UserDefinedGenerator"}
    | {"SimpleTypedAggregateExpression", "ComplexTypedAggregateExpression", "HiveSimpleUDF", "HiveGenericUDF"}
)

# --- relations -----------------------------------------------------------------------------------------

PLANS = MappingProxyType(
    {
        "Sample": ("sample", "takes a sample of rows"),
        "AttachDistributedSequence": ("row-id", "numbers rows by where they lie"),
        **dict.fromkeys(
            ("AsOfJoin", "NearestByJoin"), ("tie", "joins the nearest row, and several can be as near")
        ),
    }
)
FUNCTION_PLANS = frozenset(
    {"MapInArrow", "MapInPandas", "FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "ScriptTransformation"}
    | {"FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow", "FlatMapGroupsInPandasWithState"}
    | {"TransformWithStateInPySpark", "MapPartitions", "MapElements", "MapGroups", "CoGroup", "TypedFilter"}
)
LIMITS = frozenset({"GlobalLimit", "LocalLimit", "Offset", "Tail"})
# Operators that leave rows in the order they came in.
ORDER_KEPT = frozenset({"Project", "Filter", "SubqueryAlias", "ResolvedHint", "View", "WithCTE"})

# --- aggregates and window functions -------------------------------------------------------------------

# steady: any order gives the same value     float: steady but for floating-point numbers
# one: one of the values                     list: all of them, in an array that may be sorted afterwards
# listed: all of them, with an order         extreme: the value of the row with the largest or smallest key
# sketch: an estimate                        place: a window function that counts rows
# rank: a window function that treats ties alike
AGGREGATES = MappingProxyType(
    {
        **dict.fromkeys(
            (
                *(
                    "Count",
                    "CountIf",
                    "Min",
                    "Max",
                    "BoolAnd",
                    "BoolOr",
                    "BitAndAgg",
                    "BitOrAgg",
                    "BitXorAgg",
                ),
                *("BitmapAndAgg", "BitmapConstructAgg", "BitmapOrAgg", "HyperLogLogPlusPlus", "RegrCount"),
                *("CountMinSketchAgg", "BloomFilterAggregate", "Percentile", "PercentileCont", "Median"),
                *("PercentileDisc", "PivotFirst", "SchemaOfVariantAgg", "Grouping", "GroupingID"),
            ),
            "steady",
        ),
        **dict.fromkeys(("Sum", "Average", "VectorSum", "VectorAvg"), "steady"),
        **dict.fromkeys(
            (
                *("StddevSamp", "StddevPop", "VarianceSamp", "VariancePop", "Skewness", "Kurtosis", "Corr"),
                *("CovPopulation", "CovSample", "RegrR2", "RegrSXX", "RegrSXY", "RegrSYY", "RegrSlope"),
                *("RegrIntercept", "RegrAvgX", "RegrAvgY", "RegrReplacement"),
            ),
            "float",
        ),
        **dict.fromkeys(("First", "Last", "AnyValue", "Mode"), "one"),
        **dict.fromkeys(("CollectList", "CollectSet"), "list"),
        "ListAgg": "listed",
        **dict.fromkeys(("MaxBy", "MinBy", "MaxMinByK"), "extreme"),
        **dict.fromkeys(
            (
                *("ApproximatePercentile", "ApproxTopK", "ApproxTopKAccumulate", "ApproxTopKCombine"),
                *(
                    "HistogramNumeric",
                    "HllSketchAgg",
                    "HllUnionAgg",
                    "KllMergeAggBigint",
                    "KllMergeAggDouble",
                ),
                *("KllMergeAggFloat", "KllSketchAggBigint", "KllSketchAggDouble", "KllSketchAggFloat"),
                *("ThetaIntersectionAgg", "ThetaSketchAgg", "ThetaUnionAgg", "TupleIntersectionAggDouble"),
                *("TupleIntersectionAggInteger", "TupleSketchAggDouble", "TupleSketchAggInteger"),
                *("TupleUnionAggDouble", "TupleUnionAggInteger"),
            ),
            "sketch",
        ),
        **dict.fromkeys(("RowNumber", "NTile", "Lag", "Lead", "NthValue"), "place"),
        **dict.fromkeys(("Rank", "DenseRank", "PercentRank", "CumeDist"), "rank"),
    }
)
# What averages of these come to is exact: no table has rows enough for a sum past 2^53, where doubles end.
_SHORT_INTEGERS = frozenset({"byte", "short"})
_FLOATING = re.compile(r"\b(?:float|double)\b")
# Texts that compare equal and are not the same; inside of structs a collation stands in metadata.
_COLLATED = re.compile(r"collate (?!UTF8_BINARY\b)|__COLLATIONS")

# Functions of an array that are the same for every order of its elements; array_sort if by its own order.
_BLIND_TO_ORDER = frozenset(
    {"SortArray", "ArraySort", "Size", "ArraySize", "ArrayContains", "ArrayMin", "ArrayMax", "ArrayExists"}
    | {"ArrayForAll", "ArraysOverlap"}
)
# Functions that work on each element, or on all as a set: another order gives the same in another order.
_KEEPS_ELEMENTS = frozenset(
    {"ArrayFilter", "ArrayTransform", "ArrayDistinct", "ArrayCompact", "ArrayRemove", "Flatten", "Concat"}
    | {"ArrayUnion", "ArrayIntersect", "ArrayExcept", "KnownNotNull", "Cast"}
)
# How array_sort compares elements unless it is told how, as the kinds of the nodes from the top.
_DEFAULT_ORDER = (
    *("If", "And", "IsNull", "_", "IsNull", "_", "Literal", "If", "IsNull", "_", "Literal"),
    *("If", "IsNull", "_", "Literal", "If", "LessThan", "_", "_", "Literal"),
    *("If", "GreaterThan", "_", "_", "Literal", "Literal"),
)

_NAMES = MappingProxyType(
    {
        "NTile": "ntile",
        "Average": "avg",
        "CovPopulation": "covar_pop",
        "CovSample": "covar_samp",
        "MaxMinByK": "max_by or min_by",
        "HyperLogLogPlusPlus": "approx_count_distinct",
        "ApproximatePercentile": "approx_percentile",
        "CallMethodViaReflection": "reflect",
        "MonotonicallyIncreasingID": "monotonically_increasing_id",
        "SparkPartitionID": "spark_partition_id",
        "DistributedSequenceID": "an id by place",
        "CurrentTimeZone": "current_timezone",
        "CurrentDatabase": "current_schema",
        "SparkVersion": "version",
        "VariableReference": "a variable of the session",
        "RandStr": "randstr",
        "ListAgg": "listagg",
        "LocalTimestamp": "localtimestamp",
    }
)

# --- texts that stand for a time -----------------------------------------------------------------------

_MOVING = re.compile(r"now|today|tomorrow|yesterday", re.IGNORECASE)
_TYPED = re.compile(
    r"\b(?:date|timestamp(?:_ltz|_ntz)?)\s*r?(['\"])\s*(?:now|today|tomorrow|yesterday)\s*\1", re.IGNORECASE
)
_TEXT_OR_COMMENT = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|--[^\n]*|/\*.*?\*/", re.DOTALL)
_TIMES = ("date", "timestamp")
_PARSES_TIME = frozenset(
    {"Cast", "UpCast", "ParseToDate", "ParseToTimestamp", "TryToTimestampExpressionBuilder"}
)


def name_of(kind: str) -> str:
    """How SQL calls a function, as far as that can be told from its class."""
    short = kind.rpartition(".")[2]
    return _NAMES.get(short) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", short).lower()


def reads_clock(node: Node) -> bool:
    """Whether an expression is a time that was written in words, or a text that becomes one."""
    if node.kind == "Literal":
        return _is_time(node) and bool(node.written and _TYPED.search(node.written))
    if node.kind not in _PARSES_TIME or not _is_time(node):
        return False
    inner = [each for each in nodes_below(node) if each is not node]
    # Spark looks at constants alone: a column with such a text is an error to it.
    is_constant = not any(each.kind in {"AttributeReference", "NamedLambdaVariable"} for each in inner)
    texts = [
        (each.literal or "").partition(":")[2].removesuffix(";") for each in inner if each.type == "string"
    ]
    if len(texts) == 1:
        return is_constant and bool(_MOVING.fullmatch(texts[0].strip()))
    return is_constant and bool(_MOVING.search("".join(texts)))


def _is_time(node: Node) -> bool:
    return isinstance(node.type, str) and node.type.startswith(_TIMES)


def text_reads_clock(sql: str) -> bool:
    """Whether a SQL text has a date or time that is written in words.

    The rows of VALUES are worked out by the parser, so that only the text tells.
    """
    return bool(_TYPED.search(_TEXT_OR_COMMENT.sub(lambda match: match[1] or " ", sql)))


def is_collated(kind: SparkType | None) -> bool:
    """Whether values of a type can compare equal and be different texts."""
    return bool(_COLLATED.search(str(kind)))


def is_random_cipher(node: Node) -> bool:
    """Whether an encryption draws a vector of its own."""
    if node.kind != "AesEncrypt":
        return False
    mode, vector = node.plan("mode"), node.plan("iv")
    is_ecb = (mode.literal or "").upper() == "3:ECB;"
    is_given = not any(each.literal == "0:;" for each in nodes_below(vector))
    return not is_ecb and not is_given


def sums_floats(function: Node) -> bool:
    """Whether an aggregate adds numbers that are rounded at each step."""
    nature = AGGREGATES.get(function.kind)
    if nature == "float":
        return True
    if function.kind not in {"Sum", "Average", "VectorSum", "VectorAvg"}:
        return False
    given = function.plan("child").type
    if function.kind == "Average" and given in _SHORT_INTEGERS:
        return False
    return bool(_FLOATING.search(str(function.type)))


def forgets_order(node: Node, *, is_forgotten: bool) -> bool:
    """Whether the order of an array inside this expression does not matter, given if it does not outside."""
    if node.kind in _BLIND_TO_ORDER:
        return _is_default_order(node)
    function = node.fields.get("function")
    has_place = isinstance(function, Node) and len(function.fields.get("arguments", ())) > 1
    return is_forgotten and node.kind in _KEEPS_ELEMENTS and not has_place


def _is_default_order(node: Node) -> bool:
    """Whether a sort compares whole elements; every other function of an array has nothing to compare."""
    if node.kind != "ArraySort":
        return True
    comparison = node.plan("function").fields.get("function")
    if not isinstance(comparison, Node):
        return False
    kinds = ("_" if each.kind == "NamedLambdaVariable" else each.kind for each in nodes_below(comparison))
    return tuple(kinds) == _DEFAULT_ORDER
