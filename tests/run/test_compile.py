"""What only Spark can find wrong with a project: one clear error each, and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import ArrayType, IntegerType, MapType, StringType, StructField, StructType

import headwater
from headwater.errors import HeadwaterError, OrderMismatch
from headwater.names import TablePin
from headwater.origin import Origin
from headwater.pipeline import SourceSpec, ViewSpec, build_plan
from headwater.run.compile import as_stored, compile_views
from headwater.run.pins import PinnedSource

if TYPE_CHECKING:
    from headwater.runtime import RunSession, SessionRuntime

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
MakeProject = Callable[..., Path]
HEAD = "import headwater\nfrom pyspark.sql import functions as F\n"
CASES: dict[str, tuple[dict[str, str], str, str | None, int]] = {
    "a table that does not exist": ({"a_sql": "SELECT 1 AS x\nFROM nowhere"}, "HW-PLAN-001", "a.sql", 1),
    "a table that does not exist, in Python": (
        {"v_py": f"{HEAD}@headwater.view\ndef a(nowhere): return nowhere\n"},
        "HW-PLAN-001",
        "v.py",
        3,
    ),
    "a cycle": (
        {
            "a_sql": "SELECT * FROM b",
            "v_py": f"{HEAD}@headwater.table\ndef b(c): return c\n",
            "c_sql": "TABLE a",
        },
        "HW-PLAN-002",
        "a.sql",
        1,
    ),
    "a syntax error": ({"a_sql": "SELECT 1\nFRM x y z"}, "HW-PLAN-004", "a.sql", 2),
    "a missing column": ({"a_sql": "SELECT\n  nope\nFROM VALUES (1) AS t(x)"}, "HW-PLAN-003", "a.sql", 2),
    "a missing column, in Python": (
        {
            "v_py": f"{HEAD}@headwater.view\ndef a(spark):\n    n = 1\n"
            "    return spark.range(3).where(F.col('z') > n)\n"
        },
        "HW-PLAN-003",
        "v.py",
        6,
    ),
    "a missing function": ({"a_sql": "SELECT no_such_function(1) AS x"}, "HW-PLAN-003", "a.sql", 1),
    "a command": ({"a_sql": "CREATE TABLE t (x INT)"}, "HW-VIEW-005", "a.sql", 1),
    "a path in SQL": ({"a_sql": "SELECT * FROM delta.`/tmp/x`"}, "HW-PLAN-006", "a.sql", 1),
    "a missing Delta table": (
        {"v_py": f"{HEAD}\nheadwater.source('gone', path='gone')\n", "a_sql": "TABLE gone"},
        "HW-DELTA-001",
        "v.py",
        4,
    ),
    "missing files": (
        {"v_py": f"{HEAD}headwater.source('gone', path='gone', format='csv')\n", "a_sql": "TABLE gone"},
        "HW-DELTA-006",
        "v.py",
        3,
    ),
    "a schema that does not parse": (
        {"v_py": f"{HEAD}headwater.source('r', rows=[(1,)], schema='id INTT')\n"},
        "HW-VIEW-009",
        "v.py",
        3,
    ),
    "a type that cannot be stored": (
        {"a_sql": "-- headwater: table\nSELECT array(INTERVAL 1 DAY) AS x"},
        "HW-DELTA-007",
        "a.sql",
        1,
    ),
    "a name that cannot be stored": (
        {"a_sql": "-- headwater: table\nSELECT sum(x) FROM VALUES (1) AS t(x)"},
        "HW-DELTA-007",
        "a.sql",
        1,
    ),
    "two columns of one name": (
        {"a_sql": "-- headwater: table\nSELECT 1 AS x, 2 AS X"},
        "HW-DELTA-007",
        "a.sql",
        1,
    ),
    "a source that reads a table through SQL": (
        {
            "v_py": f"{HEAD}headwater.source('r', rows=[(1,)], schema='id INT')\n"
            "@headwater.source\ndef z(spark): return spark.sql('SELECT id FROM r')\n",
            "a_sql": "TABLE z",
        },
        "HW-VIEW-005",
        "v.py",
        4,
    ),
    "a Delta source with options": (
        {
            "v_py": f"{HEAD}headwater.source('d', path='d', options={{'versionAsOf': '0'}})\n",
            "a_sql": "TABLE d",
        },
        "HW-CONFIG-003",
        "v.py",
        3,
    ),
}


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("case", CASES)
def test_a_project_that_does_not_fit_together(project_folder: MakeProject, case: str) -> None:
    files, code, file, line = CASES[case]
    folder = project_folder(**files)
    try:
        outcome = headwater.open(folder, settings=SETTINGS).build()
        error = outcome.error
    except HeadwaterError as raised:
        error = raised
    assert error is not None
    assert error.code == code, error
    if file is not None:
        assert error.origin is not None, error
        assert (Path(error.origin.path).name, error.origin.line) == (file, line), error
    assert "\n" not in error.message
    assert not (folder / ".headwater").exists()


def test_a_path_read_in_python_is_refused(project_folder: MakeProject, runtime: SessionRuntime) -> None:
    folder = project_folder(
        v_py=f"{HEAD}@headwater.view\ndef a(spark):\n    return spark.read.parquet('files')\n"
    )
    with runtime.checkout() as session:
        session.spark.range(3).write.parquet(str(folder / "files"))
    view = folder / "views" / "v.py"
    view.write_text(view.read_text().replace("'files'", repr(str(folder / "files"))))
    with pytest.raises(HeadwaterError) as caught:
        headwater.open(folder, settings=SETTINGS).build()
    assert caught.value.code == "HW-PLAN-006"


@pytest.mark.usefixtures("runtime")
def test_a_frame_handed_to_sql_is_part_of_the_view(project_folder: MakeProject) -> None:
    view = (
        "headwater.source('e', rows=[(1,), (2,)], schema='id INT')\n@headwater.table\ndef a(e, spark):\n"
        "    return spark.sql('SELECT id FROM {f} JOIN e USING (id)', f=e.where('id > 1'))\n"
    )
    outcome = headwater.open(project_folder(v_py=HEAD + view), settings=SETTINGS).build()
    assert outcome.error is None
    assert [table.rows for table in outcome.tables] == [1]


def test_what_is_stored_may_always_be_null() -> None:
    inner = StructType([StructField("a", IntegerType(), nullable=False, metadata={"k": "v"})])
    schema = StructType(
        [
            StructField("s", inner, nullable=False),
            StructField("l", ArrayType(inner, containsNull=False), nullable=False),
            StructField("m", MapType(StringType(), IntegerType(), valueContainsNull=False), nullable=False),
        ]
    )
    assert as_stored(schema).simpleString() == schema.simpleString()
    assert "nullable = false" not in as_stored(schema).treeString()
    assert as_stored(schema)["s"].dataType == StructType([StructField("a", IntegerType(), True, {"k": "v"})])


def test_the_planned_schema_is_the_one_delta_gives_back(
    project_folder: MakeProject, runtime: SessionRuntime
) -> None:
    sql = "-- headwater: table\nSELECT 1 AS a, named_struct('b', 2, 'c', array('x')) AS s, map('k', 1.5) AS m"
    folder = project_folder(t_sql=sql)
    assert headwater.open(folder, settings=SETTINGS).build().status == "done"
    with runtime.checkout() as session:
        planned = as_stored(session.spark.sql(sql).schema)
        stored = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / "t")).schema
    assert planned == stored


def test_an_order_that_the_analysed_plan_does_not_confirm_is_refused(session: RunSession) -> None:
    origin = Origin("v.py", 1)
    rows = build_plan(lambda spark: spark.range(1))
    source = SourceSpec(name="a", origin=origin, kind="memory", plan=rows)
    pinned = PinnedSource(spec=source, pin=TablePin(name="a", uri="memory:a", version=0, digest="d"))
    plan = build_plan(lambda spark: spark.table("a"))
    view = ViewSpec(name="z", origin=origin, language="python", stored=False, plan=plan)
    assert compile_views(session, [view], [pinned], {"z": ("a",)}).order == ("a", "z")
    with pytest.raises(OrderMismatch) as caught:
        compile_views(session, [view], [pinned], {"z": ()})
    assert (caught.value.promised, caught.value.found, caught.value.origin) == ((), ("a",), origin)


def test_a_text_cannot_take_in_the_environment(
    project_folder: MakeProject, runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", "seen")
    folder = project_folder(
        a_sql="-- headwater: table\nSELECT '${env:CANARY}' AS x, '${spark.app.name}' AS y"
    )
    assert headwater.open(folder, settings=SETTINGS).build().error is None
    with runtime.checkout() as session:
        rows = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / "a")).collect()
    assert tuple(rows[0]) == ("${env:CANARY}", "${spark.app.name}")
