from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.delta import pin_files, read_files
from headwater.delta.listing import delta_tables_in
from headwater.errors import EngineFailed, FileNameNotUtf8, SourceUnreadable

if TYPE_CHECKING:
    from headwater.runtime import RunSession


def test_a_pin_changes_with_content_and_only_with_content(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.csv").write_text("1\n")
    (tmp_path / "sub" / "b.csv").write_text("2\n")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden").write_text("")
    first = pin_files("t", tmp_path.as_uri())
    assert [file.path for file in first.files] == ["a.csv", "sub/b.csv"]
    os.utime(tmp_path / "a.csv", (1, 1))
    assert pin_files("t", tmp_path.as_uri()).pin == first.pin
    (tmp_path / "a.csv").write_text("3\n")
    assert pin_files("t", tmp_path.as_uri()).pin != first.pin


def test_a_file_as_recorded_is_not_hashed_again_and_a_forged_time_does_not_help(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("1\n")
    first = pin_files("t", file.as_uri())
    recorded = [replace(each, sha256="recorded") for each in first.files]
    assert pin_files("t", file.as_uri(), recorded).files == tuple(recorded)
    facts = file.stat()
    file.write_text("2\n")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert pin_files("t", file.as_uri(), first.files).pin != first.pin


def test_exactly_the_pinned_files_are_read(session: RunSession, tmp_path: Path) -> None:
    (tmp_path / "a b.csv").write_text("id\n1\n")
    pinned = pin_files("t", tmp_path.as_uri())
    (tmp_path / "later.csv").write_text("id\n2\n")
    rows = read_files(session, pinned, file_format="csv", schema="id INT", options=[("header", "true")])
    assert [row["id"] for row in rows.collect()] == [1]
    assert rows.schema.simpleString() == "struct<id:int>"


def test_folders_can_be_columns_and_hidden_ones_are_left_out(session: RunSession, tmp_path: Path) -> None:
    for name in ("k=1/x.csv", "k=2/x.csv", "_temporary/0/x.csv", ".hidden/x.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{len(name)}\n")
    pinned = pin_files("t", tmp_path.as_uri())
    assert [file.path for file in pinned.files] == ["k=1/x.csv", "k=2/x.csv"]
    rows = read_files(session, pinned, file_format="csv", schema="v INT, k INT", options=[]).collect()
    assert sorted((row["v"], row["k"]) for row in rows) == [(9, 1), (9, 2)]


def test_a_name_is_no_pattern(session: RunSession, tmp_path: Path) -> None:
    root = tmp_path / "g[1]{a}"
    root.mkdir()
    for number, name in enumerate(("a[1].csv", "a1.csv", "b*.csv", "c\\?.csv")):
        (root / name).write_text(f"{number}\n")
    rows = read_files(session, pin_files("t", root.as_uri()), file_format="csv", schema="v INT", options=[])
    assert sorted(row["v"] for row in rows.collect()) == [0, 1, 2, 3]


def test_one_file_is_a_listing_too(session: RunSession, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"id": 7}\n')
    rows = read_files(session, pin_files("t", file.as_uri()), file_format="json", schema="id INT", options=[])
    assert [row["id"] for row in rows.collect()] == [7]


def test_nothing_there_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="no files"):
        pin_files("t", (tmp_path / "missing").as_uri())
    with pytest.raises(SourceUnreadable, match="no files"):
        pin_files("t", tmp_path.as_uri())


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")).write_text("1")
    with pytest.raises(FileNameNotUtf8) as caught:
        pin_files("t", tmp_path.as_uri())
    assert "\\udcff" in caught.value.message


def test_a_format_that_is_not_there_is_a_typed_error(session: RunSession, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    with pytest.raises(EngineFailed) as caught:
        read_files(session, pin_files("t", tmp_path.as_uri()), file_format="xlsx", schema=None, options=[])
    assert caught.value.condition == "DATA_SOURCE_NOT_FOUND"
    assert "format" in caught.value.next_step


def test_a_delta_table_is_noticed_wherever_its_files_are_listed_from(tmp_path: Path) -> None:
    """Its folder, a partition, one file, the folder above, and links to all of these; no log is no table."""
    lake = tmp_path / "lake"
    table, plain = lake / "t", tmp_path / "plain"
    for file in (table / "k=1" / "f.parquet", table / "_delta_log" / f"{0:020}.json", plain / "f.parquet"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    (tmp_path / "linked").symlink_to(table)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "f.parquet").symlink_to(table / "k=1" / "f.parquet")
    for place in (table, table / "k=1", table / "k=1" / "f.parquet", lake):
        assert delta_tables_in(pin_files("t", place.as_uri())) == (str(table),), place
    for place in (tmp_path / "linked", tmp_path / "links"):
        assert str(table) in delta_tables_in(pin_files("t", place.as_uri())), place
    assert delta_tables_in(pin_files("t", plain.as_uri())) == ()
    (plain / "_delta_log").mkdir()
    assert delta_tables_in(pin_files("t", plain.as_uri())) == ()
