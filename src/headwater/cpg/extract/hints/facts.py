"""Hints: what one file says of types, as a stream of four columns.

A hint is (op, target, source, text). Nodes are told by their numbers, those of names included: what a name
of a module, class or function is, is said of its BINDING. Variables are those of value facts: a node's
number, or `-2 - b` for binding `b`. A text is a type as terms.py reads it. NAME says for all hints that
follow what a name in their texts stands for, until it is said anew; other names are builtins, or unknown.
Not here: how hints are found, and what follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

HINTS = (
    "name",  # target: the variable that the name in text stands for
    "annotation",  # target: parameter, function (what it returns) or name; source: the class that `Self` is
    "docstring",  # the same, by a docstring
    "default",  # target: parameter; text: the type of its default, a builtin
    "alias",  # target: the variable of a name that stands for the type in text
    "typevar",  # target: the variable of a type variable; source: the def that it belongs to; text: its name
    "variable",  # target: a name; source: a variable with values of it, or -1 where it may be None
    "attribute",  # target: a name; source: the class whose instances have it; text: the attribute
)
NAME, ANNOTATION, DOCSTRING, DEFAULT, ALIAS, TYPEVAR, VARIABLE, ATTRIBUTE = range(len(HINTS))


@dataclass(frozen=True, slots=True)
class HintColumns:
    """The hints of a file, in order: entry `i` of every list belongs to hint `i`; `op` is of HINTS."""

    op: list[int] = field(default_factory=list[int])
    target: list[int] = field(default_factory=list[int])
    source: list[int] = field(default_factory=list[int])
    text: list[str | None] = field(default_factory=list["str | None"])

    def add(self, op: int, target: int, source: int, text: str | None) -> None:
        """One more."""
        self.op.append(op)
        self.target.append(target)
        self.source.append(source)
        self.text.append(text)
