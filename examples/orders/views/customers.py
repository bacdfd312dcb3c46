"""Who buys most."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

import headwater


@headwater.view
def revenue_by_customer(order_facts: DataFrame) -> DataFrame:
    """Revenue and number of orders of each customer."""
    return order_facts.groupBy("customer_id", "name", "country").agg(
        F.sum("amount_eur").alias("revenue_eur"), F.count("*").alias("orders")
    )


@headwater.view
def ranked_customers(revenue_by_customer: DataFrame) -> DataFrame:
    """Customers by revenue; equal revenue is settled by the id."""
    by_revenue = Window.partitionBy("country").orderBy(F.desc("revenue_eur"), "customer_id")
    return revenue_by_customer.withColumn("rank", F.row_number().over(by_revenue))


@headwater.table
def top_customers(ranked_customers: DataFrame) -> DataFrame:
    """The best three of each country."""
    return ranked_customers.where("rank <= 3")
