"""Small tables of many shapes, and the check that lineage holds: change what is not claimed, and compare.

What a column claims is kept as it is, to the field; everything else in every table is replaced by other
values. If the column, or the number of rows, comes out otherwise than before, a dependence was missed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest
from pyspark.sql.connect.proto import base_pb2, relations_pb2
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, BooleanType, DataType, DateType, IntegerType, MapType, StructType

from headwater.plan import analysed_tree, lineage_of, rehydrate

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from headwater.plan import ViewLineage
    from headwater.plan.dependence import ColumnPath, Dependence
    from headwater.runtime import RunSession, SessionRuntime

    # SQL, or what makes a frame.
    Query = str | Callable[[SparkSession], DataFrame]

TABLES = {
    "customers": "id INT, name STRING, region STRING, tier INT, parent INT, since DATE",
    "orders": "id INT, customer INT, day DATE, status STRING, amount INT, qty INT, discount INT",
    "lines": "order_id INT, product INT, units INT, price INT, is_gift BOOLEAN",
    "products": "id INT, category STRING, brand STRING, cost INT",
    "returns": "order_id INT, product INT, units INT, reason STRING",
    "quarters": "region STRING, year INT, q1 INT, q2 INT, q3 INT, q4 INT",
    "arcs": "source INT, target INT, weight INT, label STRING",
    "events": "id INT, kind STRING, "
    "who STRUCT<id: INT, name: STRING, home: STRUCT<city: STRING, zip: INT>>, "
    "items ARRAY<STRUCT<sku: STRING, price: INT, tags: ARRAY<STRING>>>, "
    "props MAP<STRING, INT>, notes MAP<STRING, STRUCT<a: INT, b: STRING>>, "
    "scores ARRAY<INT>, others ARRAY<INT>, grid ARRAY<ARRAY<INT>>",
}
# One partition and no exchange: order is what it was, and a query takes a tenth of a second.
SETTINGS = {
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
_ROWS = 24
_WORDS = ("ash", "birch", "cedar", "elm", "fir")


def _dice(seed: str) -> int:
    """A number that looks like any other and is the same every time."""
    return int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=8).digest(), "big")


def _any_value(kind: DataType, seed: str, *, nullable: bool = True) -> Any:
    """Some value of a type."""
    dice = _dice(seed)
    if nullable and dice % 7 == 0:
        return None
    dice //= 7
    match kind:
        case StructType():
            return {each.name: _any_value(each.dataType, f"{seed}.{each.name}") for each in kind}
        case ArrayType():
            return [_any_value(kind.elementType, f"{seed}[{place}]") for place in range(dice % 4)]
        case MapType():
            keys = (_any_value(kind.keyType, f"{seed}k{place}", nullable=False) for place in range(dice % 4))
            return {key: _any_value(kind.valueType, f"{seed}={key}") for key in keys}
        case IntegerType():
            return dice % 9 + 1
        case BooleanType():
            return dice % 2 == 0
        case DateType():
            return date(2026, 1, 1) + timedelta(days=dice % 40)
        case _:
            return _WORDS[dice % len(_WORDS)]


@dataclass
class Claims:
    """What of a column stays: all of it, or whether it is there and how long, with some parts."""

    is_whole: bool = False
    parts: dict[str, Claims] = field(default_factory=dict[str, "Claims"])

    @classmethod
    def of(cls, paths: Iterable[ColumnPath]) -> Claims:
        """The claims on one dataset's columns."""
        top = cls()
        for path in paths:
            here = top
            for part in path.parts:
                here = here.parts.setdefault(part, cls())
            here.is_whole |= path.whole
        return top


