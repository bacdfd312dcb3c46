from __future__ import annotations

from dataclasses import replace

from headwater.origin import Origin
from headwater.pipeline import Fixpoint, Pipeline, SourceSpec, ViewSpec, build_plan
from headwater.policies import WritePolicy

SOURCE = SourceSpec(
    name="Orders", origin=Origin("a.py", 1), kind="listing", path="o", file_format="csv", schema="a INT"
)


def test_a_sources_digest_is_what_it_says_not_where() -> None:
    assert replace(SOURCE, origin=Origin("b.py", 9)).digest == SOURCE.digest
    for other in (
        replace(SOURCE, path="p"),
        replace(SOURCE, file_format="json"),
        replace(SOURCE, schema="b INT"),
        replace(SOURCE, options=(("header", "true"),)),
        replace(SOURCE, kind="delta"),
    ):
        assert other.digest != SOURCE.digest


def test_how_a_view_is_written_is_no_part_of_its_digest() -> None:
    plan = build_plan(lambda spark: spark.range(3))
    view = ViewSpec(name="a", origin=Origin("a.py", 1), language="python", stored=True, plan=plan)
    assert view.policy == WritePolicy()
    assert replace(view, policy=WritePolicy(partition_by=("id",))).digest == view.digest


def test_a_fixpoint_is_known_by_its_columns_and_not_by_its_bound() -> None:
    plan = build_plan(lambda spark: spark.range(3))
    view = ViewSpec(name="a", origin=Origin("a.py", 1), language="python", stored=True, plan=plan)
    columns = '{"fields":[{"metadata":{},"name":"id","nullable":true,"type":"%s"}],"type":"struct"}'
    one, other = (Fixpoint(schema=columns % kind, max_rounds=9) for kind in ("long", "integer"))
    made = replace(view, fixpoint=one)
    assert replace(view, fixpoint=replace(one, max_rounds=3)).digest == made.digest
    assert len({view.digest, made.digest, replace(view, fixpoint=other).digest}) == 3
    assert one.columns.simpleString() == "struct<id:bigint>"


def test_a_name_is_found_without_regard_to_case() -> None:
    pipeline = Pipeline(name="p", views=(), sources=(SOURCE,))
    assert pipeline.spec("ORDERS") is SOURCE
    assert pipeline.spec("other") is None
