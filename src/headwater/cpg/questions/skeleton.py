"""What a source offers to those who import it, as far as one file tells: members, imports and `__all__`.

Not here: where imports lead, and what of it is public.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.questions.pieces import targets_of
from headwater.cpg.questions.signature import Parameter, Signature, signature_of, text_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headwater.cpg.questions.pieces import Function

_ALL = "__all__"
_WRITERS = frozenset({"setter", "deleter"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A class, function, method, property or variable: how it reads, and what its users have to know."""

    kind: str
    line: int
    text: str = ""
    signature: Signature | None = None
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """What a name stands for: something of a module, or a module where `name` is missing."""

    module: str
    level: int
    name: str | None
    line: int
    is_meant: bool


@dataclass(slots=True)
class Skeleton:
    """The members of a module by their names in it, what it imports, and what it says that it exports."""

    members: dict[str, Member] = field(default_factory=dict[str, Member])
    imports: dict[str, Import] = field(default_factory=dict[str, Import])
    stars: list[Import] = field(default_factory=list[Import])
    exported: list[str] | None = None


def skeleton_of(tree: ast.Module) -> Skeleton:
    """What a module offers."""
    found = Skeleton()
    for statement in _statements(tree.body):
        _take(found, statement)
    return found


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that are run when a block is, with those in conditions and the like."""
    waiting = list(body)[::-1]
    while waiting:
        each = waiting.pop()
        yield each
        inner: list[ast.stmt] = []
        match each:
            case ast.If(test=test, body=then, orelse=other):
                inner = [*([] if _is_main(test) else then), *other]
            case ast.Try(body=then, handlers=handlers, orelse=other, finalbody=last):
                inner = [*then, *(one for handler in handlers for one in handler.body), *other, *last]
            case ast.With(body=then):
                inner = then
            case _:
                pass
        waiting.extend(reversed(inner))


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _take(found: Skeleton, statement: ast.stmt) -> None:
    match statement:
        case ast.Import(names=names):
            for each in names:
                name = each.asname or each.name.partition(".")[0]
                module = each.name if each.asname else name
                meant = each.asname == each.name
                found.imports[name] = Import(
                    module=module, level=0, name=None, line=statement.lineno, is_meant=meant
                )
        case ast.ImportFrom(module=module, names=names, level=level):
            for each in names:
                meant = each.asname == each.name
                told = Import(
                    module=module or "", level=level, name=each.name, line=statement.lineno, is_meant=meant
                )
                if each.name == "*":
                    found.stars.append(told)
                else:
                    found.imports[each.asname or each.name] = told
        case _ if any(each.id == _ALL for each in targets_of(statement)):
            _export(found, statement)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="__all__")))):
            _export(found, statement)
        case _:
            _define(found.members, statement, "")


def _export(found: Skeleton, statement: ast.stmt) -> None:
    """Names of a list that is written out; others of it are not known."""
    names = [
        each.value
        for each in ast.walk(statement)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        found.exported = names
    else:
        found.exported = [*(found.exported or []), *names]


def _define(members: dict[str, Member], statement: ast.stmt, owner: str) -> None:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            name = owner + statement.name
            if not _is_writer(statement):
                members[name] = _function(statement, is_inside=bool(owner))
        case ast.ClassDef():
            name = owner + statement.name
            bases = tuple(words_of(each) for each in statement.bases)
            heading = ", ".join((*bases, *(words_of(each) for each in statement.keywords)))
            members[name] = Member(
                kind="class", line=statement.lineno, text=f"({heading})" if heading else "", bases=bases
            )
            for each in _statements(statement.body):
                _define(members, each, f"{name}.")
            _add_fields(members, statement, name)
        case _:
            for target in targets_of(statement):
                annotation = statement.annotation if isinstance(statement, ast.AnnAssign) else None
                text = f": {words_of(annotation)}" if annotation else ""
                members.setdefault(
                    owner + target.id, Member(kind="variable", line=statement.lineno, text=text)
                )


def _function(function: Function, *, is_inside: bool) -> Member:
    names = {_last(each) for each in function.decorator_list}
    kind = "method" if is_inside else "function"
    if is_inside and (names & {"property", "cached_property"}):
        returns = f" -> {words_of(function.returns)}" if function.returns else ""
        return Member(kind="property", line=function.lineno, text=returns)
    if is_inside:
        kind = (
            "static method" if "staticmethod" in names else "class method" if "classmethod" in names else kind
        )
    is_bound = is_inside and kind != "static method"
    return Member(
        kind=kind,
        line=function.lineno,
        text=text_of(function),
        signature=signature_of(function, is_bound=is_bound),
    )


def _is_writer(function: Function) -> bool:
    return any(
        isinstance(each, ast.Attribute) and each.attr in _WRITERS and _last(each.value) == function.name
        for each in function.decorator_list
    )


def _last(node: ast.expr) -> str:
    """The last name of a decorator, called or not."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _add_fields(members: dict[str, Member], statement: ast.ClassDef, name: str) -> None:
    """The `__init__` that a dataclass has without writing it; fields of its bases are not in it."""
    marks = [each for each in statement.decorator_list if _last(each) == "dataclass"]
    if not marks or f"{name}.__init__" in members:
        return
    keywords = {
        each.arg: each.value for mark in marks if isinstance(mark, ast.Call) for each in mark.keywords
    }
    by_name = words_of(keywords.get("kw_only")) == "True"
    parameters: list[Parameter] = []
    for each in statement.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        annotation = words_of(each.annotation)
        if annotation.rpartition(".")[2] == "KW_ONLY":
            by_name = True
        elif "ClassVar" not in annotation and _is_given(each.value):
            how = "keyword" if by_name else "either"
            parameters.append(Parameter(name=each.target.id, how=how, default=_default(each.value)))
    shown = [
        each.name if each.default is None else f"{each.name}={each.default}"
        for each in sorted(parameters, key=lambda each: each.how == "keyword")
    ]
    if any(each.how == "keyword" for each in parameters):
        shown.insert(sum(each.how == "either" for each in parameters), "*")
    members[f"{name}.__init__"] = Member(
        kind="method",
        line=statement.lineno,
        text=f"({', '.join(('self', *shown))})",
        signature=Signature(parameters=tuple(parameters)),
    )


def _is_given(value: ast.expr | None) -> bool:
    """Whether a field is a parameter at all."""
    if not isinstance(value, ast.Call) or _last(value) != "field":
        return True
    return all(words_of(each.value) != "False" for each in value.keywords if each.arg == "init")


def _default(value: ast.expr | None) -> str | None:
    """What a field is if it is not given; nothing if it must be."""
    if isinstance(value, ast.Call) and _last(value) == "field":
        told = {each.arg: each.value for each in value.keywords}
        value = told.get("default", told.get("default_factory"))
    return None if value is None else words_of(value)
