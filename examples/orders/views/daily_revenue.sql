-- headwater: table
-- Revenue of each day.
SELECT ordered_on, SUM(amount_eur) AS revenue_eur, COUNT(*) AS orders
FROM order_facts
GROUP BY ordered_on
