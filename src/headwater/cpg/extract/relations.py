"""What nodes have to do with each other by syntax alone: calls, their arguments, classes, imports, relations.

A relation is an edge of the graph that needs no second look at names:

    ARGUMENT        a call and each of its arguments, in order; the label is the keyword, `*` or `**`
    RECEIVER        a call and what stands before the dot
    DECORATES       a decorator and the def below it, from the topmost on
    RAISES          a def and what it raises: the name or attribute of the exception, called or not
    CATCHES         a handler and each class that it names
    AWAITS, YIELDS  an `await` or `yield` and its value
    ANNOTATED_WITH  a parameter, a target or a function (label `return`) and its annotation

Not here: what a name means, and which function a call reaches.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, cast

from headwater.cpg.extract.walk import row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.extract.walk import Row

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_TYPE_CHECKING = "TYPE_CHECKING"
_LONGEST_TEXT = 200
_STAR, _STARS = "*", "**"


@dataclass(frozen=True, slots=True)
class CallColumns:
    """One entry per call: its node, and what it looks like. `receiver` is what stands before the dot."""

    node: list[int] = field(default_factory=list[int])
    callee: list[int] = field(default_factory=list[int])
    receiver: list[int | None] = field(default_factory=list["int | None"])
    callee_text: list[str | None] = field(default_factory=list["str | None"])
    dispatch: list[str] = field(default_factory=list[str])
    arg_count: list[int] = field(default_factory=list[int])
    has_star: list[bool] = field(default_factory=list[bool])
    has_kwstar: list[bool] = field(default_factory=list[bool])


@dataclass(frozen=True, slots=True)
class ArgumentColumns:
    """One entry per argument; `call` is the index of its call, `star` is `*` or `**` where it is unpacked."""

    call: list[int] = field(default_factory=list[int])
    idx: list[int] = field(default_factory=list[int])
    node: list[int] = field(default_factory=list[int])
    keyword: list[str | None] = field(default_factory=list["str | None"])
    star: list[str | None] = field(default_factory=list["str | None"])


@dataclass(frozen=True, slots=True)
class ClassColumns:
    """One entry per class and base, and one without a base for a class that has none.

    The flags go by what is written: a decorator or base of that name.
    """

    node: list[int] = field(default_factory=list[int])
    base_idx: list[int | None] = field(default_factory=list["int | None"])
    base: list[int | None] = field(default_factory=list["int | None"])
    base_text: list[str | None] = field(default_factory=list["str | None"])
    metaclass: list[str | None] = field(default_factory=list["str | None"])
    is_dataclass: list[bool] = field(default_factory=list[bool])
    is_protocol: list[bool] = field(default_factory=list[bool])
    is_enum: list[bool] = field(default_factory=list[bool])
    is_abstract: list[bool] = field(default_factory=list[bool])


@dataclass(frozen=True, slots=True)
class ImportColumns:
    """One entry per imported name: `import a.b` has a module, `from a import b` a module and a name.

    `is_lazy`: inside a function. `is_conditional`: below an `if`, `try` or `match` of its def.
    """

    node: list[int] = field(default_factory=list[int])
    kind: list[str] = field(default_factory=list[str])
    module: list[str | None] = field(default_factory=list["str | None"])
    name: list[str | None] = field(default_factory=list["str | None"])
    asname: list[str | None] = field(default_factory=list["str | None"])
    level: list[int] = field(default_factory=list[int])
    is_type_checking: list[bool] = field(default_factory=list[bool])
    is_conditional: list[bool] = field(default_factory=list[bool])
    is_lazy: list[bool] = field(default_factory=list[bool])


@dataclass(frozen=True, slots=True)
class RelationColumns:
    """One entry per edge from a node to a node."""

    kind: list[str] = field(default_factory=list[str])
    src: list[int] = field(default_factory=list[int])
    dst: list[int] = field(default_factory=list[int])
    label: list[str | None] = field(default_factory=list["str | None"])
    ordinal: list[int | None] = field(default_factory=list["int | None"])

    def add(
        self, kind: str, src: int, dst: int, label: str | None = None, ordinal: int | None = None
    ) -> None:
        """One more."""
        self.kind.append(kind)
        self.src.append(src)
        self.dst.append(dst)
        self.label.append(label)
        self.ordinal.append(ordinal)


@dataclass(frozen=True, slots=True)
class RelationEvidence:
    """All of it."""

    calls: CallColumns = field(default_factory=CallColumns)
    arguments: ArgumentColumns = field(default_factory=ArgumentColumns)
    classes: ClassColumns = field(default_factory=ClassColumns)
    imports: ImportColumns = field(default_factory=ImportColumns)
    relations: RelationColumns = field(default_factory=RelationColumns)


@dataclass(slots=True)
class _Finding:
    rows: Sequence[Row]
    found: RelationEvidence


def find_relations(rows: Sequence[Row]) -> RelationEvidence:
    """What the syntax of a walked file says of calls, classes, imports and the like."""
    finding = _Finding(rows, RelationEvidence())
    finders = _FINDERS
    for row, entry in enumerate(rows):
        node = entry[0]
        find = finders.get(node.__class__)
        if find is not None:
            find(finding, row, node)
    return finding.found


def written(node: ast.AST) -> str | None:
    """A name with its dots, as people write it; calls and subscripts inside are `()` and `[]`."""
    parts: list[str] = []
    while True:
        match node:
            case ast.Attribute():
                parts.append(f".{node.attr}")
                node = node.value
            case ast.Call():
                parts.append("()")
                node = node.func
            case ast.Subscript():
                parts.append("[]")
                node = node.value
            case ast.Name():
                return "".join([node.id, *reversed(parts)])[:_LONGEST_TEXT]
            case _:
                return "".join(["…", *reversed(parts)])[:_LONGEST_TEXT] if parts else None


def _call(finding: _Finding, row: int, node: ast.AST) -> None:
    call, found = cast("ast.Call", node), finding.found
    calls, relations, arguments = found.calls, found.relations, found.arguments
    function = call.func
    receiver = row_of(function.value) if isinstance(function, ast.Attribute) else None
    if receiver is not None:
        relations.add("RECEIVER", row, receiver)
    number = len(calls.node)
    has_star = has_stars = False
    for index, each in enumerate([*call.args, *call.keywords]):
        keyword = star = None
        if isinstance(each, ast.keyword):
            keyword, star = each.arg, None if each.arg else _STARS
            has_stars = has_stars or star is not None
        elif isinstance(each, ast.Starred):
            star, has_star = _STAR, True
        place = row_of(each)
        relations.add("ARGUMENT", row, place, keyword or star, index)
        arguments.call.append(number)
        arguments.idx.append(index)
        arguments.node.append(place)
        arguments.keyword.append(keyword)
        arguments.star.append(star)
    calls.node.append(row)
    calls.callee.append(row_of(function))
    calls.receiver.append(receiver)
    calls.callee_text.append(written(function))
    calls.dispatch.append(_dispatch(function))
    calls.arg_count.append(len(call.args) + len(call.keywords))
    calls.has_star.append(has_star)
    calls.has_kwstar.append(has_stars)


def _dispatch(function: ast.expr) -> str:
    """How a call finds its function, as far as it can be seen."""
    match function:
        case ast.Name():
            return "direct"
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return "super"
        case ast.Attribute():
            return "method"
        case _:
            return "dynamic"


def _definition(finding: _Finding, row: int, node: ast.AST) -> None:
    definition, relations = cast("Definition", node), finding.found.relations
    for index, each in enumerate(definition.decorator_list):
        relations.add("DECORATES", row_of(each), row, None, index)
    if not isinstance(definition, ast.ClassDef) and definition.returns is not None:
        relations.add("ANNOTATED_WITH", row, row_of(definition.returns), "return")


def _class(finding: _Finding, row: int, node: ast.AST) -> None:
    _definition(finding, row, node)
    definition, classes = cast("ast.ClassDef", node), finding.found.classes
    decorators = {_last(each) for each in definition.decorator_list}
    names = {_last(each) for each in definition.bases}
    metaclass = next((written(each.value) for each in definition.keywords if each.arg == "metaclass"), None)
    is_abstract = "ABC" in names or (metaclass or "").rpartition(".")[2] == "ABCMeta"
    for index, base in enumerate(definition.bases or [None]):
        classes.node.append(row)
        classes.base_idx.append(None if base is None else index)
        classes.base.append(None if base is None else row_of(base))
        classes.base_text.append(None if base is None else written(base))
        classes.metaclass.append(metaclass)
        classes.is_dataclass.append("dataclass" in decorators)
        classes.is_protocol.append("Protocol" in names)
        classes.is_enum.append(bool(names & {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}))
        classes.is_abstract.append(is_abstract)


def _last(node: ast.expr) -> str | None:
    """The last name of what is called, subscripted or looked up."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def _import(finding: _Finding, row: int, node: ast.AST) -> None:
    statement, imports = cast("ast.Import | ast.ImportFrom", node), finding.found.imports
    is_from = isinstance(statement, ast.ImportFrom)
    flags = _circumstances(finding.rows, row)
    for each in statement.names:
        is_star = is_from and each.name == _STAR
        imports.node.append(row_of(each))
        imports.kind.append("star" if is_star else "from" if is_from else "import")
        imports.module.append(statement.module if is_from else each.name)
        imports.name.append(each.name if is_from and not is_star else None)
        imports.asname.append(each.asname)
        imports.level.append(statement.level if is_from else 0)
        for column, flag in zip(
            (imports.is_type_checking, imports.is_conditional, imports.is_lazy), flags, strict=True
        ):
            column.append(flag)


