"""Files that appear whole or not at all."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.cli.exporting import check_file, check_folder, write_pieces, write_tables
from headwater.cpg import GraphTables
from headwater.errors import InvalidSetting, TargetNotEmpty

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ODD = 'a "b",\nc'
TABLES = GraphTables(
    nodes=pa.table({"id": ["n", "m"], "name": [ODD, None], "line": pa.array([1, None], pa.int32())}),
    edges=pa.table({"source": ["n"], "target": ["m"], "is_external": [True]}),
)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    place = tmp_path / "made" / "index.scip"
    for content in (b"first", b"second"):
        write_pieces(place, [content[:2], content[2:]])
        assert place.read_bytes() == content
    assert list(place.parent.iterdir()) == [place]


def test_what_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "index.scip"
    place.write_bytes(b"old")

    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        write_pieces(place, pieces())
    assert [each.name for each in tmp_path.iterdir()] == ["index.scip"]
    assert place.read_bytes() == b"old"


def test_csv_is_read_back_by_any_reader(tmp_path: Path) -> None:
    out = tmp_path / "graph"
    out.mkdir()
    nodes, edges = write_tables(out, TABLES, "csv")
    with nodes.open(newline="") as file:
        assert list(csv.reader(file)) == [["id", "name", "line"], ["n", ODD, "1"], ["m", "", ""]]
    with edges.open(newline="") as file:
        assert list(csv.reader(file)) == [["source", "target", "is_external"], ["n", "m", "true"]]


def test_parquet_keeps_types_and_nulls(tmp_path: Path) -> None:
    nodes, edges = write_tables(tmp_path / "graph", TABLES, "parquet")
    assert (pq.read_table(nodes), pq.read_table(edges)) == (TABLES.nodes, TABLES.edges)
    assert [each.name for each in tmp_path.iterdir()] == ["graph"]


def test_nothing_is_written_over_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    for place in (tmp_path, tmp_path / "mine"):
        with pytest.raises(TargetNotEmpty):
            check_folder(place)
        with pytest.raises(TargetNotEmpty):
            write_tables(place, TABLES, "csv")
    with pytest.raises(InvalidSetting, match=r"--out"):
        check_file(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]


def test_a_place_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidSetting, match="cannot be"):
        write_pieces(tmp_path / "file" / "index.scip", [b""])
