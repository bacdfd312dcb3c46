"""Where Spark runs: what a master's address says, whether a cluster answers there, and what it must be sent.

    local[4]   spark://host:7077   k8s://https://host:443   yarn

Not here: starting anything.
"""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

from headwater.errors import EngineStartFailed, MasterUnreachable, NoExecutors
from headwater.runtime.failures import ENGINE_EXCEPTIONS, failure_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pyspark import SparkContext

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


def await_executors(context: SparkContext, master: str, seconds: int, notify: Callable[[str], None]) -> None:
    """Comes back when a cluster has given the application its first executor.

    Where executors come and go with the work (dynamic allocation), none need be there yet.

    Raises:
        NoExecutors: it gave none in time.
        EngineStartFailed: the application ended meanwhile.
    """
    if is_local(master) or context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true":
        return
    java: Any = context._jsc
    start = time.monotonic()
    is_told = False
    try:
        while java.sc().getExecutorMemoryStatus().size() < 2:  # noqa: PLR2004  the driver is in it
            waited = time.monotonic() - start
            if waited > seconds or java.sc().isStopped():
                raise NoExecutors(master=master, seconds=seconds)
            if waited > _WORD_AFTER_SECONDS and not is_told:
                notify(f"waiting for executors of {master}, for {seconds} s at the most")
                is_told = True
            time.sleep(_PAUSE_SECONDS)
    except ENGINE_EXCEPTIONS as error:
        raise EngineStartFailed(detail=failure_of(error).detail) from error


def _places(master: str) -> list[str]:
    """Standby masters stand in one address, with commas between them."""
    return master.removeprefix(_STANDALONE).split(",")
