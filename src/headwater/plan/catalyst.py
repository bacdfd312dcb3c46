"""The only file of this area that touches py4j: plan bytes in, frames and JSON trees out.

Not here: what a tree means.
"""

from __future__ import annotations

import base64
import json
import zlib
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from headwater.errors import AnalysisFailed, EngineFailed, NotInAView, SqlSyntax
from headwater.origin import Origin
from headwater.plan.bundle import OperatorMetrics
from headwater.plan.tree import PlanTree, tree_of
from headwater.runtime import ENGINE_EXCEPTIONS, ENGINE_GONE, connect_planner, engine_error, failure_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from headwater.runtime import RunSession

_READER = "PlanReader"
# Each chained step nests a message deeper; Java's default limit of 100 is some fifty steps.
_DEEPEST_MESSAGE = 4096
_BUS_PATIENCE_MS = 10_000


def rehydrate(session: RunSession, plan: bytes, view: str, origin: Origin | None = None) -> DataFrame:
    """The frame that serialised plan bytes describe, analysed in this session.

    Raises:
        SqlSyntax, AnalysisFailed: Spark does not understand the plan; with the user's line if there is one.
    """
    try:
        planner = connect_planner(session.jvm, session.jvm_session)
        open_stream, read_message, rows_of = _entrances(session.jvm)
        stream = open_stream(plan)
        stream.setRecursionLimit(_DEEPEST_MESSAGE)
        logical = planner.transformRelation(read_message(stream).getRoot())
        return DataFrame(rows_of(session.jvm_session, logical), session.spark)
    except ENGINE_EXCEPTIONS as error:
        raise plan_error(error, view, origin) from error


@lru_cache(maxsize=1)
def _entrances(jvm: Any) -> tuple[Any, Any, Any]:
    """How bytes become a message, and a plan rows; each step of a name is a question to the JVM."""
    return (
        jvm.org.sparkproject.connect.protobuf.CodedInputStream.newInstance,
        jvm.org.apache.spark.connect.proto.Plan.parseFrom,
        jvm.org.apache.spark.sql.classic.Dataset.ofRows,
    )


def empty_relation(session: RunSession, schema: StructType, view: str) -> DataFrame:
    """No rows of a schema: what stands for a stored table while everything is planned and nothing is run.

    The optimiser cannot see that it is empty, and so does not plan away what will be read later.
    """
    try:
        kind = session.jvm.org.apache.spark.sql.types.DataType.fromJson(schema.json())
        context: Any = session.spark.sparkContext._jsc
        nothing = context.emptyRDD().rdd()
        return DataFrame(session.jvm_session.internalCreateDataFrame(nothing, kind, False), session.spark)
    except ENGINE_EXCEPTIONS as error:
        raise plan_error(error, view, None) from error


def parsed_tree(session: RunSession, sql: str, view: str, origin: Origin | None = None) -> PlanTree:
    """The unresolved tree of a SQL query.

    Raises:
        SqlSyntax: it does not parse.
        NotInAView: it parses, but is a command.
    """
    try:
        parsed: Any = session.jvm_session.sessionState().sqlParser().parsePlan(sql)
        tree = read_plan(session.spark, parsed, is_resolved=False)
        command = session.jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.plans.logical.Command")
        statement = session.jvm.java.lang.Class.forName(
            "org.apache.spark.sql.catalyst.plans.logical.ParsedStatement"
        )
        inner = parsed
        while inner.getClass().getSimpleName() == "UnresolvedWith":
            inner = inner.child()
        if command.isInstance(inner) or statement.isInstance(inner):
            kind = str(inner.getClass().getSimpleName())
            raise NotInAView(
                member=f"the SQL command {kind}", remedy="A SQL file is one SELECT.", origin=origin
            )
    except ENGINE_EXCEPTIONS as error:
        raise plan_error(error, view, origin) from error
    return tree


def analysed_tree(frame: DataFrame, *, opens_views: bool = False) -> PlanTree:
    """The resolved tree of a frame; registered views are leaves of it, unless it `opens_views`."""
    execution = cast("Any", frame._jdf).queryExecution()
    return read_plan(frame.sparkSession, execution.analyzed(), opens_views=opens_views)


def read_plan(
    spark: SparkSession, plan: Any, *, opens_views: bool = False, is_resolved: bool = True
) -> PlanTree:
    """The tree of a plan of the JVM's, in one call."""
    text = _reader(spark.sparkContext._gateway).read(plan, opens_views, is_resolved)
    return tree_of(json.loads(zlib.decompress(base64.b64decode(text))))


