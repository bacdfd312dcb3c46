from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from headwater.runtime import for_thread

if TYPE_CHECKING:
    from headwater.runtime import RunSession

KEY = "headwater.test"


def test_a_thread_begins_with_the_properties_of_the_one_that_sent_it_and_keeps_its_own(
    session: RunSession,
) -> None:
    context = session.spark.sparkContext
    context.setLocalProperty(KEY, "sent")
    seen: list[str | None] = []

    def work(value: str) -> None:
        seen.append(context.getLocalProperty(KEY))
        context.setLocalProperty(KEY, value)

    try:
        with ThreadPoolExecutor(1) as pool:
            for value in ("one", "two"):
                pool.submit(for_thread(session, work), value).result()
        assert seen == ["sent", "sent"]
        assert context.getLocalProperty(KEY) == "sent"
    finally:
        context.setLocalProperty(KEY, "")
