from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from tests.plan.conftest import Tables

# What an expression over the events claims: columns and fields, with ? where only their presence matters.
CASES: dict[str, str] = {
    # structs
    "who.home.zip": "who.home.zip",
    "named_struct('a', id, 'b', kind).b": "kind",
    "struct(who.*).name": "who.name",
    "CAST(who AS STRUCT<a: STRING, b: STRING, c: STRING>).b": "who.name",
    "CAST(who AS STRING)": "who",
    # arrays
    "items[0]": "items.element",
    "items[id].sku": "id items.element.sku",
    "element_at(items, 1).price": "items.element.price",
    "get(grid, id)[0]": "grid.element.element id",
    "items.tags[0]": "items.element.tags",
    "array(who.id, id)[0]": "id who.id",
    "size(items)": "?items",
    "items IS NULL": "?items",
    "cardinality(items.tags)": "?items",
    "concat(items, items)[0].sku": "items.element.sku",
    "concat(kind, who.name)": "kind who.name",
    "reverse(items)[0].sku": "items.element.sku",
    "reverse(kind)": "kind",
    "slice(items, 1, id)[0].sku": "id items.element.sku",
    "size(slice(items, 1, id))": "?items id",
    "flatten(grid)": "grid.element.element",
    "size(flatten(grid))": "?grid.element",
    "size(flatten(transform(items, i -> i.tags)))": "?items.element.tags",
    "arrays_zip(scores, items)[0].scores": "?items scores.element",
    "sort_array(scores)": "scores",
    "array_compact(items)[0].sku": "items.element.sku",
    "size(array_compact(items))": "?items.element",
    "array_append(items.sku, kind)": "items.element.sku kind",
    "size(array_prepend(scores, id))": "?scores",
    "array_contains(scores, id)": "id scores",
    # maps
    "notes['ash'].a": "notes.key notes.value.a",
    "element_at(notes, kind).b": "kind notes.key notes.value.b",
    "map_keys(notes)": "notes.key",
    "map_values(notes)": "notes.value",
    "map_values(notes)[0].a": "notes.value.a",
    "map_entries(notes)[0].key": "notes.key",
    "map_entries(notes).value.a": "notes.value.a",
    "size(map_keys(notes))": "?notes",
    "size(notes)": "?notes",
    "map('a', who.id, 'b', id)['a']": "id who.id",
    "map_keys(map(kind, who))": "kind",
    "map(kind, who)['ash'].name": "kind who.name",
    "map_from_arrays(array('a'), array(id))['a']": "id",
    "map_values(map_from_arrays(items.sku, items.tags))": "items.element.sku items.element.tags",
    "map_from_entries(array(struct(kind, who)))['a'].id": "kind who.id",
    "map_concat(notes, notes)['a'].b": "notes.key notes.value.b",
    "map_contains_key(notes, kind)": "kind notes.key",
    # functions over them
    "transform(items, i -> i.price)": "items.element.price",
    "size(transform(items, i -> i.price))": "?items",
    "transform(items, (i, n) -> n)": "?items",
    "transform(items, i -> struct(i.sku AS s, id AS n)).n": "?items id",
    "filter(items, i -> i.price > 2)[0].sku": "items.element.price items.element.sku",
    "size(filter(items, (i, n) -> n > id))": "?items id",
    "exists(items, i -> i.sku = kind)": "items.element.sku kind",
    "forall(items, i -> size(i.tags) > 0)": "?items.element.tags",
    "aggregate(items, 0, (a, i) -> a + i.price)": "items.element.price",
    "aggregate(items, 0, (a, i) -> a + 1)": "?items",
    "aggregate(scores, struct(id AS a, kind AS b), (a, s) -> a, a -> a.b)": "?scores kind",
    "zip_with(items, scores, (i, s) -> i.sku)": "?scores items.element.sku",
    "array_sort(items, (a, b) -> a.price - b.price)[0].sku": "items.element.price items.element.sku",
    "map_filter(notes, (k, v) -> v.a > 1)['x'].b": "notes.key notes.value.a notes.value.b",
    "size(map_filter(notes, (k, v) -> v.a > 1))": "notes.value.a",
    "transform_values(notes, (k, v) -> v.a)": "notes.key notes.value.a",
    "map_values(transform_values(notes, (k, v) -> v.a))": "notes.value.a",
    "map_keys(transform_keys(notes, (k, v) -> v.a))": "notes.value.a",
    "map_values(transform_keys(notes, (k, v) -> upper(k))).b": "notes.key notes.value.b",
    "map_keys(map_zip_with(props, notes, (k, p, n) -> p))": "notes.key props.key",
    "map_zip_with(props, notes, (k, p, n) -> n.a)['x']": "notes.key notes.value.a props.key",
}


@pytest.mark.parametrize("expression", CASES)
def test_what_an_expression_takes_of_nested_columns(tables: Tables, expression: str) -> None:
    claims = tables.claims(f"SELECT {expression} AS x FROM events")["x"]
    short = (each.replace("presence of ", "?").replace("events.", "") for each in claims)
    assert sorted(each.removeprefix("value ") for each in short) == sorted(CASES[expression].split())


def test_fields_that_are_set_and_dropped(tables: Tables) -> None:
    who = (
        F.col("who")
        .withField("name", F.col("kind"))
        .dropFields("home.zip")
        .withField("home.more", F.col("id"))
    )
    changed = (
        tables.session.spark.table("events").select(who.alias("w")).select("w.name", "w.home.more", "w.id")
    )
    lineage = tables.lineage_of(changed)
    assert lineage.required == {"events": ("id", "kind", "who.home", "who.id")}
    assert [str(path.column) for path, _ in lineage.columns[0].dependences] == ["kind", "who"]


def test_fields_of_one_name_stand_for_each_other(tables: Tables) -> None:
    sql = "SELECT CAST(named_struct('x', id, 'x', kind) AS STRUCT<a: INT, b: STRING>).a FROM events"
    assert tables.lineage(sql).required == {"events": ("id", "kind")}
