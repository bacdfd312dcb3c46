"""What callers of a function have to know of it, and which changes of that break them.

Not here: which functions are public.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.cpg.questions.pieces import Function

_BY_PLACE, _EITHER, _REST, _BY_NAME, _NAMED_REST = "positional", "either", "*", "keyword", "**"
_PLACED = frozenset({_BY_PLACE, _EITHER})
_NAMED = frozenset({_EITHER, _BY_NAME})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter: how it is given, and what it is if it is not."""

    name: str
    how: str
    default: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The parameters that callers give, and whether they have to wait for the result."""

    parameters: tuple[Parameter, ...] = ()
    is_async: bool = False

    def of(self, how: str) -> Parameter | None:
        """The first parameter of this kind."""
        return next((each for each in self.parameters if each.how == how), None)


def words_of(node: ast.AST | None) -> str:
    """A tree as a text; three dots for one that is too deep to be read."""
    if node is None:
        return ""
    try:
        return ast.unparse(node)
    except RecursionError:
        return "..."


def text_of(function: Function) -> str:
    """The signature as a person reads it.

    >>> text_of(ast.parse("def f(a, /, b: int = 1, *, c) -> str: ...").body[0])
    '(a, /, b: int=1, *, c) -> str'
    """
    returns = f" -> {words_of(function.returns)}" if function.returns else ""
    waiting = "async " if isinstance(function, ast.AsyncFunctionDef) else ""
    return f"{waiting}({words_of(function.args)}){returns}"


def signature_of(function: Function, *, is_bound: bool) -> Signature:
    """What callers have to know; the object of a bound method is given by nobody."""
    given = tuple(_parameters(function.args))
    return Signature(
        parameters=given[1:] if is_bound and given and given[0].how in _PLACED else given,
        is_async=isinstance(function, ast.AsyncFunctionDef),
    )


def _parameters(args: ast.arguments) -> Iterator[Parameter]:
    placed = [*((each, _BY_PLACE) for each in args.posonlyargs), *((each, _EITHER) for each in args.args)]
    without = len(placed) - len(args.defaults)
    for number, (each, how) in enumerate(placed):
        default = words_of(args.defaults[number - without]) if number >= without else None
        yield Parameter(name=each.arg, how=how, default=default)
    if args.vararg:
        yield Parameter(name=args.vararg.arg, how=_REST)
    for each, value in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield Parameter(name=each.arg, how=_BY_NAME, default=None if value is None else words_of(value))
    if args.kwarg:
        yield Parameter(name=args.kwarg.arg, how=_NAMED_REST)


def breaks(before: Signature, after: Signature) -> list[str]:
    """Why calls that were right are wrong now; nothing if they are right."""
    found: list[str] = []
    if before.is_async != after.is_async:
        found.append("it has to be awaited" if after.is_async else "it can no longer be awaited")
    now = {each.name: each for each in after.parameters}
    then = {each.name: each for each in before.parameters}
    renamed = dict(_renamed(before, after))
    for old in before.parameters:
        new = now.get(old.name)
        if old.name in renamed:
            if old.how == _EITHER:
                found.append(f"{old.name} is called {renamed[old.name].name}")
            new = renamed[old.name]
        found += _lost(old, after) if new is None else _narrowed(old, new)
    places = {each.name for each in renamed.values()}
    found += [
        f"{each.name} is new and required"
        for each in after.parameters
        if each.name not in then
        and each.name not in places
        and each.how in _PLACED | _NAMED
        and each.default is None
    ]
    return found + _moved(before, after, {old: new.name for old, new in renamed.items()})


def eases(before: Signature, after: Signature) -> list[str]:
    """What else is different, and breaks no call."""
    then = {each.name: each for each in before.parameters}
    found: list[str] = []
    for each in after.parameters:
        old = then.get(each.name)
        if old is None:
            found += (
                [f"{each.name} is new"]
                if each.default is not None or each.how in {_REST, _NAMED_REST}
                else []
            )
        elif old.default is None and each.default is not None:
            found.append(f"{each.name} has a default")
        elif old.default != each.default and each.default is not None:
            found.append(f"the default of {each.name} was {old.default}, is {each.default}")
    return found


def _renamed(before: Signature, after: Signature) -> Iterator[tuple[str, Parameter]]:
    """Parameters that have another name at the same place, when neither name is used otherwise."""
    old_names, new_names = ({each.name for each in side.parameters} for side in (before, after))
    for old, new in zip(_placed(before), _placed(after), strict=False):
        if old.name not in new_names and new.name not in old_names:
            yield old.name, new


def _lost(old: Parameter, after: Signature) -> list[str]:
    """What is wrong with a parameter that is gone, unless others take what is given for it."""
    needs = {
        _BY_PLACE: (_REST,),
        _EITHER: (_REST, _NAMED_REST),
        _REST: (_REST,),
        _BY_NAME: (_NAMED_REST,),
        _NAMED_REST: (_NAMED_REST,),
    }[old.how]
    if all(after.of(each) is not None for each in needs):
        return []
    stars = old.how if old.how in {_REST, _NAMED_REST} else ""
    return [f"{stars}{old.name} is gone"]


def _narrowed(old: Parameter, new: Parameter) -> list[str]:
    """What can no longer be done with a parameter that is still there."""
    found: list[str] = []
    if (old.how in {_REST, _NAMED_REST} or new.how in {_REST, _NAMED_REST}) and old.how != new.how:
        return [f"{old.name} takes something else"]
    if old.how in _PLACED and new.how not in _PLACED:
        found.append(f"{new.name} can only be given by name")
    if old.how in _NAMED and new.how not in _NAMED:
        found.append(f"{new.name} can no longer be given by name")
    if old.default is not None and new.default is None:
        found.append(f"{new.name} is required")
    return found


def _moved(before: Signature, after: Signature, renamed: dict[str, str]) -> list[str]:
    """Parameters at another place than before, if nothing before them is gone."""
    places = {each.name: number for number, each in enumerate(_placed(after))}
    for number, old in enumerate(_placed(before)):
        place = places.get(renamed.get(old.name, old.name))
        if place is None:
            return []
        if place != number:
            return [f"{old.name} is at place {place + 1}, was at {number + 1}"]
    return []


def _placed(side: Signature) -> list[Parameter]:
    return [each for each in side.parameters if each.how in _PLACED]
