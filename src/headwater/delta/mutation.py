"""What is intended to happen to a table: values, no I/O.

    Append         rows are added
    Overwrite      rows, and with schema_mode "overwrite" the schema, are replaced
    ReplaceWhere   the rows that meet a condition are replaced by rows that meet it
    ReplaceKeys    the rows whose key is among some are replaced by rows with those keys, or by none
    Merge          rows of a source are matched with the table's, and clauses say what becomes of them
    Update         columns of the rows that meet a condition get new values
    Delete         the rows that meet a condition are taken out

Not here: the rows; they are handed to `commit_mutation` beside the mutation.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, cast

from headwater.datasets import FeatureGate
from headwater.delta.columns import quoted
from headwater.errors import InvalidSetting
from headwater.given import expressions, text, texts

if TYPE_CHECKING:
    from headwater.policies import SchemaMode, WritePolicy

# The session setting by which a commit carries a note, where no writer takes it as an option.
NOTE_SETTING = "spark.databricks.delta.commitInfo.userMetadata"
MutationKind = Literal["append", "overwrite", "replace_where", "replace_keys", "merge", "update", "delete"]
ClauseKind = Literal["matched", "not_matched", "not_matched_by_source"]
# A commit that prepares a mutation's own, or that ends it.
Step = Literal["prepare", "finish"]
_BIRTH = "spark.databricks.delta.properties.defaults."
ClauseAction = Literal["update", "insert", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitNote:
    """What a commit says of its own making; it is kept in the commit, so that the table can be asked.

    `attempts` are the ends of earlier tries of the same mutation: each the name of the conflict it met;
    `inputs` what the rows were made of, each with its version (None for what has none).
    """

    pipeline: str
    table: str
    run_id: str
    task_key: str
    mutation_id: str
    attempts: tuple[str, ...] = ()
    inputs: tuple[tuple[str, int | None], ...] = ()

    def text(self, step: Step | None = None) -> str:
        """The note as the commit carries it; `step` marks a commit beside the mutation's own."""
        inside: dict[str, object] = {"pipeline": self.pipeline, "table": self.table, "run_id": self.run_id}
        inside |= {"task_key": self.task_key, "mutation_id": self.mutation_id}
        if self.attempts:
            inside["attempts"] = list(self.attempts)
        if self.inputs:
            inside["inputs"] = dict(self.inputs)
        return json.dumps({"headwater": {**inside, **({"step": step} if step else {})}}, sort_keys=True)


def note_of(user_metadata: str | None) -> CommitNote | None:
    """The note inside a commit's metadata; None if somebody else made it, or the mutation is not done yet."""
    return _note(user_metadata, None) or _note(user_metadata, "finish")


def is_step(user_metadata: str | None, step: Step | None, mutation_id: str) -> bool:
    """Whether a commit is this step of this very mutation; without a step, the mutation itself."""
    found = _note(user_metadata, step)
    return found is not None and found.mutation_id == mutation_id


