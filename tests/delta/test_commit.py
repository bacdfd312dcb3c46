from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import DataFrameWriter

from headwater.datasets import FeatureGate
from headwater.delta import (
    Append,
    Delete,
    Merge,
    MergeClause,
    Overwrite,
    ReplaceWhere,
    Update,
    commit_mutation,
    compute_content,
    note_of,
    preparing,
    read_head,
    read_history,
    same_keys,
    write_policy,
)
from headwater.errors import (
    CommitConflict,
    EngineFailed,
    MergeAmbiguous,
    MutationRefused,
    NotADeltaTable,
    RowsUnusable,
    StoreUnsafe,
    WriteFailed,
    WriterVersionTooLow,
)
from headwater.names import SnapshotKey
from headwater.origin import Origin

if TYPE_CHECKING:
    from tests.delta.conftest import Table

    from headwater.delta import Receipt


def check_content(table: Table, receipt: Receipt) -> None:
    """The digest of a receipt is that of the table's rows, read anew."""
    assert receipt.content is not None
    assert receipt.content == compute_content(table.session, receipt.pin)


def test_a_commit_has_a_version_rows_protocol_and_a_note(table: Table) -> None:
    receipt = table.change(Overwrite, table.session.spark.range(3), mutation_id="one")
    assert (receipt.kind, receipt.outcome, receipt.version, receipt.rows) == ("overwrite", "committed", 0, 3)
    assert receipt.key == SnapshotKey(canonical_uri=table.uri, version=0)
    assert receipt.operation == "WRITE"
    assert receipt.timestamp_ms == table.head.timestamp_ms
    assert table.head.digest == receipt.pin.digest
    assert (receipt.protocol.min_reader_version, receipt.protocol.min_writer_version) == (1, 2)
    note = note_of(table.head.user_metadata)
    assert note is not None
    assert (note.mutation_id, note.attempts) == ("one", ())
    appended = table.change(Append, table.session.spark.range(2))
    assert (appended.version, appended.rows) == (1, 2)
    assert table.rows() == [(0,), (0,), (1,), (1,), (2,)]
    check_content(table, appended)


def test_every_kind_of_mutation_lands_once_and_knows_the_content_after_it(table: Table) -> None:
    table.change(Append, table.values("(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd') AS t(id, s)"))
    upserted = table.values("(2, 'B'), (9, 'z') AS t(id, s)")
    changes: tuple[tuple[Any, dict[str, Any], Any, int], ...] = (
        (Update, {"assignments": {"s": "upper(s)"}, "where": "id = 1"}, None, 1),
        (Delete, {"where": "id = 3"}, None, 0),
        (Merge, {"on": same_keys("id")}, upserted, 2),
        (ReplaceWhere, {"where": "id >= 4"}, table.values("(5, 'e'), (6, 'f') AS t(id, s)"), 2),
    )
    for kind, fields, rows, written in changes:
        mutation = table.meant(kind, **fields)
        receipt = commit_mutation(table.session, mutation, rows)
        assert (receipt.kind, receipt.outcome, receipt.rows) == (kind.kind, "committed", written)
        assert receipt.version == table.version
        check_content(table, receipt)
        again = commit_mutation(table.session, mutation, rows)
        assert (again.outcome, again.pin, again.content) == (
            "already_committed",
            receipt.pin,
            receipt.content,
        )
        assert table.version == receipt.version
    assert table.rows() == [(1, "A"), (2, "B"), (5, "e"), (6, "f")]


def test_the_clauses_of_a_merge_are_tried_in_their_order(table: Table) -> None:
    table.change(Append, table.values("(1, 'a'), (2, 'b'), (3, 'c'), (NULL, 'n') AS t(id, s)"))
    clauses = (
        MergeClause(when="matched", condition="s.s = 'gone'", action="delete"),
        MergeClause(when="matched", action="update", assignments=(("s", "concat(t.s, s.s)"),)),
        MergeClause(when="not_matched", action="insert", assignments=(("id", "s.id"),)),
        MergeClause(when="not_matched_by_source", action="update", assignments=(("s", "'left'"),)),
    )
    source = table.values("(1, 'gone'), (2, '!'), (NULL, '?'), (7, 'x') AS t(id, s)")
    receipt = table.change(Merge, source, on=same_keys("id"), clauses=clauses)
    assert receipt.outcome == "committed"
    rows = table.sql("SELECT id, s FROM {t}").collect()
    assert {row["id"]: row["s"] for row in rows} == {2: "b!", 3: "left", None: "n?", 7: None}


