"""All commands of `headwater table`, in one group.

Not here: what they do.
"""

from __future__ import annotations

from headwater.cli.altering import constraints, features, properties
from headwater.cli.maintain import maintain
from headwater.cli.table import table
from headwater.cli.upkeep import checkpoint, cleanup_log, export, optimize, restore, vacuum

for _command in (optimize, vacuum, restore, export, checkpoint):
    table.command()(_command)
table.command("cleanup-log")(cleanup_log)
for _command in (features, properties, constraints, maintain):
    table.command()(_command)

__all__ = ["table"]
