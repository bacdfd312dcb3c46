from __future__ import annotations

from msgspec.structs import replace

from headwater.plan import (
    PlanBundle,
    PlanChange,
    PlannedFixpoint,
    PlannedFunction,
    PlannedInput,
    PlanText,
    changes_between,
)
from headwater.plan.fingerprint import Fingerprint
from headwater.plan.lineage import ViewLineage

TEXT = "[a#1 long]\nProject [a#1]\n+- Filter GreaterThan(k#2, 1 long)\n   +- t [a#1 long, k#2 long]\n"
BASE = PlanBundle(
    view="v",
    file="views/v.sql",
    line=1,
    language="sql",
    stored=True,
    plan=b"",
    plan_digest="",
    analysed=PlanText(text=TEXT),
    columns=(),
    settings={"a.setting": "1"},
    function_digest="",
    functions=(PlannedFunction(name="stable_id_parts", digest="d1"),),
    tags=(),
    inputs=(
        PlannedInput(name="t", kind="pin", identity="11111111aaaa", version=7),
        PlannedInput(name="w", kind="slot", identity="22222222aaaa"),
    ),
    gates={},
    policy={"cluster_by": ["a"]},
    lineage=ViewLineage(view="v", columns=(), rows=(), datasets=()),
    fingerprint=Fingerprint(code="c", functions="f", settings="s", policies="p", inputs="i"),
)


def changed(part: str, **fields: object) -> PlanBundle:
    return replace(BASE, fingerprint=replace(BASE.fingerprint, **{part: "x"}), **fields)


def words(after: PlanBundle) -> list[str]:
    return [each.words for each in changes_between(BASE, after)]


def test_equal_fingerprints_need_no_words() -> None:
    assert changes_between(BASE, replace(BASE, line=9)) == ()
    assert changes_between(None, None) == ()


def test_a_view_that_is_new_or_gone() -> None:
    assert changes_between(None, BASE) == (PlanChange(view="v", kind="new"),)
    assert [each.words for each in changes_between(BASE, None)] == ["'v' is gone"]


def test_the_operator_that_changed_is_named() -> None:
    text = TEXT.replace("1 long)", "2 long)")
    (change,) = changes_between(BASE, changed("code", plan_digest="other", analysed=PlanText(text=text)))
    assert (change.kind, change.name) == ("code", "Filter")
    assert change.words == (
        "its plan changed at Filter: was Filter GreaterThan(k#2, 1 long), is Filter GreaterThan(k#2, 2 long)"
    )
    (columns,) = changes_between(
        BASE, changed("code", plan_digest="other", analysed=PlanText(text=TEXT.replace("[a#1 l", "[b#1 l")))
    )
    assert columns.name == "its columns"


def test_a_view_that_nobody_touched_reads_other_columns() -> None:
    """The plan is another, though its bytes are not; or they are, as the view was told another schema."""
    other = {"analysed": PlanText(text=TEXT.replace("1 long)", "1L)"))}
    (change,) = changes_between(BASE, changed("code", **other))
    assert (change.kind, change.name) == ("schema", "Filter")
    assert change.words.startswith(
        "what it reads has other columns, so that its plan changed at Filter: was "
    )
    written = replace(BASE, written="w")
    told = changed("code", plan_digest="other", written="w", **other)
    assert [each.kind for each in changes_between(written, told)] == ["schema"]
    rewritten = changed("code", plan_digest="other", written="x", **other)
    assert [each.kind for each in changes_between(written, rewritten)] == ["code"]


def test_what_a_setting_makes_of_a_plan_is_the_settings_doing() -> None:
    before = replace(BASE, fingerprint=replace(BASE.fingerprint, code="x", settings="x"))
    after = replace(BASE, analysed=PlanText(text="[a#1 long]\n"), settings={"a.setting": "2"})
    assert [each.kind for each in changes_between(before, after)] == ["setting"]


def test_functions_of_the_project_keep_their_names() -> None:
    one = replace(BASE, functions=(PlannedFunction(name="python:loud:0123", digest="0123"),))
    two = changed("functions", functions=(PlannedFunction(name="python:loud:4567", digest="4567"),))
    assert [each.words for each in changes_between(one, two)] == ["function 'loud' was 0123, is 4567"]


def test_an_operator_that_came_or_went() -> None:
    (gone,) = changes_between(BASE, changed("code", analysed=PlanText(text="[a#1 long]\nProject [a#1]\n")))
    assert gone.words.endswith("is nothing")


def test_inputs_settings_functions_and_policies_by_name() -> None:
    inputs = (PlannedInput(name="t", kind="pin", identity="33333333aaaa", version=9), BASE.inputs[1])
    assert words(changed("inputs", inputs=inputs)) == [
        "input 't' was version 7 (11111111), is version 9 (33333333)"
    ]
    views = (BASE.inputs[0], PlannedInput(name="w", kind="view", identity="44444444aaaa"))
    assert words(changed("inputs", inputs=views)) == [
        "input 'w' was made by this run (22222222), is plan 44444444"
    ]
    assert words(changed("settings", settings={"b.setting": "2"})) == [
        "setting 'a.setting' was 1, is nothing",
        "setting 'b.setting' was nothing, is 2",
    ]
    functions = (PlannedFunction(name="stable_id_parts", digest="d2"),)
    assert words(changed("functions", functions=functions)) == ["function 'stable_id_parts' was d1, is d2"]
    assert words(changed("policies", policy={}, gates={"t": {"min_reader_version": 2}})) == [
        "policy 'cluster_by' was ['a'], is nothing",
        "policy 'gate of t' was nothing, is {'min_reader_version': 2}",
    ]


def test_a_fixpoints_columns_are_said_like_a_policy() -> None:
    fixpoint = PlannedFixpoint(schema="n INT", max_rounds=9, linear=True)
    assert words(changed("policies", fixpoint=fixpoint)) == ["policy 'fixpoint' was nothing, is n INT"]
    assert changes_between(BASE, replace(BASE, fixpoint=fixpoint)) == ()


def test_what_is_long_is_cut() -> None:
    long = changed("settings", settings={"a.setting": "x" * 500})
    assert len(words(long)[0]) < 200
