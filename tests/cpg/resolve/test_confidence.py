"""How sure candidates are."""

from __future__ import annotations

from resolve_sample import resolved

from headwater.cpg.resolve.confidence import CONFIDENCE, confidence_of, resolution_of


def test_what_is_outside_counts_little_beside_what_is_ours() -> None:
    rows = resolved("import x\ndef f(): ...\ng = f if x else x.f\ng()")
    assert dict(zip(rows.targets.resolver, rows.targets.confidence, strict=True)) == {
        "value": 0.55,
        "external": 0.39,
    }


def test_the_table_never_rises_with_the_number_of_candidates() -> None:
    for resolver in CONFIDENCE:
        sure = [confidence_of(resolver, count) for count in range(1, 60)]
        assert sure == sorted(sure, reverse=True)
        assert all(0 < each <= 1 for each in sure)
    assert resolution_of("value", 1, is_wide=True) == "dynamic"
