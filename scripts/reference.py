"""Writes docs/reference/errors.md from the error classes themselves.

    .venv/bin/python scripts/reference.py

A house test compares the page with what this script would write.
"""

from __future__ import annotations

import re
from pathlib import Path

from headwater import errors
from headwater.errors import HeadwaterError

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "errors.md"
HEADER = """\
# Errors

<!-- Written by scripts/reference.py from src/headwater/errors.py; change it there. -->

Every error that Headwater raises on purpose is a `headwater.HeadwaterError` with a code that stays the same.
On the command line it is two lines on stderr: code, place and what happened; then what to do. With `--json`
the same facts are in the document on stdout, under `error`. `--debug` adds the whole trace.

Exit codes: 1 refused or failed, 2 wrong usage or configuration, 3 what is asked for no longer exists.
Words in braces are filled in from the error's fields of the same name, which a program can read.
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


def main() -> None:
    """Writes the page."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(errors_page(), "utf-8")
    print(f"wrote {PAGE.relative_to(PAGE.parents[2])}")


if __name__ == "__main__":
    main()
