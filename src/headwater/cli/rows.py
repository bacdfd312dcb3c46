"""Rows of a result, written as they come: a table for a person; JSON, CSV or Arrow for a program.

Text has no form for some values, so they get one: in JSON a time is ISO 8601 and a decimal keeps its digits
as text; bytes are base64; lists and structs inside CSV are JSON. Not here: where the rows come from.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, cast

import msgspec
import pyarrow as pa
import pyarrow.csv as pa_csv
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater.cli.render import DOCUMENT_VERSION, error_document, print_grid, printable
from headwater.errors import HeadwaterError, NoSuchForm
from headwater.run import QueryResult

Convert = Callable[[Any], Any]
_PLAIN_IN_CSV = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
)


def show_rows(result: QueryResult, most: int, *, quiet: bool, no_color: bool) -> None:
    """A table of at most `most` rows; says so if there were more."""
    converts = _converts(result.schema)
    every = (row for batch in result for row in _plain_rows(batch, converts))
    rows = list(islice(every, most + 1))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, kind in zip(result.columns, result.schema.types, strict=True):
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        table.add_column(Text(printable(column.name)), justify="right" if is_number else "left")
    for row in rows[:most]:
        table.add_row(*(Text(_cell(value)) for value in row))
    print_grid(table, no_color=no_color)
    if not quiet:
        count = len(rows[:most])
        more = "; there are more: --limit N shows N, --format csv all" if len(rows) > most else ""
        Console(no_color=no_color or None).print(
            f"{count} row{'' if count == 1 else 's'}{more}", style="dim", soft_wrap=True, highlight=False
        )


def write_json_rows(result: QueryResult) -> HeadwaterError | None:
    """One JSON document, written row by row; gives back a failure that came after the first rows.

    Such a document is whole all the same: it ends with `status` and `error`.

    Raises:
        HeadwaterError: nothing was written yet.
    """
    names = [column.name for column in result.columns]
    _check_distinct(names)
    converts = _converts(result.schema)
    batches = _begun(result)
    columns = [{"name": column.name, "type": column.type} for column in result.columns]
    head = _json({"schema_version": DOCUMENT_VERSION, "columns": columns})
    sys.stdout.write(f'{head[:-1]},"rows":[')
    separator, end = "\n", "}"
    failure = None
    try:
        for batch in batches:
            for row in _plain_rows(batch, converts):
                sys.stdout.write(separator + _json(dict(zip(names, row, strict=True))))
                separator = ",\n"
    except HeadwaterError as error:
        failure = error
        end = "," + _json({"status": "failed", "error": error_document(error)})[1:]
    sys.stdout.write(f"\n]{end}\n")
    return failure


def write_csv(result: QueryResult) -> None:
    """CSV with a header; quoted where it has to be, nothing for null."""
    batches = _begun(result)
    converts = _converts(result.schema)
    fields = cast("Iterable[Any]", result.schema)
    text = pa.schema([pa.field(field.name, _csv_type(field.type)) for field in fields])
    with pa_csv.CSVWriter(sys.stdout.buffer, text) as writer:
        for batch in batches:
            arrays = [
                _csv_array(column, kind, convert)
                for column, kind, convert in zip(_columns(batch), text.types, converts, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=text))
    sys.stdout.buffer.flush()


def write_arrow(result: QueryResult) -> None:
    """Arrow's IPC stream format, for `pyarrow.ipc.open_stream` and its like."""
    batches = _begun(result)
    with pa.ipc.new_stream(cast("Any", sys.stdout.buffer), result.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    sys.stdout.buffer.flush()


def _begun(result: QueryResult) -> Iterator[pa.RecordBatch]:
    """The batches, the first of them computed: most failures come before a byte was written."""
    batches = iter(result)
    return chain(list(islice(batches, 1)), batches)


def _plain_rows(batch: pa.RecordBatch, converts: list[Convert | None]) -> Iterable[tuple[Any, ...]]:
    columns = [
        _plain_values(column, convert) for column, convert in zip(_columns(batch), converts, strict=True)
    ]
    return zip(*columns, strict=True) if columns else [()] * batch.num_rows


def _columns(batch: pa.RecordBatch) -> list[Any]:
    return list(cast("Any", batch).columns)


def _plain_values(column: Any, convert: Convert | None) -> list[Any]:
    """Values that JSON has; dates and times become text in Arrow, which knows years that Python does not."""
    values: list[Any] = column.cast(_plain_type(column.type)).to_pylist()
    return [None if value is None else convert(value) for value in values] if convert else values


def _plain_type(kind: Any) -> Any:
    """The type with text in the place of each that Python or JSON would bend."""
    if pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_decimal(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_plain_field(kind.value_field))
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(kind.field(index)) for index in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(_plain_type(kind.key_type), _plain_field(kind.item_field))
    return kind


def _plain_field(field: Any) -> Any:
    return field.with_type(_plain_type(field.type))


def _converts(schema: pa.Schema) -> list[Convert | None]:
    return [_convert_of(field.type, field.name) for field in cast("Iterable[Any]", schema)]


def _convert_of(kind: Any, name: str) -> Convert | None:
    """What is still to be done with a column's values so that JSON has a form for them; None: nothing."""
    if pa.types.is_floating(kind):
        return _finite
    if pa.types.is_timestamp(kind):
        return _iso
    if pa.types.is_interval(kind):
        return lambda value: f"{value.months} months {value.days} days {value.nanoseconds / 1e9:g} seconds"
    if pa.types.is_list(kind):
        return _list_convert(_convert_of(kind.value_type, name))
    if pa.types.is_struct(kind):
        fields: list[Any] = [kind.field(index) for index in range(kind.num_fields)]
        _check_distinct([field.name for field in fields], name)
        return _struct_convert({field.name: _convert_of(field.type, name) for field in fields})
    if pa.types.is_map(kind):
        is_object = pa.types.is_string(kind.key_type)
        return _map_convert(
            _convert_of(kind.key_type, name), _convert_of(kind.item_type, name), is_object=is_object
        )
    return None


def _list_convert(inner: Convert | None) -> Convert | None:
    return (lambda values: [_converted(inner, each) for each in values]) if inner else None


def _struct_convert(inner: dict[str, Convert | None]) -> Convert | None:
    if not any(inner.values()):
        return None
    return lambda values: {name: _converted(convert, values[name]) for name, convert in inner.items()}


def _map_convert(key: Convert | None, value: Convert | None, *, is_object: bool) -> Convert:
    """An object where keys are text; a list of keys and values where they are not."""

    def convert(pairs: list[tuple[Any, Any]]) -> Any:
        done = [(_converted(key, first), _converted(value, second)) for first, second in pairs]
        return dict(done) if is_object else [{"key": first, "value": second} for first, second in done]

    return convert


def _converted(convert: Convert | None, value: Any) -> Any:
    return convert(value) if convert and value is not None else value


def _finite(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _iso(value: str) -> str:
    return value.replace(" ", "T", 1)


def _check_distinct(names: list[str], column: str | None = None) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            inside = f" inside '{column}'" if column else ""
            raise NoSuchForm(
                column=name,
                complaint=f"is there twice{inside}, which a JSON object cannot show",
                remedy="Give each a name of its own with AS, or take --format arrow.",
            )


def _csv_type(kind: Any) -> Any:
    return kind if any(is_it(kind) for is_it in _PLAIN_IN_CSV) else pa.string()


def _csv_array(column: Any, kind: Any, convert: Convert | None) -> Any:
    if column.type == kind:
        return column
    values = _plain_values(column, convert)
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: object) -> str:
    return value if isinstance(value, str) else _json(value).strip('"')


def _cell(value: object) -> str:
    return "NULL" if value is None else printable(_text(value))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
