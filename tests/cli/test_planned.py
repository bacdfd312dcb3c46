"""Plans, lineage and explanations as lines and documents, without anything behind them."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cli.planned import (
    explanation_document,
    explanation_lines,
    lineage_document,
    lineage_lines,
    plan_document,
    plan_lines,
)
from headwater.plan import (
    Edge,
    Fingerprint,
    OperatorMetrics,
    PlanBundle,
    PlanFinding,
    PlannedFixpoint,
    PlannedInput,
    PlanText,
    ScanUnit,
)
from headwater.plan.lineage import ViewLineage
from headwater.run import Explanation, PlannedView, ProjectPlan

MEGA = 1024 * 1024


def view(name: str, **fields: Any) -> PlannedView:
    said: dict[str, Any] = {"stored": True, "action": "skipped", "reason": "up to date", **fields}
    return PlannedView(name=name, file="views/v.sql", line=1, **said)


def plan_of(*views: PlannedView) -> ProjectPlan:
    return ProjectPlan(views=views, bundles={})


def scan(kept: tuple[int, int], total: tuple[int, int]) -> ScanUnit:
    return ScanUnit(
        key="scan::orders::3",
        dataset="orders",
        version=3,
        kept_files=kept[0],
        kept_bytes=kept[1],
        candidate_files=total[0],
        candidate_bytes=total[1],
    )


def bundle(**fields: Any) -> PlanBundle:
    said: dict[str, Any] = {"settings": {}, "gates": {}, "policy": {}, "inputs": (), **fields}
    return PlanBundle(
        view="facts",
        file="views/facts.sql",
        line=3,
        language="sql",
        stored=True,
        plan=b"",
        plan_digest="",
        analysed=PlanText(text="facts []\n+- orders\n"),
        columns=(),
        function_digest="",
        functions=(),
        tags=(),
        lineage=ViewLineage(view="facts", columns=(), rows=(), datasets=()),
        fingerprint=Fingerprint(code="c", functions="f", settings="s", policies="p", inputs="i"),
        **said,
    )


def test_a_plan_has_a_line_for_each_view_and_what_belongs_to_it_below() -> None:
    finding = PlanFinding(code="HW-DET-013", rule="float-aggregate", severity="warn", detail="sums x")
    views = (
        view(
            "paid",
            stored=False,
            action="inlined",
            reason="not stored",
            reads=("orders",),
            changes=("x",),
            cache="memory",
        ),
        view(
            "facts",
            action="built",
            reason="changed plan",
            reads=("paid", "rates"),
            changes=("its plan changed at Filter",),
            scans=(scan((3, 14 * MEGA), (120, 900 * MEGA)),),
            findings=(finding,),
        ),
        view("totals", reads=("facts", "paid")),
        view("alone", stored=False, action="inlined", reason="not stored", reads=()),
    )
    assert list(plan_lines(plan_of(*views))) == [
        "+ facts  built: changed plan, reads paid, rates",
        "    its plan changed at Filter",
        "    orders@3: reads 3 of 120 files, 14 of 900 MB",
        "    warn HW-DET-013: sums x",
        "  · paid  inlined: not stored, cache memory, reads orders",
        "      x",
        "= totals  skipped: up to date, reads facts, paid",
        "  · paid  inlined: not stored …",
        "· alone  inlined: not stored",
        "1 of 2 tables would be made.",
    ]


@pytest.mark.parametrize(
    ("kept", "total", "words"),
    [
        ((0, 0), (0, 0), "reads 0 of 0 files, 0 of 0 B"),
        ((1, 1023), (1, 1023), "reads 1 of 1 file, 1023 of 1023 B"),
        ((1, 512), (2, 1024), "reads 1 of 2 files, 0.5 of 1 kB"),
        ((2, 3 * 1024 * MEGA), (2, 5 * 1024**2 * MEGA), "reads 2 of 2 files, 0 of 5 TB"),
        ((1, 1024**3 * MEGA), (1, 9 * 1024**3 * MEGA), "reads 1 of 1 file, 1024 of 9216 TB"),
    ],
)
def test_sizes_are_in_the_unit_of_the_greater(
    kept: tuple[int, int], total: tuple[int, int], words: str
) -> None:
    lines = list(plan_lines(plan_of(view("a", action="built", scans=(scan(kept, total),)))))
    assert lines[1].strip() == f"orders@3: {words}"


def test_one_table_and_none_are_counted_as_people_count() -> None:
    assert list(plan_lines(plan_of()))[-1] == "Nothing to do: 0 tables are up to date."
    assert list(plan_lines(plan_of(view("a"))))[-1] == "Nothing to do: 1 table is up to date."
    assert list(plan_lines(plan_of(view("a", action="built"))))[-1] == "1 of 1 table would be made."


def test_a_plan_for_a_program_has_every_field_of_the_contract() -> None:
    document = plan_document(plan_of(view("a", action="built", mode="full", mode_reason="why")))
    assert (document["status"], document["generations"], document["critical_path"]) == ("work", [], [])
    (only,) = document["views"]
    promised = {"action", "reason", "mode", "mode_reason"}
    promised |= {"files_kept", "files_total", "bytes_kept", "bytes_total"}
    assert promised <= set(only)
    assert plan_document(plan_of(view("a")))["status"] == "unchanged"


# --- lineage -------------------------------------------------------------------------------------------

EDGES = (
    Edge("orders", "amount", "Paid", "Amount", "value"),
    Edge("orders", "amount", "Paid", "Amount", "filter"),
    Edge("orders", "who.name", "Paid", "a.b", "value"),
    Edge("Paid", "amount", "facts", "eur", "value"),
    Edge("paid", "`a.b`", "facts", "eur", "join"),
    Edge("paid", "AMOUNT", "facts", "rank", "window"),
    Edge("facts", "eur", "totals", "eur", "value"),
    Edge("facts", "rank", "totals", "eur", "order"),
)


def test_lineage_is_two_trees_and_nothing_is_taken_apart_twice() -> None:
    assert list(lineage_lines("TOTALS.EUR", EDGES, up=True, down=True)) == [
        "totals.eur depends on",
        "  facts.eur  (value)",
        "    Paid.amount  (value)",
        "      orders.amount  (filter, value)",
        "    paid.`a.b`  (join)",
        "      orders.who.name  (value)",
        "  facts.rank  (order)",
        "    paid.AMOUNT  (window) …",
        "TOTALS.EUR is used by nothing",
    ]


@pytest.mark.parametrize("target", ["paid.`a.b`", "PAID.a.b", "paid.`a.b`.deeper"])
def test_a_name_with_dots_is_one_column(target: str) -> None:
    edges = [each for each in EDGES if "b" in each.from_column or each.to_column == "a.b"]
    assert list(lineage_lines(target, edges, up=True, down=True)) == [
        "Paid.`a.b` depends on",
        "  orders.who.name  (value)",
        "Paid.`a.b` is used by",
        "  facts.eur  (join)",
    ]


def test_a_dataset_has_a_tree_for_each_of_its_columns() -> None:
    lines = list(lineage_lines("orders", EDGES[:3], up=False, down=True))
    assert [each for each in lines if not each.startswith(" ")] == [
        "orders.amount is used by",
        "orders.who is used by",
    ]
    assert list(lineage_lines("orders", (), up=True, down=False)) == ["orders depends on nothing"]


def test_edges_for_a_program_have_the_contracts_form() -> None:
    assert lineage_document("facts", EDGES[:1]) == {
        "target": "facts",
        "edges": [
            {
                "from": {"dataset": "orders", "column": "amount"},
                "to": {"dataset": "Paid", "column": "Amount"},
                "kind": "value",
            }
        ],
    }


# --- explanations --------------------------------------------------------------------------------------


def test_an_explanation_has_the_plans_that_there_are_and_the_error_of_one_that_is_not() -> None:
    found = bundle(optimised=PlanText(text="Filter\n"), physical=PlanText(error="HW-PLAN-005 no"))
    metrics = (
        OperatorMetrics(depth=0, operator="Project", metrics={}),
        OperatorMetrics(depth=1, operator="Scan ", metrics={"numOutputRows": 1200, "empty": 0, "a": 1}),
    )
    lines = list(explanation_lines(Explanation(bundle=found, metrics=metrics)))
    assert lines[0] == f"facts  views/facts.sql:3  {found.fingerprint.digest[:16]}"
    assert lines[1:] == [
        *("", "Analysed plan", "facts []", "+- orders"),
        *("", "Optimised plan", "Filter"),
        *("", "Physical plan", "HW-PLAN-005 no"),
        *("", "Counted", "Project", "  Scan  a 1, numOutputRows 1,200"),
    ]
    assert len(list(explanation_lines(Explanation(bundle=bundle())))) == 5


def test_an_explanation_says_what_rounds_are_given() -> None:
    linear = PlannedFixpoint(schema="{}", max_rounds=9, linear=True)
    other = PlannedFixpoint(schema="{}", max_rounds=9, linear=False, reason="it meets itself")
    found = [
        list(explanation_lines(Explanation(bundle=bundle(fixpoint=each))))[1] for each in (linear, other)
    ]
    assert found == [
        "A fixpoint of 9 rounds at most, each given the new rows",
        "A fixpoint of 9 rounds at most, each given all rows so far: it meets itself",
    ]
    document = explanation_document(Explanation(bundle=bundle(fixpoint=other)))
    assert document["fixpoint"]["linear"] is False
    assert "fixpoint" not in explanation_document(Explanation(bundle=bundle()))


def test_an_explanation_for_a_program_has_no_bytes_and_the_whole_identity() -> None:
    inputs = (PlannedInput(name="orders", kind="pin", identity="i", version=3),)
    document = explanation_document(Explanation(bundle=bundle(inputs=inputs)))
    assert document["fingerprint"]["digest"] == bundle().fingerprint.digest
    assert set(document["fingerprint"]) == {"code", "functions", "settings", "policies", "inputs", "digest"}
    assert document["inputs"] == [{"name": "orders", "kind": "pin", "identity": "i", "version": 3}]
    assert (document["optimised"], document["metrics"], "plan" in document) == (None, [], False)
