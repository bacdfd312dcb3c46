from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.datasets import (
    CdfWindow,
    FeatureGate,
    ReadOptions,
    milliseconds_of,
    read_options_of,
    timestamp_of,
)
from headwater.errors import InvalidSetting

FEATURES = st.lists(st.sampled_from(["deletionVectors", "columnMapping", "v2Checkpoint"]), max_size=3)
GATES = st.builds(
    FeatureGate,
    min_reader_version=st.integers(0, 3),
    min_writer_version=st.integers(0, 7),
    required_reader_features=FEATURES.map(tuple),
    required_writer_features=FEATURES.map(tuple),
)


@given(GATES, GATES, GATES)
def test_gates_add_up_in_any_order(one: FeatureGate, two: FeatureGate, three: FeatureGate) -> None:
    assert one.merged(two) == two.merged(one)
    assert one.merged(two).merged(three) == one.merged(two.merged(three))
    assert one.merged(one) == one
    assert one.merged(FeatureGate()) == one


def test_a_gate_lists_each_feature_once_in_order() -> None:
    gate = FeatureGate(required_reader_features=("b", "a", "b"))
    assert gate.required_reader_features == ("a", "b")


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_reader_version": -1},
        {"min_writer_version": True},
        {"min_reader_version": "3"},
        {"required_reader_features": "deletionVectors"},
        {"required_writer_features": ("",)},
    ],
)
def test_a_gate_that_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidSetting):
        FeatureGate(**wrong)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"ending_version": 3},
        {"starting_version": 1, "starting_timestamp": "2026-01-01"},
        {"starting_version": 1, "ending_version": 2, "ending_timestamp": "2026-01-01"},
        {"starting_version": 3, "ending_version": 2},
        {"starting_version": -1},
        {"starting_timestamp": "yesterday"},
        {"starting_timestamp": "2026-01-02", "ending_timestamp": "2026-01-01"},
    ],
)
def test_a_window_that_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidSetting):
        CdfWindow(**wrong)  # pyright: ignore[reportArgumentType]


def test_a_window_says_what_it_spans() -> None:
    assert str(CdfWindow(starting_version=2)) == "2 to the newest"
    assert str(CdfWindow(starting_version=2, ending_version=2)) == "2 to 2"


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": 1, "timestamp": "2026-01-01"},
        {"version": -1},
        {"timestamp": "soon"},
        {"files": ("",)},
        {"columns": (("a", "x"), ("A", "y"))},
        {"defaults": (("a", " "),)},
        {"changes": CdfWindow(starting_version=0), "version": 1},
        {"changes": CdfWindow(starting_version=0), "files": ("a",)},
    ],
)
def test_options_that_contradict_each_other_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidSetting):
        ReadOptions(**wrong)  # pyright: ignore[reportArgumentType]


def test_what_is_recorded_is_what_was_chosen() -> None:
    assert ReadOptions().identity() == {}
    assert ReadOptions().is_plain
    options = ReadOptions(
        version=3, gate=FeatureGate(min_reader_version=2), files=("b", "a"), columns=(("x", "id + 1"),)
    )
    assert options.identity() == {
        "version": 3,
        "files": ["a", "b"],
        "columns": [["x", "id + 1"]],
        "gate": {
            "min_reader_version": 2,
            "min_writer_version": 0,
            "required_reader_features": [],
            "required_writer_features": [],
        },
    }


def test_what_was_recorded_can_be_read_again() -> None:
    options = ReadOptions(
        timestamp="2026-01-01",
        gate=FeatureGate(required_writer_features=("b", "a")),
        columns=(("x", "id + 1"), ("a", "y")),
        defaults=(("y", "0"),),
        files=("b", "a"),
        file_column="f",
        pushdown=False,
    )
    assert read_options_of(options.identity()) == options
    window = ReadOptions(changes=CdfWindow(starting_version=1, allow_out_of_range=True))
    assert read_options_of(window.identity()) == window


def test_a_place_adds_its_gate_and_its_choices() -> None:
    spec = ReadOptions(timestamp="2026-01-01", gate=FeatureGate(min_reader_version=2), pushdown=False)
    place = ReadOptions(version=4, gate=FeatureGate(min_writer_version=5), files=("a",))
    both = spec.with_location(place)
    assert both == ReadOptions(
        version=4,
        gate=FeatureGate(min_reader_version=2, min_writer_version=5),
        files=("a",),
        pushdown=False,
    )
    assert spec.with_location(ReadOptions()) == spec
    assert spec.with_location(ReadOptions(), ["pushdown"]).pushdown


def test_lists_and_mappings_are_taken_as_they_are_written() -> None:
    gate = FeatureGate(required_reader_features=["b", "a"])  # pyright: ignore[reportArgumentType]
    assert gate.required_reader_features == ("a", "b")
    options = ReadOptions(columns={"a": "b"}, files=["x"])  # pyright: ignore[reportArgumentType]
    assert (options.columns, options.files) == ((("a", "b"),), ("x",))


def test_a_time_that_no_calendar_has_is_still_shown() -> None:
    assert timestamp_of(10**17) == "100000000000000000 ms after 1970"


def test_times_without_a_zone_are_utc() -> None:
    assert milliseconds_of("1970-01-01") == 0
    assert milliseconds_of("1970-01-01T00:00:01.5Z") == 1500
    assert milliseconds_of("1970-01-01T02:00:00+02:00") == 0


@given(st.integers(-60_000_000_000_000, 250_000_000_000_000))
def test_times_come_back_as_they_went(milliseconds: int) -> None:
    assert milliseconds_of(timestamp_of(milliseconds)) == milliseconds


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(9000, 1, 1)))  # noqa: DTZ001
def test_a_time_is_rounded_down_to_milliseconds(moment: datetime) -> None:
    exact = moment.replace(tzinfo=UTC)
    found = milliseconds_of(moment.isoformat())
    assert timestamp_of(found)[:23] == exact.isoformat(timespec="milliseconds")[:23]
