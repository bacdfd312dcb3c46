from __future__ import annotations

import pickle

from headwater.errors import AnalysisFailed, HeadwaterError, JarsUnavailable, UnknownTable, VersionNotFound
from headwater.origin import Origin


def test_an_error_says_code_place_and_words() -> None:
    error = UnknownTable(
        view="revenue", name="ordrs", hint="Did you mean 'orders'? ", origin=Origin("v.py", 7)
    )
    assert str(error) == (
        "HW-PLAN-001 v.py:7: 'revenue' reads 'ordrs', which is no view and no source of this project"
    )
    assert error.next_step == "Did you mean 'orders'? Declare it with headwater.source, or correct the name."


def test_an_engine_error_shows_condition_and_state() -> None:
    error = AnalysisFailed(
        view="a", detail="no such column", condition="UNRESOLVED_COLUMN", sql_state="42703"
    )
    assert error.message == "'a': no such column [UNRESOLVED_COLUMN, SQLSTATE 42703]"


def test_several_things_are_listed() -> None:
    assert "a.jar, b.jar" in JarsUnavailable(jars=("a.jar", "b.jar"), home="h").message


def test_an_error_survives_a_process_boundary() -> None:
    error = pickle.loads(pickle.dumps(VersionNotFound(path="p", version=3, origin=Origin("x", 1))))  # noqa: S301
    assert isinstance(error, VersionNotFound)
    assert (error.path, error.version, error.origin, error.exit_code) == ("p", 3, Origin("x", 1), 3)


def test_a_message_is_one_line() -> None:
    assert UnknownTable(view="a\nb", name="c").message.startswith("'a b' reads")


def test_braces_in_a_value_are_left_alone() -> None:
    assert "{x}" in UnknownTable(view="{x}", name="y").message


def test_an_origin_without_a_line_is_just_the_file() -> None:
    assert str(Origin("a.sql")) == "a.sql"
    assert isinstance(UnknownTable(view="a", name="b"), HeadwaterError)
