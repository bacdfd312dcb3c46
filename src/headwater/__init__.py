"""Plan-driven Delta Lake pipelines on Spark that can prove what they did."""
