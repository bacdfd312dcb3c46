"""Which parameter each argument goes to."""

from __future__ import annotations

import pytest
from resolve_sample import resolved, values_of

from headwater.cpg.extract.values.facts import PARAM


@pytest.mark.parametrize(
    ("signature", "arguments", "expected"),
    [
        ("a, b=1", "1", ["bound a"]),
        ("a, b", "1", ["bound a", "missing b"]),
        ("a", "1, 2", ["bound a", "extra"]),
        ("a", "b=1", ["extra", "missing a"]),
        ("*a, **k", "1, 2, x=3", ["bound a", "bound a", "bound k"]),
        ("a, *, b", "1, b=2", ["bound a", "bound b"]),
        ("a, b", "*xs", ["unknown"]),
        ("a, b", "b=1, **ks", ["bound b", "unknown"]),
        ("a, /, b", "1, 2", ["bound a", "bound b"]),
    ],
)
def test_arguments_go_to_parameters(signature: str, arguments: str, expected: list[str]) -> None:
    source = f"xs = ks = None\ndef f({signature}): ...\nf({arguments})"
    rows = resolved(source).arguments
    file = values_of("main.py", source)
    names = {
        target: (text or "")[1:]
        for op, target, text in zip(file.op, file.target, file.text, strict=True)
        if text and op == PARAM
    }
    found = [
        status if node is None else f"{status} {names[node]}"
        for status, node in zip(rows.status, rows.param_node, strict=True)
    ]
    assert found == expected


def test_a_bound_method_has_its_first_parameter() -> None:
    rows = resolved("class C:\n def m(self, a): ...\nC().m(1)").arguments
    assert rows.status == ["bound"]
