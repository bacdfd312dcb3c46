"""Tasks one after another where they must, side by side where they can; a failure stops what waits for it.

Not here: what a task does.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    Work = Callable[[str], None]


@dataclass(slots=True)
class Ends:
    """How tasks ended that did not end well: the errors, and whom those behind them waited for."""

    errors: dict[str, HeadwaterError] = field(default_factory=dict[str, HeadwaterError])
    behind: dict[str, str] = field(default_factory=dict[str, str])

    def culprit(self, needs: Iterable[str]) -> str | None:
        """The failed task that something with these needs waits for in vain, if there is one."""
        for name in needs:
            if name in self.errors:
                return name
            if name in self.behind:
                return self.behind[name]
        return None


def run_tasks(
    order: Iterable[str],
    needs: Mapping[str, Collection[str]],
    work: Work,
    *,
    workers: int = 1,
    in_thread: Callable[[Work], Work] = lambda work: work,
    is_light: Callable[[str], bool] = lambda _name: False,
    ends_all: Callable[[HeadwaterError], bool] = lambda _error: False,
) -> Ends:
    """Does every task after those that it needs, in `order` wherever that leaves a choice.

    Args:
        order: all tasks, each after those that it needs.
        needs: what each task needs.
        work: does a task; called in a thread of its own if there are `workers`.
        workers: the most tasks at once.
        in_thread: makes of `work` what another thread calls, anew for every task.
        is_light: whether a task is too small for a thread; it is done at once.
        ends_all: whether after an error no other task can be done.

    Raises:
        BaseException: what `work` raised that is no HeadwaterError, once all tasks that run have ended.
    """
    loop = _Loop(needs, work, workers, in_thread, is_light, ends_all)
    if workers == 1:
        loop.run(list(order), None)
    else:
        with ThreadPoolExecutor(workers, thread_name_prefix="headwater-task") as pool:
            loop.run(list(order), pool)
    return loop.ends


@dataclass(slots=True)
class _Loop:
    needs: Mapping[str, Collection[str]]
    work: Work
    workers: int
    in_thread: Callable[[Work], Work]
    is_light: Callable[[str], bool]
    ends_all: Callable[[HeadwaterError], bool]
    ends: Ends = field(default_factory=Ends)
    _done: set[str] = field(default_factory=set[str])
    _running: dict[Future[None], str] = field(default_factory=dict["Future[None]", str])

    def run(self, waiting: list[str], pool: ThreadPoolExecutor | None) -> None:
        while waiting or self._running:
            name = self._next(waiting)
            if name is None:
                self._collect(waiting)
            elif pool is None or self.is_light(name):
                waiting.remove(name)
                self._ended(name, lambda name=name: self.work(name), waiting)
            else:
                waiting.remove(name)
                self._running[pool.submit(self.in_thread(self.work), name)] = name

    def _next(self, waiting: list[str]) -> str | None:
        """The first task that can be begun now; those that cannot be done any more are struck out."""
        for name in list(waiting):
            culprit = self.ends.culprit(self.needs[name])
            if culprit is not None:
                waiting.remove(name)
                self.ends.behind[name] = culprit
            elif self._done.issuperset(self.needs[name]) and (
                self.is_light(name) or len(self._running) < self.workers
            ):
                return name
        return None

    def _collect(self, waiting: list[str]) -> None:
        """Waits for a task that runs to end."""
        finished, _ = wait(self._running, return_when=FIRST_COMPLETED)
        for future in finished:
            self._ended(self._running.pop(future), future.result, waiting)

    def _ended(self, name: str, result: Callable[[], None], waiting: list[str]) -> None:
        try:
            result()
            self._done.add(name)
        except HeadwaterError as error:
            self.ends.errors[name] = error
            if self.ends_all(error):
                self.ends.behind.update(dict.fromkeys(waiting, name))
                waiting.clear()
