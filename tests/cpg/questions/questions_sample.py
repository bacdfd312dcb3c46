"""Definitions and edges without a build, and real repositories of git."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headwater.cpg.questions import Graph

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_EDGE = pa.struct(
    [
        ("edge_kind", pa.string()),
        ("other_id", pa.string()),
        ("line", pa.int32()),
        ("label", pa.string()),
        ("resolution", pa.string()),
        ("confidence", pa.int32()),
    ]
)
_TEXTS = pa.list_(pa.string())
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("node_id", "kind", "name", "symbol", "path")),
        ("line", pa.int32()),
        ("end_line", pa.int32()),
        ("is_test", pa.bool_()),
        ("dist", pa.string()),
        ("own_effects", _TEXTS),
        ("effects", _TEXTS),
        ("raises", _TEXTS),
        ("incoming", pa.list_(_EDGE)),
    ]
)


def definition(name: str, kind: str, path: str | None, line: int = 1, end: int = 1) -> dict[str, Any]:
    """A definition whose id and symbol are its name."""
    return {
        "node_id": name,
        "kind": kind,
        "name": name,
        "symbol": f"headwater python . . {name}",
        "path": path,
        "line": line,
        "end_line": end,
        "is_test": (path or "").startswith("test"),
        "dist": ".",
        "own_effects": [],
        "effects": [],
        "raises": [],
        "incoming": [],
    }


def edge(source: str, target: str, kind: str = "CALLS", line: int = 1) -> tuple[str, dict[str, Any]]:
    """An edge between two names, by its target."""
    told = {"edge_kind": kind, "other_id": source, "line": line, "label": None}
    return target, {**told, "resolution": "exact", "confidence": 1000}


def graph_of(
    root: Path,
    definitions: Sequence[dict[str, Any]] = (),
    edges: Sequence[tuple[str, dict[str, Any]]] = (),
) -> Graph:
    """A graph that is asked of these rows."""
    rows = [
        {**each, "incoming": [told for target, told in edges if target == each["node_id"]]}
        for each in definitions
    ]
    table = pa.Table.from_pylist(rows, SCHEMA)
    return Graph("sample", root, lambda _: table)


def git(root: Path, *arguments: str) -> str:
    """What git answers, asked by somebody with a name and without any configuration."""
    somebody = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", "-C", os.fspath(root), *somebody, *arguments],  # noqa: S607
        env=kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout


def write(root: Path, files: Mapping[str, str | bytes | None]) -> None:
    """Files with these contents; none where there is nothing."""
    for path, content in files.items():
        place = root / path
        if content is None:
            place.unlink()
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())


def commit(root: Path, files: Mapping[str, str | bytes | None]) -> None:
    """A commit with these files, of a repository that is made if there is none."""
    if not (root / ".git").exists():
        root.mkdir(parents=True, exist_ok=True)
        git(root, "init", "--quiet")
    write(root, files)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "change")
