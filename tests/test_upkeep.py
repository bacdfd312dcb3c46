"""What `[maintenance]` may say, and what is refused."""

from __future__ import annotations

import pytest

from headwater.errors import InvalidSetting
from headwater.upkeep import UPKEEP_KEYS, UpkeepPolicy, upkeep_policy_of


def test_a_policy_is_read_as_people_write_it() -> None:
    policy = upkeep_policy_of(
        {
            "compact_small_files": 4,
            "target_file_size": "64mb",
            "zorder_by": ["country", "day"],
            "cluster_after_commits": 3,
            "vacuum_every": "2 weeks",
            "checkpoint_after_commits": 7,
            "cleanup_log": False,
            "retain": "36 hours",
        }
    )
    assert policy == UpkeepPolicy(
        compact_small_files=4,
        target_file_size=64 << 20,
        zorder_by=("country", "day"),
        cluster_after_commits=3,
        vacuum_every_hours=336,
        checkpoint_after_commits=7,
        cleanup_log=False,
        retain_hours=36,
    )


def test_what_is_not_said_is_taken_from_the_policy_below() -> None:
    every = upkeep_policy_of({"retain": "90 days", "vacuum_every": "1 day"})
    own = upkeep_policy_of({"vacuum_every": "3 days"}, every)
    assert (own.retain_hours, own.vacuum_every_hours) == (90 * 24, 72)
    assert own.checkpoint_after_commits == UpkeepPolicy().checkpoint_after_commits


@pytest.mark.parametrize("key", [each for each in UPKEEP_KEYS if each != "cleanup_log"])
def test_false_means_never(key: str) -> None:
    policy = upkeep_policy_of({key: False})
    fields = {"vacuum_every": "vacuum_every_hours", "retain": "retain_hours"}
    assert getattr(policy, fields.get(key, key)) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("compact_small_files", 1),
        ("compact_small_files", "many"),
        ("cluster_after_commits", 0),
        ("checkpoint_after_commits", -1),
        ("vacuum_every", "soon"),
        ("vacuum_every", 7),
        ("retain", "1 year"),
        ("retain", "0 days"),
        ("cleanup_log", "yes"),
        ("zorder_by", ["a", "A"]),
        ("target_file_size", "1"),
        ("vacume_every", "7 days"),
    ],
)
def test_what_cannot_be_is_refused_by_its_key(key: str, value: object) -> None:
    with pytest.raises(InvalidSetting) as caught:
        upkeep_policy_of({key: value})
    assert caught.value.key == key
