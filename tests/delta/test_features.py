from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.delta import Append, Overwrite, snapshot_info, write_policy
from headwater.delta.features import known_features
from headwater.errors import FeatureUnknown

if TYPE_CHECKING:
    from tests.delta.conftest import Table

    from headwater.runtime import RunSession


def test_the_preset_for_incremental_runs_is_three_features_that_are_switched_on(table: Table) -> None:
    policy = write_policy(enable_features=["incremental"])
    receipt = table.change(Append, table.session.spark.range(3), policy=policy)
    features = {"changeDataFeed", "rowTracking", "deletionVectors"}
    assert features <= set(receipt.protocol.writer_features)
    properties = snapshot_info(table.session, table.uri).table_properties
    switches = ("ChangeDataFeed", "RowTracking", "DeletionVectors")
    assert [properties[f"delta.enable{each}"] for each in switches] == ["true"] * 3
    assert table.change(Append, table.session.spark.range(3), policy=policy).version == receipt.version + 1


def test_a_table_that_is_there_gets_its_features_and_keeps_its_rows(table: Table) -> None:
    table.change(Append, table.session.spark.range(3))
    receipt = table.change(
        Append, table.session.spark.range(1), policy=write_policy(enable_features=["incremental"])
    )
    assert "rowTracking" in receipt.protocol.writer_features
    assert table.rows() == [(0,), (0,), (1,), (2,)]


def test_a_feature_without_a_switch_is_supported(table: Table) -> None:
    policy = write_policy(enable_features=["vacuumprotocolcheck"])
    receipt = table.change(Append, table.session.spark.range(1), policy=policy)
    assert "vacuumProtocolCheck" in receipt.protocol.reader_features
    assert table.change(Append, table.session.spark.range(1), policy=policy).version == receipt.version + 1


def test_a_feature_that_this_delta_does_not_have_is_refused_with_a_near_name(table: Table) -> None:
    with pytest.raises(FeatureUnknown) as caught:
        table.change(
            Overwrite, table.session.spark.range(1), policy=write_policy(enable_features=["deletionVector"])
        )
    assert "Did you mean 'deletionVectors'?" in caught.value.next_step
    assert not table.path.exists()


def test_commits_that_a_catalog_would_make_are_no_feature_of_a_folder(session: RunSession) -> None:
    known = known_features(session)
    assert {"appendOnly", "deletionVectors", "clustering"} <= set(known)
    assert "catalogManaged" not in known


def test_what_a_protocol_is_cannot_be_said_by_a_property(table: Table) -> None:
    properties = {
        "delta.minReaderVersion": 3,
        "delta.minWriterVersion": 7,
        "delta.feature.x": "supported",
        "own": 1,
    }
    receipt = table.change(Append, table.session.spark.range(1), policy=write_policy(properties=properties))
    assert receipt.left_out == ("delta.feature.x", "delta.minReaderVersion", "delta.minWriterVersion")
    assert dict(receipt.settings) == {"own": "1"}
    assert (receipt.protocol.min_reader_version, receipt.protocol.min_writer_version) == (1, 2)
