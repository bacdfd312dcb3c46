from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from headwater.delta import (
    Overwrite,
    alter_properties,
    commit_mutation,
    find_content,
    keep_content,
    newest_with_same_rows,
    rows_made_by,
)
from headwater.delta.content import NO_ROWS
from headwater.delta.upkeep.content import carry_content
from headwater.errors import CommitConflict

if TYPE_CHECKING:
    from tests.delta.upkeep.conftest import Keep


def test_files_that_anybody_rearranged_hold_the_rows_of_before(keep: Keep) -> None:
    keep.lived()
    assert rows_made_by(keep.pin(5)) == keep.pin(4)  # OPTIMIZE
    for version in range(5):
        assert rows_made_by(keep.pin(version)) == keep.pin(version)
    # Otherwise Delta lists the folder in ten thousand tasks.
    keep.table.session.spark.conf.set("spark.sql.sources.parallelPartitionDiscovery.parallelism", "2")
    keep.table.sql("VACUUM {t} RETAIN 200 HOURS")
    assert keep.table.version > 5
    assert rows_made_by(keep.pin()) == keep.pin(4)
    assert newest_with_same_rows(keep.pin(4)) == keep.pin()
    assert newest_with_same_rows(keep.pin(3)) == keep.pin(3)
    gone = replace(keep.pin(4), digest="of a table that was there before")
    assert newest_with_same_rows(gone) == gone


def test_who_only_says_that_nothing_changes_is_not_believed(keep: Keep) -> None:
    keep.lived()
    before, few = keep.pin(5), keep.table.sql("SELECT * FROM {t} LIMIT 1")
    writer = few.write.format("delta").mode("overwrite").option("dataChange", "false")
    writer.save(str(keep.table.path))
    assert rows_made_by(keep.pin()) == keep.pin(6)
    assert newest_with_same_rows(before) == before


def test_a_commit_that_cannot_be_read_is_as_far_as_one_looks(keep: Keep) -> None:
    keep.lived()
    newest = keep.pin(5)
    (keep.table.path / "_delta_log" / f"{4:020}.json").write_text("{")
    assert rows_made_by(newest) == newest


def test_properties_leave_rows_alone_if_they_were_set_here(keep: Keep) -> None:
    keep.lived()
    keep_content(keep.pin(5), NO_ROWS)
    alter_properties(keep.task("properties"), {"x": "y"}, ["delta.deletedFileRetentionDuration"])
    assert keep.table.version == 7
    assert rows_made_by(keep.pin(7)) == keep.pin(4)
    assert find_content(keep.pin(7)) == NO_ROWS
    keep.table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('x' = 'z')")
    assert rows_made_by(keep.pin()) == keep.pin(8)
    keep.table.sql("ALTER TABLE {t} ADD COLUMN more INT")
    assert rows_made_by(keep.pin()) == keep.pin(9)


def test_where_the_log_ends_the_oldest_commit_with_the_same_rows_is_named(keep: Keep) -> None:
    keep.lived()
    newest = keep.pin(5)
    (keep.table.path / "_delta_log" / f"{4:020}.json").unlink()
    assert rows_made_by(newest) == newest


def test_a_digest_goes_with_the_rows_and_no_further(keep: Keep) -> None:
    keep.lived()
    carry_content(keep.pin(4), keep.pin(5))
    assert find_content(keep.pin(5)) is None  # there was nothing to carry
    keep_content(keep.pin(2), NO_ROWS)
    carry_content(keep.pin(2), keep.pin(5))
    assert find_content(keep.pin(5)) is None  # others wrote in between
    keep_content(keep.pin(4), NO_ROWS)
    carry_content(keep.pin(4), keep.pin(5))
    assert find_content(keep.pin(5)) == NO_ROWS


def test_a_write_that_must_follow_a_version_may_follow_what_was_made_of_its_files(keep: Keep) -> None:
    keep.lived()
    table = keep.table
    meant = table.meant(Overwrite, exact=True, base_version=4, schema_mode="overwrite")
    assert table.version == 5  # OPTIMIZE
    receipt = commit_mutation(table.session, meant, table.values("(1) AS t(id)"))
    assert (receipt.outcome, receipt.version) == ("committed", 6)
    late = table.meant(Overwrite, exact=True, base_version=4, schema_mode="overwrite")
    with pytest.raises(CommitConflict):
        commit_mutation(table.session, late, table.values("(2) AS t(id)"))
