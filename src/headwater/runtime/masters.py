"""Where Spark runs: what a master's address says, whether a cluster answers, and what it is sent and gives.

    local[4]   spark://host:7077   k8s://https://host:443   yarn

Not here: the JVM of the driver, and sessions.
"""

from __future__ import annotations

import socket
import sys
import time
from typing import TYPE_CHECKING, Any

from pyspark import SparkConf, SparkContext

from headwater.errors import MasterUnreachable, NoExecutors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from py4j.java_gateway import JavaGateway

JARS = "spark.jars"
WORKER_PYTHON = "spark.pyspark.python"
_STANDALONE = "spark://"
_LOOPBACK = ("127.", "localhost", "[::1]")
_CONNECT_SECONDS = 5.0
_PAUSE_SECONDS = 0.2
_WORD_AFTER_SECONDS = 3.0
# Tasks take deep plans apart by recursion, as the driver does.
_EXECUTOR_OPTIONS = "-Xss4m"


def is_local(master: str) -> bool:
    """Whether driver and executors are one process."""
    return master.split("[", maxsplit=1)[0] == "local"


def is_on_this_machine(master: str) -> bool:
    """Whether all there is to talk to is on this machine, so that nothing need listen outside of it.

    >>> [is_on_this_machine(each) for each in ("local[2]", "spark://127.0.0.1:7077", "spark://host:7077")]
    [True, True, False]
    """
    if not master.startswith(_STANDALONE):
        return master.startswith("local")
    return all(place.startswith(_LOOPBACK) for place in _places(master))


def check_master(master: str) -> None:
    """Raises MasterUnreachable if nobody listens where a standalone master should be.

    Spark itself would try for a minute, and then say that its context was stopped.
    """
    if not master.startswith(_STANDALONE):
        return
    complaints: list[str] = []
    for place in _places(master):
        try:
            check_reachable(place, master)
        except MasterUnreachable as error:
            complaints.append(error.detail)
        else:
            return  # one that answers knows who leads
    raise MasterUnreachable(master=master, detail="; ".join(complaints))


def check_reachable(place: str, master: str) -> None:
    """Raises MasterUnreachable, with the whole address, if nobody listens at `host:port`."""
    host, _, port = place.rpartition(":")
    if not host or not port.isdigit():
        raise MasterUnreachable(master=master, detail=f"'{place}' is not host:port")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        words = str(getattr(error, "strerror", None) or error).lower()
        raise MasterUnreachable(master=master, detail=f"{place}: {words}") from error


def cluster_settings(settings: Mapping[str, str], jars: Iterable[Path]) -> dict[str, str]:
    """What executors in processes of their own must be given besides: jars, and room for deep plans.

    Jars that a profile names stay, behind these. The driver has them on its class path and serves them.
    """
    if is_local(settings["spark.master"]):
        return {}
    named = [each for each in settings.get(JARS, "").split(",") if each.strip()]
    return {
        JARS: ",".join([*(each.as_uri() for each in jars), *named]),
        "spark.executor.defaultJavaOptions": settings.get(
            "spark.executor.defaultJavaOptions", _EXECUTOR_OPTIONS
        ),
    }


def open_context(gateway: JavaGateway, settings: Mapping[str, str]) -> SparkContext:
    """The application, in a JVM that was started with the same settings.

    Workers have the Python of this process, unless there is another one for them.
    """
    # For a cluster, Spark's launcher has worked out more: the jars of packages, and what executors are sent.
    is_cluster = not is_local(settings["spark.master"])
    conf = SparkConf(loadDefaults=is_cluster, _jvm=gateway.jvm)
    conf.setAll([each for each in settings.items() if not conf.contains(each[0])])
    context = SparkContext(gateway=gateway, conf=conf)
    context.pythonExec = settings.get(WORKER_PYTHON, sys.executable)
    return context


def await_executors(context: SparkContext, master: str, seconds: int, notify: Callable[[str], None]) -> None:
    """Comes back when a cluster has given the application its first executor.

    Where executors come and go with the work (dynamic allocation), none need be there yet.

    Raises:
        NoExecutors: it gave none in time. What the engine throws if the application ended is passed on.
    """
    if is_local(master) or context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true":
        return
    java: Any = context._jsc
    start = time.monotonic()
    is_told = False
    while java.sc().getExecutorMemoryStatus().size() < 2:  # noqa: PLR2004  the driver is in it
        waited = time.monotonic() - start
        if waited > seconds:
            raise NoExecutors(master=master, seconds=seconds)
        if waited > _WORD_AFTER_SECONDS and not is_told:
            notify(f"waiting for executors of {master}, for {seconds} s at the most")
            is_told = True
        time.sleep(_PAUSE_SECONDS)


def start_failure(master: str, detail: str) -> str:
    """Why an application did not start, in words about the cluster if that is to blame.

    Spark stops a context that a cluster does not take, or ends, and then only says that it is stopped.
    """
    is_ended = not is_local(master) and "stopped SparkContext" in detail
    return f"{master} did not take the application, or ended it" if is_ended else detail


def _places(master: str) -> list[str]:
    """Standby masters stand in one address, with commas between them."""
    return master.removeprefix(_STANDALONE).split(",")
