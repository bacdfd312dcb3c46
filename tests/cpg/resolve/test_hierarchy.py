"""Bases, orders and overrides of classes."""

from __future__ import annotations

from resolve_sample import resolved


def test_classes_have_bases_orders_and_overrides() -> None:
    rows = resolved(
        "import x\nclass A:\n def m(self): ...\nclass B(A): ...\nclass C(B, x.Y):\n def m(self): ...\n"
    )
    last = [
        symbol.rpartition("/")[2]
        for symbol, node in zip(rows.orders.symbol, rows.orders.node, strict=True)
        if node == max(rows.orders.node)
    ]
    assert last == ["C#", "B#", "A#", "Y#"]
    assert rows.bases.symbol[-1] == "headwater python x . x/Y#"
    assert rows.overrides.is_transitive == [False]