def test_the_same_mutation_lands_once(table: Table) -> None:
    mutation = table.meant(Append)
    first = commit_mutation(table.session, mutation, table.session.spark.range(3))
    again = commit_mutation(table.session, mutation, table.session.spark.range(3))
    assert again.outcome == "already_committed"
    assert again.pin == first.pin
    assert again.content == first.content
    assert table.rows() == [(0,), (1,), (2,)]


def test_a_blind_append_lands_once_without_a_number_and_without_a_digest(table: Table) -> None:
    rows = table.session.spark.range(3)
    mutation = table.meant(Append, blind=True)
    first = commit_mutation(table.session, mutation, rows)
    assert (first.outcome, first.version, first.rows, first.content) == ("committed", 0, 3, None)
    assert not (table.path / "_headwater").exists()
    again = commit_mutation(table.session, mutation, rows)
    assert (again.outcome, again.pin, again.content) == ("already_committed", first.pin, None)
    stale = commit_mutation(table.session, table.meant(Append, blind=True, base_version=-1), rows)
    assert (stale.outcome, stale.version) == ("committed", 1)
    log = sorted((table.path / "_delta_log").glob("*.json"))
    assert [b'"txn":' in path.read_bytes() for path in log] == [False, False]
    assert [note_of(each.user_metadata) is not None for each in read_history(table.uri)] == [True, True]
    watched = table.change(Append, rows, blind=True, policy=write_policy(constraints={"early": "id < 3"}))
    assert (watched.constraints[0].name, watched.content) == ("early", None)


def test_a_table_may_go_there_and_back_again(table: Table) -> None:
    receipts = [table.change(Overwrite, table.session.spark.range(count)) for count in (2, 5, 2)]
    assert [each.version for each in receipts] == [0, 1, 2]
    assert receipts[0].content == receipts[2].content != receipts[1].content
    assert table.rows() == [(0,), (1,)]


def test_an_exact_mutation_that_lost_a_race_is_not_taken_for_a_commit(table: Table) -> None:
    """Delta says nothing when it drops the second of two writers on one base; we do."""
    table.change(Overwrite, table.session.spark.range(2))
    table.change(Overwrite, table.session.spark.range(3))
    late = table.meant(Overwrite, base_version=0, exact=True)
    with pytest.raises(CommitConflict) as caught:
        commit_mutation(table.session, late, table.session.spark.range(9), Origin("v.py", 1))
    assert caught.value.origin == Origin("v.py", 1)
    with pytest.raises(CommitConflict):
        commit_mutation(
            table.session, table.meant(Overwrite, base_version=-1, exact=True), table.session.spark.range(9)
        )
    assert table.rows() == [(0,), (1,), (2,)]


def test_a_mutation_that_is_not_exact_follows_whatever_came_since(table: Table) -> None:
    table.change(Append, table.session.spark.range(1))
    late = table.meant(Append)
    table.change(Append, table.session.spark.range(1, 2))
    assert commit_mutation(table.session, late, table.session.spark.range(2, 3)).version == 2
    assert table.rows() == [(0,), (1,), (2,)]


def test_what_changes_nothing_says_so_and_has_a_version(table: Table) -> None:
    table.change(Append, table.session.spark.range(3))
    mutation = table.meant(Delete, where="id > 100")
    for _ in range(2):
        receipt = commit_mutation(table.session, mutation)
        assert (receipt.outcome, receipt.version, receipt.rows) == ("no_change", 0, 0)
        assert receipt.metrics == ()
        check_content(table, receipt)
    assert table.change(Delete, where="id = 2").outcome == "committed"
    table.change(Append, table.session.spark.range(100, 103))
    assert commit_mutation(table.session, mutation).outcome == "committed"
    assert table.rows() == [(0,), (1,), (100,)]


def test_what_others_wrote_in_between_is_in_the_content(table: Table) -> None:
    table.change(Append, table.session.spark.range(3))
    table.sql("INSERT INTO {t} VALUES (50)")
    table.sql("DELETE FROM {t} WHERE id = 0")
    check_content(table, table.change(Append, table.session.spark.range(2)))


