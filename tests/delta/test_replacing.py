from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headwater.delta import (
    Append,
    CdfWindow,
    Delete,
    ReplaceKeys,
    commit,
    commit_mutation,
    compute_content,
    marked_approximate,
    netted_changes,
    pin_changes,
    read_pinned,
    write_policy,
)
from headwater.errors import (
    CommitConflict,
    ConstraintViolated,
    EngineFailed,
    MutationRefused,
    NotADeltaTable,
    RowsUnusable,
    SchemaDiffers,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from tests.delta.conftest import Table

    from headwater.delta import Receipt

Row = tuple[int | None, str | None, int | None]
SCHEMA = "a int, b string, v int"
KEYS = st.tuples(st.none() | st.integers(0, 2), st.none() | st.sampled_from(["", "x"]))
ROWS = st.lists(
    st.tuples(KEYS, st.none() | st.integers(0, 2)).map(lambda each: (*each[0], each[1])), max_size=8
)


def rows_of(frame: DataFrame) -> Counter[tuple[Any, ...]]:
    found: list[Any] = frame.collect()
    return Counter(tuple(each) for each in found)


# A key of nulls alone that nothing has, among keys that go and come.
@example(
    before=[(None, "", None), (None, "", None)],
    new=[(None, "", None), (None, "x", 0)],
    more=[(None, None)],
    keeps_changes=False,
    has_vectors=True,
    is_exact=False,
)
@example(
    before=[(1, "", None), (2, "y", 1)],
    new=[(None, None, 7)],
    more=[(1, "")],
    keeps_changes=True,
    has_vectors=True,
    is_exact=True,
)
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    before=ROWS,
    new=ROWS,
    more=st.lists(KEYS, max_size=3),
    keeps_changes=st.booleans(),
    has_vectors=st.booleans(),
    is_exact=st.booleans(),
)
def test_rows_of_affected_keys_are_replaced_and_no_others(
    table: Table,
    before: list[Row],
    new: list[Row],
    more: list[tuple[Any, ...]],
    *,
    keeps_changes: bool,
    has_vectors: bool,
    is_exact: bool,
) -> None:
    """Whatever keys come, go, stay, are null or have several rows: one commit, its digest, its feed."""
    table.path = table.path.with_name(f"t{next(table.numbers)}")
    spark = table.session.spark
    features = [*(["changeDataFeed"] * keeps_changes), *(["deletionVectors"] * has_vectors)]
    table.change(Append, spark.createDataFrame(before, SCHEMA), policy=write_policy(enable_features=features))
    affected = [*(row[:2] for row in new), *more]
    version = table.version
    receipt = table.change(
        ReplaceKeys,
        spark.createDataFrame(new, SCHEMA),
        affected=spark.createDataFrame(affected, "a int, b string"),
        keys=("a", "b"),
        exact=is_exact,
    )
    kept = [row for row in before if row[:2] not in affected]
    assert rows_of(read_pinned(table.session, receipt.pin)) == Counter([*kept, *new])
    assert (receipt.kind, receipt.outcome, receipt.version) == ("replace_keys", "committed", version + 1)
    assert (receipt.rows, table.version) == (len(new), receipt.version)
    table.check(receipt)
    if keeps_changes:
        window = CdfWindow(starting_version=receipt.version)
        feed = rows_of(netted_changes(table.session, pin_changes("t", table.uri, window)))
        removed, added = Counter(before) - Counter([*kept, *new]), Counter([*kept, *new]) - Counter(before)
        wanted = Counter({(*row, "delete"): count for row, count in removed.items()})
        assert feed == wanted + Counter({(*row, "insert"): count for row, count in added.items()})


