"""What a repository's files mean together, as one nested row per file: from evidence in Arrow, and back.

resolve_rows        the rows of a repository, from those of its evidence
RESOLVED_FROM       what is asked of evidence for it, by column, in SQL
RESOLUTION_COLUMNS  the columns of the rows, as a schema
LISTS               the lists among them: their columns, with types
resolver_version    what changes when any file that takes part does
"""

from headwater.cpg.resolution.columns import LISTS, RESOLUTION_COLUMNS, RESOLVED_FROM
from headwater.cpg.resolution.whole import resolve_rows, resolver_version

__all__ = ["LISTS", "RESOLUTION_COLUMNS", "RESOLVED_FROM", "resolve_rows", "resolver_version"]
