"""A table whose log says nine rows and whose file has ten: what reads it whole must not be relied on."""

from __future__ import annotations

import base64
import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

import headwater
from headwater.artifacts import last_manifest
from headwater.delta import ReadOptions, ScanCounter, note_of, read_head, register_delta
from headwater.errors import RowsDiffer, VersionNotFound
from headwater.origin import Origin
from headwater.pipeline import build_plan
from headwater.run import watching
from headwater.run.scheduled import ScheduledView
from headwater.run.watching import RowChecks, WatchedView

if TYPE_CHECKING:
    from headwater.names import TablePin
    from headwater.run import RunOutcome
    from headwater.runtime import RunSession, SessionRuntime

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
WHOLE = {
    "a copy": "SELECT * FROM t",
    "a group": "SELECT id % 3 AS k, max(v) AS m FROM t GROUP BY 1",
    "through a view": "SELECT id FROM through",
    "a union": "SELECT id FROM t UNION ALL SELECT 1 AS id",
    "a window": "SELECT id, rank() OVER (PARTITION BY id % 2 ORDER BY v) AS r FROM t",
}
IN_PART = {
    "a filter": "SELECT * FROM t WHERE id > 3",
    "a filter through a view": "SELECT * FROM through WHERE id > 3",
    "an order": "SELECT id FROM t ORDER BY id",
    "a sum": "SELECT sum(v) AS s FROM t",
    "a count": "SELECT count(*) AS n FROM t",
    "a limit": "SELECT * FROM t ORDER BY id LIMIT 3",
    "a join": "SELECT t.id FROM t JOIN (SELECT 1 AS id) u ON t.id = u.id",
    "both sides": "SELECT id FROM t UNION ALL SELECT v FROM t",
    "a subquery": "SELECT 1 AS x WHERE EXISTS (SELECT * FROM t)",
}


def delete_row_100(table: Path) -> None:
    """A commit whose deletion vector takes out row 100 of the table's only file, which has no such row."""
    log = table / "_delta_log"
    lines = (log / f"{0:020}.json").read_text().splitlines()
    add: dict[str, Any] = next(json.loads(line)["add"] for line in lines if '"add"' in line)
    raw = struct.pack("<IQIIIHHIH", 1681511377, 1, 0, 12346, 1, 0, 0, 16, 100) + b"\0\0"
    text = base64.b85encode(raw).decode().translate(str.maketrans(B85, Z85))
    vector = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(raw), "cardinality": 1}
    actions = [
        {"commitInfo": {"operation": "DELETE", "timestamp": add["modificationTime"]}},
        {"remove": {"path": add["path"], "dataChange": True, "deletionTimestamp": add["modificationTime"]}},
        {"add": {**add, "deletionVector": vector}},
    ]
    (log / f"{1:020}.json").write_text("".join(json.dumps(each) + "\n" for each in actions))


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    table = tmp_path_factory.mktemp("right") / "t"
    with runtime.checkout() as session:
        rows = session.spark.range(10).selectExpr("id", "id * 10 AS v").coalesce(1)
        rows.write.format("delta").option("delta.enableDeletionVectors", "true").save(str(table))
    return table


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory, right: Path) -> Path:
    table = shutil.copytree(right, tmp_path_factory.mktemp("wrong") / "t")
    delete_row_100(table)
    return table


def scheduled(name: str, sql: str) -> ScheduledView:
    plan = build_plan(lambda spark: spark.sql(sql))
    return ScheduledView(name=name, plan=plan.executable, origin=Origin("v.py", 1))


THROUGH = scheduled("through", "SELECT id, v FROM t")


@pytest.fixture
def registered(session: RunSession) -> Callable[[Path], TablePin]:
    def register(table: Path) -> TablePin:
        pin = read_head(table.as_uri()).pin("t")
        register_delta(session, pin)
        session.spark.sql("SELECT id, v FROM t").createOrReplaceTempView("through")
        return pin

    return register


def watched(session: RunSession, sql: str, checks: RowChecks) -> WatchedView:
    return WatchedView(session.copy(), scheduled("w", sql), [THROUGH], checks)


