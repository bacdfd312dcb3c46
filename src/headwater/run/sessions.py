"""A session that is opened when somebody first needs it: a run that has nothing to do never starts Spark.

Not here: what the session is for.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from headwater.run.outcome import Progress
from headwater.runtime import engine_errors, open_runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType

    from pyspark.sql import SparkSession

    from headwater.run.outcome import Listener
    from headwater.runtime import Notify, RunSession, RuntimeProfile


@contextmanager
def opened_session(
    profile: RuntimeProfile, listen: Listener, spark: SparkSession | None = None
) -> Generator[RunSession]:
    """A session that is needed for certain, with Spark's failures as our errors."""
    with (
        engine_errors(),
        LazySession(profile, lambda message: listen(Progress(message=message)), spark) as engine,
    ):
        yield engine.get()


class LazySession:
    """One run's session; `get` starts the engine, leaving the context ends the session.

    With `spark`, the engine is the one that runs that session.
    """

    def __init__(self, profile: RuntimeProfile, notify: Notify, spark: SparkSession | None = None) -> None:
        self._profile = profile
        self._notify = notify
        self._spark = spark
        self._stack = ExitStack()
        self._session: RunSession | None = None
        self._is_little: Callable[[], bool] = lambda: False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session = None
        self._stack.close()

    @property
    def is_open(self) -> bool:
        """Whether somebody has needed the engine yet."""
        return self._session is not None

    def expect(self, is_little: Callable[[], bool]) -> None:
        """Has Java started for just that where there is little to do before this process ends.

        Whether there is, is asked when the engine is needed.
        """
        self._is_little = is_little

    def get(self) -> RunSession:
        """The session, opened now if it was not yet."""
        if self._session is None:
            profile = self._profile
            if profile.java_compiler == "auto" and self._is_little():
                profile = replace(profile, java_compiler="quick")
            runtime = open_runtime(profile, self._notify, self._spark)
            self._session = self._stack.enter_context(runtime.checkout())
        return self._session

    def fresh(self) -> RunSession:
        """Another session for the same run, without its views; it ends with the run, if not before."""
        another = self.get().fresh()
        self._stack.callback(another.release)
        return another
