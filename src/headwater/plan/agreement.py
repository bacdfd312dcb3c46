"""Whether columns mean the same: what a value means, and the validations that were made, or one that failed.

Not here: which expressions bring which values together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from headwater.errors import SemanticMismatch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.origin import Origin

# Storage writes it; it lives next door, where this area may not look.
METADATA_KEY = "headwater.semantic_type"

Rule = Literal["read", "compared", "mixed", "written"]
_WORDS: Mapping[Rule, tuple[str, str]] = {
    "read": ("reads", "as the declared"),
    "compared": ("compares", "with"),
    "mixed": ("mixes", "with"),
    "written": ("writes", "into"),
}


class SemanticColumn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column that a view puts out, and what it means; `metadata_key` is where its schema says so, if so."""

    column_name: str
    semantic_type: str
    metadata_key: str | None = None


class SemanticCheck(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two columns that were seen to mean the same.

    Attributes:
        rule: They are a column and its declaration, compared, mixed in one column, or one is written into
            the other.
        column_name, semantic_type, metadata_key: The first of them, what both mean, and where its schema says
            so, if it does.
        other_column: The second; empty for a column that is written from something without semantic type.
    """

    rule: Rule
    column_name: str
    semantic_type: str
    metadata_key: str | None = None
    other_column: str = ""


class SemanticTypes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a view's columns mean, in their order, and the validations behind that, as they were made."""

    view: str
    columns: tuple[SemanticColumn, ...] = ()
    validations: tuple[SemanticCheck, ...] = ()

    @property
    def by_column(self) -> dict[str, str]:
        """The semantic type of each column that has one: what `declared` says of the view to its readers."""
        return {each.column_name: each.semantic_type for each in self.columns}


class Meaning(NamedTuple):
    """A semantic type, with the column that it comes from; `key` if metadata says so."""

    type: str
    place: str
    key: str | None


# A null goes with every type.
NULL = Meaning("", "", None)


@dataclass(slots=True)
class Agreement:
    """The validations of one view, in the order in which they were made."""

    view: str
    origin: Origin | None
    checks: dict[SemanticCheck, None] = field(default_factory=dict[SemanticCheck, None])

    def one_of(self, meanings: Iterable[Meaning | None]) -> Meaning | None:
        """What a value means that is one of several: nothing, if one of them means nothing."""
        listed = list(meanings)
        typed = [each for each in listed if each is not None and each.type]
        for other in typed[1:]:
            self.same("mixed", typed[0], other)
        if None in listed:
            return None
        return typed[0] if typed else NULL

    def compared(self, one: Meaning | None, two: Meaning | None) -> None:
        """Two values that are compared; one without semantic type goes with every other."""
        if one is not None and two is not None and one.type and two.type:
            self.same("compared", one, two)

    def written(self, meaning: Meaning | None, promise: Meaning) -> None:
        """A value that becomes a column which was promised to mean something."""
        if meaning is not None and meaning.type:
            self.same("written", meaning, promise)
        else:
            kind, place, key = promise
            check = SemanticCheck(rule="written", column_name=place, semantic_type=kind, metadata_key=key)
            self.checks[check] = None

    def same(self, rule: Rule, one: Meaning, two: Meaning) -> None:
        """Two columns that have to mean the same.

        Raises:
            SemanticMismatch: they do not.
        """
        if one.type != two.type:
            deed, joint = _WORDS[rule]
            raise SemanticMismatch(
                view=self.view,
                deed=deed,
                one=one.place,
                one_type=one.type,
                joint=joint,
                other=two.place,
                other_type=two.type,
                origin=self.origin,
            )
        check = SemanticCheck(
            rule=rule,
            column_name=one.place,
            semantic_type=one.type,
            metadata_key=one.key,
            other_column=two.place,
        )
        self.checks[check] = None
