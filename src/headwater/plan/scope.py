"""Where an expression stands: which columns it sees, what is known of it, and which query is around it.

Not here: what any one expression does; whoever makes a scope hands in the rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from headwater.plan.dependence import Dependences, Value, opaque
from headwater.plan.tree import Node, expressions_in, plans_in

if TYPE_CHECKING:
    from collections.abc import Mapping


class Relation(Protocol):
    """What a subquery's plan puts out."""

    @property
    def columns(self) -> Mapping[int, Value]:
        """Its columns by id."""
        ...

    @property
    def rows(self) -> Dependences:
        """What decides which rows there are."""
        ...


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: the columns it can see, and the query around it."""

    columns: Mapping[int, Value]
    rules: Mapping[str, Rule]
    relation_of: Callable[[Node, Scope], Relation]
    outer: Scope | None = None

    def value_of(self, node: Node) -> Value:
        """What an expression's values depend on."""
        rule = self.rules.get(node.kind)
        if rule is not None:
            return rule(self, node)
        if isinstance(node.fields.get("replacement"), Node):
            return self.value_of(node.plan("replacement"))
        return self.unknown(node)

    def values_of(self, node: Node, name: str) -> list[Value]:
        """The values of a list of expressions."""
        return [self.value_of(each) for each in node.nodes(name)]

    def result_of(self, function: Node, *values: Value) -> Value:
        """What a lambda function puts out if its arguments have these values, as far as it takes them."""
        arguments = [each.id for each in function.nodes("arguments") if each.id is not None]
        # More arguments than are known of would go unseen.
        given = [*values, *[opaque(values)] * (len(arguments) - len(values))]
        inner = {**self.columns, **dict(zip(arguments, given, strict=False))}
        return replace(self, columns=inner).value_of(function.plan("function"))

    def table(self, plan: Node) -> Value:
        """Everything about a subquery: all its columns, and which rows it has."""
        found = self.relation_of(plan, self)
        listed = opaque(found.columns[each] for each in plan.output)
        return listed.also(found.rows).besides("subquery")

    def column(self, node: Node) -> Value:
        """A column, of this query or, as a last resort, of those around it."""
        found = self.columns.get(node.id or 0)
        if found is None and self.outer is not None:
            return self.outer.column(node)
        if found is None:
            raise KeyError(node.name)
        return found

    def unknown(self, node: Node) -> Value:
        """A value that may have been worked out of everything that stands in an expression."""
        inner = list(expressions_in(node))
        given = [self.value_of(each) for each in inner if each.kind != "LambdaFunction"]
        anything = opaque(given)
        lambdas = [self.result_of(each, anything) for each in inner if each.kind == "LambdaFunction"]
        return opaque([anything, *lambdas, *(self.table(each) for each in plans_in(node))])


Rule = Callable[[Scope, Node], Value]
