"""Every node of every file says exactly where it stands: what is installed is the witness."""

from __future__ import annotations

import ast
import re
import sysconfig
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract import extract_syntax, syntax, walk
from headwater.cpg.extract.syntax import is_test_path, module_fqn_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headwater.cpg.extract import NodeColumns, SyntaxEvidence

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
INSTALLED = Path(sysconfig.get_path("purelib"))
EVERY = 12  # one file in so many, to keep the time short
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
WITHOUT_PLACE = (ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
WORDS = {"And": "and", "Or": "or", "Not": "not", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in"}
SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "Mod": "%", "Pow": "**"}
SHIFTS = {"LShift": "<<", "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&", "FloorDiv": "//"}
OTHERS = {"Invert": "~", "UAdd": "+", "USub": "-", "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<="}
OPERATORS = WORDS | SIGNS | SHIFTS | OTHERS | {"Gt": ">", "GtE": ">="}


def parsed(text: str | bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def in_order(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST | None, bool]]:
    """Every node with its parent, in pre-order, and whether it is inside an f-string."""
    stack: list[tuple[ast.AST, ast.AST | None, bool]] = [(tree, None, False)]
    while stack:
        node, parent, is_inside = stack.pop()
        yield node, parent, is_inside
        children = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]
        deeper = is_inside or isinstance(node, ast.JoinedStr)
        stack += [(child, node, deeper) for child in reversed(children)]


def segment(lines: list[str], node: ast.expr | ast.stmt) -> str:
    """The text of a node by its line and column alone."""
    last = node.end_lineno or node.lineno
    taken = [line.encode() for line in lines[node.lineno - 1 : last]]
    taken[-1] = taken[-1][: node.end_col_offset]
    taken[0] = taken[0][node.col_offset :]
    return b"".join(taken).decode()


# A text around a node of a class by which it can be parsed alone, and the way to the node from there.
FRAMES: tuple[tuple[type[ast.AST], str, str], ...] = (
    (ast.comprehension, "async def f(): [0 {}\n]", "body.0.value.generators.0"),
    (ast.withitem, "async def f():\n with ({}\n): pass", "body.0.items.0"),
    (ast.arguments, "def f({}\n): pass", "args"),
    (ast.Slice, "async def f(): x[{}\n]", "body.0.value.slice"),
    (ast.Starred, "async def f(): [{}\n]", "body.0.value.elts.0"),
    (ast.expr, "async def f(): ({}\n)", "body.0.value"),
)


def same_tree(text: str, node: ast.AST) -> bool:
    """Whether the text is the node's: parsed by itself, it is the same tree."""
    frame, way = next(frame for kind, *frame in FRAMES if isinstance(node, kind))
    try:
        tree: Any = parsed(frame.replace("{}", text)).body[0]
    except SyntaxError:
        return False
    for step in way.split("."):
        tree = tree[int(step)] if step.isdigit() else getattr(tree, step)
    return dumped(tree) == dumped(node)


def dumped(tree: ast.AST) -> str:
    return ast.dump(tree).replace("ctx=Store()", "ctx=Load()")


def wrong_text(text: str, node: Any, parent: ast.AST | None, lines: list[str], *, inside: bool) -> bool:
    """Whether a node does not have its own text."""
    if isinstance(node, WITHOUT_PLACE):
        expected = OPERATORS[type(node).__name__] + ("=" if isinstance(parent, ast.AugAssign) else "")
        return " ".join(re.sub(r"\\|#.*", " ", text).split()) != expected
    if isinstance(node, ast.match_case):
        return not (text.startswith("case") and text.endswith(segment(lines, node.body[-1])))
    if isinstance(node, ast.arguments) and isinstance(parent, ast.Lambda):
        return not same_tree(f"lambda {text}\n: 0", ast.Lambda(node, ast.Constant(0)))
    if isinstance(node, ast.arguments | ast.withitem | ast.comprehension):
        return not same_tree(text, node)
    if isinstance(node, ast.Module):
        return False
    return wrong_in_fstring(text, node, parent) if inside else text != segment(lines, node)


def wrong_in_fstring(text: str, node: ast.AST, parent: ast.AST | None) -> bool:
    if isinstance(node, ast.FormattedValue):
        return not (text.startswith("{") and text.endswith("}"))
    if isinstance(node, ast.Constant) and isinstance(parent, ast.JoinedStr):
        is_plain = not re.search(r"[\\{}=\"']", text)
        return is_plain and re.sub("\r\n?", "\n", text) != node.value
    if isinstance(parent, ast.FormattedValue) and parent.format_spec is node:
        return not text.startswith(":")
    if isinstance(node, ast.keyword | ast.arg):
        return not text.startswith(node.arg or "**")
    return not same_tree(text, node)


