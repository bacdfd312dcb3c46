"""What an address of a master says, and what is told of one that does not answer or gives nothing.

Whole builds on a real cluster are in `tests/run/test_clusters.py`.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.errors import MasterUnreachable, NoExecutors
from headwater.runtime.masters import (
    await_executors,
    check_master,
    cluster_settings,
    is_local,
    is_on_this_machine,
    start_failure,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from pyspark import SparkContext

    from headwater.runtime import SessionRuntime

MASTERS = {
    # master: is one process, is on this machine
    "local": (True, True),
    "local[*]": (True, True),
    "local-cluster[2,1,1024]": (False, True),
    "spark://127.0.0.1:7077": (False, True),
    "spark://localhost:7077": (False, True),
    "spark://[::1]:7077": (False, True),
    "spark://host:7077": (False, False),
    "spark://127.0.0.1:7077,host:7077": (False, False),
    "k8s://https://127.0.0.1:6443": (False, False),
    "yarn": (False, False),
}


@pytest.mark.parametrize("master", MASTERS)
def test_an_address_says_where_executors_are(master: str) -> None:
    assert (is_local(master), is_on_this_machine(master)) == MASTERS[master]


@pytest.fixture
def listening() -> Generator[str]:
    """Where somebody listens; the connection is made by the system."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_master_that_answers_is_taken(listening: str) -> None:
    check_master(f"spark://{listening}")
    check_master(f"spark://127.0.0.1:1,{listening}")  # a standby is enough


@pytest.mark.parametrize("master", ["local[2]", "yarn", "k8s://https://nowhere.invalid:1"])
def test_other_masters_are_not_asked(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize(
    ("master", "complaint"),
    [
        ("spark://127.0.0.1:1", "127.0.0.1:1: connection refused"),
        (
            "spark://127.0.0.1:1,127.0.0.1:2",
            "127.0.0.1:1: connection refused; 127.0.0.1:2: connection refused",
        ),
        ("spark://nowhere.invalid:7077", "nowhere.invalid:7077: "),
        ("spark://127.0.0.1", "'127.0.0.1' is not host:port"),
        ("spark://127.0.0.1:seven", "'127.0.0.1:seven' is not host:port"),
        ("spark://127.0.0.1:70770", "127.0.0.1:70770: "),
    ],
)
def test_a_master_that_does_not_answer_is_told_in_time(master: str, complaint: str) -> None:
    start = time.monotonic()
    with pytest.raises(MasterUnreachable) as caught:
        check_master(master)
    assert complaint in str(caught.value)
    assert caught.value.master == master
    assert time.monotonic() - start < 60


def test_executors_are_sent_jars_and_a_local_master_nothing() -> None:
    jars = (Path("/jars/a b.jar"), Path("/jars/c.jar"))
    assert cluster_settings({"spark.master": "local[2]", "spark.jars": "x.jar"}, jars) == {}
    sent = cluster_settings({"spark.master": "yarn", "spark.jars": "x.jar,y.jar"}, jars)
    assert sent["spark.jars"] == "file:///jars/a%20b.jar,file:///jars/c.jar,x.jar,y.jar"
    assert sent["spark.executor.defaultJavaOptions"] == "-Xss4m"
    own = {"spark.master": "yarn", "spark.executor.defaultJavaOptions": "-Xss8m"}
    assert cluster_settings(own, jars)["spark.executor.defaultJavaOptions"] == "-Xss8m"


def test_executors_that_do_not_come_are_told(runtime: SessionRuntime) -> None:
    """A driver alone is what a cluster without workers looks like to an application."""
    with runtime.checkout() as session:
        context: SparkContext = session.spark.sparkContext
    said: list[str] = []
    await_executors(context, "local[2]", 1, said.append)
    with pytest.raises(NoExecutors) as caught:
        await_executors(context, "spark://host:7077", 4, said.append)
    assert said == ["waiting for executors of spark://host:7077, for 4 s at the most"]
    assert "executor_wait_seconds" in caught.value.next_step


def test_an_application_that_a_cluster_ended_is_told_as_such() -> None:
    stopped = "Cannot call methods on a stopped SparkContext. This stopped SparkContext was created at: ..."
    said = start_failure("spark://host:7077", stopped)
    assert said == "spark://host:7077 did not take the application, or ended it"
    assert start_failure("local[2]", stopped) == stopped
    assert start_failure("spark://host:7077", "no such class") == "no such class"
