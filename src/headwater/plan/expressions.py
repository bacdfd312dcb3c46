"""What each expression does with the values it is given; one that is not known may do anything with them.

Not here: operators on relations; a subquery's plan is handed to whoever made the scope.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from headwater.plan.dependence import (
    ELEMENT,
    KEY,
    NONE,
    NOTHING,
    VALUE,
    Dependences,
    Value,
    all_as,
    either,
    element_type,
    field_names,
    in_role,
    is_map,
    opaque,
    realigned,
)
from headwater.plan.tree import Node, TypeOf, expressions_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Relation(Protocol):
    """What a subquery's plan puts out."""

    @property
    def columns(self) -> Mapping[int, Value]:
        """Its columns by id."""
        ...

    @property
    def rows(self) -> Dependences:
        """What decides which rows there are."""
        ...


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: the columns it can see, and the query around it."""

    columns: Mapping[int, Value]
    relation_of: Callable[[Node, Scope], Relation]
    outer: Scope | None = None

    def value_of(self, node: Node) -> Value:
        """What an expression's values depend on."""
        if node.kind in _RULES:
            return _RULES[node.kind](self, node)
        if isinstance(node.fields.get("replacement"), Node):
            return self.value_of(node.plan("replacement"))
        return self._unknown(node)

    def values_of(self, node: Node, name: str) -> list[Value]:
        """The values of a list of expressions."""
        return [self.value_of(each) for each in node.nodes(name)]

    def bound(self, function: Node, *values: Value) -> Scope:
        """The scope inside a lambda function whose arguments have these values, as far as it takes them."""
        arguments = [each.id for each in function.nodes("arguments") if each.id is not None]
        # More arguments than are known of would go unseen.
        given = [*values, *[opaque(values)] * (len(arguments) - len(values))]
        return replace(self, columns={**self.columns, **dict(zip(arguments, given, strict=False))})

    def column(self, node: Node) -> Value:
        """A column, of this query or, as a last resort, of those around it."""
        found = self.columns.get(node.id or 0)
        if found is None and self.outer is not None:
            return self.outer.column(node)
        if found is None:
            raise KeyError(node.name)
        return found

    def _unknown(self, node: Node) -> Value:
        inner = list(expressions_in(node))
        given = [self.value_of(each) for each in inner if each.kind != "LambdaFunction"]
        anything = opaque(given)
        lambdas = [_body(self, each, anything) for each in inner if each.kind == "LambdaFunction"]
        return opaque([anything, *lambdas]) if lambdas else anything


def _body(scope: Scope, function: Node, *values: Value) -> Value:
    return scope.bound(function, *values).value_of(function.plan("function"))


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


def _struct_field(scope: Scope, node: Node) -> Value:
    child = node.plan("child")
    return scope.value_of(child).part(field_names(child.type)[int(node.fields["ordinal"])])


def _field_of_elements(scope: Scope, node: Node) -> Value:
    child = node.plan("child")
    value = scope.value_of(child)
    names = field_names(element_type(child.type))
    inner = value.part(ELEMENT).part(names[int(node.fields["ordinal"])])
    return Value(others=value.shape(), parts={ELEMENT: inner})


def _item(scope: Scope, node: Node) -> Value:
    """An element of an array, or the value of a map's key."""
    container, place = list(expressions_in(node))[:2]
    value, at = scope.value_of(container), scope.value_of(place).all()
    if is_map(container.type):
        return value.part(VALUE).also(at | value.part(KEY).all())
    return value.part(ELEMENT).also(at | value.shape())


def _new_struct(scope: Scope, node: Node) -> Value:
    names = field_names(node.type)
    values = [scope.value_of(each) for each in node.nodes("children")[1::2]]
    # Two fields of one name are told apart by their place alone; here each stands for both.
    return either(Value(parts={name: value}) for name, value in zip(names, values, strict=True))


def _new_array(scope: Scope, node: Node) -> Value:
    return Value(parts={ELEMENT: either(scope.values_of(node, "children"))})


def _new_map(scope: Scope, node: Node) -> Value:
    values = scope.values_of(node, "children")
    # Of equal keys one value stays: which, the keys decide.
    keys, inner = either(values[0::2]), either(values[1::2])
    return Value(parts={KEY: keys, VALUE: inner.also(keys.all())})


def _changed_struct(scope: Scope, node: Node) -> Value:
    child = node.plan("structExpr")
    value = scope.value_of(child)
    parts = {name: value.part(name) for name in field_names(child.type)}
    for change in node.nodes("fieldOps"):
        name = change.fields.get("name")
        if change.kind == "WithField":
            parts[str(name)] = scope.value_of(change.plan("valExpr"))
        else:
            parts.pop(str(name), None)
    kept = {name: parts.get(name, opaque((value,))) for name in field_names(node.type)}
    return Value(others=value.shape(), parts=kept)


def _map_keys(scope: Scope, node: Node) -> Value:
    value = _child(scope, node)
    return Value(others=value.shape(), parts={ELEMENT: value.part(KEY)})


def _map_values(scope: Scope, node: Node) -> Value:
    value = _child(scope, node)
    return Value(others=value.shape(), parts={ELEMENT: value.part(VALUE)})


def _map_entries(scope: Scope, node: Node) -> Value:
    value = _child(scope, node)
    entry = Value(parts={KEY: value.part(KEY), VALUE: value.part(VALUE)})
    return Value(others=value.shape(), parts={ELEMENT: entry})


def _shape_of_child(scope: Scope, node: Node) -> Value:
    child = node.plan("child")
    value = scope.value_of(child)
    return Value(others=value.shape()) if field_names(child.type) else opaque((value,))


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


