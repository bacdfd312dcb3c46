from __future__ import annotations

import shutil
import threading
from typing import TYPE_CHECKING, Any

import pytest

import headwater
from headwater.artifacts import Manifest, ViewCache, last_manifest
from headwater.delta import register_delta
from headwater.delta.snapshot import _DESCRIBED, forget_log
from headwater.errors import CommitConflict, HeadwaterError, NotStorable, RowsDiffer
from headwater.run.staging import Staging
from headwater.run.warehouse import Warehouse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.run import Progress, Project, RunOutcome
    from headwater.runtime import SessionRuntime

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
# Each call leaves a line: how often a view was computed can be counted from outside of Spark.
COUNTED = """
import headwater
from pyspark.sql import functions as F

headwater.source("numbers", path={lake!r})

@headwater.pure
def noted(n):
    with open({notes!r}, "a") as file:
        file.write(f"{{n}}\\n")
    return n * {factor}

@headwater.view(cache={cache!r})
def doubled(numbers):
    return numbers.select(F.udf(noted, "bigint")("id").alias("id"))
"""
READERS = """
@headwater.view
def passing(doubled):
    return doubled.where("id >= 0")

@headwater.table
def first(passing):
    return passing.select("id")

@headwater.table
def second(doubled):
    return doubled.selectExpr("id + {plus} AS id")
"""


class Small:
    """A project of one cached view over a lake's table, and tables that read it."""

    def __init__(self, folder: Path, runtime: SessionRuntime, cache: str) -> None:
        self.folder = folder
        self.runtime = runtime
        self.lake = folder / "lake"
        self.notes = folder / "notes.txt"
        self.add_rows()
        self.write(cache)

    def add_rows(self) -> None:
        with self.runtime.checkout() as session:
            rows = session.spark.range(10).repartition(2)
            rows.write.format("delta").mode("append").save(str(self.lake))

    def write(self, cache: str, readers: str = READERS, *, plus: int = 1, factor: int = 2) -> None:
        text = COUNTED.format(lake=str(self.lake), notes=str(self.notes), cache=cache, factor=factor)
        (self.folder / "views" / "v.py").write_text(text + readers.format(plus=plus))

    def project(self, **settings: str) -> Project:
        return headwater.open(self.folder, settings={**SETTINGS, **settings})

    def build(self, *, full: bool = False, only: tuple[str, ...] = ()) -> RunOutcome:
        done = self.project(parallel_tasks="1").build(full=full, only=only)
        assert done.status == "done", done.errors
        return done

    def calls(self) -> int:
        """How many rows were computed since the last question."""
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        self.notes.unlink(missing_ok=True)
        return len(lines)

    def manifest(self) -> Manifest:
        found = last_manifest(self.folder / ".headwater")
        assert found is not None
        return found

    def record(self, view: str = "doubled") -> ViewCache:
        return next(each for each in self.manifest().caches if each.view_name == view)

    def staged(self) -> list[str]:
        """The folders that are there, from the warehouse's."""
        found = (self.folder / ".headwater" / "staging").glob("*-*/_delta_log")
        return sorted(f"staging/{each.parent.name}" for each in found)

    def rows(self, table: str) -> list[int]:
        with self.project().query(f"SELECT id FROM {table} ORDER BY id") as result:
            return [each["id"] for each in result.read_all().to_pylist()]

    def is_memory_free(self) -> bool:
        with self.runtime.checkout() as session:
            return bool(session.jvm_session.sharedState().cacheManager().isEmpty())

    def plans(self) -> list[str]:
        """The plans of all that Spark has run so far."""
        with self.runtime.checkout() as session:
            store = session.jvm_session.sharedState().statusStore()
            found = store.executionsList()
            return [str(found.apply(index).physicalPlanDescription()) for index in range(found.size())]


@pytest.fixture
def small(project_folder: Callable[..., Path], runtime: SessionRuntime) -> Callable[[str], Small]:
    return lambda cache: Small(project_folder(), runtime, cache)


