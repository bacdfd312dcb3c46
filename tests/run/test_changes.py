from __future__ import annotations

from headwater.run.changes import reason_to_build


def test_without_a_record_everything_is_new() -> None:
    assert reason_to_build("v", [], None, {"v": "1"}, results_digest="r", remade=["v"]) == "new"
