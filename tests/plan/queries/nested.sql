-- fields of structs
SELECT who.name AS name, who.home.city AS city FROM events WHERE who.home.zip > 3

-- a struct's star
SELECT who.* FROM events

-- a struct made and taken apart
SELECT s.x, s.inner.y FROM (SELECT struct(id AS x, named_struct('y', kind, 'z', who.id) AS inner, scores) AS s FROM events)

-- a field of every element
SELECT items.price AS prices, items.sku AS skus FROM events

-- elements by place
SELECT items[0].price AS first, get(scores, who.id % 2) AS some, get(grid[0], 0) AS deep FROM events
WHERE size(items) > 0 AND size(grid) > 0

-- elements that may not be there
SELECT try_element_at(items, 2).sku AS second, get(scores, 1) AS other, try_element_at(grid, 1) AS row FROM events

-- values of a map by key
SELECT props['elm'] AS elm, try_element_at(notes, kind).a AS a, notes['ash'].b AS b FROM events

-- keys, values and entries of a map
SELECT map_keys(props) AS k, map_values(notes) AS v, map_values(notes).a AS a, map_entries(props).value AS e FROM events

-- how many, and whether any
SELECT size(items) AS n, cardinality(props) AS m, who IS NULL AS nobody, array_size(grid) AS rows FROM events

-- whether a map has a key, an array an element
SELECT map_contains_key(props, 'fir') AS has, array_contains(scores, 3) AS three, array_position(others, id) AS at FROM events

-- explode
SELECT id, item.sku, item.price FROM events LATERAL VIEW explode(items) AS item

-- explode, outer
SELECT id, score FROM events LATERAL VIEW OUTER explode(scores) AS score

-- explode a map
SELECT kind, k, v.b FROM events LATERAL VIEW explode(notes) AS k, v

-- positions of elements
SELECT id, pos, col FROM events LATERAL VIEW posexplode(others) AS pos, col

-- inline
SELECT kind, sku, price FROM events LATERAL VIEW inline(items) AS sku, price, tags

-- inline, outer, of what was zipped
SELECT id, s, o FROM events LATERAL VIEW OUTER inline(arrays_zip(scores, others)) AS s, o

-- two generators, one inside of the other
SELECT id, tag FROM events LATERAL VIEW explode(items) AS item LATERAL VIEW explode(item.tags) AS tag

-- a generator in the select list
SELECT kind, explode(flatten(grid)) AS cell FROM events

-- a generator in from, with a filter on the rest
SELECT e.id, t.col FROM events e, LATERAL explode(filter(e.scores, s -> s > e.who.id)) t

-- only the number of elements
SELECT count(*) AS n FROM events LATERAL VIEW explode(items) AS item

-- a group by an element's field
SELECT item.sku, sum(item.price) AS total, count(DISTINCT id) AS n FROM events LATERAL VIEW explode(items) AS item GROUP BY item.sku

-- transform, with fields and the position
SELECT transform(items, i -> i.price) AS prices, transform(scores, (s, n) -> s + n) AS moved,
  transform(items, i -> struct(i.sku AS s, id AS of)).s AS skus FROM events

-- filter of elements
SELECT filter(items, i -> i.price > 2).sku AS dear, size(filter(items, i -> size(i.tags) > 0)) AS tagged FROM events

-- exists and forall
SELECT exists(items, i -> i.sku = kind) AS own, forall(scores, s -> s > who.id) AS above FROM events

-- aggregate
SELECT aggregate(items, 0, (sum, i) -> sum + i.price) AS total,
  aggregate(scores, who.id, (a, s) -> a + s, a -> a * id) AS scaled FROM events

-- an aggregate whose fields change places
SELECT aggregate(others, struct(id AS a, who.id AS b), (acc, o) -> struct(acc.b AS a, acc.a AS b)).a AS last FROM events

-- an aggregate that hands its fields on
SELECT aggregate(grid, struct(id AS a, who.id AS b, 0 AS c), (acc, g) -> struct(acc.b AS a, acc.c AS b, size(g) AS c)).a AS last
FROM events

-- zip_with
SELECT zip_with(scores, others, (s, o) -> coalesce(s, 0) + coalesce(o, 0)) AS sums,
  zip_with(items, grid, (i, g) -> struct(i.sku AS sku, size(g) AS n)).n AS sizes FROM events

-- sort by a function
SELECT array_sort(items, (a, b) -> coalesce(a.price, 0) - coalesce(b.price, 0)).sku AS by_price, sort_array(scores) AS up FROM events

-- map_filter, transform_keys, transform_values, map_zip_with
SELECT map_filter(props, (k, v) -> v > 2) AS some, transform_values(notes, (k, v) -> v.a) AS a,
  map_values(transform_keys(notes, (k, v) -> upper(k))).b AS b,
  map_zip_with(props, notes, (k, p, n) -> coalesce(p, n.a)) AS both FROM events

