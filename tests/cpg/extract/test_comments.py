"""Comments stand where `tokenize` finds them, and speak of the code beside them."""

from __future__ import annotations

import ast
import io
import sysconfig
import tokenize
import warnings
from pathlib import Path

import pytest

from headwater.cpg.extract.comments import CommentColumns, find_comments, find_docstrings
from headwater.cpg.extract.identity import file_digest, module_owner
from headwater.cpg.extract.parsing import parse_source
from headwater.cpg.extract.recovery import recover_module
from headwater.cpg.extract.scanning import Scan
from headwater.cpg.extract.source import SourceText, read_source
from headwater.cpg.extract.walk import Walk, walk_module

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
EVERY = 6  # one file in so many, to keep the time short


def walked(content: bytes) -> tuple[Walk, SourceText] | None:
    source = read_source(content)
    if not isinstance(source, SourceText):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = parse_source(source)
        module = parsed if isinstance(parsed, ast.Module) else recover_module(source)
    if module is None:
        return None
    digest = file_digest("repo", "a.py")
    walk = Walk(digest, Scan(source.data, source.starts))
    walk.scan.place(module, 0, len(source.data))
    walk.rows.append((ast.Module([], []), 0, module_owner(0, digest), "", None, ""))
    walk_module(module, walk)
    return walk, source


def comments_of(content: bytes) -> tuple[CommentColumns, Walk]:
    found = walked(content)
    assert found is not None
    walk, source = found
    return find_comments(walk, source), walk


def text_of(walk: Walk, row: int) -> str:
    """The first line of a node, or `module`."""
    node = walk.rows[row][0]
    if isinstance(node, ast.Module):
        return "module"
    segment = ast.get_source_segment(walk.scan.data.decode(), node) or ""
    return segment.partition("\n")[0].partition("#")[0].strip()


def subjects(text: str) -> dict[str, tuple[str, str]]:
    """By comment, what it speaks of and what it stands in."""
    comments, walk = comments_of(text.encode())
    return {
        text.encode()[start:end].decode(): (text_of(walk, node), text_of(walk, owner))
        for start, end, node, owner in zip(
            comments.bstart, comments.bend, comments.node, comments.owner, strict=True
        )
    }


def tokenized(source: SourceText) -> list[tuple[int, int]]:
    """The comments that `tokenize` finds, in bytes of the file."""
    lines = io.StringIO(source.text, newline="").readlines()
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    spans: list[int] = []
    for token in tokenize.generate_tokens(iter([*lines, ""]).__next__):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            start = starts[row - 1] + len(lines[row - 1][:column].encode())
            spans += [start, start + len(token.string.encode())]
    places = source.original(spans)
    return list(zip(places[::2], places[1::2], strict=True))


def test_the_comments_of_the_standard_library_are_those_of_tokenize() -> None:
    met = 0
    for path in sorted(STANDARD_LIBRARY.rglob("*.py"))[::EVERY]:
        content = path.read_bytes()
        source = read_source(content)
        if "site-packages" in path.parts or not isinstance(source, SourceText):
            continue
        try:
            expected = tokenized(source)
            compile(content, path.name, "exec", ast.PyCF_ONLY_AST)
        except (SyntaxError, tokenize.TokenError, ValueError):
            continue
        comments, _ = comments_of(content)
        assert list(zip(comments.bstart, comments.bend, strict=True)) == expected, path
        met += len(expected)
    assert met > 10_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("x = '# no' # yes", ["# yes"], id="after a string"),
        pytest.param("x = ('# no' # a\n  '# no' # b\n)", ["# a", "# b"], id="between literals"),
        pytest.param("x = ('é # no' # ü\r\n  f'{a}# no' # b\r\n)", ["# ü", "# b"], id="f-string among them"),
        pytest.param("x = '''\n# no\n''' # a", ["# a"], id="string of several lines"),
        pytest.param("x = '''\n# no\n''' '' \\\n 'b' # a", ["# a"], id="string of several lines and another"),
        pytest.param("x = f'{a!r:#>{b}} # no' # a", ["# a"], id="f-string"),
        pytest.param("x = {a: '#', '#': b} # a", ["# a"], id="out of the tree's order"),
        pytest.param("x = b'#' # a", ["# a"], id="bytes"),
        pytest.param("#a\r#b\r\n#c", ["#a", "#b", "#c"], id="line ends"),
        pytest.param("print '#'\nx # a\n", ["# a"], id="beside what did not parse"),
        pytest.param("x", [], id="none"),
    ],
)
def test_a_number_sign_in_a_string_is_no_comment(text: str, expected: list[str]) -> None:
    comments, _ = comments_of(text.encode())
    data = text.encode()
    spans = zip(comments.bstart, comments.bend, strict=True)
    assert [data[start:end].decode() for start, end in spans] == expected


