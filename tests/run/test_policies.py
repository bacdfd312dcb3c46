"""Write policies in a build: checked before anything is written, obeyed, recorded, part of an identity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import headwater
from headwater.artifacts import read_manifest
from headwater.delta import compute_content, read_head, snapshot_info
from headwater.errors import (
    ConstraintInvalid,
    ConstraintViolated,
    MeaningDiffers,
    PolicyRefused,
    SemanticMismatch,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.artifacts import Manifest
    from headwater.run import RunOutcome
    from headwater.runtime import RunSession

VIEWS = """
import headwater

headwater.source("raw", rows=[("node:1", 1), ("node:2", 2), ("node:3", 3)], schema="id STRING, n INT")

@headwater.table({nodes})
def nodes(raw):
    return raw

@headwater.table
def counted(nodes):
    return nodes.groupBy("n").count()
"""


LATER = """
@headwater.table(semantic_types={"id": "EdgeId"})
def later(nodes):
    return nodes.select("id")
"""


def build(folder: Path, nodes: str, more: str = "") -> tuple[RunOutcome, Manifest]:
    (folder / "views" / "all.py").write_text(VIEWS.replace("{nodes}", nodes) + more)
    outcome = headwater.open(folder, profile="local").build()
    return outcome, read_manifest(outcome.manifest)


@pytest.fixture
def folder(project_folder: Callable[..., Path]) -> Path:
    return project_folder()


def test_a_policy_is_obeyed_recorded_and_part_of_the_tables_identity(
    folder: Path, session: RunSession
) -> None:
    policy = (
        'partition_by=["n"], semantic_types={"id": "NodeId"}, constraints={"named": "id LIKE \'node:%\'"}'
    )
    outcome, manifest = build(folder, policy)
    assert outcome.error is None
    uri = (folder / ".headwater" / "tables" / "nodes").resolve().as_uri()
    assert snapshot_info(session, uri).partition_columns == ("n",)
    view = next(each for each in manifest.views if each.name == "nodes")
    assert view.policy == {
        "partition_by": ["n"],
        "constraints": [["named", "id LIKE 'node:%'"]],
        "semantic_types": [["id", "NodeId"]],
    }
    done = next(each for each in manifest.mutations if each.table == "nodes")
    table = next(each for each in manifest.tables if each.name == "nodes")
    content = compute_content(session, read_head(uri).pin("nodes")).text
    assert done.content == table.digest == content
    assert [each.name for each in done.constraints] == ["named"]
    assert [each.semantic_type for each in done.meanings] == ["NodeId"]
    assert (done.kind, done.outcome, done.version, done.rows) == ("overwrite", "committed", table.version, 3)
    again, _ = build(folder, f"{policy}, max_attempts=5")
    assert again.status == "unchanged"  # how often a write is tried is not seen in a table
    assert {each.digest for each in again.tables} == {each.digest for each in manifest.tables}
    other, manifest = build(folder, policy.replace('["n"]', "()"))
    reasons = {each.name: (each.action, each.reason) for each in other.tables}
    assert reasons["nodes"] == ("built", "its write policy changed")
    assert snapshot_info(session, uri).partition_columns == ()


def test_rows_that_a_constraint_forbids_end_the_run_and_are_recorded(folder: Path) -> None:
    outcome, manifest = build(folder, 'constraints={"small": "n < 3"}')
    assert isinstance(outcome.error, ConstraintViolated)
    assert outcome.error.origin is not None
    (violation,) = manifest.violations
    assert (violation.table, violation.constraint, violation.count) == ("nodes", "small", 1)
    assert violation.sample == ('{"id":"node:3","n":3}',)
    assert [each.action for each in outcome.tables if each.name == "nodes"] == ["failed"]
    assert not list((folder / ".headwater" / "tables" / "nodes").glob("_delta_log/*.json"))
    fixed, manifest = build(folder, 'constraints={"small": "n < 4"}')
    assert (fixed.error, manifest.violations) == (None, ())


@pytest.mark.parametrize(
    ("nodes", "more", "error"),
    [
        ('constraints={"odd": "nope > 1"}', "", ConstraintInvalid),
        ('partition_by=["nope"]', "", PolicyRefused),
        ('semantic_types={"n": "NodeId"}', "", MeaningDiffers),
        (
            'semantic_types={"id": "NodeId"}',
            LATER,
            SemanticMismatch,
        ),
    ],
)
def test_a_policy_that_does_not_fit_is_found_before_anything_is_written(
    folder: Path, nodes: str, more: str, error: type[Any]
) -> None:
    with pytest.raises(error) as caught:
        build(folder, nodes, more)
    assert caught.value.origin.path.endswith("all.py")
    assert not (folder / ".headwater" / "tables").exists()


def test_a_table_in_toml_is_written_as_it_says(folder: Path, session: RunSession) -> None:
    with (folder / "headwater.toml").open("a") as file:
        file.write('\n[tables.nodes]\nenable_features = ["incremental"]\n')
    outcome, _ = build(folder, "")
    assert outcome.error is None
    uri = (folder / ".headwater" / "tables" / "nodes").resolve().as_uri()
    assert "changeDataFeed" in snapshot_info(session, uri).writer_features
