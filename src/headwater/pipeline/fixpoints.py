"""Tables that are made of themselves, until nothing new appears: the decorator, and `[fixpoints.NAME]`.

    @headwater.fixpoint(schema="src STRING, dst STRING")
    def reach(reach, edges): ...         reads its own name: the rows that are found so far

Not here: other decorators, and the rounds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack

from pyspark.sql.types import (
    ArrayType,
    DataType,
    GeographyType,
    GeometryType,
    MapType,
    StringType,
    StructType,
    VariantType,
)

from headwater.errors import InvalidSetting
from headwater.given import number, text
from headwater.pipeline.ddl import parse_ddl
from headwater.pipeline.definition import declared
from headwater.pipeline.spec import Fixpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.policies import WriteKeywords

P = ParamSpec("P")
R = TypeVar("R")
MAX_ROUNDS = 100
FIXPOINT_KEYS = ("schema", "max_rounds")
_NOT_COMPARABLE = (MapType, VariantType, GeometryType, GeographyType)
_BINARY = "UTF8_BINARY"


def fixpoint(
    *,
    schema: str,
    max_rounds: int = MAX_ROUNDS,
    name: str | None = None,
    **write: Unpack[WriteKeywords],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declares a table as the least set of rows that its own definition makes of itself.

    The function has the table's own name among its parameters: the rows that are found so far, at first none.
    It is applied again and again, each row is kept once (nulls are equal), and when a round finds nothing
    new the table is written. Every row that was ever found stays. How the table is written is said as with
    `table`. For a SQL file, `[fixpoints.NAME]` of headwater.toml has `schema` and `max_rounds`.

    Args:
        schema: the table's columns, as Spark writes a schema; the function has to make exactly these.
        max_rounds: how many rounds there may be, the last of which finds nothing new; more is an error.
        name: the table's name, if it is not the function's.
        **write: the fields of a WritePolicy.

    >>> @fixpoint(schema="src STRING, dst STRING", max_rounds=50)
    ... def reach(reach, edges):
    ...     further = reach.join(edges.toDF("dst", "next"), "dst").select("src", "next")
    ...     return edges.union(further)
    """
    return partial(_declaring, schema, max_rounds, name, write)


def _declaring(
    schema: str,
    max_rounds: int,
    name: str | None,
    write: Mapping[str, object],
    function: Callable[P, R],
) -> Callable[P, R]:
    said = {"schema": schema, "max_rounds": max_rounds}
    made: Callable[..., Any] = declared("table", function, name, write, fixpoint=lambda: fixpoint_of(said))
    return made


def fixpoint_of(said: Mapping[str, object]) -> Fixpoint:
    """What a definition or `[fixpoints.NAME]` says of a fixpoint.

    Raises:
        InvalidSetting: a value that cannot be; types whose values cannot be told to be equal among them.
        InvalidDdl: the schema does not parse.
    """
    rounds = number("max_rounds", said.get("max_rounds", MAX_ROUNDS))
    if not rounds:
        raise InvalidSetting(key="max_rounds", value="0", expected="a whole number, 1 or above")
    found = parse_ddl(text("schema", said.get("schema")))
    if not isinstance(found, StructType) or not found.fields:
        raise InvalidSetting(
            key="schema",
            value=repr(said["schema"]),
            expected="columns with their types: 'id BIGINT, name STRING'",
        )
    for each in found.fields:
        if not _is_comparable(each.dataType):
            raise InvalidSetting(
                key="schema",
                value=f"with {each.name} {each.dataType.simpleString()}",
                expected="types of which equal values are the same: no map, variant, place or collated text",
            )
    return Fixpoint(schema=found.json(), max_rounds=rounds)


def _is_comparable(kind: DataType) -> bool:
    """Whether equal values of a type are the same value; which of others would be kept is open."""
    if isinstance(kind, StructType):
        return all(_is_comparable(each.dataType) for each in kind.fields)
    if isinstance(kind, ArrayType):
        return _is_comparable(kind.elementType)
    if isinstance(kind, StringType):
        return kind.collation == _BINARY
    return not isinstance(kind, _NOT_COMPARABLE)