-- lambdas inside of lambdas
SELECT transform(grid, row -> filter(row, cell -> cell > size(grid))) AS cells,
  transform(items, i -> exists(i.tags, t -> t = i.sku)) AS tagged FROM events

-- arrays joined, turned and cut
SELECT concat(scores, others) AS all, reverse(items).sku AS back, slice(items, 1, 1).price AS head, array_distinct(scores) AS once
FROM events

-- maps joined and made
SELECT map_from_arrays(array('a', 'b'), array(id, who.id))['b'] AS made,
  map_from_entries(transform(array_distinct(transform(items, i -> coalesce(i.sku, ''))), s -> struct(s, kind))) AS named,
  map_concat(map('none', id), map('other', who.id)) AS joined FROM events

-- a struct with fields changed
SELECT s.a.x, s.b, s.c FROM (SELECT named_struct('a', named_struct('x', id, 'y', kind), 'b', who.id, 'c', who.home) AS s FROM events)

-- a struct chosen by case
SELECT CASE WHEN id > 4 THEN who.home ELSE named_struct('city', kind, 'zip', id) END.zip AS zip, coalesce(who.home, named_struct('city', 'x', 'zip', 1)).city AS city
FROM events

-- a cast of a struct to other names
SELECT CAST(who AS STRUCT<number: INT, called: STRING, lives: STRUCT<town: STRING, code: INT>>).lives.town AS town,
  CAST(items AS ARRAY<STRUCT<s: STRING, p: STRING, t: ARRAY<STRING>>>).p AS p FROM events

-- a cast of plain values that may fail
SELECT try_cast(kind AS INT) IS NULL AS fails, size(transform(items, i -> try_cast(i.sku AS INT))) AS n FROM events

-- a union of structs with other names
SELECT s.x FROM (SELECT named_struct('x', id, 'y', kind) AS s FROM events UNION ALL SELECT named_struct('p', qty, 'q', status) FROM orders)

-- what was collected
SELECT kind, collect_list(who.name) AS names, size(collect_list(who.id)) AS n, collect_list(items[0]).price AS prices
FROM events WHERE size(items) > 0 GROUP BY kind

-- what was collected once
SELECT kind, size(collect_set(who)) AS n, collect_list(DISTINCT who).name AS names FROM events GROUP BY kind

-- first and last structs
SELECT kind, first(who).name AS one, last(who, true).home.city AS two, any_value(items).sku AS three, max_by(who, id).id AS four
FROM events GROUP BY kind

-- a count of structs
SELECT kind, count(who) AS n, count(items, props) AS m FROM events GROUP BY kind

-- a group by a struct, of which one field is shown
SELECT who.name, n FROM (SELECT who, count(*) AS n FROM events GROUP BY who)

-- windows over structs
SELECT lag(who) OVER (PARTITION BY kind ORDER BY id).name AS before,
  first_value(who) OVER (PARTITION BY kind ORDER BY id).home.zip AS first FROM events

-- a join on a field, a field of the other side
SELECT e.who.name, c.region FROM events e JOIN customers c ON e.who.id = c.id

-- a correlated subquery by a field
SELECT e.id, (SELECT max(c.tier) FROM customers c WHERE c.region = e.who.home.city) AS tier FROM events e

-- a subquery that yields a struct
SELECT id, (SELECT max_by(who, id) FROM events).name AS latest FROM orders

-- a subquery inside of a lambda's neighbour
SELECT transform(scores, s -> s + id) AS moved, (SELECT count(*) FROM orders o WHERE o.qty = e.id) AS n FROM events e

-- a distinct of structs
SELECT DISTINCT who.home FROM events

-- a struct through a common table and a union
WITH t AS (SELECT id, who, kind FROM events), u AS (SELECT * FROM t UNION ALL SELECT id + 1, who, kind FROM t WHERE kind IS NULL)
SELECT who.name, max(id) AS id FROM u GROUP BY who.name

-- json out of a struct and back
SELECT to_json(who.home) AS text, from_json(to_json(struct(id, kind)), 'id INT, kind STRING').kind AS kind FROM events

-- a star over a nested table, expanded and narrowed
SELECT e.* EXCEPT (items, notes, grid, who.home, scores) FROM events e

-- a recursive walk over structs whose fields change places
WITH RECURSIVE t (n, s) AS (
  SELECT 0, struct(id AS a, who.id AS b, size(items) AS c) FROM events
  UNION ALL
  SELECT n + 1, struct(s.b AS a, s.c AS b, s.a AS c) FROM t WHERE n < 2
) SELECT s.a AS a FROM t

-- functions of Headwater over maps and lists
SELECT map_get_default(props, 'elm', 0) AS elm, list_compact(items).sku AS skus, map_normalize(notes)['ash'].b AS b FROM events

-- aggregates of Headwater
SELECT kind, arg_max_det(who.name, id) AS latest, collect_set_sorted(who.id) AS ids, any_value_det(who.home.zip, id) AS zip
FROM events GROUP BY kind
