"""`headwater table` over real tables: what is shown, what programs get, how it fails."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from headwater.cli.table import table
from headwater.delta import CommitNote
from headwater.delta.content import digest_rows
from headwater.errors import HeadwaterError, InvalidSetting, ScanNotResolved, WrongUsage

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion
    from typer.testing import Result

    from conftest import Finished
    from headwater.runtime import RunSession, SessionRuntime

Run = Callable[..., "Finished"]
RunMany = Callable[..., dict[str, "Finished"]]
SMALL = ("--master", "local[2]", "--set", "driver_memory=2g")
Ends = dict[str, "Finished"]
COMMANDS = [(), ("snapshot",), ("history",), ("files",), ("verify",)]
NOTE = CommitNote(pipeline="shop", table="sales", run_id="R1", task_key="K1", mutation_id="M1")
CREATE = """
CREATE TABLE delta.`{path}` (
  id BIGINT NOT NULL, amounts ARRAY<DECIMAL(9,2)>, place STRUCT<town: STRING, zip: INT>, country STRING
) USING delta PARTITIONED BY (country)
TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'team.api.token' = 'hush', 'team.owner' = 'ada')
"""
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def run(*arguments: str | Path) -> Result:
    environment = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    return CliRunner().invoke(table, [*(str(each) for each in arguments), *SMALL], env=environment)


def document_of(*arguments: str | Path) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exception is None or done.exit_code == 1
    document = json.loads(done.stdout)
    assert document.pop("schema_version") == 1
    return document


def refused(*arguments: str | Path) -> HeadwaterError:
    error = run(*arguments).exception
    assert isinstance(error, HeadwaterError)
    return error


def plain(text: str, place: Path) -> str:
    """The text without what another day or machine would have otherwise."""
    text = text.replace(str(place), "LAKE")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    text = re.sub(r"part-\d+-[0-9a-f-]{36}[.-]c000\.zstd\.parquet", "part.parquet", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    text = re.sub(r"(?<=[Bb]ytes=)\d+|(?<=Ms=)\d+|(?<=#)\d+", "N", text)
    text = re.sub(r"[\d,]+ (of [\d,]+ )?bytes", "N bytes", text)
    text = re.sub(r"(?<=parquet)  +[\d,]+", "  N", text)
    lines = [
        re.sub(" {2,}", "  ", line) if re.match("country=|path", line) else line for line in text.split("\n")
    ]
    return "\n".join(line.rstrip() for line in lines)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """A folder with `sales`: partitions of 3 and 2 rows, 4 more by a run, then one row deleted."""
    folder = tmp_path_factory.mktemp("lake")
    path = folder / "sales"
    with runtime.checkout() as session:
        spark = session.spark
        spark.sql(CREATE.format(path=path))
        shape = "id, array(CAST(id AS DECIMAL(9,2))) AS amounts, named_struct('town', 'T', 'zip', 1) AS place"
        for ids, country, note in (
            ("range(0, 5, 1, 1)", "if(id < 3, 'BR', 'DE')", "by hand"),
            ("range(5, 9, 1, 1)", "CAST(NULL AS STRING)", NOTE.text()),
        ):
            rows = spark.sql(f"SELECT {shape}, {country} AS country FROM {ids}")
            rows.write.format("delta").mode("append").option("userMetadata", note).save(str(path))
        spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 1 AND country = 'BR'")
    return folder


@pytest.fixture
def sales(lake: Path, tmp_path: Path) -> Path:
    """A copy that may be damaged."""
    return Path(shutil.copytree(lake / "sales", tmp_path / "sales"))


@pytest.fixture(scope="module")
def shop(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose warehouse has `sales`."""
    project = tmp_path_factory.mktemp("projects") / "shop"
    shutil.copytree(lake / "sales", project / ".headwater" / "tables" / "sales")
    (project / "headwater.toml").write_text("")
    return project


