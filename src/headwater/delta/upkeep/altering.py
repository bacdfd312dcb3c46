"""What a table says of itself, changed by hand: properties, features, constraints. Each is one commit.

Properties that decide how far back the table can be read are guarded; those of the protocol are left to
features. Not here: what a write policy sets by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.delta.columns import quoted, table_in_sql
from headwater.delta.constraints import (
    Constraint,
    check_constraints,
    find_violation,
    table_constraints,
)
from headwater.delta.failures import loading_errors
from headwater.delta.features import feature_properties
from headwater.delta.files import open_rows
from headwater.delta.layout import PROTOCOL_KEYS
from headwater.delta.settling import FILE_SIZE, property_list, property_settings, sql_text
from headwater.delta.snapshot import describe_pin
from headwater.delta.upkeep.content import carry_content
from headwater.delta.upkeep.failing import upkeep_errors
from headwater.delta.upkeep.log import check_commit
from headwater.delta.upkeep.note import noted_session
from headwater.delta.upkeep.receipt import UpkeepReceipt, table_state
from headwater.delta.upkeep.retention import DELETED_FILES, LOG, retention_of
from headwater.errors import InvalidSetting, MutationRefused
from headwater.given import size
from headwater.runtime import local_path_of, redacted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.delta.snapshot import SnapshotInfo
    from headwater.delta.upkeep.holds import Loss
    from headwater.delta.upkeep.note import Operation
    from headwater.delta.upkeep.receipt import TableState
    from headwater.delta.upkeep.task import UpkeepTask
    from headwater.names import TablePin

_CONSTRAINT = "delta.constraints."
_OURS = ("headwater.", "delta.headwater.")
_DELTAS = "delta."
_MAPPING = "delta.columnMapping.mode"
_NOT_NULL = "not_null."
_TOGETHER = (DELETED_FILES, LOG)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Altering:
    """A table before it is altered, and what is asked."""

    task: UpkeepTask
    pin: TablePin
    before: TableState
    snapshot: SnapshotInfo


def alter_properties(
    task: UpkeepTask, wanted: Mapping[str, str], unwanted: Sequence[str] = ()
) -> UpkeepReceipt:
    """Sets some of a table's properties and takes others back; one commit for each of the two.

    Raises:
        InvalidSetting: a key that is another command's, or a duration that is none.
        PinsAtRisk: with the new properties Delta may clean commits from the log that are needed.
        MutationRefused: Delta does not take a key or a value.
    """
    for key in (*wanted, *unwanted):
        _check_key(key)
    both = {_known_as(key) for key in wanted} & {_known_as(key) for key in unwanted}
    if both:
        raise InvalidSetting(key=min(both), value="set and taken back", expected="one of the two")
    start = _begin(task)
    present = {_known_as(key): value for key, value in start.snapshot.table_properties.items()}
    to_set = {key: value for key, value in _checked(wanted).items() if present.get(_known_as(key)) != value}
    to_unset = [key for key in unwanted if _known_as(key) in present]
    gone = {_known_as(key) for key in (*to_unset, *to_set)}
    kept = {
        key: value for key, value in start.snapshot.table_properties.items() if _known_as(key) not in gone
    }
    afterwards = replace(start.snapshot, table_properties={**kept, **to_set})
    retention_of(afterwards.table_properties)
    lost = check_commit(task, "properties", afterwards) if to_set or to_unset else ()
    if any(key in to_set for key in _TOGETHER):  # Delta compares the two only as far as it is given them
        to_set |= {key: kept[key] for key in _TOGETHER if key in kept}
    statements: list[str] = []
    if to_set:
        statements.append(f"SET TBLPROPERTIES ({property_list(to_set)})")
    if to_unset:
        statements.append(f"UNSET TBLPROPERTIES ({', '.join(map(sql_text, to_unset))})")
    shown = redacted(tuple(to_set.items()))
    words = ", ".join([*(f"{key} = {value}" for key, value in shown), *(f"no {key}" for key in to_unset)])
    with upkeep_errors("properties", task.uri):
        settings = property_settings(task.session, to_set)
    return _end(start, "properties", statements, words, lost, settings)


def enable_features(task: UpkeepTask, features: Sequence[str]) -> UpkeepReceipt:
    """Switches on features that a table does not have yet; most cannot be taken back.

    Raises:
        FeatureUnknown: this Delta has no such feature.
        MutationRefused: the table cannot have it.
    """
    start = _begin(task)
    present = {_known_as(key): value for key, value in start.snapshot.table_properties.items()}
    known = {each.lower() for each in (*start.snapshot.reader_features, *start.snapshot.writer_features)}
    wanted = {
        key: value
        for key, value in feature_properties(task.session, features).items()
        if not _is_on(key, value, present.get(_known_as(key)))
        and key.lower().removeprefix("delta.feature.") not in known
    }
    lost = check_commit(task, "features", start.snapshot) if wanted else ()
    statements = [f"SET TBLPROPERTIES ({property_list(wanted)})"] if wanted else []
    words = ", ".join(f"{key} = {value}" for key, value in wanted.items())
    return _end(start, "features", statements, words, lost)


def alter_constraints(
    task: UpkeepTask, added: Mapping[str, str], dropped: Sequence[str] = ()
) -> UpkeepReceipt:
    """Gives a table constraints, which all of its rows must meet already, and takes others away.

    Raises:
        ConstraintViolated: rows of the table do not meet one; nothing was changed.
        ConstraintInvalid: it is no condition over the table's columns.
        MutationRefused: one of that name is there already, or is not there.
    """
    for each in added:
        if not _NAME.fullmatch(each):
            expected = "a name of letters, digits and underscores"
            raise InvalidSetting(key="constraint", value=repr(each), expected=expected)
    start = _begin(task)
    present = {each.name.lower(): each.expression for each in table_constraints(start.snapshot)}
    new = {key: text for key, text in added.items() if present.get(key.lower()) != text}
    for each in dropped:  # before anything is added: two changes are two commits
        if each.lower() not in present or each.lower().startswith(_NOT_NULL):
            path = str(local_path_of(task.uri))
            raise MutationRefused(path=path, kind="constraints", detail=f"it has no CHECK named '{each}'")
    _check_new(start, new)
    lost = check_commit(task, "constraints", start.snapshot) if new or dropped else ()
    statements = [f"ADD CONSTRAINT {key} CHECK ({text}\n)" for key, text in new.items()]
    statements += [f"DROP CONSTRAINT {quoted(each)}" for each in dropped]
    words = ", ".join([*(f"{key}: {text}" for key, text in new.items()), *(f"no {each}" for each in dropped)])
    return _end(start, "constraints", statements, words, lost)


def _check_key(key: str) -> None:
    if PROTOCOL_KEYS.fullmatch(key):
        raise InvalidSetting(key=key, value="given", expected="a feature: the protocol follows from those")
    if key.lower().startswith(_CONSTRAINT):
        raise InvalidSetting(key=key, value="given", expected="a constraint, which has a command of its own")
    if key.lower().startswith(_OURS):
        raise InvalidSetting(key=key, value="given", expected="another key: Headwater keeps these itself")


def _known_as(key: str) -> str:
    """The form under which two keys are one: Delta's own are compared without regard to case."""
    return key.lower() if key.lower().startswith(_DELTAS) else key


