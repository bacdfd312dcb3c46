"""Spark's own translator from Connect's messages to Catalyst, over one session of this process.

Not here: what is translated.
"""

from __future__ import annotations

from typing import Any


def connect_planner(jvm: Any, jvm_session: Any) -> Any:
    """The JVM's SparkConnectPlanner; it runs nothing, and nobody else sees the holder that it asks for."""
    connect = jvm.org.apache.spark.sql.connect
    identity = str(jvm.java.util.UUID.randomUUID())
    holder = connect.service.SessionHolder("headwater", identity, jvm_session)
    return connect.planner.SparkConnectPlanner(holder, jvm.scala.Option.empty())
