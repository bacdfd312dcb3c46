"""Whether a view gives the same rows for the same inputs: what speaks against it, and for which columns.

Not here: the kinds of findings, the search for them, and where settings come from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from headwater.plan.chance import text_reads_clock
from headwater.plan.offences import Offence, search
from headwater.plan.rules import RULES_BY_NAME
from headwater.plan.taint import Reach, flow_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from headwater.origin import Origin
    from headwater.plan.taint import Flow
    from headwater.plan.tree import PlanTree
    from headwater.policies import Severity

_FLOATS = "float-aggregate"
_IN_VALUES = "uses a date or time in VALUES that is written as now, today or the like"
_FLOATING = re.compile(r"\b(?:float|double)\b")
_TIME = re.compile(r"\b(?:date|timestamp)")
# What comes to nothing if no column of the view, and not its set of rows, depends on it.
_MATTERS_BY_REACH = frozenset({_FLOATS, "tie", "unordered-collection", "sketch"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing in a view that does not follow from its inputs.

    Attributes:
        code: The rule's code.
        rule: The rule's name.
        severity: What happens: it is refused, warned of, or allowed; in any case it is recorded.
        view: The view.
        detail: What is there, in words.
        approximate: The columns whose floating-point values can differ in their last digits.
        arbitrary: The columns that can have any other value.
        rows: Whether it decides which rows there are; then all columns are arbitrary.
        origin: Where the view is defined.
    """

    code: str
    rule: str
    severity: Severity
    view: str
    detail: str
    approximate: tuple[str, ...] = ()
    arbitrary: tuple[str, ...] = ()
    rows: bool = False
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsteady:
    """What of a dataset can come out otherwise in another run.

    Attributes:
        approximate: The columns that are to be compared with a tolerance.
        arbitrary: The columns that cannot be compared.
        rows: Whether the set of rows can be another.
    """

    approximate: tuple[str, ...] = ()
    arbitrary: tuple[str, ...] = ()
    rows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Determinism:
    """What was found in a view, and what follows from that for those who read it.

    Attributes:
        view: The view's name.
        findings: What was found, sorted by code.
        unsteady: What of the view can come out otherwise, be it by its own doing or by its inputs'.
        keys: Columns of the view that are surely unique together; none of them means at most one row.
    """

    view: str
    findings: tuple[Finding, ...] = ()
    unsteady: Unsteady = Unsteady()
    keys: tuple[tuple[str, ...], ...] = ()

    @property
    def refused(self) -> tuple[Finding, ...]:
        """The findings for which the view is not accepted."""
        return tuple(each for each in self.findings if each.severity == "refuse")

    @property
    def is_replayable(self) -> bool:
        """Whether the same inputs give the same rows, but for last digits of floating-point numbers."""
        return not self.unsteady.rows and not self.unsteady.arbitrary


def determinism_of(
    tree: PlanTree,
    view: str,
    *,
    settings: Mapping[str, Severity] = MappingProxyType({}),
    keys: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType({}),
    functions: Collection[str] = (),
    upstream: Mapping[str, Unsteady] = MappingProxyType({}),
    sql: Iterable[str] = (),
    origin: Origin | None = None,
) -> Determinism:
    """What in a view does not follow from its inputs.

    Args:
        tree: The view's analysed tree; registered views are its leaves.
        view: The view's name.
        settings: What happens to findings of a rule, by the rule's name; otherwise the rule's default holds.
        keys: Columns of datasets that are unique together, by the dataset's name; none of them: one row.
        functions: The names of functions in other languages that are declared to depend on arguments alone.
        upstream: What of the datasets that the view reads can come out otherwise.
        sql: The SQL texts that the view is made of; VALUES hide what stood there from the tree.
        origin: Where the view is defined.
    """
    found = search(tree, keys, functions)
    offences = [*found.found, *_hidden_in_values(tree, sql)]
    flow = flow_of(tree, [each.node for each in offences], found.deciding, view)
    findings = _findings(tree, view, offences, flow, settings, origin)
    unsteady = _together(tree, [*findings, *_inherited(tree, flow, upstream)])
    unique = (
        _ordered(tree, {tree.attributes[each].name for each in key}) for key in found.keys.of(tree.root)
    )
    return Determinism(view=view, findings=tuple(findings), unsteady=unsteady, keys=tuple(sorted(unique)))


