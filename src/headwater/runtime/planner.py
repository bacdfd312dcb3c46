"""Spark's own translator from Connect's messages to Catalyst, over one session of this process.

Not here: what is translated.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def connect_planner(jvm: Any, jvm_session: Any) -> Any:
    """The JVM's SparkConnectPlanner; it runs nothing, and nobody else sees the holder that it asks for."""
    new_identity, new_holder, new_planner, nothing = _parts(jvm)
    holder = new_holder("headwater", str(new_identity()), jvm_session)
    return new_planner(holder, nothing)


@lru_cache(maxsize=1)
def _parts(jvm: Any) -> tuple[Any, Any, Any, Any]:
    """What a planner is made of; each step of a name in the JVM is a question to it, so they are kept."""
    connect = jvm.org.apache.spark.sql.connect
    return (
        jvm.java.util.UUID.randomUUID,
        connect.service.SessionHolder,
        connect.planner.SparkConnectPlanner,
        jvm.scala.Option.empty(),
    )
