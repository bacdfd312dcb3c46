from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from openlineage.client.event_v2 import RunState
from openlineage.client.serde import Serde
from openlineage_forms import check_event

from headwater.plan import Dependence, ViewLineage
from headwater.plan.dependence import KINDS, ColumnPath
from headwater.plan.lineage import ColumnLineage
from headwater.run.lineage_events import (
    Counted,
    EventDataset,
    EventJob,
    EventRun,
    build_run_event,
    build_table_event,
)

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent
    from syrupy.assertion import SnapshotAssertion

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RUN = EventRun(
    namespace="shop",
    project="orders",
    run_id="20260102T030405000000Z-00000001",
    started_at=AT.isoformat(),
    spark="4.2.0",
    headwater="0.0.0",
)
ORDERS = EventDataset(
    name="orders",
    namespace="file",
    path="/lake/orders",
    version="7",
    columns=(("id", "long"), ("who", "struct<name:string>")),
    is_delta=True,
    counted=Counted(rows=3, bytes=1200, files=2),
)
RATES = EventDataset(name="rates", namespace="shop", path="orders.rates", version="sha")
LINEAGE = ViewLineage(
    view="totals",
    columns=(
        ColumnLineage(
            name="name",
            dependences=(
                Dependence(ColumnPath("Orders", ("who", "name")), "value"),
                Dependence(ColumnPath("orders", ("who", "name")), "group"),
                Dependence(ColumnPath("rates", ("rate",)), "subquery"),
                Dependence(ColumnPath("rates", ("rate",)), "order"),
            ),
        ),
        ColumnLineage(name="one", dependences=()),
    ),
    rows=(
        Dependence(ColumnPath("orders", ("id",)), "filter"),
        Dependence(ColumnPath("orders", ("id",)), "join"),
        Dependence(ColumnPath("rates", ("day",)), "subquery"),
        Dependence(ColumnPath("rates", ("day", "at")), "window"),
    ),
    datasets=("orders", "rates"),
)
TOTALS = EventDataset(
    name="totals",
    namespace="file",
    path="/lake/totals",
    version="1",
    columns=(("name", "string"), ("one", "integer")),
    is_delta=True,
    counted=Counted(rows=2, bytes=800, files=1),
    content="hw2:2:b0c1",
)
JOB = EventJob(
    file="views/a b.sql",
    line=3,
    sql="SELECT 1",
    inputs=(ORDERS, RATES),
    output=TOTALS,
    lineage=LINEAGE,
)


def document(event: RunEvent) -> dict[str, Any]:
    return json.loads(Serde.to_json(event))


def test_the_events_of_a_run(snapshot: SnapshotAssertion) -> None:
    events = [
        build_run_event(RUN, RunState.START, AT),
        build_table_event(RUN, JOB, RunState.START, AT),
        build_table_event(RUN, JOB, RunState.FAIL, AT, "HW-X it went wrong"),
        build_run_event(RUN, RunState.FAIL, AT, "totals: HW-X it went wrong"),
    ]
    for event in events:
        check_event(document(event))
    assert [document(event) for event in events] == snapshot


def test_a_table_has_the_run_as_its_parent_and_as_its_root() -> None:
    run, table = build_run_event(RUN, RunState.START, AT), build_table_event(RUN, JOB, RunState.START, AT)
    parent = document(table)["run"]["facets"]["parent"]
    assert parent["run"]["runId"] == parent["root"]["run"]["runId"] == run.run.runId != table.run.runId
    assert parent["job"] == parent["root"]["job"] == {"namespace": "shop", "name": "orders", "facets": {}}


def test_ids_are_those_of_the_run_whenever_they_are_asked_for_and_sort_by_time() -> None:
    later = replace(RUN, started_at=(AT + timedelta(seconds=1)).isoformat())
    elsewhere = replace(RUN, started_at=AT.astimezone().isoformat(), namespace="other")
    other = replace(RUN, run_id="20260102T030405000000Z-00000002")
    assert RUN.uuid() == elsewhere.uuid()
    assert len({each.uuid(name) for each in (RUN, later, other) for name in (None, "a", "b")}) == 9
    assert RUN.uuid() < later.uuid()
    assert UUID(RUN.uuid("a")).version == 7


def test_a_column_is_told_once_with_all_that_is_done_with_it() -> None:
    facets = document(build_table_event(RUN, JOB, RunState.START, AT))["outputs"][0]["facets"]
    lineage = facets["columnLineage"]
    assert list(lineage["fields"]) == ["name"]
    first, second = lineage["fields"]["name"]["inputFields"]
    assert (first["name"], first["field"]) == ("/lake/orders", "who.name")
    assert first["transformations"] == [{"type": "INDIRECT", "subtype": "GROUP_BY"}, {"type": "DIRECT"}]
    assert second["transformations"] == [{"type": "INDIRECT", "subtype": "SORT"}]
    assert [(each["field"], each["transformations"]) for each in lineage["dataset"]] == [
        ("id", [{"type": "INDIRECT", "subtype": "FILTER"}, {"type": "INDIRECT", "subtype": "JOIN"}]),
        ("day", [{"type": "INDIRECT"}]),
        ("day.at", [{"type": "INDIRECT", "subtype": "WINDOW"}]),
    ]


NAMES = st.text(min_size=1, max_size=8)
PATHS = st.builds(ColumnPath, st.sampled_from(["orders", "rates", "gone"]), st.tuples(NAMES), st.booleans())
DEPENDENCES = st.lists(st.builds(Dependence, PATHS, st.sampled_from(KINDS)), max_size=4).map(tuple)


@given(
    rows=DEPENDENCES,
    columns=st.dictionaries(NAMES, DEPENDENCES, max_size=4),
    counted=st.none() | st.builds(Counted, rows=st.none() | st.integers(0), bytes=st.none() | st.integers(0)),
    sql=st.none() | st.text(),
    file=NAMES,
)
def test_whatever_is_known_gives_an_event_of_the_right_form(
    rows: tuple[Dependence, ...],
    columns: dict[str, tuple[Dependence, ...]],
    counted: Counted | None,
    sql: str | None,
    file: str,
) -> None:
    lineage = ViewLineage(
        view="totals",
        columns=tuple(ColumnLineage(name=name, dependences=those) for name, those in columns.items()),
        rows=rows,
        datasets=("orders", "rates"),
    )
    output = replace(TOTALS, counted=counted, columns=tuple((name, "long") for name in columns))
    job = replace(JOB, sql=sql, file=file, output=output, lineage=lineage)
    check_event(document(build_table_event(RUN, job, RunState.COMPLETE, AT)))
