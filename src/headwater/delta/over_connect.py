"""A table at a pin, or the files of a listing, read by a client of Spark Connect.

Paths are the server's to open: it must see the same file system. Not here: whether what is pinned is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta.listing import literal_paths
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from headwater.delta.listing import FilePin
    from headwater.names import TablePin


def read_over_connect(spark: SparkSession, pin: TablePin) -> DataFrame:
    """The rows of a Delta table at a version."""
    return spark.read.format("delta").option("versionAsOf", pin.version).load(pin.uri)


def read_files_over_connect(
    spark: SparkSession,
    pinned: FilePin,
    *,
    file_format: str,
    schema: str | None,
    options: Sequence[tuple[str, str]],
) -> DataFrame:
    """The rows of exactly the pinned files."""
    reader = spark.read.format(file_format).options(**dict(options))
    root = local_path_of(pinned.pin.uri)
    if root.is_dir():
        reader = reader.option("basePath", str(root))
    return (reader if schema is None else reader.schema(schema)).load(literal_paths(pinned))