def _circumstances(rows: Sequence[Row], row: int) -> tuple[bool, bool, bool]:
    """Whether a statement is for type checkers alone, is run on a condition, is inside a function."""
    is_checking = is_conditional = is_lazy = False
    while row > 1:
        _, parent, _, role, _, _ = rows[row]
        node = rows[parent][0]
        if isinstance(node, ast.If) and role == "body" and _last(node.test) == _TYPE_CHECKING:
            is_checking = True
        elif isinstance(node, ast.If | ast.Try | ast.TryStar | ast.match_case) and not is_lazy:
            is_conditional = True
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_lazy = True
        row = parent
    return is_checking, is_conditional, is_lazy


def _raise(finding: _Finding, row: int, node: ast.AST) -> None:
    raised = cast("ast.Raise", node).exc
    if raised is None:
        return
    raised = raised.func if isinstance(raised, ast.Call) else raised
    finding.found.relations.add("RAISES", finding.rows[row][2].row, row_of(raised))


def _handler(finding: _Finding, row: int, node: ast.AST) -> None:
    caught = cast("ast.ExceptHandler", node).type
    for index, each in enumerate(caught.elts if isinstance(caught, ast.Tuple) else [caught]):
        if each is not None:
            finding.found.relations.add("CATCHES", row, row_of(each), None, index)


