"""Nothing reads or writes Delta around the one area that may."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headwater"
OUTSIDE = tuple(
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).parts[0] != "delta" and "template" not in path.parts
)
# Where words about Delta stand that nobody runs: which, and why.
WORDS = {
    "errors.py": "tells people what a Delta table looks like",
    "runtime/adopting.py": "asks a JVM which Delta it has, by name",
    "runtime/jars.py": "names the jars that are fetched",
    "runtime/profile.py": "names settings that belong to the storage table",
    "runtime/storage.py": "names the options of Delta's log stores",
    "runtime/settings.py": "names Delta's catalog and settings to Spark, for all sessions",
    "runtime/training.py": "names Delta's catalog to Spark, for the archive's child",
}
PACKAGES = frozenset({"delta", "deltalake"})
CLASSES = frozenset({"DeltaLog", "DeltaTable", "DeltaHistoryManager", "DeltaTableV2"})
IN_TEXT = re.compile(
    r"_delta_log|\bdelta\s*\.\s*`|org\.apache\.spark\.sql\.delta|io\.delta\b|table_changes\("
    r"|\b(VACUUM|OPTIMIZE|RESTORE TABLE|MERGE INTO|DESCRIBE (HISTORY|DETAIL)|CONVERT TO DELTA|FSCK)\b"
    r"|(?i:\busing delta\b)|versionAsOf|timestampAsOf|readChangeFeed|startingVersion|txnAppId"
)


def ways_to_delta(text: str, *, words: bool = True) -> list[int]:
    """The lines that import Delta, reach for its classes, or hand Spark a name, path or command of it.

    Without `words`, texts are let be, but not what is done with them.
    """
    lines: list[int] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found = any(each.name.partition(".")[0] in PACKAGES for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            found = (node.module or "").partition(".")[0] in PACKAGES
        elif isinstance(node, ast.Attribute):
            found = node.attr in CLASSES or ast.unparse(node).endswith((".sql.delta", "jvm.io.delta"))
        elif isinstance(node, ast.Call):
            found = _opens_delta(node)
        else:
            found = words and isinstance(node, ast.Constant) and bool(IN_TEXT.search(str(node.value)))
        if found:
            lines.append(getattr(node, "lineno", 0))
    return sorted(set(lines))


def _opens_delta(call: ast.Call) -> bool:
    """`x.format("delta")`, `load(…, format="delta")` and the like, on whatever frame."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in {
        "format",
        "load",
        "save",
        "saveAsTable",
        "using",
    }:
        return False
    values = [*call.args, *(each.value for each in call.keywords)]
    return any(isinstance(each, ast.Constant) and str(each.value).lower() == "delta" for each in values)


@pytest.mark.parametrize(
    "text",
    [
        "import delta",
        "from delta.tables import DeltaTable",
        "import deltalake",
        'spark.read.format("delta").load(p)',
        'frame.write.format("Delta").save(p)',
        'spark.read.load(p, format="delta")',
        "jvm.org.apache.spark.sql.delta.actions.AddFile",
        "session.jvm.io.delta.tables.DeltaTable.forPath(p)",
        "log = package.DeltaLog",
        'spark.sql(f"SELECT * FROM delta.`{p}`")',
        'spark.sql("VACUUM t")',
        'spark.sql("CREATE TABLE t (x INT) USING delta")',
        'spark.sql("DESCRIBE HISTORY t")',
        'reader.option("versionAsOf", 3)',
        'path / "_delta_log" / "00000000000000000000.json"',
        """spark.sql("SELECT * FROM table_changes('t', 1)")""",
    ],
)
def test_the_search_finds_ways_around(text: str) -> None:
    assert ways_to_delta(text) == [1]


@pytest.mark.parametrize(
    "text",
    [
        "from headwater.delta import read_pinned",
        'source("orders", path="lake/orders", format="delta")',
        'kind = "delta"',
        '"a Delta table"',
    ],
)
def test_the_search_lets_words_be(text: str) -> None:
    assert ways_to_delta(text) == []


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_nothing_outside_its_area_touches_delta(path: Path) -> None:
    is_said_only = path.relative_to(SOURCE).as_posix() in WORDS
    found = ways_to_delta(path.read_text("utf-8"), words=not is_said_only)
    assert not found, "only headwater.delta reads and writes Delta tables"


def test_the_list_of_words_is_not_stale() -> None:
    for name in WORDS:
        assert ways_to_delta((SOURCE / name).read_text("utf-8")), name
