"""What imports mean, through which modules they came, and what modules export."""

from __future__ import annotations

import pytest
from resolve_sample import graph_of, resolved, values_of

from headwater.cpg.resolve import Distributions, resolve_files

FUNCTION = "def f(): ...\n"


@pytest.mark.parametrize(
    ("files", "callee"),
    [
        ({"main.py": "import m\nm.f()", "m.py": FUNCTION}, "m.f"),
        ({"main.py": "import m as n\nn.f()", "m.py": FUNCTION}, "m.f"),
        ({"main.py": "import p.m\np.m.f()", "p/__init__.py": "", "p/m.py": FUNCTION}, "p.m.f"),
        ({"main.py": "import p.m as n\nn.f()", "p/__init__.py": "", "p/m.py": FUNCTION}, "p.m.f"),
        ({"main.py": "from m import f as g\ng()", "m.py": FUNCTION}, "m.f"),
        ({"main.py": "from p import m\nm.f()", "p/m.py": FUNCTION}, "p.m.f"),
        ({"p/__init__.py": "from . import m\nm.f()", "p/m.py": FUNCTION}, "p.m.f"),
        ({"p/__init__.py": "from p import m as n\nn.f()", "p/m.py": FUNCTION}, "p.m.f"),
        (
            {"main.py": "from p import f\nf()", "p/__init__.py": "from .m import f", "p/m.py": FUNCTION},
            "p.m.f",
        ),
        (
            {"main.py": "from p import *\nf()", "p/__init__.py": "from p.m import *", "p/m.py": FUNCTION},
            "p.m.f",
        ),
        ({"main.py": "def g():\n from m import f\n f()\ng()", "m.py": FUNCTION}, "m.f"),
        ({"main.py": "try:\n from m import f\nexcept ImportError:\n f = None\nf()", "m.py": FUNCTION}, "m.f"),
        ({"main.py": "import json\njson.dumps(1)"}, "json.dumps"),
        ({"main.py": "from x.y import z as a\na()"}, "x.y.z"),
        ({"main.py": "from x import *\nz()"}, "x.z"),
    ],
)
def test_a_name_is_what_it_was_imported_as(files: dict[str, str], callee: str) -> None:
    graph = graph_of(files)
    assert any(callee in callees for callees in graph.values())
    assert not any("None" in each for callees in graph.values() for each in callees)


@pytest.mark.parametrize(
    ("listing", "callees"),
    [
        ("", {"m.f", "m.g"}),
        ("__all__ = ['f']", {"m.f"}),
        ("__all__ = ['f']\n__all__ += ['_h']", {"m.f", "m._h"}),
        ("__all__ = []\n__all__.append('g')\n__all__.extend(['f'])", {"m.f", "m.g"}),
    ],
)
def test_a_star_takes_what_is_exported(listing: str, callees: set[str]) -> None:
    source = f"def f(): ...\ndef g(): ...\ndef _h(): ...\n{listing}"
    graph = graph_of({"m.py": source, "main.py": "from m import *\nf()\ng()\n_h()"})
    assert graph["main"] == callees


def test_a_chain_of_modules_is_told_from_the_first_to_the_last() -> None:
    rows = resolved(
        {
            "a.py": "from b import f\nf()",
            "b.py": "from c import f",
            "c.py": "from d import *",
            "d.py": FUNCTION,
        }
    ).imports
    at = rows.path.index("a.py")
    assert rows.chain[at] == ["b", "c"]
    assert rows.symbol[at] == "headwater python . . d/f()."
    assert rows.resolution[at] == "exact"


def test_modules_that_import_each_other_come_to_an_end() -> None:
    rows = resolved({"a.py": "from b import x", "b.py": "from a import x"}).imports
    assert rows.resolution == ["exact", "exact"]
    assert rows.symbol == [None, None]
    assert rows.chain == [["b", "a"], ["a", "b"]]


def test_what_is_outside_has_its_distribution() -> None:
    names = Distributions(of_modules={"yaml": "PyYAML"}, versions={"PyYAML": "6.0"})
    files = [values_of("m.py", "import os.path\nimport yaml\nfrom yaml import load\nfrom . import gone")]
    rows = resolve_files(files, names).imports
    assert rows.dist == ["python", "PyYAML", "PyYAML", None]
    assert rows.resolution == ["external", "external", "external", "unresolved"]
    assert rows.symbol[2] == "headwater python PyYAML 6.0 yaml/load."


def test_exports_say_how_they_came() -> None:
    rows = resolved({"m.py": "from n import f\ndef g(): ...\n_h = 1", "n.py": FUNCTION}).exports
    found = list(zip(rows.module, rows.name, rows.symbol, rows.via, strict=True))
    assert found == [
        ("m", "f", "headwater python . . n/f().", "reexport"),
        ("m", "g", "headwater python . . m/g().", "definition"),
        ("n", "f", "headwater python . . n/f().", "definition"),
    ]


def test_one_name_of_two_imports_is_ambiguous() -> None:
    source = "try:\n from a import f\nexcept ImportError:\n from b import f"
    rows = resolved({"m.py": source, "a.py": FUNCTION, "b.py": FUNCTION, "n.py": "from m import f"}).imports
    assert rows.resolution[rows.path.index("n.py")] == "ambiguous"
