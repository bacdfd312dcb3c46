"""The catalogue as rows: what the command line lists, the reference page prints, and a SQL table can hold.

Not here: any layout; rows are plain values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.functions.catalog import FUNCTIONS

if TYPE_CHECKING:
    from headwater.functions.definition import FunctionDefinition

FUNCTION_ROW_SCHEMA = (
    "name STRING NOT NULL, signature STRING NOT NULL, doc STRING NOT NULL, "
    "examples ARRAY<STRUCT<sql: STRING, result: STRING>> NOT NULL, tags ARRAY<STRING> NOT NULL, "
    "family STRING NOT NULL, version INT NOT NULL, digest STRING NOT NULL, "
    "semantic_type STRING, alias STRING"
)


class FunctionRow(NamedTuple):
    """One function; the fields are the columns of FUNCTION_ROW_SCHEMA, in order."""

    name: str
    signature: str
    doc: str
    examples: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]
    family: str
    version: int
    digest: str
    semantic_type: str | None
    alias: str | None

    @property
    def summary(self) -> str:
        """The first sentence of what is said about it."""
        sentence, more, _ = self.doc.partition("\n")[0].partition(". ")
        return f"{sentence}." if more else sentence


def function_rows() -> tuple[FunctionRow, ...]:
    """Every function of the catalogue, sorted by name; needs no session and no Java."""
    return tuple(_row(each) for each in sorted(FUNCTIONS, key=lambda each: each.name))


def _row(definition: FunctionDefinition[...]) -> FunctionRow:
    return FunctionRow(
        name=definition.name,
        signature=definition.signature,
        doc=definition.doc,
        examples=tuple((each.sql, each.result) for each in definition.examples),
        tags=definition.tags,
        family=definition.family,
        version=definition.version,
        digest=definition.digest,
        semantic_type=definition.semantic_type,
        alias=definition.alias,
    )
