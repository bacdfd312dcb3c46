-- a column under another name
SELECT id AS key FROM orders

-- a cast
SELECT CAST(amount AS STRING) AS words FROM orders

-- every column by a star
SELECT * FROM products

-- a filter decides about rows
SELECT id FROM orders WHERE status = 'elm'

-- an inner join
SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.id

-- a left join
SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.customer = c.id

-- a right join
SELECT o.id, c.name FROM orders o RIGHT JOIN customers c ON o.customer = c.id

-- a full join
SELECT o.id, c.name FROM orders o FULL JOIN customers c ON o.customer = c.id

-- a cross join
SELECT o.id, c.name FROM orders o CROSS JOIN customers c

-- a semi join
SELECT o.id FROM orders o LEFT SEMI JOIN customers c ON o.customer = c.id

-- an anti join
SELECT o.id FROM orders o LEFT ANTI JOIN customers c ON o.customer = c.id

-- using: the key of either side in a full join
SELECT id, name, brand FROM customers FULL JOIN products USING (id)

-- using: the key of the left side in an inner join
SELECT id, name, brand FROM customers JOIN products USING (id)

-- a natural join
SELECT * FROM (SELECT id, name FROM customers) NATURAL JOIN (SELECT id, brand FROM products)

-- a self-join keeps the sides apart
SELECT a.name AS who, b.region AS of_parent FROM customers a JOIN customers b ON a.parent = b.id

-- the nearest row
SELECT o.id, p.brand FROM orders o JOIN products p APPROX NEAREST 1 BY DISTANCE abs(o.amount - p.cost)

-- a union by position
SELECT id, status FROM orders UNION ALL SELECT cost, brand FROM products

-- a union that removes what is double
SELECT id FROM orders UNION SELECT id FROM products

-- intersect
SELECT id FROM orders INTERSECT SELECT product FROM lines

-- except
SELECT id FROM orders EXCEPT ALL SELECT order_id FROM lines

-- distinct
SELECT DISTINCT region FROM customers

-- groups
SELECT status, sum(amount) AS total FROM orders GROUP BY status

-- groups that something holds for
SELECT status FROM orders GROUP BY status HAVING max(qty) > 3

-- a filter of one aggregate
SELECT sum(amount) FILTER (WHERE qty > 3) AS total FROM orders

-- rows that are only counted
SELECT count(*) AS n FROM orders

-- grouping sets
SELECT region, tier, count(name) AS n FROM customers GROUP BY GROUPING SETS ((region, tier), ())

-- a list within a group
SELECT listagg(name) WITHIN GROUP (ORDER BY tier) AS names FROM customers

-- an order with a limit
SELECT id FROM orders ORDER BY amount LIMIT 3

-- a window
SELECT id, sum(amount) OVER (PARTITION BY status ORDER BY day) AS running FROM orders

-- a rank
SELECT rank() OVER (PARTITION BY status ORDER BY day) AS place FROM orders

-- qualify
SELECT id FROM orders QUALIFY rank() OVER (PARTITION BY status ORDER BY day) = 1

-- a scalar subquery
SELECT id, (SELECT max(cost) FROM products WHERE brand = 'ash') AS most FROM orders

-- a scalar subquery with correlation
SELECT name, (SELECT sum(amount) FROM orders o WHERE o.customer = c.id) AS spent FROM customers c

-- a scalar subquery in a filter
SELECT name FROM customers c WHERE tier > (SELECT max(qty) FROM orders o WHERE o.customer = c.id)

-- in
SELECT name FROM customers WHERE id IN (SELECT customer FROM orders WHERE qty > 2)

-- exists
SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)

-- exists as a column
SELECT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id) AS buys FROM customers c

-- a lateral subquery
SELECT c.name, t.n FROM customers c, LATERAL (SELECT count(*) AS n FROM orders o WHERE o.customer = c.id) t

-- a common table
WITH t AS (SELECT customer, sum(amount) AS total FROM orders GROUP BY customer) SELECT total FROM t

-- a recursive common table
WITH RECURSIVE t (node, way) AS (SELECT id, brand FROM products
  UNION ALL SELECT a.target, concat(t.way, a.label) FROM t JOIN arcs a ON a.source = t.node) SELECT way FROM t

-- a pivot
SELECT * FROM (SELECT region, tier, parent FROM customers) PIVOT (sum(parent) FOR tier IN (1 AS low))

-- an unpivot
SELECT region, quarter, sales FROM quarters UNPIVOT (sales FOR quarter IN (q1, q2))

-- pipes
FROM orders |> WHERE qty > 1 |> AGGREGATE sum(amount) AS total GROUP BY status

-- a field of a struct
SELECT who.home.city AS city FROM events

-- a field that decides about rows
SELECT id FROM events WHERE who.home.zip = 3

-- a field of an element
SELECT items[0].price AS price FROM events

-- a field of every element
SELECT items.price AS prices FROM events

-- a value of a map by its key
SELECT notes['ash'].a AS a FROM events

-- the keys of a map
SELECT map_keys(notes) AS names FROM events

-- only how many
SELECT size(items) AS n FROM events

-- only whether there is one
SELECT who IS NULL AS nobody FROM events

-- an exploded array
SELECT item.sku FROM events LATERAL VIEW explode(items) AS item

-- an exploded map
SELECT k, v.a FROM events LATERAL VIEW OUTER explode(notes) AS k, v

-- an exploded array of which nothing is kept
SELECT id FROM events LATERAL VIEW explode(items) AS item

-- positions
SELECT n FROM events LATERAL VIEW posexplode(items) AS n, item

-- inline
SELECT sku FROM events LATERAL VIEW inline(items) AS sku, price, tags

-- stack
SELECT stack(2, q1, q2, q3, q4) AS (a, b) FROM quarters

-- a transformed array
SELECT transform(items, i -> i.price + id) AS prices FROM events

-- a filtered array
SELECT filter(items, i -> i.price > 2).sku AS skus FROM events

-- a folded array
SELECT aggregate(items, 0, (sum, i) -> sum + i.price) AS total FROM events

-- a filtered map
SELECT map_keys(map_filter(notes, (k, v) -> v.a > 2)) AS names FROM events

-- a struct that was put together
SELECT s.x FROM (SELECT struct(id AS x, kind AS y) AS s FROM events)

-- a struct under other names
SELECT CAST(who.home AS STRUCT<town: STRING, code: INT>).town AS town FROM events

-- what was collected, by field
SELECT collect_list(who).name AS names FROM events

-- a constant
SELECT 1 AS one

-- a query inside of another
SELECT d.double FROM (SELECT qty * 2 AS double FROM orders WHERE amount > 2) d

-- a function of Headwater
SELECT map_get_default(props, 'elm', id) AS elm FROM events

-- an aggregate of Headwater
SELECT arg_max_det(who.name, id) AS latest FROM events GROUP BY kind

-- names in other letters than those of the dataset
SELECT ID, STATUS AS s FROM ORDERS WHERE AMOUNT > 1
