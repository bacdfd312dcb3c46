"""The identity of what an author wrote, without what makes no difference: to tell a change of it from others.

A plan can become another though nobody touched the view: one that asks for a schema is built by what it is
told, and a query is planned by the columns that its tables have. Not here: the plans.
"""

from __future__ import annotations

import re

from headwater.digest import digest_of
from headwater.errors import HeadwaterError
from headwater.pipeline.code import function_digest

# Texts in quotes stay as they are; so do hints, which look like comments.
_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | (?P<gap>--[^\n]* | /\*(?!\+).*?\*/ | \s+) | .""",
    re.DOTALL | re.VERBOSE,
)


def written_sql(text: str) -> str:
    """A digest of a query; comments, line breaks and spaces between words do not count.

    >>> written_sql("SELECT 1 -- one") == written_sql("SELECT  1")
    True
    >>> written_sql("SELECT ' 1'") == written_sql("SELECT '1'")
    False
    """
    words = [""]
    for each in _TOKEN.finditer(text):
        if each["gap"]:
            words.append("")
        else:
            words[-1] += each.group()
    return digest_of([each for each in words if each])


def written_function(function: object) -> str | None:
    """A digest of a function's code and all of the project that it reaches; None where it has none."""
    try:
        return function_digest(function)
    except HeadwaterError:
        return None
