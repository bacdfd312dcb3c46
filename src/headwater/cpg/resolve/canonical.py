"""Types in one canonical form: what is the same type is the same text, and the text reads as the type again.

Names are full: builtins as they are, all others with their module. A union is flat and sorted, has each
member once and None last; `Optional` is a union with None, aliases of `typing` are what they stand for, and
`Annotated`, `Final` and the like are what is in them. Literals are sorted, and those of a union are one.
Not here: what names of a file mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from headwater.cpg.extract.hints.terms import ELLIPSIS, EMPTY, LIST, STAR, STARS, UNION, Term, parse_term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Form: TypeAlias = Literal[
    "class", "union", "callable", "tuple", "typevar", "literal", "any", "none", "module", "generic", "unknown"
]
_PLAIN = re.compile(r"[^\W\d][\w.$-]*(?:\(\+\d+\)[\w.$-]*)*")
_MODULE, _TYPEVAR = "module", "~"
_NEVER = "typing.Never"
# What stands for another name, and what stands for what is in its brackets.
ALIASES = {
    **{f"typing.{name}": name.lower() for name in ("List", "Dict", "Set", "FrozenSet", "Tuple", "Type")},
    "typing.Text": "str",
    "typing.LiteralString": "str",
    "typing.NoReturn": _NEVER,
    "typing.Any": "Any",
    "typing.Callable": "Callable",
    "collections.abc.Callable": "Callable",
    "typing.Literal": "Literal",
    "typing.AnyStr": "~typing.AnyStr",
    "typing.DefaultDict": "collections.defaultdict",
    "typing.Deque": "collections.deque",
    "typing.AbstractSet": "collections.abc.Set",
    "typing.ContextManager": "contextlib.AbstractContextManager",
    "typing.AsyncContextManager": "contextlib.AbstractAsyncContextManager",
    "types.NoneType": "None",
    "types.FunctionType": "Callable",
    **{f"typing.{name}": f"collections.{name}" for name in ("OrderedDict", "Counter", "ChainMap")},
    **{f"typing.{name}": f"re.{name}" for name in ("Pattern", "Match")},
    **{
        f"typing.{name}": f"collections.abc.{name}"
        for name in (
            *("AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable", "ByteString", "Collection"),
            *("Container", "Coroutine", "Generator", "Hashable", "ItemsView", "Iterable", "Iterator"),
            *("KeysView", "Mapping", "MappingView", "MutableMapping", "MutableSequence", "MutableSet"),
            *("Reversible", "Sequence", "Sized", "ValuesView"),
        )
    },
}
_INSIDE = frozenset(
    {f"typing.{name}" for name in ("Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly")}
    | {"dataclasses.InitVar"}
)
_TRUTHS = frozenset({"typing.TypeGuard", "typing.TypeIs"})


@dataclass(frozen=True, slots=True)
class Type:
    """A type: equal texts are equal types.

    `name` is that of a class, generic, type variable, module or of what is unknown; `args` are its arguments,
    the members of a union, the items of a tuple, or the parameters of a callable and at last what it returns.
    `told` are arguments as texts: among them may be `...`, literals, and types with stars before them.
    """

    text: str
    form: Form = field(compare=False)
    name: str = field(default="", compare=False)
    args: tuple[Type, ...] = field(default=(), compare=False)
    told: tuple[str, ...] = field(default=(), compare=False)


ANY, NONE, UNKNOWN = Type("Any", "any"), Type("None", "none"), Type("Unknown", "unknown")


def class_type(name: str) -> Type:
    """The type of instances of a class."""
    return Type(name, "class", name)


def class_of(type_: Type) -> Type:
    """The type of a class itself."""
    return Type(f"type[{type_.text}]", "generic", "type", (type_,), (type_.text,))


def module_type(name: str) -> Type:
    """The type of a module."""
    return Type(f"{_MODULE}[{name}]", "module", name)


def union_of(members: Iterable[Type]) -> Type:
    """The union of types, which is one of them if there are no others."""
    flat: dict[str, Type] = {}
    literals: set[str] = set()
    for each in members:
        for inner in each.args if each.form == "union" else (each,):
            if inner.form == "literal":
                literals.update(inner.told)
            else:
                flat[inner.text] = inner
    if literals:
        made = _literal(literals)
        flat[made.text] = made
    found = sorted(flat.values(), key=lambda each: (each.form == "none", each.text))
    if len(found) == 1:
        return found[0]
    told = tuple(each.text for each in found)
    return Type(" | ".join(told), "union", "", tuple(found), told)


def quoted_name(name: str) -> str:
    """A dotted name as types have it: between backticks if it is no plain one."""
    return name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"


def parse_type(text: str) -> Type:
    """The type of a canonical text.

    >>> parse_type("typing.Optional[typing.List[int]]").text
    'list[int] | None'

    Raises:
        NotAType: it is no type.
    """
    return build_type(parse_term(text))


def build_type(term: Term) -> Type:
    """The type of a term whose names are full."""
    head, args = ALIASES.get(term.head, term.head), term.args
    if term.is_literal:
        return UNKNOWN
    if head == UNION or (head == "typing.Union" and args):
        return union_of(build_type(each) for each in args)
    if head == "typing.Optional" and args:
        return union_of([build_type(args[0]), NONE])
    if head in _INSIDE:
        return build_type(args[0]) if args else UNKNOWN
    if head in _TRUTHS:
        return class_type("bool")
    if head in {STAR, STARS}:
        return _spread(head, build_type(args[0]))
    if head in _SPECIAL:
        return _SPECIAL[head](args)
    if head.startswith(_TYPEVAR):
        return Type(head, "typevar", head[1:])
    return _named(head, args)


def _spread(head: str, inner: Type) -> Type:
    """What a parameter with stars before it has: a tuple, or a dict by names."""
    if head == STAR:
        return Type(f"tuple[{inner.text}, ...]", "tuple", "tuple", (inner,), (inner.text, ELLIPSIS))
    return _named("dict", (parse_term("str"), parse_term(inner.text)))


def _named(name: str, args: tuple[Term, ...]) -> Type:
    if name in {LIST, ELLIPSIS, EMPTY}:
        return UNKNOWN
    if not args:
        return class_type(name)
    made, told = _arguments(args)
    return Type(f"{name}[{', '.join(told)}]", "generic", name, made, told)


def _arguments(args: Iterable[Term]) -> tuple[tuple[Type, ...], tuple[str, ...]]:
    """The types among arguments, and all arguments as texts."""
    made: list[Type] = []
    told: list[str] = []
    for each in args:
        if each.head == ELLIPSIS:
            told.append(ELLIPSIS)
        elif each.head == LIST:
            inner, texts = _arguments(each.args)
            made += inner
            told.append(f"[{', '.join(texts)}]")
        elif each.head in {STAR, STARS, "typing.Unpack"} and each.args:
            inner_type = build_type(each.args[0])
            made.append(inner_type)
            told.append(f"{STARS if each.head == STARS else STAR}{inner_type.text}")
        else:
            made.append(build_type(each))
            told.append(made[-1].text)
    return tuple(made), tuple(told)


def _callable(args: tuple[Term, ...]) -> Type:
    """A callable: of one with a ParamSpec for parameters, that stands behind two stars."""
    if len(args) != 2:  # noqa: PLR2004  parameters, and what is returned
        return Type("Callable", "callable")
    given, returned = args
    if given.head == "typing.Concatenate":
        given = Term(LIST, (*given.args[:-1], *(Term(STARS, (each,)) for each in given.args[-1:])))
    elif given.head not in {LIST, ELLIPSIS}:
        given = Term(LIST, (Term(STARS, (given,)),))
    inner, told = _arguments(given.args if given.head == LIST else (given,))
    last = build_type(returned)
    shown = ELLIPSIS if given.head == ELLIPSIS else f"[{', '.join(told)}]"
    return Type(f"Callable[{shown}, {last.text}]", "callable", args=(*inner, last), told=(*told, last.text))


def _tuple(args: tuple[Term, ...]) -> Type:
    if not args:
        return class_type("tuple")
    if args[0].head == EMPTY:
        return Type("tuple[()]", "tuple", "tuple")
    made, told = _arguments(args)
    return Type(f"tuple[{', '.join(told)}]", "tuple", "tuple", made, told)


def _literals(args: tuple[Term, ...]) -> Type:
    texts = {each.head for each in args}
    rest = texts - {"None"}
    members = [_literal(rest)] if rest else []
    return union_of([*members, NONE] if len(rest) < len(texts) else members) if texts else UNKNOWN


def _literal(texts: Iterable[str]) -> Type:
    told = tuple(sorted(texts))
    return Type(f"Literal[{', '.join(told)}]", "literal", "", (), told)


def unknown_type(name: str) -> Type:
    """The type that a name stands for that nobody knows."""
    return Type(f"Unknown[{name}]", "unknown", name)


_SPECIAL: dict[str, Callable[[tuple[Term, ...]], Type]] = {
    "Any": lambda _: ANY,
    "None": lambda _: NONE,
    "Unknown": lambda args: unknown_type(args[0].head) if args else UNKNOWN,
    _MODULE: lambda args: module_type(args[0].head) if args else class_type("types.ModuleType"),
    "Callable": _callable,
    "tuple": _tuple,
    "Literal": _literals,
}