@pytest.mark.parametrize("sql", WHOLE.values(), ids=WHOLE)
def test_what_is_read_whole_is_counted(
    session: RunSession, registered: Callable[[Path], TablePin], wrong: Path, tmp_path: Path, sql: str
) -> None:
    """Ten rows come out of the scan, whatever the log says; also where Delta would ask its log alone."""
    checks = RowChecks()
    checks.add(registered(wrong), promised=10)
    view = watched(session, sql, checks)
    view.rows.write.format("delta").save(str(tmp_path / "out"))
    view.check()
    assert checks.checked == {"t": 10}


def test_what_is_read_in_part_is_left_alone(
    session: RunSession, registered: Callable[[Path], TablePin], wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = registered(wrong)
    counter = Mock()
    monkeypatch.setattr(watching, "ScanCounter", counter)
    for sql in IN_PART.values():
        checks = RowChecks()
        checks.add(pin)
        view = watched(session, sql, checks)
        view.check()
        assert not counter.called


def test_a_filter_still_reaches_the_scan(
    session: RunSession, registered: Callable[[Path], TablePin], right: Path
) -> None:
    checks = RowChecks()
    checks.add(registered(right))
    rows: Any = watched(session, IN_PART["a filter through a view"], checks).rows
    plan = str(rows._jdf.queryExecution().executedPlan().toString())
    assert "GreaterThan(id,3)" in plan
    assert "CollectMetrics" not in plan


def test_a_right_table_is_counted_once_and_its_promise_is_asked_once(
    session: RunSession,
    registered: Callable[[Path], TablePin],
    right: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Mock(side_effect=watching.promised_rows)
    monkeypatch.setattr(watching, "promised_rows", asked)
    checks = RowChecks()
    checks.add(registered(right))
    for name in ("one", "two"):
        view = watched(session, WHOLE["a copy"], checks)
        view.rows.write.format("delta").save(str(tmp_path / name))
        view.check()
        assert session.spark.table("t").count() == 10
    assert checks.checked == {"t": 10}
    assert asked.call_count == 1


def test_a_promise_that_is_known_is_not_asked_for(
    session: RunSession,
    registered: Callable[[Path], TablePin],
    right: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watching, "promised_rows", Mock(side_effect=AssertionError))
    checks = RowChecks()
    pin = registered(right)
    checks.add(pin, promised=10)
    checks.add(pin)
    view = watched(session, WHOLE["a group"], checks)
    view.rows.write.format("delta").save(str(tmp_path / "out"))
    view.check()
    assert checks.checked == {"t": 10}


def test_a_count_that_is_off_by_a_retry_is_no_alarm(
    session: RunSession,
    registered: Callable[[Path], TablePin],
    right: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ScanCounter, "found", Mock(return_value=20))
    checks = RowChecks()
    checks.add(registered(right), promised=10)
    watched(session, WHOLE["a copy"], checks).check()
    assert checks.checked == {"t": 10}


def test_some_of_a_tables_files_promise_nothing(right: Path) -> None:
    checks = RowChecks()
    checks.add(read_head(right.as_uri()).pin("t"), read=ReadOptions(files=("a.parquet",)))
    assert checks.pins == {}


def test_a_table_that_is_gone_is_a_typed_error(
    session: RunSession, registered: Callable[[Path], TablePin], right: Path, tmp_path: Path
) -> None:
    own = shutil.copytree(right, tmp_path / "own")
    checks = RowChecks()
    checks.add(registered(own))
    shutil.rmtree(own)
    with pytest.raises(VersionNotFound):
        watched(session, WHOLE["a copy"], checks)


# The same in a project.


def build(folder: Path) -> RunOutcome:
    return headwater.open(folder, settings=SETTINGS).build()


def rows(runtime: SessionRuntime, folder: Path, table: str) -> list[int]:
    with runtime.checkout() as session:
        frame = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / table))
        return sorted(int(row[0]) for row in frame.collect())


def jobs(runtime: SessionRuntime) -> int:
    with runtime.checkout() as session:
        context: Any = session.spark.sparkContext._jsc
        return int(context.sc().dagScheduler().numTotalJobs())


