from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from headwater.delta import (
    Append,
    Delete,
    Overwrite,
    Update,
    compute_content,
    find_content,
    keep_content,
    read_commit,
    verify_pin,
    write_policy,
)
from headwater.delta.content import NO_ROWS
from headwater.delta.digests import derive_content
from headwater.errors import DataFileMissing

if TYPE_CHECKING:
    from tests.delta.conftest import Table


def test_a_digest_is_kept_for_each_version_and_belongs_to_its_commit(table: Table) -> None:
    receipts = [table.change(Append, table.session.spark.range(count)) for count in (1, 2)]
    assert [find_content(each.pin) for each in receipts] == [each.content for each in receipts]
    other = replace(receipts[0].pin, digest="0" * 64)
    assert find_content(other) is None
    kept = table.path / "_headwater" / "content"
    for text in ("", "[]", '{"commit": 3}', "\udcff".encode("utf-8", "surrogatepass").decode("latin-1")):
        (kept / f"{1:020}.json").write_text(text)
        assert find_content(receipts[1].pin) is None


def test_a_digest_that_nobody_kept_is_made_from_the_nearest_one(table: Table) -> None:
    """By reading only the files that came and went: the others may even be gone."""
    table.change(
        Append, table.session.spark.range(5), policy=write_policy(enable_features=["deletionVectors"])
    )
    shared = list(table.path.glob("*.parquet"))
    table.sql("INSERT INTO {t} VALUES (100)")
    table.sql("INSERT INTO {t} VALUES (200), (300)")
    table.sql("DELETE FROM {t} WHERE id = 200")
    pin = table.head.pin("t")
    whole = compute_content(table.session, pin)
    assert find_content(pin) is None
    for each in shared:
        each.unlink()
    assert derive_content(table.session, pin) == whole
    with pytest.raises(DataFileMissing):
        compute_content(table.session, pin)


def test_columns_that_are_added_leave_digests_as_they_are(table: Table) -> None:
    table.change(Append, table.session.spark.range(5))
    table.change(Append, table.values("SELECT 9L AS id, 'x' AS s"), schema_mode="merge")
    last = table.change(Append, table.values("SELECT 10L AS id, 'y' AS s"))
    assert last.content == compute_content(table.session, last.pin)


def test_columns_that_changed_make_all_rows_be_read_again(table: Table) -> None:
    policy = write_policy(column_mapping_mode="name")
    table.change(Append, table.values("SELECT id, id AS other FROM range(5)"), policy=policy)
    table.sql("ALTER TABLE {t} DROP COLUMN other")
    last = table.change(Delete, where="id = 1")
    assert last.content is None  # nothing to start from: what was kept is of other columns
    again = table.change(Overwrite, table.session.spark.range(2))
    assert again.content == compute_content(table.session, again.pin)


def test_a_table_without_kept_digests_loses_only_time(table: Table) -> None:
    table.change(Append, table.session.spark.range(5))
    table.change(Update, assignments={"id": "id + 1"}, where="id > 3")
    pin = table.head.pin("t")
    content = find_content(pin)
    for each in sorted((table.path / "_headwater" / "content").iterdir()):
        each.unlink()
    assert derive_content(table.session, pin) is None
    assert compute_content(table.session, pin) == content


def test_verifying_finds_rows_that_are_not_those_that_were_written(table: Table) -> None:
    receipt = table.change(Append, table.session.spark.range(5))
    found = verify_pin(table.session, receipt.pin)
    assert (found.is_whole, found.content) == (True, receipt.content)
    keep_content(receipt.pin, NO_ROWS)
    found = verify_pin(table.session, receipt.pin)
    written = receipt.content.text if receipt.content else ""
    problem = f"its rows have the digest {written}, and were written with {NO_ROWS.text}"
    assert found.problems == (problem,)


def test_a_folder_that_cannot_be_written_keeps_none(table: Table) -> None:
    receipt = table.change(Append, table.session.spark.range(1))
    (table.path / "_headwater" / "content" / f"{0:020}.json").unlink()
    (table.path / "_headwater" / "content").rmdir()
    (table.path / "_headwater" / "content").write_text("in the way")
    keep_content(receipt.pin, NO_ROWS)
    assert find_content(receipt.pin) is None


def test_only_the_last_hundred_are_kept(table: Table) -> None:
    receipt = table.change(Append, table.session.spark.range(1))
    keep_content(replace(receipt.pin, version=100), NO_ROWS)
    assert find_content(receipt.pin) is None
    assert read_commit(table.uri, 0).version == 0


def test_columns_that_changed_places_are_not_taken_for_each_other(table: Table) -> None:
    rows = table.values("SELECT id AS x, id * 2 AS y FROM range(1, 4)")
    table.change(Append, rows, policy=write_policy(column_mapping_mode="name"))
    for old, new in (("x", "z"), ("y", "x"), ("z", "y")):
        table.sql(f"ALTER TABLE {{t}} RENAME COLUMN {old} TO {new}")
    assert table.change(Append, rows).content is None
    table.check(table.change(Overwrite, rows))
    table.sql("ALTER TABLE {t} DROP COLUMN y")
    table.sql("ALTER TABLE {t} ADD COLUMN y BIGINT")
    assert table.change(Append, rows).content is None


def test_what_a_table_keeps_differently_is_digested_as_it_is_kept(table: Table) -> None:
    empty = table.values("('', 1), ('a', 2) AS t(p, n)")
    table.check(table.change(Append, empty, policy=write_policy(partition_by=["p"])))
    table.check(table.change(Append, empty))
    table.path = table.path.with_name("padded")
    table.sql("CREATE TABLE {t} (c CHAR(5)) USING delta")
    table.check(table.change(Overwrite, table.values("('a') AS t(c)")))
    table.path = table.path.with_name("nested")
    table.change(Append, table.values("SELECT named_struct('b', 1) AS s"))
    table.check(table.change(Append, table.values("SELECT named_struct('B', 2) AS s")))


def test_only_whole_tables_are_overwritten_whatever_the_session_says(table: Table) -> None:
    rows = table.values("(1, 'a'), (2, 'b') AS t(id, p)")
    table.change(Append, rows, policy=write_policy(partition_by=["p"]))
    table.session.spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    table.check(table.change(Overwrite, rows.where("id = 1")))
    assert table.rows() == [(1, "a")]
