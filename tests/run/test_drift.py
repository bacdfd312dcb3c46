"""What a plan was made with against what a session really has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from headwater.delta import snapshot_info
from headwater.errors import PlanDrift
from headwater.functions import find_function
from headwater.plan import Fingerprint, PlanBundle, PlannedFunction, PlanText, ViewLineage
from headwater.run.drift import Drift, check_drift, drift_of

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import RunSession

PARTS = Fingerprint(code="c", functions="f", settings="s", policies="p", inputs="i")


def bundle_for(session: RunSession, **changes: Any) -> PlanBundle:
    """A bundle that was planned with just what the session has."""
    identity = session.runtime.identity
    settings = {
        **dict(identity.settings.results),
        **{f"storage.{key}": value for key, value in identity.storage},
        "version.delta": identity.versions.delta,
        "version.scala": identity.versions.scala,
        "version.spark": identity.versions.spark,
    }
    bundle = PlanBundle(
        view="v",
        file="views/v.sql",
        line=1,
        language="sql",
        stored=True,
        plan=b"",
        plan_digest="d",
        analysed=PlanText(text="Project"),
        columns=(),
        settings=settings,
        function_digest="f",
        functions=(),
        tags=(),
        inputs=(),
        gates={},
        policy={},
        lineage=ViewLineage(view="v", columns=(), rows=(), datasets=()),
        fingerprint=PARTS,
    )
    return replace(bundle, **changes)


def test_a_session_of_the_same_profile_has_not_drifted(session: RunSession) -> None:
    known = find_function("stable_hash_any")
    assert known is not None
    functions = (
        PlannedFunction(name=known.name, digest=known.behaviour),
        PlannedFunction(name="python:0123", digest="0123"),
    )
    check_drift([bundle_for(session, functions=functions)], session)


def test_settings_are_those_that_are_really_set(session: RunSession) -> None:
    """The profile says UTC; whoever changed the session since is found out."""
    bundle = bundle_for(session)
    session.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    assert drift_of([bundle, replace(bundle, view="w")], session) == (
        Drift(kind="setting", name="spark.sql.session.timeZone", planned="UTC", found="Asia/Tokyo"),
    )


def test_everything_that_differs_is_listed_with_both_sides(session: RunSession) -> None:
    bundle = bundle_for(session)
    settings = {**bundle.settings, "version.delta": "1.0.0", "spark.sql.legacy.x": "1"}
    settings |= {"storage.spark.hadoop.fs.s3a.endpoint": "there"}
    del settings["spark.sql.ansi.enabled"]
    known = find_function("stable_hash_any")
    assert known is not None
    functions = (
        PlannedFunction(name=known.name, digest="0" * 64),
        PlannedFunction(name="long_gone", digest="1" * 64),
    )
    with pytest.raises(PlanDrift) as raised:
        check_drift([replace(bundle, settings=settings, functions=functions)], session)
    assert raised.value.differences == (
        f"function long_gone: planned {'1' * 64}, found not there",
        f"function stable_hash_any: planned {'0' * 64}, found {known.behaviour}",
        "setting spark.sql.ansi.enabled: planned not set, found true",
        "setting spark.sql.legacy.x: planned 1, found not set",
        "setting storage.spark.hadoop.fs.s3a.endpoint: planned there, found not set",
        f"version delta: planned 1.0.0, found {session.runtime.identity.versions.delta}",
    )
    assert raised.value.exit_code == 1


def test_gates_are_held_against_the_snapshot_at_its_pin(session: RunSession, tmp_path: Path) -> None:
    session.spark.range(1).write.format("delta").save(str(tmp_path / "t"))
    snapshot = snapshot_info(session, (tmp_path / "t").as_uri())
    gated = bundle_for(session, gates={"t": {"min_reader_version": 3}})
    assert drift_of([gated], session, lambda _name: snapshot) == (
        Drift(kind="gate", name="t", planned="reader version 3", found="reader version 1"),
    )
    assert drift_of([gated], session) == ()
    open_gate = bundle_for(session, gates={"t": {"min_reader_version": 1}})
    assert drift_of([open_gate], session, lambda _name: snapshot) == ()
