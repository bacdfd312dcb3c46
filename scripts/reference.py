"""Writes docs/reference: errors.md from the error classes, functions.md from the catalogue, and ledger.md.

    .venv/bin/python scripts/reference.py

Tests compare the pages with what this script would write.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from headwater import errors
from headwater.artifacts import LEDGER_COLUMNS, LEDGER_NAMES, LedgerEntry, ledger_columns
from headwater.errors import HeadwaterError
from headwater.functions import FAMILIES, FunctionRow, function_rows

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "reference"
HEADER = """\
# Errors

<!-- Written by scripts/reference.py from src/headwater/errors.py; change it there. -->

Every error that Headwater raises on purpose is a `headwater.HeadwaterError` with a code that stays the same.
On the command line it is two lines on stderr: code, place and what happened; then what to do. With `--json`
the same facts are in the document on stdout, under `error`. `--debug` adds the whole trace.

Exit codes: 1 refused or failed, 2 wrong usage or configuration, 3 what is asked for no longer exists.
Words in braces are filled in from the error's fields of the same name, which a program can read.
"""

FUNCTIONS_HEADER = """\
# Functions

<!-- Written by scripts/reference.py from src/headwater/functions; change it there. -->

Every function of the catalogue, under the same name in Python (`from headwater import functions as H`) and
in SQL. What holds for all of them: [the chapter about functions](../concepts/09-functions.md).
`headwater functions NAME` shows one of them on the command line, `DESCRIBE FUNCTION EXTENDED name` in SQL.

In a signature, brackets hold what may be left out, dots what may be repeated, T, K and V stand for any type,
and SPAN for STRUCT<bstart: BIGINT, bend: BIGINT, unit: STRING>. Each example is a query with its one value;
a test runs them all.
"""

LEDGER_HEADER = """\
# The ledger

<!-- Written by scripts/reference.py from src/headwater/artifacts/ledger_names.py; change it there. -->

Everything that a run knows is appended to one Delta table, `.headwater/ledger/events`, in one commit, at the
end of the run, whether it went well or not. `headwater query` and `Project.query` read it under the names
below, which need no registration; a query sees the ledger at the version that is the newest when it opens,
whatever the last run did to its tables. A run that found nothing to do writes nothing, so it is not there.
What `hw_functions` has is no record of runs: it is the [catalogue of functions](functions.md) itself.

The same facts are in the run's manifest, a file, for those who have no Spark. Secrets are struck out in both.
Sample rows of `hw_violations` are data: whoever may read the ledger sees them.

A column of type STRING (JSON) holds what is nested: `get_json_object(versions, '$.spark')`, or `from_json`.
Columns may be added; in rows of before they are null. A run of ten views adds about twenty kilobytes; if
there are thousands of runs, let `headwater table optimize .headwater/ledger/events` bring them together.

## Useful queries

Each is run by a test, over the example in `examples/orders`.

How did the last runs go?

```sql
SELECT run_id, status, seconds, error FROM hw_runs ORDER BY run_id DESC LIMIT 10
```

Why was a table made again, or not?

```sql
SELECT run_id, action, reason, rows, version FROM hw_tasks WHERE view_name = 'order_facts' ORDER BY run_id
```

What depends on a column, and how, by the last run that planned it?

```sql
SELECT DISTINCT to_dataset, to_column, kind FROM hw_lineage
WHERE run_id = (SELECT max(run_id) FROM hw_runs)
  AND from_dataset = 'order_facts' AND from_column = 'amount_eur'
ORDER BY to_dataset, to_column, kind
```

When did a view's plan change, and which part of it: code, functions, settings, policies or inputs?

```sql
SELECT * FROM (
  SELECT view_name, run_id, fingerprint_parts,
         lag(fingerprint_parts) OVER (PARTITION BY view_name ORDER BY run_id) AS parts_before
  FROM hw_plans)
WHERE fingerprint_parts <> parts_before
```

Which runs have read a version of a source that turned out to be wrong?

```sql
SELECT run_id, version, timestamp FROM hw_snapshots
WHERE role = 'input' AND dataset = 'orders' AND version = 0 ORDER BY run_id
```

Which run made each version of a table, and what did its protocol ask for then?

```sql
SELECT DISTINCT dataset, version, operation, made_by, min_writer_version, writer_features
FROM hw_materializations ORDER BY dataset, version
```

Which settings differ between runs?

```sql
SELECT scope, key, collect_set(value) AS seen FROM hw_settings
GROUP BY scope, key HAVING count(DISTINCT value) > 1
```

Where do writers wait for each other?

```sql
SELECT dataset, conflict, count(*) AS times, sum(waited_seconds) AS waited
FROM hw_retries GROUP BY dataset, conflict
```