def _findings(
    tree: PlanTree,
    view: str,
    offences: Sequence[Offence],
    flow: Flow,
    settings: Mapping[str, Severity],
    origin: Origin | None,
) -> list[Finding]:
    """What was found, each kind once, with all columns that it reaches; sorted by code."""
    reached: dict[tuple[str, str], list[Unsteady]] = {}
    for number, each in enumerate(offences):
        columns = _columns(tree, flow.of_mark(number), each.rule)
        if each.rule not in _MATTERS_BY_REACH or columns != Unsteady():
            reached.setdefault((each.rule, each.detail), []).append(columns)
    findings: list[Finding] = []
    for (name, detail), parts in reached.items():
        rule, columns = RULES_BY_NAME[name], _together(tree, parts)
        findings.append(
            Finding(
                code=rule.code,
                rule=name,
                severity=settings.get(name, rule.default),
                view=view,
                detail=detail,
                approximate=columns.approximate,
                arbitrary=columns.arbitrary,
                rows=columns.rows,
                origin=origin,
            )
        )
    findings.sort(key=lambda each: (each.code, each.detail))
    return findings


def _hidden_in_values(tree: PlanTree, sql: Iterable[str]) -> list[Offence]:
    """Literal rows with dates or times in a view whose text has one in words."""
    if not any(map(text_reads_clock, sql)):
        return []
    return [
        Offence(rule="clock", detail=_IN_VALUES, node=each)
        for each in tree.nodes()
        if each.kind == "LocalRelation" and _has_times(tree, each.output)
    ]


def check_determinism(findings: Iterable[Finding]) -> None:
    """Refuses a view for the first finding that is to be refused.

    Raises:
        NotDeterministic: with the code of the finding's rule, and how many more there are.
    """
    refused = [each for each in findings if each.severity == "refuse"]
    if refused:
        first, others = refused[0], len(refused) - 1
        raise RULES_BY_NAME[first.rule].error(
            view=first.view,
            detail=first.detail,
            more=f" (and {others} more)" if others else "",
            origin=first.origin,
        )


def _inherited(tree: PlanTree, flow: Flow, upstream: Mapping[str, Unsteady]) -> Iterator[Unsteady]:
    """What follows from inputs that can come out otherwise."""
    for dataset in sorted(upstream):
        given = upstream[dataset]
        if given.rows and flow.reads(dataset):
            yield _columns(tree, Reach(rows=True), "")
        yield _columns(tree, flow.of_columns(dataset, given.approximate), _FLOATS)
        yield _columns(tree, flow.of_columns(dataset, given.arbitrary), "")


def _columns(tree: PlanTree, reach: Reach, rule: str) -> Unsteady:
    """What becomes of columns that something of a kind reaches."""
    names = {each.name for each in tree.columns}
    floating = {each.name for each in tree.columns if _FLOATING.search(str(each.type))}
    approximate = reach.by_value & floating if rule == _FLOATS and not reach.rows else frozenset[str]()
    arbitrary = names if reach.rows else (reach.by_value | reach.otherwise) - approximate
    return Unsteady(
        approximate=_ordered(tree, approximate), arbitrary=_ordered(tree, arbitrary), rows=reach.rows
    )


def _together(tree: PlanTree, parts: Sequence[Unsteady | Finding]) -> Unsteady:
    arbitrary = {name for each in parts for name in each.arbitrary}
    approximate = {name for each in parts for name in each.approximate} - arbitrary
    return Unsteady(
        approximate=_ordered(tree, approximate),
        arbitrary=_ordered(tree, arbitrary),
        rows=any(each.rows for each in parts),
    )


def _ordered(tree: PlanTree, names: Collection[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in tree.columns if each.name in names))


def _has_times(tree: PlanTree, columns: Iterable[int]) -> bool:
    return any(_TIME.search(str(tree.attributes[each].type)) for each in columns)
