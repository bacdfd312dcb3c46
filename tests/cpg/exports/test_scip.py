"""A SCIP index out of rows, read back by protobuf."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from export_rows import ROWS, definition, table_of
from scip_messages import complaints_of, read_index, slices_of

from headwater.cpg.exports import ScipIndex, graph_tables, scip_index

START = "headwater python shop 1.0 "
TEXT = "import os\nclass Cart:\n    été = 1; Σ = été\n    def total(self): return len(self)\n".encode()
OTHER = b"from shop import Cart\nCart\n"
FILE: dict[str, Any] = {
    "file_id": "a",
    "path": "shop.py",
    "language": "python",
    "encoding": "utf-8",
    "is_test": False,
    "line_starts": [0, 10, 22, TEXT.index(b"    def")],
}
TEST = {**FILE, "file_id": "b", "path": "tests/test_shop.py", "line_starts": [0, 22, 27], "is_test": True}
FILES = pa.schema(
    [
        *((name, pa.string()) for name in ("file_id", "path", "language", "encoding")),
        *(("is_test", pa.bool_()), ("line_starts", pa.list_(pa.int64()))),
    ]
)
OCCURRENCES = pa.schema(
    [
        *(("file_id", pa.string()), ("symbol", pa.string()), ("roles", pa.int32())),
        *(("bstart", pa.int64()), ("bend", pa.int64())),
    ]
)
VARIABLE = definition("shop.Cart.été", "variable", "shop/Cart#`été`.")


def at(word: str, symbol: str, roles: int, nth: int = 0, file: str = "a") -> dict[str, Any]:
    """An occurrence of a word, counted from 0."""
    content = TEXT if file == "a" else OTHER
    place = -1
    for _ in range(nth + 1):
        place = content.index(word.encode(), place + 1)
    where = {"bstart": place, "bend": place + len(word.encode())}
    return {"file_id": file, "symbol": symbol, "roles": roles, **where}


CART, TOTAL, ETE = f"{START}shop/Cart#", f"{START}shop/Cart#total().", f"{START}shop/Cart#`été`."
WRITTEN = [
    at("self", "local 99ab", 8, 1),
    at("self", "local 99ab", 1),
    at("os", "headwater python python . os/", 3),
    at("Cart", CART, 1),
    at("été", ETE, 8, 1),
    at("été", ETE, 4),
    at("total", TOTAL, 1),
    at("len", "headwater python python . builtins/len.", 8),
    at("Cart", CART, 3, file="b"),
    at("Cart", CART, 8, 1, file="b"),
]


def made(
    files: list[dict[str, Any]], written: list[dict[str, Any]], rows: list[dict[str, Any]]
) -> tuple[ScipIndex, Any]:
    index = scip_index(
        pa.Table.from_pylist(files, schema=FILES),
        pa.Table.from_pylist(written, schema=OCCURRENCES),
        graph_tables(table_of(rows)),
        root="file:///shop",
        version="1.2",
    )
    return index, read_index(b"".join(index.pieces))


def test_every_occurrence_stands_where_its_text_is() -> None:
    told, index = made([TEST, FILE], WRITTEN, [*ROWS, VARIABLE])
    shop, test = index.documents
    assert (shop.relative_path, test.relative_path) == ("shop.py", "tests/test_shop.py")
    assert slices_of(shop, TEXT) == [
        ("", 1, f"{START}shop/"),
        ("os", 2, "headwater python python . os/"),
        ("Cart", 1, CART),
        ("été", 5, ETE),
        ("été", 8, ETE),
        ("total", 1, TOTAL),
        ("self", 1, "local 0"),
        ("len", 8, "headwater python python . builtins/len."),
        ("self", 8, "local 0"),
    ]
    assert slices_of(test, OTHER) == [("Cart", 34, CART), ("Cart", 40, CART)]
    assert complaints_of(index) == []
    assert (told.documents, told.occurrences, told.left_out) == (2, 11, ())


def test_the_index_says_who_wrote_it_and_how_places_count() -> None:
    _, index = made([FILE], WRITTEN[:1], ROWS)
    assert (index.metadata.project_root, index.metadata.text_document_encoding) == ("file:///shop", 1)
    assert (index.metadata.tool_info.name, index.metadata.tool_info.version) == ("headwater", "1.2")
    assert (index.documents[0].language, index.documents[0].position_encoding) == ("python", 1)


def test_bases_and_overridden_methods_are_implemented() -> None:
    _, index = made([FILE], WRITTEN[:-2], ROWS)
    told = {each.symbol: each for each in index.documents[0].symbols}
    basket, total = told[f"{START}shop/Basket#"], told[f"{START}shop/Basket#total()."]
    ((base,), (method,)) = basket.relationships, total.relationships
    assert (base.symbol, base.is_implementation, base.is_reference) == (CART, True, False)
    assert (method.symbol, method.is_implementation, method.is_reference) == (TOTAL, True, True)
    assert (basket.kind, basket.display_name, total.kind, total.display_name) == (7, "Basket", 26, "total")
    assert complaints_of(index) == []


def test_what_is_outside_is_known_without_a_document() -> None:
    _, index = made([FILE], WRITTEN[:-2], ROWS)
    assert [(each.symbol, each.kind, each.display_name) for each in index.external_symbols] == [
        ("headwater python python . builtins/len.", 0, "len"),
        ("headwater python python . os/", 29, "os"),
        (ETE, 0, "été"),
    ]


def test_files_without_utf8_places_and_unspeakable_symbols_are_left_out() -> None:
    others = [
        {**FILE, "file_id": "c", "path": "a.ipynb", "language": "notebook"},
        {**FILE, "file_id": "d", "path": "latin.py", "encoding": "iso-8859-1"},
    ]
    odd = at("os", "headwater python a b 1.0 os/", 8)
    told, index = made([FILE, *others], [*WRITTEN[:-2], odd], ROWS)
    assert told.left_out == ("a.ipynb", "headwater python a b 1.0 os/", "latin.py")
    assert [each.relative_path for each in index.documents] == ["shop.py"]
    assert complaints_of(index) == []


def test_a_place_that_is_told_twice_has_all_roles_once() -> None:
    _, index = made([FILE], [at("Cart", CART, 1), at("Cart", CART, 4), at("Cart", CART, 1)], ROWS)
    assert slices_of(index.documents[0], TEXT)[1:] == [("Cart", 5, CART)]
