"""The hints of a file: from its functions and from the sites of its names, without a pass over all nodes.

Not here: how types are written, and what docstrings say.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.hints.docstrings import RETURNED, docstring_types
from headwater.cpg.extract.hints.facts import (
    ALIAS,
    ANNOTATION,
    ATTRIBUTE,
    DEFAULT,
    DOCSTRING,
    TYPEVAR,
    VARIABLE,
    HintColumns,
)
from headwater.cpg.extract.hints.names import Names
from headwater.cpg.extract.hints.writing import quoted_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.cpg.extract.scopes import ScopeEvidence
    from headwater.cpg.extract.walk import Row, Walk

_NOTHING = -1
_UNKNOWN = -2  # a value that is not followed
_MODULE = 1
_GIVEN = frozenset({"assign", "aug", "ann", "for", "with", "except", "walrus", "match", "comp"})
_SHARED = frozenset({"module", "class"})
_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
_HOLDERS = frozenset({ast.For, ast.AsyncFor, ast.comprehension, ast.withitem, ast.AugAssign})
_PARTS = frozenset({ast.Tuple, ast.List, ast.Starred})
_VARIABLES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})
_TYPE_ALIAS: Any = getattr(ast, "TypeAlias", None)
_DISPLAYS: dict[type[ast.AST], str] = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Tuple: "tuple",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.JoinedStr: "str",
}
_PLAIN = frozenset({str, bytes, int, float, complex, bool})


def find_hints(walk: Walk, scopes: ScopeEvidence, count: int) -> HintColumns:
    """The hints of a walked file; `count` is how many nodes its tree has, the file's own included."""
    names = Names(walk.rows, scopes, count)
    _add_names(names)
    rows = walk.rows
    for row in walk.opened:
        node: Any = rows[row][0]
        kind = node.__class__
        if kind in _FUNCTIONS:
            _add_function(names, row, node)
        elif kind is ast.Lambda:
            _add_defaults(names, node.args)
        else:
            _add_class(names, row, node)
    return names.hints


def _add_function(names: Names, row: int, node: Any) -> None:
    arguments: ast.arguments = node.args
    _add_defaults(names, arguments)
    for each, stars in _parameters(arguments):
        if each.annotation is not None:
            _annotate(names, each.row, row, each.annotation, stars)
    if node.returns is not None:
        _annotate(names, row, row, node.returns)
    told = _docstring(node)
    if told:
        _document(names, row, node, told)


def _add_class(names: Names, row: int, node: ast.ClassDef) -> None:
    """What the docstring of a class says of parameters is said of those of its constructor."""
    del row
    told = [each for each in _docstring(node) if each[0] != RETURNED]
    if told:
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                _document(names, each.__dict__["row"], each, told)


def _docstring(node: Any) -> list[tuple[str, str]]:
    first: Any = node.body[0] if node.body else None
    if first.__class__ is ast.Expr and first.value.__class__ is ast.Constant:
        text = first.value.value
        return docstring_types(text) if text.__class__ is str else []
    return []


def _document(names: Names, row: int, node: Any, told: Sequence[tuple[str, str]]) -> None:
    parameters = {each.arg: (each.row, stars) for each, stars in _parameters(node.args)}
    scope = names.scope_around(row)
    for name, said in told:
        target, stars = parameters.get(name, (_NOTHING, "")) if name != RETURNED else (row, "")
        if target >= 0:
            text = names.write(quoted_type(said), scope, stars)
            if text is not None:
                names.hints.add(DOCSTRING, target, _NOTHING, text)


def _parameters(arguments: ast.arguments) -> Iterator[tuple[Any, str]]:
    """All parameters, and the stars before them."""
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield each, ""
    if arguments.vararg is not None:
        yield arguments.vararg, "*"
    if arguments.kwarg is not None:
        yield arguments.kwarg, "**"


def _annotate(names: Names, target: int, row: int, annotation: Any, stars: str = "") -> None:
    scope = names.scope_around(row)
    if annotation.__class__ is ast.Starred:  # `*args: *Ts` says what all of them are together
        inner = names.write(annotation.value, scope)
        text = None if inner is None else f"tuple[*{inner}]"
    else:
        text = names.write(annotation, scope, stars)
    if text is not None:
        source = _class_around(names.rows, row) if "Self" in text else _NOTHING
        names.hints.add(ANNOTATION, target, source, text)


def _class_around(rows: Sequence[Row], row: int) -> int:
    """The class that `Self` means in a def, or the def itself if it is one."""
    while row > _MODULE:
        if rows[row][0].__class__ is ast.ClassDef:
            return row
        row = rows[row][2].row
    return _NOTHING


