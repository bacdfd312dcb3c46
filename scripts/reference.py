"""Writes docs/reference/errors.md from the error classes, and functions.md from the catalogue.

    .venv/bin/python scripts/reference.py

Tests compare the pages with what this script would write.
"""

from __future__ import annotations

import re
from pathlib import Path

from headwater import errors
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


def main() -> None:
    """Writes the pages."""
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, text in (("errors.md", errors_page()), ("functions.md", functions_page())):
        (PAGES / name).write_text(text, "utf-8")
        print(f"wrote {(PAGES / name).relative_to(ROOT)}")


if __name__ == "__main__":
    main()