def test_the_content_of_what_others_made_is_known_once_all_of_it_was_replaced(table: Table) -> None:
    table.session.spark.range(3).write.format("delta").save(str(table.path))
    assert table.change(Append, table.session.spark.range(1)).content is None
    check_content(table, table.change(Overwrite, table.session.spark.range(2)))
    check_content(table, table.change(Append, table.session.spark.range(1)))


def test_a_writer_that_was_killed_before_it_kept_a_digest_has_it_when_it_comes_again(table: Table) -> None:
    mutation = table.meant(Append)
    first = commit_mutation(table.session, mutation, table.session.spark.range(3))
    shutil.rmtree(table.path / "_headwater")
    again = commit_mutation(table.session, mutation, table.session.spark.range(3))
    assert (again.outcome, again.content) == ("already_committed", first.content)
    check_content(table, table.change(Append, table.session.spark.range(1)))


def test_a_commit_that_landed_is_a_commit_even_if_the_bridge_broke(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = DataFrameWriter.save

    def save_and_break(writer: DataFrameWriter, path: str) -> None:
        save(writer, path)
        raise Py4JNetworkError("Answer from Java side is empty")

    monkeypatch.setattr(DataFrameWriter, "save", save_and_break)
    receipt = table.change(Overwrite, table.session.spark.range(3))
    assert (receipt.outcome, receipt.version, receipt.rows) == ("committed", 0, 3)


def test_a_write_leaves_no_setting_behind(table: Table) -> None:
    policy = write_policy(target_file_size="1mb", bloom_filters=["id"])
    noted = {"spark.databricks.delta.lastCommitVersionInSession": "1"}  # Delta's own, about itself
    before = dict(table.session.spark.conf.getAll)
    table.change(Append, table.session.spark.range(1), policy=policy)
    table.change(Delete, where="id = 0", policy=policy)
    assert dict(table.session.spark.conf.getAll) == before | noted
    other = table.path.parent / "other"
    table.session.spark.range(4).write.format("delta").save(str(other))
    assert read_head(other.as_uri()).user_metadata is None


def test_rows_that_cannot_be_computed_leave_no_table(table: Table) -> None:
    rows = table.session.spark.sql("SELECT 1 DIV x AS id FROM VALUES (1), (0) AS t(x)")
    with pytest.raises(EngineFailed) as caught:
        table.change(Overwrite, rows)
    assert caught.value.condition == "DIVIDE_BY_ZERO"
    assert not list(table.path.glob("_delta_log/*.json"))
    table.change(Overwrite, table.session.spark.range(1))
    with pytest.raises(EngineFailed):
        table.change(Overwrite, rows)
    assert table.rows() == [(0,)]


@pytest.mark.parametrize(
    ("kind", "fields", "has_rows"),
    [
        (Update, {"assignments": {"id": "1"}}, False),
        (Delete, {}, False),
        (Merge, {"on": "t.id = s.id"}, True),
        (ReplaceWhere, {"where": "id = 1"}, True),
    ],
)
def test_a_table_that_is_not_there_cannot_be_changed(
    table: Table, kind: type[Delete], fields: dict[str, object], has_rows: bool
) -> None:
    with pytest.raises(NotADeltaTable):
        table.change(kind, table.session.spark.range(1) if has_rows else None, **fields)
    assert not table.path.exists()


def test_a_merge_whose_source_has_a_key_twice_is_refused(table: Table) -> None:
    table.change(Append, table.session.spark.range(3))
    with pytest.raises(MergeAmbiguous):
        table.change(Merge, table.values("(1), (1) AS t(id)").selectExpr("id * 1L AS id"), on=same_keys("id"))
    assert table.version == 0


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Delete, {"where": "nope = 1"}),
        (Delete, {"where": "id ="}),
        (Update, {"assignments": {"nope": "1"}}),
        (Update, {"assignments": {"id": "1"}, "where": "other = 1"}),
    ],
)
def test_a_change_that_spark_cannot_resolve_is_refused(
    table: Table, kind: type[Delete], fields: dict[str, object]
) -> None:
    table.change(Append, table.session.spark.range(1))
    with pytest.raises(MutationRefused):
        table.change(kind, **fields)
    assert table.version == 0


