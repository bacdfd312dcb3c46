"""What may stand in a query: the plan nodes, functions and values of Spark 4.2, looked at one by one.

A node or table function that is not listed is refused. A plain function may be called if Spark or Headwater
has it and it is not denied here; `tests/plan/test_reviewed.py` fails when Spark brings functions that nobody
has looked at. Not here: looking at a plan.
"""

from __future__ import annotations

from types import MappingProxyType

_EITHER = frozenset(
    {
        "Aggregate",
        "Distinct",
        "Except",
        "Filter",
        "Generate",
        "GlobalLimit",
        "Intersect",
        "Join",
        "LateralJoin",
    }
    | {"LocalLimit", "LocalRelation", "Offset", "OneRowRelation", "PipeOperator", "Project", "Repartition"}
    | {"RebalancePartitions", "RepartitionByExpression", "Sample", "Sort", "SubqueryAlias", "Tail", "Union"}
)
# What the parser makes of a query.
PARSED_PLANS = _EITHER | frozenset(
    {"Pivot", "Unpivot", "UnresolvedHaving", "UnresolvedHint", "UnresolvedInlineTable", "UnresolvedRelation"}
    | {"UnresolvedSubqueryColumnAliases", "UnresolvedTVFAliases", "UnresolvedTableValuedFunction"}
    | {"UnresolvedWith", "UnresolvedQualify", "WithWindowDefinition"}
)
# Leaves of an analysed plan that read nothing; what is inside them needs no looking at.
CLOSED_PLANS = frozenset({"CTERelationRef", "LocalRelation", "OneRowRelation", "Range", "UnionLoopRef"})
# What analysis makes of those. A View is looked at by itself.
ANALYSED_PLANS = (
    _EITHER
    | CLOSED_PLANS
    | frozenset(
        {"CTERelationDef", "Expand", "ResolvedHint", "ResolvedInlineTable", "SQLFunctionNode", "UnionLoop"}
        | {"Window", "WithCTE"}
    )
)

# Table functions that make rows from their arguments. Not: table_changes, table_changes_by_path (storage),
# python_worker_logs (logs), and whatever a session or a package may have added.
TABLE_FUNCTIONS = frozenset(
    {"collations", "explode", "explode_outer", "inline", "inline_outer", "json_tuple", "posexplode"}
    | {"posexplode_outer", "range", "sql_keywords", "stack", "variant_explode", "variant_explode_outer"}
)

_RUNS_CODE = "runs code of the Java process"
_READS_FILES = "can read files"
_TELLS_PATHS = "tells where files lie"
_TELLS_USERS = "tells who runs the process"
_READS_DTD = "reads the file or address of a document's DOCTYPE"
DENIED_FUNCTIONS = MappingProxyType(
    {
        "java_method": _RUNS_CODE,
        "reflect": _RUNS_CODE,
        "try_reflect": _RUNS_CODE,
        "from_avro": _READS_FILES,
        "schema_of_avro": _READS_FILES,
        "to_avro": _READS_FILES,
        "from_protobuf": _READS_FILES,
        "to_protobuf": _READS_FILES,
        "current_user": _TELLS_USERS,
        "input_file_block_length": _TELLS_PATHS,
        "input_file_block_start": _TELLS_PATHS,
        "input_file_name": _TELLS_PATHS,
        "session_user": _TELLS_USERS,
        "user": _TELLS_USERS,
        "xpath": _READS_DTD,
        "xpath_boolean": _READS_DTD,
        "xpath_double": _READS_DTD,
        "xpath_float": _READS_DTD,
        "xpath_int": _READS_DTD,
        "xpath_long": _READS_DTD,
        "xpath_number": _READS_DTD,
        "xpath_short": _READS_DTD,
        "xpath_string": _READS_DTD,
    }
)
# More arguments than this are options, and an option can name a file (rowValidationXSDPath).
FEWER_ARGUMENTS = MappingProxyType({"from_xml": 2, "schema_of_xml": 1})
# The same functions once more, as analysis would name them, and functions in other languages.
DENIED_EXPRESSIONS = frozenset(
    {"CallMethodViaReflection", "TryReflect", "FromAvro", "SchemaOfAvro", "ToAvro", "FromProtobuf"}
    | {"ToProtobuf", "XPathBoolean", "XPathDouble", "XPathFloat", "XPathInt", "XPathList", "XPathLong"}
    | {
        "XPathShort",
        "XPathString",
        "PythonUDF",
        "PythonUDAF",
        "PythonUDTF",
        "UnresolvedPolymorphicPythonUDTF",
    }
    | {"ScalaUDF", "ScalaAggregator", "UserDefinedGenerator", "FunctionTableSubqueryArgumentExpression"}
    | {"ExpressionWithUnresolvedIdentifier", "VariableReference"}
    | {"CurrentUser", "InputFileName", "InputFileBlockLength", "InputFileBlockStart"}
)

# Values inside nodes that hold no plan and no expression.
OPAQUE = (
    "java.",
    "scala.Enumeration",
    "scala.math.",
    "scala.runtime.",
    "org.apache.spark.sql.types.",
    "org.apache.spark.sql.util.CaseInsensitiveStringMap",
    "org.apache.spark.unsafe.types.",
    "org.apache.spark.sql.catalyst.expressions.ExpressionInfo",
)
