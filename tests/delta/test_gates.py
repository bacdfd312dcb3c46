from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.delta import FeatureGate, SnapshotInfo, check_gate, snapshot_info
from headwater.errors import (
    GateClosed,
    ReaderFeatureMissing,
    ReaderVersionTooLow,
    WriterFeatureMissing,
    WriterVersionTooLow,
)
from headwater.origin import Origin

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import SessionRuntime

TABLE = SnapshotInfo(
    table_uri="file:///data/orders",
    version=4,
    timestamp="2026-01-01T00:00:00.000Z",
    digest="",
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("deletionVectors",),
    writer_features=("appendOnly", "deletionVectors"),
    implied_reader_features=(),
    implied_writer_features=(),
    table_properties={},
    schema_json="{}",
    partition_columns=(),
)
# Each lack alone, with the error that it is; in the order in which they are looked at.
LACKS: tuple[tuple[type[GateClosed], FeatureGate], ...] = (
    (ReaderVersionTooLow, FeatureGate(min_reader_version=4)),
    (WriterVersionTooLow, FeatureGate(min_writer_version=8)),
    (ReaderFeatureMissing, FeatureGate(required_reader_features=("columnMapping",))),
    (WriterFeatureMissing, FeatureGate(required_writer_features=("rowTracking",))),
)


@pytest.mark.parametrize(("kind", "gate"), LACKS)
def test_each_lack_alone_has_its_own_error(kind: type[GateClosed], gate: FeatureGate) -> None:
    origin = Origin(path="views/a.py", line=2)
    with pytest.raises(kind) as caught:
        check_gate(gate, TABLE, "orders", origin)
    assert type(caught.value) is kind
    assert caught.value.origin == origin
    assert "'orders' at /data/orders has" in caught.value.message


def test_the_four_errors_have_four_codes() -> None:
    assert len({kind.code for kind, _ in LACKS}) == 4


@pytest.mark.parametrize("first", range(len(LACKS)))
def test_the_first_lack_in_order_is_the_one_that_is_told(first: int) -> None:
    gate = FeatureGate()
    for _, each in LACKS[first:]:
        gate = gate.merged(each)
    with pytest.raises(GateClosed) as caught:
        check_gate(gate, TABLE, "orders")
    assert type(caught.value) is LACKS[first][0]


def test_the_words_name_what_is_asked_for_and_what_is_there() -> None:
    gate = FeatureGate(required_reader_features=("v2Checkpoint", "columnMapping", "deletionVectors"))
    with pytest.raises(ReaderFeatureMissing) as caught:
        check_gate(gate, TABLE, "orders")
    assert caught.value.required == "the reader features columnMapping, v2Checkpoint"
    assert caught.value.found == "the reader feature deletionVectors"


def test_a_table_with_exactly_what_is_asked_for_passes() -> None:
    check_gate(FeatureGate(), TABLE, "orders")
    gate = FeatureGate(
        min_reader_version=3,
        min_writer_version=7,
        required_reader_features=("deletionVectors",),
        required_writer_features=("deletionVectors", "appendOnly"),
    )
    check_gate(gate, TABLE, "orders")


@pytest.mark.parametrize(
    ("reader", "writer", "readable", "writable", "not_readable", "not_writable"),
    [
        ("1", "2", (), ("appendOnly", "invariants"), "appendOnly", "changeDataFeed"),
        (
            "2",
            "5",
            ("columnMapping",),
            ("columnMapping", "generatedColumns"),
            "generatedColumns",
            "identityColumns",
        ),
    ],
)
def test_an_older_protocol_has_the_features_that_delta_says_it_implies(
    runtime: SessionRuntime,
    tmp_path: Path,
    reader: str,
    writer: str,
    readable: tuple[str, ...],
    writable: tuple[str, ...],
    not_readable: str,
    not_writable: str,
) -> None:
    properties = (
        f"'delta.minReaderVersion' = '{reader}', 'delta.minWriterVersion' = '{writer}', "
        f"'delta.enableDeletionVectors' = 'false', "
        f"'delta.columnMapping.mode' = '{'name' if reader == '2' else 'none'}'"
    )
    with runtime.checkout() as session:
        session.spark.sql(
            f"CREATE TABLE delta.`{tmp_path}` (id INT) USING delta TBLPROPERTIES ({properties})"
        )
        snapshot = snapshot_info(session, tmp_path.as_uri())
    assert (snapshot.min_reader_version, snapshot.min_writer_version) == (int(reader), int(writer))
    check_gate(
        FeatureGate(required_reader_features=readable, required_writer_features=writable), snapshot, "t"
    )
    with pytest.raises(ReaderFeatureMissing):
        check_gate(FeatureGate(required_reader_features=(not_readable,)), snapshot, "t")
    with pytest.raises(WriterFeatureMissing):
        check_gate(FeatureGate(required_writer_features=(not_writable,)), snapshot, "t")