def planned_trees(frame: DataFrame) -> tuple[PlanTree, PlanTree]:
    """The optimised and the physical plan of a frame; nothing is run."""
    execution = cast("Any", frame._jdf).queryExecution()
    spark = frame.sparkSession
    return (
        read_plan(spark, execution.optimizedPlan(), opens_views=True),
        read_plan(spark, _before_adapting(execution.executedPlan()), opens_views=True),
    )


def _before_adapting(plan: Any) -> Any:
    """The physical plan as it was made, before it is changed by what its stages find."""
    is_adaptive = str(plan.getClass().getSimpleName()) == "AdaptiveSparkPlanExec"
    return plan.initialPlan() if is_adaptive else plan


def run_metrics(frame: DataFrame) -> list[OperatorMetrics]:
    """Runs a frame, throws its rows away, and says what each operator counted."""
    execution = cast("Any", frame._jdf).queryExecution()
    execution.toRdd().count()
    plan = execution.executedPlan()
    if str(plan.getClass().getSimpleName()) == "AdaptiveSparkPlanExec":
        plan = plan.executedPlan()
    return _metrics(frame.sparkSession.sparkContext._gateway, plan)


def _metrics(gateway: Any, plan: Any) -> list[OperatorMetrics]:
    found = json.loads(zlib.decompress(base64.b64decode(_reader(gateway).metrics(plan))))
    return [OperatorMetrics(depth=depth, operator=name, metrics=counts) for depth, name, counts in found]


class QueryLog:
    """The queries that a session runs from now on, until it is closed; asked only if one wants to know."""

    def __init__(self, session: RunSession) -> None:
        context: Any = session.spark.sparkContext
        self._bus = context._jsc.sc().listenerBus()
        self._gateway = context._gateway
        self._log = _new_instance(self._gateway, "QueryLog")
        session.jvm_session.listenerManager().register(self._log)

    def close(self) -> None:
        """Lets go of all queries; without that, their sessions would stay for as long as Spark does."""
        with suppress(*ENGINE_EXCEPTIONS):  # an engine that is gone holds nothing
            self._log.close()

    def operators(self) -> tuple[OperatorMetrics, ...]:
        """What the operators of the largest query counted; a write's own is larger than its commit's."""
        with suppress(Py4JJavaError):  # others keep the bus busy: what has been heard so far must do
            self._bus.waitUntilEmpty(_BUS_PATIENCE_MS)
        plans = [self._log.plan(index) for index in range(self._log.size())]
        return tuple(
            max((_metrics(self._gateway, plan) for plan in plans), key=len, default=list[OperatorMetrics]())
        )


@lru_cache(maxsize=1)
def _reader(gateway: Any) -> Any:
    return _new_instance(gateway, _READER)


def _new_instance(gateway: Any, name: str) -> Any:
    none = gateway.new_array(gateway.jvm.java.lang.Object, 0)
    types = gateway.new_array(gateway.jvm.java.lang.Class, 0)
    return _compiled(gateway, name).getDeclaredConstructor(types).newInstance(none)


@lru_cache(maxsize=2)
def _compiled(gateway: Any, name: str) -> Any:
    """A class of ours, compiled in the JVM by the compiler that Spark makes its own code with."""
    jvm = gateway.jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(files("headwater.plan").joinpath(f"{name}.java").read_text("utf-8"))
    return compiler.getClassLoader().loadClass(name)


def plan_error(
    error: BaseException, view: str, origin: Origin | None
) -> SqlSyntax | AnalysisFailed | EngineFailed:
    """The typed error for what Spark says of a plan it cannot use."""
    failure = failure_of(error)
    place = failure.call_site or _in_text(origin, failure.line_in_sql)
    if failure.condition == ENGINE_GONE:
        return engine_error(error, place)
    is_syntax = (failure.java_class or "").endswith(".ParseException")
    return (SqlSyntax if is_syntax else AnalysisFailed)(
        view=view,
        detail=failure.detail,
        condition=failure.condition,
        sql_state=failure.sql_state,
        origin=place,
    )


def _in_text(origin: Origin | None, line: int) -> Origin | None:
    """A SQL file begins at line 1, so Spark's line is the file's; a text inside Python keeps the view's."""
    if origin is not None and line and origin.path.endswith(".sql"):
        return Origin(origin.path, line)
    return origin
