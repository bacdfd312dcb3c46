"""Every error a caller can meet: coded, drawn, worded, picklable, documented."""

from __future__ import annotations

import importlib.util
import pickle
import re
from dataclasses import fields
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

import pytest

from headwater import errors
from headwater.errors import HeadwaterError
from headwater.origin import Origin

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"HW-[A-Z]+-[0-9]{3}")
DRAWN = re.compile(
    r"^ {4}(?P<branch>(?:│   |    )*)[├└]── (?P<name>\w+)(?: +(?P<code>HW-\S+))?", re.MULTILINE
)
# Classes that the drawing leaves out, and why.
UNDRAWN = {"EngineDetail": "fields that several branches share; nobody catches it as a branch of its own"}

DUMMIES: dict[str, Any] = {
    "str": "words",
    "str | None": "words",
    "int": 7,
    "tuple[str, ...]": ("one", "two"),
    "Origin": Origin("views/a.py", 3),
    "Origin | None": Origin("views/b.py", 4),
}


def all_errors() -> list[type[HeadwaterError]]:
    found = {HeadwaterError}
    waiting = [HeadwaterError]
    while waiting:
        below = set(waiting.pop().__subclasses__()) - found
        found |= below
        waiting += below
    return sorted(
        (each for each in found if each.__module__ == errors.__name__), key=lambda each: each.__name__
    )


ERRORS = all_errors()
CODED = [each for each in ERRORS if "code" in vars(each) and each is not HeadwaterError]
every_error = pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
every_coded_error = pytest.mark.parametrize("kind", CODED, ids=lambda kind: kind.__name__)


def example_of(kind: type[HeadwaterError]) -> HeadwaterError:
    return kind(**{each.name: DUMMIES[str(each.type)] for each in fields(kind)})


def drawing() -> dict[str, tuple[str, str | None]]:
    """Each drawn class with the class above it and its code."""
    found: dict[str, tuple[str, str | None]] = {}
    path = ["HeadwaterError"]
    for match in DRAWN.finditer(errors.__doc__ or ""):
        depth = len(match["branch"]) // 4 + 1
        path[depth:] = [match["name"]]
        found[match["name"]] = (path[depth - 1], match["code"])
    return found


def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@every_error
def test_it_has_a_docstring_of_its_own(kind: type[HeadwaterError]) -> None:
    own = vars(kind).get("__doc__") or ""
    assert own.strip(".").lower() != kind.__name__.lower()
    assert not own.startswith(f"{kind.__name__}("), "dataclass wrote this one, nobody else did"
    assert len(own.split()) > 1


@every_coded_error
def test_its_code_has_the_one_form(kind: type[HeadwaterError]) -> None:
    assert CODE.fullmatch(kind.code)


def test_no_two_errors_share_a_code() -> None:
    assert len({kind.code for kind in CODED}) == len(CODED)


def test_a_class_without_a_code_is_a_branch() -> None:
    leaves = [kind.__name__ for kind in ERRORS if "code" not in vars(kind) and not kind.__subclasses__()]
    assert not leaves


@every_error
def test_it_exits_with_one_of_three_codes(kind: type[HeadwaterError]) -> None:
    assert kind.exit_code in {1, 2, 3}


def test_the_drawing_shows_every_class_with_its_code() -> None:
    drawn = {name: code for name, (_, code) in drawing().items()}
    there = {kind.__name__: vars(kind).get("code") for kind in ERRORS if kind is not HeadwaterError}
    assert drawn == {name: code for name, code in there.items() if name not in UNDRAWN}


def test_the_drawing_shows_each_class_below_one_it_inherits_from() -> None:
    wrong = [
        f"{name} below {above}"
        for name, (above, _) in drawing().items()
        if not issubclass(getattr(errors, name), getattr(errors, above))
    ]
    assert not wrong


@every_error
def test_its_templates_use_its_own_fields_only(kind: type[HeadwaterError]) -> None:
    known = {each.name for each in fields(kind)}
    used = {name for text in (kind.says, kind.advises) for _, name, _, _ in Formatter().parse(text) if name}
    assert used <= known


@every_error
def test_it_finds_words_for_what_happened_and_what_to_do(kind: type[HeadwaterError]) -> None:
    error = example_of(kind)
    assert error.message.strip()
    assert error.next_step.strip()
    assert not set("{}") & set(error.message + error.next_step)
    assert str(error).startswith(f"{kind.code} views/b.py:4: ")


@every_error
def test_it_survives_pickling(kind: type[HeadwaterError]) -> None:
    error = example_of(kind)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes
    assert type(again) is kind
    assert str(again) == str(error)
    assert all(getattr(again, each.name) == getattr(error, each.name) for each in fields(kind))


def test_the_reference_is_what_its_script_writes() -> None:
    written = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    assert written == reference().errors_page(), "run: .venv/bin/python scripts/reference.py"


@every_coded_error
def test_it_is_in_the_reference(kind: type[HeadwaterError]) -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    assert f"### {kind.code} {kind.__name__}\n" in page
