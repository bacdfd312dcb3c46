"""What values can be: functions, classes, instances and the rest, each known by one int.

Not here: which variables have them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = (
    "function",  # of: its variable
    "class",  # of: its variable
    "instance",  # of: the class's variable; to: nothing, DECLARED or BELOW
    "module",  # of: its file's index
    "namespace",  # of: the place of the folder
    "bound",  # of: a function; to: what it is bound to
    "container",  # of: the variable where it is made; to: list, tuple, set, dict, iterator …
    "const",  # of: its type; to: its key
    "typed",  # of: the builtin type that it is an instance of
    "builtin",  # of: the name of a builtin function or type
    "method",  # of: a builtin type and the name of its method; to: what it is bound to
    "external",  # of: a dotted name
    "made",  # of: the dotted name of the class outside that it is an instance of
    "generator",  # of: the function's variable
    "coroutine",  # of: the function's variable
    "partial",  # of: the variable of the call that made it
    "super",  # of: the class's variable; to: what the attributes are bound to
    "property",  # of: its getter
    "classmethod",  # of: what it wraps
    "staticmethod",  # of: what it wraps
    "context",  # of: the generator function of a context manager
    "entered",  # of: the same, called
    "dispatch",  # of: the variable of the call that made it
    "family",  # of: how the names of methods begin; to: the instance or class that has them
)
(
    FUNCTION,
    CLASS,
    INSTANCE,
    MODULE,
    NAMESPACE,
    BOUND,
    CONTAINER,
    CONST,
    TYPED,
    BUILTIN,
    METHOD,
    EXTERNAL,
    MADE,
    GENERATOR,
    COROUTINE,
    PARTIAL,
    SUPER,
    PROPERTY,
    CLASSMETHOD,
    STATICMETHOD,
    CONTEXT,
    ENTERED,
    DISPATCH,
    FAMILY,
) = range(len(KINDS))
UNBOUND = -1
# Instances that nobody was seen to make: an annotation, or the class of a method, says that there are some.
# They may be of any class below, too. One that is BELOW is but possible beside what is known.
DECLARED, BELOW = "declared", "below"


@dataclass(slots=True)
class Objects:
    """All objects so far: entry `i` of each list belongs to object `i`."""

    kind: list[int] = field(default_factory=list[int])
    of: list[Any] = field(default_factory=list[Any])
    to: list[Any] = field(default_factory=list[Any])
    known: dict[tuple[int, Any, Any], int] = field(default_factory=dict["tuple[int, Any, Any]", int])

    def get(self, kind: int, of: Any, to: Any = None) -> int:
        """The object of a kind that is made of these."""
        key = (kind, of, to)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.kind)
            self.kind.append(kind)
            self.of.append(of)
            self.to.append(to)
        return found


@dataclass(slots=True, eq=False)
class Parameter:
    """A parameter of a function: the variable that it is, and its kind as facts tell it."""

    variable: int
    kind: str
    name: str


@dataclass(slots=True, eq=False)
class Function:
    """A function, told by its variable; `passed` are parameters that it gives back as they are.

    `around` is the variable of the def around it, `owner` that of the class whose method it is. `returned`
    and `yielded` are variables, and so is `raw`: the function itself, before decorators had their turn.
    """

    variable: int
    name: str
    around: int
    raw: int
    returned: int
    yielded: int
    is_async: bool = False
    is_lambda: bool = False
    is_generator: bool = False
    owner: int | None = None
    positional: list[Parameter] = field(default_factory=list[Parameter])
    named: dict[str, Parameter] = field(default_factory=dict[str, Parameter])
    rest: Parameter | None = None
    keywords: Parameter | None = None
    defaults: dict[int, int] = field(default_factory=dict[int, int])
    passed: dict[int, None] = field(default_factory=dict[int, None])


@dataclass(slots=True, eq=False)
class Class:
    """A class, told by its variable: what bases and members it has, and how attributes are looked up."""

    variable: int
    name: str
    around: int
    file: int
    bases: list[int] = field(default_factory=list[int])  # variables, as they are written
    metaclasses: list[int] = field(default_factory=list[int])
    members: dict[str, int] = field(default_factory=dict[str, int])
    order: Sequence[int] = ()  # objects: classes, builtins and what is external
    fields: list[str] = field(default_factory=list[str])


@dataclass(slots=True, eq=False)
class Call:
    """A call, written or implied: who makes it, with what, and what it may reach.

    `positional` are variables with the nodes of the arguments, `named` the same by keyword, `stars` and
    `mappings` what is unpacked. `targets` has for each object that may be reached how it was found.
    """

    file: int
    site: int
    caller: int
    dispatch: str
    callee: int
    result: int
    positional: list[int] = field(default_factory=list[int])
    named: Sequence[tuple[str, int]] = ()
    stars: Sequence[tuple[int, int]] = ()
    mappings: Sequence[int] = ()
    targets: dict[int, str] = field(default_factory=dict[int, str])
    bound: dict[tuple[int, int], None] = field(default_factory=dict["tuple[int, int]", None])
    slot: str = ""
