from __future__ import annotations

import threading
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import HeadwaterError
from headwater.run.scheduling import Ends, run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 30


class Broken(HeadwaterError):
    code = "HW-TEST-001"


def never(_name: str) -> None:
    raise AssertionError


NAMES = [f"t{number}" for number in range(7)]
GRAPHS = st.sets(st.sampled_from(list(combinations(NAMES, 2)))).map(
    lambda edges: {name: tuple(before for before, after in edges if after == name) for name in NAMES}
)


@given(
    needs=GRAPHS,
    failing=st.sets(st.sampled_from(NAMES)),
    light=st.sets(st.sampled_from(NAMES)),
    workers=st.integers(1, 3),
)
def test_everything_runs_after_its_needs_unless_one_of_them_failed(
    needs: dict[str, tuple[str, ...]], failing: set[str], light: set[str], workers: int
) -> None:
    done: set[str] = set()
    began: list[str] = []
    lock = threading.Lock()

    def work(name: str) -> None:
        with lock:
            assert done.issuperset(needs[name])
            began.append(name)
        if name in failing:
            raise Broken
        with lock:
            done.add(name)

    ends = run_tasks(NAMES, needs, work, workers=workers, is_light=light.__contains__)
    assert sorted(began) == sorted([*done, *ends.errors])
    assert sorted([*done, *ends.errors, *ends.behind]) == NAMES
    assert set(ends.errors) == failing - ends.behind.keys()
    for name, culprit in ends.behind.items():
        assert culprit in ends.errors
        assert culprit in _above(needs, name)
    for name in done:
        assert not _above(needs, name) & ends.errors.keys()


def _above(needs: dict[str, tuple[str, ...]], name: str) -> set[str]:
    return {each for before in needs[name] for each in (before, *_above(needs, before))}


def test_tasks_that_do_not_need_each_other_run_at_once() -> None:
    """Each waits for the other to have begun."""
    together = threading.Barrier(2, timeout=PATIENCE)
    ends = run_tasks("ab", {"a": (), "b": ()}, lambda _name: _met(together), workers=2)
    assert ends == Ends()


def _met(barrier: threading.Barrier) -> None:
    barrier.wait()


def test_no_more_run_at_once_than_there_are_workers() -> None:
    running, most = set[str](), list[int]()
    lock, pause = threading.Lock(), threading.Event()

    def work(name: str) -> None:
        with lock:
            running.add(name)
            most.append(len(running))
        pause.wait(0.01)
        with lock:
            running.remove(name)

    run_tasks("abcdef", dict.fromkeys("abcdef", ()), work, workers=2)
    assert max(most) <= 2


def test_one_worker_and_light_tasks_need_no_thread() -> None:
    threads: list[str] = []

    def work(_name: str) -> None:
        threads.append(threading.current_thread().name)

    needs = dict.fromkeys("abc", ())
    run_tasks("abc", needs, work, in_thread=lambda _work: never)
    run_tasks("abc", needs, work, workers=2, in_thread=lambda _work: never, is_light=lambda _name: True)
    assert threads == ["MainThread"] * 6


def test_what_a_thread_calls_is_made_anew_for_every_task() -> None:
    made: list[int] = []

    def in_thread(work: Callable[[str], None]) -> Callable[[str], None]:
        made.append(1)
        return work

    run_tasks("abc", dict.fromkeys("abc", ()), lambda _name: None, workers=2, in_thread=in_thread)
    assert len(made) == 3


def test_an_error_after_which_nothing_works_ends_all() -> None:
    def work(name: str) -> None:
        assert name == "a"
        raise Broken

    needs = dict.fromkeys("abc", ())
    ends = run_tasks("abc", needs, work, ends_all=lambda error: isinstance(error, Broken))
    assert list(ends.errors) == ["a"]
    assert ends.behind == {"b": "a", "c": "a"}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_defect_is_raised_once_what_runs_has_ended(workers: int) -> None:
    ended: list[str] = []

    def work(name: str) -> None:
        if name == "a":
            raise ZeroDivisionError
        ended.append(name)

    with pytest.raises(ZeroDivisionError):
        run_tasks("ab", {"a": (), "b": ()}, work, workers=workers)
    assert ended == (["b"] if workers == 2 else [])
