from __future__ import annotations

from datetime import UTC, timedelta

from headwater.clock import SystemClock, new_run_id


class Ticking:
    def __init__(self) -> None:
        self.clock = SystemClock()
        self.count = 0

    def now(self):  # noqa: ANN201
        self.count += 1
        return self.clock.now() + timedelta(seconds=self.count)

    def monotonic(self) -> float:
        return self.clock.monotonic()

    def new_token(self) -> str:
        return self.clock.new_token()


def test_run_ids_sort_by_time() -> None:
    ticking = Ticking()
    ids = [new_run_id(ticking) for _ in range(50)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 50


def test_the_system_clock_is_utc_and_never_goes_back() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() <= clock.monotonic()
    assert clock.new_token() != clock.new_token()