def test_comments_stand_in_the_bytes_of_the_file() -> None:
    content = "# coding: latin-1\nx = 'é' # ü\n".encode("latin-1")
    comments, _ = comments_of(content)
    assert content[comments.bstart[1] : comments.bend[1]] == "# ü".encode("latin-1")
    marked, _ = comments_of(b"\xef\xbb\xbf# a")
    assert (marked.bstart, marked.bend) == ([3], [6])


BLOCKS = """\
# 1
x = 1  # 2
# 3

# 4
y = 2; z = 3  # 5
# 6
@d  # 7
# 8
def f(  # 9
    # 10
    a,
):  # 11
    # 12
    if a:  # 13
        # 14
        b  # 15
        # 16
    else:  # 17
        c(  # 18
            # 19
        )  # 20
    # 21
    d
# 22
    e
    # 23

# 24
class C:
    x = 1
    # 25
# 26
"""


@pytest.mark.parametrize(
    ("comment", "subject", "owner"),
    [
        (1, "x = 1", "module"),
        (2, "x = 1", "module"),
        (3, "y = 2", "module"),
        (4, "y = 2", "module"),
        (5, "z = 3", "module"),
        (6, "def f(", "module"),
        (7, "def f(", "def f("),
        (8, "def f(", "def f("),
        (9, "def f(", "def f("),
        (10, "def f(", "def f("),
        (11, "def f(", "def f("),
        (12, "if a:", "def f("),
        (13, "if a:", "def f("),
        (14, "b", "def f("),
        (15, "b", "def f("),
        (16, "def f(", "def f("),
        (17, "if a:", "def f("),
        (18, "c(", "def f("),
        (19, "c(", "def f("),
        (20, "c(", "def f("),
        (21, "d", "def f("),
        (22, "e", "def f("),
        (23, "def f(", "def f("),
        (24, "class C:", "module"),
        (25, "class C:", "class C:"),
        (26, "module", "module"),
    ],
)
def test_a_comment_speaks_of_what_is_beside_it(comment: int, subject: str, owner: str) -> None:
    assert subjects(BLOCKS)[f"# {comment}"] == (subject, owner)


def test_a_comment_indented_more_than_any_block_speaks_of_the_next_statement() -> None:
    assert subjects("x\n    # a\ny\n")["# a"] == ("y", "module")


def test_comments_alone_speak_of_the_module() -> None:
    assert subjects("# a\n# b\n") == {"# a": ("module", "module"), "# b": ("module", "module")}


def test_comments_among_cases_and_handlers_speak_of_the_whole() -> None:
    text = "match a:\n    # a\n    case 1:  # b\n        x\ntry: y\nexcept A:  # c\n    # d\n    z\n"
    assert [subject for subject, _ in subjects(text).values()] == ["match a:", "match a:", "try: y", "z"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        pytest.param("#!/bin/sh\n# coding: utf-8\nx", ["shebang", "encoding"], id="first lines"),
        pytest.param("x\n# coding: utf-8", ["comment"], id="too late for an encoding"),
        pytest.param("#\n#!/bin/sh\n", ["comment", "comment"], id="too late for a shebang"),
        pytest.param("x  # type: ignore", ["type_ignore"], id="ignore"),
        pytest.param("x  # type: ignore[a]  # noqa", ["type_ignore"], id="ignore with code"),
        pytest.param("x  # type: ignored", ["type_comment"], id="type"),
        pytest.param("x  # type: (int) -> str", ["type_comment"], id="signature"),
        pytest.param("x  # types: a", ["comment"], id="no type"),
        pytest.param("x  # noqa: E501", ["pragma"], id="noqa"),
        pytest.param("x  # why  # noqa", ["pragma"], id="words before noqa"),
        pytest.param("x  # pragma: no cover", ["pragma"], id="coverage"),
        pytest.param("# fmt: off\n# pylint:disable=a\n# mypy: strict", ["pragma"] * 3, id="tools"),
        pytest.param("# the fmt of it", ["comment"], id="no pragma"),
    ],
)
def test_a_comment_has_a_kind(text: str, kinds: list[str]) -> None:
    assert comments_of(text.encode())[0].kind == kinds


def test_docstrings_are_those_that_python_knows() -> None:
    content = b"""'module'
class A:
    '''class'''
    def f(self): 'method'
    async def g(self):
        ('two ' 'parts')
    def h(self): b'bytes'
    def i(self): f'{x}'
    def j(self): x = ''; 'late'
"""
    found = walked(content)
    assert found is not None
    walk, _ = found
    strings, definitions = find_docstrings(walk)
    documented = [
        row
        for row, (node, *_) in enumerate(walk.rows)
        if row and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if ast.get_docstring(node, clean=False) is not None
    ]
    assert definitions == documented
    values = [getattr(walk.rows[row][0], "value", None) for row in strings]
    assert values == ["module", "class", "method", "two parts"]
