"""Rows of calls: candidates with what speaks for them, arguments, classes, symbols; the same in any order."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from resolve_sample import resolved, values_of

from headwater.cpg.extract.values.facts import PARAM
from headwater.cpg.resolve import call_graph, resolve_files
from headwater.cpg.resolve.confidence import CONFIDENCE, confidence_of, resolution_of

SAMPLE = {
    "main.py": "import lib\nfrom lib import A, make\nclass B(A):\n def m(self): ...\n"
    "for x in (A(), B()):\n x.m()\nmake(lib.A)()\nprint('a'.join([]))\nlib.gone()\n",
    "lib.py": "class A:\n def m(self): ...\ndef make(a):\n return a\n",
}


def test_all_candidates_are_kept_and_one_wins() -> None:
    rows = resolved(
        "class A:\n def m(self): ...\nclass B(A):\n def m(self): ...\nfor x in (A(), B()):\n x.m()"
    )
    call = rows.calls.resolution.index("ambiguous")
    found = [
        (symbol.rpartition("/")[2], rank, is_winner, sure)
        for at, symbol, rank, is_winner, sure in zip(
            rows.targets.call,
            rows.targets.symbol,
            rows.targets.rank,
            rows.targets.is_winner,
            rows.targets.confidence,
            strict=True,
        )
        if at == call
    ]
    assert found == [("A#m().", 1, True, 0.85), ("B#m().", 2, False, 0.85)]


@pytest.mark.parametrize(
    ("source", "resolution", "resolver"),
    [
        ("def f(): ...\nf()", "exact", "value"),
        ("class C: ...\nC()", "exact", "class"),
        ("len([])", "exact", "builtin"),
        ("import x\nx.f()", "external", "external"),
        ("class C:\n def only(self): ...\ndef g(a):\n a.only()", "likely", "name"),
        ("def g(a):\n a.append()", "unresolved", None),
        ("(lambda: 1)", None, None),
    ],
)
def test_a_call_says_how_it_was_resolved(source: str, resolution: str | None, resolver: str | None) -> None:
    rows = resolved(source)
    assert rows.calls.resolution == ([] if resolution is None else [resolution])
    assert rows.targets.resolver == ([] if resolver is None else [resolver])
    assert [reason is None for reason in rows.calls.reason] == [
        said != "unresolved" for said in rows.calls.resolution
    ]


def test_what_is_outside_counts_little_beside_what_is_ours() -> None:
    rows = resolved("import x\ndef f(): ...\ng = f if x else x.f\ng()")
    assert dict(zip(rows.targets.resolver, rows.targets.confidence, strict=True)) == {
        "value": 0.85,
        "external": 0.3,
    }


def test_the_table_never_rises_with_the_number_of_candidates() -> None:
    for resolver in CONFIDENCE:
        sure = [confidence_of(resolver, count) for count in range(1, 60)]
        assert sure == sorted(sure, reverse=True)
        assert all(0 < each <= 1 for each in sure)
    assert resolution_of("value", 1, is_wide=True) == "dynamic"


def test_a_threshold_leaves_out_what_is_not_sure() -> None:
    outcome = resolved("class C:\n def only(self): ...\ndef g(a):\n a.only()").outcome
    assert call_graph(outcome)["main.g"] == []
    assert call_graph(outcome, 0.4)["main.g"] == ["main.C.only"]


def test_a_variable_with_too_much_in_it_is_said_to_be_dynamic() -> None:
    source = "".join(f"def f{at}(): ...\n" for at in range(99))
    source += "fs = []\n" + "".join(f"fs.append(f{at})\n" for at in range(99)) + "for f in fs:\n f()\n"
    rows = resolved(source)
    call = len(rows.calls.path) - 1
    assert rows.calls.resolution[call] == "dynamic"
    assert rows.calls.candidates[call] < 99


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


def test_classes_have_bases_orders_and_overrides() -> None:
    rows = resolved(
        "import x\nclass A:\n def m(self): ...\nclass B(A): ...\nclass C(B, x.Y):\n def m(self): ...\n"
    )
    last = [
        symbol.rpartition("/")[2]
        for symbol, node in zip(rows.orders.symbol, rows.orders.node, strict=True)
        if node == max(rows.orders.node)
    ]
    assert last == ["C#", "B#", "A#", "Y#"]
    assert rows.bases.symbol[-1] == "headwater python x . x/Y#"
    assert rows.overrides.is_transitive == [False]


def test_symbols_tell_redefinitions_apart() -> None:
    rows = resolved("def f():\n def g(): ...\nclass C:\n def m(self): ...\ndef f(): ...\nx = lambda: 0")
    assert [symbol.rpartition(" ")[2] for symbol in rows.definitions.symbol] == [
        "main/",
        "main/f().",
        "main/f().g().",
        "main/C#",
        "main/C#m().",
        "main/f(+1).",
        "main/`<lambda>`().",
    ]
    assert rows.definitions.kind == [
        "module",
        "function",
        "function",
        "class",
        "method",
        "function",
        "lambda",
    ]


def test_the_order_of_files_does_not_matter() -> None:
    files = [values_of(path, source) for path, source in SAMPLE.items()]
    one, other = resolve_files(files), resolve_files(reversed(files))
    for name in ("definitions", "imports", "exports", "bases", "orders", "overrides", "calls", "targets"):
        assert asdict(getattr(one, name)) == asdict(getattr(other, name))
    assert asdict(one.arguments) == asdict(other.arguments)


@pytest.mark.parametrize("seed", ["1", "2"])
def test_hashes_do_not_matter(seed: str) -> None:
    script = (
        "from dataclasses import asdict\nfrom test_outcome import SAMPLE\n"
        "from resolve_sample import resolved\n"
        "rows = resolved(SAMPLE); print(asdict(rows.targets), asdict(rows.calls), asdict(rows.imports))"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    rows = resolved(SAMPLE)
    assert ran.stdout.strip() == f"{asdict(rows.targets)} {asdict(rows.calls)} {asdict(rows.imports)}"