# --- memory --------------------------------------------------------------------------------------------


LATER = """
@headwater.table
def zlast(second):
    return second.select("id")
"""


def test_memory_is_computed_once_read_from_there_and_let_go(small: Callable[[str], Small]) -> None:
    one = small("memory")
    one.write("memory", READERS + LATER)
    free: dict[str, bool] = {}

    def listen(step: Progress) -> None:
        free[step.message] = one.is_memory_free()

    done = one.project(parallel_tasks="1").build(listen=listen)
    assert done.status == "done", done.errors
    assert one.calls() == 10
    # It is filled by one query and read by those that write two tables.
    # Spark forgets old queries, so that those of this test are told by standing last.
    assert sum("InMemoryTableScan" in each for each in one.plans()[-60:]) >= 3
    assert (free["second"], free["second built"], free["zlast"]) == (False, False, True)
    assert one.is_memory_free()
    assert one.rows("first") == list(range(0, 20, 2))
    assert one.rows("second") == list(range(1, 20, 2))
    used, other = one.record(), one.record("passing")
    assert (used.cache_policy, used.cache_path, used.hit, used.used) == ("memory", None, False, True)
    assert (other.cache_policy, other.cache_path, other.hit, other.used) == ("none", None, False, False)
    assert len(used.plan_fingerprint) == 64


def test_tables_behind_a_cache_are_counted_when_it_is_filled(small: Callable[[str], Small]) -> None:
    one = small("none")
    for cache in ("memory", "delta_staging"):
        one.write(cache)
        one.build(full=True)
        checked = {each.name: each.rows_checked for each in one.manifest().registrations}
        assert checked["numbers"] == 10


def test_without_a_cache_every_reader_computes_the_view(small: Callable[[str], Small]) -> None:
    one = small("none")
    one.build()
    assert one.calls() >= 20  # a filter may compute it once more
    assert one.staged() == []
    assert not (one.folder / ".headwater" / "staging").exists()


def test_readers_at_the_same_moment_share_one_computation(small: Callable[[str], Small]) -> None:
    one = small("memory")
    readers = "".join(
        f"\n@headwater.table\ndef t{number}(doubled):\n    return doubled.selectExpr('id + {number} AS id')\n"
        for number in range(4)
    )
    for cache in ("memory", "delta_staging"):
        one.write(cache, readers)
        done = one.project(parallel_tasks="4").build(full=True)
        assert done.status == "done", done.errors
        assert one.calls() == 10
        assert one.rows("t3") == list(range(3, 22, 2))
    assert one.is_memory_free()


def test_memory_is_let_go_when_the_last_reader_fails(small: Callable[[str], Small]) -> None:
    """A table that waits for one that failed never reads, and nobody waits for it."""
    one = small("memory")
    failing = (
        "\n@headwater.table\ndef bad(doubled, second):\n"
        "    return doubled.join(second, 'id', 'left').selectExpr('1 DIV (id - 4) AS id')\n"
        "\n@headwater.table\ndef badly(bad, doubled):\n    return doubled.join(bad, 'id')\n"
    )
    one.write("memory", READERS + failing + LATER)
    free: dict[str, bool] = {}
    done = one.project(parallel_tasks="1").build(
        listen=lambda step: free.update({step.message: one.is_memory_free()})
    )
    assert {each.name: each.action for each in done.tables} == {
        "first": "built",
        "second": "built",
        "bad": "failed",
        "badly": "skipped",
        "zlast": "built",
    }
    assert (free["bad"], free["zlast"]) == (False, True)
    assert one.calls() == 10
    assert one.record().used


