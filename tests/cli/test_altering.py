"""`headwater table features|properties|constraints`: shown, and changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished
    from headwater.runtime import RunSession

SMALL = ("--master", "local[2]", "--set", "driver_memory=2g")


@pytest.fixture
def sales(tmp_path: Path, session: RunSession) -> Path:
    place = tmp_path / "sales"
    session.spark.sql(
        f"CREATE TABLE delta.`{place}` (id BIGINT NOT NULL) USING delta "
        "TBLPROPERTIES ('team.api.token' = 'hush', 'team' = 'blue')"
    )
    session.spark.sql(f"INSERT INTO delta.`{place}` VALUES (1), (2), (3)")
    return place


def test_a_table_is_shown_and_altered(headwater_here: Callable[..., Finished], sales: Path) -> None:
    def asked(*arguments: str, code: int = 0) -> dict[str, Any]:
        done = headwater_here("table", arguments[0], sales, *arguments[1:], *SMALL, "--json")
        assert done.code == code, done.err
        return json.loads(done.out)

    assert asked("properties")["properties"] == {"team": "blue", "team.api.token": "*********"}
    done = asked("properties", "--set-property", "team=it's red", "--unset-property", "team.api.token")
    assert (done["status"], done["version_after"]) == ("done", 3)
    assert asked("properties")["properties"] == {"team": "it's red"}
    assert asked("properties", "--set-property", "team", code=2)["error"]["code"] == "HW-CONFIG-003"
    assert asked("constraints")["constraints"] == {"not_null.id": "`id` IS NOT NULL"}
    refused = asked("constraints", "--add", "few=id < 3", code=1)
    assert refused["error"]["code"] == "HW-DELTA-025"
    assert asked("constraints", "--add", "few=id < 30", "--dry-run")["status"] == "planned"
    assert asked("constraints", "--add", "few=id < 30")["status"] == "done"
    assert asked("constraints")["constraints"]["few"] == "id < 30"
    assert asked("constraints", "--drop", "few")["status"] == "done"
    assert "deletionVectors" not in asked("features")["writer_features"]
    assert asked("features", "--enable", "deletionVectors")["status"] == "done"
    assert asked("features", "--enable", "deletionVectors")["status"] == "unchanged"
    assert "deletionVectors" in asked("features")["writer_features"]
    assert asked("features", "--enable", "deletionVektors", code=2)["error"]["code"] == "HW-DELTA-029"
    shown = headwater_here("table", "features", sales, *SMALL)
    assert "writer_features = appendOnly" in shown.out
    history = headwater_here("table", "history", sales, "--limit", "1")
    assert "upkeep      features, asked for by" in history.out
