"""What Python workers do with the files of a source: read one, check it, hand it to a function, make a row.

A file that makes the function fail gives a row that says so, and the run goes on. A file that is not what was
pinned ends it: a row about that would stand for a content it was not made of.
Not here: which files there are, and what the function finds in them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark import TaskContext

from headwater.digest import digest_of_bytes, digest_of_file
from headwater.memory import give_back
from headwater.names import same_name
from headwater.pipeline.purity import pure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Extract = Callable[[str, bytes], Mapping[str, object]]

# The format of a source whose rows are files.
FILES = "files"
# What a source of files has to tell of each.
FILE_COLUMNS = "path STRING, size_bytes BIGINT, content_sha256 STRING, skip_reason STRING"
# What an extractor's table has before the columns of its own.
ROW_COLUMNS = f"{FILE_COLUMNS}, extract_error STRING"
_FACTS = ("path", "size_bytes", "content_sha256", "skip_reason")
_GIVEN = frozenset({*_FACTS, "extract_error"})
# A batch ends after so many bytes of source: nested rows are many times as large.
_BATCH_BYTES = 1_000_000
_LONGEST_ERROR = 500


class FileChanged(Exception):
    """A file is not, or no longer, what the run has pinned."""


def root_property(source: str) -> str:
    """The property of a Spark job that says where the files of a source lie, on the machine that runs it."""
    return f"headwater.files.{same_name(source)}"


def extraction(
    function: Extract, source: str, schema: bytes, version: str
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """What mapInArrow is given: the function of one file, over batches of files.

    Args:
        function: makes of a path and a content the values of one row, by column.
        source: the name of the source that the files are of.
        schema: the Arrow schema of the whole row, serialised.
        version: part of the identity of the view, and of nothing else.
    """

    def extract(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _rows(batches, function, _root_of(source), schema)

    # What hangs on a function is part of its digest; this file makes rows, whatever its package's version.
    vars(extract)["version"] = [version, digest_of_file(Path(__file__))]
    return pure(extract)


def _root_of(source: str) -> Path:
    context = TaskContext.get()
    root = context.getLocalProperty(root_property(source)) if context else None
    if root is None:
        raise FileChanged(f"nobody has said where the files of '{source}' lie")
    return Path(root)


def _rows(
    batches: Iterator[pa.RecordBatch], function: Extract, root: Path, schema: bytes
) -> Iterator[pa.RecordBatch]:
    shape = pa.ipc.read_schema(pa.py_buffer(schema))
    kinds = {field.name: field.type for field in cast("list[pa.Field[Any]]", list(shape))}
    rows: list[Mapping[str, object]] = []
    taken = 0
    for batch in batches:
        for file in batch.to_pylist():
            rows.append(_row(file, function, root, kinds))
            taken += file["size_bytes"] or 0
            if taken >= _BATCH_BYTES:
                yield batch_of(rows, shape)
                rows, taken = [], 0
    if rows:
        yield batch_of(rows, shape)
    # A worker waits for its next task, and keeps until then what it is not told to give back.
    rows.clear()
    pa.default_memory_pool().release_unused()
    give_back()


def _row(
    file: dict[str, Any], function: Extract, root: Path, kinds: Mapping[str, pa.DataType]
) -> Mapping[str, object]:
    facts = {name: file[name] for name in _FACTS}
    if file["skip_reason"] is not None:
        return facts
    try:
        content = (root / file["path"]).read_bytes()
    except OSError as error:
        raise FileChanged(f"{file['path']} cannot be read any more: {error.strerror or error}") from None
    if digest_of_bytes(content) != file["content_sha256"]:
        raise FileChanged(f"{file['path']} changed while the run went on")
    try:
        return {**facts, **_checked(function(file["path"], content), kinds)}
    except (Exception, SystemExit) as error:  # noqa: BLE001  one file must not end the run, whatever is wrong
        return facts | {"extract_error": f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]}


def _checked(values: Mapping[str, object], kinds: Mapping[str, pa.DataType]) -> Mapping[str, object]:
    """The values, if each has a column that holds it as it is."""
    for name, value in values.items():
        if name not in kinds or name in _GIVEN:
            message = f"the schema has no column '{name}'"
            raise KeyError(message)
        kind = kinds[name]
        # Arrow would cut the one off, and take the other apart, without a word.
        is_cut = isinstance(value, float) and pa.types.is_integer(kind)
        if is_cut or (isinstance(value, str | bytes) and pa.types.is_list(kind)):
            message = f"column '{name}' is {kind}, not {value!r}"
            raise TypeError(message)
        if not isinstance(value, pa.Array):
            try:
                pa.array([value], kind)
            except pa.ArrowException as error:
                message = f"column '{name}': {error}"
                raise TypeError(message) from None
    return values


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