def test_rows_that_cannot_be_computed_fail_every_reader_and_nothing_stays(
    small: Callable[[str], Small],
) -> None:
    one = small("memory")
    for cache in ("memory", "delta_staging"):
        one.write(cache, factor=0)
        text = (one.folder / "views" / "v.py").read_text().replace("n * 0", "n // (n - 4)")
        (one.folder / "views" / "v.py").write_text(text)
        done = one.project(parallel_tasks="1").build()
        assert done.status == "failed"
        assert set(done.errors) == {"first", "second"}
        assert "ZeroDivisionError" in str(done.errors["first"])
        assert not one.record().used
        assert one.staged() == []
        assert one.is_memory_free()


def test_a_source_that_lost_rows_is_found_out_before_anybody_reads(small: Callable[[str], Small]) -> None:
    """A data file that has fewer rows than its log promises."""
    one = small("memory")
    files = sorted(one.lake.glob("*.parquet"), key=lambda path: path.stat().st_size)
    with one.runtime.checkout() as session:
        session.spark.range(3).coalesce(1).write.parquet(str(one.folder / "other"))
    (other,) = (one.folder / "other").glob("*.parquet")
    shutil.copy(other, files[0])
    for crc in one.lake.glob(".*.crc"):
        crc.unlink()
    for cache in ("memory", "delta_staging"):
        one.write(cache)
        done = one.project(parallel_tasks="1").build()
        assert isinstance(done.errors["first"], RowsDiffer), done.errors
        assert not (one.folder / ".headwater" / "tables" / "first").exists()
        assert one.staged() == []
        assert one.is_memory_free()


# --- staging -------------------------------------------------------------------------------------------


def test_staging_is_a_hit_as_long_as_the_fingerprint_is_the_same(small: Callable[[str], Small]) -> None:
    one = small("delta_staging")
    one.build()
    assert one.calls() == 10
    first = one.record()
    assert (first.cache_policy, first.hit, first.used) == ("delta_staging", False, True)
    assert first.cache_path == f"staging/doubled-{first.plan_fingerprint}"
    assert one.staged() == [first.cache_path]

    shutil.move(one.lake / "_delta_log", one.folder / "log")  # what is not read need not be readable
    data = {path: path.rename(one.folder / path.name) for path in one.lake.glob("*.parquet")}
    shutil.move(one.folder / "log", one.lake / "_delta_log")
    one.write("delta_staging", plus=5)
    one.build()
    assert one.calls() == 0
    second = one.record()
    assert second == ViewCache(
        view_name="doubled",
        cache_policy="delta_staging",
        cache_path=first.cache_path,
        plan_fingerprint=first.plan_fingerprint,
        hit=True,
        used=True,
    )
    assert one.rows("second") == list(range(5, 24, 2))
    one.build(full=True)
    assert one.calls() == 0
    assert one.record().hit
    assert one.rows("first") == list(range(0, 20, 2))

    for there, moved in data.items():
        moved.rename(there)
    one.add_rows()
    one.build()
    assert one.calls() == 20
    third = one.record()
    assert not third.hit
    assert third.plan_fingerprint != first.plan_fingerprint
    assert one.staged() == [third.cache_path]
    one.write("delta_staging", plus=5, factor=3)
    one.build()
    assert one.calls() == 20
    assert not one.record().hit
    assert one.staged() == [one.record().cache_path]
    assert one.rows("first") == sorted([*range(0, 30, 3), *range(0, 30, 3)])


def test_a_policy_changes_no_result_and_rebuilds_nothing(small: Callable[[str], Small]) -> None:
    one = small("none")
    one.build()
    one.calls()
    keys = {each.name: (each.task_key, each.digest) for each in one.manifest().tables}
    run = one.manifest().run_id
    for cache in ("memory", "delta_staging"):
        one.write(cache)
        done = one.project().build()
        assert (done.status, done.run_id) == ("unchanged", run)
    one.build(full=True)
    assert {each.name: (each.task_key, each.digest) for each in one.manifest().tables} == keys
    assert one.calls() == 10


