from __future__ import annotations

import json
import re
from dataclasses import fields
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.digest import digest_of
from headwater.errors import InvalidSetting
from headwater.policies import (
    FEATURE_PRESETS,
    SEMANTIC_TYPES,
    VIEW_CACHE_POLICIES,
    WriteKeywords,
    WritePolicy,
    view_cache_of,
    write_choices_of,
    write_policy_of,
)

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "configuration.md"
LISTS = (
    "partition_by",
    "zorder_by",
    "cluster_by",
    "order_by",
    "stats_columns",
    "enable_features",
    "not_null",
)
MAPPINGS = ("bloom_filters", "dictionary", "properties", "constraints", "semantic_types")


def refused(wrong: dict[str, object]) -> InvalidSetting:
    """The error that both ways to make a policy give."""
    with pytest.raises(InvalidSetting) as caught:
        WritePolicy(**wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidSetting) as again:
        write_policy_of(wrong)
    assert str(again.value) == str(caught.value)
    assert again.value.exit_code == 2
    return again.value


# --- what people write ---


def test_nothing_said_is_deltas_default() -> None:
    assert write_policy_of({}) == WritePolicy()
    assert WritePolicy().identity() == {}


def test_a_policy_is_read_as_people_write_it() -> None:
    written: WriteKeywords = {
        "target_file_size": "64 MB",
        "partition_by": "country",
        "order_by": ["b", "a"],
        "stats_policy": "explicit",
        "stats_columns": ["b"],
        "stats_max_columns": 4,
        "enable_features": ["rowTracking", "incremental"],
        "schema_mode": "merge",
        "column_mapping_mode": "name",
        "bloom_filters": {"id": 1000},
        "dictionary": {"id": False, "country": True},
        "properties": {"delta.appendOnly": True, "delta.checkpointInterval": 5, "a": "b"},
        "constraints": {"paid": "amount >= 0"},
        "not_null": ["id"],
        "semantic_types": {"id": "NodeId"},
        "max_attempts": 5,
        "backoff_seconds": 2,
    }
    assert write_policy_of(dict(written)) == WritePolicy(
        target_file_size=64 << 20,
        partition_by=("country",),
        order_by=("b", "a"),
        stats_policy="explicit",
        stats_columns=("b",),
        stats_max_columns=4,
        enable_features=("incremental", "rowTracking"),
        schema_mode="merge",
        column_mapping_mode="name",
        bloom_filters=(("id", 1000),),
        dictionary=(("country", True), ("id", False)),
        properties=(("a", "b"), ("delta.appendOnly", "true"), ("delta.checkpointInterval", "5")),
        constraints=(("paid", "amount >= 0"),),
        not_null=("id",),
        semantic_types=(("id", "NodeId"),),
        max_attempts=5,
        backoff_seconds=2.0,
    )


def test_type_checkers_are_told_every_field() -> None:
    assert list(WriteKeywords.__annotations__) == [each.name for each in fields(WritePolicy)]


def test_every_field_is_documented_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    told = {(name, default.strip()) for name, default in rows}
    words: dict[object, str] = {None: "not set", (): "empty"}
    real = {(each.name, words.get(each.default, f"`{each.default}`")) for each in fields(WritePolicy)}
    assert real <= told


@pytest.mark.parametrize("key", ["partiton_by", "name", "files", ""])
@pytest.mark.parametrize("value", ["a", None])
def test_a_key_that_there_is_not_is_refused(key: str, value: object) -> None:
    with pytest.raises(InvalidSetting) as caught:
        write_policy_of({key: value})
    assert caught.value.key == key
    assert "partition_by" in caught.value.next_step


# --- sizes, numbers, choices ---


@pytest.mark.parametrize(
    ("written", "size"),
    [
        (1024, 1024),
        ("1024", 1024),
        ("1k", 1 << 10),
        ("64mb", 64 << 20),
        (" 64 MiB ", 64 << 20),
        ("2G", 2 << 30),
        ("4096b", 4096),
    ],
)
def test_a_size_is_a_number_or_has_a_unit(written: object, size: int) -> None:
    assert write_policy_of({"target_file_size": written}).target_file_size == size


