"""Run by a test in a process of its own: the JVM is killed under a run, and the next run gets a new one."""

from __future__ import annotations

from headwater.errors import EngineFailed
from headwater.runtime import RuntimeProfile, close_runtime, engine_errors, open_runtime
from headwater.runtime import session as session_module

PROFILE = RuntimeProfile(master="local[1]", driver_memory="2g")


def kill_engine() -> None:
    """As the operating system would."""
    gateway = session_module._applications[0].gateway
    assert gateway is not None
    gateway.process.kill()


runtime = open_runtime(PROFILE)
try:
    with runtime.checkout() as session, engine_errors():
        kill_engine()
        session.spark.range(3).count()
except EngineFailed as error:
    print(error.condition)  # noqa: T201
with open_runtime(PROFILE).checkout() as session:
    print(session.spark.range(3).count())  # noqa: T201
kill_engine()
close_runtime()