@pytest.fixture(scope="module")
def without_java(
    headwaters: RunMany, lake: Path, shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> Ends:
    """How commands end in a process that has no Java."""
    empty = tmp_path_factory.mktemp("empty")
    sales, named = lake / "sales", ("history", "SALES", "--json")
    asked: dict[str, tuple[Path, tuple[str | Path, ...]]] = {
        "history": (lake, ("history", "sales")),
        "history as json": (empty, ("history", sales, "--json", "--limit", "0")),
        "in the project": (shop, named),
        "with the project": (empty, (*named, "--project", shop)),
        "with the warehouse": (shop, (*named, "--warehouse", shop / ".headwater")),
        "a wrong name": (shop, ("snapshot", "sale")),
        "a folder": (empty, ("snapshot", empty)),
        "no name": (empty, ("snapshot", "nowhere")),
        "no path": (empty, ("snapshot", "./nowhere")),
        "no project": (empty, ("snapshot", "x", "--project", empty / "no")),
        "a warehouse without it": (empty, ("verify", "sales", "--warehouse", empty)),
        "no version": (empty, ("files", sales, "--version", "9", "--json")),
        "too early": (empty, ("snapshot", sales, "--timestamp", "1999-12-31")),
        "far away": (empty, ("history", "s3a://bucket/sales")),
        **{f"help {command}": (empty, (*command, "--help")) for command in COMMANDS},
    }
    return headwaters(
        **{name: {"arguments": ("table", *arguments), "cwd": cwd} for name, (cwd, arguments) in asked.items()}
    )


@pytest.fixture
def promised_nine(session: RunSession, tmp_path: Path) -> Path:
    """A table of ten rows whose log says that one is deleted, by a deletion vector that names row 100."""
    path = tmp_path / "ten"
    rows = session.spark.range(0, 10, 1, 1).write.format("delta")
    rows.option("delta.enableDeletionVectors", "true").save(str(path))
    log = path / "_delta_log"
    actions = [json.loads(line) for line in (log / f"{0:020}.json").read_text().splitlines()]
    add = next(each["add"] for each in actions if "add" in each)
    vector = struct.pack("<IQIIIHHIH", 1681511377, 1, 0, 12346, 1, 0, 0, 16, 100) + b"\0\0"
    told = {"storageType": "i", "pathOrInlineDv": z85(vector), "sizeInBytes": len(vector), "cardinality": 1}
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    commit = [{"commitInfo": {"timestamp": 1, "operation": "DELETE"}}]
    commit += [{"remove": remove}, {"add": {**add, "deletionVector": told}}]
    (log / f"{1:020}.json").write_text("".join(json.dumps(each) + "\n" for each in commit))
    session.jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    assert session.spark.read.format("delta").load(str(path)).count() == 9
    return path


def z85(content: bytes) -> str:
    numbers = [int.from_bytes(content[start : start + 4], "big") for start in range(0, len(content), 4)]
    return "".join(DIGITS[number // 85**power % 85] for number in numbers for power in (4, 3, 2, 1, 0))


def data_file(table: Path) -> Path:
    return next(path for path in sorted(table.rglob("country=DE/*.parquet")))


# --- snapshot ------------------------------------------------------------------------------------------


def test_a_snapshot_is_shown_as_a_list(lake: Path, snapshot: SnapshotAssertion) -> None:
    done = run("snapshot", lake / "sales")
    assert done.exit_code == 0
    assert plain(done.stdout, lake) == snapshot
    assert "hush" not in done.output


def test_a_snapshot_as_json_has_everything(lake: Path) -> None:
    document = document_of("snapshot", lake / "sales")
    columns = [each["name"] for each in json.loads(document.pop("schema_json"))["fields"]]
    assert columns == ["id", "amounts", "place", "country"]
    assert re.fullmatch(r"[0-9a-f]{64}", document.pop("digest"))
    assert document.pop("timestamp").endswith("Z")
    assert document.pop("bytes") > 1000
    features = set(document.pop("writer_features"))
    assert {"appendOnly", "deletionVectors", "invariants"} <= features
    assert document == {
        "table_uri": (lake / "sales").as_uri(),
        "version": 3,
        "min_reader_version": 3,
        "min_writer_version": 7,
        "reader_features": ["deletionVectors"],
        "implied_reader_features": [],
        "implied_writer_features": [],
        "table_properties": {
            "delta.enableDeletionVectors": "true",
            "team.api.token": "*********",
            "team.owner": "ada",
        },
        "partition_columns": ["country"],
        "provider_kind": "delta_native",
        "files": 3,
        "rows": 8,
        "deleted_rows": 1,
    }


def test_an_older_version_and_a_time_are_described(lake: Path) -> None:
    first = document_of("snapshot", lake / "sales", "--version", "0")
    assert (first["version"], first["files"], first["rows"], first["bytes"]) == (0, 0, 0, 0)
    second = document_of("snapshot", lake / "sales", "--version", "1")
    assert (second["version"], second["files"], second["rows"]) == (1, 2, 5)
    at_its_time = document_of("snapshot", lake / "sales", "--timestamp", second["timestamp"])
    assert at_its_time == second


def test_progress_goes_to_stderr_and_quiet_says_nothing(lake: Path) -> None:
    told = run("snapshot", lake / "sales", "--json")
    assert "reading the log up to version 3" in told.stderr
    assert json.loads(told.stdout)
    quiet = run("snapshot", lake / "sales", "--quiet")
    assert (quiet.exit_code, quiet.output) == (0, "")


# --- history -------------------------------------------------------------------------------------------


def test_history_is_told_without_java(without_java: Ends, lake: Path, snapshot: SnapshotAssertion) -> None:
    done = without_java["history"]
    assert (done.code, done.err) == (0, "")
    assert plain(done.out, lake) == snapshot
    assert "hush" not in done.out


def test_history_as_json_is_newest_first(without_java: Ends, lake: Path) -> None:
    document = json.loads(without_java["history as json"].out)
    assert document["table_uri"] == (lake / "sales").as_uri()
    commits = document["commits"]
    assert [each["version"] for each in commits] == [3, 2, 1, 0]
    assert [each["operation"] for each in commits] == ["DELETE", "WRITE", "WRITE", "CREATE TABLE"]
    assert [each["run_id"] for each in commits] == [None, "R1", None, None]
    assert [each["task"] for each in commits] == [None, "K1", None, None]
    assert [each["user_metadata"] for each in commits] == [None, NOTE.text(), "by hand", None]
    assert commits[1]["metrics"]["numOutputRows"] == "4"
    assert commits[1]["parameters"]["mode"] == "Append"
    assert commits[3]["parameters"]["properties"].count("*********") == 1
    assert all("Delta-Lake" in each["engine"] for each in commits)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", each["timestamp"]) for each in commits)


def test_history_ends_at_its_limit_and_begins_at_a_version(lake: Path) -> None:
    two = run("history", lake / "sales", "--limit", "2").stdout.splitlines()
    assert [line.split()[1] for line in two if line.startswith("version")] == ["3", "2"]
    assert two[-1] == "2 commits; there are more: --limit N shows N, --limit 0 all"
    until = document_of("history", lake / "sales", "--version", "1")
    assert [each["version"] for each in until["commits"]] == [1, 0]
    last = document_of("history", lake / "sales", "--version", "2", "--limit", "1")
    assert [each["version"] for each in last["commits"]] == [2]


def test_a_commit_that_says_little_is_told_by_its_file(sales: Path) -> None:
    for version, time in ((4, ""), (5, '"timestamp": 99999999999999999, ')):
        info = f'{{"commitInfo": {{{time}"operation": "MAGIC\\u001b[31m"}}}}\n'
        commit = sales / "_delta_log" / f"{version:020}.json"
        commit.write_text(info)
        os.utime(commit, (4_000_000_000 + version, 4_000_000_000 + version))
    lines = run("history", sales, "--limit", "2").stdout.splitlines()
    assert lines[0] == "version 5  2096-10-02T07:06:45.000Z  MAGIC\\x1b[31m"
    assert lines[1] == "version 4  2096-10-02T07:06:44.000Z  MAGIC\\x1b[31m"


# --- files ---------------------------------------------------------------------------------------------


def test_files_are_shown_with_a_summary(lake: Path, snapshot: SnapshotAssertion) -> None:
    done = run("files", lake / "sales")
    assert done.exit_code == 0
    assert plain(done.stdout, lake) == snapshot


def test_files_under_a_filter_are_those_that_it_leaves(lake: Path, snapshot: SnapshotAssertion) -> None:
    unused = "length(place.town) > 0"
    done = run("files", lake / "sales", "--where", "country = 'DE'", "--where", unused, "--columns", "id")
    assert plain(done.stdout, lake) == snapshot


def test_files_as_json_have_one_form_with_and_without_a_filter(lake: Path) -> None:
    every = document_of("files", lake / "sales")
    some = document_of("files", lake / "sales", "--where", "country = 'DE'", "--columns", "id, place.zip")
    assert set(every) == set(some)
    assert every["snapshot"] == {"canonical_uri": (lake / "sales").as_uri(), "version": 3}
    assert (every["files_total"], every["files_kept"], every["rows_total"], every["rows_kept"]) == (
        3,
        3,
        8,
        8,
    )
    assert every["bytes_total"] == every["bytes_kept"] == sum(each["size"] for each in every["files"])
    assert [(each["rows"], each["deleted_rows"], each["partition"]) for each in every["files"]] == [
        (2, 1, {"country": "BR"}),
        (2, 0, {"country": "DE"}),
        (4, 0, {"country": None}),
    ]
    assert (some["files_total"], some["files_kept"], some["rows_total"], some["rows_kept"]) == (3, 1, 8, 2)
    assert some["bytes_kept"] == some["files"][0]["size"] < some["bytes_total"]
    assert (some["columns"], some["filters"]) == (["id", "place.zip"], ["country = 'DE'"])
    assert some["files"] == [every["files"][1]]


def test_files_keep_to_the_limit_and_the_totals_do_not(lake: Path) -> None:
    lines = run("files", lake / "sales", "--limit", "1").stdout.splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith("3 files, ")
    assert lines[-1].endswith("8 rows; 1 shown: --limit N shows N, --limit 0 all")
    assert len(run("files", lake / "sales", "--limit", "0").stdout.splitlines()) == 5
    document = document_of("files", lake / "sales", "--limit", "1")
    assert (document["files_kept"], len(document["files"])) == (3, 1)


def test_a_filter_that_does_not_fit_is_refused(lake: Path) -> None:
    error = refused("files", lake / "sales", "--where", "nope = 1")
    assert isinstance(error, ScanNotResolved)
    assert "'sales' cannot be read with the filter nope = 1" in error.message


# --- verify --------------------------------------------------------------------------------------------


def test_a_whole_table_is_said_to_be(lake: Path, snapshot: SnapshotAssertion) -> None:
    done = run("verify", lake / "sales")
    assert done.exit_code == 0
    assert plain(done.stdout, lake) == snapshot
    assert "reading every row of version 3" in done.stderr
    document = document_of("verify", lake / "sales", "--version", "1")
    assert (document["status"], document["problems"], document["rows_scanned"]) == ("ok", [], 5)
    assert document["promise"]["rows"] == 5
    assert "error" not in document


def test_a_table_without_statistics_is_whole_with_a_doubt(session: RunSession, tmp_path: Path) -> None:
    path = tmp_path / "uncounted"
    session.spark.conf.set("spark.databricks.delta.stats.collect", "false")
    session.spark.range(0, 3, 1, 1).write.format("delta").save(str(path))
    words = run("verify", path).stdout
    assert words == (
        f"Whole: version 0 of {path}, 3 rows in 1 file, all read. "
        "The log does not say how many rows 1 file should have.\n"
        f"Content: {digest_rows(session.spark.range(3)).text}\n"
    )
    assert document_of("snapshot", path)["rows"] is None
    assert ["rows", "unknown"] in [line.split() for line in run("snapshot", path).stdout.splitlines()]
    assert run("files", path).stdout.splitlines()[-1].endswith(", ? rows")


def test_a_deletion_vector_for_a_row_that_is_not_there_is_found(
    promised_nine: Path, snapshot: SnapshotAssertion
) -> None:
    done = run("verify", promised_nine)
    assert done.exit_code == 1
    assert plain(done.stdout, promised_nine) == snapshot
    document = document_of("verify", promised_nine)
    assert (document["status"], document["promise"]["rows"], document["rows_scanned"]) == ("failed", 9, 10)
    assert document["error"]["code"] == "HW-DELTA-017"


def test_a_deleted_and_a_truncated_file_are_named(sales: Path) -> None:
    file = data_file(sales)
    size = file.stat().st_size
    shown = file.relative_to(sales).as_posix()
    file.write_bytes(file.read_bytes()[:-10])
    truncated = document_of("verify", sales)
    assert truncated["problems"] == [f"{shown}: {size} bytes promised, {size - 10} found"]
    file.unlink()
    done = run("verify", sales)
    assert done.exit_code == 1
    assert done.stdout == f"Not whole: version 3 of {sales}\n  {shown}: no such file or directory\n"
    error, advice = done.stderr.splitlines()[-2:]
    assert error.startswith(f"HW-DELTA-017 version 3 of {sales} is not what its log promises: {shown}")
    assert advice.startswith("  Do not trust reads of it; ")


def test_the_command_itself_exits_with_1_and_one_document(headwater_here: Run, sales: Path) -> None:
    data_file(sales).unlink()
    done = headwater_here("table", "verify", sales, "--json", "--quiet", *SMALL)
    assert done.code == 1
    assert json.loads(done.out)["status"] == "failed"
    assert [line.split()[0] for line in done.err.splitlines()] == ["HW-DELTA-017", "Do"]


# --- names, and what cannot be -------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["in the project", "with the project", "with the warehouse"])
def test_a_name_of_the_project_is_found_from_anywhere(without_java: Ends, shop: Path, way: str) -> None:
    stored = shop / ".headwater" / "tables" / "sales"
    assert json.loads(without_java[way].out)["table_uri"] == stored.as_uri()


def test_a_name_that_the_project_does_not_have_is_refused_with_a_near_one(without_java: Ends) -> None:
    unknown = without_java["a wrong name"]
    assert unknown.code == 1
    assert unknown.err.startswith("HW-QUERY-003 there is no 'sale' in what the last run recorded\n")
    assert "Did you mean 'sales'? Known names: sales." in unknown.err


NO_TABLES = {
    "a folder": (1, "HW-DELTA-001"),
    "no name": (1, "HW-DELTA-001"),
    "no path": (1, "HW-DELTA-001"),
    "no project": (2, "HW-CONFIG-005"),
    "a warehouse without it": (1, "HW-DELTA-001"),
    "no version": (3, "HW-DELTA-005"),
    "too early": (1, "HW-DELTA-014"),
    "far away": (1, "HW-DELTA-024"),
}


@pytest.mark.parametrize("case", NO_TABLES)
def test_what_is_no_table_is_refused_without_java(without_java: Ends, case: str) -> None:
    done = without_java[case]
    found = json.loads(done.out)["error"]["code"] if done.out else done.err.split()[0]
    assert (done.code, found) == NO_TABLES[case]


@pytest.mark.parametrize("command", ["snapshot", "history", "files", "verify"])
def test_two_versions_and_no_time_at_all_are_wrong_usage(lake: Path, command: str) -> None:
    two = refused(command, lake / "sales", "--version", "1", "--timestamp", "2026-01-01")
    assert isinstance(two, WrongUsage)
    assert two.next_step == f"See: headwater table {command} --help"
    assert isinstance(refused(command, lake / "sales", "--timestamp", "yesterday"), InvalidSetting)
    assert run(command, lake / "sales", "--version", "-1").exit_code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(
    without_java: Ends, snapshot: SnapshotAssertion, command: tuple[str, ...]
) -> None:
    done = without_java[f"help {command}"]
    assert (done.code, done.err) == (0, "")
    assert "\n".join(line.rstrip() for line in done.out.splitlines()) == snapshot
    assert "Example" in done.out or not command
