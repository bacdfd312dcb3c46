"""What is written about the product is true of the product."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from headwater.cli.app import build_app
from headwater.pipeline import build_pipeline, open_definitions, read_project
from headwater.pipeline.openlineage import OPENLINEAGE_KEYS
from headwater.runtime import RuntimeProfile, StorageProfile, resolve_profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import StructType

    from headwater.pipeline import PlanBytes, SourceSpec, ViewSpec

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = tuple(sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")]))
README_LINES = 120
FRAGMENT = re.compile(r"[a-z0-9-]+\.(?P<kind>[a-z]+)\.md")
VARIABLES = ("HOME", "ARCHIVE", "WAREHOUSE", "PROFILE", "DEBUG")


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def anchors_of(page: str) -> set[str]:
    """The names that a page's headings get: lower case, spaces to dashes, signs left out."""
    headings = re.findall(r"^#+ +(.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# --- the order of the house ----------------------------------------------------------------------------


def test_the_chapters_stand_in_the_order_of_the_layers() -> None:
    contract = settings()["tool"]["importlinter"]["contracts"][0]
    layers = [name.strip() for layer in contract["layers"] for name in layer.split("|")]
    areas = [name for name in layers if (ROOT / "src" / "headwater" / name).is_dir()]
    pages = sorted((DOCS / "concepts").glob("*.md"))
    chapters = [page.stem.partition("-")[2] for page in pages]
    assert chapters == [*areas, "ground"]
    assert [page.stem.partition("-")[0] for page in pages] == [f"{n + 1:02}" for n in range(len(pages))]


# --- pages ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    broken: list[str] = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        is_there = file.exists() and (not anchor or anchor in anchors_of(file.read_text("utf-8")))
        if not is_there:
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_python_on_a_page_is_python(page: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        lines = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
        ast.parse("\n".join(lines) if lines else re.sub(r"^    return", "return", block))


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    named = re.findall(
        r"`((?:src|tests|docs|examples|scripts|changelog\.d)/[\w./-]*)`", page.read_text("utf-8")
    )
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_page_can_be_found_from_the_first() -> None:
    index = read("docs/README.md")
    missing = [
        shown(page) for page in sorted(DOCS.rglob("*.md")) if shown(page).removeprefix("docs/") not in index
    ]
    assert missing == ["docs/README.md"]


@pytest.mark.parametrize("page", sorted((DOCS / "concepts").glob("0[1-9]-*.md")), ids=shown)
def test_the_names_at_a_door_are_there(page: Path) -> None:
    """What a chapter lists as its area's door or values can be imported from there."""
    area = importlib.import_module(f"headwater.{page.stem.partition('-')[2]}")
    listed = re.findall(
        r"^- \*\*(?:Door|Values):\*\*(.*?)(?=^- |^$)", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    named = {name for text in listed for name in re.findall(r"`(\w+)`", text)}
    assert len(listed) == len(("door", "values"))
    elsewhere = (
        {"RunOutcome", "Capability", "HeadwaterError"} if area.__name__ == "headwater.cli" else set[str]()
    )
    assert named - elsewhere <= set(area.__all__)


def test_the_tutorial_shows_what_init_writes() -> None:
    template = ROOT / "src" / "headwater" / "cli" / "template" / "views"
    written = "".join(path.read_text("utf-8") for path in sorted(template.iterdir()))
    first_step = read("docs/tutorial/first-pipeline.md").partition("## 2.")[0]
    blocks = re.findall(r"```(?:python|sql)\n(.*?)```", first_step, re.DOTALL)
    assert len(blocks) == len(list(template.iterdir()))
    assert [block for block in blocks if block not in written] == []


# --- configuration, commands, dependencies -------------------------------------------------------------


@pytest.mark.parametrize("kind", [RuntimeProfile, StorageProfile], ids=lambda kind: kind.__name__)
def test_every_setting_is_documented_with_its_default(kind: type) -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", read("docs/reference/configuration.md"), re.MULTILINE
    )
    told = {(name, default.strip()) for name, default in rows}
    real = {(each.name, as_told(each.default)) for each in fields(kind)}
    assert real <= told


def as_told(default: object) -> str:
    """A default as the page writes it."""
    if default is MISSING or default == ():
        return "empty"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


@pytest.mark.parametrize("name", VARIABLES)
def test_every_variable_is_documented(name: str) -> None:
    assert f"| `HEADWATER_{name}` |" in read("docs/reference/configuration.md")


@pytest.mark.parametrize("key", OPENLINEAGE_KEYS)
def test_every_key_of_events_is_documented_with_its_variable(key: str) -> None:
    page = read("docs/reference/configuration.md").partition("## OpenLineage\n")[2].partition("\n## ")[0]
    variable = f"HEADWATER_OPENLINEAGE_{key.upper()}"
    assert f"\n| `{key}` |" in page
    assert f"`{variable}`" in page
    assert resolve_profile(profiles={}, environ={variable: ""}) == RuntimeProfile()


def test_every_command_and_flag_is_documented() -> None:
    page = read("docs/reference/cli.md")
    group: Any = typer.main.get_command(build_app())
    for name, command in sorted(group.commands.items()):
        assert f"## headwater {name}\n" in page
        usage = page.partition(f"## headwater {name}\n")[2].partition("\n## ")[0]
        check_flags(f"headwater {name}", command, usage)
    documented = set(re.findall(r"^## headwater (\w+)$", page, re.MULTILINE))
    assert documented == set(group.commands)


def check_flags(name: str, command: Any, usage: str) -> None:
    """A command's flags stand in its part of the page, and each command of a group has a part inside."""
    flags = {flag for each in command.params for flag in each.opts if flag.startswith("--")}
    assert {flag for flag in flags if flag not in usage} <= {"--help"}, f"of {name}"
    inner = getattr(command, "commands", {})
    for each in sorted(inner):
        assert f"### {name} {each}\n" in usage
        part = usage.partition(f"### {name} {each}\n")[2].partition("\n### ")[0]
        check_flags(f"{name} {each}", inner[each], part)
    assert set(re.findall(rf"^### {name} ([\w-]+)$", usage, re.MULTILINE)) == set(inner)


def test_every_dependency_has_its_reason() -> None:
    project = settings()
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[=<>~!\[; ]", each)[0] for each in wanted}
    rows = set(re.findall(r"^\| ([a-z0-9-]+) \| .{10,} \|$", read("docs/dependencies.md"), re.MULTILINE))
    assert rows - {"package"} == names


# --- the front page and the changelog ------------------------------------------------------------------


class NoSchemas:
    """An oracle for views that ask for none: what the README shows must need no Spark to become a value."""

    def names_in(self, sql: str, origin: str) -> tuple[str, ...]:
        raise AssertionError(sql, origin)

    def schema_of(self, relation: PlanBytes, reached: Mapping[str, ViewSpec | SourceSpec]) -> StructType:
        raise AssertionError(relation, reached)


def test_the_readme_fits_a_short_visit() -> None:
    text = read("README.md")
    assert len(text.splitlines()) <= README_LINES
    assert "make demo" in text
    assert "make test" in text


def test_the_readmes_example_is_a_pipeline(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", read("README.md"), re.DOTALL)
    (tmp_path / "headwater.toml").write_text("", "utf-8")
    (tmp_path / "views").mkdir()
    (tmp_path / "views" / "visits.py").write_text(code, "utf-8")
    with open_definitions(read_project(tmp_path)) as loaded:
        pipeline = build_pipeline(loaded, NoSchemas())
    assert [source.name for source in pipeline.sources] == ["visits"]
    assert [(view.name, view.stored) for view in pipeline.views] == [
        ("long_visits", False),
        ("time_spent", True),
    ]
    assert all(view.name in read("README.md").replace(code, "") for view in pipeline.views)


def test_fragments_of_the_changelog_have_kinds_that_towncrier_knows() -> None:
    known = {each["directory"] for each in settings()["tool"]["towncrier"].get("type", [])}
    kinds: set[str] = set()
    for path in sorted((ROOT / "changelog.d").glob("*.md")):
        match = FRAGMENT.fullmatch(path.name)
        assert match, f"{path.name} is not NAME.KIND.md"
        assert path.read_text("utf-8").strip()
        kinds.add(match["kind"])
    assert kinds <= known