def _note(user_metadata: str | None, step: Step | None) -> CommitNote | None:
    try:
        found: object = json.loads(user_metadata or "")
        inside = dict(cast("dict[str, object]", cast("dict[str, object]", found)["headwater"]))
        if inside.pop("step", None) != step:
            return None
        attempts = tuple(cast("list[str]", inside.pop("attempts", [])))
        inputs = tuple(cast("dict[str, int | None]", inside.pop("inputs", {})).items())
        return CommitNote(**cast("dict[str, str]", inside), attempts=attempts, inputs=inputs)
    except (ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TableMutation:
    """What all mutations have.

    Args:
        uri: the table's address.
        base_version: the newest version when the mutation was thought of, -1 for no table yet. Commits up
            to it are not the mutation's own.
        note: what the commit will say of itself; its mutation id tells this mutation from any other.
        exact: whether it must follow `base_version` directly; otherwise it may follow any later version. An
            Append that meets another pipeline's append at the same moment follows it all the same: to Delta
            the two are not in each other's way.
        policy: how the table is written; without one its properties stay as they are.
        gate: what the table's protocol must have.
        born_with: properties that the table gets if this mutation makes it; a policy's go before them.
    """

    uri: str
    base_version: int
    note: CommitNote
    exact: bool = False
    policy: WritePolicy | None = None
    gate: FeatureGate = field(default_factory=FeatureGate)
    born_with: tuple[tuple[str, str], ...] = ()

    def birth_settings(self) -> dict[str, str]:
        """What a session must have so that a table which is made in it has these properties."""
        return {f"{_BIRTH}{key.removeprefix('delta.')}": value for key, value in self.born_with}


@dataclass(frozen=True, slots=True, kw_only=True)
class Append(_TableMutation):
    """Rows are added; `schema_mode`, if given, goes before that of the policy.

    A `blind` one adds to a collection that nobody replays, such as a ledger: appends to it do not stand in
    each other's way, so it has no number among them, and the table's rows no digest. Both cost as much as the
    write of a few rows. It lands once all the same: its commit is found by the mutation's id.
    """

    kind: ClassVar[MutationKind] = "append"
    schema_mode: SchemaMode | None = None
    blind: bool = False

    def __post_init__(self) -> None:
        if self.blind and self.exact:
            raise InvalidSetting(key="blind", value="given with exact", expected="one of the two")
        if self.schema_mode == "overwrite":
            raise InvalidSetting(
                key="schema_mode", value="'overwrite' of an Append", expected="'merge', or an Overwrite"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite(_TableMutation):
    """All rows are replaced in one commit; `schema_mode`, if given, goes before that of the policy."""

    kind: ClassVar[MutationKind] = "overwrite"
    schema_mode: SchemaMode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceWhere(_TableMutation):
    """The rows that meet a condition are replaced by rows that meet it too, in one commit."""

    kind: ClassVar[MutationKind] = "replace_where"
    where: str
    schema_mode: SchemaMode | None = None

    def __post_init__(self) -> None:
        text("where", self.where)
        if self.schema_mode == "overwrite":
            raise InvalidSetting(
                key="schema_mode", value="'overwrite' of a part", expected="'merge', or an Overwrite"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceKeys(_TableMutation):
    """The rows whose key is affected are replaced by new rows, in one commit.

    A key is what a row has in `keys`; null is a value like any other, and a key may have any number of rows.
    The affected keys are handed to `commit_mutation` beside the new rows, whose keys must be among them; a
    key without new rows vanishes. Rows must fit the table: its schema stays as it is.
    """

    kind: ClassVar[MutationKind] = "replace_keys"
    keys: tuple[str, ...]

    def __post_init__(self) -> None:
        names = texts("keys", self.keys)
        object.__setattr__(self, "keys", names)
        if not names or len({each.lower() for each in names}) < len(names):
            raise InvalidSetting(key="keys", value=repr(names), expected="columns, each of them once")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClause:
    """What becomes of rows: the first clause of their kind whose condition they meet.

    `assignments` are columns of the table with SQL expressions over `t` (the table) and `s` (the source);
    without any, an update or insert takes every column from the source.
    """

    when: ClauseKind
    action: ClauseAction
    condition: str | None = None
    assignments: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "assignments", expressions("assignments", self.assignments))
        allowed = {
            "matched": ("update", "delete"),
            "not_matched": ("insert",),
            "not_matched_by_source": ("update", "delete"),
        }
        if self.action not in allowed.get(self.when, ()):
            raise InvalidSetting(
                key=f"a clause for rows that are {self.when}",
                value=repr(self.action),
                expected=" or ".join(
                    allowed.get(self.when, ("matched, not_matched or not_matched_by_source",))
                ),
            )
        if self.action == "delete" and self.assignments:
            raise InvalidSetting(key="assignments", value="given with delete", expected="none")
        if self.when == "not_matched_by_source" and self.action == "update" and not self.assignments:
            raise InvalidSetting(
                key="assignments", value="none", expected="some: there is no row of the source to take"
            )


UPSERT = (
    MergeClause(when="matched", action="update"),
    MergeClause(when="not_matched", action="insert"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(_TableMutation):
    """Rows of a source (`s`) are matched with the table's (`t`) by a condition; clauses say what follows.

    Without clauses it is an upsert: what matches is replaced, what does not is added.
    """

    kind: ClassVar[MutationKind] = "merge"
    on: str
    clauses: tuple[MergeClause, ...] = UPSERT

    def __post_init__(self) -> None:
        text("on", self.on)
        if not self.clauses:
            raise InvalidSetting(key="clauses", value="none", expected="one at the least")


def same_keys(*columns: str, table: str = "t", source: str = "s") -> str:
    """The condition that two rows have equal keys, where nulls are equal too."""
    return " AND ".join(f"{table}.{quoted(name)} <=> {source}.{quoted(name)}" for name in columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(_TableMutation):
    """Columns of the rows that meet a condition (all, without one) get new values by SQL expressions."""

    kind: ClassVar[MutationKind] = "update"
    assignments: tuple[tuple[str, str], ...]
    where: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "assignments", expressions("assignments", self.assignments))
        if not self.assignments:
            raise InvalidSetting(key="assignments", value="none", expected="one at the least")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(_TableMutation):
    """The rows that meet a condition are taken out; without one, all of them."""

    kind: ClassVar[MutationKind] = "delete"
    where: str | None = None


Mutation: TypeAlias = Append | Overwrite | ReplaceWhere | ReplaceKeys | Merge | Update | Delete