def _add_defaults(names: Names, arguments: ast.arguments) -> None:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = arguments.defaults
    for each, default in (
        *zip(positional[len(positional) - len(defaults) :], defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        text = _default(default)
        if text is not None:
            names.hints.add(DEFAULT, each.__dict__["row"], _NOTHING, text)


def _default(node: Any) -> str | None:
    if node.__class__ is ast.UnaryOp and node.op.__class__ is ast.USub:
        node = node.operand
    if node.__class__ is ast.Constant:
        kind = node.value.__class__
        return "None" if node.value is None else kind.__name__ if kind in _PLAIN else None
    return _DISPLAYS.get(node.__class__)


def _add_names(names: Names) -> None:
    """What the names of modules, classes and functions are annotated with, and where they get values."""
    sites, meant = names.scopes.sites, names.meant
    given: dict[int, list[tuple[int, str]]] = {}
    others: set[int] = set()
    for binding, node, role, how in zip(sites.binding, sites.node, sites.role, sites.def_kind, strict=True):
        if role == "use":
            continue
        own = meant[binding]
        if how in _GIVEN:
            given.setdefault(own, []).append((node, how or ""))
        elif how == "type":
            _add_type(names, own, node)
        elif role == "def":
            others.add(own)
        if role == "annotate" or how == "ann":
            given.setdefault(own, [])
            _add_annotated(names, own, node)
    for own, found in given.items():
        if own not in others:
            _add_given(names, own, found)


def _add_given(names: Names, own: int, found: list[tuple[int, str]]) -> None:
    """Where a name gets its values, which are those of nobody but the name."""
    bindings, scopes = names.scopes.bindings, names.scopes.scopes
    scope, node = bindings.scope[own], names.nodes[own]
    is_attribute = bindings.kind[own] == "instance_attr"
    if not is_attribute and scopes.kind[scope] not in _SHARED:
        _add_local(names, own, found)
        return
    if is_attribute:
        known = bindings.mangled_name[own] or bindings.name[own]
        names.hints.add(ATTRIBUTE, node, scopes.node[scope], known)
    else:
        names.hints.add(VARIABLE, node, -2 - own, None)
        _add_alias(names, own, found)
    if any(_value(names.rows, row, how) == _NOTHING for row, how in found):
        names.hints.add(VARIABLE, node, _NOTHING, None)


def _add_local(names: Names, own: int, found: list[tuple[int, str]]) -> None:
    """All values of a local name, or nothing if one of them cannot be followed."""
    values = list(dict.fromkeys(_value(names.rows, row, how) for row, how in found))
    if _UNKNOWN not in values:
        for value in values:
            names.hints.add(VARIABLE, names.nodes[own], value, None)


def _value(rows: Sequence[Row], row: int, how: str) -> int:
    """The node whose value a name gets at a site, -1 for None, and -2 for what is not followed."""
    above = rows[row][1]
    parent: Any = rows[above][0]
    kind = parent.__class__
    if how in {"except", "match"}:
        return row
    if kind in _HOLDERS:
        return above
    if kind in _PARTS:
        while kind in _PARTS:
            above = rows[above][1]
            parent = rows[above][0]
            kind = parent.__class__
        is_written_out = kind is ast.Assign and parent.value.__class__ in _PARTS
        return _UNKNOWN if is_written_out else row
    value: Any = getattr(parent, "value", None)
    if value.__class__ is ast.Constant and value.value is None:
        return _NOTHING
    return _UNKNOWN if value is None or value.__class__ is ast.Name else value.row


def _add_annotated(names: Names, own: int, row: int) -> None:
    statement: Any = names.rows[names.rows[row][1]][0]
    if statement.__class__ is not ast.AnnAssign:
        return
    annotation = statement.annotation
    last = annotation.attr if annotation.__class__ is ast.Attribute else getattr(annotation, "id", None)
    owner = names.rows[row][2].row
    scope = names.scopes.bindings.scope[own]
    if last == "TypeAlias":
        if statement.value is not None:
            _alias(names, own, scope, statement.value)
        return
    text = names.write(annotation, scope)
    if text is not None:
        source = _class_around(names.rows, owner) if "Self" in text else _NOTHING
        names.hints.add(ANNOTATION, names.nodes[own], source, text)


def _add_type(names: Names, own: int, row: int) -> None:
    """A `type` statement, or a type parameter."""
    node: Any = names.rows[row][0]
    above: Any = names.rows[names.rows[row][1]][0]
    if _TYPE_ALIAS is not None and above.__class__ is _TYPE_ALIAS and node is above.name:
        _alias(names, own, names.scopes.bindings.scope[own], above.value)
    elif node.__class__ is not ast.Name:
        names.hints.add(TYPEVAR, names.variable(own), above.row, node.name)


def _add_alias(names: Names, own: int, found: list[tuple[int, str]]) -> None:
    """A name that stands for a type because it is assigned one, once."""
    name = names.scopes.bindings.name[own]
    if len(found) != 1 or found[0][1] != "assign" or not name.lstrip("_")[:1].isupper():
        return
    statement: Any = names.rows[names.rows[found[0][0]][1]][0]
    if statement.__class__ is not ast.Assign:
        return
    value = statement.value
    scope = names.scopes.bindings.scope[own]
    if value.__class__ is ast.Subscript or value.__class__ is ast.BinOp:
        _alias(names, own, scope, value)
    elif value.__class__ is ast.Call and value.args:
        called = value.func
        last = called.attr if called.__class__ is ast.Attribute else getattr(called, "id", None)
        if last in _VARIABLES:
            names.hints.add(TYPEVAR, names.variable(own), names.scopes.scopes.node[scope], name)
        elif last == "NewType" and len(value.args) > 1:
            _alias(names, own, scope, value.args[1])


def _alias(names: Names, own: int, scope: int, value: Any) -> None:
    text = names.write(value, scope)
    if text is not None:
        names.hints.add(ALIAS, names.variable(own), _NOTHING, text)
