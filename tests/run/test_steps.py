"""The steps that every run begins with: what headwater.toml says of names is checked before Spark starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.errors import UnknownSetting
from headwater.origin import Origin

if TYPE_CHECKING:
    from headwater.run import Progress, Project
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
VIEWS = """
import headwater

headwater.source("orders", rows=[(1, 2)], schema="id INT, n INT")

@headwater.view
def Facts(orders):
    return orders
"""
# What is said, on which line it is wrong, which key, and what is advised.
WRONG = {
    "an unknown rule": ('[determinism]\nclok = "warn"\n', 2, "clok", "Did you mean 'clock'?"),
    "an unknown rule of a view": (
        '[determinism.facts]\nclock = "warn"\nrandm = "warn"\n',
        3,
        "randm",
        "Did you mean 'random'?",
    ),
    "a rule that is like none": ('[determinism]\nxyz = "warn"\n', 2, "xyz", "The rules are clock, random, "),
    "an unknown view": ('[determinism.facs]\nclock = "warn"\n', 1, "facs", "Did you mean 'Facts'?"),
    "a source, which is no view": (
        '[determinism.orders]\nclock = "warn"\n',
        1,
        "orders",
        "It names nothing of this project.",
    ),
    "keys of an unknown name": ('[keys]\nordrs = ["id"]\n', 2, "ordrs", "Did you mean 'orders'?"),
}


@pytest.fixture
def folder(project_folder: MakeProject) -> Path:
    return project_folder(all_py=VIEWS)


def opened(folder: Path, toml: str) -> Project:
    (folder / "headwater.toml").write_text(toml)
    return headwater.open(folder, settings={"master": "local[2]", "driver_memory": "2g"})


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("command", ["build", "plan"])
def test_what_is_said_of_nothing_is_wrong_usage_with_its_line_and_needs_no_spark(
    case: str, command: str, folder: Path
) -> None:
    toml, line, key, hint = WRONG[case]
    said: list[Progress] = []
    project = opened(folder, toml)
    with pytest.raises(UnknownSetting) as caught:
        getattr(project, command)(listen=said.append)
    assert caught.value.key == key
    assert caught.value.origin == Origin(str(folder / "headwater.toml"), line)
    assert caught.value.next_step.startswith(hint)
    assert [each.message for each in said] == ["reading definitions"]


def test_a_wrong_name_is_found_even_if_nothing_else_changed(folder: Path, runtime: SessionRuntime) -> None:
    assert runtime.profile.driver_memory == "2g"
    assert opened(folder, "").build().status == "done"
    with pytest.raises(UnknownSetting):
        opened(folder, '[determinism]\nclok = "warn"\n').build()


@pytest.mark.usefixtures("runtime")
def test_names_are_found_in_any_case(folder: Path) -> None:
    toml = '[determinism.FACTS]\nclock = "warn"\n\n[keys]\nORDERS = ["id"]\nfacts = ["ID"]\n'
    assert [each.name for each in opened(folder, toml).plan().views] == ["Facts"]


@pytest.mark.usefixtures("runtime")
def test_a_record_that_cannot_be_read_is_told_and_gone_without(folder: Path) -> None:
    run = opened(folder, "").build().manifest
    run.write_text("{")
    said: list[Progress] = []
    opened(folder, "").plan(listen=said.append)
    assert any(each.message.startswith("going on without the last run's record: ") for each in said)
