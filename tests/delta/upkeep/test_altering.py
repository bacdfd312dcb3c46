from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.delta import (
    alter_constraints,
    alter_properties,
    describe_pin,
    enable_features,
    find_content,
    keep_content,
    upkeep_note_of,
)
from headwater.delta.content import NO_ROWS
from headwater.errors import (
    ConstraintInvalid,
    ConstraintViolated,
    FeatureUnknown,
    InvalidSetting,
    MutationRefused,
    PinsAtRisk,
)

if TYPE_CHECKING:
    from tests.delta.upkeep.conftest import Keep

LOG = "delta.logRetentionDuration"
FILES = "delta.deletedFileRetentionDuration"
CLEANS = "delta.enableExpiredLogCleanup"


def properties(keep: Keep) -> dict[str, str]:
    return describe_pin(keep.table.session, keep.pin()).table_properties


def test_properties_are_set_and_taken_back(keep: Keep) -> None:
    keep.lived()
    before, wanted = properties(keep), {"delta.checkpointInterval": "20", "x.y": "it's `q` \\ é"}
    keep_content(keep.pin(), NO_ROWS)
    planned = alter_properties(keep.task("properties", dry_run=True), wanted)
    assert (planned.outcome, planned.after, keep.table.version) == ("planned", planned.before, 5)
    receipt = alter_properties(keep.task("properties"), wanted)
    assert (receipt.outcome, receipt.after.version, receipt.summary) == ("done", 6, planned.summary)
    assert properties(keep) == {**before, **wanted}
    assert upkeep_note_of(keep.table.head.user_metadata) == keep.task("properties").note
    assert find_content(keep.pin()) == NO_ROWS
    again = alter_properties(keep.task("properties"), wanted, ["not.there"])
    assert (again.outcome, again.after, keep.table.version) == ("unchanged", receipt.after, 6)
    alter_properties(keep.task("properties"), {"x.y": "z"}, ["Delta.CheckpointInterval"])
    assert properties(keep) == {**before, "x.y": "z"}
    assert keep.table.version == 8


@pytest.mark.parametrize(
    "key",
    [
        "delta.minReaderVersion",
        "DELTA.feature.rowTracking",
        "delta.ignoreProtocolDefaults",
        "delta.constraints.positive",
        "Delta.Constraints.positive",
        "headwater.policy",
        "delta.headwater.policy",
        "Headwater.x",
    ],
)
def test_keys_that_belong_to_others_are_refused(keep: Keep, key: str) -> None:
    for wanted, unwanted in (({key: "1"}, ()), ({}, (key,))):
        with pytest.raises(InvalidSetting) as caught:
            alter_properties(keep.task("properties"), wanted, unwanted)
        assert caught.value.key == key


def test_what_delta_does_not_take_changes_nothing(keep: Keep) -> None:
    keep.lived()
    with pytest.raises(InvalidSetting):
        alter_properties(keep.task("properties"), {LOG: "interval 3 fortnights"})
    with pytest.raises(MutationRefused):
        alter_properties(keep.task("properties"), {"delta.nope": "1"})
    with pytest.raises(MutationRefused):
        alter_properties(keep.task("properties"), {LOG: "interval 1 hour"})
    assert keep.table.version == 5


def test_a_log_that_delta_would_clean_of_what_is_held_stays_as_it_is(keep: Keep) -> None:
    keep.lived().age(10)
    task, shorter = keep.task("properties", holds=[keep.hold(0)], spare=True), {LOG: "interval 5 days"}
    with pytest.raises(PinsAtRisk) as caught:
        alter_properties(task, shorter)
    assert (caught.value.operation, caught.value.lost) == ("properties", ("version 0 (run)",))
    assert keep.table.version == 5
    planned = alter_properties(keep.task("properties", holds=[keep.hold(0)], dry_run=True), shorter)
    assert [each.hold for each in planned.lost] == [keep.hold(0)]
    # Delta compares the two only where both are set at once, and else with its own default.
    done = alter_properties(task, {**shorter, FILES: "interval 99 hours", CLEANS: "false"})
    assert (done.outcome, done.lost) == ("done", ())
    with pytest.raises(PinsAtRisk):
        alter_properties(task, {}, [CLEANS])
    forced = alter_properties(keep.task("properties", holds=[keep.hold(0)], forced=True), {}, [CLEANS])
    assert [each.hold for each in forced.lost] == [keep.hold(0)]
    assert properties(keep)[LOG] == "interval 5 days"


