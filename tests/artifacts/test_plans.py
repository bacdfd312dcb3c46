"""The plans of a run have one form on disk, and bytes that are not one are a typed error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from headwater.artifacts import PlanBasis, commit_plans, encode_plans, read_plans, read_schedule
from headwater.artifacts.plans import PlansRecord
from headwater.errors import ManifestUnreadable, WarehouseNotWritable
from headwater.plan import (
    Fingerprint,
    OperatorMetrics,
    PlanBundle,
    PlanChange,
    PlanFinding,
    PlannedColumn,
    PlannedFunction,
    PlannedInput,
    PlanText,
    ScanUnit,
    SemanticTypes,
    StatisticsDecision,
)
from headwater.plan.agreement import METADATA_KEY, SemanticCheck, SemanticColumn
from headwater.plan.dependence import ColumnPath, Dependence
from headwater.plan.lineage import ColumnLineage, ViewLineage
from headwater.run import PlannedView

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

RUN = "20260102T030405000000Z-00000001"
AMOUNT = ColumnPath("orders", ("amount",))
WHOLE = PlanBundle(
    view="totals",
    file="views/totals.sql",
    line=1,
    language="sql",
    stored=True,
    plan=b"\x00\xff plan",
    plan_digest="p1",
    analysed=PlanText(text="[eur#1 double]\norders [amount#1 double]\n"),
    optimised=PlanText(text="[eur#1 double]\nLogicalRelation orders@3\n"),
    physical=PlanText(error="HW-PLAN-005 it cannot be planned"),
    columns=(PlannedColumn(name="eur", type="double", semantic_type="euro"),),
    settings={"spark.sql.ansi.enabled": "true"},
    function_digest="f1",
    functions=(PlannedFunction(name="stable_id", digest="f2"),),
    tags=("hash", "id"),
    inputs=(
        PlannedInput(name="orders", kind="pin", identity="i1", version=3),
        PlannedInput(name="paid", kind="view", identity="i2"),
    ),
    gates={"orders": {"min_reader_version": 1}},
    policy={"cluster_by": ["eur"]},
    semantics=(SemanticCheck(rule="compared", column_name="eur", semantic_type="euro"),),
    lineage=ViewLineage(
        view="totals",
        columns=(ColumnLineage(name="eur", dependences=(Dependence(AMOUNT, "value"),)),),
        rows=(Dependence(ColumnPath("orders", ("who", "a.b"), whole=False), "filter"),),
        datasets=("orders", "paid"),
    ),
    scans=(
        ScanUnit(
            key="scan::orders::3",
            dataset="orders",
            version=3,
            candidate_files=120,
            candidate_bytes=900,
            kept_files=3,
            kept_bytes=14,
            kept_rows=None,
            used_filters=("(id > 3L)",),
            unused_filters=("(length(word) = 2)",),
            columns=("amount", "who.`a.b`"),
        ),
    ),
    findings=(
        PlanFinding(
            code="HW-DET-013",
            rule="float-aggregate",
            severity="warn",
            detail="sums amount",
            approximate=("eur",),
        ),
    ),
    approximate=("eur",),
    fingerprint=Fingerprint(code="c", functions="f", settings="s", policies="p", inputs="i"),
)
SMALL = msgspec.structs.replace(
    WHOLE, view="all", stored=False, optimised=None, physical=None, semantics=(), scans=(), findings=()
)


class JsonFile(SingleFileSnapshotExtension):
    _write_mode = WriteMode.BINARY
    file_extension = "json"


class HexFile(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "hex"


def test_plans_have_one_form_whatever_order_they_come_in(snapshot: SnapshotAssertion) -> None:
    content = encode_plans([WHOLE, SMALL])
    assert msgspec.json.format(content, indent=2) == snapshot(extension_class=JsonFile, name="plans")
    assert content == encode_plans(iter([SMALL, WHOLE]))
    assert content.endswith(b"}\n")


def test_a_bundle_has_one_form_in_messagepack(snapshot: SnapshotAssertion) -> None:
    content = msgspec.msgpack.encode(WHOLE, order="sorted")
    assert content.hex("\n", -32) == snapshot(extension_class=HexFile, name="bundle")
    assert msgspec.msgpack.decode(content, type=PlanBundle) == WHOLE


def test_plans_have_a_schema(snapshot: SnapshotAssertion) -> None:
    schema = msgspec.json.encode(msgspec.json.schema(PlansRecord), order="sorted")
    assert msgspec.json.format(schema, indent=2) == snapshot(extension_class=JsonFile, name="schema")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = commit_plans(tmp_path, RUN, [WHOLE, SMALL])
    assert path == tmp_path / "runs" / RUN / "plans.json"
    assert read_plans(tmp_path, RUN) == {"all": SMALL, "totals": WHOLE}
    assert [each.name for each in path.parent.iterdir()] == ["plans.json"]
    assert path.read_bytes() == encode_plans([SMALL, WHOLE])


def test_a_run_without_plans_has_none(tmp_path: Path) -> None:
    assert read_plans(tmp_path, RUN) == {}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"schema_version": 1}',
        b'{"plans": [{"view": 3}]}',
        encode_plans([SMALL])[:-9],
        encode_plans([SMALL]).replace(b'"stored":false', b'"stored":"no"'),
        encode_plans([SMALL]).replace(b'"stored":', b'"unknown":1,"stored":'),
    ],
)
def test_other_bytes_are_a_typed_error(tmp_path: Path, content: bytes) -> None:
    path = commit_plans(tmp_path, RUN, [SMALL])
    path.write_bytes(content)
    with pytest.raises(ManifestUnreadable) as caught:
        read_plans(tmp_path, RUN)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("version", [0, 2])
def test_plans_of_another_form_say_which(tmp_path: Path, version: int) -> None:
    path = commit_plans(tmp_path, RUN, [SMALL])
    document = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode({**document, "schema_version": version, "later": []}))
    with pytest.raises(ManifestUnreadable) as caught:
        read_plans(tmp_path, RUN)
    assert caught.value.detail == f"it has schema version {version}, and this Headwater reads version 1"


def test_what_cannot_be_opened_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "runs" / RUN / "plans.json").mkdir(parents=True)
    with pytest.raises(ManifestUnreadable):
        read_plans(tmp_path, RUN)
    with pytest.raises(WarehouseNotWritable):
        commit_plans(tmp_path, RUN, [SMALL])


def test_a_bundle_in_a_notebook_has_no_names_that_act() -> None:
    odd = "<script>alert('x')</script>&"
    dangerous = msgspec.structs.replace(
        WHOLE,
        view=odd,
        file=odd,
        columns=(PlannedColumn(name=odd, type=odd),),
        inputs=(PlannedInput(name=odd, kind="pin", identity="i", version=1),),
        analysed=PlanText(text=odd),
        lineage=ViewLineage(
            view=odd,
            columns=(ColumnLineage(name=odd, dependences=(Dependence(ColumnPath(odd, (odd,)), "value"),)),),
            rows=(),
            datasets=(odd,),
        ),
    )
    shown = dangerous._repr_html_()
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;") == 8
    assert "reads nothing" in msgspec.structs.replace(WHOLE, inputs=())._repr_html_()


# What else is told about plans, each with every field filled.
TOLD: tuple[msgspec.Struct, ...] = (
    PlanChange(view="totals", kind="input", name="orders", before="version 7", after="version 9"),
    OperatorMetrics(depth=1, operator="Filter", metrics={"numOutputRows": 3}),
    StatisticsDecision(
        dataset_name="totals", stats_policy="auto", stats_columns=("eur",), lineage_columns=("eur", "day")
    ),
    SemanticTypes(
        view="totals",
        columns=(SemanticColumn(column_name="eur", semantic_type="euro", metadata_key=METADATA_KEY),),
        validations=WHOLE.semantics,
    ),
    PlannedView(
        name="totals",
        file="views/totals.sql",
        line=1,
        stored=True,
        action="built",
        reason="changed input",
        changes=("input 'orders' was version 7, is version 9",),
        mode_reason="every refresh makes the whole table",
        reads=("orders",),
        files_kept=3,
        files_total=120,
        bytes_kept=14,
        bytes_total=900,
        scans=WHOLE.scans,
        findings=WHOLE.findings,
        key="view::totals::d",
    ),
)


@pytest.mark.parametrize("value", TOLD, ids=lambda value: type(value).__name__)
def test_what_is_told_of_plans_has_one_form_and_a_schema(
    value: msgspec.Struct, snapshot: SnapshotAssertion
) -> None:
    for form in (msgspec.json, msgspec.msgpack):
        assert form.decode(form.encode(value), type=type(value)) == value
        with pytest.raises(msgspec.ValidationError):
            form.decode(form.encode({**msgspec.to_builtins(value), "more": 1}), type=type(value))
    assert msgspec.json.encode(value, order="sorted").decode() == snapshot(name="json")
    assert msgspec.msgpack.encode(value, order="sorted").hex() == snapshot(name="msgpack")
    assert msgspec.json.schema(type(value)) == snapshot(name="schema")


def test_what_plans_were_made_of_is_kept_beside_them(tmp_path: Path) -> None:
    basis = PlanBasis(definitions="d", sources={"orders": "c"})
    commit_plans(tmp_path, RUN, [SMALL], basis=basis)
    assert read_schedule(tmp_path, RUN).basis == basis
    commit_plans(tmp_path, "other", [SMALL])
    assert read_schedule(tmp_path, "other").basis is None
