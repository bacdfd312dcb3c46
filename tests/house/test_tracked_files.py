"""What is in the repository holds nowhere but in one place, and holds for any machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE_HERE = frozenset(
    {".git", ".venv", ".headwater", ".hypothesis", ".pytest_cache", ".ruff_cache", ".import_linter_cache"}
    | {"build", "dist", "__pycache__"}
)
# The leading slash stands apart, so that this file is clean by its own rule.
FOLDERS = r"root|work|(?:Users|home)/[\w-]+"
MACHINE_PATH = re.compile(rf"(?<![\w.}}*~-])/(?:{FOLDERS})(?=/|['\"`\s),;:\]]|$)")
TEXTS = frozenset({".py", ".md", ".toml", ".sql", ".lock", ".yaml", ".sh"})
REGISTRY = re.compile(
    r"(?i)\b(?:pypi\.(?:org|python\.org)|(?:files\.)?pythonhosted\.org|repo\d*\.maven\.\w+|maven\.(?:org|apache\.org)"
    r"|registry\.npmjs\.org|(?:repo|conda)\.anaconda\.\w+|\w+\.jfrog\.io|repository\.apache\.org)\b"
)


def tracked() -> list[Path]:
    """Every file that git has; where there is no git, every file that nobody made here."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z"]
        names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
        return [ROOT / name for name in sorted(filter(None, names.split("\0"))) if (ROOT / name).is_file()]
    found = [path for path in sorted(ROOT.rglob("*")) if path.is_file()]
    return [path for path in found if not MADE_HERE & set(path.relative_to(ROOT).parts)]


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in tracked()
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
        if (match := pattern.search(line))
    ]


@pytest.mark.parametrize("name", ["root", "work/x", "home/ada/x", "Users/ada"])
def test_a_path_of_one_machine_is_seen(name: str) -> None:
    assert MACHINE_PATH.search(f'path = "/{name}"')
    assert MACHINE_PATH.search(f"file:///{name}")


@pytest.mark.parametrize("text", ['("/home", 12)', "a/root/b", "~/work/x", "the /rooted tree"])
def test_what_only_looks_like_one_is_left_alone(text: str) -> None:
    assert not MACHINE_PATH.search(text)


def test_no_file_names_a_path_of_one_machine() -> None:
    assert lines_with(MACHINE_PATH) == []


def test_no_file_names_a_package_registry() -> None:
    assert lines_with(REGISTRY) == []


def test_every_text_ends_with_one_newline() -> None:
    texts = [path for path in tracked() if path.suffix in TEXTS]
    contents = {path: path.read_bytes() for path in texts}
    assert [
        str(path.relative_to(ROOT))
        for path, content in contents.items()
        if content and (not content.endswith(b"\n") or content.endswith(b"\n\n"))
    ] == []
