"""What expressions do with structs, arrays and maps: taking them apart, making them, functions over them.

Not here: plain values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.dependence import (
    ELEMENT,
    KEY,
    NONE,
    VALUE,
    Dependences,
    Value,
    either,
    element_type,
    field_names,
    is_map,
    made_of,
    opaque,
)
from headwater.plan.tree import expressions_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.scope import Rule, Scope
    from headwater.plan.tree import Node


# --- structs, arrays and maps --------------------------------------------------------------------------


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
    values = [scope.value_of(each) for each in node.nodes("children")[1::2]]
    return made_of(zip(field_names(node.type), values, strict=True))


def _new_array(scope: Scope, node: Node) -> Value:
    return Value(parts={ELEMENT: either(scope.values_of(node, "children"))})


def _new_map(scope: Scope, node: Node) -> Value:
    values = scope.values_of(node, "children")
    return _map_with(either(values[0::2]), either(values[1::2]))


def _map_with(keys: Value, values: Value, shape: Dependences = NONE) -> Value:
    """A map put together: of equal keys one stays, so that the keys decide about all of it."""
    return Value(others=shape | keys.all(), parts={KEY: keys, VALUE: values})


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
    value = scope.value_of(node.plan("child"))
    return Value(others=value.shape(), parts={ELEMENT: value.part(KEY)})


def _has_key(scope: Scope, node: Node) -> Value:
    value, key = scope.value_of(node.plan("left")), scope.value_of(node.plan("right"))
    return Value(others=value.shape() | value.part(KEY).all() | key.all())


def _map_values(scope: Scope, node: Node) -> Value:
    value = scope.value_of(node.plan("child"))
    return Value(others=value.shape(), parts={ELEMENT: value.part(VALUE)})


def _map_entries(scope: Scope, node: Node) -> Value:
    value = scope.value_of(node.plan("child"))
    entry = Value(parts={KEY: value.part(KEY), VALUE: value.part(VALUE)})
    return Value(others=value.shape(), parts={ELEMENT: entry})


def _shape_of_child(scope: Scope, node: Node) -> Value:
    child = node.plan("child")
    return shape_of(scope.value_of(child), child)


def shape_of(value: Value, node: Node) -> Value:
    """Whether a value is there, and how long it is; of a plain value that is all that can be said."""
    return Value(others=value.shape()) if field_names(node.type) else opaque((value,))


def _rearranged(scope: Scope, node: Node) -> Value:
    """Some elements of arrays, in some order that the other arguments decide."""
    if element_type(node.type) is None:
        return scope.unknown(node)
    given = [(scope.value_of(each), element_type(each.type)) for each in expressions_in(node)]
    shape = NONE.union(*(value.all() if inner is None else value.shape() for value, inner in given))
    return either(value for value, inner in given if inner is not None).also(shape)


def _without_nulls(scope: Scope, node: Node) -> Value:
    value = scope.value_of(node.plan("child"))
    return value.also(value.part(ELEMENT).shape())


def _with_one_more(scope: Scope, node: Node) -> Value:
    array, one = (scope.value_of(each) for each in expressions_in(node))
    return either((array, Value(parts={ELEMENT: one})))


def _flattened(scope: Scope, node: Node) -> Value:
    value = scope.value_of(node.plan("child"))
    inner = value.part(ELEMENT)
    return Value(others=value.shape() | inner.shape(), parts={ELEMENT: inner.part(ELEMENT)})


def _side_by_side(scope: Scope, node: Node) -> Value:
    arrays = scope.values_of(node, "children")
    names = field_names(element_type(node.type))
    entry = made_of((name, each.part(ELEMENT)) for name, each in zip(names, arrays, strict=True))
    return Value(others=NONE.union(*(each.shape() for each in arrays)), parts={ELEMENT: entry})


def _map_of_entries(scope: Scope, node: Node) -> Value:
    value = scope.value_of(node.plan("child"))
    entry = value.part(ELEMENT)
    key, inner = (entry.part(name) for name in field_names(element_type(node.plan("child").type)))
    return _map_with(key, inner, value.shape() | entry.shape())


def _map_of_arrays(scope: Scope, node: Node) -> Value:
    keys, values = scope.value_of(node.plan("left")), scope.value_of(node.plan("right"))
    return _map_with(keys.part(ELEMENT), values.part(ELEMENT), keys.shape() | values.shape())


def _maps_together(scope: Scope, node: Node) -> Value:
    maps = scope.values_of(node, "children")
    shape = NONE.union(*(each.shape() for each in maps))
    return _map_with(
        either(each.part(KEY) for each in maps), either(each.part(VALUE) for each in maps), shape
    )


# --- lambda functions ----------------------------------------------------------------------------------


def _transformed(scope: Scope, node: Node) -> Value:
    array = scope.value_of(node.plan("argument"))
    position = Value(others=array.shape())
    body = scope.result_of(node.plan("function"), array.part(ELEMENT), position)
    return Value(others=array.shape(), parts={ELEMENT: body})


def _filtered(scope: Scope, node: Node) -> Value:
    array = scope.value_of(node.plan("argument"))
    test = scope.result_of(node.plan("function"), array.part(ELEMENT), Value(others=array.shape()))
    return array.also(test.all())


def _sorted_by(scope: Scope, node: Node) -> Value:
    array = scope.value_of(node.plan("argument"))
    return array.also(scope.result_of(node.plan("function"), *[array.part(ELEMENT)] * 2).all())


def _tested(scope: Scope, node: Node) -> Value:
    array = scope.value_of(node.plan("argument"))
    test = scope.result_of(node.plan("function"), array.part(ELEMENT))
    return Value(others=array.shape() | test.all())


def _folded(scope: Scope, node: Node) -> Value:
    array = scope.value_of(node.plan("argument"))
    total = scope.value_of(node.plan("zero")).also(array.shape())
    while True:
        step = either((total, scope.result_of(node.plan("merge"), total, array.part(ELEMENT))))
        if step == total:
            return scope.result_of(node.plan("finish"), total)
        total = step


def _zipped(scope: Scope, node: Node) -> Value:
    left, right = scope.value_of(node.plan("left")), scope.value_of(node.plan("right"))
    shape = left.shape() | right.shape()
    body = scope.result_of(
        node.plan("function"), left.part(ELEMENT).also(shape), right.part(ELEMENT).also(shape)
    )
    return Value(others=shape, parts={ELEMENT: body})


def _of_entries(scope: Scope, node: Node) -> tuple[Value, Value]:
    """A map, and what a function makes of its entries."""
    given = scope.value_of(node.plan("argument"))
    return given, scope.result_of(node.plan("function"), given.part(KEY), given.part(VALUE))


def _map_filtered(scope: Scope, node: Node) -> Value:
    given, test = _of_entries(scope, node)
    return given.also(test.all())


def _keys_changed(scope: Scope, node: Node) -> Value:
    given, keys = _of_entries(scope, node)
    return _map_with(keys, given.part(VALUE), given.shape())


def _values_changed(scope: Scope, node: Node) -> Value:
    given, values = _of_entries(scope, node)
    return Value(others=given.shape(), parts={KEY: given.part(KEY), VALUE: values})


def _maps_zipped(scope: Scope, node: Node) -> Value:
    left, right = scope.value_of(node.plan("left")), scope.value_of(node.plan("right"))
    keys = either((left.part(KEY), right.part(KEY)))
    either_side = (each.part(VALUE).also(keys.all()) for each in (left, right))
    body = scope.result_of(node.plan("function"), keys, *either_side)
    return _map_with(keys, body, left.shape() | right.shape())


CONTAINER_RULES: Mapping[str, Rule] = {
    "GetStructField": _struct_field,
    "GetArrayStructFields": _field_of_elements,
    **dict.fromkeys(["GetArrayItem", "Get", "ElementAt", "GetMapValue"], _item),
    "CreateNamedStruct": _new_struct,
    "CreateArray": _new_array,
    "CreateMap": _new_map,
    "UpdateFields": _changed_struct,
    "MapContainsKey": _has_key,
    "MapKeys": _map_keys,
    "MapValues": _map_values,
    "MapEntries": _map_entries,
    **dict.fromkeys(["Concat", "Reverse", "Slice"], _rearranged),
    "ArrayCompact": _without_nulls,
    **dict.fromkeys(["ArrayAppend", "ArrayPrepend"], _with_one_more),
    "Flatten": _flattened,
    "ArraysZip": _side_by_side,
    "MapFromEntries": _map_of_entries,
    "MapFromArrays": _map_of_arrays,
    "MapConcat": _maps_together,
    **dict.fromkeys(["Size", "IsNull", "IsNotNull"], _shape_of_child),
    "ArrayTransform": _transformed,
    "ArrayFilter": _filtered,
    **dict.fromkeys(["ArrayExists", "ArrayForAll"], _tested),
    "ArrayAggregate": _folded,
    "ZipWith": _zipped,
    "ArraySort": _sorted_by,
    "MapFilter": _map_filtered,
    "TransformKeys": _keys_changed,
    "TransformValues": _values_changed,
    "MapZipWith": _maps_zipped,
}