What did upkeep save, and who asked for it?

```sql
SELECT started_at, dataset, operation, asked_by, reason, bytes_before - bytes_after AS saved
FROM hw_maintenance ORDER BY started_at
```
"""


def errors_page() -> str:
    """The whole page: a table of contents, then each error under the branch it belongs to."""
    coded = sorted(_coded(HeadwaterError), key=lambda kind: kind.code)
    rows = [f"| [{each.code}](#{_anchor(each)}) | `{each.__name__}` | {each.exit_code} |" for each in coded]
    contents = "\n".join(["| code | class | exit |", "|---|---|---|", *rows])
    entries = "\n".join(_entry(each) for each in coded)
    return f"{HEADER}\n{contents}\n\n{entries}"


def _coded(kind: type[HeadwaterError]) -> set[type[HeadwaterError]]:
    found: set[type[HeadwaterError]] = set()
    for below in kind.__subclasses__():
        found |= _coded(below)
        if below.__module__ == errors.__name__ and "code" in vars(below):
            found.add(below)
    return found


def _entry(kind: type[HeadwaterError]) -> str:
    meaning = " ".join((kind.__doc__ or "").split())
    return (
        f"### {kind.code} {kind.__name__}\n\n"
        f"{meaning}\n\n"
        f"- says: {_quoted(kind.says)}\n"
        f"- next step: {_quoted(kind.advises)}\n"
        f"- exit code: {kind.exit_code}\n"
    )


def _quoted(template: str) -> str:
    """The template as code, so that its braces and quotes stay what they are."""
    mark = "``" if "`" in template else "`"
    return f"{mark}{template}{mark}"


def _anchor(kind: type[HeadwaterError]) -> str:
    return re.sub(r"[^a-z0-9 -]", "", f"{kind.code} {kind.__name__}".lower()).replace(" ", "-")


def functions_page() -> str:
    """The whole page: which functions each family has, then each function."""
    rows = function_rows()
    families = [
        f"| `{tag}` | {', '.join(f'[{row.name}](#{row.name})' for row in rows if tag in row.tags)} |"
        for tag in FAMILIES
    ]
    contents = "\n".join(["| family | functions |", "|---|---|", *families])
    return "\n".join([FUNCTIONS_HEADER, contents, "", *[_function(row) for row in rows]])


def _function(row: FunctionRow) -> str:
    facts = [f"- tags: {', '.join(f'`{tag}`' for tag in row.tags)}"]
    if row.semantic_type:
        facts.append(f"- semantic type: `{row.semantic_type}`")
    if row.alias:
        facts.append(f"- second name in Python: `{row.alias}`")
    examples = "\n".join(f"{sql};\n-- {result}" for sql, result in row.examples)
    parts = [f"### {row.name}", f"`{row.signature}`", row.doc, f"```sql\n{examples}\n```", "\n".join(facts)]
    return "\n\n".join(parts) + "\n"


def ledger_page() -> str:
    """The whole page: what the ledger is, useful queries, each name with its columns, the table behind."""
    stored = "\n".join(f"| `{name}` | {kind} |" for name, kind in LEDGER_COLUMNS.items())
    behind = (
        "## The table behind the names\n\n"
        "One row per fact. `kind` tells which name it belongs to, `name` what it is about (the second\n"
        "column that rows are found by, above), `number` keeps the order, `at` is when the run began, and\n"
        "`details` has the rest as JSON.\n\n"
        f"| column | type |\n|---|---|\n{stored}\n"
    )
    return "\n".join([LEDGER_HEADER, "## Names\n", *map(_ledger_name, LEDGER_NAMES), behind])


def _ledger_name(entry: type[LedgerEntry]) -> str:
    nested = {each for each, kind in entry.__annotations__.items() if kind == "Json"}
    rows = "\n".join(
        f"| `{name}` | {kind}{' (JSON)' if name in nested else ''} |"
        for name, kind in ledger_columns(entry).items()
    )
    doc = inspect.getdoc(entry) or ""
    found = f"Rows are found by `{entry.id_column}` and `{entry.named_by}`; their kind is `{entry.event}`."
    return f"### {entry.sql_name}\n\n{doc}\n\n{found}\n\n| column | type |\n|---|---|\n{rows}\n"


def main() -> None:
    """Writes the pages."""
    PAGES.mkdir(parents=True, exist_ok=True)
    pages = {"errors.md": errors_page(), "functions.md": functions_page(), "ledger.md": ledger_page()}
    for name, text in pages.items():
        (PAGES / name).write_text(text, "utf-8")
        print(f"wrote {(PAGES / name).relative_to(ROOT)}")


if __name__ == "__main__":
    main()
