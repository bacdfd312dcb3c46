"""Parts of classes and objects: what their author wrote, and nothing that Python added."""

from __future__ import annotations

import copy
import enum
from dataclasses import dataclass, field, make_dataclass
from typing import NamedTuple

from pyspark import cloudpickle

from headwater.pipeline.instances import content_of, fields_of, members_of, state_of


@dataclass(frozen=True, slots=True)
class Rate:
    name: str
    factor: float = 1.0
    tags: list[str] = field(default_factory=list[str])

    def scaled(self, value: float) -> float:
        return value * self.factor


class Point(NamedTuple):
    x: int
    y: int = 0


class Colour(enum.Enum):
    RED = 1

    def shown(self) -> str:
        return self.name


class Names(dict[str, int]):
    unit = "kg"


def test_a_dataclass_is_its_fields_and_written_methods() -> None:
    assert [(name, kind) for name, kind, _ in fields_of(Rate)] == [
        ("name", "str"),
        ("factor", "float"),
        ("tags", "list[str]"),
    ]
    assert [defaults for _, _, defaults in fields_of(Rate)] == [[], [1.0], [list[str]]]
    assert dict(members_of(Rate))["scaled"] is Rate.scaled
    assert "__init__" not in dict(members_of(Rate))


def test_other_classes_have_no_fields() -> None:
    assert fields_of(Names) == []
    assert dict(members_of(Names)) == {"unit": "kg"}


def test_pickling_leaves_nothing_behind() -> None:
    before = members_of(Names)
    copy.copy(Names(a=1))
    assert members_of(Names) == before


def test_slots_and_fields_of_named_tuples_are_names_only() -> None:
    assert dict(members_of(Point))["x"] is None
    assert dict(members_of(Rate))["factor"] is None


def test_an_enumeration_is_its_members_and_methods() -> None:
    assert members_of(Colour)[0] == ("RED", 1)
    assert ("shown", Colour.shown) in members_of(Colour)


def test_state_is_in_the_dictionary_and_in_slots() -> None:
    assert state_of(Rate("a")) == {"name": "a", "factor": 1.0, "tags": []}
    names = Names(a=1)
    names.unit = "lb"
    assert state_of(names) == {"unit": "lb"}


def test_content_is_that_of_the_plain_class_below() -> None:
    assert content_of(Names(a=1)) == {"a": 1}
    assert type(content_of(Names(a=1))) is dict
    assert content_of(Point(1)) == (1, 0)
    assert content_of(Colour.RED) is None


def _with_method(name: str, body: str) -> type[object]:
    space: dict[str, object] = {}
    exec(f"def {name}(self): return {body}", space)  # noqa: S102 - a method that some library makes from a text
    return type("Made", (), {name: space[name]})


def test_a_method_made_from_a_text_is_a_method() -> None:
    for name in ("f", "__init__", "__eq__", "__new__"):
        assert name in dict(members_of(_with_method(name, "1")))


def test_what_dataclass_writes_is_no_member() -> None:
    ordered = make_dataclass("Ordered", ["a"], order=True, frozen=True)
    names = {name for name, _ in members_of(ordered)}
    assert not names & {"__init__", "__eq__", "__lt__", "__ge__", "__hash__", "__setattr__", "__delattr__"}


def test_fields_without_defaults_stay_so_when_pickled_by_value() -> None:
    again = cloudpickle.loads(cloudpickle.dumps(make_dataclass("Small", [("a", int), ("b", int, 2)])))
    assert [(name, defaults) for name, _, defaults in fields_of(again)] == [("a", []), ("b", [2])]