def test_a_table_that_only_grows_is_not_changed(table: Table) -> None:
    table.change(
        Append, table.session.spark.range(1), policy=write_policy(properties={"delta.appendOnly": True})
    )
    with pytest.raises(MutationRefused) as caught:
        table.change(Delete)
    assert caught.value.condition == "DELTA_CANNOT_MODIFY_APPEND_ONLY"


def test_a_gate_is_looked_at_before_a_write(table: Table) -> None:
    table.change(Append, table.session.spark.range(1))
    with pytest.raises(WriterVersionTooLow):
        table.change(Append, table.session.spark.range(1), gate=FeatureGate(min_writer_version=7))
    assert table.version == 0


def test_a_mutation_has_rows_or_has_none_as_its_kind_says(table: Table) -> None:
    with pytest.raises(RowsUnusable):
        table.change(Append)
    table.change(Append, table.session.spark.range(1))
    with pytest.raises(RowsUnusable):
        table.change(Delete, table.session.spark.range(1))


def test_s3_is_not_written_without_a_log_store_that_was_proven_safe(table: Table) -> None:
    with pytest.raises(StoreUnsafe) as caught:
        table.change(Append, table.session.spark.range(1), uri="s3a://bucket/t", base_version=-1)
    assert "S3DynamoDBLogStore" in caught.value.next_step


def test_a_policy_that_changed_is_settled_by_a_commit_of_its_own(table: Table) -> None:
    table.change(Append, table.session.spark.range(1))
    policy = write_policy(properties={"owner.team": "water"})
    receipt = table.change(Append, table.session.spark.range(1), policy=policy, exact=True)
    assert (receipt.version, dict(receipt.settings)) == (2, {"owner.team": "water"})
    prepared = read_history(table.uri)[1]
    assert prepared.operation == "SET TBLPROPERTIES"
    assert note_of(prepared.user_metadata) is None  # it is not the mutation itself
    assert table.change(Append, table.session.spark.range(1), policy=policy).version == 3
    assert table.change(Append, table.session.spark.range(1)).version == 4  # without a policy it stays
    gone = table.change(Append, table.session.spark.range(1), policy=write_policy())
    assert gone.version == 6
    assert read_history(table.uri)[1].operation == "UNSET TBLPROPERTIES"


def test_a_mutation_that_was_killed_behind_its_preparation_goes_on_from_there(table: Table) -> None:
    table.change(Append, table.session.spark.range(1))
    policy = write_policy(properties={"owner.team": "water"})
    mutation = table.meant(Append, policy=policy, exact=True)
    rows = table.session.spark.sql("SELECT 1L DIV (id - id) AS id FROM range(1)")
    with pytest.raises(EngineFailed):
        commit_mutation(table.session, mutation, rows)
    assert table.version == 1  # only the preparation is there
    assert commit_mutation(table.session, mutation, table.session.spark.range(1)).version == 2


def test_an_exact_overwrite_sees_who_came_while_the_table_was_prepared(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.change(Append, table.session.spark.range(1))
    settle = preparing.settle_table

    def settle_late(*arguments: Any, **named: Any) -> Any:
        table.sql("INSERT INTO {t} VALUES (7)")
        return settle(*arguments, **named)

    monkeypatch.setattr(preparing, "settle_table", settle_late)
    policy = write_policy(properties={"owner.team": "water"})
    with pytest.raises(CommitConflict):
        table.change(Overwrite, table.session.spark.range(2), policy=policy, exact=True)
    assert table.rows() == [(0,), (7,)]


def test_what_delta_compacts_behind_a_commit_is_not_the_commit(table: Table) -> None:
    table.session.spark.conf.set("spark.databricks.delta.autoCompact.minNumFiles", "2")
    table.change(Append, table.session.spark.range(0, 8, 1, 8))
    table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'true')")
    receipt = table.change(Update, assignments={"id": "id + 1"}, where="id > 3")
    assert (receipt.operation, receipt.rows) == ("UPDATE", 4)
    assert read_history(table.uri)[0].operation == "OPTIMIZE"


def test_a_path_that_is_a_file_cannot_be_written(table: Table) -> None:
    table.path.write_text("in the way")
    with pytest.raises((WriteFailed, NotADeltaTable)):
        table.change(Append, table.session.spark.range(1))
    assert table.path.read_text() == "in the way"
