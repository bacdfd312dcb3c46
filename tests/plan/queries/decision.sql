-- a projection with arithmetic, casts and aliases
SELECT id AS key, amount * qty AS total, CAST(discount AS STRING) AS words, day FROM orders

-- a filter on columns that are not selected
SELECT id, status FROM orders WHERE amount > 3 AND discount IS NOT NULL

-- groups with plain aggregates
SELECT status, sum(amount) AS total, count(discount) AS discounted, max(qty) AS most FROM orders GROUP BY status

-- groups by an expression, having on another aggregate
SELECT month(day) AS month, count(*) AS n FROM orders GROUP BY month(day) HAVING sum(qty) > 9

-- a total without groups
SELECT count(*) AS n, sum(amount) AS total, min(day) AS first FROM orders WHERE status = 'elm'

-- an aggregate's filter clauses
SELECT customer, sum(amount) FILTER (WHERE status = 'fir') AS firs, count(*) FILTER (WHERE qty > 4) AS many
FROM orders GROUP BY customer

-- distinct aggregates side by side
SELECT region, count(DISTINCT tier) AS tiers, sum(DISTINCT parent) AS parents, count(DISTINCT name, since) AS names
FROM customers GROUP BY region

-- select distinct
SELECT DISTINCT region, tier FROM customers

-- an inner join with more than a key
SELECT o.id, c.name, o.amount FROM orders o JOIN customers c ON o.customer = c.id AND o.qty > c.tier

-- a left join, and what was not found
SELECT o.id, c.name, c.region IS NULL AS is_lost FROM orders o LEFT JOIN customers c ON o.customer = c.id

-- a right join
SELECT l.units, p.brand FROM lines l RIGHT JOIN products p ON l.product = p.id

-- a full outer self-join
SELECT a.name AS one, b.name AS other, coalesce(a.id, b.id) AS id
FROM customers a FULL OUTER JOIN customers b ON a.id = b.parent AND a.tier < b.tier

-- a full join with using
SELECT * FROM (SELECT id, name FROM customers) FULL JOIN (SELECT id, category FROM products) USING (id)

-- a natural join
SELECT units, price, reason FROM lines NATURAL JOIN (SELECT product, order_id > 0 AS is_gift, reason FROM returns) r

-- semi and anti joins
SELECT o.id, o.status FROM orders o LEFT SEMI JOIN returns r ON o.id = r.order_id AND r.units > 2
UNION ALL
SELECT o.id, o.status FROM orders o LEFT ANTI JOIN lines l ON o.id = l.order_id

-- a cross join with a filter on both
SELECT c.name, p.brand FROM customers c CROSS JOIN products p WHERE c.tier = p.cost

-- a join on inequality
SELECT a.source, b.target, a.weight FROM arcs a JOIN arcs b ON a.target < b.source AND a.label = b.label

-- three tables, a key that is computed
SELECT c.region, sum(l.units * l.price) AS turnover
FROM customers c JOIN orders o ON c.id = o.customer JOIN lines l ON l.order_id = o.id + 1
GROUP BY c.region

-- grouping sets
SELECT region, tier, count(name) AS n, grouping_id() AS level FROM customers
GROUP BY GROUPING SETS ((region, tier), (region), ())

-- cube
SELECT category, brand, sum(cost) AS cost, grouping(brand) AS over FROM products GROUP BY CUBE (category, brand)

-- rollup with having on the level
SELECT year(day) AS y, status, sum(amount) AS total FROM orders GROUP BY ROLLUP (year(day), status)
HAVING grouping(status) = 1 OR sum(qty) > 5

-- mixed grouping analytics
SELECT region, tier, parent, max(name) AS last FROM customers GROUP BY region, CUBE (tier, parent)

-- union by position
SELECT id, name FROM customers UNION ALL SELECT cost, category FROM products

-- union that removes what is double
SELECT id AS n FROM orders UNION SELECT units FROM lines

-- except all
SELECT customer, status FROM orders EXCEPT ALL SELECT id, name FROM customers

-- intersect
SELECT id FROM products INTERSECT SELECT product FROM lines WHERE is_gift

-- intersect all under an aggregate
SELECT count(*) AS n, max(k) AS most FROM (SELECT product AS k FROM lines INTERSECT ALL SELECT product FROM returns)

-- minus of a union
(SELECT id FROM customers UNION ALL SELECT parent FROM customers) MINUS SELECT customer FROM orders WHERE qty > 3

