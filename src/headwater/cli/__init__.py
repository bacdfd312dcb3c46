"""People: commands in, text out; holds no rules.

main    the `headwater` command
"""

from headwater.cli.app import main

__all__ = ["main"]
