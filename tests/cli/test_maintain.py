"""`headwater table maintain` over the example."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import BuiltExample, Finished

SMALL = ("--set", "driver_memory=2g")
POLICY = """
[maintenance.top_customers]
checkpoint_after_commits = 1

[maintenance."*"]
vacuum_every = "2 days"
"""


def test_what_is_due_is_told_done_and_then_not_due_any_more(
    headwater_here: Callable[..., Finished], built_example: BuiltExample, tmp_path: Path
) -> None:
    folder = shutil.copytree(built_example.folder, tmp_path / "orders")
    with (folder / "headwater.toml").open("a") as toml:
        toml.write(POLICY)
    log = folder / ".headwater" / "tables" / "order_facts" / "_delta_log"
    for each in log.glob("*.json"):
        then = each.stat().st_mtime - 3 * 86_400
        os.utime(each, (then, then))

    def maintained(*flags: str) -> tuple[int, list[tuple[str, str, str]]]:
        done = headwater_here("table", "maintain", "--project", folder, *flags, *SMALL, "--json")
        actions = json.loads(done.out)["actions"]
        return done.code, [(each["table"], each["operation"], each["status"]) for each in actions]

    due = [("order_facts", "vacuum"), ("top_customers", "checkpoint")]
    assert maintained("--dry-run") == (0, [(*due[0], "unchanged"), (*due[1], "planned")])
    assert maintained() == (0, [(*due[0], "unchanged"), (*due[1], "done")])
    assert maintained("top_customers") == (0, [])
    assert maintained() == (0, [])
    nothing = headwater_here("table", "maintain", "--project", folder, *SMALL)
    assert (nothing.code, nothing.out) == (0, "Nothing is due.\n")


def test_without_a_project_there_is_nothing_to_maintain(
    headwaters: Callable[..., dict[str, Finished]], tmp_path: Path
) -> None:
    ended = headwaters(
        none={"arguments": ["table", "maintain"], "cwd": tmp_path},
        wrong={"arguments": ["table", "maintain", str(tmp_path / "nothing")], "cwd": tmp_path},
    )
    assert ended["none"].code == 2
    assert "HW-CONFIG-005" in ended["none"].err
    assert ended["wrong"].code == 1
    assert "HW-DELTA-001" in ended["wrong"].err