def problems(evidence: SyntaxEvidence, content: bytes) -> list[str]:
    """What is wrong with a file's nodes, one line each."""
    nodes, encoding = evidence.nodes, evidence.file.encoding or "utf-8"
    lines = LINE.findall(content.decode(encoding))
    expected = list(in_order(parsed(content.decode(encoding))))
    if nodes.ast_kind[1:] != [type(node).__name__ for node, _, _ in expected]:
        return ["other nodes"]
    found = [] if len(set(nodes.node_id)) == len(nodes.node_id) else ["an id twice"]
    for row, (node, parent, inside) in enumerate(expected, 1):
        text = content[nodes.bstart[row] : nodes.bend[row]].decode(encoding)
        if wrong_text(text, node, parent, lines, inside=inside):
            found.append(f"{nodes.line[row]}: {type(node).__name__} {text!r}")
        above = nodes.parent[row] or 0
        is_outside = nodes.bstart[row] < nodes.bstart[above] or nodes.bend[row] > nodes.bend[above]
        if is_outside and nodes.field[row] != "decorator_list":
            found.append(f"{nodes.line[row]}: {type(node).__name__} {text!r} outside of its parent")
        found += wrong_name(nodes, row, content, encoding)
    return found


def wrong_name(nodes: NodeColumns, row: int, content: bytes, encoding: str) -> list[str]:
    start, end, name = nodes.name_bstart[row], nodes.name_bend[row], nodes.name[row]
    if start is None or name is None:
        is_missing = name is not None and row > 1
        return [f"{nodes.line[row]}: no place for the name {name}"] if is_missing else []
    written = content[start:end].decode(encoding)
    is_name = written == name or not written.isascii() or re.sub(r"\s|\\", "", written) == name
    return [] if is_name else [f"{nodes.line[row]}: {written!r} is not the name {name}"]


def standard_library() -> list[Path]:
    return [path for path in sorted(STANDARD_LIBRARY.rglob("*.py")) if "site-packages" not in path.parts]


def installed_packages() -> list[Path]:
    return sorted(path for kind in ("*.py", "*.pyi") for path in INSTALLED.rglob(kind))


def extracted(text: str | bytes, path: str = "package/module.py") -> SyntaxEvidence:
    return extract_syntax("repo", path, text.encode() if isinstance(text, str) else text)


def texts(content: bytes) -> list[bytes]:
    """What each node below the module spans."""
    nodes = extracted(content).nodes
    return [content[start:end] for start, end in zip(nodes.bstart[2:], nodes.bend[2:], strict=True)]


# --- the code of others --------------------------------------------------------------------------------


@pytest.mark.parametrize("files", [standard_library, installed_packages], ids=["python", "packages"])
def test_every_node_of_what_is_installed_stands_where_it_is_written(files: Callable[[], list[Path]]) -> None:
    met: Counter[str] = Counter()
    wrong: list[str] = []
    for path in files()[::EVERY]:
        content = path.read_bytes()
        evidence = extract_syntax("python", path.name, content)
        if evidence.file.parse_status == "ok":
            met.update(kind for kind in evidence.nodes.ast_kind if kind)
            wrong += [f"{path}:{each}" for each in problems(evidence, content)]
    assert not wrong
    assert met.total() > 100_000


# Every class of the tree that Python 3.11 has, in as few words as will do.
EVERYTHING = rb"""
import a.b as c
from . import d
@e
async def f(g, /, h: i = 1, *j, k, **l) -> m:
    global n; nonlocal o
    async for p in q: break
    else: continue
    async with r as s, (t): await u
    return [v async for v in w if x]
class A(B, c=D):
    with a: [b.c]
def g():
    yield 1; yield from 2; del a
    lambda x, *y: (z := 1)
    while a and b or not c: a += 1; a: int = 2; assert a, b
    for a in {**b, c: d}, {e, f}, {g for g in h}, {i: j for i in k}, (l for l in m): pass
try: raise A from B
except B as c: ...
try: pass
except* C: pass
if a if b else c: a[b:c, ~d] = -e, +f
a + b - c * d @ e / f % g ** h << i >> j | k ^ l & m // n
a == b != c < d <= e > f >= g is h is not i in j not in k
print(*a, f"{b!r:>{c}}")
match a:
    case 1 | None | [b, *c] | {"d": e, **f} | G(h, i=j) | k: pass
"""


