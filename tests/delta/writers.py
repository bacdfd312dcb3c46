"""A writer in a process of its own, and the hand that leads it.

Run by path, it opens one Spark application and then obeys the lines of stdin, each a command in JSON, with
one line of JSON on stdout for each. Loaded by a test or a script, it gives `Writer`, which starts such a
process, and `WriterHere`, which obeys in this one. A command with a `gate` waits in the middle of its
transaction, when Delta has read the table and asks for the rows, until the gate is opened: so two
transactions overlap because they must, not by luck.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

from headwater.delta import (
    Append,
    CommitNote,
    Delete,
    Merge,
    Overwrite,
    ReplaceKeys,
    ReplaceWhere,
    Update,
    commit_mutation,
    compute_content,
    list_files,
    pin_version,
    read_head,
    read_pinned,
    same_keys,
    verify_pin,
)
from headwater.errors import HeadwaterError
from headwater.policies import write_policy_of
from headwater.runtime import ENGINE_EXCEPTIONS, RuntimeProfile, close_runtime, open_runtime
from headwater.runtime import session as engine
from headwater.runtime.jvm import DEFAULT_OPTIONS, JvmSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from headwater.delta import Mutation, Receipt
    from headwater.runtime import RunSession

# A handful of rows is not worth compiling for.
PROFILE = RuntimeProfile(
    master="local[2]",
    driver_memory="2g",
    adaptive=False,
    spark=(
        ("spark.sql.codegen.wholeStage", "false"),
        ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),
        ("spark.ui.enabled", "false"),
    ),
)
# A process that does so little is over before the JVM has compiled well, and before there is much to collect.
HASTY = ("-XX:TieredStopAtLevel=1", "-XX:-UseParallelGC", "-XX:+UseSerialGC")
PATIENCE = 120.0
PLAIN = "--plain"
_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_REACHED, _OPEN = "reached", "open"


# --- the hand ------------------------------------------------------------------------------------------


class Writer:
    """A writer process; `pids` are Python's and the JVM's, once it is ready."""

    def __init__(self, *flags: str) -> None:
        environment = {**os.environ, "HEADWATER_ARCHIVE": "off"}
        self.pids: tuple[int, ...] = ()
        self._process = subprocess.Popen(
            [sys.executable, __file__, *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ready(self) -> Writer:
        """Waits until it obeys."""
        if not self.pids:
            self.pids = (self._process.pid, int(self.answer()["jvm"]))
        return self

    def send(self, do: str, **command: Any) -> None:
        """Gives a command and does not wait for it."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(json.dumps({"do": do, **command}).encode() + b"\n")
        stdin.flush()

    def answer(self, patience: float = PATIENCE) -> dict[str, Any]:
        """The answer to the first command that has none yet; raises queue.Empty if there is none in time."""
        line = self._lines.get(timeout=patience)
        if not line.endswith(b"\n"):
            raise EOFError(f"the writer ended with {self._process.wait()}: {line!r}")
        return cast("dict[str, Any]", json.loads(line))

    @property
    def has_answered(self) -> bool:
        """Whether there is an answer that nobody has taken yet, or the process is over."""
        return not self._lines.empty()

    def ask(self, do: str, **command: Any) -> dict[str, Any]:
        """Gives a command and waits for its answer."""
        self.send(do, **command)
        return self.answer()

    def kill(self) -> list[dict[str, Any]]:
        """Ends it at once, Python and the JVM, and returns what it had answered before."""
        for pid in reversed(self.pids or (self._process.pid,)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._finish()
        lines = [self._lines.get_nowait() for _ in range(self._lines.qsize())]
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def close(self) -> None:
        """Lets it end by itself."""
        stdin = self._process.stdin
        if stdin is not None:
            with suppress(BrokenPipeError):
                stdin.close()
        self._finish()

    def _finish(self) -> None:
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def _read(self) -> None:
        """Lines as they come; one without an end of line is the last."""
        stdout = self._process.stdout
        assert stdout is not None
        for line in stdout:
            self._lines.put(line)
        self._lines.put(b"")


class WriterHere:
    """A writer in this process and over its Spark, on a thread of its own; led like a `Writer`."""

    def __init__(self) -> None:
        self._commands: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._thread = threading.Thread(target=self._obey, daemon=True)
        self._thread.start()

    def send(self, do: str, **command: Any) -> None:
        """Gives a command and does not wait for it."""
        self._commands.put({"do": do, **command})

    def answer(self) -> dict[str, Any]:
        """The answer to the first command that has none yet; raises queue.Empty if there is none in time."""
        return self._answers.get(timeout=PATIENCE)

    def ask(self, do: str, **command: Any) -> dict[str, Any]:
        """Gives a command and waits for its answer."""
        self.send(do, **command)
        return self.answer()

    def close(self) -> None:
        """Lets its thread end."""
        self._commands.put(None)
        self._thread.join()

    def _obey(self) -> None:
        with writing_session() as session:
            while (command := self._commands.get()) is not None:
                self._answers.put(answer_to(session, command))


class Gate:
    """A place in a plan where rows wait until it is opened."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.path = str(folder)

    def wait_reached(self) -> None:
        """Returns when a transaction stands before the gate."""
        wait_for(lambda: Path(self.path, _REACHED).exists(), f"{self.path} is not reached")

    def open(self) -> None:
        """Lets rows through, now and from now on."""
        Path(self.path, _OPEN).touch()


def wait_for(is_so: Callable[[], bool], otherwise: str) -> None:
    """Returns when something is so; raises TimeoutError if it does not come to be."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(otherwise)
        time.sleep(0.002)


# --- the process ---------------------------------------------------------------------------------------


@contextmanager
def writing_session() -> Generator[RunSession]:
    """A session whose plans may call `passes(gate, key)`, which lets a row through once the gate is open."""
    reached, opened = _REACHED, _OPEN

    # Made in here, it goes to Python's workers as it is: they could not import this module.
    def passes(gate: str, _key: int) -> bool:
        Path(gate, reached).touch()
        for _ in range(6000):
            if Path(gate, opened).exists():
                return True
            time.sleep(0.01)
        raise TimeoutError(gate)

    with open_runtime(PROFILE).checkout() as session:
        session.spark.udf.register("passes", passes, "boolean")
        yield session


def mutation_of(command: dict[str, Any]) -> Mutation:
    """The mutation that a command means."""
    note = CommitNote(
        pipeline=command.get("pipeline", "p"),
        table="t",
        run_id="r",
        task_key="k",
        mutation_id=str(command["mutation_id"]),
    )
    policy = command.get("policy")
    given: dict[str, Any] = {
        "uri": command["uri"],
        "base_version": command["base_version"],
        "note": note,
        "exact": command.get("exact", False),
        "policy": write_policy_of(policy) if policy is not None else None,
    }
    where = command.get("where", "")
    if where and "gate" in command and "rows" not in command:
        where = f"({where}) AND passes('{command['gate']}', k)"
    match command["do"]:
        case "append":
            return Append(**given)
        case "overwrite":
            return Overwrite(**given)
        case "replace_where":
            return ReplaceWhere(**given, where=where)
        case "replace_keys":
            return ReplaceKeys(**given, keys=("k",))
        case "merge":
            return Merge(**given, on=same_keys("k"))
        case "update":
            return Update(**given, where=where or None, assignments=tuple(command["assignments"].items()))
        case "delete":
            return Delete(**given, where=where or None)
        case other:
            raise ValueError(other)


def facts_of(receipt: Receipt) -> dict[str, Any]:
    """What a receipt says, as far as tests ask."""
    return {
        "outcome": receipt.outcome,
        "version": receipt.version,
        "rows": receipt.rows,
        "content": receipt.content.text if receipt.content else None,
        "attempts": [[each.base_version, each.conflict, each.verdict] for each in receipt.attempts],
    }


def obey(session: RunSession, command: dict[str, Any]) -> dict[str, Any]:
    """Does one command and returns its answer."""
    match command["do"]:
        case "sql":
            session.spark.sql(command["sql"]).collect()
            return {}
        case "rows":
            found: list[Any] = read_pinned(session, read_head(command["uri"]).pin("t")).collect()
            return {"rows": sorted([*row] for row in found)}
        case "verify":
            pin = read_head(command["uri"]).pin("t")
            files = [each.path for each in list_files(session, pin)]
            return {"problems": list(verify_pin(session, pin).problems), "files": files}
        case "content":
            pins = [pin_version("t", command["uri"], version=each) for each in command["versions"]]
            return {"content": [compute_content(session, pin).text for pin in pins]}
        case _:
            rows, keys = rows_of(session, command), keys_of(session, command)
            return facts_of(commit_mutation(session, mutation_of(command), rows, affected=keys))


def rows_of(session: RunSession, command: dict[str, Any]) -> Any:
    """The rows of a command, behind its gate if it has one."""
    if "rows" not in command:
        return None
    values = ", ".join(f"({key}L, {value}L)" for key, value in command["rows"])
    frame = session.spark.sql(f"SELECT * FROM VALUES {values} AS rows(k, v)")
    return frame.where(f"passes('{command['gate']}', k)") if "gate" in command else frame


def keys_of(session: RunSession, command: dict[str, Any]) -> Any:
    """The affected keys of a command that has some."""
    if "affected" not in command:
        return None
    return session.spark.sql(
        f"SELECT explode(array({', '.join(f'{key}L' for key in command['affected'])})) AS k"
    )


def answer_to(session: RunSession, command: dict[str, Any]) -> dict[str, Any]:
    """The answer to a command, also where it failed."""
    try:
        return obey(session, command)
    except HeadwaterError as error:
        java = getattr(error, "java_class", None)
        told = {"name": type(error).__name__, "java_class": java, "detail": getattr(error, "detail", None)}
        return {"error": error.code, **told, "condition": getattr(error, "condition", None)}
    except ENGINE_EXCEPTIONS as error:
        return {"error": "raw", "detail": str(error)[:2000]}


def say(answer: dict[str, Any]) -> None:
    """Writes one line, at once."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def become_plain() -> None:
    """Starts again as one who may not pass over the permissions of files, whoever it is."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "prctl")
    os.execv(sys.executable, [sys.executable, __file__])  # noqa: S606  itself


def main() -> None:
    """Obeys until stdin ends."""
    if PLAIN in sys.argv:
        become_plain()
    hasty = partial(JvmSpec, options=(*DEFAULT_OPTIONS, *HASTY))
    with patch.object(engine, "JvmSpec", hasty), writing_session() as session:
        say({"jvm": int(session.jvm.java.lang.ProcessHandle.current().pid())})
        for line in sys.stdin:
            say(answer_to(session, json.loads(line)))
    close_runtime()


if __name__ == "__main__":
    main()
