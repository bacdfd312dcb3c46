"""Refusals of what a view cannot do, named after the member that the user's own line called.

Not here: which members those are; the offline client and session decide that.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from headwater.errors import NotInAView

if TYPE_CHECKING:
    from collections.abc import Mapping

_PYSPARK = str(Path(pyspark.__file__).parent)
_OURS = str(Path(__file__).parent)
_BETWEEN = functools.__file__

_RUNS = "Return the DataFrame; the engine runs it, once, and records what came out."
_ONE_ROW = "Join with it, or use .scalar() or .exists(); the value itself is not there before the run."
_WRITES = "Return the DataFrame; the engine writes it to the view's table."
_KEEPS = "Make it a table of its own (@headwater.table): it is stored once, and read by name."
_NAMES = "Give the frame to spark.sql by name: spark.sql('FROM {f}', f=frame)."
_COLUMNS = (
    "Its columns are found in the data; use groupBy(...).pivot('k', ['a', 'b']) with the values listed."
)
_LISTED = "List the values: pivot('k', ['a', 'b']); the columns of a view do not depend on data."
_PROFILE = "Settings belong to a profile in headwater.toml."
_STATE = "State between runs cannot be replayed; use applyInPandas."
_BESIDE = "Put the code beside the views; project modules travel with the plan."
_SETTLED = "Read the table; runs are over settled versions."
_REMEDIES: Mapping[str, str] = {
    "DataFrame.approxQuantile": "Use F.percentile_approx in an aggregation.",
    "DataFrame.cache": _KEEPS,
    "DataFrame.checkpoint": _KEEPS,
    "DataFrame.collect": _ONE_ROW,
    "DataFrame.corr": "Use F.corr in an aggregation.",
    "DataFrame.count": "Use F.count in an aggregation; " + _ONE_ROW[0].lower() + _ONE_ROW[1:],
    "DataFrame.cov": "Use F.covar_samp in an aggregation.",
    "DataFrame.createGlobalTempView": _NAMES,
    "DataFrame.createOrReplaceGlobalTempView": _NAMES,
    "DataFrame.createOrReplaceTempView": _NAMES,
    "DataFrame.createTempView": _NAMES,
    "DataFrame.crosstab": _COLUMNS,
    "DataFrame.executionInfo": "Nothing was executed; run reports have the metrics.",
    "DataFrame.explain": "Build it, and explain the table that comes of it in a session of your own.",
    "DataFrame.first": _ONE_ROW,
    "DataFrame.head": _ONE_ROW,
    "DataFrame.inputFiles": "Declare the files as a source and read it by name.",
    "DataFrame.isEmpty": "Use .exists() as a condition.",
    "DataFrame.localCheckpoint": _KEEPS,
    "DataFrame.mergeInto": _WRITES,
    "DataFrame.persist": _KEEPS,
    "DataFrame.rdd": "Use DataFrame steps, mapInArrow or mapInPandas.",
    "DataFrame.registerTempTable": _NAMES,
    "DataFrame.show": "Build it, and read the table that comes of it.",
    "DataFrame.tail": _ONE_ROW,
    "DataFrame.take": _ONE_ROW,
    "DataFrame.toArrow": "Use mapInArrow to work on Arrow batches.",
    "DataFrame.toLocalIterator": _ONE_ROW,
    "DataFrame.toPandas": "Use mapInPandas or applyInPandas to work on pandas frames.",
    "DataFrame.transpose": _COLUMNS,
    "DataFrame.unpersist": _KEEPS,
    "DataFrame.write": _WRITES,
    "DataFrame.writeStream": _WRITES,
    "DataFrame.writeTo": _WRITES,
    "DataFrame.pandas_api": "Use DataFrame steps, mapInPandas or applyInPandas.",
    "DataFrame.plot": "Plot a built table, outside of the pipeline.",
    "DataFrameStatFunctions.approxQuantile": "Use F.percentile_approx in an aggregation.",
    "DataFrameStatFunctions.corr": "Use F.corr in an aggregation.",
    "DataFrameStatFunctions.cov": "Use F.covar_samp in an aggregation.",
    "DataFrameStatFunctions.crosstab": _COLUMNS,
    "GroupedData.applyInPandasWithState": _STATE,
    "GroupedData.pivot without values": _LISTED,
    "GroupedData.transformWithState": _STATE,
    "GroupedData.transformWithStateInPandas": _STATE,
    "Observation.get": "Observed values exist after a run; compute them as columns or checks instead.",
    "RuntimeConf.set": _PROFILE,
    "RuntimeConf.unset": _PROFILE,
    "SparkContext": "Take frames by name; the engine has the only Spark context.",
    "SparkSession.addArtifact": _BESIDE,
    "SparkSession.addArtifacts": _BESIDE,
    "SparkSession.builder": "SparkSession.active() is the session of views; settings belong to a profile.",
    "SparkSession.catalog": "Read tables by name: spark.table('orders').",
    "SparkSession.dataSource": "Declare the files as a source and read it by name.",
    "SparkSession.readStream": _SETTLED,
    "SparkSession.stop": "Nothing is running while views are built.",
    "SparkSession.streams": _SETTLED,
    "UDFRegistration.register": "Call the function F.udf returns, or declare a function of the project.",
    "UDTFRegistration.register": "Call the function F.udtf returns, or declare a function of the project.",
}


def not_in_a_view(member: str) -> NotInAView:
    """The refusal of `member`, with what to do instead where that is known."""
    return NotInAView(member=member, remedy=_REMEDIES.get(member, _RUNS))


def refused_call(fallback: str) -> NotInAView:
    """The refusal of the pyspark member that the user called, found on the stack.

    The client hears `to_table`; the user wrote `frame.count()`. Of pyspark's frames below this call, the one
    next to the user's own is the member to name.
    """
    member = fallback
    frame = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(_PYSPARK):
            qualified = frame.f_code.co_qualname
            member = member if "<locals>" in qualified else qualified
        elif not path.startswith(_OURS) and path != _BETWEEN:
            break
        frame = frame.f_back
    return not_in_a_view(member)
