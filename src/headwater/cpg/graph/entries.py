"""The entries of evidence's lists as rows, and the ids of the nodes that they speak of by number.

Not here: what any list is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.functions import SEMANTIC_TYPE_KEY

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

IDS = "_ids"


def entries(evidence: DataFrame, name: str, *more: Column) -> DataFrame:
    """One row for each entry of a list: its repository and file, its columns, and `more` of the file's row.

    Beside them are the ids of all nodes of the file, for `node_at` and for nothing else. They and `more` have
    to be columns as evidence has them: anything else Spark works out again for every entry.
    """
    return evidence.select("repo_id", "file_id", F.col("node_ids").alias(IDS), *more, F.inline(name))


def node_at(number: str | Column) -> Column:
    """The id of a node by its number."""
    return F.get(IDS, number)


def typed(name: str, semantic_type: str, column: Column | None = None) -> Column:
    """A column under a name, with what it is beyond its Spark type."""
    made = F.col(name) if column is None else column
    return made.alias(name, metadata={SEMANTIC_TYPE_KEY: semantic_type})


def repository() -> Column:
    """The column that says which repository a row is of."""
    return typed("repo_id", "RepoId")