# --- lambda functions ----------------------------------------------------------------------------------


def _transformed(scope: Scope, node: Node) -> Value:
    array = scope.value_of(node.plan("argument"))
    position = Value(others=array.shape())
    body = _body(scope, node.plan("function"), array.part(ELEMENT), position)
    return Value(others=array.shape(), parts={ELEMENT: body})


def _filtered(scope: Scope, node: Node) -> Value:
    array = scope.value_of(node.plan("argument"))
    test = _body(scope, node.plan("function"), array.part(ELEMENT), Value(others=array.shape()))
    return Value(others=array.shape() | test.all(), parts={ELEMENT: array.part(ELEMENT)})


def _tested(scope: Scope, node: Node) -> Value:
    array = scope.value_of(node.plan("argument"))
    test = _body(scope, node.plan("function"), array.part(ELEMENT))
    return Value(others=array.shape() | test.all())


def _folded(scope: Scope, node: Node) -> Value:
    array = scope.value_of(node.plan("argument"))
    total = scope.value_of(node.plan("zero")).also(array.shape())
    while True:
        step = either((total, _body(scope, node.plan("merge"), total, array.part(ELEMENT))))
        if step.all() == total.all():
            return _body(scope, node.plan("finish"), total)
        total = opaque((step,))


def _zipped(scope: Scope, node: Node) -> Value:
    left, right = scope.value_of(node.plan("left")), scope.value_of(node.plan("right"))
    shape = left.shape() | right.shape()
    body = _body(
        scope, node.plan("function"), left.part(ELEMENT).also(shape), right.part(ELEMENT).also(shape)
    )
    return Value(others=shape, parts={ELEMENT: body})


def _map_of(key: str | None, value: str | None) -> Callable[[Scope, Node], Value]:
    """A function over a map's entries: its result stands for the named parts, or decides what stays."""

    def rule(scope: Scope, node: Node) -> Value:
        given = scope.value_of(node.plan("argument"))
        parts = {KEY: given.part(KEY), VALUE: given.part(VALUE)}
        body = _body(scope, node.plan("function"), parts[KEY], parts[VALUE])
        others = given.shape()
        if key:  # of keys that became equal one stays
            parts = {KEY: body, VALUE: parts[VALUE].also(body.all())}
        if value:
            parts[VALUE] = body
        if not key and not value:
            others |= body.all()
        return Value(others=others, parts=parts)

    return rule


# --- aggregates and windows ----------------------------------------------------------------------------


def _aggregated(scope: Scope, node: Node) -> Value:
    value = scope.value_of(node.plan("aggregateFunction"))
    chosen = node.fields.get("filter")
    return value.also(in_role(scope.value_of(chosen).all(), "filter")) if isinstance(chosen, Node) else value


def _collected(scope: Scope, node: Node) -> Value:
    return Value(parts={ELEMENT: _child(scope, node)})


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
    value = found.columns[plan.output[0]]
    return value.also(all_as(value.all() | found.rows, "subquery"))


def _exists(scope: Scope, node: Node) -> Value:
    return Value(others=all_as(scope.relation_of(node.plan("plan"), scope).rows, "subquery"))


def _in_subquery(scope: Scope, node: Node) -> Value:
    plan = node.plan("query").plan("plan")
    found = scope.relation_of(plan, scope)
    listed = opaque(found.columns[each] for each in plan.output)
    sought = opaque(scope.values_of(node, "values")).all()
    return Value(others=sought | listed.all() | all_as(listed.all() | found.rows, "subquery"))


_RULES: Mapping[str, Callable[[Scope, Node], Value]] = {
    "AttributeReference": Scope.column,
    "NamedLambdaVariable": Scope.column,
    "OuterReference": _outer_reference,
    **dict.fromkeys(
        (
            *("Alias", "KnownNotNull", "KnownNullable", "KnownFloatingPointNormalized"),
            *("NormalizeNaNAndZero", "AssertNotNull", "TempResolvedColumn", "SQLScalarFunction"),
            *("TryEval", "Collate", "First", "Last", "AnyValue"),
        ),
        _child,
    ),
    **dict.fromkeys(["Cast", "UpCast", "AnsiCast"], _cast),
    "Literal": _literal,
    "GetStructField": _struct_field,
    "GetArrayStructFields": _field_of_elements,
    **dict.fromkeys(["GetArrayItem", "ElementAt", "GetMapValue"], _item),
    "CreateNamedStruct": _new_struct,
    "CreateArray": _new_array,
    "CreateMap": _new_map,
    "UpdateFields": _changed_struct,
    "MapKeys": _map_keys,
    "MapValues": _map_values,
    "MapEntries": _map_entries,
    **dict.fromkeys(["Size", "IsNull", "IsNotNull"], _shape_of_child),
    "If": _if,
    "CaseWhen": _case,
    "Coalesce": _coalesce,
    "ArrayTransform": _transformed,
    "ArrayFilter": _filtered,
    **dict.fromkeys(["ArrayExists", "ArrayForAll"], _tested),
    "ArrayAggregate": _folded,
    "ZipWith": _zipped,
    "MapFilter": _map_of(None, None),
    "TransformKeys": _map_of(KEY, None),
    "TransformValues": _map_of(None, VALUE),
    "AggregateExpression": _aggregated,
    "CollectList": _collected,
    **dict.fromkeys(["MaxBy", "MinBy"], _by_order),
    "SortOrder": _sort_order,
    "WindowExpression": _windowed,
    "ScalarSubquery": _scalar_subquery,
    "Exists": _exists,
    "InSubquery": _in_subquery,
}
