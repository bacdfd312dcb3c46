-- Revenue of each country, before the share of the whole is known.
SELECT country, SUM(revenue_eur) AS revenue_eur, SUM(orders) AS orders
FROM revenue_by_customer
GROUP BY country
