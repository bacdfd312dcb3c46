from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater.delta.head import find_commit, find_head, is_head, read_commit, read_head
from headwater.digest import digest_of_bytes
from headwater.errors import LogUnreadable, NotADeltaTable, VersionNotFound

if TYPE_CHECKING:
    from pathlib import Path


def write_commit(table: Path, version: int, **info: object) -> bytes:
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    lines = [
        {"commitInfo": {"timestamp": 1000 + version, "operation": "WRITE", **info}},
        {"add": {"path": "x"}},
    ]
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    (log / f"{version:020}.json").write_bytes(content)
    return content


def test_the_head_is_the_newest_commit_whatever_else_lies_there(tmp_path: Path) -> None:
    write_commit(tmp_path, 8)
    newest = write_commit(tmp_path, 9, userMetadata="note", operationMetrics={"numOutputRows": "3"})
    log = tmp_path / "_delta_log"
    for noise in (
        "00000000000000000008.checkpoint.parquet",
        "00000000000000000012.compacted.json",
        "00000000000000000001.00000000000000000009.compacted.json",
        "_last_checkpoint",
        ".00000000000000000010.json.crc",
        "00000000000000000010.json.tmp",
        "_sidecars",
    ):
        (log / noise).write_bytes(b"?")
    head = read_head(tmp_path.as_uri())
    assert (head.version, head.digest) == (9, digest_of_bytes(newest))
    assert (head.operation, head.timestamp_ms, head.user_metadata) == ("WRITE", 1009, "note")
    assert head.metrics == (("numOutputRows", "3"),)


def test_no_table_is_told_from_a_broken_one(tmp_path: Path) -> None:
    missing = (tmp_path / "missing").as_uri()
    assert find_head(missing) is None
    with pytest.raises(NotADeltaTable):
        read_head(missing)
    (tmp_path / "plain").mkdir()
    with pytest.raises(NotADeltaTable):
        read_head((tmp_path / "plain").as_uri())
    (tmp_path / "empty" / "_delta_log").mkdir(parents=True)
    with pytest.raises(NotADeltaTable):
        read_head((tmp_path / "empty").as_uri())
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADeltaTable):
        read_head((tmp_path / "file").as_uri())


@pytest.mark.parametrize(
    "content", [b"", b'{"commitInfo": {', b"[1]\n", b"\xff\xfe", b'{"add": {}}\nnot json\n']
)
def test_a_truncated_or_corrupt_commit_is_a_typed_error(tmp_path: Path, content: bytes) -> None:
    write_commit(tmp_path, 0)
    (tmp_path / "_delta_log" / f"{1:020}.json").write_bytes(content)
    with pytest.raises(LogUnreadable) as caught:
        read_head(tmp_path.as_uri())
    assert "version 1" in caught.value.detail
    assert str(tmp_path) in caught.value.message


def test_a_log_of_checkpoints_alone_is_not_taken_for_no_table(tmp_path: Path) -> None:
    log = tmp_path / "_delta_log"
    log.mkdir()
    (log / f"{4:020}.checkpoint.parquet").write_bytes(b"PAR1")
    with pytest.raises(LogUnreadable, match="no commit file"):
        find_head(tmp_path.as_uri())


def test_a_commit_without_information_is_still_a_commit(tmp_path: Path) -> None:
    log = tmp_path / "_delta_log"
    log.mkdir()
    (log / f"{0:020}.json").write_text('{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}\n')
    head = read_head(tmp_path.as_uri())
    assert (head.version, head.operation, head.user_metadata) == (0, "", None)


def test_a_pin_is_the_head_until_anything_happens(tmp_path: Path) -> None:
    write_commit(tmp_path, 0)
    pin = read_head(tmp_path.as_uri()).pin("t")
    assert is_head(pin)
    write_commit(tmp_path, 1)
    assert not is_head(pin)
    (tmp_path / "_delta_log" / f"{1:020}.json").unlink()
    assert is_head(pin)
    write_commit(tmp_path, 0, operation="CREATE TABLE")
    assert not is_head(pin)
    (tmp_path / "_delta_log" / f"{0:020}.json").unlink()
    assert not is_head(pin)


def test_a_version_that_is_gone_says_so(tmp_path: Path) -> None:
    write_commit(tmp_path, 3)
    uri = tmp_path.as_uri()
    for version in (2, 4):
        with pytest.raises(VersionNotFound) as caught:
            read_commit(uri, version)
        assert (caught.value.version, caught.value.path) == (version, str(tmp_path))
        assert find_commit(uri, version) is None
    found = find_commit(uri, 3)
    assert found is not None
    assert found == read_commit(uri, 3)


def test_a_commit_of_no_table_or_of_a_broken_one_is_no_cleaned_up_one(tmp_path: Path) -> None:
    with pytest.raises(NotADeltaTable):
        find_commit((tmp_path / "missing").as_uri(), 0)
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADeltaTable):
        find_commit((tmp_path / "file").as_uri(), 0)
    write_commit(tmp_path, 0)
    log = tmp_path / "_delta_log"
    (log / f"{1:020}.json").mkdir()
    with pytest.raises(LogUnreadable, match="version 1: Is a directory"):
        find_commit(tmp_path.as_uri(), 1)
    (log / f"{2:020}.checkpoint.parquet").write_bytes(b"PAR1")
    with pytest.raises(LogUnreadable, match="a checkpoint of version 2 but no commit file"):
        find_commit(tmp_path.as_uri(), 2)


@pytest.mark.parametrize(
    "name", ["checkpoint.parquet", "checkpoint.0000000001.0000000002.parquet", "checkpoint.80a083e8.json"]
)
def test_an_older_commit_is_not_taken_for_the_head(tmp_path: Path, name: str) -> None:
    write_commit(tmp_path, 0)
    write_commit(tmp_path, 1)
    (tmp_path / "_delta_log" / f"{2:020}.{name}").write_bytes(b"?")
    with pytest.raises(LogUnreadable, match="has a checkpoint of version 2 but no commit file for it"):
        find_head(tmp_path.as_uri())
    write_commit(tmp_path, 2)
    assert read_head(tmp_path.as_uri()).version == 2


def test_a_table_whose_commits_a_catalog_manages_has_no_head(tmp_path: Path) -> None:
    write_commit(tmp_path, 0)
    pin = read_head(tmp_path.as_uri()).pin("t")
    staged = tmp_path / "_delta_log" / "_staged_commits"
    staged.mkdir()
    assert is_head(pin)
    assert read_head(tmp_path.as_uri()).version == 0
    (staged / f"{1:020}.80a083e8.json").write_text("{}")
    assert not is_head(pin)
    with pytest.raises(LogUnreadable, match="managed by a catalog"):
        find_head(tmp_path.as_uri())


def test_the_time_of_a_commit_is_its_in_commit_timestamp_if_it_has_one(tmp_path: Path) -> None:
    write_commit(tmp_path, 0)
    write_commit(tmp_path, 1, inCommitTimestamp=77)
    write_commit(tmp_path, 2, inCommitTimestamp="soon", timestamp=None)
    times = [read_commit(tmp_path.as_uri(), version).timestamp_ms for version in range(3)]
    assert times == [1000, 77, 0]


def test_metrics_that_are_no_texts_are_written_as_json(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, operationMetrics={"rows": 3, "clean": True, "files": "4"})
    head = read_head(tmp_path.as_uri())
    assert head.metrics == (("clean", "true"), ("files", "4"), ("rows", "3"))