@pytest.mark.parametrize(
    "wrong", ["", "mb", "64x", "4096i", "1.5g", "-64mb", "64mbb", "9" * 5000, 1.5, -1, True, ["64mb"]]
)
def test_what_is_no_size_is_refused(wrong: object) -> None:
    assert refused({"target_file_size": wrong}).key == "target_file_size"


@pytest.mark.parametrize("wrong", [0, 1023, "1023", "0g"])
def test_a_file_that_is_too_small_is_refused(wrong: object) -> None:
    assert refused({"target_file_size": wrong}).expected == "1024 bytes or more"


@pytest.mark.parametrize(
    ("key", "fine", "wrong"),
    [
        ("stats_policy", ["auto", "off"], ["none", "AUTO", "", True, ["auto"]]),
        ("schema_mode", ["merge", "overwrite"], ["append", 1]),
        ("column_mapping_mode", ["name", "id"], ["none", ("name",)]),
        ("stats_max_columns", [0, 32], [-1, "3", 1.0, True]),
        ("max_attempts", [1, 100], [0, 101, -1, "3", 1.5, True]),
        ("backoff_seconds", [0, 0.25, 600], [-0.1, 601, float("nan"), float("inf"), "1", True]),
    ],
)
def test_a_choice_has_its_bounds(key: str, fine: list[object], wrong: list[object]) -> None:
    for each in fine:
        assert getattr(write_policy_of({key: each}), key) == each
    for each in wrong:
        error = refused({key: each})
        assert (error.key, error.value) == (key, repr(each))


# --- columns and mappings ---


@pytest.mark.parametrize("key", LISTS)
def test_one_name_may_stand_alone(key: str) -> None:
    assert getattr(write_policy_of({key: "a"}), key) == ("a",)
    assert getattr(write_policy_of({key: ["a"]}), key) == ("a",)


@pytest.mark.parametrize("key", LISTS)
@pytest.mark.parametrize("wrong", ["", [""], ["a", 3], 3, {"a": "b"}, ["a", "A"], [["a"]]])
def test_what_is_no_list_of_names_is_refused(key: str, wrong: object) -> None:
    assert refused({key: wrong}).key == key


@pytest.mark.parametrize("key", ["partition_by", "zorder_by", "cluster_by", "order_by", "stats_columns"])
def test_the_order_of_columns_is_kept(key: str) -> None:
    assert getattr(write_policy_of({key: ["b", "a"]}), key) == ("b", "a")


@pytest.mark.parametrize(
    "written",
    [
        {"enable_features": ["b", "a", "c"]},
        {"not_null": ["b", "a", "c"]},
        {"bloom_filters": ["b", "a", "c"]},
        {"bloom_filters": {"b": 1, "a": 2, "c": 3}},
        {"dictionary": {"b": True, "a": False, "c": True}},
        {"properties": {"b": "1", "a": "2", "c": "3"}},
        {"constraints": {"b": "x > 0", "a": "x < 9", "c": "true"}},
        {"semantic_types": {"b": "NodeId", "a": "EdgeId", "c": "NodeId"}},
    ],
)
def test_where_order_means_nothing_it_is_no_part_of_the_identity(written: dict[str, Any]) -> None:
    ((key, value),) = written.items()
    content: list[Any] = list(value.items()) if isinstance(value, dict) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    digests = {digest_of(write_policy_of({key: list(each)}).identity()) for each in permutations(content)}
    assert len(digests) == 1


def test_a_bloom_filter_finds_its_size_unless_it_is_told() -> None:
    for written in ("a", ["a"], {"a": 0}, [["a", 0]]):
        assert write_policy_of({"bloom_filters": written}).bloom_filters == (("a", 0),)


