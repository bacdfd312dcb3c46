"""What the pipeline starts from: orders it makes once, customers in a file, rates in memory."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headwater


@headwater.source
def orders(spark: SparkSession) -> DataFrame:
    """Two thousand orders, always the same; afterwards an ordinary Delta table that anybody may append to."""
    number = F.col("id")
    return spark.range(1, 2001).select(
        number.alias("order_id"),
        (number * 7 % 26 + 1).alias("customer_id"),
        F.element_at(
            F.array(F.lit("paid"), F.lit("paid"), F.lit("open"), F.lit("cancelled")),
            (number % 4 + 1).cast("int"),
        ).alias("status"),
        F.element_at(F.array(F.lit("EUR"), F.lit("USD"), F.lit("JPY")), (number % 3 + 1).cast("int")).alias(
            "currency"
        ),
        ((number * 37 % 9973) / 100).cast("decimal(12,2)").alias("amount"),
        F.date_add(F.lit("2026-01-01").cast("date"), (number % 90).cast("int")).alias("ordered_on"),
    )


headwater.source(
    "customers",
    path="data/customers.csv",
    format="csv",
    schema="customer_id BIGINT, name STRING, country STRING, active BOOLEAN",
    options={"header": "true"},
)

headwater.source(
    "rates",
    rows=[("EUR", "1.0000"), ("JPY", "0.0061"), ("USD", "0.9200")],
    schema="currency STRING, eur_per_unit STRING",
)
