"""What plain expressions do with the values they are given: references, choices, aggregates, subqueries.

Not here: structs, arrays and maps; operators on relations, to which a subquery's plan is handed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.containers import CONTAINER_RULES, shape_of
from headwater.plan.dependence import (
    ELEMENT,
    NONE,
    NOTHING,
    Value,
    all_as,
    either,
    in_role,
    opaque,
    realigned,
)
from headwater.plan.scope import Scope
from headwater.plan.tree import Node, TypeOf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.scope import Rule


# --- references and structure --------------------------------------------------------------------------


def _outer_reference(scope: Scope, node: Node) -> Value:
    around = scope.outer or scope
    return around.value_of(node.plan("e"))


def _child(scope: Scope, node: Node) -> Value:
    return scope.value_of(node.plan("child"))


def _cast(scope: Scope, node: Node) -> Value:
    child = node.plan("child")
    target = node.fields.get("dataType")
    kind = target.type if isinstance(target, TypeOf) else node.type
    return realigned(scope.value_of(child), child.type, kind)


def _literal(_scope: Scope, _node: Node) -> Value:
    return NOTHING


# --- choices -------------------------------------------------------------------------------------------


def _if(scope: Scope, node: Node) -> Value:
    test = scope.value_of(node.plan("predicate")).all()
    return either(scope.value_of(node.plan(each)) for each in ("trueValue", "falseValue")).also(test)


def _case(scope: Scope, node: Node) -> Value:
    pairs = [(each.fields["_1"], each.fields["_2"]) for each in node.fields["branches"]]
    tests = opaque(scope.value_of(test) for test, _ in pairs).all()
    results = [scope.value_of(result) for _, result in pairs]
    last = node.fields.get("elseValue")
    if isinstance(last, Node):
        results.append(scope.value_of(last))
    return either(results).also(tests)


def _coalesce(scope: Scope, node: Node) -> Value:
    values = scope.values_of(node, "children")
    return either(values).also(NONE.union(*(value.shape() for value in values[:-1])))


# --- aggregates and windows ----------------------------------------------------------------------------


def _aggregated(scope: Scope, node: Node) -> Value:
    function = node.plan("aggregateFunction")
    value = scope.value_of(function)
    if node.fields["isDistinct"]:  # what is the same is decided by all of it
        value = value.also(scope.unknown(function).all())
    chosen = node.fields.get("filter")
    return value.also(in_role(scope.value_of(chosen).all(), "filter")) if isinstance(chosen, Node) else value


def _counted(scope: Scope, node: Node) -> Value:
    children = node.nodes("children")
    return opaque(shape_of(scope.value_of(each), each) for each in children)


def _collected(scope: Scope, node: Node) -> Value:
    value = _child(scope, node)
    return Value(others=value.shape(), parts={ELEMENT: value})  # nulls are left out


def _from_another_row(scope: Scope, node: Node) -> Value:
    given = either(scope.value_of(node.plan(each)) for each in ("input", "default") if each in node.fields)
    return given.also(scope.value_of(node.plan("offset" if "offset" in node.fields else "inputOffset")).all())


def _by_order(scope: Scope, node: Node) -> Value:
    order = in_role(scope.value_of(node.plan("orderingExpr")).all(), "order")
    return scope.value_of(node.plan("valueExpr")).also(order)


def _sort_order(scope: Scope, node: Node) -> Value:
    return Value(others=in_role(_child(scope, node).all(), "order"))


def _windowed(scope: Scope, node: Node) -> Value:
    spec = node.plan("windowSpec")
    partition = in_role(opaque(scope.values_of(spec, "partitionSpec")).all(), "window")
    order = opaque(scope.values_of(spec, "orderSpec")).all()
    return scope.value_of(node.plan("windowFunction")).also(partition | order)


# --- subqueries ----------------------------------------------------------------------------------------


def _scalar_subquery(scope: Scope, node: Node) -> Value:
    plan = node.plan("plan")
    found = scope.relation_of(plan, scope)
    return found.columns[plan.output[0]].also(found.rows).besides("subquery")


def _exists(scope: Scope, node: Node) -> Value:
    rows = scope.relation_of(node.plan("plan"), scope).rows
    return Value(others=all_as(rows, "value")).besides("subquery")  # whether there are any is its value


def _in_subquery(scope: Scope, node: Node) -> Value:
    sought = scope.values_of(node, "values")
    return opaque([*sought, scope.table(node.plan("query").plan("plan"))])


EXPRESSION_RULES: Mapping[str, Rule] = {
    **CONTAINER_RULES,
    "AttributeReference": Scope.column,
    "NamedLambdaVariable": Scope.column,
    "OuterReference": _outer_reference,
    **dict.fromkeys(
        (
            *("Alias", "KnownNotNull", "KnownNullable", "KnownFloatingPointNormalized"),
            *("NormalizeNaNAndZero", "AssertNotNull", "TempResolvedColumn", "SQLScalarFunction"),
            *("Collate", "First", "Last", "AnyValue"),
        ),
        _child,
    ),
    **dict.fromkeys(["Cast", "UpCast", "AnsiCast"], _cast),
    **dict.fromkeys(["Literal", "TypeOf"], _literal),
    "If": _if,
    "CaseWhen": _case,
    "Coalesce": _coalesce,
    "AggregateExpression": _aggregated,
    "Count": _counted,
    "CollectList": _collected,
    **dict.fromkeys(["Lag", "Lead", "NthValue"], _from_another_row),
    # The order that they rank by is the window's.
    **dict.fromkeys(["Rank", "DenseRank", "PercentRank"], _literal),
    **dict.fromkeys(["MaxBy", "MinBy"], _by_order),
    "SortOrder": _sort_order,
    "WindowExpression": _windowed,
    "ScalarSubquery": _scalar_subquery,
    "Exists": _exists,
    "InSubquery": _in_subquery,
}
