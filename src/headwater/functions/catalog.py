"""The catalogue: every function there is, and which of them a session has.

A family is the set of functions that share a tag; a profile can switch families off. Not here: the functions
themselves, each family has its own file; and how a session gets them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from headwater.digest import digest_of
from headwater.functions import aggregates, changes, ids, nested, spans, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.functions.definition import FunctionDefinition

FUNCTIONS: tuple[FunctionDefinition[...], ...] = (
    ids.stable_id_parts,
    ids.prefixed_hash_parts64,
    ids.stable_hash_any,
    ids.node_id,
    ids.edge_id,
    ids.file_id,
    spans.span_make,
    spans.span_len,
    spans.span_overlaps,
    spans.span_contains,
    spans.span_id,
    text.utf8_normalize,
    text.utf8_null_if_blank,
    text.qname_normalize,
    nested.map_get_default,
    nested.map_normalize,
    nested.list_compact,
    nested.list_unique_sorted,
    nested.struct_pick,
    aggregates.any_value_det,
    aggregates.arg_max_det,
    aggregates.arg_min_det,
    aggregates.collect_set_sorted,
    aggregates.count_if_det,
    changes.cdf_change_rank,
    changes.cdf_is_upsert,
    changes.cdf_is_delete,
)

# White space and comments may stand between a name and its parenthesis.
_CALL = re.compile(
    rf"\b({'|'.join(each.name for each in FUNCTIONS)})`?(?:\s|/\*.*?\*/|--[^\n]*\n)*\(",
    re.IGNORECASE | re.DOTALL,
)
FAMILIES: tuple[str, ...] = tuple(sorted({tag for each in FUNCTIONS for tag in each.tags}))


@dataclass(frozen=True, kw_only=True)
class FunctionSnapshot:
    """The functions a session has, and the digest that changes when, and only when, one of them does."""

    definitions: tuple[FunctionDefinition[...], ...]
    disabled: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The identity of all definitions, with what is said about them."""
        return digest_of({each.name: each.digest for each in self.definitions})

    @cached_property
    def results_digest(self) -> str:
        """The identity of what they compute."""
        return digest_of({each.name: each.behaviour for each in self.definitions})

    @property
    def families(self) -> tuple[str, ...]:
        """The tags of which every function is there."""
        return tuple(tag for tag in FAMILIES if all(each in self.definitions for each in _tagged(tag)))


def function_snapshot(disabled: Iterable[str] = ()) -> FunctionSnapshot:
    """What a session has if these families are switched off."""
    off = set(disabled)
    left = (each for each in FUNCTIONS if not off & set(each.tags))
    definitions = tuple(sorted(left, key=lambda each: each.name))
    return FunctionSnapshot(definitions=definitions, disabled=tuple(sorted(off)))


def find_function(name: str) -> FunctionDefinition[...] | None:
    """The function of this name in SQL, None if there is none.

    Second names are Python's alone: `collect_set` and `count_if` are functions of Spark's own in SQL.
    """
    wanted = name.casefold()
    return next((each for each in FUNCTIONS if each.name == wanted), None)


def tags_of(names: Iterable[str]) -> tuple[str, ...]:
    """The families that functions of these names belong to, sorted."""
    wanted = set(names)
    return tuple(sorted({tag for each in FUNCTIONS if each.name in wanted for tag in each.tags}))


def functions_mentioned(text: str) -> tuple[str, ...]:
    """The functions of the catalogue that a text could call, sorted; it may be in a literal or a comment."""
    return tuple(sorted({name.casefold() for name in _CALL.findall(text)}))


def _tagged(tag: str) -> list[FunctionDefinition[...]]:
    return [each for each in FUNCTIONS if tag in each.tags]