def _checked(wanted: Mapping[str, str]) -> dict[str, str]:
    """The properties with a file size, if there is one, in bytes and as others spell it."""
    found = {FILE_SIZE if key.lower() == FILE_SIZE.lower() else key: wanted[key] for key in wanted}
    if FILE_SIZE in found:
        text = found[FILE_SIZE]
        found[FILE_SIZE] = str(size(FILE_SIZE, int(text) if text.isdigit() else text))
    return found


def _is_on(key: str, value: str, present: str | None) -> bool:
    """Whether a feature's property is as it should be; any mapping of columns is one."""
    return present not in {None, "none"} if key == _MAPPING else present == value


def _check_new(start: _Altering, new: Mapping[str, str]) -> None:
    asked = tuple(Constraint(name=key, expression=text, owner="policy") for key, text in new.items())
    if not asked:
        return
    path = str(local_path_of(start.pin.uri))
    with loading_errors(local_path_of(start.pin.uri), start.pin.version, dataset=start.pin.name):
        rows = open_rows(start.task.session, start.pin)
    check_constraints(start.task.session, asked, rows, start.pin.name)
    violated = find_violation(asked, rows, path)
    if violated is not None:
        raise violated


def _begin(task: UpkeepTask) -> _Altering:
    pin, before = table_state(task)
    return _Altering(task=task, pin=pin, before=before, snapshot=describe_pin(task.session, pin))


def _end(
    start: _Altering,
    operation: Operation,
    statements: Sequence[str],
    words: str,
    lost: tuple[Loss, ...],
    settings: Mapping[str, str] | None = None,
) -> UpkeepReceipt:
    task, after, uri = start.task, start.before, start.pin.uri
    if statements and not task.dry_run:
        with upkeep_errors(operation, uri), noted_session(task.session, task.note, settings) as own:
            for each in statements:
                own.spark.sql(f"ALTER TABLE {table_in_sql(uri)} {each}")
        newest, after = table_state(task)
        carry_content(start.pin, newest)
    return UpkeepReceipt(
        operation=operation,
        outcome="unchanged" if not statements else "planned" if task.dry_run else "done",
        summary=words if statements else "it is so already",
        before=start.before,
        after=after,
        metrics=(("changes", len(statements)),),
        lost=lost,
    )
