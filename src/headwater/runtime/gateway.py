"""A running JVM and the py4j connection to it.

The JVM is started directly, not through `bin/spark-submit`, whose launcher starts a JVM only to make a
command line for the next one.
"""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import SparkContext
from pyspark.java_gateway import launch_gateway  # pyright: ignore[reportUnknownVariableType]

from headwater.errors import EngineStartFailed
from headwater.runtime.jvm import JvmSpec, reason_in, start_jvm

if TYPE_CHECKING:
    from collections.abc import Generator

    from py4j.java_gateway import JavaGateway

START_SECONDS = 120.0
_STOP_SECONDS = 20.0
_PAUSE_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """An open connection; the JVM ends with `close` or with this process, whichever comes first."""

    py4j: JavaGateway
    process: subprocess.Popen[bytes]
    log: Path

    def close(self, *, patience: float = _STOP_SECONDS) -> None:
        """End the JVM, by force after `patience` seconds; safe to call twice."""
        # PySpark keeps the gateway of the process for the next context; it must not get a dead one.
        if SparkContext._gateway is self.py4j:
            SparkContext._gateway = None
            SparkContext._jvm = None
        self.py4j.shutdown()
        _end(self.process, patience)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingGateway:
    """A JVM on its way up; whatever is done before `connect` costs no waiting."""

    process: subprocess.Popen[bytes]
    log: Path
    private: tempfile.TemporaryDirectory[str]
    deadline: float

    def connect(self) -> Gateway:
        """Wait for the JVM and connect to it.

        Raises:
            EngineStartFailed: the JVM ended, or did not answer in time.
        """
        try:
            port, secret = self._wait()
            with _environment(PYSPARK_GATEWAY_PORT=str(port), PYSPARK_GATEWAY_SECRET=secret):
                py4j = launch_gateway()
        except BaseException:
            _end(self.process, patience=0.0)
            raise
        finally:
            self.private.cleanup()
        return Gateway(py4j=py4j, process=self.process, log=self.log)

    def abandon(self) -> None:
        """End the JVM without ever connecting to it."""
        _end(self.process, patience=0.0)
        self.private.cleanup()

    def _wait(self) -> tuple[int, str]:
        connection = Path(self.private.name) / "connection"
        while not connection.exists():
            if self.process.poll() is not None:
                raise EngineStartFailed(detail=reason_in(self.log), log=str(self.log))
            if time.monotonic() > self.deadline:
                raise EngineStartFailed(detail="the JVM did not answer in time", log=str(self.log))
            time.sleep(_PAUSE_SECONDS)
        with connection.open("rb") as answer:
            port, length = struct.unpack(">ii", answer.read(8))
            return port, answer.read(length).decode()


def begin_gateway(spec: JvmSpec, *, timeout: float = START_SECONDS) -> StartingGateway:
    """Start the JVM and come back at once.

    Raises:
        EngineStartFailed: the process could not be started at all.
        HomeNotWritable: no log can be written.
    """
    private = tempfile.TemporaryDirectory(prefix="headwater-")
    try:
        process, log = start_jvm(spec, Path(private.name))
    except BaseException:
        private.cleanup()
        raise
    return StartingGateway(process=process, log=log, private=private, deadline=time.monotonic() + timeout)


def open_gateway(spec: JvmSpec, *, timeout: float = START_SECONDS) -> Gateway:
    """Start the JVM and connect to it.

    Raises:
        EngineStartFailed: it could not be started, ended, or did not answer in time.
        HomeNotWritable: no log can be written.
    """
    return begin_gateway(spec, timeout=timeout).connect()


def _end(process: subprocess.Popen[bytes], patience: float) -> None:
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _environment(**values: str) -> Generator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