-- a scalar subquery without correlation
SELECT id, amount - (SELECT max(cost) FROM products WHERE brand <> 'ash') AS above FROM orders

-- a scalar subquery with correlation, in the select list
SELECT c.name, (SELECT sum(o.amount) FROM orders o WHERE o.customer = c.id) AS spent FROM customers c

-- a scalar subquery inside of an aggregate of the outer query
SELECT c.region, max(c.tier + (SELECT min(o.amount) FROM orders o WHERE o.status = c.region)) AS best
FROM customers c GROUP BY c.region

-- a scalar subquery in where
SELECT id, status FROM orders o WHERE amount > (SELECT avg(amount) FROM orders i WHERE i.status = o.status)

-- a scalar subquery in having
SELECT status, count(*) AS n FROM orders GROUP BY status HAVING max(qty) >= (SELECT max(units) FROM lines)

-- a scalar subquery in order by, with a limit
SELECT id, name, tier FROM customers ORDER BY abs(tier - (SELECT avg(qty) FROM orders)), id, name, tier LIMIT 7

-- subqueries in case
SELECT id, CASE WHEN EXISTS (SELECT 1 FROM returns r WHERE r.order_id = o.id) THEN 'back'
  WHEN o.customer IN (SELECT id FROM customers WHERE tier > 4) THEN o.status
  ELSE (SELECT min(reason) FROM returns) END AS fate
FROM orders o

-- exists and not exists
SELECT name FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer = c.id AND o.qty > 2)
AND NOT EXISTS (SELECT 1 FROM orders o JOIN returns r ON r.order_id = o.id WHERE o.customer = c.id AND r.units > 8)

-- not in with nulls
SELECT id, brand FROM products WHERE id NOT IN (SELECT product FROM returns WHERE units > 7)
UNION ALL SELECT cost, category FROM products WHERE cost NOT IN (SELECT product FROM returns WHERE product < 6)

-- in with two columns
SELECT units, price FROM lines WHERE (order_id, is_gift) IN (SELECT order_id, units > 2 FROM returns)

-- in with correlation
SELECT o.id FROM orders o WHERE o.customer IN (SELECT c.id FROM customers c WHERE c.since < o.day)

-- a lateral subquery
SELECT c.name, t.total, t.n FROM customers c,
  LATERAL (SELECT sum(o.amount) AS total, count(*) AS n FROM orders o WHERE o.customer = c.id) t

-- a lateral left join, with the best rows only
SELECT c.id, t.amount FROM customers c LEFT JOIN
  LATERAL (SELECT o.amount FROM orders o WHERE o.customer = c.id ORDER BY o.amount DESC NULLS LAST LIMIT 1) t
  ON t.amount > c.tier

-- a lateral chain
SELECT p.id, a.double, b.sum FROM products p, LATERAL (SELECT p.cost * 2 AS double) a,
  LATERAL (SELECT a.double + p.id AS sum) b

-- nested common tables
WITH recent AS (SELECT * FROM orders WHERE day > DATE'2026-01-10'),
  per AS (WITH good AS (SELECT customer, amount FROM recent WHERE status <> 'ash')
    SELECT customer, sum(amount) AS total FROM good GROUP BY customer),
  named AS (SELECT c.region, p.total FROM per p JOIN customers c ON c.id = p.customer)
SELECT region, max(total) AS most FROM named GROUP BY region

-- a common table that is used twice
WITH t AS (SELECT customer, sum(qty) AS q, max(day) AS latest FROM orders GROUP BY customer)
SELECT a.customer, b.latest FROM t a JOIN t b ON a.q = b.q AND a.customer <> b.customer

-- a common table inside of a subquery
SELECT name FROM customers c WHERE c.tier >
  (WITH m AS (SELECT min(qty) AS low FROM orders WHERE status = 'birch') SELECT low FROM m)

-- a recursive walk
WITH RECURSIVE reach (node, depth) AS (
  SELECT id, 0 FROM products WHERE cost > 5
  UNION ALL
  SELECT a.target, r.depth + 1 FROM reach r JOIN arcs a ON a.source = r.node WHERE r.depth < 2
) SELECT node, depth FROM reach

-- a recursive walk that adds up and changes places
WITH RECURSIVE walk (n, a, b, way) AS (
  SELECT 0, id, tier, name FROM customers WHERE region = 'elm'
  UNION ALL
  SELECT n + 1, b, a + 1, concat(way, '>') FROM walk WHERE n < 3
) SELECT a, b, way FROM walk

