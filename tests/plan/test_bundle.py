"""The parts of a planned view that are worked out from others; how one is made is tested where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import pytest
from msgspec.structs import replace

from headwater.plan import (
    PlanBundle,
    PlanFinding,
    PlannedColumn,
    PlannedInput,
    PlanText,
    ScanUnit,
    makes_fresh_rows,
    parts_of,
)
from headwater.plan.bundle import scan_unit_key
from headwater.plan.dependence import ColumnPath, Dependence
from headwater.plan.fingerprint import Fingerprint
from headwater.plan.lineage import ColumnLineage, ViewLineage

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

DEPENDENCE = Dependence(ColumnPath("orders", ("who", "name")), "value")
BUNDLE = PlanBundle(
    view="v<1>",
    file="views/v.sql",
    line=3,
    language="sql",
    stored=True,
    plan=b"\x00plan",
    plan_digest="p",
    analysed=PlanText(text="[a#1 long]\nProject [a#1]\n+- orders [a#1 long]\n"),
    optimised=PlanText(error="HW-PLAN-003 Spark cannot"),
    columns=(PlannedColumn(name="a & b", type="long", semantic_type="NodeId"),),
    settings={"spark.sql.ansi.enabled": "true"},
    function_digest="f",
    functions=(),
    tags=("id",),
    inputs=(PlannedInput(name="orders", kind="pin", identity="i", version=4),),
    gates={"orders": {"min_reader_version": 2}},
    policy={},
    lineage=ViewLineage(
        view="v<1>",
        columns=(ColumnLineage(name="a & b", dependences=(DEPENDENCE,)),),
        rows=(),
        datasets=("orders",),
    ),
    scans=(
        ScanUnit(
            key=scan_unit_key("orders", 4),
            dataset="orders",
            version=4,
            candidate_files=120,
            candidate_bytes=900,
            kept_files=3,
            kept_bytes=14,
        ),
    ),
    fingerprint=Fingerprint(code="c", functions="f", settings="s", policies="p", inputs="i"),
)


def test_a_bundle_has_one_form_in_json(snapshot: SnapshotAssertion) -> None:
    content = msgspec.json.format(msgspec.json.encode(BUNDLE, order="sorted"), indent=2).decode()
    assert content == snapshot
    assert msgspec.json.decode(content, type=PlanBundle) == BUNDLE


def test_a_bundle_has_one_form_in_messagepack(snapshot: SnapshotAssertion) -> None:
    content = msgspec.msgpack.encode(BUNDLE, order="sorted")
    assert content.hex() == snapshot
    assert msgspec.msgpack.decode(content, type=PlanBundle) == BUNDLE


def test_the_schema_of_a_bundle(snapshot: SnapshotAssertion) -> None:
    assert msgspec.json.schema(PlanBundle) == snapshot


def test_something_else_is_no_bundle() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"view": "v"}', type=PlanBundle)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(BUNDLE)[:-1] + b',"more":1}', type=PlanBundle)


def test_keys_name_a_view_by_its_fingerprint_and_a_scan_by_its_version() -> None:
    assert BUNDLE.key == f"view::v<1>::{BUNDLE.fingerprint.digest}"
    assert replace(BUNDLE, line=8).key == BUNDLE.key
    assert BUNDLE.scans[0].key == "scan::orders::4"
    assert BUNDLE.required == {"orders": ("who.name",)}


def test_a_bundle_in_a_notebook_shows_columns_and_escapes_names(snapshot: SnapshotAssertion) -> None:
    shown = BUNDLE._repr_html_()
    assert "v<1>" not in shown
    assert shown == snapshot


def test_a_plan_that_is_not_there_says_why() -> None:
    assert BUNDLE.optimised is not None
    assert BUNDLE.optimised.error == "HW-PLAN-003 Spark cannot"
    assert BUNDLE.optimised.text == ""
    assert BUNDLE.dot.count("->") == 1


def test_the_parts_of_a_view_are_found_once_and_stored_ones_are_none() -> None:
    reads = {
        "top": ("left", "table", "right"),
        "left": ("deep",),
        "right": ("deep", "gone"),
        "table": ("deep",),
    }
    bundles = {name: reading(name, *reads.get(name, ())) for name in (*reads, "deep")}
    assert [each.view for each in parts_of(bundles["top"], bundles)] == ["top", "left", "deep", "right"]
    assert [each.view for each in parts_of(bundles["deep"], bundles)] == ["deep"]


def test_a_clock_deep_inside_a_view_makes_its_rows_others_in_every_run() -> None:
    clock = PlanFinding(code="HW-DET-001", rule="clock", severity="allow", detail="now()")
    bundles = {"inner": replace(reading("inner"), findings=(clock,)), "between": reading("between", "inner")}
    assert makes_fresh_rows(reading("top", "between"), bundles)
    assert not makes_fresh_rows(reading("top", "table"), {**bundles, "table": bundles["inner"]})


def reading(view: str, *names: str) -> PlanBundle:
    """A view that reads some others; what is called `table` is stored."""
    kinds: dict[str, Literal["slot", "view"]] = {"table": "slot"}
    inputs = [PlannedInput(name=each, kind=kinds.get(each, "view"), identity=each) for each in names]
    return replace(BUNDLE, view=view, inputs=tuple(inputs))
