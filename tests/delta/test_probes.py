from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta import probe_change_feed, probe_commit

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import RunSession


def test_probes_really_use_delta(session: RunSession, tmp_path: Path) -> None:
    assert probe_commit(session, tmp_path) == "committed version 0, read 3 of 3 rows"
    assert probe_change_feed(session, tmp_path) == "version 1 changed by insert"
    assert (tmp_path / "feed" / "_delta_log").is_dir()
