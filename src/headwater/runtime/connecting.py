"""A session on a Spark Connect server, with a profile's settings: for plans that were made, and nothing else.

There is no JVM on this side, so nothing can be built through it. Not here: what is sent.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql.connect.client import DefaultChannelBuilder
from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
from pyspark.sql.connect.plan import LogicalPlan
from pyspark.sql.connect.proto import base_pb2, relations_pb2
from pyspark.sql.connect.session import SparkSession as ConnectSession

from headwater.errors import InvalidSetting, SessionIncompatible
from headwater.runtime.failures import engine_errors
from headwater.runtime.masters import check_reachable
from headwater.runtime.settings import is_session_setting, settings_of
from headwater.runtime.versions import engine_versions

if TYPE_CHECKING:
    from collections.abc import Generator

    from pyspark.sql import DataFrame, SparkSession

    from headwater.runtime.profile import RuntimeProfile

_SHAPE = "an address such as sc://host:15002"


@contextmanager
def connect_session(address: str, profile: RuntimeProfile) -> Generator[SparkSession]:
    """A new session of the server at `sc://…`, which the server forgets afterwards.

    Raises:
        InvalidSetting: that is no such address.
        MasterUnreachable: nobody answers there.
        SessionIncompatible: it runs another Spark than plans here are made for.
    """
    try:
        place = DefaultChannelBuilder(address).endpoint
    except PySparkException as error:
        raise InvalidSetting(key="connect", value=repr(address), expected=_SHAPE) from error
    check_reachable(place, f"sc://{place}")
    with engine_errors():
        builder: Any = ConnectSession.builder
        spark = builder.remote(address).create()
        try:
            _check_version(str(spark.version))
            for key, value in sorted((settings_of(profile)[0] | settings_of(profile)[1]).items()):
                if is_session_setting(key):
                    spark.conf.set(key, value)
            yield spark
        finally:
            spark.stop()


def frame_of_bytes(spark: SparkSession, plan: bytes) -> DataFrame:
    """The frame that a serialised plan describes, in a Connect session; nothing is run."""
    connected: Any = spark
    frame: Any = ConnectFrame(_Recorded(base_pb2.Plan.FromString(plan).root), connected)
    return frame


class _Recorded(LogicalPlan):
    """A relation that was made elsewhere, sent as it is."""

    def __init__(self, relation: relations_pb2.Relation) -> None:
        super().__init__(None)
        self._relation = relation

    def plan(self, session: Any) -> relations_pb2.Relation:  # noqa: ARG002  the client asks so
        """The message itself."""
        return self._relation


def _check_version(found: str) -> None:
    wanted = engine_versions().spark
    if found.split(".")[:2] != wanted.split(".")[:2]:
        raise SessionIncompatible(problems=(f"the server runs Spark {found}, plans are made for {wanted}",))
