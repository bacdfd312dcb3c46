"""The class archive: a file that a JVM maps instead of loading and verifying some 17,000 classes anew.

It belongs to one Java, one class path and one set of JVM options; anything else gets an archive of its own.
Without one everything works, only slower to start. `HEADWATER_ARCHIVE=off` turns it off.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from filelock import FileLock

from headwater.clock import SystemClock
from headwater.digest import digest_of
from headwater.errors import EngineStartFailed, HeadwaterError, HomeNotWritable
from headwater.home import folder_in, new_log
from headwater.runtime.jvm import MODULE_OPTIONS, JvmSpec, class_path_of, environment_of, java_command_of
from headwater.runtime.training import decoded_spec, train_in_child

if TYPE_CHECKING:
    from collections.abc import Callable

Train: TypeAlias = "Callable[[JvmSpec, Path], Path]"
"""Runs the engine once so that it leaves its archive at the path given; returns a log."""

SWITCH_VARIABLE = "HEADWATER_ARCHIVE"
ARCHIVES_KEPT = 2  # two environments that take turns on one machine do not undo each other's work
_RETRY_SECONDS = 3600
_CHECK_SECONDS = 120
_NICENESS = 15
_MAIN_CLASS = "org.apache.spark.deploy.SparkSubmit"


def archive_options(spec: JvmSpec) -> tuple[str, ...]:
    """The JVM options that use the archive of `spec`, or none where there is no whole one.

    A JVM dies of a truncated archive, whatever it is told about sharing, so the size is checked here at every
    start. Damage that leaves the size alone is found by the JVM's own check, for a tenth of a second.
    """
    archive = None if _is_off() else _find(spec)
    if archive is None:
        return ()
    return (
        f"-XX:SharedArchiveFile={archive}",
        "-Xshare:auto",
        "-XX:+VerifySharedSpaces",
        "-Xlog:cds*=off",
    )


def with_archive(spec: JvmSpec) -> JvmSpec:
    """The same engine, made to use its archive where there is one."""
    return replace(spec, options=(*spec.options, *archive_options(spec)))


def start_archiving_in_background(spec: JvmSpec) -> bool:
    """Have a process of low priority make the archive of `spec` if there is none; whether one was started.

    One at a time on a machine, and after a failure not again within the hour; its log is in the home.
    Never raises for want of a writable home: a start without an archive is only slower.
    """
    try:
        if _is_off() or _find(spec) is not None or not _claim_attempt(spec):
            return False
        _spawn(spec)
    except (OSError, HomeNotWritable):
        return False
    return True


def make_archive(spec: JvmSpec, *, train: Train = train_in_child) -> Path:
    """The path of the archive of `spec`, made now if there is none (half a minute).

    Raises:
        EngineStartFailed: the engine did not write one, or what it wrote cannot be used.
        HomeNotWritable: the cache folder cannot take it.
    """
    spec = replace(spec, quick=False)  # one archive serves both kinds of engine
    folder = folder_in(spec.home, "archive")
    with FileLock(folder / "archive.lock"):
        existing = _find(spec)
        if existing is not None:
            return existing
        with tempfile.TemporaryDirectory(dir=folder, prefix="making-") as scratch:
            draft = Path(scratch) / "classes.jsa"
            log = train(spec, draft)
            _check_usable(spec, draft, log)
            archive = folder / f"{_key_of(spec)}-{draft.stat().st_size}.jsa"
            draft.replace(archive)
        _prune(folder, archive)
        _attempt_of(spec).unlink(missing_ok=True)
    return archive


def main() -> None:
    """What the background process does."""
    os.nice(_NICENESS)
    spec = decoded_spec(sys.argv[1])
    try:
        make_archive(spec)
    except HeadwaterError as error:
        sys.exit(f"{error} {error.next_step}")


def _spawn(spec: JvmSpec) -> None:
    encoded = msgspec.json.encode(replace(spec, settings=()), enc_hook=str).decode()
    command = [sys.executable, "-c", f"from {__name__} import main; main()", encoded]
    with new_log(spec.home, "background").open("wb") as sink:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True, cwd=spec.home
        )
    # It outlives this process and nobody waits for it; without this, Python warns of a forgotten child.
    process.returncode = 0


def _is_off() -> bool:
    return os.environ.get(SWITCH_VARIABLE, "").lower() == "off"


def _key_of(spec: JvmSpec) -> str:
    class_path = [(str(jar), jar.stat().st_size, jar.stat().st_mtime_ns) for jar in class_path_of(spec)]
    java = (str(spec.java.path), spec.java.version)
    return digest_of({"java": java, "class_path": class_path, "options": (*MODULE_OPTIONS, *spec.options)})[
        :32
    ]


def _find(spec: JvmSpec) -> Path | None:
    """The whole archive of this key: its name ends in the size it had when it was found to be good."""
    try:
        archives = sorted((spec.home / "archive").glob(f"{_key_of(spec)}-*.jsa"))
        return next((path for path in archives if path.stem.endswith(f"-{path.stat().st_size}")), None)
    except OSError:
        return None  # removed under our hands


def _attempt_of(spec: JvmSpec) -> Path:
    return spec.home / "archive" / f"{_key_of(spec)}.attempt"


def _claim_attempt(spec: JvmSpec) -> bool:
    """Whether this process is the one that may try now."""
    folder_in(spec.home, "archive")
    attempt = _attempt_of(spec)
    try:
        age = SystemClock().now().timestamp() - attempt.stat().st_mtime
        if age < _RETRY_SECONDS:
            return False
        attempt.unlink(missing_ok=True)
    except FileNotFoundError:
        pass
    try:
        attempt.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _check_usable(spec: JvmSpec, draft: Path, log: Path) -> None:
    """A JVM that may not do without the archive must start, and must take its main class from it."""
    if not draft.exists():
        raise EngineStartFailed(detail="it ended without writing a class archive", log=str(log))
    options = (
        f"-XX:SharedArchiveFile={draft}",
        "-Xshare:on",
        "-XX:+VerifySharedSpaces",
        "-Xlog:class+load=info",
    )
    command = java_command_of(replace(spec, options=(*spec.options, *options)))
    try:
        answer = subprocess.run(
            [*command, _MAIN_CLASS, "--version"],
            env=environment_of(spec),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_CHECK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineStartFailed(detail="a JVM with the new class archive hangs", log=str(log)) from error
    if answer.returncode != 0 or f"{_MAIN_CLASS} source: shared objects file (top)" not in answer.stdout:
        raise EngineStartFailed(detail="the new class archive cannot be used", log=str(log))


def _prune(folder: Path, newest: Path) -> None:
    archives = sorted(folder.glob("*.jsa"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    others = [path for path in archives if path != newest]
    for old in others[ARCHIVES_KEPT - 1 :]:
        old.unlink(missing_ok=True)