@pytest.mark.parametrize("key", MAPPINGS)
@pytest.mark.parametrize("wrong", [3, "", {"": "x"}, {"a": None}, {"a": "x", "A": "x"}, [["a"]], {3: "x"}])
def test_what_is_no_mapping_is_refused(key: str, wrong: object) -> None:
    assert refused({key: wrong}).key == key


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("bloom_filters", {"a": -1}),
        ("bloom_filters", {"a": True}),
        ("bloom_filters", {"a": "9"}),
        ("bloom_filters", ["a", 3]),
        ("bloom_filters", ["a", ["b", 3]]),
        ("bloom_filters", ["a", "A"]),
        ("dictionary", ["a"]),
        ("dictionary", ["ab"]),
        ("dictionary", {"a": "no"}),
        ("dictionary", {"a": 1}),
        ("properties", {"a": 1.5}),
        ("properties", {"a": ""}),
        ("properties", {"a": ["b"]}),
        ("properties", {"a": {"b": 1}, "A.b": 2}),
        ("constraints", {"a": " "}),
        ("constraints", {"a": True}),
        ("constraints", {"a b": "x > 0"}),
        ("constraints", {"1a": "x > 0"}),
        ("constraints", ["x > 0"]),
        ("semantic_types", {"a": "Node Id"}),
        ("semantic_types", {"a": ""}),
        ("semantic_types", {"a": 3}),
        ("semantic_types", ["ab"]),
    ],
)
def test_a_mapping_has_values_of_its_own_kind(key: str, wrong: object) -> None:
    assert refused({key: wrong}).key == key


def test_a_property_with_dots_is_one_name() -> None:
    dotted = write_policy_of({"properties": {"delta": {"log": {"days": 3}, "appendOnly": True}}})
    assert dotted.properties == (("delta.appendOnly", "true"), ("delta.log.days", "3"))


def test_a_column_may_mean_more_than_the_house_knows() -> None:
    for meaning in (*SEMANTIC_TYPES, "OrderId"):
        assert write_policy_of({"semantic_types": {"a": meaning}}).semantic_types == (("a", meaning),)


# --- fields together ---


@pytest.mark.parametrize("beside", ["partition_by", "zorder_by", "order_by"])
def test_clustering_stands_alone(beside: str) -> None:
    error = refused({"cluster_by": ["a"], beside: ["b"]})
    assert (error.key, error.value) == ("cluster_by", f"given with {beside}")


def test_rows_have_one_order() -> None:
    assert refused({"zorder_by": ["a"], "order_by": ["b"]}).key == "zorder_by"


@pytest.mark.parametrize("key", ["zorder_by", "order_by"])
def test_a_folders_column_orders_nothing_within_it(key: str) -> None:
    error = refused({"partition_by": ["a"], key: ["b", "A"]})
    assert (error.key, error.value) == (key, "'A', which is in partition_by")
    write_policy_of({"partition_by": ["a"], key: ["b"]})


def test_explicit_statistics_name_their_columns() -> None:
    assert refused({"stats_policy": "explicit"}).expected == "stats_columns with it"
    assert refused({"stats_policy": "off", "stats_columns": ["a"]}).key == "stats_policy"
    for policy in ("auto", "explicit"):
        write_policy_of({"stats_policy": policy, "stats_columns": ["a"]})


def test_only_what_has_no_default_may_be_none() -> None:
    assert WritePolicy(target_file_size=None, schema_mode=None, column_mapping_mode=None) == WritePolicy()
    for key in (*LISTS, *MAPPINGS, "stats_policy", "max_attempts", "backoff_seconds"):
        with pytest.raises(InvalidSetting):
            WritePolicy(**{key: None})  # pyright: ignore[reportArgumentType]


def test_a_preset_stands_for_its_features() -> None:
    policy = write_policy_of({"enable_features": ["rowTracking", "incremental", "typeWidening"]})
    assert policy.features() == (*FEATURE_PRESETS["incremental"], "typeWidening")
    assert WritePolicy().features() == ()


# --- one policy over another ---


