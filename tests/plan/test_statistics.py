from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec
import pytest
from pyspark.sql.types import ArrayType, MapType, StringType, StructType, VariantType

from headwater.delta import layout
from headwater.plan import analysed_tree, empty_relation, lineage_of, statistics
from headwater.plan.bundle import PlanBundle, PlanText
from headwater.plan.dependence import ColumnPath, Dependence
from headwater.plan.fingerprint import Fingerprint
from headwater.plan.lineage import ColumnLineage, ViewLineage
from headwater.plan.statistics import StatisticsDecision, statistics_of
from headwater.policies import WritePolicy, write_policy

if TYPE_CHECKING:
    from headwater.plan.dependence import Kind
    from headwater.runtime import RunSession

HOME = StructType().add("city", "string").add("tags", ArrayType(StringType()))
EVENTS = (
    StructType()
    .add("id", "integer")
    .add("day", "date")
    .add("kind", "string")
    .add("ok", "boolean")
    .add("blob", "binary")
    .add("items", ArrayType(StructType().add("sku", "string")))
    .add("props", MapType(StringType(), StringType()))
    .add("who", StructType().add("id", "integer").add("home", HOME))
    .add("any", VariantType())
)
SMALL = StructType().add("x", "integer")


def used(text: str) -> Dependence:
    """A dependence, written as `dataset.column.field kind`; with a `?` only whether it is there matters."""
    path, kind = text.split(" ")
    dataset, *parts = path.removesuffix("?").split(".")
    return Dependence(ColumnPath(dataset, tuple(parts), not path.endswith("?")), cast("Kind", kind))


def planned(view: str, *rows: str, stored: bool = True, **columns: str) -> PlanBundle:
    """A view by what decides about its rows, and by what each column is made from."""
    lineage = ViewLineage(
        view=view,
        columns=tuple(
            ColumnLineage(name=name, dependences=tuple(used(each) for each in uses.split(", ")))
            for name, uses in columns.items()
        ),
        rows=tuple(used(each) for each in rows),
        datasets=(),
    )
    return PlanBundle(
        view=view,
        file="v.py",
        line=1,
        language="python",
        stored=stored,
        plan=b"",
        plan_digest="",
        analysed=PlanText(),
        columns=(),
        settings={},
        function_digest="",
        functions=(),
        tags=(),
        inputs=(),
        gates={},
        policy={},
        lineage=lineage,
        fingerprint=Fingerprint(code="", functions="", settings="", policies="", inputs=""),
    )


def decided(*readers: PlanBundle, policy: WritePolicy | None = None) -> StatisticsDecision:
    """The decision for a stored table `events` with some readers."""
    bundles = [planned("events"), *readers]
    schemas = {each.view: EVENTS if each.view == "events" else SMALL for each in bundles if each.stored}
    found = statistics_of(bundles, {"Events": policy} if policy else {}, schemas)
    assert [each.dataset_name for each in found] == sorted(schemas)
    return next(each for each in found if each.dataset_name == "events")


def test_filters_come_before_joins_before_orders_before_the_rest() -> None:
    found = decided(
        planned("v", "events.day filter", "events.kind join", x="events.id value, events.who.id window")
    )
    assert found.lineage_columns == ("day", "kind", "who.id", "id")
    assert found.stats_columns == found.lineage_columns
    assert found.stats_policy == "auto"


def test_the_most_useful_of_several_uses_counts() -> None:
    found = decided(
        planned("v", "EVENTS.day group", x="events.id value, events.day value"),
        planned("w", "events.DAY filter", x="events.kind subquery"),
    )
    assert found.lineage_columns == ("day", "kind", "id")


def test_of_one_use_more_readers_come_first_then_the_order_of_the_schema() -> None:
    found = decided(
        planned("a", "events.id filter", "events.kind filter", "events.day filter"),
        planned("b", "events.kind filter", "events.id value"),
    )
    assert found.lineage_columns == ("kind", "id", "day")


def test_a_table_that_nobody_reads_is_left_to_delta() -> None:
    assert decided() == StatisticsDecision(dataset_name="events", stats_policy="auto")


@pytest.mark.parametrize("column", ["ok", "blob", "items", "props", "any", "items.element.sku", "props.key"])
def test_what_has_no_range_is_left_out(column: str) -> None:
    assert decided(planned("v", f"events.{column} filter")).lineage_columns == ()


