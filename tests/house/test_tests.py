"""Tests about the tests: one file per source file, and none that is passed over."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headwater"
TESTS = ROOT / "tests"
PASSED_OVER = frozenset(
    {"skip", "skipif", "xfail", "importorskip"}
    | {"skipIf", "skipUnless", "skipTest", "SkipTest", "expectedFailure"}
)

# Source files without a test file of their own: which file tests them instead, and why.
TESTED_ELSEWHERE: dict[str, tuple[str, str]] = {
    "__init__.py": ("house/test_doors.py", "a door holds no code"),
    "__main__.py": ("cli/test_app.py", "one line, run as a process there"),
    "cli/tables.py": ("cli/test_app.py", "a list of commands, each of which is asked for help there"),
    "origin.py": ("house/test_errors.py", "a path and a line, seen in every error"),
    "artifacts/writes.py": ("artifacts/test_records.py", "further records, with the same contract"),
    "delta/applying.py": ("delta/test_commit.py", "how Delta is asked; every commit does"),
    "delta/observing.py": ("delta/test_content.py", "numbers out of a job, asked for there"),
    "delta/preparing.py": ("delta/test_commit.py", "what holds before a commit, broken there one by one"),
    "delta/over_connect.py": ("run/test_clusters.py", "what a Spark Connect server reads, on a real one"),
    "delta/settling.py": ("delta/test_layout.py", "properties of a policy, seen on tables"),
    "delta/receipt.py": ("delta/test_commit.py", "a value without behaviour; commits return it"),
    "delta/upkeep/failing.py": ("delta/upkeep/test_optimizing.py", "a conflict and refusals, provoked there"),
    "delta/upkeep/receipt.py": ("delta/upkeep/test_optimizing.py", "values; every operation returns them"),
    "delta/upkeep/task.py": ("delta/upkeep/test_vacuuming.py", "a value; every operation takes one"),
    "delta/upkeep/history.py": ("run/test_maintaining.py", "what policies ask of a log, tried there"),
    "pipeline/difference.py": ("pipeline/test_canonical.py", "words for two plans that differ"),
    "messages.py": ("pipeline/test_canonical.py", "ways through a plan's messages, walked there"),
    "pipeline/modules.py": ("pipeline/test_code.py", "which modules a function reaches, seen in its digest"),
    "pipeline/offline_client.py": ("pipeline/test_offline.py", "the session's other half, tried through it"),
    "pipeline/refusal.py": ("pipeline/test_offline.py", "the words of a refusal, read where it is raised"),
    "runtime/planner.py": ("plan/test_catalyst.py", "how every plan is rehydrated"),
    "run/events.py": ("run/test_emitting.py", "what builds tell, heard there"),
    "run/over_connect.py": ("run/test_clusters.py", "plans sent to a real Spark Connect server"),
    "runtime/connecting.py": ("run/test_clusters.py", "a session on a real Spark Connect server"),
    "run/outcome.py": ("run/test_engine.py", "values; a run returns them"),
    "cpg/extract/values/annotations.py": (
        "cpg/extract/values/test_finding.py",
        "facts of annotations, among those of all nodes",
    ),
    "cpg/extract/values/expressions.py": (
        "cpg/extract/values/test_finding.py",
        "facts of expressions, one by one",
    ),
    "cpg/extract/values/facts.py": (
        "cpg/extract/values/test_finding.py",
        "the columns, which every fact is in",
    ),
    "cpg/extract/values/gathering.py": (
        "cpg/extract/values/test_finding.py",
        "which variable a name is, seen in facts",
    ),
    "cpg/extract/values/statements.py": (
        "cpg/extract/values/test_finding.py",
        "facts of statements, one by one",
    ),
    "cpg/extract/values/updates.py": (
        "cpg/extract/values/test_finding.py",
        "what was just stored, seen in facts",
    ),
    "cpg/extract/hints/facts.py": (
        "cpg/extract/hints/test_finding.py",
        "columns without behaviour; every test of hints reads them",
    ),
    "cpg/extract/hints/names.py": (
        "cpg/extract/hints/test_finding.py",
        "which names stand for what, seen in hints",
    ),
    "cpg/extract/hints/writing.py": ("cpg/extract/hints/test_finding.py", "annotations as texts, one by one"),
    "cpg/resolve/agreeing.py": ("cpg/resolve/test_typefacts.py", "sources that agree are surer"),
    "cpg/resolve/hinting.py": ("cpg/resolve/test_typefacts.py", "what each source says of a node"),
    "cpg/resolve/inferring.py": ("cpg/resolve/test_typefacts.py", "types of values, one by one"),
    "cpg/extract/values/exceptions.py": (
        "cpg/extract/values/test_finding.py",
        "facts of what is raised and caught",
    ),
    "cpg/resolve/attributes.py": (
        "cpg/resolve/test_calling.py",
        "what is read and stored, seen in what is called",
    ),
    "cpg/resolve/builtin_calls.py": (
        "cpg/resolve/test_calling.py",
        "callbacks and containers of builtins, called there",
    ),
    "cpg/resolve/builtin_methods.py": ("cpg/resolve/test_calling.py", "methods of containers, called there"),
    "cpg/resolve/containers.py": ("cpg/resolve/test_calling.py", "items by key and by place, called there"),
    "cpg/resolve/defining.py": (
        "cpg/resolve/test_calling.py",
        "functions, classes and decorators, called there",
    ),
    "cpg/resolve/definitions.py": (
        "cpg/resolve/test_symbols.py",
        "rows of definitions, read with their symbols",
    ),
    "cpg/resolve/descriptors.py": ("cpg/resolve/test_calling.py", "properties and the like, called there"),
    "cpg/resolve/dispatching.py": ("cpg/resolve/test_calling.py", "functions chosen by type, called there"),
    "cpg/resolve/flow/calls.py": (
        "cpg/resolve/flow/test_finding.py",
        "arguments and what comes back, followed there",
    ),
    "cpg/resolve/flow/heap.py": (
        "cpg/resolve/flow/test_finding.py",
        "attributes, items and imports, followed there",
    ),
    "cpg/resolve/flow/outside.py": (
        "cpg/resolve/flow/test_finding.py",
        "builtins and other libraries, followed there",
    ),
    "cpg/resolve/flow/rows.py": ("cpg/resolve/flow/test_finding.py", "the rows that ways are made of"),
    "cpg/resolve/flow/sites.py": ("cpg/resolve/flow/test_finding.py", "what all ways are found from"),
    "cpg/resolve/summaries/calling.py": (
        "cpg/resolve/summaries/test_rows.py",
        "effects and exceptions that come through calls",
    ),
    "cpg/resolve/summaries/effect_names.py": (
        "cpg/resolve/summaries/test_rows.py",
        "one call for each effect",
    ),
    "cpg/resolve/summaries/effects.py": (
        "cpg/resolve/summaries/test_rows.py",
        "effects of defs and of those that they call",
    ),
    "cpg/resolve/summaries/parameters.py": ("cpg/resolve/summaries/test_rows.py", "where parameters go"),
    "cpg/resolve/summaries/raising.py": ("cpg/resolve/summaries/test_rows.py", "exceptions that leave a def"),
    "cpg/resolve/summaries/transfers.py": (
        "cpg/resolve/summaries/test_rows.py",
        "what parameters go through on their way",
    ),
    "cpg/resolve/guessing.py": ("cpg/resolve/test_outcome.py", "a call that is known by name alone"),
    "cpg/resolve/library.py": (
        "cpg/resolve/test_calling.py",
        "functions that hand functions on, called there",
    ),
    "cpg/resolve/linking.py": ("cpg/resolve/test_importing.py", "what imports and bases mean"),
    "cpg/resolve/loading.py": ("cpg/resolve/test_calling.py", "every fact that there is, loaded there"),
    "cpg/resolve/lookup.py": ("cpg/resolve/test_calling.py", "inherited and bound members, called there"),
    "cpg/resolve/objects.py": (
        "cpg/resolve/test_calling.py",
        "values without behaviour; every call has some",
    ),
    "cpg/resolve/operating.py": ("cpg/resolve/test_calling.py", "operators, called there"),
    "cpg/resolve/passing.py": ("cpg/resolve/test_calling.py", "arguments that are called by who gets them"),
    "cpg/resolve/reflecting.py": ("cpg/resolve/test_calling.py", "super, type and getattr, called there"),
    "cpg/resolve/resolution.py": (
        "cpg/resolve/test_outcome.py",
        "the steps one after the other, the same in any order of files",
    ),
    "cpg/resolve/whole.py": ("cpg/resolve/test_outcome.py", "all rows at once, which every test reads"),
    "run/sessions.py": ("run/test_engine.py", "a run that has nothing to do must not start Spark"),
}


def own_test(path: str) -> str:
    """`delta/head.py` is tested by `delta/test_head.py`."""
    source = Path(path)
    return (source.parent / f"test_{source.name}").as_posix()


def sources() -> list[str]:
    found = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
    return [name for name in found if "template/" not in name]  # a user's project; `init` is tested with it


def expected_test(path: str) -> str:
    if (TESTS / own_test(path)).is_file():
        return own_test(path)
    is_door = path.endswith("__init__.py")
    elsewhere = TESTED_ELSEWHERE.get("__init__.py" if is_door else path)
    return elsewhere[0] if elsewhere else own_test(path)


@pytest.mark.parametrize("path", sources())
def test_a_source_file_has_its_test_file(path: str) -> None:
    assert (TESTS / expected_test(path)).is_file(), f"{path} has no tests/{expected_test(path)}"


def test_the_list_of_exceptions_is_not_stale() -> None:
    gone = [path for path in TESTED_ELSEWHERE if not (SOURCE / path).is_file()]
    assert not gone


def test_no_test_is_passed_over() -> None:
    found: list[str] = []
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = getattr(node, "attr", None) or getattr(node, "id", None)
            if isinstance(node, ast.Attribute | ast.Name) and name in PASSED_OVER:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno} {name}")
    assert not found