def _changed(value: Any, kind: DataType, claims: Claims | None, seed: str) -> Any:
    """Another value of the type, in which only what is claimed is as before."""
    if claims is None:
        return _any_value(kind, seed)
    if claims.is_whole or value is None:
        return value
    match kind:
        case StructType():
            return {
                each.name: _changed(
                    value[each.name], each.dataType, claims.parts.get(each.name), f"{seed}.{each.name}"
                )
                for each in kind
            }
        case ArrayType():
            inner = claims.parts.get("element")
            return [
                _changed(each, kind.elementType, inner, f"{seed}[{place}]")
                for place, each in enumerate(value)
            ]
        case MapType():
            keys, values = claims.parts.get("key"), claims.parts.get("value")
            # Other keys, and as many of them.
            return {
                key if keys else f"{key}~{seed}": _changed(each, kind.valueType, values, f"{seed}={key}")
                for key, each in value.items()
            }
        case _:
            return _any_value(kind, seed, nullable=False)


def _rows_changed(
    rows: list[dict[str, Any]], schema: StructType, claims: Claims, table: str
) -> list[dict[str, Any]]:
    return [_changed(row, schema, claims, f"other {table}#{place}") for place, row in enumerate(rows)]


def _base_rows(table: str, schema: StructType) -> list[dict[str, Any]]:
    rows = [
        {each.name: _any_value(each.dataType, f"{table}.{each.name}#{place}") for each in schema}
        for place in range(_ROWS)
    ]
    # A row twice, and one that is null everywhere: grouping, sets and joins treat them apart.
    return [*rows, dict(rows[0]), dict.fromkeys(rows[0])]


def _plain(value: Any) -> Any:
    """A value that can be counted."""
    return json.dumps(value, default=lambda each: each.asDict() if hasattr(each, "asDict") else str(each))


@dataclass
class Tables:
    """The tables as views of one session, as they are or changed."""

    session: RunSession
    schemas: dict[str, StructType]
    known: dict[tuple[str, frozenset[ColumnPath] | None], DataFrame] = field(default_factory=dict[Any, Any])

    def show(self, tables: Iterable[str] = TABLES, kept: frozenset[ColumnPath] | None = None) -> None:
        """Registers tables: as they are, or with everything changed but some columns."""
        for table in tables:
            mine = None if kept is None else frozenset(each for each in kept if each.dataset == table)
            if (table, mine) not in self.known:
                rows = _base_rows(table, self.schemas[table])
                if mine is not None:
                    rows = _rows_changed(rows, self.schemas[table], Claims.of(mine), table)
                self.known[table, mine] = self._frame(rows, self.schemas[table])
            self.known[table, mine].createOrReplaceTempView(table)

    def _frame(self, rows: list[dict[str, Any]], schema: StructType) -> DataFrame:
        listed = [
            {
                each.name: list(row[each.name].items())
                if isinstance(each.dataType, MapType) and row[each.name] is not None
                else row[each.name]
                for each in schema
            }
            for row in rows
        ]
        table = pa.Table.from_pylist(listed, schema=to_arrow_schema(schema))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        local = relations_pb2.LocalRelation(data=sink.getvalue().to_pybytes(), schema=schema.json())
        plan = base_pb2.Plan(root=relations_pb2.Relation(local_relation=local))
        return rehydrate(self.session, plan.SerializeToString(), "t")

    def frame(self, query: Query) -> DataFrame:
        """A query over the tables as they are now."""
        spark = self.session.spark
        return spark.sql(query) if isinstance(query, str) else query(spark)

    def lineage(self, sql: str) -> ViewLineage:
        """What a query over the tables claims."""
        return self.lineage_of(self.session.spark.sql(sql))

    @staticmethod
    def lineage_of(frame: DataFrame) -> ViewLineage:
        """What a frame over the tables claims."""
        return lineage_of(analysed_tree(frame), "v")

    def claims(self, sql: str) -> dict[str, list[str]]:
        """What each column of a query claims, and its rows under `*`, as words."""
        lineage = self.lineage(sql)
        found = {column.name: [_words(each) for each in column.dependences] for column in lineage.columns}
        return {**found, "*": [_words(each) for each in lineage.rows]}

    def check(self, query: Query, lineage: ViewLineage | None = None) -> None:
        """Fails if something matters to a column, or to the number of rows, that is not claimed for it."""
        lineage = lineage or self.lineage_of(self.frame(query))
        rows = frozenset(path for path, _ in lineage.rows)
        claims = [rows.union(path for path, _ in column.dependences) for column in lineage.columns]
        sets = sorted({rows, *claims, rows.union(*claims)}, key=sorted)
        before, *others = self._rows_with(query, lineage.datasets, [None, *sets])
        assert before, "a query that finds nothing proves nothing"
        for kept, after in zip(sets, others, strict=True):
            places = [place for place, each in enumerate(claims) if each <= kept]
            gone = _counted(before, places) - _counted(after, places)
            names = [lineage.columns[place].name for place in places]
            claimed = [f"{path.dataset}.{path.column}" for path in sorted(kept)]
            assert not gone, f"{names} changed, though {claimed} did not: {gone.most_common(3)} are gone"
            assert len(before) == len(after), f"{claimed} did not change, but the number of rows did"

    def _rows_with(
        self, query: Query, tables: Iterable[str], sets: Sequence[frozenset[ColumnPath] | None]
    ) -> list[list[list[Any]]]:
        """The rows of a query for each set of columns that stay as they are, all found by one job."""
        frames: list[DataFrame] = []
        try:
            for number, kept in enumerate(sets):
                self.show(tables, kept)
                frames.append(self.frame(query).selectExpr(f"{number} AS number", "*"))
        finally:
            self.show(tables)
        found: list[list[list[Any]]] = [[] for _ in sets]
        for row in reduce(lambda one, two: one.union(two), frames).collect():
            values: list[Any] = list(row)
            found[values[0]].append(values[1:])
        return found

    def changes_with(self, sql: str, path: ColumnPath) -> bool:
        """Whether a query's rows change with one column, or one field of it."""
        schema = self.schemas[path.dataset]
        base = _base_rows(path.dataset, schema)
        other = [_with(row, path.parts, schema, f"one#{place}") for place, row in enumerate(base)]
        self._frame(other, schema).createOrReplaceTempView(path.dataset)
        try:
            after = self.session.spark.sql(sql).collect()
        finally:
            self.show([path.dataset])
        return _counted(after, None) != _counted(self.session.spark.sql(sql).collect(), None)


