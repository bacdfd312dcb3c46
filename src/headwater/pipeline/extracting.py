"""What Python workers do with the files of a source: read one, check it, hand it to a function, make a row.

A file that is not what was pinned, cannot be read, or makes the function fail gives a row that says so; the
run goes on. Not here: which files there are, and what the function finds in them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from headwater.digest import digest_of_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Extract = Callable[[str, bytes], Mapping[str, object]]

# The format of a source whose rows are files.
FILES = "files"
# What a source of files has to tell of each; LOCATION is where it lies on this machine, and goes no further.
LOCATION = "_location"
FILE_COLUMNS = "path STRING, size_bytes BIGINT, content_sha256 STRING, skip_reason STRING"
# What an extractor's table has before the columns of its own.
ROW_COLUMNS = f"{FILE_COLUMNS}, extract_error STRING"
_FACTS = ("path", "size_bytes", "content_sha256", "skip_reason")
# A batch ends after so many bytes of source: nested rows are many times as large.
_BATCH_BYTES = 1_000_000
_LONGEST_ERROR = 500


def extraction(function: Extract, schema: bytes, version: str) -> Callable[..., Iterator[pa.RecordBatch]]:
    """What mapInArrow is given: the function of one file, over batches of files.

    Args:
        function: makes of a path and a content the values of one row, by column.
        schema: the Arrow schema of the whole row, serialised.
        version: part of the identity of the view, and of nothing else.
    """

    def extract(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _rows(batches, function, schema)

    vars(extract)["version"] = version  # what hangs on a function is part of its digest
    return extract


def _rows(batches: Iterator[pa.RecordBatch], function: Extract, schema: bytes) -> Iterator[pa.RecordBatch]:
    shape = pa.ipc.read_schema(pa.py_buffer(schema))
    rows: list[Mapping[str, object]] = []
    taken = 0
    for batch in batches:
        for file in batch.to_pylist():
            rows.append(_row(file, function))
            taken += file["size_bytes"] or 0
            if taken >= _BATCH_BYTES:
                yield batch_of(rows, shape)
                rows, taken = [], 0
    if rows:
        yield batch_of(rows, shape)


def _row(file: dict[str, Any], function: Extract) -> Mapping[str, object]:
    facts = {name: file[name] for name in _FACTS}
    if file["skip_reason"] is not None:
        return facts
    try:
        content = Path(file[LOCATION]).read_bytes()
    except OSError as error:
        return facts | {"skip_reason": f"cannot be read: {error.strerror or error}"}
    if digest_of_bytes(content) != file["content_sha256"]:
        return facts | {"skip_reason": "changed while the run went on; build again"}
    try:
        return {**facts, **function(file["path"], content)}
    except Exception as error:  # noqa: BLE001  one file must not end the run, whatever is wrong with it
        return facts | {"extract_error": f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]}


def batch_of(rows: list[Mapping[str, object]], schema: pa.Schema) -> pa.RecordBatch:
    """Rows as one batch. A list may come as an Arrow array of its elements, which saves taking it apart."""
    fields = cast("list[pa.Field[Any]]", list(schema))
    columns = [_column([row.get(field.name) for row in rows], field.type) for field in fields]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array[Any]:
    if not pa.types.is_list(kind) or not any(isinstance(value, pa.Array) for value in values):
        return cast("pa.Array[Any]", pa.array(values, kind))
    parts: list[pa.Array[Any]] = []
    offsets: list[int | None] = []
    end = 0
    for value in values:
        offsets.append(None if value is None else end)
        if value is not None:
            content = cast("Any", value if isinstance(value, pa.Array) else pa.array(value, kind.value_type))
            parts.append(content.cast(kind.value_type))
            end += len(content)
    places = pa.array([*offsets, end], pa.int32())
    return pa.ListArray.from_arrays(places, pa.concat_arrays(parts), type=kind)
