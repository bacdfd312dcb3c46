"""Visits that count, and how long each visitor stayed."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import headwater


@headwater.view
def real_visits(page_views: DataFrame) -> DataFrame:
    """Visits whose length is known. The parameter's name is the table that is read."""
    return page_views.where(F.col("seconds").isNotNull())


@headwater.table
def visitors(real_visits: DataFrame) -> DataFrame:
    """One row per visitor, kept as a Delta table."""
    return real_visits.groupBy("visitor").agg(F.count("*").alias("visits"), F.sum("seconds").alias("seconds"))
