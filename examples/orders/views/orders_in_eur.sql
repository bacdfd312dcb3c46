-- Paid orders, with the amount in euro.
SELECT
  o.order_id,
  o.customer_id,
  o.ordered_on,
  CAST(o.amount * CAST(r.eur_per_unit AS DECIMAL(12, 4)) AS DECIMAL(14, 2)) AS amount_eur
FROM paid_orders AS o
JOIN rates AS r USING (currency)
