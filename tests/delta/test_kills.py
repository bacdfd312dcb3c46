"""Writers that are killed in the middle of their commits: four times here, fifty times by `make soak`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import soak

if TYPE_CHECKING:
    from pathlib import Path

SEED = 4


def test_every_batch_lands_once_whenever_its_writer_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = soak.Soak(tmp_path, soak.Dice(SEED), ("commit", "data", "draft", "prepare"))
    ran.run()
    assert ran.kills == 4
    assert ran.unacknowledged > 0, "no kill left a commit that nobody acknowledged: this proves nothing"
    *_, digests, last = capsys.readouterr().out.splitlines()
    assert digests == "6 of 6 receipts had a digest, each equal to one computed anew"
    assert last.startswith(f"4 kills, {ran.unacknowledged} unacknowledged commits, 6 batches exactly once, ")


@pytest.mark.parametrize("seed", range(5))
def test_the_batches_of_a_seed_are_always_the_same_and_always_change_something(seed: int) -> None:
    made: list[list[Any]] = []
    for _ in range(2):
        rows: dict[int, int] = {}
        made.append([])
        for number in range(1, 40):
            batch = soak.build_batch(soak.Dice(seed), number, rows, settles=False)
            assert batch.after != rows
            rows = batch.after
            made[-1].append(batch)
    assert made[0] == made[1]
    kinds = {batch.command["do"] for batch in made[0]}
    assert kinds == {"append", "merge", "overwrite", "replace_where", "replace_keys", "update", "delete"}


def test_a_batch_that_is_there_twice_is_noticed(tmp_path: Path) -> None:
    log = tmp_path / "table" / "_delta_log"
    log.mkdir(parents=True)
    for version in range(2):
        inside = {"pipeline": "p", "table": "t", "run_id": "r", "task_key": "k", "mutation_id": "m"}
        info = {"commitInfo": {"userMetadata": json.dumps({"headwater": inside})}}
        (log / f"{version:020}.json").write_text(json.dumps(info))
    assert soak.count_commits(tmp_path / "table") == {"m": 2}
