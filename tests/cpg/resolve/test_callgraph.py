"""Who calls whom, by names."""

from __future__ import annotations

from resolve_sample import called

from headwater.cpg.resolve import call_graph


def test_a_threshold_leaves_out_what_is_not_sure() -> None:
    outcome = called("class C:\n def only(self): ...\ndef g(a):\n a.only()")
    assert call_graph(outcome)["main.g"] == []
    assert call_graph(outcome, 0.3)["main.g"] == ["main.C.only"]
