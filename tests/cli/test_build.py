"""`headwater build` from outside: each build a process of its own, as a user or a scheduler runs it."""

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
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Finished

Run = Callable[..., "Finished"]
MakeProject = Callable[..., Path]
HEAD = "import headwater\nfrom pyspark.sql import functions as F\n"


def nothing_was_written(folder: Path) -> bool:
    return not list(folder.rglob("_delta_log")) and not list(folder.rglob("manifest.json"))


def test_a_copied_example_builds_and_the_second_build_needs_no_java(
    headwater: Run, example: Path, tmp_path: Path
) -> None:
    first = headwater("build", example, "--json", "--set", "driver_memory=1g")
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
    assert "[4/4] top_customers built" in first.err
    assert "WARN" not in first.err
    assert "Exception" not in first.err

    no_java: dict[str, str | None] = {"PATH": str(tmp_path), "JAVA_HOME": None}
    again = headwater("build", example, "--json", **no_java)
    assert again.code == 0, again.err
    second = json.loads(again.out)
    assert (second["status"], second["run_id"]) == ("unchanged", document["run_id"])
    assert {table["action"] for table in second["tables"]} == {"skipped"}
    shown = headwater("build", example, "--no-color", **no_java)
    assert shown.out.startswith("Nothing to do: 10 views, 3 sources, 4 tables are as run ")
    quiet = headwater("build", example, "--quiet", **no_java)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")

    shutil.rmtree(example / ".headwater" / "tables" / "top_customers")
    noticed = headwater("build", example, **no_java)
    assert noticed.code == 1
    assert "table 'top_customers' is not as the last run left it" in noticed.err
    assert "HW-RUNTIME-001" in noticed.err


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


@pytest.mark.parametrize("case", BAD_PROJECTS)
def test_bad_definitions_are_one_clear_error_without_spark(
    headwater: Run, project_folder: MakeProject, tmp_path: Path, case: str
) -> None:
    files, code, error, place = BAD_PROJECTS[case]
    folder = project_folder(**files)
    done = headwater("build", ".", cwd=folder, PATH=str(tmp_path), JAVA_HOME=None)
    assert done.code == code
    assert done.err.splitlines()[-2].startswith(f"{error} {place}"), done.err
    assert done.err.splitlines()[-1].startswith("  ")
    assert "Traceback" not in done.err
    assert nothing_was_written(folder)


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


@pytest.mark.parametrize("case", BAD_CONFIGURATIONS)
def test_bad_configuration_exits_with_two(headwater: Run, project_folder: MakeProject, case: str) -> None:
    text, flags, variables, start = BAD_CONFIGURATIONS[case]
    folder = project_folder(v_sql="SELECT 1")
    (folder / "headwater.toml").write_text(text)
    done = headwater("build", ".", *flags, cwd=folder, **variables)
    assert done.code == 2
    assert done.err.splitlines()[-2].startswith(start), done.err
    assert nothing_was_written(folder)


def test_what_a_view_prints_stays_out_of_the_json(headwater: Run, project_folder: MakeProject) -> None:
    view = "@headwater.view\ndef a(spark):\n    print('hello')\n    return spark.nothing\n"
    text = f"{HEAD}print('loading')\n{view}"
    done = headwater("build", project_folder(v_py=text), "--json")
    assert json.loads(done.out)["status"] == "failed"
    assert "loading" in done.err
    assert "hello" in done.err


def test_a_file_name_that_is_no_text_is_one_clear_error(headwater: Run, project_folder: MakeProject) -> None:
    folder = project_folder(v_sql="SELECT 1 AS x")
    Path(os.fsdecode(os.fsencode(folder) + b"/views/\xff\xfe.sql")).write_text("SELECT 1")
    done = headwater("build", folder)
    assert done.code == 2
    assert done.err.splitlines()[-2].startswith("HW-CONFIG-006")
    assert "\\udcff" in done.err


def test_a_warehouse_that_cannot_be_written_stops_before_spark(
    headwater: Run, project_folder: MakeProject, tmp_path: Path
) -> None:
    folder = project_folder(v_sql="-- headwater: table\nSELECT 1 AS x")
    no_java: dict[str, str | None] = {"PATH": str(tmp_path), "JAVA_HOME": None}
    for place in ("/proc/headwater", str(folder / "headwater.toml")):
        done = headwater("build", folder, "--warehouse", place, **no_java)
        assert done.code == 1
        assert done.err.splitlines()[-2].startswith("HW-RUN-001"), done.err


def test_without_java_the_first_build_says_what_to_install(
    headwater: Run, project_folder: MakeProject, tmp_path: Path
) -> None:
    folder = project_folder(v_sql="-- headwater: table\nSELECT 1 AS x")
    done = headwater("build", folder, PATH=str(tmp_path), JAVA_HOME=None)
    assert done.code == 1
    assert done.err.splitlines()[-2].startswith("HW-RUNTIME-001")
    assert nothing_was_written(folder)


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


def test_what_only_spark_can_find_is_one_clear_error_too(headwater: Run, project_folder: MakeProject) -> None:
    folder = project_folder(a_sql="SELECT * FROM b", b_sql="SELECT 1 AS x FROM\n)")
    done = headwater("build", ".", cwd=folder)
    assert done.code == 1
    assert done.err.splitlines()[-2].startswith("HW-PLAN-004 views/b.sql:2:"), done.err
    assert len([line for line in done.err.splitlines() if line.startswith("HW-")]) == 1
    assert "PARSE_SYNTAX_ERROR" in done.err
    assert "\tat org.apache" not in done.err
    assert nothing_was_written(folder)


def test_a_repository_becomes_a_code_graph_that_can_be_asked(headwater: Run, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    (folder / "headwater.toml").touch()
    built = headwater("build", folder, "--graph", "--no-color", "--set", "driver_memory=1g")
    assert built.code == 0, built.err
    *_, summary, hint = built.out.splitlines()
    assert summary == "The code graph has 1 file, 10 nodes, 11 edges, 0 diagnostics."
    assert hint.startswith("Next: headwater query ")
    assert sorted(path.name for path in (folder / ".headwater" / "graph" / "tables").iterdir()) == [
        "diagnostics",
        "edges",
        "evidence",
        "files",
        "nodes",
    ]
    again = headwater("build", folder, "--graph", "--no-color", PATH=str(tmp_path), JAVA_HOME=None)
    assert again.out.startswith("Nothing to do: 5 views, 1 source, 5 tables are as run ")
    asked = headwater(*shlex.split(hint.removeprefix("Next: headwater ")), "--json")
    assert asked.code == 0, asked.err
    assert {"node_kind": "FUNCTION", "count(1)": 1} in json.loads(asked.out)["rows"]
