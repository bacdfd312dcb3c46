from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from headwater.delta import Append, Delete, Overwrite, read_commit, table_bytes, window_between, write_policy

if TYPE_CHECKING:
    from conftest import Table


@pytest.mark.parametrize("feed", [True, False])
def test_the_files_that_tell_what_changed(table: Table, *, feed: bool) -> None:
    policy = write_policy(enable_features=["changeDataFeed"] if feed else [])
    rows = table.session.spark.range(10).coalesce(1)
    table.change(Append, rows, policy=policy)
    first = table.head.pin("t")
    table.change(Append, rows)
    added = window_between(first, table.head.pin("t"), feed=feed)
    assert added is not None
    assert (added.files, added.missing) == (1, None)
    assert added.written == added.bytes
    table.change(Delete, where="id = 3")
    both = window_between(first, table.head.pin("t"), feed=feed)
    assert both is not None
    assert both.bytes > added.bytes
    # A feed: what was appended, and changes of two files; two versions: a file that went, two that came.
    assert both.files == 3
    assert added.bytes < both.written <= both.bytes
    nothing = window_between(table.head.pin("t"), table.head.pin("t"), feed=feed)
    assert nothing is not None
    assert (nothing.files, nothing.bytes) == (0, 0)


def test_a_file_that_merely_lost_rows_was_not_written(table: Table) -> None:
    rows = table.session.spark.range(10).coalesce(1)
    table.change(Append, rows, policy=write_policy(enable_features=["deletionVectors"]))
    first = table.head.pin("t")
    table.change(Delete, where="id = 3")
    lost = window_between(first, table.head.pin("t"), feed=False)
    assert lost is not None
    assert (lost.files, lost.written) == (2, 0)
    table.change(Overwrite, rows)
    anew = window_between(first, table.head.pin("t"), feed=False)
    assert anew is not None
    assert anew.written == table_bytes(table.session, table.head.pin("t"))


def test_what_is_not_there_any_more(table: Table) -> None:
    table.change(Append, table.session.spark.range(10).coalesce(1))
    first = table.head.pin("t")
    table.change(Overwrite, table.session.spark.range(5).coalesce(1))
    newest = table.head.pin("t")
    window = window_between(first, newest, feed=False)
    assert window is not None
    assert window.missing is None
    (gone,) = [
        each
        for each in table.path.glob("*.parquet")
        if each.stat().st_size != table_bytes(table.session, newest)
    ]
    gone.unlink()
    window = window_between(first, newest, feed=False)
    assert window is not None
    assert window.missing == gone.name
    assert window_between(newest, first, feed=False) is None


def test_another_table_in_its_place_and_a_log_that_was_cleaned(table: Table) -> None:
    table.change(Append, table.session.spark.range(3))
    first = table.head.pin("t")
    shutil.rmtree(table.path)
    table.change(Append, table.session.spark.range(4))
    table.change(Append, table.session.spark.range(5))
    assert window_between(first, table.head.pin("t"), feed=False) is None
    second = read_commit(table.uri, 0).pin("t")
    assert window_between(second, table.head.pin("t"), feed=False) is not None
    (table.path / "_delta_log" / "00000000000000000000.json").unlink()
    assert window_between(second, table.head.pin("t"), feed=False) is None


def test_the_bytes_of_a_table_with_and_without_its_checksum(table: Table) -> None:
    table.change(Append, table.session.spark.range(10))
    size = sum(each.stat().st_size for each in table.path.glob("*.parquet"))
    assert table_bytes(table.session, table.head.pin("t")) == size
    for each in (table.path / "_delta_log").glob("*.crc"):
        each.unlink()
    assert table_bytes(table.session, table.head.pin("t")) == size
