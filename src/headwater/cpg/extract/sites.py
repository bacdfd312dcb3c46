"""What a pass over a module finds: its scopes, their names, and the sites of each name.

Not here: the pass itself, and which binding of another scope a name stands for.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

# What a site is: one number, of which ROLES and DEF_KINDS tell the two columns.
USE, ASSIGN, AUG, ANN, PARAM, IMPORT, FOR, WITH = range(8)
EXCEPT, WALRUS, MATCH, CLASS, FUNCTION, COMP, TYPE = range(8, 15)
DEL, ANNOTATE, DECLARE = range(15, 18)
ROLES = ("use", *["def"] * 14, "del", "annotate", "declare")
DEF_KINDS = (
    *(None, "assign", "aug", "ann", "param", "import", "for", "with", "except", "walrus", "match", "class"),
    *("function", "comp", "type", "del", None, None),
)

# What is known of a binding in its scope: flags, of which a site sets those that FLAGS has for its code.
IS_DEFINED, IS_IMPORTED, IS_PARAMETER, IS_TOUCHED = 1, 2, 4, 8
IS_GLOBAL, IS_NONLOCAL, IS_LENT = 16, 32, 64
IS_BOUND = IS_DEFINED | IS_IMPORTED | IS_PARAMETER | IS_TOUCHED
_OTHER_FLAGS = {
    USE: 0,
    DECLARE: 0,
    PARAM: IS_PARAMETER,
    IMPORT: IS_IMPORTED,
    DEL: IS_TOUCHED,
    ANNOTATE: IS_TOUCHED,
}
FLAGS = tuple(_OTHER_FLAGS.get(code, IS_DEFINED) for code in range(len(ROLES)))

# Scopes that see the names of a class around them.
_LATE = frozenset({"type_params", "type_alias", "annotation"})


@dataclass(frozen=True, slots=True)
class Receiver:
    """The first parameter of a method: its name, its binding, and the scope of the class."""

    name: str
    owner: Scope
    binding: int


class Names(dict[str, int]):
    """The bindings of one scope by the name that Python knows; a name that is not there yet becomes one.

    While a module is walked, a name that Python mangles is there as it is written, too.
    """

    __slots__ = ("private", "scope", "sites")

    def __init__(self, scope: int, private: str, sites: Sites) -> None:
        super().__init__()
        self.scope = scope
        self.private = private
        self.sites = sites

    def __missing__(self, name: str) -> int:
        sites = self.sites
        known = mangle(name, self.private)
        if known is not name:
            sites.spellings.append((self, name))
            if known in self:
                found = self[name] = self[known]
                sites.mangled[found] = known
                return found
            sites.mangled[len(sites.names)] = known
        found = self[known] = self.add(name)
        return found

    def add(self, name: str) -> int:
        """A new binding with a name that is as Python knows it."""
        sites = self.sites
        found = self[name] = len(sites.names)
        sites.names.append(name)
        sites.scopes_of.append(self.scope)
        sites.flags.append(0)
        return found


@dataclass(slots=True, eq=False)
class Scope:
    """A scope: where it is, its names, and the nodes to begin with in it."""

    node: ast.AST
    kind: str
    parent: Scope | None
    qualpath: str
    roots: list[Any]
    index: int = -1
    receiver: Receiver | None = None
    is_apart: bool = False  # of annotations that Python never evaluates
    names: Names = field(init=False)
    ordinals: dict[str, int] = field(default_factory=dict[str, int])
    # The nearest scope around it whose names it sees, and the class around it, if it sees that one's.
    outer: Scope | None = field(init=False, default=None)
    seen_class: Scope | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        parent = self.parent
        if parent is not None:
            self.outer = parent.outer if parent.kind in {"module", "class"} else parent
            if self.kind in _LATE:
                self.seen_class = parent if parent.kind == "class" else parent.seen_class


@dataclass(slots=True)
class Sites:
    """What the pass has found so far, and where it is.

    `names`, `scopes_of` and `flags` have one entry per binding, `bindings`, `nodes` and `codes` one per site.
    `attributes` are those of names that may be a receiver: the receiver, the name's binding, node and code.
    """

    never_evaluates_annotations: bool
    scopes: list[Scope] = field(default_factory=list[Scope])
    names: list[str] = field(default_factory=list[str])
    scopes_of: list[int] = field(default_factory=list[int])
    flags: list[int] = field(default_factory=list[int])
    mangled: dict[int, str] = field(default_factory=dict[int, str])
    spellings: list[tuple[Names, str]] = field(default_factory=list["tuple[Names, str]"])
    bindings: list[int] = field(default_factory=list[int])
    nodes: list[ast.AST] = field(default_factory=list[ast.AST])
    codes: list[int] = field(default_factory=list[int])
    attributes: list[tuple[Receiver, int, ast.Attribute, int]] = field(
        default_factory=list["tuple[Receiver, int, ast.Attribute, int]"]
    )
    has_star: bool = False
    scope: Scope = field(init=False)
    stack: list[Any] = field(default_factory=list[Any])
    children: list[Scope] = field(default_factory=list[Scope])

    def add(self, name: str, node: ast.AST, code: int) -> int:
        """Note a site of a name in the scope at hand; the name's binding comes back."""
        binding = self.scope.names[name]
        self.flags[binding] |= FLAGS[code]
        self.bindings.append(binding)
        self.nodes.append(node)
        self.codes.append(code)
        return binding

    def add_attribute(self, node: ast.Attribute, code: int) -> None:
        """Note what may be an attribute of an instance, and go on with what it is of."""
        value = node.value
        if not isinstance(value, ast.Name):
            self.stack.append(value)
            return
        binding = self.add(value.id, value, USE)
        receiver = self.scope.receiver
        if receiver is not None and receiver.name == value.id:
            self.attributes.append((receiver, binding, node, code))

    def add_target(self, target: ast.expr, code: int) -> None:
        """Note the names and attributes of a target, and go on with what else is in it."""
        todo: list[ast.expr] = [target]
        while todo:
            each = todo.pop()
            match each:
                case ast.Name():
                    self.add(each.id, each, code)
                case ast.Attribute():
                    self.add_attribute(each, code)
                case ast.Tuple() | ast.List():
                    todo.extend(reversed(each.elts))
                case ast.Starred():
                    todo.append(each.value)
                case _:
                    self.stack.append(each)

    def let_go(self) -> None:
        """Forget the scopes, which know the sites: cycles would keep the tree when it is done with."""
        self.scopes.clear()
        self.spellings.clear()
        self.attributes.clear()
        del self.scope

    def path_of(self, name: str) -> str:
        """The path of a scope with this name in the scope at hand; counts it as one more of its name."""
        scope = self.scope
        ordinal = scope.ordinals.get(name, 0)
        scope.ordinals[name] = ordinal + 1
        own = f"{name}#{ordinal}" if ordinal else name
        return f"{scope.qualpath}.{own}" if scope.qualpath else own


def mangle(name: str, private: str) -> str:
    """The name that Python knows in a class of the name `private`, or the name itself.

    >>> mangle("__x", "_C"), mangle("__x__", "C"), mangle("__x", "_")
    ('_C__x', '__x__', '__x')
    """
    if not name.startswith("__") or name.endswith("__"):
        return name
    stripped = private.lstrip("_")
    return f"_{stripped}{name}" if stripped else name
