-- headwater: table
-- Revenue of each country and its share of the whole.
WITH whole AS (SELECT SUM(revenue_eur) AS revenue_eur FROM country_totals)
SELECT
  c.country,
  c.revenue_eur,
  c.orders,
  CAST(c.revenue_eur / w.revenue_eur AS DECIMAL(9, 6)) AS share
FROM country_totals AS c
CROSS JOIN whole AS w
