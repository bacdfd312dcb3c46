"""Scopes, bindings and sites with ids in place of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_sample import told

from headwater.cpg.graph import binding_sites_of, bindings_of, scopes_of
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def test_a_scope_says_what_opens_it_and_which_is_around_it(evidence: DataFrame) -> None:
    columns = ("scope_id", "file_id", "node_id", "parent_scope_id", "kind", "qualpath")
    assert told(scopes_of(evidence), *columns) == [
        ("scope Basket", "app/shop.py", "class Basket", "scope module", "class", "Basket"),
        ("scope buy", "app/shop.py", "function buy", "scope module", "function", "buy"),
        ("scope module", "app/shop.py", "module app.shop", None, "module", ""),
        ("scope module", "app/wrong.pyi", "module app.wrong", None, "module", ""),
    ]


def test_a_name_says_which_scope_it_is_of_and_what_it_stands_for(evidence: DataFrame) -> None:
    found = bindings_of(evidence)
    columns = ("binding_id", "scope_id", "name", "kind", "resolves_to_binding_id", "resolves_reason")
    assert told(found, *columns, "is_exported") == [
        ("binding Basket of app.shop", "scope module", "Basket", "global", None, None, True),
        ("binding b of app.shop", "scope module", "b", "import", None, None, False),
        ("binding basket of buy", "scope buy", "basket", "param", None, None, False),
        ("binding buy of app.shop", "scope module", "buy", "global", None, None, True),
        ("binding limit of Basket", "scope Basket", "limit", "class_attr", None, None, False),
        ("binding names of buy", "scope buy", "names", "param", None, None, False),
        ("binding print of app.wrong", "scope module", "print", "builtin", None, "builtin", False),
        ("binding y of app.wrong", "scope module", "y", "global", None, "unbound", False),
        ("name b", "scope buy", "b", "global", "binding b of app.shop", "module", False),
    ]
    assert {"repo_id", "file_id", "mangled_name"} < set(found.columns)


def test_a_site_says_which_name_is_written_where_and_to_what_end(evidence: DataFrame) -> None:
    found = binding_sites_of(evidence)
    assert told(found, "binding_id", "file_id", "node_id", "role", "def_kind") == [
        ("binding Basket of app.shop", "app/shop.py", "class Basket", "def", "class"),
        ("binding b of app.shop", "app/shop.py", "b 2", "use", None),
        ("binding b of app.shop", "app/shop.py", "base as b 1", "def", "import"),
        ("binding basket of buy", "app/shop.py", "basket 4", "def", "param"),
        ("binding basket of buy", "app/shop.py", "basket 6", "use", None),
        ("binding basket of buy", "app/shop.py", "basket 7", "use", None),
        ("binding buy of app.shop", "app/shop.py", "function buy", "def", "function"),
        ("binding limit of Basket", "app/shop.py", "limit 3", "def", "assign"),
        ("binding names of buy", "app/shop.py", "names 4", "def", "param"),
        ("binding names of buy", "app/shop.py", "names 5", "use", None),
        ("binding names of buy", "app/shop.py", "names 6", "use", None),
        ("binding print of app.wrong", "app/wrong.pyi", "print 2", "use", None),
        ("binding y of app.wrong", "app/wrong.pyi", "y 2", "use", None),
        ("name b", "app/shop.py", "b 6", "use", None),
    ]
    rows = found.collect()
    made = [stable_id("site", row["binding_id"], row["node_id"], row["role"]) for row in rows]
    assert [row["site_id"] for row in rows] == made
