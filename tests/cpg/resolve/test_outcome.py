"""Rows of calls: candidates with what speaks for them; the same in any order."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from resolve_sample import resolved, values_of

from headwater.cpg.resolve import resolve_files

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
    assert found == [("A#m().", 1, True, 0.55), ("B#m().", 2, False, 0.55)]


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


def test_a_variable_with_too_much_in_it_is_said_to_be_dynamic() -> None:
    source = "".join(f"def f{at}(): ...\n" for at in range(99))
    source += "fs = []\n" + "".join(f"fs.append(f{at})\n" for at in range(99)) + "for f in fs:\n f()\n"
    rows = resolved(source)
    call = len(rows.calls.path) - 1
    assert rows.calls.resolution[call] == "dynamic"
    assert rows.calls.candidates[call] < 99


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