def test_what_is_said_replaces_its_field_and_no_other() -> None:
    policy = write_policy_of({"partition_by": ["a"], "max_attempts": 9, "properties": {"x": "1"}})
    both = policy.overridden({"partition_by": ["b"], "properties": {"y": "2"}, "max_attempts": None})
    assert both == write_policy_of({"partition_by": ["b"], "properties": {"y": "2"}, "max_attempts": 9})
    assert policy.partition_by == ("a",)
    assert policy.overridden({}) == policy


def test_an_empty_list_takes_back_what_was_said() -> None:
    policy = write_policy_of({"zorder_by": ["a"]})
    with pytest.raises(InvalidSetting, match="zorder_by"):
        policy.overridden({"cluster_by": ["a"]})
    assert policy.overridden({"cluster_by": ["a"], "zorder_by": []}) == WritePolicy(cluster_by=("a",))


def test_choices_are_checked_by_themselves() -> None:
    written = {"stats_policy": "explicit", "target_file_size": "1k", "order_by": None}
    assert write_choices_of(written) == {"stats_policy": "explicit", "target_file_size": 1024}
    with pytest.raises(InvalidSetting, match="stats_policy"):
        write_choices_of({"stats_policy": "some"})


# --- what is recorded ---

WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
NAMES = st.lists(WORDS, unique=True, max_size=4).map(tuple)
TEXTS = st.text(min_size=1).filter(str.strip)


def mappings(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.dictionaries(WORDS, values, max_size=4).map(lambda found: tuple(found.items()))


ANY_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "target_file_size": st.none() | st.integers(1024, 1 << 40),
    "stats_max_columns": st.integers(0, 1000),
    "stats_columns": NAMES,
    "enable_features": NAMES,
    "schema_mode": st.sampled_from([None, "merge", "overwrite"]),
    "column_mapping_mode": st.sampled_from([None, "name", "id"]),
    "bloom_filters": mappings(st.integers(0, 1 << 40)),
    "dictionary": mappings(st.booleans()),
    "properties": mappings(TEXTS),
    "constraints": mappings(TEXTS),
    "not_null": NAMES,
    "semantic_types": mappings(st.from_regex(r"[A-Z][A-Za-z]{0,9}", fullmatch=True)),
    "max_attempts": st.integers(1, 100),
    "backoff_seconds": st.floats(0, 600),
}
LAYOUTS: tuple[dict[str, st.SearchStrategy[Any]], ...] = (
    {"cluster_by": NAMES},
    {"partition_by": NAMES},
    {"zorder_by": NAMES},
    {"order_by": NAMES},
    {"partition_by": st.just(("p-1", "p-2")), "order_by": NAMES},
)
POLICIES = st.one_of(
    *(st.fixed_dictionaries(each, optional=ANY_FIELDS).map(write_policy_of) for each in LAYOUTS)
)


@given(POLICIES)
def test_what_was_recorded_can_be_read_again(policy: WritePolicy) -> None:
    recorded = policy.identity()
    assert write_policy_of(recorded) == policy
    assert write_policy_of(json.loads(json.dumps(recorded))) == policy


@given(POLICIES, POLICIES)
def test_two_policies_that_differ_have_two_identities(one: WritePolicy, two: WritePolicy) -> None:
    assert (digest_of(one.identity()) == digest_of(two.identity())) == (one == two)


@pytest.mark.parametrize("policy", ["explicit", "off"])
def test_a_choice_of_statistics_is_recorded(policy: str) -> None:
    columns = ["b", "a"] if policy == "explicit" else []
    written = write_policy_of({"stats_policy": policy, "stats_columns": columns})
    assert written.identity()["stats_policy"] == policy
    assert write_policy_of(written.identity()) == written


def test_a_cache_policy_is_one_of_three() -> None:
    assert [view_cache_of(each) for each in VIEW_CACHE_POLICIES] == ["none", "memory", "delta_staging"]
    for wrong in ("Memory", "", None, True, ["memory"], {"a": 1}):
        with pytest.raises(InvalidSetting, match="setting 'paid' cannot be") as caught:
            view_cache_of(wrong, "paid")
        assert caught.value.expected == "one of none, memory, delta_staging"