def test_features_are_switched_on_once(keep: Keep) -> None:
    keep.lived()
    keep_content(keep.pin(), keep.content())
    for wrong in ("rowTrackin", "catalogManaged"):
        with pytest.raises(FeatureUnknown):
            enable_features(keep.task("features"), ["rowTracking", wrong])
    wanted = ["rowtracking", "columnMapping", "domainMetadata"]
    assert enable_features(keep.task("features", dry_run=True), wanted).outcome == "planned"
    assert keep.table.version == 5
    receipt = enable_features(keep.task("features"), [*wanted, "deletionVectors"])
    assert receipt.outcome == "done"
    assert "deletionVectors" not in receipt.summary
    snapshot = describe_pin(keep.table.session, keep.pin())
    assert {"rowTracking", "columnMapping", "domainMetadata"} <= set(snapshot.writer_features)
    assert snapshot.table_properties["delta.columnMapping.mode"] == "name"
    assert find_content(keep.pin()) == keep.content()
    again = enable_features(keep.task("features"), wanted)
    assert (again.outcome, again.after) == ("unchanged", receipt.after)


def test_a_constraint_holds_for_all_rows_before_it_is_the_tables(keep: Keep) -> None:
    keep.lived()
    with pytest.raises(ConstraintViolated) as caught:
        alter_constraints(keep.task("constraints"), {"small": "id < 50"})
    violated = caught.value
    assert (violated.constraint, violated.count, len(violated.sample)) == ("small", 3, 3)
    assert '"id":104' in " ".join(violated.sample)
    for wrong in ("nope < 3", "id +", "id + 1", "count(id) > 0"):
        with pytest.raises(ConstraintInvalid):
            alter_constraints(keep.task("constraints"), {"small": wrong})
    with pytest.raises(InvalidSetting):
        alter_constraints(keep.task("constraints"), {"a b": "id < 50"})
    with pytest.raises(MutationRefused):
        alter_constraints(keep.task("constraints"), {}, ["nope"])
    assert keep.table.version == 5


def test_constraints_come_and_go(keep: Keep) -> None:
    keep.lived()
    keep_content(keep.pin(), NO_ROWS)
    wanted = {"small": "id < 1000 -- in rows"}
    assert alter_constraints(keep.task("constraints", dry_run=True), wanted).outcome == "planned"
    receipt = alter_constraints(keep.task("constraints"), wanted)
    assert (receipt.outcome, keep.table.version) == ("done", 6)
    assert upkeep_note_of(keep.table.head.user_metadata) == keep.task("constraints").note
    assert find_content(keep.pin()) == NO_ROWS
    assert "id < 1000" in properties(keep)["delta.constraints.small"]
    assert alter_constraints(keep.task("constraints"), {"Small": "id < 1000"}).outcome == "unchanged"
    with pytest.raises(MutationRefused):
        alter_constraints(keep.task("constraints"), {"small": "id < 2000"})
    alter_constraints(keep.task("constraints"), {}, ["SMALL"])
    assert "delta.constraints.small" not in properties(keep)


def test_a_file_size_does_not_let_unknown_keys_in(keep: Keep) -> None:
    keep.lived()
    with pytest.raises(MutationRefused):
        alter_properties(keep.task("properties"), {"delta.targetFileSize": "1mb", "delta.nope": "1"})
    assert keep.table.version == 5


def test_of_two_changes_that_cannot_both_be_made_none_is(keep: Keep) -> None:
    keep.lived()
    with pytest.raises(MutationRefused):
        alter_constraints(keep.task("constraints"), {"small": "id < 1000"}, ["nope"])
    assert keep.table.version == 5


def test_a_property_that_is_there_already_still_counts_beside_the_others(keep: Keep) -> None:
    keep.lived()
    receipt = alter_properties(keep.task("properties"), {FILES: "interval 100 hours", LOG: "interval 5 days"})
    assert (receipt.outcome, properties(keep)[LOG]) == ("done", "interval 5 days")


def test_a_property_of_another_case_is_another_property(keep: Keep) -> None:
    keep.lived()
    alter_properties(keep.task("properties"), {"x.y": "1"})
    receipt = alter_properties(keep.task("properties"), {}, ["X.Y"])
    assert receipt.outcome == "unchanged" or "x.y" not in properties(keep)  # done, a commit, and still there
