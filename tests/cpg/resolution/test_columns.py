"""What is asked of evidence and what is given back, as both sides have it."""

from __future__ import annotations

import re
from typing import Any, cast

from pyspark.sql.pandas.types import to_arrow_schema
from resolution_sample import SHOP, evidence_rows, resolution_table, resolve, shop, tricky

from headwater.cpg.evidence import EVIDENCE_COLUMNS
from headwater.cpg.evidence import LISTS as EVIDENCE_LISTS
from headwater.cpg.resolution import LISTS, RESOLUTION_COLUMNS, RESOLVED_FROM
from headwater.pipeline.ddl import parse_ddl

COLUMN = re.compile(r"(\w+)(?:\.(\w+))?")


def schema_of(columns: str) -> Any:
    return to_arrow_schema(cast("Any", parse_ddl(columns)))


def test_the_columns_are_those_of_the_rows() -> None:
    said, made = schema_of(RESOLUTION_COLUMNS), resolve(SHOP)[1].schema
    assert made.names == said.names == ["path", "file_id", "module", *LISTS]
    for name in LISTS:
        ours, theirs = cast("Any", made.field(name).type).value_type, said.field(name).type.value_type
        assert [each.name for each in ours] == [each.name for each in theirs] == list(LISTS[name]), name
        assert all(one.type.equals(two.type) for one, two in zip(ours, theirs, strict=True)), name


def test_the_sample_has_what_is_asked_for() -> None:
    assert resolution_table(evidence_rows({"m.py": ""})).column_names == list(RESOLVED_FROM)


def test_only_columns_of_evidence_are_asked_for() -> None:
    known = {"path", *schema_of(EVIDENCE_COLUMNS).names}
    for name, query in RESOLVED_FROM.items():
        found = COLUMN.fullmatch(query)
        assert found is not None
        assert found[1] in known, name
        assert found[2] is None or found[2] in EVIDENCE_LISTS[found[1]], name


def test_every_list_has_something_to_tell() -> None:
    rows = [*shop().rows, *tricky().rows]
    assert [name for name in LISTS if not any(row[name] for row in rows)] == []
