from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from headwater.plan.dependence import NONE, Dependences, Value, column_value, opaque
from headwater.plan.expressions import EXPRESSION_RULES
from headwater.plan.scope import Scope
from headwater.plan.tree import Node

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Found:
    """What a subquery's plan puts out, without a plan."""

    columns: Mapping[int, Value] = field(default_factory=dict[int, Value])
    rows: Dependences = NONE


A, B, C = (column_value("t", name) for name in "abc")


def column(number: int) -> Node:
    return Node("AttributeReference", "expression", {}, id=number, name=f"c{number}")


def expression(kind: str, **fields: object) -> Node:
    return Node(kind, "expression", fields)


def scope(columns: Mapping[int, Value], outer: Scope | None = None, found: Found | None = None) -> Scope:
    return Scope(columns, EXPRESSION_RULES, lambda _plan, _scope: found or Found(), outer)


def words(value: Value) -> list[str]:
    return sorted(f"{kind} {path.column}" for path, kind in value.all())


def test_an_expression_that_is_not_known_may_do_anything_with_what_it_is_given() -> None:
    unknown = expression("com.example.Odd", left=column(1), rest=(column(2), 3))
    assert scope({1: A, 2: B, 3: C}).value_of(unknown) == opaque([A, B])


def test_a_lambda_of_an_unknown_function_sees_everything_else() -> None:
    variable = Node("NamedLambdaVariable", "expression", {}, id=9, name="x")
    function = expression(
        "LambdaFunction", function=expression("Odd", x=variable, y=column(2)), arguments=(variable,)
    )
    assert scope({1: A, 2: B}).value_of(expression("Odd", array=column(1), function=function)) == opaque(
        [A, B]
    )


def test_a_plan_inside_of_an_unknown_expression_matters_with_all_its_columns_and_rows() -> None:
    plan = Node("Anything", "plan", {}, output=(5, 6))
    found = Found({5: A, 6: B}, C.all())
    value = scope({}, found=found).value_of(expression("Odd", plan=plan))
    kinds = ("subquery", "value")
    assert words(value) == sorted(f"{kind} {name}" for kind in kinds for name in "abc")


def test_an_expression_that_stands_for_another_is_that_one() -> None:
    shown = expression("Nicer", left=column(2), replacement=column(1))
    assert scope({1: A, 2: B}).value_of(shown) == A


def test_a_column_that_is_not_here_is_of_the_query_around() -> None:
    assert scope({}, outer=scope({}, outer=scope({1: A}))).value_of(column(1)) == A


def test_a_column_that_is_nowhere_is_an_error() -> None:
    with pytest.raises(KeyError, match="c1"):
        scope({2: A}, outer=scope({})).value_of(column(1))


def test_a_lambda_function_may_take_less_or_more_than_is_given() -> None:
    variables = [Node("NamedLambdaVariable", "expression", {}, id=9 + n, name="x") for n in range(2)]
    last = expression("LambdaFunction", function=variables[1], arguments=tuple(variables))
    assert scope({}).result_of(last, A, B, C) == B
    assert scope({}).result_of(last, A) == opaque([A])