def test_rows_are_not_made_when_all_readers_are_up_to_date(small: Callable[[str], Small]) -> None:
    one = small("delta_staging")
    extra = "\n@headwater.table\ndef third(numbers):\n    return numbers.selectExpr('id + {plus} AS id')\n"
    one.write("delta_staging", READERS.replace("{plus}", "1") + extra, plus=1)
    one.build()
    one.calls()
    shutil.rmtree(one.folder / ".headwater" / "staging")
    one.write("delta_staging", READERS.replace("{plus}", "1") + extra, plus=2)
    done = one.build()
    assert {each.name: each.action for each in done.tables}["third"] == "built"
    assert one.calls() == 0
    assert (one.record().used, one.record().hit) == (False, False)
    assert one.staged() == []


def test_a_view_that_the_run_did_not_come_to_keeps_what_is_staged(small: Callable[[str], Small]) -> None:
    one = small("delta_staging")
    extra = "\n@headwater.table\ndef third(numbers):\n    return numbers.selectExpr('id + {plus} AS id')\n"
    one.write("delta_staging", READERS.replace("{plus}", "1") + extra, plus=1)
    one.build()
    staged = one.staged()
    one.add_rows()
    one.build(only=("third",))
    assert one.staged() == staged
    one.write("none", READERS + extra)
    one.build()
    assert one.staged() == []


def test_staged_rows_that_are_damaged_are_made_again(small: Callable[[str], Small]) -> None:
    one = small("delta_staging")
    one.build()
    assert one.calls() == 10
    folder = one.folder / ".headwater" / one.staged()[0]
    damages = (
        lambda: next(folder.glob("*.parquet")).unlink(),
        lambda: max((folder / "_delta_log").glob("*.json")).write_text("{"),
        (folder / "_checked").unlink,  # a run that was killed before it had looked at the source
    )
    for damage in damages:
        damage()
        one.build(full=True)
        assert one.calls() == 10
        assert not one.record().hit
        assert one.rows("first") == list(range(0, 20, 2))
    one.build(full=True)
    assert one.calls() == 0
    assert one.record().hit


def test_a_hit_is_found_and_read_without_a_job(small: Callable[[str], Small]) -> None:
    one = small("delta_staging")
    one.build(only=("second",))
    place = one.folder / ".headwater" / one.staged()[0]
    view, _, digest = place.name.partition("-")
    with one.runtime.checkout() as session:
        context: Any = session.spark.sparkContext
        store = context._jsc.sc().statusStore()
        forget_log(session, place.as_uri())
        _DESCRIBED.clear()
        before = store.jobsList(None).size()
        head = Staging(Warehouse(one.folder / ".headwater")).find(place.as_uri(), view, digest)
        assert head is not None
        register_delta(session, head.pin(view))
        assert store.jobsList(None).size() == before
        assert session.spark.table(view).count() == 10


def test_rows_that_differ_in_every_run_are_never_a_hit(project_folder: Callable[..., Path]) -> None:
    text = (
        "import headwater\n\n@headwater.view\ndef drawn(spark):\n"
        "    return spark.range(5).selectExpr('id', 'rand() AS lot')\n"
        "\n@headwater.view(cache='delta_staging')\ndef lots(drawn):\n    return drawn.where('id >= 0')\n"
        "\n@headwater.table\ndef a(lots):\n    return lots\n"
        "\n@headwater.table\ndef b(lots):\n    return lots\n"
    )
    folder = project_folder(v_py=text)
    with (folder / "headwater.toml").open("a") as file:
        file.write('\n[determinism]\nrandom = "allow"\n')
    for _ in range(2):
        project = headwater.open(folder, settings=SETTINGS)
        assert project.build().status == "done"
        manifest = last_manifest(folder / ".headwater")
        assert manifest is not None
        lots = next(each for each in manifest.caches if each.view_name == "lots")
        assert (lots.used, lots.hit) == (True, False)
        with project.query("SELECT count(*) AS n FROM a JOIN b USING (id, lot)") as result:
            assert result.read_all().to_pylist() == [{"n": 5}]  # two readers, one draw
        assert list((folder / ".headwater" / "staging").glob("lots-*")) == []