def test_every_class_of_the_tree_becomes_a_node() -> None:
    evidence = extracted(EVERYTHING)
    assert problems(evidence, EVERYTHING) == []
    families = (ast.mod, ast.stmt, ast.expr, ast.operator, ast.boolop, ast.unaryop, ast.cmpop, ast.pattern)
    concrete = {each.__name__ for family in families for each in family.__subclasses__()}
    concrete |= {"ExceptHandler", "alias", "arg", "arguments", "comprehension", "keyword", "match_case"}
    other_roots = {"Interactive", "Expression", "FunctionType", "Suite", "Error"}
    since = {"TypeAlias", "TemplateStr", "Interpolation"}
    assert concrete - other_roots - since <= set(evidence.nodes.ast_kind)


# --- files that are not as files should be -------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"x = = 1\n", "syntax-error", id="syntax error"),
        pytest.param(b"print 'a'\n", "python2", id="Python 2"),
        pytest.param(b"x = 1\0\n", "null-bytes", id="null bytes"),
        pytest.param("x = 1\n".encode("utf-16"), "null-bytes", id="utf-16"),
        pytest.param(b"# coding: no-such-codec\n", "unknown-encoding", id="unknown codec"),
        pytest.param(b"# coding: hex\n", "undecodable", id="no text codec"),
        pytest.param(b"\xef\xbb\xbf# coding: latin-1\n", "unknown-encoding", id="mark of another encoding"),
        pytest.param(b"x = '\xff'\n", "undecodable", id="not UTF-8"),
        pytest.param(b"(" * 100_000 + b")" * 100_000, "too-deep", id="brackets"),
        pytest.param(b"-" * 100_000 + b"1", "too-deep", id="signs"),
        pytest.param(b"+".join([b"1"] * 100_000), "too-deep", id="terms"),
        pytest.param(b"  x = = 1\n", "indentation-error", id="indentation"),
    ],
)
def test_a_file_of_which_nothing_parses_is_itself_with_a_diagnostic(content: bytes, code: str) -> None:
    evidence = extracted(content)
    assert [each.code for each in evidence.diagnostics] == [code]
    assert evidence.file.parse_status == "failed"
    assert evidence.nodes.node_kind == ["FILE"]
    assert (evidence.nodes.bstart, evidence.nodes.bend) == ([0], [len(content)])


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_are_an_error(content: bytes) -> None:
    evidence = extracted(content)
    is_parsed = all(each.stage == "compile" for each in evidence.diagnostics)
    assert (evidence.file.parse_status == "ok") == is_parsed
    assert evidence.nodes.bend[0] == len(content)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\xef\xbb\xbf", [], id="only a mark"),
        pytest.param(b"\xef\xbb\xbfx;y\n", [b"x", b"x", b"y", b"y"], id="mark"),
        pytest.param(b"x\r\ny\r\n", [b"x", b"x", b"y", b"y"], id="CRLF"),
        pytest.param(b"'''a\r\nb'''\r\ny", [b"'''a\r\nb'''"] * 2 + [b"y"] * 2, id="CRLF in a string"),
        pytest.param(b"x\ry\r", [b"x", b"x", b"y", b"y"], id="lone CR"),
        pytest.param(b"x\n\x0cy\n", [b"x", b"x", b"y", b"y"], id="form feed"),
        pytest.param(b"if x:\n\ty\n", [b"if x:\n\ty", b"x", b"y", b"y"], id="tab"),
        pytest.param("é;z".encode(), ["é".encode()] * 2 + [b"z"] * 2, id="UTF-8"),
    ],
)
def test_spans_are_in_the_bytes_of_the_file(content: bytes, expected: list[bytes]) -> None:
    assert texts(content) == expected


@pytest.mark.parametrize("codec", ["latin-1", "cp1252", "utf-8", "utf-8-sig"])
def test_other_encodings_have_their_own_offsets(codec: str) -> None:
    name = "utf-8" if codec == "utf-8-sig" else codec
    content = f"# coding: {name}\r\nnaïve = 'ü' + größe.länge(é=f'ä{{ö!r:>{{ß}}}}')\r\n".encode(codec)
    evidence = extracted(content)
    assert problems(evidence, content) == []
    assert "länge" in evidence.nodes.name


def test_multibyte_encodings_have_their_own_offsets() -> None:
    content = "# coding: shift_jis\n名 = '表' + y.値\n".encode("shift_jis")
    assert problems(extracted(content), content) == []
    assert texts(content)[-2:] == ["y.値".encode("shift_jis"), b"y"]