def listed(table: Table, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of a table's newest version, nulls last."""
    found = read_pinned(table.session, table.head.pin("t")).select(*columns)
    return sorted(rows_of(found).elements(), key=lambda row: [(each is None, each) for each in row])


def start(table: Table, **policy: Any) -> Receipt:
    rows = table.values("(1, 'a'), (2, 'b'), (2, 'c'), (3, 'd'), (NULL, 'n') AS t(k, s)")
    return table.change(Append, rows, policy=write_policy(**policy) if policy else None)


def replace(table: Table, rows: str, affected: str, **fields: Any) -> Receipt:
    return table.change(
        ReplaceKeys,
        table.values(
            f"SELECT * FROM VALUES {rows} AS t(k, s)" if rows else "SELECT 1 AS k, '' AS s WHERE false"
        ),
        affected=table.values(f"{affected} AS t(k)"),
        **{"keys": ("k",), **fields},
    )


def test_the_receipt_tells_which_way_it_went(table: Table) -> None:
    """A write where every affected key has new rows, a merge where one vanishes; counts are of rows."""
    start(table)
    written = replace(table, "(2, 'B'), (NULL, 'N'), (9, 'z')", "(2), (NULL), (9), (9)")
    metrics = dict(written.metrics)
    assert (written.operation, written.rows, metrics["numDeletedRows"]) == ("WRITE", 3, "3")
    merged = replace(table, "(2, 'BB')", "(2), (3), (NULL)")
    metrics = dict(merged.metrics)
    assert (merged.operation, merged.rows, metrics["numTargetRowsDeleted"]) == ("MERGE", 1, "3")
    assert table.rows() == [(1, "a"), (2, "BB"), (9, "z")]
    table.check(merged)


def test_a_key_that_was_never_there_does_not_vanish_for_who_follows_the_version(table: Table) -> None:
    start(table)
    assert replace(table, "(2, 'B')", "(2), (77)", exact=True).operation == "WRITE"
    assert replace(table, "(2, 'B')", "(2), (77)").operation == "MERGE"
    gone = replace(table, "", "(2), (77)", exact=True)
    assert (gone.operation, gone.rows) == ("MERGE", 0)
    table.check(gone)


@pytest.mark.parametrize("affected", ["SELECT 1 AS k WHERE false", "SELECT 77 AS k"])
@pytest.mark.parametrize("exact", [True, False])
def test_nothing_that_is_replaced_by_nothing_is_a_commit_with_its_note(
    table: Table, affected: str, *, exact: bool
) -> None:
    """Who reads the log sees that it was done, and on which inputs."""
    before = start(table)
    none = table.values("SELECT 1 AS k, '' AS s WHERE false")
    mutation = table.meant(ReplaceKeys, keys=("k",), exact=exact)
    receipt = commit_mutation(table.session, mutation, none, affected=table.values(affected))
    assert (receipt.outcome, receipt.version, receipt.rows) == ("committed", before.version + 1, 0)
    assert receipt.content == before.content


@pytest.mark.parametrize("affected", ["(2)", "(2), (3)"])
def test_it_lands_once_however_often_it_is_sent(table: Table, affected: str) -> None:
    start(table)
    mutation = table.meant(ReplaceKeys, keys=("k",))
    rows, keys = table.values("(2, 'B') AS t(k, s)"), table.values(f"{affected} AS t(k)")
    receipt = commit_mutation(table.session, mutation, rows, affected=keys)
    kept = table.path / "_headwater" / "content" / f"{receipt.version:020}.json"
    kept.unlink()  # as if it was killed right after its commit
    again = commit_mutation(table.session, mutation, rows, affected=keys)
    assert (again.outcome, again.pin, again.content) == ("already_committed", receipt.pin, receipt.content)
    assert table.version == receipt.version


@pytest.mark.parametrize("affected", ["(1), (2), (3)", "(2), (3)"])
@pytest.mark.parametrize(
    "policy",
    [
        {"partition_by": ["k"]},
        {"cluster_by": ["k"]},
        {"column_mapping_mode": "name"},
        {"enable_features": ["incremental"]},
        {"order_by": ["s"], "target_file_size": "1mb"},
        {"partition_by": ["s"], "enable_features": ["changeDataFeed"]},
    ],
    ids=str,
)
def test_tables_of_every_layout_have_their_keys_replaced(
    table: Table, policy: dict[str, Any], affected: str
) -> None:
    start(table, **policy)
    said, is_settled = write_policy(**policy), table.version
    receipt = replace(table, "(2, 'B'), (3, 'D')", affected, policy=said)
    left = [(1, "a")] if "1" not in affected else []
    assert listed(table, "k", "s") == [*left, (2, "B"), (3, "D"), (None, "n")]
    assert (receipt.version, table.version) == (1 + is_settled, 1 + is_settled)
    table.check(receipt)
    assert replace(table, "(2, 'B'), (3, 'D')", affected, policy=said).content == receipt.content


def test_an_empty_text_that_names_a_folder_is_the_null_it_comes_back_as(table: Table) -> None:
    rows = table.values("(1, ''), (2, 'x') AS t(v, p)")
    table.change(Append, rows, policy=write_policy(partition_by=["p"]))
    new, keys = table.values("(5, '') AS t(v, p)"), table.values("('') AS t(p)")
    receipt = table.change(ReplaceKeys, new, affected=keys, keys=("p",))
    assert listed(table, "v", "p") == [(2, "x"), (5, None)]
    table.check(receipt)


@pytest.mark.parametrize("affected", ["(2)", "(2), (3)"])
def test_rows_that_break_a_constraint_replace_nothing(table: Table, affected: str) -> None:
    start(table)
    policy = write_policy(constraints={"short": "length(s) < 3"})
    with pytest.raises(ConstraintViolated) as caught:
        replace(table, "(2, 'long'), (2, 'x')", affected, policy=policy)
    assert (caught.value.constraint, caught.value.count) == ("short", 1)
    table.sql("ALTER TABLE {t} ADD CONSTRAINT own CHECK (s <> 'bad')")
    with pytest.raises(ConstraintViolated) as caught:
        replace(table, "(2, 'bad'), (2, 'x')", affected)
    assert (caught.value.constraint, caught.value.count) == ("own", 1)
    receipt = replace(table, "(2, 'x')", affected, policy=policy)
    told = [(each.name, each.enforced_by, each.extra_passes) for each in receipt.constraints]
    assert told == [("own", "delta", 0), ("short", "headwater", 0)]
    table.check(receipt)


@pytest.mark.parametrize("affected", ["(1), (2)", "(1), (2), (3)"])
def test_rows_are_made_once(table: Table, affected: str) -> None:
    """What is by chance is the same in all that is asked of the rows: their digest is that of the table."""
    start(table)
    rows = table.values("SELECT int(id) AS k, uuid() AS s FROM range(1, 3)")
    receipt = table.change(ReplaceKeys, rows, affected=table.values(f"{affected} AS t(k)"), keys=("k",))
    table.check(receipt)
    context: Any = table.session.spark.sparkContext._jsc
    names = [str(each.name()) for each in context.getPersistentRDDs().values()]
    assert [each for each in names if not each.startswith("Delta Table State")] == []  # nothing stays behind


@pytest.mark.parametrize("names", [("t", "s", "odd`name", "first"), ("_hwt", "_hws", "_HWdeletes")], ids=str)
@pytest.mark.parametrize("affected", ["(1)", "(1), (2)"])
def test_columns_may_have_the_names_that_are_used_here(
    table: Table, names: tuple[str, ...], affected: str
) -> None:
    quoted = [f"`{name.replace('`', '``')}`" for name in names]
    old = ", ".join(f"struct(id AS id, id AS {name}) AS {name}" for name in quoted)
    new = ", ".join(f"struct(7L AS id, 8L AS {name}) AS {name}" for name in quoted)
    rows = table.values(f"SELECT id, {old} FROM range(3)")
    table.change(Append, rows, policy=write_policy(column_mapping_mode="name"))
    receipt = table.change(
        ReplaceKeys,
        table.values(f"SELECT 1L AS ID, {new}"),
        affected=table.values(f"{affected} AS t(Id)"),
        keys=("iD",),
    )
    every = len(names)
    left = [(2, *[(2, 2)] * every)] if affected == "(1)" else []
    assert table.rows() == [(0, *[(0, 0)] * every), (1, *[(7, 8)] * every), *left]
    table.check(receipt)


def test_keys_may_be_of_any_type_that_can_be_compared(table: Table) -> None:
    """And the other columns of any at all."""
    made = (
        "SELECT if(id = 1, double('NaN'), 0.0D) AS k, named_struct('x', array(id)) AS l, map('a', id) AS m, "
        "parse_json(concat('[', id, ']')) AS j FROM range({})"
    )
    table.change(Append, table.values(made.format("3")))
    rows = table.values(made.format("1, 2"))
    receipt = table.change(ReplaceKeys, rows, affected=rows.select("l", "k"), keys=("k", "l"))
    assert (receipt.operation, dict(receipt.metrics)["numDeletedRows"]) == ("WRITE", "1")
    table.check(receipt)
    every = table.values(made.format("3")).select("k", "l")
    receipt = table.change(ReplaceKeys, rows, affected=every, keys=("k", "l"))
    assert (receipt.operation, receipt.content and receipt.content.rows) == ("MERGE", 1)
    table.check(receipt)


@pytest.mark.parametrize("affected", ["(1)", "(1), (2)"])
def test_columns_that_delta_fills_in_are_its_own(table: Table, affected: str) -> None:
    table.sql("CREATE TABLE {t} (k INT, twice INT GENERATED ALWAYS AS (k * 2), s STRING) USING delta")
    table.change(Append, table.values("(1, 'a'), (2, 'b') AS t(k, s)"))
    receipt = replace(table, "(1, 'A')", affected)
    assert table.rows() == [(1, 2, "A"), *([(2, 4, "b")] if affected == "(1)" else [])]
    assert receipt.content in (None, compute_content(table.session, receipt.pin))


def test_what_is_approximate_in_the_table_is_left_out_of_what_comes(table: Table) -> None:
    rows = table.values("SELECT id AS k, double(id) AS d FROM range(3)")
    table.change(Append, marked_approximate(table.session, rows, ["d"]))
    new = table.values("SELECT 1L AS k, 5.5D AS d")
    receipt = table.change(ReplaceKeys, new, affected=new.select("k"), keys=("k",))
    table.check(receipt)


def test_a_table_whose_content_nobody_knows_gets_none(table: Table) -> None:
    table.sql("CREATE TABLE {t} USING delta AS SELECT id AS k, 'x' AS s FROM range(3)")
    receipt = replace(table, "(2, 'y')", "(2)")
    assert (receipt.content, receipt.rows) == (None, 1)


@pytest.mark.parametrize("affected", ["(2)", "(2), (3)"])
def test_a_writer_that_slips_in_between_is_seen_in_the_digest(
    table: Table, affected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows that were looked at are not those that went: then it is made of the files that changed."""
    start(table)
    apply = commit.replace_keys

    def late(*given: Any, **named: Any) -> None:
        table.sql("INSERT INTO {t} VALUES (2, 'late'), (5, 'late')")
        apply(*given, **named)

    monkeypatch.setattr(commit, "replace_keys", late)
    receipt = replace(table, "(2, 'B')", affected)
    assert receipt.version == 2
    assert [row for row in listed(table, "k", "s") if row[0] in {2, 5}] == [(2, "B"), (5, "late")]
    table.check(receipt)


def test_an_exact_one_follows_its_version_or_fails(table: Table) -> None:
    start(table)
    mutation = table.meant(ReplaceKeys, keys=("k",), exact=True)
    table.change(Delete, where="k = 1")
    rows, keys = table.values("(2, 'B') AS t(k, s)"), table.values("(2) AS t(k)")
    with pytest.raises(CommitConflict):
        commit_mutation(table.session, mutation, rows, affected=keys)
    assert table.version == 1


def test_what_does_not_fit_is_refused(table: Table) -> None:
    rows = table.values("(2, 'B') AS t(k, s)")
    with pytest.raises(NotADeltaTable):
        table.change(ReplaceKeys, rows, affected=rows.select("k"), keys=("k",))
    start(table)
    refused: tuple[tuple[type[Exception], Any, Any, tuple[str, ...]], ...] = (
        (RowsUnusable, rows, None, ("k",)),
        (RowsUnusable, None, rows, ("k",)),
        (RowsUnusable, rows, rows.select("s"), ("k",)),
        (RowsUnusable, rows.select("s"), rows, ("k",)),
        (RowsUnusable, rows, table.values("(3), (NULL) AS t(k)"), ("k",)),
        (MutationRefused, rows, rows, ("other",)),
        (SchemaDiffers, rows, table.values("('2') AS t(k)"), ("k",)),
        (SchemaDiffers, table.values("(2, 'B', 1) AS t(k, s, more)"), rows, ("k",)),
        (EngineFailed, table.values("SELECT raise_error('no') AS s, 2 AS k"), rows, ("k",)),
    )
    for error, new, affected, keys in refused:
        with pytest.raises(error):
            table.change(ReplaceKeys, new, affected=affected, keys=keys)
    with pytest.raises(RowsUnusable, match="takes no affected keys"):
        table.change(Append, rows, affected=rows)
    with pytest.raises(
        RowsUnusable, match=r"1 of them have keys that are not among the affected ones, such as \(2,\)"
    ):
        replace(table, "(2, 'B')", "(3)")
    assert table.version == 0
