"""Two processes write one table at once: each mutation lands exactly once, or its writer is told.

Both stand in the middle of their transactions, held by gates, before either commits; see `writers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from writers import Gate, Writer, WriterHere

from headwater.delta import note_of, read_head, read_history

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.delta.conftest import CopyTable

    from headwater.runtime import SessionRuntime

Command = dict[str, Any]
SIX = [[key, 0] for key in range(6)]
Led = Writer | WriterHere
PATIENT = {"backoff_seconds": 0.01}
PROTOCOL = "ProtocolChanged"


class Table:
    """A table with the rows of SIX at version 0, and the two who write it."""

    def __init__(self, folder: Path, one: Led, other: Led) -> None:
        self.folder, self.one, self.other = folder, one, other
        self.path = folder / "table"
        self.uri = self.path.as_uri()

    def base(self) -> int:
        return read_head(self.uri).version if self.path.exists() else -1

    def held(self, writer: Led, command: Command) -> tuple[Command, Gate]:
        """Sends a mutation and returns when its transaction has read the table and waits for rows."""
        gate = Gate(self.folder / f"gate {command['mutation_id']}")
        sent: Command = {"policy": PATIENT, **command, "uri": self.uri, "base_version": self.base()}
        writer.send(**sent, gate=gate.path)
        return sent, gate

    def race(self, first: Command, second: Command) -> tuple[Command, Command]:
        """Both on one version, the first commits before the second; then both are sent again."""
        held = [self.held(self.one, first), self.held(self.other, second)]
        for _, gate in held:
            gate.wait_reached()
        answers: list[Command] = []
        for writer, (_, gate) in zip((self.one, self.other), held, strict=True):
            gate.open()
            answers.append(writer.answer())
        for writer, (sent, _), answer in zip((self.other, self.one), held, answers, strict=True):
            if "error" not in answer:
                again = writer.ask(**sent)  # by the other process, which knows nothing of it
                assert (again["outcome"], again["version"]) == ("already_committed", answer["version"])
        return answers[0], answers[1]

    def interrupted(self, sql: str, command: Command) -> Command:
        """The answer to a mutation in whose transaction somebody else runs a statement."""
        sent, gate = self.held(self.other, command)
        gate.wait_reached()
        assert self.one.ask("sql", sql=sql.format(table=f"delta.`{self.path}`")) == {}
        gate.open()
        answer = self.other.answer()
        assert self.one.ask(**sent)["outcome"] == "already_committed"
        return answer

    def rows(self) -> list[list[int]]:
        return self.one.ask("rows", uri=self.uri)["rows"]

    def landed(self) -> list[tuple[str, tuple[str, ...]]]:
        """The mutations in the order of their commits, each with what its earlier tries met."""
        notes = [note_of(each.user_metadata) for each in reversed(read_history(self.uri))]
        return [(note.mutation_id, note.attempts) for note in notes if note is not None]


@pytest.fixture(scope="module")
def pair(runtime: SessionRuntime, writer: Writer) -> Generator[tuple[WriterHere, Writer]]:
    """One who writes in this process, and one in another."""
    assert runtime
    here = WriterHere()
    yield here, writer
    here.close()


@pytest.fixture
def empty(pair: tuple[WriterHere, Writer], tmp_path: Path) -> Table:
    return Table(tmp_path, *pair)


@pytest.fixture
def table(empty: Table, copy_six: CopyTable) -> Table:
    copy_six(empty.path)
    return empty


def append(mutation_id: str, *rows: list[int], **more: Any) -> Command:
    return {"do": "append", "mutation_id": mutation_id, "rows": list(rows), **more}


def merge(mutation_id: str, *rows: list[int], **more: Any) -> Command:
    return {"do": "merge", "mutation_id": mutation_id, "rows": list(rows), **more}


def test_two_appends_of_one_pipeline_both_land_and_the_second_says_whom_it_met(table: Table) -> None:
    first, second = table.race(append("first", [10, 1]), append("second", [11, 1]))
    assert (first["outcome"], first["version"], first["attempts"]) == ("committed", 1, [])
    assert (second["outcome"], second["version"]) == ("committed", 2)
    assert second["attempts"] == [[0, "ConcurrentTransaction", "replan"]]
    assert table.landed() == [("zero", ()), ("first", ()), ("second", ("ConcurrentTransaction",))]
    assert table.rows() == [*SIX, [10, 1], [11, 1]]


def test_appends_of_two_pipelines_are_not_in_each_others_way(table: Table) -> None:
    first, second = table.race(append("first", [10, 1]), append("second", [11, 1], pipeline="q"))
    assert first["attempts"] == second["attempts"] == []
    assert table.landed() == [("zero", ()), ("first", ()), ("second", ())]
    assert table.rows() == [*SIX, [10, 1], [11, 1]]


def test_the_second_of_two_merges_sees_what_the_first_did(table: Table) -> None:
    first, second = table.race(
        merge("first", [1, 1], [10, 1]), merge("second", [1, 2], [10, 2], [12, 2], pipeline="q")
    )
    assert (first["attempts"], first["version"]) == ([], 1)
    assert second["attempts"] == [[0, "ConcurrentAppend", "replan"]]
    assert table.landed() == [("zero", ()), ("first", ()), ("second", ("ConcurrentAppend",))]
    assert table.rows() == [[0, 0], [1, 2], *SIX[2:], [10, 2], [12, 2]]


def test_a_delete_takes_out_what_was_appended_while_it_ran(table: Table) -> None:
    _, second = table.race(
        append("first", [4, 9], [10, 1]),
        {"do": "delete", "mutation_id": "second", "where": "k = 4", "pipeline": "q"},
    )
    assert second["attempts"] == [[0, "ConcurrentAppend", "replan"]]
    assert table.landed() == [("zero", ()), ("first", ()), ("second", ("ConcurrentAppend",))]
    assert table.rows() == [*SIX[:4], SIX[5], [10, 1]]


def test_an_update_changes_what_was_appended_while_it_ran(table: Table) -> None:
    update = {"do": "update", "mutation_id": "second", "where": "k = 4", "assignments": {"v": "v + 5"}}
    _, second = table.race(append("first", [4, 9]), update)
    assert second["attempts"] == [[0, "ConcurrentTransaction", "replan"]]
    assert table.rows() == [*SIX[:4], [4, 5], [4, 14], SIX[5]]


@pytest.mark.parametrize(
    ("sql", "command", "met"),
    [
        ("SET TBLPROPERTIES ('delta.appendOnly' = 'false')", append("m", [10, 1]), "MetadataChanged"),
        ("ADD CONSTRAINT known CHECK (k < 100)", merge("m", [10, 1]), "MetadataChanged"),
        ("ADD COLUMN w int", append("m", [10, 1]), "MetadataChanged"),
    ],
    ids=["property x append", "constraint x merge", "column x append"],
)
def test_a_change_of_the_table_by_an_outsider_is_met_and_survived(
    table: Table, sql: str, command: Command, met: str
) -> None:
    answer = table.interrupted(f"ALTER TABLE {{table}} {sql}", command)
    assert (answer["outcome"], answer["attempts"]) == ("committed", [[0, met, "replan"]])
    assert table.landed() == [("zero", ()), ("m", (met,))]
    assert [row[:2] for row in table.rows()] == [*SIX, [10, 1]]


def test_a_feature_that_the_table_gets_is_not_in_the_way_of_an_append(table: Table) -> None:
    feature = "ALTER TABLE {table} SET TBLPROPERTIES ('delta.feature.deletionVectors' = 'supported')"
    answer = table.interrupted(feature, append("m", [10, 1]))
    assert (answer["outcome"], answer["version"], answer["attempts"]) == ("committed", 2, [])
    assert table.rows() == [*SIX, [10, 1]]


def test_rows_that_a_new_constraint_forbids_do_not_get_in_by_a_second_try(table: Table) -> None:
    _, gate = table.held(table.other, append("m", [100, 1]))
    gate.wait_reached()
    table.one.ask("sql", sql=f"ALTER TABLE delta.`{table.path}` ADD CONSTRAINT known CHECK (k < 100)")
    gate.open()
    assert table.other.answer()["error"] == "HW-DELTA-025"
    assert table.rows() == SIX


def test_a_policy_that_changes_protocol_and_properties_is_met_and_survived(table: Table) -> None:
    features = {
        **PATIENT,
        "enable_features": ["deletionVectors"],
        "properties": {"delta.appendOnly": "false"},
    }
    sent, gate = table.held(table.other, append("second", [11, 1], pipeline="q"))
    gate.wait_reached()
    first = append("first", [10, 1], policy=features, uri=table.uri, base_version=0)
    assert table.one.ask(**first)["outcome"] == "committed"
    gate.open()
    second = table.other.answer()
    assert (second["outcome"], second["attempts"]) == ("committed", [[0, "MetadataChanged", "replan"]])
    assert table.landed() == [("zero", ()), ("first", ()), ("second", ("MetadataChanged",))]
    assert table.rows() == [*SIX, [10, 1], [11, 1]]
    assert table.one.ask(**sent)["outcome"] == table.other.ask(**first)["outcome"] == "already_committed"


def test_two_that_make_one_table_both_have_their_rows_in_it(empty: Table) -> None:
    _, second = empty.race(append("first", [1, 1]), append("second", [2, 2], pipeline="q"))
    assert second["attempts"] == [[-1, PROTOCOL, "replan"]]
    assert empty.landed() == [("first", ()), ("second", (PROTOCOL,))]
    assert empty.rows() == [[1, 1], [2, 2]]


@pytest.mark.parametrize("choice", [{"exact": True}, {"policy": {"max_attempts": 1}}], ids=["exact", "once"])
def test_one_that_may_not_try_again_is_told_and_leaves_nothing(table: Table, choice: Command) -> None:
    first, second = table.race(append("first", [10, 1]), merge("second", [1, 2], [11, 1], **choice))
    assert first["outcome"] == "committed"
    assert second["error"] == "HW-DELTA-003"
    assert table.landed() == [("zero", ()), ("first", ())]
    assert table.rows() == [*SIX, [10, 1]]


def test_an_exact_append_may_follow_an_append_of_another_pipeline_in_the_same_moment(table: Table) -> None:
    """To Delta the two are not in each other's way; the receipt tells the version that it became."""
    first, second = table.race(append("first", [10, 1]), append("second", [11, 1], pipeline="q", exact=True))
    assert (first["outcome"], second["outcome"]) == ("committed", "committed")
    assert second["version"] == first["version"] + 1
    assert table.rows() == [*SIX, [10, 1], [11, 1]]
