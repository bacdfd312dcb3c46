"""One function: its body over columns, and everything said about it, in one place.

    @define("span_len(span SPAN) -> BIGINT", tags=("span", "position_encoding"), examples=...)
    def span_len(span: ColumnOrName) -> Column: ...

What the decorator gives back is called like any function of `pyspark.sql.functions`; the body gets columns
only. A parameter annotated `ColumnOrName` takes a column or its name, one annotated `Value` a column or a
plain value.
Not here: the list of all functions; and how SQL gets to know them.
"""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeAlias, cast

from pyspark.sql import Column
from pyspark.sql.connect.column import Column as ConnectColumn

from headwater.digest import digest_of
from headwater.functions.builtins import F
from headwater.functions.marks import mark_of
from headwater.functions.templates import Template, code_facts, template_of

if TYPE_CHECKING:
    from collections.abc import Callable

ColumnOrName: TypeAlias = Column | str
Value: TypeAlias = Column | str | int | float | bool | None
P = ParamSpec("P")

SEMANTIC_TYPE_KEY = "headwater.semantic_type"
# How many arguments a variadic function takes in SQL; Python has no limit.
MOST_ARGUMENTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A query with one value, and that value as Spark writes it."""

    sql: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parameter:
    name: str
    is_column: bool
    is_required: bool
    is_variadic: bool
    default: object


@dataclass(frozen=True, kw_only=True)
class FunctionDefinition(Generic[P]):
    """A function of the catalogue. Calling it builds a column; nothing runs and no JVM is needed."""

    name: str
    signature: str
    doc: str
    examples: tuple[Example, ...]
    tags: tuple[str, ...]
    version: int
    semantic_type: str | None
    alias: str | None
    body: Callable[P, Column]
    worker: Callable[..., object] | None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Column:
        """The column this function makes of its arguments."""
        bound = inspect.signature(self.body).bind(*args, **kwargs)
        bound.apply_defaults()
        columns: list[Column] = []
        for parameter in self._parameters:
            given = bound.arguments[parameter.name]
            values = given if parameter.is_variadic else (given,)
            columns += [_column(each, parameter) for each in cast("tuple[object, ...]", values)]
        return self.made_of(columns)

    def made_of(self, columns: list[Column]) -> Column:
        """What the function makes of columns, with its name, its semantic type and its mark."""
        body = cast("Callable[..., Column]", self.body)
        made = body(*columns)
        metadata = {SEMANTIC_TYPE_KEY: self.semantic_type} if self.semantic_type else {}
        if isinstance(made, ConnectColumn):
            metadata |= mark_of(self.name)
        return made.alias(self.name, metadata=metadata) if metadata else made.alias(self.name)

    @property
    def family(self) -> str:
        """The first of its tags."""
        return self.tags[0]

    @property
    def arities(self) -> tuple[int, ...]:
        """The numbers of arguments that SQL may give it."""
        fewest = sum(each.is_required and not each.is_variadic for each in self._parameters)
        if any(each.is_variadic for each in self._parameters):
            return tuple(range(fewest, MOST_ARGUMENTS + 1))
        return tuple(range(fewest, len(self._parameters) + 1))

    def template(self, arity: int) -> Template:
        """The function's expression over so many placeholders; further arguments have their defaults."""

        def build(placeholders: list[Column]) -> Column:
            return self.made_of([*placeholders, *self._defaults(arity)])

        return template_of(self.name, build, arity)

    @cached_property
    def behaviour(self) -> str:
        """Changes when, and only when, a result of the function could."""
        # A body that takes any number sees them as one tuple: the fewest and the most tell about all.
        shown = dict.fromkeys((*self.arities[:3], self.arities[-1]))
        bodies = [self.template(arity).content for arity in shown]
        worker = code_facts(self.worker) if self.worker else None
        return digest_of([self.name, self.version, list(self.arities), bodies, worker])

    @cached_property
    def digest(self) -> str:
        """Changes when, and only when, anything of the definition does."""
        examples = [[each.sql, each.result] for each in self.examples]
        said = [self.signature, self.doc, examples, list(self.tags), self.semantic_type, self.alias]
        return digest_of([self.behaviour, *said])

    @cached_property
    def _parameters(self) -> tuple[_Parameter, ...]:
        return tuple(
            _Parameter(
                name=each.name,
                is_column=each.annotation in {"ColumnOrName", "ColumnOrName | None"},
                is_required=each.default is inspect.Parameter.empty,
                is_variadic=each.kind is inspect.Parameter.VAR_POSITIONAL,
                default=each.default,
            )
            for each in inspect.signature(self.body).parameters.values()
        )

    def _defaults(self, given: int) -> list[Column]:
        left = [each for each in self._parameters[given:] if not each.is_variadic]
        return [_column(each.default, each) for each in left]


def define(
    signature: str,
    *,
    tags: tuple[str, ...],
    examples: tuple[tuple[str, str], ...],
    version: int = 1,
    semantic_type: str | None = None,
    alias: str | None = None,
    worker: Callable[..., object] | None = None,
) -> Callable[[Callable[P, Column]], FunctionDefinition[P]]:
    """Makes a function of the catalogue of a body over columns; its docstring becomes the function's.

    Args:
        signature: how SQL calls it, with types: `name(parameter TYPE, ...) -> TYPE`.
        tags: what it belongs to; the first is its family.
        examples: queries with their result as text; a test runs them all.
        version: raised when the meaning changes, also where no bytes would show it.
        semantic_type: what the result is, beyond its Spark type.
        alias: a second name in Python.
        worker: the plain function that runs in Python workers, where the body needs one.
    """

    def made(body: Callable[P, Column]) -> FunctionDefinition[P]:
        definition = FunctionDefinition(
            name=body.__name__,
            signature=signature,
            doc=textwrap.dedent(inspect.getdoc(body) or ""),
            examples=tuple(Example(sql=sql, result=result) for sql, result in examples),
            tags=tags,
            version=version,
            semantic_type=semantic_type,
            alias=alias,
            body=body,
            worker=worker,
        )
        # help() and doctest look here; the fields above stay as they are.
        vars(definition).update(__name__=body.__name__, __doc__=body.__doc__, __wrapped__=body)
        return definition

    return made


def given(value: object) -> Column:
    """An argument as a body sees it: the decorator has made a column of whatever the caller gave."""
    return cast("Column", value)


def all_given(values: tuple[object, ...]) -> tuple[Column, ...]:
    """The same for arguments of any number."""
    return cast("tuple[Column, ...]", values)


def _column(value: object, parameter: _Parameter) -> Column:
    if isinstance(value, Column):
        return value
    if parameter.is_column and isinstance(value, str):
        return F.col(value)
    return F.lit(value)
