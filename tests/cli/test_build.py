"""`headwater build` from outside: as a user or a scheduler runs it, in a process without the tests' Spark."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import headwater as library
from headwater.artifacts import read_manifest
from headwater.runtime import headwater_home, identity_of

if TYPE_CHECKING:
    from conftest import BuiltExample, Finished

Run = Callable[..., "Finished"]
RunMany = Callable[..., dict[str, "Finished"]]
MakeProject = Callable[..., Path]
SMALL = ("--master", "local[2]", "--set", "driver_memory=2g")
HEAD = "import headwater\nfrom pyspark.sql import functions as F\n"


def nothing_was_written(folder: Path) -> bool:
    return not list(folder.rglob("_delta_log")) and not list(folder.rglob("manifest.json"))


def test_a_copied_example_builds(built_example: BuiltExample) -> None:
    first = built_example.end
    assert first.code == 0, first.err
    document = json.loads(first.out)
    assert document["status"] == "done"
    assert {table["name"]: table["rows"] for table in document["tables"]} == {
        "daily_revenue": 90,
        "order_facts": 922,
        "revenue_by_country": 5,
        "top_customers": 15,
    }
    assert {table["action"] for table in document["tables"]} == {"built"}
    assert Path(document["manifest"]).parent.name == document["run_id"]
    manifest = read_manifest(Path(document["manifest"]))
    assert [view.name for view in manifest.views if not view.stored] == [
        "active_customers",
        "country_totals",
        "orders_in_eur",
        "paid_orders",
        "ranked_customers",
        "revenue_by_customer",
    ]
    assert {source.name: source.kind for source in manifest.sources} == {
        "customers": "listing",
        "orders": "made",
        "rates": "memory",
    }
    assert "[4/4] top_customers built" in first.err
    assert "WARN" not in first.err
    assert "Exception" not in first.err


def test_a_record_has_no_secret_and_no_place_on_this_machine(built_example: BuiltExample) -> None:
    folder = built_example.folder
    path = Path(json.loads(built_example.end.out)["manifest"])
    assert str(folder) not in path.read_text()
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != "headwater.toml"]
    assert path in files
    assert [file for file in files if b"hunter2" in file.read_bytes()] == []
    assert read_manifest(path).storage == {
        "require_local_paths": "false",
        "spark.hadoop.fs.s3a.endpoint": "here",
        "spark.hadoop.fs.s3a.secret.key": "*********",
    }
    rows = pq.read_table(str(folder / ".headwater" / "ledger" / "events")).to_pylist()
    assert [row for row in rows if "hunter2" in str(row) or str(folder) in str(row)] == []
    settings = {row["name"]: json.loads(row["details"])["value"] for row in rows if row["kind"] == "setting"}
    assert settings["spark.hadoop.fs.s3a.secret.key"] == "*********"
    identity = identity_of(library.open(folder, profile="kept").profile)
    manifest = read_manifest(path)
    assert (manifest.runtime_digest, manifest.results_digest) == (identity.digest, identity.results_digest)


def test_the_same_sources_elsewhere_have_the_same_record_but_for_what_was_observed(
    built_example: BuiltExample,
    headwater: Run,
    tmp_path: Path,
    deterministic_part: Callable[[Path], str],
) -> None:
    """In another folder, under another home, with newer files."""
    other = tmp_path / "elsewhere" / "orders"
    shutil.copytree(built_example.folder, other, ignore=shutil.ignore_patterns(".headwater", "__pycache__"))
    (tmp_path / "home").mkdir()
    (other / "data" / "customers.csv").touch()
    place = {"HOME": str(tmp_path / "home"), "HEADWATER_HOME": str(headwater_home())}
    done = headwater("build", other, "--profile", "kept", "--json", **place)
    assert done.code == 0, done.err
    first, second = (Path(json.loads(out)["manifest"]) for out in (built_example.end.out, done.out))
    assert read_manifest(first).run_id != read_manifest(second).run_id
    assert deterministic_part(first) == deterministic_part(second)


def test_the_second_build_needs_no_java(
    built_example: BuiltExample, headwaters: RunMany, tmp_path: Path
) -> None:
    built, lost = built_example.folder, tmp_path / "orders"
    shutil.copytree(built, lost)
    shutil.rmtree(lost / ".headwater" / "tables" / "top_customers")
    ends = headwaters(
        again={"arguments": ("build", built, "--profile", "kept", "--json")},
        shown={"arguments": ("build", built, "--profile", "kept", "--no-color")},
        quiet={"arguments": ("build", built, "--profile", "kept", "--quiet")},
        noticed={"arguments": ("build", lost, "--profile", "kept")},
    )
    assert ends["again"].code == 0, ends["again"].err
    second = json.loads(ends["again"].out)
    assert (second["status"], second["run_id"]) == ("unchanged", json.loads(built_example.end.out)["run_id"])
    assert {table["action"] for table in second["tables"]} == {"skipped"}
    assert ends["shown"].out.startswith("Nothing to do: 10 views, 3 sources, 4 tables are as run ")
    assert ends["quiet"] == type(ends["quiet"])(0, "", "")
    assert ends["noticed"].code == 1
    assert "table 'top_customers' is not as the last run left it" in ends["noticed"].err
    assert "HW-RUNTIME-001" in ends["noticed"].err


BAD_PROJECTS: dict[str, tuple[dict[str, str], int, str, str]] = {
    "raises": (
        {"v_py": f"{HEAD}@headwater.view\ndef a(orders):\n    raise KeyError('x')\n"},
        1,
        "HW-VIEW-001",
        "views/v.py:5:",
    ),
    "two of one name": (
        {"a_py": f"{HEAD}@headwater.view\ndef b(c): return c\n", "b_sql": "SELECT 1"},
        1,
        "HW-VIEW-002",
        "views/b.sql:1:",
    ),
    "an action": (
        {"v_py": f"{HEAD}@headwater.view\ndef a(spark):\n    return spark.range(3).collect()\n"},
        1,
        "HW-VIEW-005",
        "views/v.py:5:",
    ),
    "does not import": ({"v_py": "import nothing_like_this\n"}, 1, "HW-VIEW-008", "views/v.py:1:"),
}


BAD_CONFIGURATIONS: dict[str, tuple[str, tuple[str, ...], dict[str, str], str]] = {
    "a typo in TOML": ('[project]\nname = "x\n', (), {}, "HW-CONFIG-001 headwater.toml:2:"),
    "an unknown key": ("[project]\nnmae = 'x'\n", (), {}, "HW-CONFIG-002 headwater.toml:2:"),
    "an unknown setting of a profile": (
        "[profiles.local]\nshuffel_partitions = 3\n",
        (),
        {},
        "HW-CONFIG-002 headwater.toml:2:",
    ),
    "an unknown flag's setting": ("", ("--set", "nope=1"), {}, "HW-CONFIG-002"),
    "an unknown variable": ("", (), {"HEADWATER_MASTR": "local"}, "HW-CONFIG-002"),
    "a value that cannot be": ("", ("--set", "shuffle_partitions=none"), {}, "HW-CONFIG-003"),
    "an unknown profile": ("", ("--profile", "big"), {}, "HW-CONFIG-004"),
}


PRINTING = (
    f"{HEAD}print('loading')\n@headwater.view\ndef a(spark):\n    print('hello')\n    return spark.nothing\n"
)
ONE = {"v_sql": "-- headwater: table\nSELECT 1 AS x"}


@dataclass(frozen=True)
class Ended:
    """A build without Java: the folder of its project, and its end."""

    folder: Path
    end: Finished


@pytest.fixture(scope="module")
def ended(headwaters: RunMany, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """How builds end that do not come to need Spark, each of a project of its own."""
    place = tmp_path_factory.mktemp("projects")
    asked: dict[str, dict[str, Any]] = {}

    def ask(case: str, files: dict[str, str], *flags: str, toml: str = "", **more: Any) -> Path:
        folder = place / case
        (folder / "views").mkdir(parents=True)
        (folder / "headwater.toml").write_text(toml)
        for name, text in files.items():
            stem, _, kind = name.rpartition("_")
            (folder / "views" / f"{stem}.{kind}").write_text(text)
        asked[case] = {"arguments": ("build", ".", *flags), "cwd": folder, **more}
        return folder

    for case, (files, *_) in BAD_PROJECTS.items():
        ask(case, files)
    for case, (toml, flags, variables, _) in BAD_CONFIGURATIONS.items():
        ask(case, {"v_sql": "SELECT 1"}, *flags, toml=toml, variables=variables)
    ask("prints", {"v_py": PRINTING}, "--json")
    ask("a warehouse nobody can make", ONE, "--warehouse", "/proc/headwater")
    ask("a warehouse that is a file", ONE, "--warehouse", "headwater.toml")
    ask("no Java", ONE)
    odd = ask("a name that is no text", {"v_sql": "SELECT 1 AS x"})
    Path(os.fsdecode(os.fsencode(odd) + b"/views/\xff\xfe.sql")).write_text("SELECT 1")
    ends = headwaters(**asked)
    return {case: Ended(place / case, end) for case, end in ends.items()}


@pytest.mark.parametrize("case", BAD_PROJECTS)
def test_bad_definitions_are_one_clear_error_without_spark(ended: dict[str, Ended], case: str) -> None:
    _, code, error, place = BAD_PROJECTS[case]
    done = ended[case].end
    assert done.code == code
    assert done.err.splitlines()[-2].startswith(f"{error} {place}"), done.err
    assert done.err.splitlines()[-1].startswith("  ")
    assert "Traceback" not in done.err
    assert nothing_was_written(ended[case].folder)


@pytest.mark.parametrize("case", BAD_CONFIGURATIONS)
def test_bad_configuration_exits_with_two(ended: dict[str, Ended], case: str) -> None:
    done = ended[case].end
    assert done.code == 2
    assert done.err.splitlines()[-2].startswith(BAD_CONFIGURATIONS[case][-1]), done.err
    assert nothing_was_written(ended[case].folder)


def test_what_a_view_prints_stays_out_of_the_json(ended: dict[str, Ended]) -> None:
    done = ended["prints"].end
    assert json.loads(done.out)["status"] == "failed"
    assert "loading" in done.err
    assert "hello" in done.err


def test_a_file_name_that_is_no_text_is_one_clear_error(ended: dict[str, Ended]) -> None:
    done = ended["a name that is no text"].end
    assert done.code == 2
    assert done.err.splitlines()[-2].startswith("HW-CONFIG-006")
    assert "\\udcff" in done.err


@pytest.mark.parametrize("case", ["a warehouse nobody can make", "a warehouse that is a file"])
def test_a_warehouse_that_cannot_be_written_stops_before_spark(ended: dict[str, Ended], case: str) -> None:
    done = ended[case].end
    assert done.code == 1
    assert done.err.splitlines()[-2].startswith("HW-RUN-001"), done.err


def test_without_java_the_first_build_says_what_to_install(ended: dict[str, Ended]) -> None:
    done = ended["no Java"].end
    assert done.code == 1
    assert done.err.splitlines()[-2].startswith("HW-RUNTIME-001")
    assert nothing_was_written(ended["no Java"].folder)


def test_ctrl_c_stops_in_order(project_folder: MakeProject) -> None:
    folder = project_folder(v_sql="-- headwater: table\nSELECT 1 AS x")
    # A runner in the background ignores Ctrl-C, and so would its children.
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from headwater.cli import main; main()"
    )
    command = [sys.executable, "-c", script, "build", str(folder)]
    environment = {**os.environ, "HEADWATER_ARCHIVE": "off"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(3)]
        assert said[-1] == "starting Spark\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(60) == 130
    assert rest == "Stopped. No table is half written; build again to go on.\n"
    assert nothing_was_written(folder)


@pytest.mark.usefixtures("runtime")
def test_what_only_spark_can_find_is_one_clear_error_too(
    headwater_here: Run, project_folder: MakeProject
) -> None:
    folder = project_folder(a_sql="SELECT * FROM b", b_sql="SELECT 1 AS x FROM\n)")
    done = headwater_here("build", ".", cwd=folder)
    assert done.code == 1
    assert done.err.splitlines()[-2].startswith("HW-PLAN-004 views/b.sql:2:"), done.err
    assert len([line for line in done.err.splitlines() if line.startswith("HW-")]) == 1
    assert "PARSE_SYNTAX_ERROR" in done.err
    assert "\tat org.apache" not in done.err
    assert nothing_was_written(folder)


@pytest.mark.usefixtures("runtime")
def test_a_repository_becomes_a_code_graph_that_can_be_asked(
    headwater_here: Run, headwaters: RunMany, tmp_path: Path
) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    (folder / "headwater.toml").touch()
    built = headwater_here("build", folder, "--graph", "--no-color", *SMALL)
    assert built.code == 0, built.err
    said = built.out.splitlines()
    assert said[6].split() == ["files", "1", "(1", "ok)"]
    assert said[7].split() == ["definitions", "1", "function"]
    questions = [line.strip() for line in said[said.index("Ask it:") + 1 :]]
    assert [each.split()[1] for each in questions] == ["query"] * 3 + ["ask"] * 2
    assert sorted(path.name for path in (folder / ".headwater" / "graph" / "tables").iterdir()) == [
        "definitions",
        "evidence_shop",
        "file_nodes",
        "resolution_shop",
    ]
    again = headwaters(again={"arguments": ("build", folder, "--graph", "--no-color")})["again"]
    assert again.out.startswith("Nothing to do: 49 views, 1 source, 4 tables are as run ")
    assert "The code graph has 1 file and " in again.out
    answers = [
        headwater_here(*shlex.split(each.removeprefix("headwater ")), "--json", *SMALL)
        for each in questions[:3]
    ]
    assert [each.code for each in answers] == [0, 0, 0], answers
    assert json.loads(answers[1].out)["rows"] == [{"callee_text": "sum", "calls": 1}]
    numbers = headwater_here("build", folder, "--graph", "--full", "--json", *SMALL)
    assert json.loads(numbers.out)["graph"]["definitions"] == {"FUNCTION": 1}
