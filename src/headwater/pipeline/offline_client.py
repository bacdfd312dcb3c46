"""The client of an offline session: it stands where pyspark's gRPC client stands, and nothing leaves it.

What pyspark asks of a server is answered here (schema strings, settings, columns) or refused by name.
Not here: the session itself, and the process-wide switches that make pyspark use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, Protocol, cast

import pyspark
from pyspark.sql.connect.client.core import AnalyzeResult, ConfigResult

from headwater.errors import EngineFailed, NotInAView
from headwater.messages import is_streaming
from headwater.pipeline.canonical import executable_bytes
from headwater.pipeline.ddl import parse_ddl
from headwater.pipeline.refusal import refused_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.connect.proto import base_pb2, commands_pb2, relations_pb2
    from pyspark.sql.types import StructType

SESSION_ID = "offline"

# Spark 4.2.0's defaults for what pyspark asks while it builds plans, and what views ask most; a profile's own
# values go before them. Two differ on purpose: time is UTC everywhere, and local rows are always part of the
# plan, however many they are. Settings that only make runs faster are left out: no view may depend on them.
SETTINGS: Mapping[str, str] = {
    "spark.python.sql.dataFrameDebugging.enabled": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "true",
    "spark.sql.execution.arrow.pyspark.selfDestruct.enabled": "false",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.execution.pandas.convertToArrowArraySafely": "true",
    "spark.sql.execution.pandas.inferPandasDictAsMap": "false",
    "spark.sql.execution.pandas.structHandlingMode": "legacy",
    "spark.sql.execution.pyspark.binaryAsBytes": "true",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    "spark.sql.execution.pythonUDTF.arrow.enabled": "true",
    "spark.sql.pyspark.inferNestedDictAsStruct.enabled": "false",
    "spark.sql.pyspark.jvmStacktrace.enabled": "false",
    "spark.sql.pyspark.legacy.inferArrayTypeFromFirstElement.enabled": "false",
    "spark.sql.pyspark.legacy.inferMapTypeFromFirstPair.enabled": "false",
    "spark.sql.repl.eagerEval.enabled": "false",
    "spark.sql.repl.eagerEval.maxNumRows": "20",
    "spark.sql.repl.eagerEval.truncate": "20",
    "spark.sql.session.localRelationBatchOfChunksSizeBytes": "1073741824",
    "spark.sql.session.localRelationCacheThreshold": str(2**63 - 1),
    "spark.sql.session.localRelationChunkSizeBytes": "16777216",
    "spark.sql.session.localRelationChunkSizeRows": "10000",
    "spark.sql.session.localRelationSizeLimit": "3221225472",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.default": "parquet",
    "spark.sql.stackTracesInDataFrameContext": "1",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}


class SchemaSource(Protocol):
    """Whoever knows the columns of relations; usually the engine, started when first asked."""

    def schema_of(self, relation: bytes) -> StructType:
        """The schema of a relation, given as a serialised Connect `Plan` that Spark can run."""
        ...


class OfflineClient:
    """Answers pyspark's questions while a view is built; every other member raises `NotInAView`."""

    # pyspark reads these; the rest of the real client's state is behind __getattr__, refused.
    is_closed = False
    _session_id = SESSION_ID
    _user_id: str | None = None

    def __init__(self, schemas: SchemaSource, settings: Mapping[str, str] | None = None) -> None:
        self._schemas = schemas
        self._settings: Mapping[str, str] = {**SETTINGS, **(settings or {})}
        self._told: dict[str, str] = {}

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # copy, pickle and inspect look for these and must be told plainly
            raise AttributeError(name)
        raise refused_call(f"SparkConnectClient.{name}")

    # --- plans ---

    def _set_relation_in_plan(self, plan: base_pb2.Plan, relation: relations_pb2.Relation) -> None:
        plan.root.CopyFrom(relation)

    # --- questions about a plan ---

    def schema(self, plan: base_pb2.Plan) -> StructType:
        """The columns of a plan, as the source of schemas knows them."""
        try:
            return self._schemas.schema_of(executable_bytes(plan))
        except AttributeError as error:
            # A frame takes an AttributeError for "no such member" and answers with a column of that name.
            raise EngineFailed(detail=f"the schema could not be had: {error}") from error

    def _analyze(self, method: str, **kwargs: object) -> AnalyzeResult:
        match method:
            case "ddl_parse":
                return _analyzed(parsed=parse_ddl(cast("str", kwargs["ddl_string"])))
            case "is_streaming":
                return _analyzed(is_streaming=is_streaming(cast("base_pb2.Plan", kwargs["plan"])))
            case "spark_version":
                return _analyzed(spark_version=pyspark.__version__)
            case _:
                raise refused_call(f"SparkConnectClient.{method}")

    # --- settings ---

    def use_settings(self, settings: Mapping[str, str]) -> None:
        """From now on answers with `settings`; what was told already must not have been something else."""
        known = {**SETTINGS, **settings}
        for key, value in sorted(self._told.items()):
            if known.get(key) != value:
                member = f"spark.conf.get({key!r}) while a definition file is imported"
                raise NotInAView(member=member, remedy="Ask inside the view function.")
        self._settings = known

    def get_configs(self, *keys: str) -> tuple[str | None, ...]:
        """Values of settings: the profile's, or the constant ones."""
        return tuple(self._setting(key) for key in keys)

    def get_config_dict(self, *keys: str) -> Mapping[str, str | None]:
        """The same, by key."""
        return {key: self._setting(key) for key in keys}

    def config(self, operation: base_pb2.ConfigRequest.Operation) -> ConfigResult:
        """The answer to one `spark.conf` call; changing anything is refused."""
        pairs: list[tuple[str, str | None]]
        match operation.WhichOneof("op_type"):
            case "get":
                pairs = [(key, self._setting(key)) for key in operation.get.keys]
            case "get_with_default":
                defaults = {
                    pair.key: pair.value if pair.HasField("value") else None
                    for pair in operation.get_with_default.pairs
                }
                pairs = [
                    (key, self._setting(key) if key in self._settings else default)
                    for key, default in defaults.items()
                ]
            case "get_all":
                pairs = [(key, self._setting(key)) for key in sorted(self._settings)]
            case "is_modifiable":
                pairs = [(key, "false") for key in operation.is_modifiable.keys]
            case _:
                raise refused_call("RuntimeConf.set")
        return ConfigResult(pairs=pairs, warnings=[])

    def _setting(self, key: str) -> str:
        try:
            return self._told.setdefault(key, self._settings[key])
        except KeyError:
            raise NotInAView(
                member=f"spark.conf.get({key!r})",
                remedy="Give a default, or pass the value in as a constant; settings are the profile's.",
            ) from None

    # --- commands ---

    def execute_command(
        self, command: commands_pb2.Command, observations: object = None
    ) -> tuple[None, Mapping[str, object], None]:
        """Nothing, for `spark.sql`, which sends its text as a command first; a refusal for all else.

        Without a result of the command, pyspark makes a frame over the same text as a relation: that is the
        lazy `spark.sql` a view needs. Text that is a command (INSERT, CREATE ...) fails at analysis.
        """
        del observations
        if command.WhichOneof("command_type") == "sql_command":
            return None, {}, None
        raise refused_call("SparkConnectClient.execute_command")

    def close(self) -> None:
        """Nothing to close."""


def _analyzed(**known: object) -> AnalyzeResult:
    answers: dict[str, object] = dict.fromkeys(_ANSWERS) | known
    return AnalyzeResult(**answers)  # pyright: ignore[reportArgumentType]


_ANSWERS = (
    "schema",
    "explain_string",
    "tree_string",
    "is_local",
    "is_streaming",
    "input_files",
    "spark_version",
    "parsed",
    "is_same_semantics",
    "semantic_hash",
    "storage_level",
    "ddl_string",
)