def _words(dependence: Dependence) -> str:
    (dataset, parts, is_whole), kind = dependence
    return f"{kind} {'' if is_whole else 'presence of '}{dataset}.{'.'.join(parts)}"


def _counted(rows: Sequence[Sequence[Any]], places: list[int] | None) -> Counter[str]:
    return Counter(_plain(row if places is None else [row[place] for place in places]) for row in rows)


def _with(value: Any, parts: tuple[str, ...], kind: DataType, seed: str) -> Any:
    """A value in which one part is another."""
    if not parts:
        return _any_value(kind, seed, nullable=False)
    if value is None:
        return None
    part, rest = parts[0], parts[1:]
    match kind:
        case StructType():
            return {**value, part: _with(value[part], rest, kind[part].dataType, seed)}
        case ArrayType():
            return [_with(each, rest, kind.elementType, f"{seed}[{n}]") for n, each in enumerate(value)]
        case MapType() if part == "key":
            return {f"{key}~": each for key, each in value.items()}
        case MapType():
            return {key: _with(each, rest, kind.valueType, f"{seed}={key}") for key, each in value.items()}
        case _:
            raise AssertionError(part)


@pytest.fixture(scope="module")
def tables(runtime: SessionRuntime) -> Generator[Tables]:
    """The tables, registered in a session of a test file's own."""
    with runtime.checkout() as session:
        for key, value in SETTINGS.items():
            session.spark.conf.set(key, value)
        schemas = {name: cast("StructType", StructType.fromDDL(text)) for name, text in TABLES.items()}
        found = Tables(session, schemas)
        found.show()
        yield found