def test_a_struct_as_a_whole_stands_for_its_fields_with_a_range() -> None:
    assert decided(planned("v", x="events.who value")).lineage_columns == ("who.id", "who.home.city")
    assert decided(planned("v", x="events.who? value")).lineage_columns == ()
    assert decided(planned("v", "events.day? filter")).lineage_columns == ("day",)


def test_no_more_than_the_cap_and_the_policys_own_first() -> None:
    reader = planned("v", "events.day filter", "events.who.home.city join", x="events.id value")
    capped = decided(reader, policy=write_policy(stats_max_columns=2))
    assert capped.stats_columns == ("day", "who.home.city")
    assert capped.lineage_columns == ("day", "who.home.city", "id")
    own = write_policy(stats_columns=["KIND"], zorder_by=["id"], stats_max_columns=3)
    assert decided(reader, policy=own).stats_columns == ("kind", "id", "day")
    clustered = write_policy(cluster_by=["id", "kind"], stats_max_columns=1)
    assert decided(reader, policy=clustered).stats_columns == ("id", "kind")


def test_folders_need_no_range() -> None:
    found = decided(
        planned("v", "events.day filter", "events.kind filter"), policy=write_policy(partition_by=["DAY"])
    )
    assert found.lineage_columns == found.stats_columns == ("kind",)


def test_a_policy_that_decides_itself_is_left_to_it() -> None:
    reader = planned("v", "events.day filter")
    explicit = decided(reader, policy=write_policy(stats_policy="explicit", stats_columns=["id"]))
    assert (explicit.stats_columns, explicit.lineage_columns) == (("id",), ("day",))
    off = decided(reader, policy=write_policy(stats_policy="off"))
    assert (off.stats_policy, off.stats_columns, off.lineage_columns) == ("off", (), ("day",))


def test_uses_reach_through_views_that_are_not_stored() -> None:
    recent = planned(
        "recent",
        "events.day filter",
        stored=False,
        k="events.kind value",
        n="events.id value, events.kind filter",
        w="events.who value",
    )
    again = planned("again", stored=False, k2="recent.k value", n="recent.n value", w="recent.w value")
    found = decided(recent, again, planned("v", "again.K2 filter", "again.w.home.city join"))
    assert found.lineage_columns == ("kind", "day", "who.home.city", "id", "who.id")


def test_uses_end_at_a_view_that_is_stored() -> None:
    found = decided(planned("kept", x="events.kind value"), planned("v", "kept.x filter"))
    assert found.lineage_columns == ("kind",)
    found = decided(
        planned("kept", x="events.kind group"), planned("v", "kept.x filter", y="events.id group")
    )
    assert found.lineage_columns == ("id", "kind")


def test_a_field_of_what_was_made_from_a_column_is_the_column() -> None:
    packed = planned("packed", stored=False, s="events.kind value")
    assert decided(packed, planned("v", "packed.s.inner filter")).lineage_columns == ("kind",)


def test_the_decision_for_every_stored_view_by_name() -> None:
    bundles = [planned("b", "a.x filter"), planned("a"), planned("u", stored=False)]
    found = statistics_of(bundles, {}, {"a": SMALL, "b": SMALL})
    assert [(each.dataset_name, each.lineage_columns) for each in found] == [("a", ("x",)), ("b", ())]


def test_the_types_without_a_range_are_those_of_storage() -> None:
    assert statistics._WITHOUT_RANGE == layout._WITHOUT_RANGE


def test_the_lineage_of_real_plans_decides(session: RunSession) -> None:
    empty_relation(session, EVENTS, "events").createOrReplaceTempView("events")
    queries = {
        "recent": "SELECT id, day AS d, who FROM events WHERE who.home.city IS NOT NULL",
        "daily": "SELECT d, count(DISTINCT who.id) AS n FROM recent WHERE d > DATE'2026-01-01' GROUP BY d",
    }
    readers: list[PlanBundle] = []
    for name, sql in queries.items():
        frame = session.spark.sql(sql)
        lineage = lineage_of(analysed_tree(frame), name)
        readers.append(msgspec.structs.replace(planned(name, stored=name == "daily"), lineage=lineage))
        frame.createOrReplaceTempView(name)
    assert decided(*readers).lineage_columns == ("day", "who.home.city", "who.id", "id")
