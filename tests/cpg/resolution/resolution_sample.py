"""Small repositories in memory, with their evidence as resolution takes it and the rows that come of it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import pyarrow as pa

from headwater.cpg.evidence import evidence_of
from headwater.cpg.extract import extract_file
from headwater.cpg.resolution import RESOLVED_FROM, resolve_rows
from headwater.cpg.resolve import Distributions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Entry: TypeAlias = "dict[str, Any]"

REPO = "repo:shop"
NAMES = Distributions(
    name="shop",
    version="1.0",
    of_modules={"yaml": "PyYAML", "requests": "requests"},
    versions={"PyYAML": "6.0"},
)
SHOP: Mapping[str, str] = {
    "src/shop/__init__.py": "from .cart import Cart\nfrom .base import *\n__all__ = ['Cart', 'Base']\n",
    "src/shop/base.py": (
        "import json\n\n\nclass Base:\n    kind = 'base'\n\n    def total(self) -> int:\n"
        "        return len(json.dumps(self.kind))\n\n    def close(self): ...\n"
    ),
    "src/shop/cart.py": (
        "from typing import Annotated\n\nimport yaml\nfrom yaml import load as read\n"
        "from shop.base import Base\n\nLIMIT = 3\n\n\ndef most(x): return x\n\n\n"
        "class Cart(Base, yaml.YAMLObject):\n"
        "    def __init__(self, items: list[int] | None = None):\n"
        "        self.items = items or []\n"
        "    def total(self) -> int:\n"
        "        return super().total() + most(LIMIT) + most(x=2)\n"
        "    @property\n    def size(self) -> int:\n        return len(self.items)\n"
        "    def add(self, item: Annotated[int, most(3)], *more, **rest) -> 'Cart':\n"
        "        self.items.append(item)\n        return self\n\n\n"
        "def checkout(cart: Cart, thing, how=None):\n"
        "    cart.add(1).add(2, 3, name=4)\n    read(cart.size)\n    thing.total()\n"
        "    each = Cart() if how else Base()\n    each.total()\n    return how(thing)\n"
    ),
    "src/shop/cart.pyi": (
        "from .base import Base\nclass Cart(Base):\n    def total(self) -> int: ...\n"
        "def most(x: int) -> int: ...\ndef gone(x: int) -> int: ...\n"
    ),
    "src/shop/broken.py": "def f(:\n",
    "src/shop/empty.py": "",
    "tests/test_cart.py": (
        "import yaml\nfrom shop import Cart\nfrom shop.cart import most\n\n\ndef made(): return Cart()\n\n\n"
        "def test_total():\n    assert made().total() == most(1)\n    assert most(2)\n"
        "    assert yaml.load('')\n"
    ),
}
# All ways in which something is called without being written as a call, and all sorts of files.
TRICKY: Mapping[str, str | bytes] = {
    "z/calls.py": (
        "import functools, weird\nfrom weird import *\nfrom a.other import Box, seen\n\n\n"
        "class Odd(Exception):\n    def __init__(self): ...\n\n\n"
        "def twice(f, g=seen):\n    return f(g(f))\n\n\n"
        "@functools.lru_cache(maxsize=None)\n@unknown\ndef go(xs):\n"
        "    twice(lambda x: x, lambda y: y)\n"
        "    sorted(xs, key=seen) or seen()\n    list(map(seen, filter(seen, xs)))\n"
        "    with Box() as box:\n        box + box\n        box.lid = box.lid\n        del box[0]\n"
        "    for each in Box(): print(f'{each!r}', *xs, **{'end': ''})\n"
        "    if xs: raise Odd\n    return [Box() for _ in xs] or starred(xs) or weird.stuff.Thing(1)\n"
    ),
    "a/other.py": (
        "from typing import Annotated\n\n\n"
        "class Meta(type):\n    def __call__(cls): return super().__call__()\n\n\n"
        "class Box(metaclass=Meta):\n    def __enter__(self): return self\n"
        "    def __exit__(self, *how): ...\n"
        "    def __add__(self, other): return seen(other)\n    def __iter__(self): return iter([self])\n"
        "    def __delitem__(self, key): ...\n"
        "    @property\n    def lid(self): return 1\n    @lid.setter\n    def lid(self, value): ...\n\n\n"
        "def seen(x): return x\ndef seen(x, *rest): return rest\n\n\n"
        "limit: Annotated[int, seen(1), seen(2)] = 1\n"
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n"
    ),
    "a/only.pyi": "import enum\nclass E(enum.Enum):\n    X = 1\ndef f(x: dict[str, list[E]]) -> E: ...\n",
    "a/b/deep.py": "from ..other import Box as B\nfrom ... import gone\nB().lid\nü = B\n",
    "broken.py": b"\x00\xff",
    "empty.py": b"",
    "notebook.ipynb": (
        '{"cells": [{"cell_type": "code", "metadata": {}, "execution_count": null, "outputs": [], '
        '"source": ["import json\\n", "json.dumps(1)"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    ),
}


class Resolved(NamedTuple):
    """The evidence of a repository and what was resolved of it, both as rows."""

    evidence: list[Entry]
    rows: list[Entry]

    def row(self, path: str) -> Entry:
        """What was resolved of one file."""
        return next(each for each in self.rows if each["path"] == path)

    def entries(self, name: str) -> Iterator[tuple[str, Entry]]:
        """The entries of a list in all files, with the path of the file."""
        return ((row["path"], entry) for row in self.rows for entry in row[name])

    def links(self) -> Iterator[tuple[str, Entry]]:
        """The edges between things, with the path of the file that they stand in."""
        for path, thing in self.entries("things"):
            for each in thing["outgoing"]:
                yield path, {**each, "source_id": thing["node_id"], "target_id": each["other_id"]}

    def nodes(self) -> dict[str, tuple[str, Entry]]:
        """By the id of each node of the evidence its path and the node."""
        return {
            node_id: (file["path"], node)
            for file in self.evidence
            for node_id, node in zip(file["node_ids"], file["nodes"], strict=True)
        }

    def bindings(self) -> set[str]:
        """The ids of all bindings."""
        return {each["binding_id"] for file in self.evidence for each in file["bindings"]}

    def called(self, node_id: str | None) -> str:
        """How a definition or something outside is called: its dotted name."""
        for name in ("definitions", "externals"):
            for _, each in self.entries(name):
                if each["node_id"] == node_id:
                    return each["name"]
        raise LookupError(node_id)


def evidence_rows(files: Mapping[str, str | bytes]) -> list[Entry]:
    """The evidence of each file, in the order in which they are given."""
    rows: list[Entry] = []
    for path, source in files.items():
        content = source.encode() if isinstance(source, str) else source
        found = cast("Mapping[str, Any]", evidence_of(extract_file(REPO, path, content)))
        row: Entry = {
            name: cast("Any", value).to_pylist() if isinstance(value, pa.Array) else value
            for name, value in found.items()
        }
        rows.append({"path": path, **row})
    return rows


def resolution_table(evidence: Iterable[Entry]) -> pa.Table:
    """What RESOLVED_FROM asks of evidence, as a query would give it."""
    return pa.Table.from_pylist([_asked(row) for row in evidence], _SCHEMA)


def resolve(
    files: Mapping[str, str | bytes], names: Distributions = NAMES, repo_id: str = REPO
) -> tuple[list[Entry], pa.Table]:
    """The evidence of a repository, and the table of what was resolved."""
    evidence = evidence_rows(files)
    return evidence, resolve_rows(resolution_table(evidence), repo_id, names)


def resolved(files: Mapping[str, str | bytes] | str, names: Distributions = NAMES) -> Resolved:
    """The same as rows; one source is that of `main.py`."""
    evidence, table = resolve({"main.py": files} if isinstance(files, str) else files, names)
    return Resolved(evidence, table.to_pylist())


@cache
def shop() -> Resolved:
    """A repository that has something for every list."""
    return resolved(SHOP)


@cache
def tricky() -> Resolved:
    """One with all ways in which something is called, and all sorts of files."""
    return resolved(TRICKY)


_NUMBER, _TEXT, _FLAG = pa.int32(), pa.string(), pa.bool_()
_FACTS = pa.list_(pa.struct([("op", _NUMBER), ("target", _NUMBER), ("source", _NUMBER), ("text", _TEXT)]))
_SITES = pa.struct([("binding", _NUMBER), ("node", _NUMBER), ("role", _TEXT), ("def_kind", _TEXT)])
_LISTS = {
    "node_ids": _TEXT,
    **dict.fromkeys(("lines", "ends", "owners", "scope_nodes"), _NUMBER),
    "binding_ids": _TEXT,
    "binding_scopes": _NUMBER,
    **dict.fromkeys(("binding_names", "binding_kinds"), _TEXT),
    "resolves": _NUMBER,
    "sites": _SITES,
    "import_nodes": _NUMBER,
    "import_names": _TEXT,
    **dict.fromkeys(("imports_for_types", "imports_late"), _FLAG),
    "call_nodes": _NUMBER,
}
_SCHEMA = pa.schema(
    [
        *(("path", _TEXT), ("file_id", _TEXT), ("is_test", _FLAG)),
        *((name, pa.list_(kind)) for name, kind in _LISTS.items()),
        *(("facts", _FACTS), ("hints", _FACTS)),
    ]
)


def _asked(row: Entry) -> Entry:
    """What each query asks of a row: a column of its own, or one field of the entries of a list."""

    def value(query: str) -> Any:
        name, _, field = query.partition(".")
        return [each[field] for each in row[name]] if field else row[name]

    return {name: value(query) for name, query in RESOLVED_FROM.items()}