def _await(finding: _Finding, row: int, node: ast.AST) -> None:
    finding.found.relations.add("AWAITS", row, row_of(cast("ast.Await", node).value))


def _yield(finding: _Finding, row: int, node: ast.AST) -> None:
    value = cast("ast.Yield | ast.YieldFrom", node).value
    if value is not None:
        label = "from" if isinstance(node, ast.YieldFrom) else None
        finding.found.relations.add("YIELDS", row, row_of(value), label)


def _parameter(finding: _Finding, row: int, node: ast.AST) -> None:
    annotation = cast("ast.arg", node).annotation
    if annotation is not None:
        finding.found.relations.add("ANNOTATED_WITH", row, row_of(annotation))


def _annotated(finding: _Finding, row: int, node: ast.AST) -> None:
    del row
    statement = cast("ast.AnnAssign", node)
    finding.found.relations.add("ANNOTATED_WITH", row_of(statement.target), row_of(statement.annotation))


_FINDERS: dict[type[ast.AST], Callable[[_Finding, int, ast.AST], None]] = {
    ast.Call: _call,
    ast.FunctionDef: _definition,
    ast.AsyncFunctionDef: _definition,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Raise: _raise,
    ast.ExceptHandler: _handler,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.arg: _parameter,
    ast.AnnAssign: _annotated,
}