-- a recursive table joined to what it started from
WITH RECURSIVE boss (id, top, hops) AS (
  SELECT id, id, 0 FROM customers WHERE tier < 4
  UNION ALL
  SELECT c.id, b.top, hops + 1 FROM boss b JOIN customers c ON c.parent = b.id WHERE hops < 2
) SELECT b.top, count(*) AS below, max(p.brand) AS brand FROM boss b LEFT JOIN products p ON p.id = b.id GROUP BY b.top

-- windows: ranks, shares and running totals
SELECT id, rank() OVER (PARTITION BY status ORDER BY amount) AS place,
  sum(qty) OVER (PARTITION BY customer) AS bought,
  sum(amount) OVER (ORDER BY day RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running
FROM orders

-- windows: neighbours
SELECT lag(cost, 1, 0) OVER (PARTITION BY category ORDER BY cost, id) AS before,
  first_value(cost) OVER (PARTITION BY brand ORDER BY cost) AS least, ntile(2) OVER (ORDER BY id, cost) AS half
FROM products

-- a named window, and one over aggregates
SELECT status, sum(amount) AS total, dense_rank() OVER w AS place, sum(sum(qty)) OVER w AS running
FROM orders GROUP BY status WINDOW w AS (ORDER BY sum(amount), status)

-- the first row of each group
SELECT customer, amount FROM (
  SELECT customer, amount, row_number() OVER (PARTITION BY customer ORDER BY amount DESC, id, day, status) AS n
  FROM orders) WHERE n = 1

-- qualify
SELECT customer, status FROM orders QUALIFY dense_rank() OVER (PARTITION BY customer ORDER BY amount DESC) = 1

-- a ranked subquery, over a join
SELECT region, spent FROM (
  SELECT c.region, sum(o.amount) AS spent, rank() OVER (ORDER BY sum(o.amount) DESC) AS r
  FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.region) WHERE r <= 2

-- windows with frames by rows
SELECT max(weight) OVER (PARTITION BY label ORDER BY source, target, weight ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m,
  count(*) OVER (PARTITION BY label) AS n FROM arcs

-- pivot
SELECT * FROM (SELECT region, tier, parent FROM customers)
PIVOT (sum(parent) AS s, count(parent) AS n FOR tier IN (1 AS low, 5 AS mid))

-- pivot by two columns
SELECT * FROM (SELECT status, qty, customer, amount FROM orders)
PIVOT (max(amount) FOR (status, qty) IN (('elm', 1) AS e1, ('fir', 2) AS f2))

-- unpivot
SELECT region, quarter, sales FROM quarters UNPIVOT (sales FOR quarter IN (q1, q2 AS second, q4))

-- unpivot with nulls, two at a time
SELECT year, half, a, b FROM quarters UNPIVOT INCLUDE NULLS ((a, b) FOR half IN ((q1, q2) AS one, (q3, q4) AS two))

-- stack
SELECT region, stack(2, 'q1', q1, 'q2', q2) AS (quarter, sales) FROM quarters WHERE year > 3

-- pipes
FROM orders |> WHERE amount > 2 |> EXTEND amount * qty AS total |> AGGREGATE sum(total) AS s, max(discount) AS d GROUP BY status
|> WHERE s > 5 |> SELECT status, d

-- pipes with a join, set and drop
FROM customers |> AS c |> JOIN orders o ON o.customer = c.id |> SELECT c.name, o.amount, o.qty |> SET amount = amount + qty
|> DROP qty |> ORDER BY amount, name |> LIMIT 9

-- pipes with a union and a pivot
FROM quarters |> SELECT region, year, q1 |> UNION ALL (SELECT region, year, q2 FROM quarters)
|> PIVOT (sum(q1) FOR year IN (1, 2, 3))

-- a list of words within a group
SELECT region, listagg(name, '/') WITHIN GROUP (ORDER BY name) AS names, listagg(DISTINCT name) WITHIN GROUP (ORDER BY name) AS d
FROM customers GROUP BY region

-- percentiles within a group
SELECT status, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS median,
  percentile_disc(0.25) WITHIN GROUP (ORDER BY qty DESC) AS low, mode() WITHIN GROUP (ORDER BY day) AS usual
FROM orders GROUP BY status

-- the value at the greatest
SELECT category, max_by(brand, cost) AS dearest, min_by(id, cost) AS cheapest FROM products GROUP BY category

-- statistics of two columns
SELECT status, try_divide(sum(amount), sum(qty)) > 1 AS dear, regr_count(amount, qty) AS n, covar_pop(qty, discount) > 0 AS up
FROM orders GROUP BY status

-- case, if, nullif and coalesce
SELECT CASE status WHEN 'ash' THEN amount WHEN 'elm' THEN qty END AS one, if(amount > 4, discount, customer) AS two,
  nullif(qty, 3) AS three, nvl2(discount, day, NULL) AS four, coalesce(discount, qty, 0) AS five FROM orders

-- column aliases used sideways
SELECT amount * 2 AS double, double + qty AS more, more > 9 AS is_big FROM orders

-- group by all and order by all
SELECT status, customer, sum(amount) AS total FROM orders GROUP BY ALL ORDER BY ALL

-- a star with exceptions
SELECT * EXCEPT (name, since) FROM customers WHERE parent IS NULL

-- a limit under an aggregate
SELECT sum(amount) AS total FROM (SELECT amount FROM orders ORDER BY amount DESC NULLS LAST LIMIT 5)

-- an offset
SELECT cost, brand FROM products ORDER BY cost, brand LIMIT 5 OFFSET 3

-- values joined to a table
SELECT v.word, o.amount FROM VALUES (1, 'one'), (2, 'two') AS v(n, word) JOIN orders o ON o.qty = v.n

-- a table function joined sideways
SELECT c.name, r.col FROM customers c, LATERAL explode(sequence(1, c.tier)) r

-- correlated aggregates of aggregates
SELECT status, n, (SELECT max(c.tier) FROM customers c WHERE c.id = t.n GROUP BY c.id) AS match
FROM (SELECT status, count(id) AS n FROM orders GROUP BY status) t

-- nested correlation through exists
SELECT c.name FROM customers c WHERE EXISTS (
  SELECT 1 FROM orders o WHERE o.customer = c.id AND EXISTS (SELECT 1 FROM lines l WHERE l.order_id = o.id AND l.units > 2))

-- a subquery over a union
SELECT id FROM orders o WHERE o.qty IN (SELECT units FROM lines UNION ALL SELECT units FROM returns WHERE reason = 'fir')

-- a filter between two aggregates
SELECT n, count(*) AS groups FROM (SELECT customer, count(*) AS n, sum(qty) AS q FROM orders GROUP BY customer)
WHERE q > 4 GROUP BY n

-- a window in a subquery of a join
SELECT p.brand, t.r FROM products p JOIN (
  SELECT product, price, rank() OVER (PARTITION BY product ORDER BY units) AS r FROM lines) t ON t.product = p.id AND t.price > p.cost

-- a total of nothing
SELECT count(*) AS n FROM orders

-- a constant per row
SELECT 1 AS one FROM customers WHERE tier = 2

-- an aggregate of a join that keeps no column of one side
SELECT count(*) AS n FROM orders o JOIN returns r ON o.id = r.order_id

-- nearest rows
SELECT o.id, p.brand FROM orders o JOIN products p APPROX NEAREST 1 BY DISTANCE abs(o.amount - p.cost)

-- text, dates and intervals
SELECT upper(concat(name, region)) AS text, date_add(since, tier) AS later, datediff(since, DATE'2026-01-01') AS days FROM customers

-- between and like
SELECT id FROM orders WHERE amount BETWEEN qty AND discount + 5 AND status LIKE '%r%'

-- a self-join on a subquery's aggregate, outer twice
SELECT a.region, b.most, d.least FROM customers a
LEFT JOIN (SELECT region, max(tier) AS most FROM customers GROUP BY region) b ON a.region = b.region
RIGHT JOIN (SELECT region, min(parent) AS least FROM customers GROUP BY region) d ON b.region = d.region

-- set operations of different depth
SELECT id FROM (SELECT id FROM customers EXCEPT SELECT customer FROM orders WHERE qty > 3) UNION ALL
(SELECT product FROM lines INTERSECT (SELECT product FROM returns UNION SELECT id FROM products))

-- a sample of what a bit vector counts
SELECT bit_or(qty) AS bits, bool_and(amount > 1) AS every, any_value(1) AS one, count_if(discount > 3) AS n FROM orders

-- grouping sets over a join, with a window on the level
SELECT region, status, sum(amount) AS total, rank() OVER (PARTITION BY grouping_id() ORDER BY sum(amount)) AS place
FROM customers c JOIN orders o ON o.customer = c.id GROUP BY GROUPING SETS ((region, status), (status))