def test_a_build_over_a_wrong_table_fails_and_takes_back_what_it_made(
    project_folder: MakeProject, runtime: SessionRuntime, right: Path, tmp_path: Path
) -> None:
    own = shutil.copytree(right, tmp_path / "own")
    folder = project_folder(
        v_py=f"import headwater\nheadwater.source('t', path={str(own)!r})\n",
        through_sql="SELECT id FROM t",
        a_sql="-- headwater: table\nSELECT id FROM through",
        b_sql="-- headwater: table\nSELECT id FROM a",
        part_sql="-- headwater: table\nSELECT id FROM t WHERE id > 3",
    )
    assert build(folder).status == "done"
    done = last_manifest(folder / ".headwater")
    assert done is not None
    assert {each.name: each.rows_checked for each in done.registrations} == {
        "a": 10,
        "b": None,
        "part": None,
        "t": 10,
    }
    delete_row_100(own)
    for version in (2, 4):
        failed = build(folder)
        assert failed.status == "failed"
        assert isinstance(failed.error, RowsDiffer)
        assert failed.error.exit_code == 1
        assert Path(failed.error.origin.path if failed.error.origin else "").name == "a.sql"
        assert {each.name: each.action for each in failed.tables}["a"] == "failed"
        recorded = last_manifest(folder / ".headwater")
        assert recorded is not None
        assert (recorded.status, recorded.error) == ("failed", str(failed.error))
        head = read_head((folder / ".headwater" / "tables" / "a").as_uri())
        note = note_of(head.user_metadata)
        assert note is not None
        assert (head.version, note.task_key) == (version, "withdrawn")
        assert rows(runtime, folder, "a") == list(range(10))
    (own / "_delta_log" / f"{1:020}.json").unlink()
    assert build(folder).status == "done"


def test_a_new_table_over_a_wrong_one_is_empty(
    project_folder: MakeProject, runtime: SessionRuntime, wrong: Path
) -> None:
    folder = project_folder(
        v_py=f"import headwater\nheadwater.source('t', path={str(wrong)!r})\n",
        a_sql="-- headwater: table\nSELECT id FROM t UNION ALL SELECT 77 AS id",
    )
    failed = build(folder)
    assert isinstance(failed.error, RowsDiffer)
    assert rows(runtime, folder, "a") == []


def test_a_build_that_was_stopped_before_it_counted_is_not_relied_on(
    project_folder: MakeProject, runtime: SessionRuntime, wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtime.profile.master == "local[2]"
    folder = project_folder(
        v_py=f"import headwater\nheadwater.source('t', path={str(wrong)!r})\n",
        a_sql="-- headwater: table\nSELECT id FROM t",
    )
    monkeypatch.setattr(WatchedView, "check", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        build(folder)
    monkeypatch.undo()
    for _ in range(2):
        assert isinstance(build(folder).error, RowsDiffer)


def test_a_log_that_contradicts_its_checksum_is_not_read_at_all(
    project_folder: MakeProject, runtime: SessionRuntime, right: Path, tmp_path: Path
) -> None:
    assert runtime.profile.master == "local[2]"
    own = shutil.copytree(right, tmp_path / "own")
    checksum = own / "_delta_log" / f"{0:020}.crc"
    folder = project_folder(
        v_py=f"import headwater\nheadwater.source('t', path={str(own)!r})\n",
        a_sql="-- headwater: table\nSELECT id FROM t",
    )
    content = json.loads(checksum.read_text())
    for hidden in (checksum, checksum.with_name(f".{checksum.name}.crc")):
        hidden.unlink(missing_ok=True)
    checksum.write_text(json.dumps(content | {"numFiles": 7}))
    failed = build(folder)
    assert isinstance(failed.error, RowsDiffer)
    assert Path(failed.error.origin.path if failed.error.origin else "").name == "a.sql"
    assert not (folder / ".headwater" / "tables" / "a").exists()
    for odd in ("5", "null", "[" * 100_000):
        checksum.write_text(odd)
        assert build(folder).error is None


def test_where_nothing_can_be_counted_no_job_is_added(
    project_folder: MakeProject, runtime: SessionRuntime, wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter reads the wrong table in part: no alarm, and not one job more than without any watching."""
    folder = project_folder(
        v_py=f"import headwater\nheadwater.source('t', path={str(wrong)!r})\n",
        a_sql="-- headwater: table\nSELECT id FROM t WHERE id > 3",
    )

    def jobs_of_a_build() -> int:
        shutil.rmtree(folder / ".headwater", ignore_errors=True)
        before = jobs(runtime)
        assert build(folder).status == "done"
        return jobs(runtime) - before

    jobs_of_a_build()
    with_watching = jobs_of_a_build()
    monkeypatch.setattr(watching, "names_read_whole", Mock(return_value=()))
    assert jobs_of_a_build() == with_watching
