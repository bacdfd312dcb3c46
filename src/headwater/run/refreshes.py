"""How a table is brought up to date, and why, as values: all of it, or the rows of affected keys.

Not here: which of them it is, and doing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from headwater.delta import FewKeys
from headwater.names import same_name
from headwater.plan import REASONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.artifacts import RefreshRecord
    from headwater.names import TablePin

# Why a table is made the way it is, by code; what the proof has to say is among them.
REFRESH_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "proven": "The rows of affected keys are enough, as the plan proves.",
        "up-to-date": "There is nothing to refresh.",
        "inlined": "It is a part of the views that read it.",
        "asked": "All of it was asked for.",
        "told": "Its policy says so.",
        "every-run": "A clock or chance is allowed in it, so that every run makes other rows.",
        "by-place": "Something that is allowed in it depends on where rows lie, or on other rows.",
        "no-table": "There is no table yet.",
        "table-changed": "The rows that are there are not those that a run has made.",
        "no-record": "The plans of the run that made its rows are not on record.",
        "view-changed": "The view, or one that it is made of, is another.",
        "function-changed": "A function that it calls is another.",
        "setting-changed": "A setting or a version that results depend on is another.",
        "policy-changed": "How its table is written, or what is asked of its inputs, is another.",
        "source-changed": "A source is declared otherwise.",
        "no-history": "An input that changed does not tell which rows.",
        "history-gone": "What would tell which rows of an input changed is not there any more.",
        "most-changed": "So much of an input changed that all of the table is the shorter way.",
        "too-many-rounds": "Affected keys by themselves need more rounds than are allowed.",
        "cheaper-in-full": "There is so little to work out that all of the table is the shorter way.",
        **REASONS,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedInput:
    """An input whose rows are others than when the table was made.

    Attributes:
        name: Its name.
        columns: Its columns that the key goes back to, in the key's order.
        before: The pin that the table was made of.
        pin: The pin that is read now; None for a table that a build would make first.
        paths: For a source of files, those that are new, gone or others.
        feed: Whether it keeps a change feed.
    """

    name: str
    columns: tuple[str, ...]
    before: TablePin
    pin: TablePin | None = None
    paths: tuple[str, ...] | None = None
    feed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedKeys:
    """The few keys whose rows a run has replaced in a table, by one commit: no other row changed by it.

    Attributes:
        before: The version that the commit followed.
        pin: The table at the commit.
        few: The keys.
    """

    before: int
    pin: TablePin
    few: FewKeys

    def keys_for(self, changed: ChangedInput) -> FewKeys | None:
        """The keys of an input that changed by just this commit, in its columns; None if that is not so.

        There may be keys among them whose rows are what they were.
        """
        places = {same_name(name): number for number, name in enumerate(self.few.columns)}
        wanted = [places.get(same_name(name)) for name in changed.columns]
        is_this = changed.pin == self.pin and changed.before.version == self.before
        if not is_this or None in wanted or len(wanted) != len(places):
            return None
        numbers = [each for each in wanted if each is not None]
        values = frozenset(tuple(key[number] for number in numbers) for key in self.few.values)
        return FewKeys(columns=changed.columns, values=values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """How a table is brought up to date, and why; `code` is one of `REFRESH_REASONS`.

    `key` and `changed` are there for one that is incremental; `is_large` if it is worth looking twice.
    """

    mode: Literal["full", "incremental"]
    code: str
    detail: str = ""
    key: tuple[str, ...] = ()
    changed: tuple[ChangedInput, ...] = ()
    is_large: bool = False

    @property
    def words(self) -> str:
        """Why, in a sentence, with what there is to say of this table."""
        return refresh_words(self)


def refresh_words(refresh: Refresh | RefreshRecord) -> str:
    """Why a table is, or was, refreshed the way it is."""
    said = REFRESH_REASONS.get(refresh.code, refresh.code)
    return f"{said.removesuffix('.')}: {refresh.detail}." if refresh.detail else said


def full(code: str, detail: str = "") -> Refresh:
    """The decision that a table is made in full."""
    return Refresh(mode="full", code=code, detail=detail)
