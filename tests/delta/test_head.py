from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater.delta import find_head, is_head, read_commit, read_head
from headwater.digest import digest_of_bytes
from headwater.errors import LogUnreadable, NotADeltaTable

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
    with pytest.raises(LogUnreadable, match="version 2"):
        read_commit(tmp_path.as_uri(), 2)
