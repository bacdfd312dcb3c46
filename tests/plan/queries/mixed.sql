-- a correlated subquery in having
SELECT o.status, count(*) AS n FROM orders o GROUP BY o.status
HAVING max(o.qty) > (SELECT min(c.tier) FROM customers c WHERE c.region = o.status)

-- a subquery in a join's condition
SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.id AND o.qty > (SELECT min(cost) FROM products WHERE brand = 'elm')

-- a subquery as an argument of an aggregate, inside of case
SELECT status, sum(CASE WHEN customer IN (SELECT id FROM customers WHERE tier > 3) THEN amount ELSE 0 END) AS good
FROM orders GROUP BY status

-- a group by a subquery
SELECT (SELECT max(p.category) FROM products p WHERE p.id = o.qty) AS category, count(*) AS n FROM orders o GROUP BY 1

-- a window partitioned by whether something exists
SELECT o.id, sum(o.amount) OVER (PARTITION BY EXISTS (SELECT 1 FROM lines l WHERE l.order_id = o.id AND l.units > 4)) AS s
FROM orders o

-- an anti-join in other words
SELECT o.id, o.status FROM orders o LEFT JOIN returns r ON r.order_id = o.id WHERE r.order_id IS NULL

-- the greatest struct of a group
SELECT customer, max(struct(amount, day)).day AS best_day FROM orders GROUP BY customer

-- a lateral union
SELECT c.name, u.x FROM customers c, LATERAL (
  SELECT amount AS x FROM orders WHERE customer = c.id UNION ALL SELECT units FROM lines WHERE product = c.id) u

-- a lateral subquery with a common table
SELECT c.name, x.n FROM customers c, LATERAL (
  WITH t AS (SELECT qty FROM orders WHERE customer = c.id) SELECT count(*) AS n FROM t WHERE qty > c.tier) x

-- exists over a common table used twice
SELECT name FROM customers c WHERE EXISTS (
  WITH t AS (SELECT * FROM orders WHERE customer = c.id) SELECT 1 FROM t a JOIN t b ON a.qty = b.amount)

-- windows of time
SELECT window.start AS since, count(*) AS n, sum(qty) AS q FROM orders GROUP BY window(CAST(day AS TIMESTAMP), '4 days', '2 days')

-- windows of sessions
SELECT status, session_window.end AS until, max(amount) AS most FROM orders
GROUP BY status, session_window(CAST(day AS TIMESTAMP), '3 days')

-- relative ranks and neighbours that are not null
SELECT cume_dist() OVER (ORDER BY cost) AS share, percent_rank() OVER (PARTITION BY brand ORDER BY cost) AS place,
  last_value(id) IGNORE NULLS OVER (PARTITION BY category ORDER BY cost, id) AS latest FROM products

-- a range of days
SELECT id, count(*) OVER (PARTITION BY status ORDER BY day RANGE BETWEEN INTERVAL 5 DAYS PRECEDING AND CURRENT ROW) AS recent
FROM orders

-- grouping sets over what was exploded
SELECT kind, item.sku, sum(item.price) AS total FROM events LATERAL VIEW OUTER explode(items) AS item
GROUP BY GROUPING SETS ((kind), (item.sku))

-- a cube with a filter clause, over a join of nested columns
SELECT c.region, e.kind, count(e.who.home.zip) FILTER (WHERE size(e.items) > 1) AS n
FROM events e JOIN customers c ON c.name = e.who.name GROUP BY CUBE (c.region, e.kind)

-- a pivot of what was exploded
SELECT * FROM (SELECT id, item.sku, item.price FROM events LATERAL VIEW explode(items) AS item)
PIVOT (sum(price) FOR sku IN ('ash' AS ash, 'elm' AS elm))

-- an exploded map that was filtered by the row
SELECT id, k FROM events LATERAL VIEW explode(map_filter(props, (k, v) -> v > id)) AS k, v

-- a fold that starts from an aggregate of another table
SELECT id, aggregate(scores, most, (a, s) -> a + coalesce(s, 0)) AS sum
FROM events CROSS JOIN (SELECT max(cost) AS most FROM products WHERE brand <> 'elm')

-- what was collected in order, then taken apart
SELECT kind, transform(array_sort(collect_list(struct(id, who.name AS name))), s -> s.name) AS names FROM events GROUP BY kind

-- an array that grew at both ends
SELECT array_append(scores, id) AS more, array_prepend(items, named_struct('sku', kind, 'price', id, 'tags', array())).sku AS skus,
  size(array_insert(scores, 1, id)) AS n, array_compact(items).price AS prices FROM events

-- maps by function, key by key
SELECT map_from_entries(collect_list(struct(id AS k, who.name AS v))) AS found FROM (
  SELECT id, first(who) AS who FROM events WHERE id IS NOT NULL GROUP BY id)

-- a set of structs, and what differs
SELECT who.home FROM events EXCEPT SELECT named_struct('city', name, 'zip', tier) FROM customers

-- structs compared
SELECT id FROM events WHERE who.home = named_struct('city', kind, 'zip', who.home.zip)

-- many steps of pipes
FROM events |> WHERE who IS NOT NULL |> EXTEND who.home.city AS city |> SELECT id, city, size(items) AS n
|> AGGREGATE max(n) AS most, count(*) AS all GROUP BY city |> EXTEND rank() OVER (ORDER BY most) AS place |> DROP all

-- three set operations with names that differ
SELECT a FROM (SELECT id AS a FROM orders UNION SELECT cost FROM products) INTERSECT
(SELECT tier FROM customers EXCEPT SELECT units FROM returns WHERE reason = 'ash')

-- a recursive table in a subquery
SELECT id, qty + (WITH RECURSIVE t (n) AS (SELECT min(tier) FROM customers UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT max(n) FROM t) AS x
FROM orders

-- a recursive walk with common tables inside
WITH RECURSIVE t (n, a, b) AS (SELECT 0, id, tier FROM customers UNION ALL (
  WITH q AS (SELECT n + 1 AS n, b AS a, a AS b FROM t WHERE n < 2) SELECT q.n, q.a, x.weight FROM q JOIN arcs x ON x.source = q.b))
SELECT n, a FROM t

-- how long it is what was made
SELECT size(zip_with(scores, others, (a, b) -> 1)) AS zipped, size(array_compact(items)) AS there, size(flatten(grid)) AS cells,
  size(slice(items, 1, coalesce(id, 0))) AS cut, size(arrays_zip(scores, items)) AS pairs FROM events

-- how many entries it has what was made
SELECT size(map_concat(props, map('none', id))) AS more, size(map_zip_with(props, notes, (k, p, n) -> 1)) AS both,
  size(map_from_arrays(map_keys(props), map_values(props))) AS same, size(map_from_entries(map_entries(notes))) AS again FROM events

-- structs of rows before and after
SELECT lead(who) OVER (PARTITION BY kind ORDER BY id).name AS next, kind COLLATE UNICODE_CI AS kind,
  nth_value(who, 2) OVER (PARTITION BY kind ORDER BY id).home.city AS second FROM events
