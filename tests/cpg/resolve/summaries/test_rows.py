"""What is said of each def: effects, exceptions that leave it, where its parameters go."""

from __future__ import annotations

import pytest
from resolve_sample import called, resolved

from headwater.cpg.resolve.callgraph import names_of


def effects(source: str) -> dict[str, tuple[list[str], list[str], list[str]]]:
    """By the name of a def its own effects, all of them, and what it raises."""
    rows = resolved(source)
    program = called(source).program
    names = {program.place(variable)[1]: name for variable, name in names_of(program).items()}
    columns = zip(
        rows.effects.node, rows.effects.own_effects, rows.effects.effects, rows.effects.raises, strict=True
    )
    return {
        names[node].removeprefix("main."): (own, some, [each.rpartition("/")[2] for each in raises])
        for node, own, some, raises in columns
    }


def summaries(source: str, name: str = "f") -> list[tuple[int, str | None, str, str | None, bool]]:
    """Where the parameters of a function go."""
    rows = resolved(source)
    program = called(source).program
    nodes = {
        found.rpartition(".")[2]: program.place(variable)[1] for variable, found in names_of(program).items()
    }
    found = rows.summaries
    columns = zip(
        found.node,
        found.param_idx,
        found.access_path,
        found.to,
        found.to_path,
        found.preserves_value,
        strict=True,
    )
    return [(*each,) for node, *each in columns if node == nodes[name]]


@pytest.mark.parametrize(
    ("body", "effect"),
    [
        ("print(1)", "io"),
        ("open('a')", "fs"),
        ("with open('a') as g:\n  g.read()", "fs"),
        ("import pathlib\n pathlib.Path('a').read_text()", "fs"),
        ("import os\n os.remove('a')", "fs"),
        ("import os\n os.path.exists('a')", "fs"),
        ("import shutil\n shutil.rmtree('a')", "fs"),
        ("import socket\n socket.socket()", "net"),
        ("import urllib.request\n urllib.request.urlopen('a')", "net"),
        ("import requests\n requests.get('a')", "net"),
        ("import subprocess\n subprocess.run([])", "process"),
        ("import os\n os.system('a')", "process"),
        ("import sqlite3\n sqlite3.connect('a').execute('b')", "db"),
        ("from django.db import connection\n connection.cursor()", "db"),
        ("import os\n return os.environ['A']", "env"),
        ("from os import environ\n return environ['A']", "env"),
        ("import os\n return os.getenv('A')", "env"),
        ("import random\n random.random()", "random"),
        ("import uuid\n uuid.uuid4()", "random"),
        ("import time\n time.sleep(1)", "time"),
        ("from datetime import datetime\n datetime.now()", "time"),
    ],
)
def test_calls_outside_have_effects(body: str, effect: str) -> None:
    assert effects(f"def f():\n {body}\n")["f"] == ([effect], [effect], [])


@pytest.mark.parametrize(
    "body",
    [
        "len([])",
        "import os\n os.path.join('a')",
        "import logging\n logging.getLogger()",
        "import json\n json.dumps(1)",
    ],
)
def test_what_only_reckons_has_none(body: str) -> None:
    assert effects(f"def f():\n {body}\n") == {}


def test_effects_come_through_calls_however_they_go_round() -> None:
    found = effects("def f(n):\n g(n)\ndef g(n):\n h()\n f(n)\ndef h():\n print(1)\ndef i(): ...\n")
    assert found == {"f": ([], ["io"], []), "g": ([], ["io"], []), "h": (["io"], ["io"], [])}


RAISING = "class E(ValueError): ...\nclass F(E): ...\nclass B(BaseException): ...\ndef g():\n raise F('a')\n"