def test_a_cached_view_may_read_another(small: Callable[[str], Small]) -> None:
    """What lies behind rows that are there is not made at all."""
    one = small("memory")
    nested = (
        "\n@headwater.view(cache='delta_staging')\ndef Outer(DOUBLED):\n    return DOUBLED.where('id > 2')\n"
        "\n@headwater.view\ndef middle(outer, doubled):\n    return outer.join(doubled, 'id')\n"
        "\n@headwater.table\ndef last(Outer):\n    return Outer.selectExpr('id + {plus} AS id')\n"
        "\n@headwater.table\ndef joined(middle):\n    return middle.select('id')\n"
    )
    one.write("memory", nested)
    one.build()
    assert one.calls() == 10
    assert one.rows("joined") == list(range(4, 20, 2))
    one.write("memory", nested, plus=2)
    one.build()
    assert one.calls() == 0
    assert (one.record("Outer").hit, one.record().used) == (True, False)
    assert one.rows("last") == list(range(6, 22, 2))
    assert one.is_memory_free()


def test_a_column_that_no_table_can_have_is_refused_before_anything_runs(
    small: Callable[[str], Small],
) -> None:
    one = small("none")
    text = (
        "\n@headwater.view(cache='delta_staging')\ndef odd(numbers):\n"
        "    return numbers.selectExpr('id AS `a b`', 'id')\n"
        "\n@headwater.table\ndef plain(odd):\n    return odd.select('id')\n"
    )
    one.write("none", text)
    with pytest.raises(NotStorable, match="'odd' cannot be stored: its column 'a b'"):
        one.project().build()
    one.write("none", text.replace("delta_staging", "memory"))
    one.build()
    assert one.rows("plain") == list(range(10))


@pytest.mark.parametrize("name", ["Select", "x" * 128])
def test_any_name_of_a_view_can_be_staged(small: Callable[[str], Small], name: str) -> None:
    one = small("none")
    text = (
        f"\n@headwater.view(name={name!r}, cache='delta_staging')\ndef any_view(numbers):\n"
        "    return numbers\n"
        f"\n@headwater.table\ndef plain(spark):\n    return spark.table('`{name.lower()}`')\n"
    )
    one.write("none", text)
    one.build()
    one.build(full=True)
    assert one.record(name).hit
    assert one.staged() == [one.record(name).cache_path]
    assert one.rows("plain") == list(range(10))


def test_everything_else_works_over_cached_views(small: Callable[[str], Small]) -> None:
    one = small("delta_staging")
    one.build()
    assert one.rows("doubled") == list(range(0, 20, 2))
    assert one.project().replay("last").status == "equal"
    assert one.project().explain("first", analyze=True).metrics
    assert {each.name: each.cache for each in one.project().plan().views} == {
        "doubled": "delta_staging",
        "passing": "none",
        "first": "none",
        "second": "none",
    }
    one.write("delta_staging", plus=3)
    assert {each.name: each.cache for each in one.project().plan().views}["doubled"] == "delta_staging"
    with one.project().query("SELECT view_name, cache_policy, hit, used FROM hw_cache ORDER BY 1") as result:
        assert result.read_all().to_pylist() == [
            {"view_name": "doubled", "cache_policy": "delta_staging", "hit": False, "used": True},
            {"view_name": "passing", "cache_policy": "none", "hit": False, "used": False},
        ]


def test_two_runs_at_once_do_not_sweep_what_the_other_uses(small: Callable[[str], Small]) -> None:
    one = small("delta_staging")
    one.build()
    one.calls()
    errors: list[HeadwaterError] = []
    threads = [
        threading.Thread(target=lambda: errors.extend(one.project().build(full=True).errors.values()))
        for _ in range(2)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(isinstance(each, CommitConflict) for each in errors), errors  # they write the same tables
    assert one.calls() == 0
    assert one.staged() == [one.record().cache_path]
