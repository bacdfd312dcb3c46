from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from headwater.digest import digest_of_bytes
from headwater.pipeline import extracting
from headwater.pipeline.extracting import FileChanged, batch_of, extraction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("size_bytes", pa.int64()),
        ("content_sha256", pa.string()),
        ("skip_reason", pa.string()),
        ("extract_error", pa.string()),
        ("words", pa.list_(pa.string())),
    ]
)


def words(path: str, content: bytes) -> dict[str, object]:
    del path
    return {"words": content.decode().split()}


def listed(path: Path, **changes: object) -> dict[str, object]:
    content = path.read_bytes() if path.exists() else b""
    facts = {
        "path": path.name,
        "size_bytes": len(content),
        "content_sha256": digest_of_bytes(content),
        "skip_reason": None,
    }
    return facts | changes


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where workers are told by the job's properties, these tests say it."""
    monkeypatch.setattr(extracting, "_root_of", {"texts": tmp_path}.__getitem__)


def extracted(
    *files: dict[str, object], function: Callable[[str, bytes], Mapping[str, object]] = words
) -> list[dict[str, Any]]:
    run = extraction(function, "texts", SCHEMA.serialize().to_pybytes(), "1")
    batch = pa.RecordBatch.from_pylist(list(files))
    return [row for made in run(iter([batch])) for row in made.to_pylist()]


def test_each_file_gives_a_row(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two")
    (tmp_path / "b.txt").write_text("")
    one, two = extracted(listed(tmp_path / "a.txt"), listed(tmp_path / "b.txt"))
    assert (one["path"], one["words"], one["extract_error"]) == ("a.txt", ["one", "two"], None)
    assert (two["path"], two["words"], two["size_bytes"]) == ("b.txt", [], 0)


def test_a_file_that_is_left_out_keeps_its_reason_and_is_not_read(tmp_path: Path) -> None:
    (row,) = extracted(listed(tmp_path / "gone.txt", skip_reason="too large", content_sha256=None))
    assert (row["skip_reason"], row["words"]) == ("too large", None)


def test_a_file_that_changed_since_it_was_pinned_is_not_taken_for_the_pinned_one(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("before")
    facts = listed(file)
    file.write_text("after!")
    with pytest.raises(FileChanged, match=r"a\.txt changed while the run went on"):
        extracted(facts)


def test_neither_is_a_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(FileChanged, match=r"gone\.txt cannot be read any more: No such file or directory"):
        extracted(listed(tmp_path / "gone.txt"))


@pytest.mark.parametrize("error", [ValueError("no"), RecursionError("deep"), MemoryError("much")])
def test_a_function_that_fails_on_a_file_fails_on_no_other(tmp_path: Path, error: Exception) -> None:
    def fails(path: str, content: bytes) -> Mapping[str, object]:
        if path == "a.txt":
            raise error
        return words(path, content)

    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("x")
    one, two = extracted(listed(tmp_path / "a.txt"), listed(tmp_path / "b.txt"), function=fails)
    assert one["extract_error"] == f"{type(error).__name__}: {error}"
    assert two["words"] == ["x"]


def test_an_error_is_cut_to_a_bounded_length(tmp_path: Path) -> None:
    def fails(path: str, content: bytes) -> Mapping[str, object]:
        raise ValueError(path * 10_000, content)

    (tmp_path / "a.txt").write_text("x")
    (row,) = extracted(listed(tmp_path / "a.txt"), function=fails)
    assert len(row["extract_error"]) == 500


def test_batches_end_before_they_grow_large(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("x " * 300_000)
    run = extraction(words, "texts", SCHEMA.serialize().to_pybytes(), "1")
    batch = pa.RecordBatch.from_pylist([listed(file)] * 5)
    assert [made.num_rows for made in run(iter([batch]))] == [2, 2, 1]


def test_a_list_may_be_an_arrow_array_of_its_elements() -> None:
    kind = pa.struct([("n", pa.int32()), ("t", pa.string())])
    schema = pa.schema([("rows", pa.list_(kind))])
    given = pa.array([{"n": 1, "t": "a"}, {"n": 2, "t": None}], kind)
    wide = pa.array([{"n": 3, "t": "c"}], pa.struct([("n", pa.int64()), ("t", pa.string())]))
    rows: list[Mapping[str, object]] = [{"rows": given}, {"rows": None}, {"rows": []}, {}, {"rows": wide}]
    assert batch_of(rows, schema).column("rows").to_pylist() == [
        [{"n": 1, "t": "a"}, {"n": 2, "t": None}],
        None,
        [],
        None,
        [{"n": 3, "t": "c"}],
    ]


def test_a_worker_that_is_not_told_where_files_lie_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    run = extraction(words, "texts", SCHEMA.serialize().to_pybytes(), "1")
    with pytest.raises(FileChanged, match="where the files of 'texts' lie"):
        list(run(iter([])))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"wrds": ["x"]}, "no column 'wrds'"),
        ({"path": "x"}, "no column 'path'"),
        ({"words": "x"}, "column 'words'"),
        ({"words": [1]}, "column 'words'"),
        ({"size": 7.9}, "not 7.9"),
        ({"size": 2**40}, "column 'size'"),
        (None, "NoneType"),
    ],
)
def test_a_value_that_does_not_fit_is_the_files_error(tmp_path: Path, made: Any, words: str) -> None:
    schema = SCHEMA.append(pa.field("size", pa.int32()))
    (tmp_path / "a.txt").write_text("x")
    run = extraction(lambda _path, _content: made, "texts", schema.serialize().to_pybytes(), "1")
    batch = pa.RecordBatch.from_pylist([listed(tmp_path / "a.txt")])
    (row,) = [row for each in run(iter([batch])) for row in each.to_pylist()]
    assert words in row["extract_error"]
    assert row["words"] is None