@pytest.mark.parametrize(
    ("body", "raises"),
    [
        ("raise E", ["E#"]),
        ("raise KeyError('a')", ["KeyError."]),
        ("import x\n raise x.Gone()", ["Gone#"]),
        ("e = E()\n raise e", ["E#"]),
        ("g()", ["F#"]),
        ("try:\n  g()\n except F: ...", None),
        ("try:\n  g()\n except E: ...", None),
        ("try:\n  g()\n except (KeyError, ValueError): ...", None),
        ("try:\n  g()\n except Exception: ...", None),
        ("try:\n  g()\n except: ...", None),
        ("try:\n  g()\n except KeyError: ...", ["F#"]),
        ("try:\n  g()\n except E:\n  raise", ["F#"]),
        ("try:\n  g()\n except E:\n  raise TypeError('a')", ["TypeError."]),
        ("try:\n  pass\n except E: ...\n else:\n  g()", ["F#"]),
        ("try:\n  try:\n   g()\n  except KeyError: ...\n except E: ...", None),
        ("try:\n  raise B\n except Exception: ...", ["B#"]),
        ("try:\n  raise KeyError\n except LookupError: ...", None),
        ("import x\n try:\n  raise x.Gone()\n except Exception: ...", None),
        ("import x\n try:\n  raise x.Gone()\n except x.Other: ...", ["Gone#"]),
        ("try:\n  def h():\n   raise E\n except E: ...", None),
        ("def h():\n  raise E\n h()", ["E#"]),
        ("def make():\n  return E()\n raise make()", ["E#"]),
    ],
)
def test_exceptions_leave_a_def_unless_they_are_caught(body: str, raises: list[str] | None) -> None:
    found = effects(f"{RAISING}def f():\n {body}\n").get("f")
    assert (None if found is None else found[2]) == raises


def test_exceptions_come_through_functions_that_call_themselves() -> None:
    found = effects(f"{RAISING}def f():\n f()\n h()\ndef h():\n f()\n g()\n")
    assert found["f"][2] == found["h"][2] == ["F#"]


def test_what_is_raised_comes_to_its_handler() -> None:
    source = f"{RAISING}def f():\n try:\n  g()\n except KeyError: ...\n except E as e: ...\n"
    flows = resolved(source).flows
    ways = [
        (flows.place(flows.src[at])[1], flows.place(flows.dst[at])[1])
        for at, kind in enumerate(flows.kind)
        if kind == "exception"
    ]
    assert len(ways) == 1
    inside = resolved("def f():\n try:\n  raise KeyError('a')\n except LookupError: ...\n").flows
    assert inside.kind.count("exception") == 1


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a, b=1):\n return a", [(0, None, "return", None, True)]),
        ("def f(a):\n b = a\n return b", [(0, None, "return", None, True)]),
        ("def f(a):\n return a.b", [(0, ".b", "return", None, True)]),
        ("def f(a):\n return a['k'].b", [(0, "['k'].b", "return", None, True)]),
        ("def f(a):\n return a.b.c.d", [(0, ".b.c", "return", None, False)]),
        ("def f(a):\n return a + 1", [(0, None, "return", None, False)]),
        ("def f(a):\n return f'{a}'", [(0, None, "return", None, False)]),
        ("def f(a):\n return [a]", [(0, None, "return", None, False)]),
        ("def f(a):\n return str(a)", [(0, None, "return", None, False)]),
        ("def f(a):\n return len(a)", []),
        ("def f(a):\n yield a", [(0, None, "return", "[*]", True)]),
        ("def f(*, k):\n return k", [(0, None, "return", None, True)]),
        ("class C:\n def f(self, a):\n  self.x = a", [(1, None, "self", ".x", True)]),
        ("def f(a, b):\n b.x = a", [(0, None, "param 1", ".x", True)]),
        ("def f(a, b):\n b['k'] = a", [(0, None, "param 1", "['k']", True)]),
        ("G = 1\ndef f(a):\n global G\n G = a", [(0, None, "global", None, True)]),
        ("def g(x):\n return x.n\ndef f(a):\n return g(a)", [(0, ".n", "return", None, True)]),
        ("def g(x, y):\n return y\ndef f(a):\n return g(a, 1)", []),
        (
            "class C:\n def m(self, x):\n  return x\ndef f(a):\n return C().m(a)",
            [(0, None, "return", None, True)],
        ),
        ("def f(a):\n return f(a) if a else a", [(0, None, "return", None, True)]),
    ],
)
def test_parameters_go_where_they_go(
    source: str, expected: list[tuple[int, str | None, str, str | None, bool]]
) -> None:
    assert summaries(source) == expected


def test_a_path_that_grows_with_each_call_ends() -> None:
    found = summaries("def f(a):\n return f(a.b) if a else a.c")
    assert (0, ".c", "return", None, True) in found
    assert (0, ".b.c", "return", None, True) in found
    assert all((part or "").count(".") <= 2 for _, part, _, _, _ in found)
