"""What a view's columns mean: semantic types, from the columns it reads to those it puts out.

A semantic type stands in a field's metadata, or is declared for a dataset's column. It goes with a value for
as long as the value is only passed on or chosen; whatever is worked out of it has none. Two columns of
different types that are compared, or mixed in one column, are an error that names both.
Not here: whether a column's values fit its semantic type, and writing it into metadata.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from headwater.names import same_name
from headwater.plan.agreement import METADATA_KEY, NULL, Agreement, Meaning, SemanticColumn, SemanticTypes
from headwater.plan.tree import Node, deep_trees, expressions_in, nodes_in, plans_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.origin import Origin
    from headwater.plan.tree import PlanTree


def semantics_of(
    tree: PlanTree,
    view: str,
    origin: Origin | None,
    declared: Mapping[str, Mapping[str, str]],
    promised: Mapping[str, str],
) -> SemanticTypes:
    """The semantic types of a view whose analysed tree this is; registered views are its leaves.

    Args:
        tree: the analysed tree.
        view: its name.
        origin: where it is written, for errors.
        declared: datasets that it reads, with their columns and what they mean, beside what metadata says.
        promised: its own columns, and what they are declared to mean.

    Raises:
        SemanticMismatch: columns that mean different things are compared, mixed, or written into each other.
    """
    known = {
        same_name(dataset): {same_name(column): each for column, each in columns.items()}
        for dataset, columns in declared.items()
    }
    agreement = Agreement(view, origin)
    walk = _Walk(tree, view, known, agreement)
    with deep_trees():
        found = walk.columns_of(tree.root, None)
    wanted = {same_name(column): each for column, each in promised.items()}
    columns: list[SemanticColumn] = []
    for column in tree.columns:
        meaning, promise = found.get(column.id), wanted.get(same_name(column.name))
        if promise is not None:
            key = METADATA_KEY
            agreement.written(meaning, Meaning(promise, f"{view}.{column.name}", key))
        elif meaning is not None and meaning.type:
            promise = meaning.type
            key = METADATA_KEY if column.metadata.get(METADATA_KEY) == promise else None
        else:
            continue
        columns.append(SemanticColumn(column_name=column.name, semantic_type=promise, metadata_key=key))
    return SemanticTypes(view=view, columns=tuple(columns), validations=tuple(agreement.checks))


# --- one walk over a tree ------------------------------------------------------------------------------


_Columns = dict[int, Meaning | None]


@dataclass(frozen=True, slots=True)
class _Scope:
    """The columns that an expression can see, and the query around it."""

    columns: Mapping[int, Meaning | None]
    outer: _Scope | None = None

    def column(self, number: int) -> Meaning | None:
        if number in self.columns or self.outer is None:
            return self.columns.get(number)
        return self.outer.column(number)


@dataclass(slots=True)
class _Walk:
    tree: PlanTree
    view: str
    declared: Mapping[str, Mapping[str, str]]
    agreement: Agreement
    _tables: dict[int, Node] = field(default_factory=dict[int, Node])
    _made: dict[int, Sequence[Meaning | None]] = field(default_factory=dict[int, "Sequence[Meaning | None]"])
    _loops: dict[int, Sequence[Meaning | None]] = field(default_factory=dict[int, "Sequence[Meaning | None]"])
    _shared: dict[int, Meaning | None] = field(default_factory=dict[int, "Meaning | None"])

    def columns_of(self, node: Node, outer: _Scope | None) -> _Columns:
        """What the columns mean that a plan node puts out."""
        rule = _RELATIONS.get(node.kind)
        return rule(self, node, outer) if rule else self.plain(node, outer)

    def listed(self, node: Node, outer: _Scope | None) -> list[Meaning | None]:
        """The same, by place."""
        found = self.columns_of(node, outer)
        return [found[each] for each in node.output]

    def plain(self, node: Node, outer: _Scope | None) -> _Columns:
        """A node that passes on columns of what lies below it, and may add some under names of its own."""
        found: _Columns = {}
        for each in plans_in(node):
            found |= self.columns_of(each, outer)
        scope = _Scope(dict(found), outer)
        for each in expressions_in(node):
            meaning = self.meaning_of(each, scope)
            if each.kind == "Alias":
                found[each.id or 0] = meaning
        return {each: found[each] if each in found else self.said(each) for each in node.output}

    def said(self, number: int) -> Meaning | None:
        """What a column's metadata says, where nothing else is known of it."""
        column = self.tree.attributes[number]
        kind = column.metadata.get(METADATA_KEY)
        return None if kind is None else Meaning(str(kind), f"{self.view}.{column.name}", METADATA_KEY)

    def view_columns(self, node: Node, outer: _Scope | None) -> _Columns:
        """The columns of a registered name; a frame that was handed to a query is a part of it."""
        if not node.is_boundary:
            (below,) = plans_in(node)
            return dict(zip(node.output, self.listed(below, outer), strict=True))
        declared = self.declared.get(same_name(node.name or ""), {})
        found: _Columns = {}
        for each in node.output:
            column = self.tree.attributes[each]
            place = f"{node.name}.{column.name}"
            kind, own = column.metadata.get(METADATA_KEY), declared.get(same_name(column.name))
            meant = None if own is None else Meaning(own, place, None)
            found[each] = meant if kind is None else Meaning(str(kind), place, METADATA_KEY)
            if meant is not None and kind is not None:
                self.agreement.same("read", Meaning(str(kind), place, METADATA_KEY), meant)
        return found

    def union(self, node: Node, outer: _Scope | None) -> _Columns:
        """Branches, place by place."""
        branches = [self.listed(each, outer) for each in plans_in(node)]
        return {
            each: self.agreement.one_of(column)
            for each, column in zip(node.output, zip(*branches, strict=True), strict=True)
        }

    def set_operation(self, node: Node, outer: _Scope | None) -> _Columns:
        """INTERSECT and EXCEPT: the rows are the left ones, found by comparing them."""
        left, right = (self.listed(node.plan(each), outer) for each in ("left", "right"))
        for one, two in zip(left, right, strict=True):
            self.agreement.compared(one, two)
        return dict(zip(node.output, left, strict=True))

    def lateral_join(self, node: Node, outer: _Scope | None) -> _Columns:
        """A subquery beside a relation, whose columns it sees."""
        left = self.columns_of(node.plan("left"), outer)
        both = left | self.columns_of(node.plan("right").plan("plan"), _Scope(left, outer))
        if isinstance(node.fields.get("condition"), Node):
            self.meaning_of(node.plan("condition"), _Scope(both, outer))
        return {each: both.get(each) for each in node.output}

    def expand(self, node: Node, outer: _Scope | None) -> _Columns:
        """Several rows of one: what stands at a place is one of several."""
        scope = _Scope(self.columns_of(node.plan("child"), outer), outer)
        rows = [[self.meaning_of(each, scope) for each in row] for row in node.fields["projections"]]
        return {
            each: self.agreement.one_of(column)
            for each, column in zip(node.output, zip(*rows, strict=True), strict=True)
        }

    def generate(self, node: Node, outer: _Scope | None) -> _Columns:
        """What a generator makes has the meaning that its fields' metadata say; STACK puts values in rows."""
        child = self.columns_of(node.plan("child"), outer)
        scope = _Scope(child, outer)
        generator = node.plan("generator")
        while generator.kind == "GeneratorOuter":
            generator = generator.plan("child")
        ids = [each.id or 0 for each in node.nodes("generatorOutput")]
        if generator.kind == "Stack":
            cells = [self.meaning_of(each, scope) for each in generator.nodes("children")[1:]]
            made = {each: self.agreement.one_of(cells[place :: len(ids)]) for place, each in enumerate(ids)}
        else:
            self.meaning_of(generator, scope)
            made = {each: self.said(each) for each in ids}
        return {each: made[each] if each in made else child[each] for each in node.output}

    def with_tables(self, node: Node, outer: _Scope | None) -> _Columns:
        """Common tables are looked at where they are used."""
        for each in node.nodes("cteDefs"):
            self._tables[each.fields["id"]] = each.plan("child")
        return dict(zip(node.output, self.listed(node.plan("plan"), outer), strict=True))

    def common_table(self, node: Node, outer: _Scope | None) -> _Columns:
        """A common table where it is used, by place."""
        number = node.fields["cteId"]
        if number not in self._made:
            self._made[number] = self.listed(self._tables[number], outer)
        return dict(zip(node.output, self._made[number], strict=True))

    def loop(self, node: Node, outer: _Scope | None) -> _Columns:
        """A recursive table: it means what its start and every round agree on."""
        number = node.fields["id"]
        found = self.listed(node.plan("anchor"), outer)
        while True:
            self._loops[number] = found
            added = self.listed(node.plan("recursion"), outer)
            grown = [self.agreement.one_of(pair) for pair in zip(found, added, strict=True)]
            if grown == found:
                return dict(zip(node.output, found, strict=True))
            found = grown

    def loop_reference(self, node: Node, _outer: _Scope | None) -> _Columns:
        """A recursive table inside of itself."""
        return dict(zip(node.output, self._loops[node.fields["loopId"]], strict=True))

    # --- expressions

    def meaning_of(self, node: Node, scope: _Scope) -> Meaning | None:
        """What an expression's values mean; comparisons inside of it are checked."""
        rule = _EXPRESSIONS.get(node.kind)
        if rule is not None:
            return rule(self, node, scope)
        replacement = node.fields.get("replacement")
        if isinstance(replacement, Node):
            return self.meaning_of(replacement, scope)
        chosen = _CHOSEN.get(node.kind, ())
        values: list[Meaning | None] = []
        for name, value in node.fields.items():
            found = [self.look_at(each, scope) for each in nodes_in(value)]
            values += found if name in chosen else ()
        return self.agreement.one_of(values) if values else None

    def look_at(self, node: Node, scope: _Scope) -> Meaning | None:
        """Any node inside an expression; of a subquery, its first column."""
        if node.sort == "expression":
            return self.meaning_of(node, scope)
        found = self.listed(node, scope)
        return found[0] if found else None

    def alias(self, node: Node, scope: _Scope) -> Meaning | None:
        """Metadata that is not the child's was given here, and is what the author says it means."""
        child = node.plan("child")
        meaning = self.meaning_of(child, scope)
        column = self.tree.attributes.get(node.id or 0)
        kind = None if column is None else column.metadata.get(METADATA_KEY)
        if kind is not None and kind != self._inherited(child):
            return Meaning(str(kind), f"{self.view}.{node.name}", METADATA_KEY)
        return meaning

    def _inherited(self, child: Node) -> object:
        if child.kind == "GetStructField":
            return _field(child)[1]
        column = None if child.id is None else self.tree.attributes.get(child.id)
        return None if column is None else column.metadata.get(METADATA_KEY)

    def case(self, node: Node, scope: _Scope) -> Meaning | None:
        """CASE: its results; its conditions are looked at."""
        results: list[Node] = []
        for each in node.fields["branches"]:
            self.meaning_of(each.fields["_1"], scope)
            results.append(each.fields["_2"])
        last = node.fields.get("elseValue")
        results += [last] if isinstance(last, Node) else []
        return self.agreement.one_of([self.meaning_of(each, scope) for each in results])

    def comparison(self, node: Node, scope: _Scope) -> None:
        """Two values, or structs field by field."""
        self._compare(node.plan("left"), [node.plan("right")], scope)

    def membership(self, node: Node, scope: _Scope) -> None:
        """A value in a list of others."""
        self._compare(node.plan("value"), node.nodes("list"), scope)

    def _compare(self, left: Node, others: Sequence[Node], scope: _Scope) -> None:
        one = self.meaning_of(left, scope)
        for right in others:
            self.agreement.compared(one, self.meaning_of(right, scope))
            if left.kind == right.kind == "CreateNamedStruct":
                fields = (each.nodes("children")[1::2] for each in (left, right))
                for mine, other in zip(*fields, strict=False):
                    self._compare(mine, [other], scope)

    def in_subquery(self, node: Node, scope: _Scope) -> None:
        """Values among those of a subquery, by place."""
        found = self.listed(node.plan("query").plan("plan"), scope)
        for value, other in zip(node.nodes("values"), found, strict=False):
            self.agreement.compared(self.meaning_of(value, scope), other)

    def shared(self, node: Node, scope: _Scope) -> Meaning | None:
        """An expression with parts that stand in it more than once."""
        for each in node.nodes("defs"):
            self._shared[each.fields["id"].fields["id"]] = self.meaning_of(each.plan("child"), scope)
        return self.meaning_of(node.plan("child"), scope)

    def shared_reference(self, node: Node, _scope: _Scope) -> Meaning | None:
        """Such a part where it stands."""
        return self._shared.get(node.fields["id"].fields["id"])


