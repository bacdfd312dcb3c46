"""What a few nodes say beyond their kind; the others say nothing."""

from __future__ import annotations

import pytest

from headwater.cpg.extract import extract_syntax


def told(source: str, kind: str) -> list[dict[str, str] | None]:
    evidence = extract_syntax("repo", "a.py", source.encode())
    assert evidence.diagnostics == ()
    nodes = evidence.nodes
    return [props for props, each in zip(nodes.props, nodes.ast_kind, strict=True) if each == kind]


@pytest.mark.parametrize(
    ("source", "kind", "expected"),
    [
        ("a = b", "Name", [{"ctx": "Store"}, None]),
        ("del a.b", "Attribute", [{"ctx": "Del"}]),
        ("a[b], *c = [d]", "Subscript", [{"ctx": "Store"}]),
        ("a[b], *c = [d]", "Starred", [{"ctx": "Store"}]),
        ("a[b], *c = [d]", "List", [None]),
        ("1, 'a'", "Constant", [{"type": "int"}, {"type": "str"}]),
        ("b'', 1., 1j", "Constant", [{"type": "bytes"}, {"type": "float"}, {"type": "complex"}]),
        ("True, None, ...", "Constant", [{"type": "bool"}, {"type": "NoneType"}, {"type": "ellipsis"}]),
        ("async def f(): pass", "AsyncFunctionDef", [{"is_async": "true"}]),
        ("def f(): pass", "FunctionDef", [None]),
        ("async def f(): [a async for a in b for c in d]", "comprehension", [{"is_async": "true"}, None]),
        ("from .. import a as b, c", "ImportFrom", [{"level": "2"}]),
        ("from .. import a as b, c", "alias", [{"asname": "b"}, None]),
        ("from a import b", "ImportFrom", [None]),
        ("f'{a!r}{b}'", "FormattedValue", [{"conversion": "r"}, None]),
        ("global a, b", "Global", [{"names": "a,b"}]),
        ("a: b; a.c: b", "AnnAssign", [None, {"simple": "false"}]),
    ],
)
def test_a_node_tells_what_only_it_knows(
    source: str, kind: str, expected: list[dict[str, str] | None]
) -> None:
    assert told(source, kind) == expected
