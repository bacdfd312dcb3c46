"""Orders that count, in one currency, with who placed them."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import headwater


@headwater.view
def paid_orders(orders: DataFrame) -> DataFrame:
    """Orders that were paid."""
    return orders.where(F.col("status") == "paid").drop("status")


@headwater.view
def active_customers(customers: DataFrame) -> DataFrame:
    """Customers we still have, with every text trimmed; the columns come from the schema."""
    texts = [field.name for field in customers.schema.fields if field.dataType.typeName() == "string"]
    return customers.where("active").withColumns({name: F.trim(name) for name in texts}).drop("active")


@headwater.table
def order_facts(orders_in_eur: DataFrame, active_customers: DataFrame) -> DataFrame:
    """One row per paid order of an active customer."""
    return orders_in_eur.join(active_customers, "customer_id").select(
        "order_id", "customer_id", "name", "country", "ordered_on", "amount_eur"
    )