def _field(node: Node) -> tuple[str, object]:
    """The name of a field that is taken out of a struct, and what its metadata says."""
    fields = cast("list[dict[str, Any]]", cast("Mapping[str, Any]", node.plan("child").type)["fields"])
    found = fields[int(node.fields["ordinal"])]
    return found["name"], cast("Mapping[str, Any]", found.get("metadata") or {}).get(METADATA_KEY)


def _struct_field(walk: _Walk, node: Node, scope: _Scope) -> Meaning | None:
    child = node.plan("child")
    walk.meaning_of(child, scope)
    name, kind = _field(node)
    return None if kind is None else Meaning(str(kind), f"{child.name or 'struct'}.{name}", METADATA_KEY)


def _attribute(_walk: _Walk, node: Node, scope: _Scope) -> Meaning | None:
    return scope.column(node.id or 0)


def _outer_reference(walk: _Walk, node: Node, scope: _Scope) -> Meaning | None:
    return walk.meaning_of(node.plan("e"), scope.outer or scope)


def _literal(_walk: _Walk, node: Node, _scope: _Scope) -> Meaning | None:
    return NULL if node.literal in {None, "null;"} else None


# Of expressions that give back one of the values they are given, the fields with those values.
_CHOSEN: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            *("KnownNotNull", "KnownNullable", "AssertNotNull", "TempResolvedColumn", "SQLScalarFunction"),
            *("Collate", "Cast", "UpCast", "First", "Last", "AnyValue", "Min", "Max", "Mode"),
        ),
        ("child",),
    ),
    **dict.fromkeys(["Coalesce", "Greatest", "Least"], ("children",)),
    "If": ("trueValue", "falseValue"),
    **dict.fromkeys(["Lag", "Lead", "NthValue"], ("input", "default")),
    **dict.fromkeys(["MaxBy", "MinBy"], ("valueExpr",)),
    "AggregateExpression": ("aggregateFunction",),
    "WindowExpression": ("windowFunction",),
    "ScalarSubquery": ("plan",),
}
_EXPRESSIONS: Mapping[str, Callable[[_Walk, Node, _Scope], Meaning | None]] = {
    **dict.fromkeys(["AttributeReference", "NamedLambdaVariable"], _attribute),
    "OuterReference": _outer_reference,
    **dict.fromkeys(["Literal", "TypedNullLiteral"], _literal),
    "GetStructField": _struct_field,
    "Alias": _Walk.alias,
    "CaseWhen": _Walk.case,
    **dict.fromkeys(
        (
            *("EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual"),
            *("GreaterThan", "GreaterThanOrEqual"),
        ),
        _Walk.comparison,
    ),
    "In": _Walk.membership,
    "InSubquery": _Walk.in_subquery,
    "With": _Walk.shared,
    "CommonExpressionRef": _Walk.shared_reference,
}
_RELATIONS: Mapping[str, Callable[[_Walk, Node, _Scope | None], _Columns]] = {
    **dict.fromkeys(["View", "SQLFunctionNode"], _Walk.view_columns),
    "Union": _Walk.union,
    **dict.fromkeys(["Intersect", "Except"], _Walk.set_operation),
    "LateralJoin": _Walk.lateral_join,
    "Expand": _Walk.expand,
    "Generate": _Walk.generate,
    "WithCTE": _Walk.with_tables,
    "CTERelationRef": _Walk.common_table,
    "UnionLoop": _Walk.loop,
    "UnionLoopRef": _Walk.loop_reference,
}
