"""The proof that a view's rows of some keys can be made from just those rows of what it reads that have them.

The law of a proof: take any set of keys, replace each changed dataset by its rows whose traced columns are in
the set, run the view, and keep the rows whose key is in the set; these are exactly the view's rows with such
keys. So rows of other keys cannot change if only such rows of the datasets do. Nulls are keys like others.
Not here: the operators; whether a view gives the same rows each time; which keys changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from headwater.names import same_name
from headwater.plan.locality import Locality, Stopped
from headwater.plan.tree import deep_trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from headwater.plan.tree import PlanTree

# Why there is no proof, by code.
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "no-key": "The table has no key.",
        "key-not-in-output": "The key is no column that the view puts out.",
        "key-not-comparable": "The key is of a type whose values cannot be compared.",
        "key-computed": "The key is worked out, and not a column of what changed.",
        "group-not-by-key": "Rows of several keys are made into one.",
        "global-aggregate": "All rows are made into one.",
        "window-not-by-key": "A window function sees the rows of several keys.",
        "join-not-on-key": "Rows are joined to changed rows of other keys.",
        "outer-join-key": "The key comes from a side of an outer join that is filled up with nulls.",
        "two-columns": "A changed dataset is read in several places, and the key is another column in each.",
        "subquery": "A subquery reads what changed.",
        "limit": "Which rows are kept depends on how many there are.",
        "sample": "Which rows are kept depends on where they are.",
        "expand": "Rows are repeated with nulls, or other columns, in place of the key.",
        "python-operator": "A function or a program sees many rows at once, and may make anything of them.",
        "recursion": "A recursive table reads what changed.",
        "fixpoint": "The rows of a key come from rows of other keys that were found before.",
        "unknown-operator": "The plan has an operator of which nothing is known.",
    }
)

_NOT_COMPARABLE = re.compile(r"'type': 'map'|\bvariant\b|\bgeometry\b|\bgeography\b")


@dataclass(frozen=True, slots=True)
class KeyProof:
    """A view whose rows of some keys follow from the rows of what changed that have these keys.

    Attributes:
        key: The columns of the key, as they were given.
        traces: For each changed dataset that the view reads, its columns that the key's are, in their order.
    """

    key: tuple[str, ...]
    traces: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class NoProof:
    """Why a view cannot be made anew key by key.

    Attributes:
        code: One of `REASONS`.
        operator: The operator that stopped the proof, by Catalyst's name; empty if none did.
        detail: What is there, in words.
    """

    code: str
    operator: str
    detail: str


def prove(tree: PlanTree, key: Sequence[str], changed: Iterable[str]) -> KeyProof | NoProof:
    """Whether the view with this analysed tree can be made anew key by key, if these datasets changed.

    The tree opens views; a view that `changed` names is a leaf all the same. A changed dataset that the view
    does not read has no trace, and needs none. For a view that is applied to its own rows, see
    `prove_fixpoint`.
    """
    walk = Locality(tree, {same_name(each): each for each in changed})
    try:
        with deep_trees():
            found = [dict(walk.through(tree.root, each)[0]) for each in _columns_of(tree, key)]
    except Stopped as stop:
        return NoProof(stop.code, stop.operator, stop.detail)
    return KeyProof(tuple(key), {name: tuple(each[name] for each in found) for name in sorted(found[0])})


def prove_fixpoint(
    tree: PlanTree, view: str, key: Sequence[str], changed: Iterable[str]
) -> KeyProof | NoProof:
    """The same for a view that is applied to its own rows until nothing new appears.

    The law holds for the view's rows in the end if it holds for one step, to which the rows so far are one
    more dataset that changed, and if the key is traced to the same columns of these: then rows of a key come,
    round by round, of rows of that key alone.
    """
    found = prove(tree, key, (*changed, view))
    if isinstance(found, NoProof):
        return found
    traces = {name: each for name, each in found.traces.items() if same_name(name) != same_name(view)}
    own = found.traces.get(view, found.key)
    if [same_name(each) for each in own] != [same_name(each) for each in found.key]:
        words = f"({', '.join(found.key)}) comes from ({', '.join(own)}) of rows that were found before"
        return NoProof("fixpoint", "", words)
    return KeyProof(found.key, traces)


def _columns_of(tree: PlanTree, key: Sequence[str]) -> list[int]:
    if not key:
        raise Stopped("no-key", "", "the table has no key")
    found: list[int] = []
    for name in key:
        named = [each for each in tree.columns if same_name(each.name) == same_name(name)]
        if len(named) != 1:
            raise Stopped("key-not-in-output", "", f"the view has {len(named)} columns named {name}")
        if _NOT_COMPARABLE.search(str(named[0].type)):
            raise Stopped("key-not-comparable", "", f"values of {name} cannot be compared")
        found.append(named[0].id)
    return found
