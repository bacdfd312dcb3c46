"""The comments of a file, what each speaks of, and the docstrings.

A comment is found by its `#`: the tree tells where strings are, and elsewhere there is no other `#`. Only
literals side by side, between which there may be comments, are taken apart by `tokenize`; and so are, from
Python 3.12 on, f-strings of several lines. In a text that did not parse no comment is found.

A comment at the end of a line speaks of the last statement on that line. One with a line of its own speaks of
the statement that it stands in, if that is within a header or brackets, or of the next one in its block; and
at the end of a block, of the function, class or module that it stands in. Which block that is, is told by how
far it is indented. Not here: what is inside a comment, but for its first words.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from headwater.cpg.extract.kinds import Error
from headwater.cpg.extract.source import encoding_comment_of
from headwater.cpg.extract.walk import AST_CLASSES, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.cpg.extract.source import SourceText
    from headwater.cpg.extract.walk import Walk

CommentKind: TypeAlias = Literal["comment", "type_comment", "type_ignore", "shebang", "encoding", "pragma"]

_MODULE_ROW = 1
_COMMENT = re.compile(rb"#[^\r\n]*")
_BLANKS = re.compile(rb"[ \t\f\r\n\\]*")
_ONE_LITERAL = re.compile(
    rb"[A-Za-z]{0,2}(?:"
    rb'"""(?:[^"\\]+|\\.|"(?!""))*+"""|'
    rb"'''(?:[^'\\]+|\\.|'(?!''))*+'''|"
    rb'"(?!"")(?:[^"\\]+|\\.)*+"|'
    rb"'(?!'')(?:[^'\\]+|\\.)*+')",
    re.DOTALL,
)
_TYPE_IGNORE = re.compile(rb"#[ \t]*type:[ \t]*ignore(?![A-Za-z0-9_])")
_TYPE = re.compile(rb"#[ \t]*type:[ \t]*\S")
# What tools read: words that stand alone, and words with a colon.
_PRAGMA = re.compile(
    rb"#:?[ \t]*(?:(?:noqa|nosec|nopep8|NOLINT|NOSONAR)\b|(?:pylint|pragma|fmt|mypy|flake8|ruff|isort|yapf|"
    rb"pyright|basedpyright|pytype|pyre|ty|bandit|autopep8|skipcq|cython|doctest)[ \t]*:)",
    re.IGNORECASE,
)
_HAS_COMMENTS_IN_FSTRINGS = sys.version_info >= (3, 12)
_FORMATTED = tuple(getattr(ast, name) for name in ("JoinedStr", "TemplateStr") if hasattr(ast, name))
# What each class of the tree is here: a statement, a text that may contain a `#`, or of no interest.
_STATEMENT, _STRING = 1, 2
_TEXTS = (str, bytes)
_ROLES: dict[type[ast.AST], int] = {
    **{kind: _STATEMENT for kind in AST_CLASSES if issubclass(kind, ast.stmt)},
    **dict.fromkeys((ast.Constant, *_FORMATTED), _STRING),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentColumns:
    """The comments of a file in the order of its text: entry `i` of every list belongs to comment `i`.

    `bstart` and `bend` are in the bytes of the file, from the `#` to the end of the line. `node` is the row
    of what it speaks of, `owner` that of the function, class or module in which it stands.
    """

    bstart: list[int]
    bend: list[int]
    kind: list[CommentKind]
    node: list[int]
    owner: list[int]


def find_comments(walk: Walk, source: SourceText) -> CommentColumns:
    """The comments of a file that has been walked."""
    if b"#" not in source.data:
        return CommentColumns(bstart=[], bend=[], kind=[], node=[], owner=[])
    text = _Text(walk)
    spans = list(text.comments())
    pairs = text.subjects(spans)
    encoding = encoding_comment_of(source.data)
    return CommentColumns(
        bstart=source.original([start for start, _ in spans]),
        bend=source.original([end for _, end in spans]),
        kind=["encoding" if span[0] == encoding else _kind_of(source.data, *span) for span in spans],
        node=[node for node, _ in pairs],
        owner=[owner for _, owner in pairs],
    )


def find_docstrings(walk: Walk) -> tuple[list[int], list[int]]:
    """The rows of all docstrings, and the row of the module, class or function that each belongs to."""
    strings: list[int] = []
    definitions: list[int] = []
    for row in walk.owners:
        body = cast("ast.Module", walk.rows[row][0]).body
        first = body[0].value if body and isinstance(body[0], ast.Expr) else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            strings.append(row_of(first))
            definitions.append(row)
    return strings, definitions


def _kind_of(data: bytes, start: int, end: int) -> CommentKind:
    text = data[start:end]
    if start == 0 and text.startswith(b"#!"):
        return "shebang"
    if _TYPE_IGNORE.match(text):
        return "type_ignore"
    if _TYPE.match(text):
        return "type_comment"
    return "pragma" if _PRAGMA.search(text) else "comment"


@dataclass(slots=True)
class _Text:
    """The statements and strings of a file in the order of its text.

    `begins` are the statements' first bytes, decorators included; `rows` the rows of their nodes.
    """

    walk: Walk
    begins: list[int] = field(default_factory=list[int])
    rows: list[int] = field(default_factory=list[int])
    strings: list[tuple[int, int, bool]] = field(default_factory=list[tuple[int, int, bool]])

    def __post_init__(self) -> None:
        scan, roles = self.walk.scan, _ROLES
        found: list[tuple[int, int, bool]] = []
        for row, entry in enumerate(self.walk.rows):
            node = entry[0]
            role = roles.get(node.__class__)
            if role is None:
                continue
            if role == _STATEMENT:
                self.begins.append(self._begin_of(cast("ast.stmt", node)))
                self.rows.append(row)
                if node.__class__ is not Error:
                    continue
            elif node.__class__ is ast.Constant and cast("ast.Constant", node).value.__class__ not in _TEXTS:
                continue
            placed = cast("ast.expr", node)
            found.append((scan.start_of(placed), scan.end_of(placed), isinstance(node, _FORMATTED)))
        covered = 0
        found.sort(
            key=lambda span: (span[0], -span[1])
        )  # the tree has keys before values, bodies before decorators
        for span in found:
            if span[1] > covered:
                covered = span[1]
                self.strings.append(span)

    def comments(self) -> Iterator[tuple[int, int]]:
        """The span of each comment, in bytes of the text."""
        data, strings = self.walk.scan.data, self.strings
        starts = [start for start, _, _ in strings]
        place = data.find(b"#")
        while place >= 0:
            number = bisect_right(starts, place) - 1
            if number >= 0 and place < strings[number][1]:
                yield from self._comments_within(*strings[number])
                place = data.find(b"#", strings[number][1])
                continue
            found = _COMMENT.match(data, place)
            end = found.end() if found else place + 1
            yield place, end
            place = data.find(b"#", end)

    def subjects(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """For each comment the row it speaks of, and the row of the definition it stands in."""
        scan = self.walk.scan
        found: list[tuple[int, int]] = []
        following = len(scan.data)
        after = -1
        for start, end in reversed(spans):
            code = scan.after(_BLANKS, end)
            following = following if code == after else code
            line = bisect_right(scan.starts, start)
            is_alone = not scan.data[scan.starts[line - 1] : start].strip()
            last = bisect_left(self.begins, start) - 1
            if is_alone:
                found.append(self._alone(start, start - scan.starts[line - 1], last, following))
            else:
                found.append(self._behind(line, last))
            after = start
        found.reverse()
        return found

    def _behind(self, line: int, last: int) -> tuple[int, int]:
        """The last statement that has a part on this line."""
        row = self.rows[last] if last >= 0 else _MODULE_ROW
        while row > _MODULE_ROW and (self._statement(row).end_lineno or 0) < line:
            row = self._around(row)
        return row, self._definition(row)

    def _alone(self, start: int, column: int, last: int, following: int) -> tuple[int, int]:
        """What a comment with a line of its own speaks of; `last` is the statement that began before it."""
        place = bisect_left(self.begins, following)
        is_statement = place < len(self.begins) and self.begins[place] == following
        after = self.rows[place] if is_statement else None
        before = self.rows[last] if last >= 0 else None
        if before is not None and start < self.walk.scan.end_of(self._statement(before)):
            return (before, self._definition(before)) if after is None else (after, self._owner(after))
        if after is not None:
            is_less = before is None or self._statement(before).col_offset < column
            if is_less or self._statement(after).col_offset >= column:
                return after, self._owner(after)
        row = _MODULE_ROW if before is None else before
        while row > _MODULE_ROW and self._statement(row).col_offset >= column:
            row = self._around(row)
        definition = self._definition(row)
        return definition, definition

    def _comments_within(self, start: int, end: int, is_formatted: bool) -> Iterator[tuple[int, int]]:
        """The comments between the literals of one string."""
        data = self.walk.scan.data
        may_have_fields = is_formatted and _HAS_COMMENTS_IN_FSTRINGS
        if not may_have_fields and _ONE_LITERAL.fullmatch(data, start, end):
            return
        lines = re.split(rb"(?<=\n)|(?<=\r)(?!\n)", data[start:end])
        if len(lines) == 1:
            return
        begins = [start]
        for line in lines:
            begins.append(begins[-1] + len(line))
        read = io.StringIO("(" + data[start:end].decode() + ")", newline="").readline
        try:
            for token in tokenize.generate_tokens(read):
                if token.type == tokenize.COMMENT:
                    row, column = token.start
                    before = token.line[:column] if row > 1 else token.line[1:column]
                    place = begins[row - 1] + len(before.encode())
                    yield place, place + len(token.string.encode())
        except (tokenize.TokenError, SyntaxError):  # a text that did not parse
            return

    def _begin_of(self, statement: ast.stmt) -> int:
        """The first byte of a statement, or of the `@` of its first decorator."""
        scan = self.walk.scan
        decorators = getattr(statement, "decorator_list", ())
        if decorators:
            return scan.data.rfind(b"@", 0, scan.start_of(decorators[0]))
        return scan.start_of(statement)

    def _statement(self, row: int) -> ast.stmt:
        return cast("ast.stmt", self.walk.rows[row][0])

    def _around(self, row: int) -> int:
        """The row of the statement around another, or of the module."""
        row = self.walk.rows[row][1]
        while row > _MODULE_ROW and not isinstance(self.walk.rows[row][0], ast.stmt):
            row = self.walk.rows[row][1]
        return row

    def _owner(self, row: int) -> int:
        return self.walk.rows[row][2].row

    def _definition(self, row: int) -> int:
        """The row itself if it is a definition, or that of the definition around it."""
        return row if row in self.walk.owners else self._owner(row)
