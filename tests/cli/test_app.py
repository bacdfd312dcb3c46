"""The command from outside: help, versions, usage, the form of errors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from conftest import Finished

Run = Callable[..., "Finished"]
RunMany = Callable[..., dict[str, "Finished"]]
UPKEEP = "optimize vacuum restore export checkpoint cleanup-log features properties constraints maintain"
HELPS = [
    *((), ("build",), ("plan",), ("lineage",), ("explain",)),
    *(("query",), ("replay",), ("diff",), ("init",), ("doctor",), ("functions",)),
    *(("table", each) for each in UPKEEP.split()),
    *(("runs",), ("show",)),
    *(("export", each) for each in ("callgraph", "graph", "scip")),
    ("ask",),
    ("serve",),
]
WRONG = {
    "an option": (("build", "--nope"), "No such option"),
    "a command": (("biuld",), "No such command"),
    "too little": (("init",), "Missing"),
    "half a setting": (("build", "--set", "nonsense"), "KEY=VALUE"),
    "no folder": (("build", "/nowhere/at/all"), "it is not there"),
    "no profile": (("doctor", "--profile", "nope"), "no profile named 'nope'"),
    "no setting": (("doctor", "--set", "shufle_partitions=2"), "shuffle_partitions"),
}
ASKED = {
    "json": ("build", "/nowhere/at/all", "--json"),
    "debug": ("build", "/nowhere/at/all", "--debug"),
    **{case: arguments for case, (arguments, _) in WRONG.items()},
    **{f"help {command}": (*command, "--help") for command in HELPS},
}


@pytest.fixture(scope="module")
def ends(headwaters: RunMany) -> dict[str, Finished]:
    """How each command ended."""
    return headwaters(**{name: {"arguments": arguments} for name, arguments in ASKED.items()})


@pytest.mark.parametrize("command", HELPS)
def test_help_shows_an_example(
    ends: dict[str, Finished], snapshot: SnapshotAssertion, command: tuple[str, ...]
) -> None:
    done = ends[f"help {command}"]
    assert (done.code, done.err) == (0, "")
    assert "\n".join(line.rstrip() for line in done.out.splitlines()) == snapshot
    assert "Example" in done.out or not command


def test_the_version_is_the_packages(headwater: Run) -> None:
    assert headwater("--version").out == f"headwater {version('headwater')}\n"
    module = subprocess.run([sys.executable, "-m", "headwater", "--version"], capture_output=True, check=True)
    assert module.stdout.decode() == f"headwater {version('headwater')}\n"


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage_exits_with_two(ends: dict[str, Finished], case: str) -> None:
    done = ends[case]
    assert (done.code, done.out) == (2, "")
    first, second = done.err.splitlines()
    assert first.startswith("HW-")
    assert second.startswith("  ")
    assert WRONG[case][1] in done.err
    assert "Traceback" not in done.err


def test_an_error_is_json_too_if_json_was_asked_for(ends: dict[str, Finished]) -> None:
    done = ends["json"]
    document = json.loads(done.out)
    assert document["schema_version"] == 1
    assert document["status"] == "failed"
    assert document["error"]["code"] == "HW-CONFIG-005"
    assert done.err.startswith("HW-CONFIG-005")


def test_debug_shows_the_trace(ends: dict[str, Finished]) -> None:
    done = ends["debug"]
    assert "Traceback (most recent call last)" in done.err
    assert done.err.splitlines()[-2].startswith("HW-CONFIG-005")


def test_a_reader_that_goes_away_is_no_reason_for_a_trace() -> None:
    command = [sys.executable, "-m", "headwater", "build", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