def test_a_line_of_five_megabytes_is_read() -> None:
    content = b"x = '" + b"a" * 5_000_000 + b"'"
    assert [len(text) for text in texts(content)] == [5_000_006, 1, 5_000_002]


def test_a_deep_tree_is_walked() -> None:
    content = b"x" + b".y" * 800
    assert len(extracted(content).nodes.node_id) == 804


def test_what_parses_but_does_not_compile_is_in_the_graph_with_a_diagnostic() -> None:
    evidence = extracted("x = 'é'; return x\n")
    (said,) = evidence.diagnostics
    assert (said.stage, said.code, said.message) == ("compile", "compile-error", "'return' outside function")
    assert (said.bstart, said.bend) == (10, 18)
    assert (evidence.file.parse_status, len(evidence.nodes.node_id)) == ("ok", 7)


def test_what_python_warns_of_is_not_told() -> None:
    assert extracted(b"x = '\\d'\n").diagnostics == ()


# --- the file ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("package/module.py", "package.module"),
        ("package/__init__.py", "package"),
        ("src/package/module.pyi", "package.module"),
        ("src.py", "src"),
        ("src/src/x.py", "src.x"),
        ("__init__.py", None),
        ("my-scripts/run.py", None),
        ("a.b.py", None),
        ("", None),
    ],
)
def test_a_module_is_named_by_its_path(path: str, name: str | None) -> None:
    assert module_fqn_of(path) == name
    assert extracted("x", path).file.module_fqn == name


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("tests/data.py", True),
        ("a/test/data.py", True),
        ("a/test_b.py", True),
        ("a/b_test.py", True),
        ("conftest.py", True),
        ("a/testing/b.py", False),
        ("a/latest.py", False),
        ("a/tests.py", False),
    ],
)
def test_a_test_is_known_by_its_path(path: str, is_test: bool) -> None:
    assert is_test_path(path) == is_test
    assert extracted("x", path).file.is_test == is_test


def test_a_stub_is_a_language_of_its_own() -> None:
    assert extracted("x", "a.pyi").file.language == "stub"
    assert extracted("x", "a.py").file.language == "python"


@pytest.mark.parametrize(
    ("content", "starts", "count"),
    [(b"", [0], 0), (b"a", [0], 1), (b"a\n", [0], 1), (b"a\n\r\nb\rc", [0, 2, 4, 6], 4)],
)
def test_lines_start_where_they_do(content: bytes, starts: list[int], count: int) -> None:
    file = extracted(content).file
    assert (file.line_starts, file.line_count) == (starts, count)


def test_lines_of_another_encoding_start_in_the_files_bytes() -> None:
    file = extracted("# coding: latin-1\n'é'\nx\n".encode("latin-1")).file
    assert (file.encoding, file.line_starts) == ("iso8859-1", [0, 18, 22])


def test_a_byte_order_mark_belongs_to_the_first_line() -> None:
    evidence = extracted(b"\xef\xbb\xbfx\ny\n")
    assert evidence.file.line_starts == [0, 5]
    assert (evidence.nodes.bstart[2], evidence.nodes.col[2]) == (3, 0)


def test_a_file_with_too_many_nodes_is_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "MOST_NODES", 10)
    small = extract_syntax("repo:1", "a.py", b"x = 1\n")
    assert small.file.parse_status == "ok"
    large = extract_syntax("repo:1", "a.py", b"x = [0, 0, 0, 0, 0, 0, 0, 0]\n")
    assert large.nodes.node_kind == ["FILE"]
    assert [each.code for each in large.diagnostics] == ["too-large"]


@pytest.mark.parametrize("encoding", [b"punycode", b"idna"])
def test_an_encoding_of_domain_names_is_none_of_source_files(encoding: bytes) -> None:
    found = extract_syntax("repo:1", "a.py", b"# coding: " + encoding + b"\nx = 1\n")
    assert [each.code for each in found.diagnostics] == ["unknown-encoding"]


def test_a_large_file_that_does_not_parse_is_there_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "MOST_RECOVERED", 10)
    evidence = extract_syntax("repo", "a.py", b"x = 1\ny = = 2\n")
    assert evidence.file.parse_status == "failed"
    assert [each.code for each in evidence.diagnostics] == ["syntax-error", "not-recovered"]
    assert evidence.nodes.node_kind == ["FILE"]
    assert extract_syntax("repo", "a.py", b"y=1\n(\n").file.parse_status == "recovered"
