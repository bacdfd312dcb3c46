"""Rows of definitions, as the query for exports gives them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

_EDGE = pa.struct(
    [
        ("edge_kind", pa.string()),
        ("other_id", pa.string()),
        ("line", pa.int32()),
        ("label", pa.string()),
        ("resolution", pa.string()),
        ("confidence", pa.int32()),
    ]
)
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "kind", "name", "symbol", "path")),
        *((name, pa.int32()) for name in ("line", "end_line")),
        *((name, pa.bool_()) for name in ("is_external", "is_test")),
        *((name, pa.string()) for name in ("dist", "version", "effects", "raises")),
        ("incoming", pa.list_(_EDGE)),
    ]
)


def definition(name: str, kind: str, symbol: str, *incoming: dict[str, Any], **other: Any) -> dict[str, Any]:
    """A row; its id is its name."""
    is_external = kind == "external"
    row: dict[str, Any] = dict.fromkeys(SCHEMA.names)
    row |= {"dist": "shop", "version": "1.0", "is_test": False}
    row |= {"id": name, "kind": kind, "name": name, "symbol": f"headwater python shop 1.0 {symbol}"}
    row |= {} if is_external else {"path": "shop.py", "line": 1, "end_line": 9}
    return row | {"is_external": is_external, "incoming": list(incoming)} | other


def edge(kind: str, source: str, line: int = 1, label: str | None = None) -> dict[str, Any]:
    """An edge to where it stands."""
    told = {"edge_kind": kind, "other_id": source, "line": line, "label": label}
    return told | {"resolution": "exact", "confidence": 1000}


ROWS: list[dict[str, Any]] = [
    definition("shop", "module", "shop/"),
    definition("shop.Cart", "class", "shop/Cart#", edge("CONTAINS", "shop")),
    definition("shop.Cart.total", "method", "shop/Cart#total().", edge("CONTAINS", "shop.Cart")),
    definition("shop.Basket", "class", "shop/Basket#", edge("CONTAINS", "shop")),
    definition(
        "shop.Basket.total",
        "method",
        "shop/Basket#total().",
        edge("CONTAINS", "shop.Basket"),
        edge("CALLS", "shop", 8, "call"),
    ),
    definition("builtins.len", "external", "builtins/len.", edge("CALLS", "shop.Cart.total", 5, "call")),
]
ROWS[1]["incoming"].append(edge("INHERITS", "shop.Basket", 6))
ROWS[2]["incoming"].append(edge("OVERRIDES", "shop.Basket.total", 7))


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    """The rows as a table."""
    return pa.Table.from_pylist(rows, schema=SCHEMA)
