"""Value facts: what one file says of where values come from, as a stream of four columns.

A value lives in a variable, told by an int: `row >= 0` is the node of that number, `-1` is nothing, and
`-2 - b` is binding `b` with all that any def gives it. Where a name is read in the def that gives it its
value, it stands for the definitions that reach it, so a fact about `a` in `a = f; a()` is one about `f`.

A fact is (op, target, source, text). Some facts belong to the one before them: ARG to a call, KEY to an item,
DECORATOR to the def that follows, and IN says for all calls that follow which def makes them.
Not here: how facts are found, and what follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

NOTHING = -1
FIRST_BINDING = -2

OPS = (
    "in",  # target: the def whose calls follow
    "copy",  # target gets what source has; text: the attribute or item that has just been stored so
    "const",  # target is a literal; text: type, and a key's text where it may be one
    "builtin",  # target is the builtin of this name, unless a star import has one
    "starred",  # target is what a star import has of this name
    "member",  # target: module or class; source: the binding of the name in text
    "field",  # target: class; source: the binding of the name in text, which is annotated
    "export",  # a name that `__all__` has
    "import",  # target: alias; text: dotted name; it is the first part that is bound
    "import_as",  # the same, and it is the module itself
    "from",  # target: alias; source: level; text: module and name with a blank between
    "star",  # the same without a name
    "function",  # target: def; source: the def around it; text: its name
    "async_function",
    "lambda",
    "param",  # target: parameter; source: its function; text: its kind as one character, and its name
    "default",  # target: parameter; source: its value
    "annotation",  # target: parameter, variable or function; source: the class; text: a quoted name
    "returns",  # target: function; source: what it returns
    "yields",
    "yields_from",  # target: the expression, in the def of the last IN; source: what is yielded from
    "class",  # target: class; source: the def around it; text: its name
    "base",  # target: class; source: its base
    "metaclass",
    "decorator",  # target: where it is written; source: what it is; those nearest to their def come first
    "attr",  # target gets what source has under the name in text
    "set_attr",  # what target has becomes an attribute of source
    "item",  # target gets the item of source with the key in text
    "item_by",  # the same, and the key is that of the next fact
    "set_item",  # what target has becomes an item of source
    "set_item_by",
    "key",  # source: the key of the fact before
    "unpack",  # target gets one of the items that source has; text: which
    "iterate",  # target gets each item of source; text: `async` or nothing
    "enter",  # target gets what `__enter__` of source returns; text: `async` or nothing
    "await",
    "instance",  # target gets an instance of the class that source has
    "raise",  # target: statement; source: a class or an instance
    "display",  # target is a list, tuple, set, dict or generator; text: which
    "element",  # target: display; source: an item; text: its key, or nothing
    "keys",  # target: display; source: a key of it
    "spread",  # target: display; source: what is unpacked into it
    "call",  # target: call; source: what is called
    "operator",  # target: operation; source: whose method; text: the method
    "arg",  # target: argument; source: its value; text: keyword, `*`, `**` or nothing
    "formatted",  # target: a text; source: the node of what is put into it
    "returned",  # target: function; source: the node that is returned, whatever it stands for
    "yielded",  # the same; text: `from` or nothing
    "raised",  # target: statement, in the def of the last IN; source: a class, or what is raised
    "try",  # target: the first node that is tried; source: the one behind the last
    "catch",  # target: handler of the last TRY; source: a class, or nothing; text: `again` if it raises that
)
(
    IN,
    COPY,
    CONST,
    BUILTIN,
    STARRED,
    MEMBER,
    FIELD,
    EXPORT,
    IMPORT,
    IMPORT_AS,
    FROM,
    STAR,
    FUNCTION,
    ASYNC_FUNCTION,
    LAMBDA,
    PARAM,
    DEFAULT,
    ANNOTATION,
    RETURNS,
    YIELDS,
    YIELDS_FROM,
    CLASS,
    BASE,
    METACLASS,
    DECORATOR,
    ATTR,
    SET_ATTR,
    ITEM,
    ITEM_BY,
    SET_ITEM,
    SET_ITEM_BY,
    KEY,
    UNPACK,
    ITERATE,
    ENTER,
    AWAIT,
    INSTANCE,
    RAISE,
    DISPLAY,
    ELEMENT,
    KEYS,
    SPREAD,
    CALL,
    OPERATOR,
    ARG,
    FORMATTED,
    RETURNED,
    YIELDED,
    RAISED,
    TRY,
    CATCH,
) = range(len(OPS))

# The kinds of parameters in the text of a PARAM.
POSITIONAL_ONLY, POSITIONAL, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = "/", "a", "*", "k", "&"
# Keys: of an int, of a text, a slice, the begin of a text; everything else is no key that can be told.
INT_KEY, TEXT_KEY, SLICE_KEY, PREFIX_KEY = "i", "s", ":", "p"


@dataclass(frozen=True, slots=True)
class ValueColumns:
    """The value facts of a file, in order: entry `i` of every list belongs to fact `i`; `op` is of OPS."""

    op: list[int] = field(default_factory=list[int])
    target: list[int] = field(default_factory=list[int])
    source: list[int] = field(default_factory=list[int])
    text: list[str | None] = field(default_factory=list["str | None"])
