"""Sources of files and extractors in a user's own project: what they see, and when they run again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.artifacts import last_manifest
from headwater.delta import find_head
from headwater.errors import InvalidSetting, NotInAView, SourceChanged, SourceUnreadable

if TYPE_CHECKING:
    from headwater.run import Progress, RunOutcome
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
VIEWS = """import headwater
from counting import count

headwater.source("texts", path="data", format="files", options={"include": "*.txt", "max_bytes": "100"})

@headwater.extractor(files="texts", schema="words INT, letters ARRAY<STRING>")
def counts(path, content):
    if content.startswith(b"!"):
        raise ValueError("no")
    return {"words": count(content.decode()), "letters": sorted(set(content.decode()))}

@headwater.view
def longest(counts):
    return counts.where("words > 1").select("path", "words")
"""


@pytest.fixture(scope="module")
def unbuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project before its first build; tests copy it."""
    made = tmp_path_factory.mktemp("new") / "small"
    (made / "views").mkdir(parents=True)
    (made / "headwater.toml").write_text('[project]\nname = "small"\n')
    (made / "views" / "v.py").write_text(VIEWS)
    (made / "counting.py").write_text("def count(text):\n    return len(text.split())\n")
    (made / "data" / "deep").mkdir(parents=True)
    (made / "data" / "a.txt").write_text("one two")
    (made / "data" / "deep" / "b.txt").write_text("b")
    (made / "data" / "bad.txt").write_text("!")
    (made / "data" / "large.txt").write_text("x" * 101)
    (made / "data" / "other.csv").write_text("1,2")
    return made


@pytest.fixture
def folder(unbuilt: Path, tmp_path: Path) -> Path:
    return shutil.copytree(unbuilt, tmp_path / "small")


@pytest.fixture(scope="module")
def built(unbuilt: Path, runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after its first build; tests that change it take a copy."""
    assert runtime.profile.master == "local[2]"
    made = shutil.copytree(unbuilt, tmp_path_factory.mktemp("built") / "small")
    build(made)
    return made


def build(folder: Path) -> RunOutcome:
    outcome = headwater.open(folder, settings=SETTINGS).build()
    assert outcome.error is None, outcome.error
    return outcome


def actions(outcome: RunOutcome) -> dict[str, str]:
    return {table.name: table.reason if table.action != "skipped" else "skipped" for table in outcome.tables}


def test_each_file_is_a_row_whatever_becomes_of_it(built: Path, runtime: SessionRuntime) -> None:
    with runtime.checkout() as session:
        frame = session.spark.read.format("delta").load(str(built / ".headwater" / "tables" / "counts"))
        rows = {row["path"]: row for row in frame.collect()}
        columns = ["path", "size_bytes", "content_sha256", "skip_reason", "extract_error", "words", "letters"]
        assert frame.columns == columns
    assert sorted(rows) == ["a.txt", "bad.txt", "deep/b.txt", "large.txt"]
    assert (rows["a.txt"]["words"], rows["a.txt"]["letters"]) == (2, [" ", "e", "n", "o", "t", "w"])
    assert rows["bad.txt"]["extract_error"] == "ValueError: no"
    assert rows["large.txt"]["skip_reason"] == "it has more than 100 bytes"


def test_it_runs_again_for_another_file_content_or_function_and_for_nothing_else(
    built: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(built, tmp_path / "small")
    first = last_manifest(folder / ".headwater")
    assert first is not None
    assert headwater.open(folder, settings=SETTINGS).build().run_id == first.run_id
    (folder / "data" / "other.csv").write_text("3,4")
    assert build(folder).status == "unchanged"
    (folder / "data" / "a.txt").write_text("one two three")
    assert actions(build(folder))["counts"] == "'texts', which it reads, changed"
    (folder / "counting.py").write_text("def count(text):\n    return len(text.split()) + 1\n")
    assert actions(build(folder))["counts"] == "its definition changed"
    view = folder / "views" / "v.py"
    view.write_text(view.read_text().replace("letters ARRAY<STRING>", "letters ARRAY<STRING>, more INT"))
    assert actions(build(folder))["counts"] == "its definition changed"
    view.write_text(view.read_text().replace('files="texts",', 'files="texts", version="2",'))
    assert actions(build(folder))["counts"] == "its definition changed"


@pytest.mark.usefixtures("runtime")
def test_only_files_whose_content_is_another_are_read_again(project_folder: MakeProject) -> None:
    """A file that changed, came, went or was merely touched; and a table over the rows, by their files."""
    views = """import headwater
from pathlib import Path

headwater.source("texts", path="data", format="files")

@headwater.extractor(files="texts", schema="words ARRAY<STRING>")
def found(path, content):
    with open(LOG, "a") as log:
        log.write(path + "\\n")
    return {"words": content.decode().split()}

@headwater.table(refresh_by="path")
def words(found):
    return found.selectExpr("path", "explode(words) AS word")
"""
    folder = project_folder(v_py="")
    log = folder.parent / "log.txt"
    (folder / "views" / "v.py").write_text(views.replace("LOG", repr(str(log))))
    (folder / "data").mkdir()
    for name in "abc":
        (folder / "data" / f"{name}.txt").write_text(f"{name} x")
    build(folder)
    assert sorted(log.read_text().split()) == ["a.txt", "b.txt", "c.txt"]
    log.write_text("")
    (folder / "data" / "a.txt").write_text("other x")
    (folder / "data" / "b.txt").touch()
    (folder / "data" / "c.txt").unlink()
    (folder / "data" / "d.txt").write_text("d x")
    planned = {each.name: each for each in headwater.open(folder, settings=SETTINGS).plan().views}
    assert (planned["found"].mode, planned["found"].mode_code) == ("incremental", "proven")
    assert planned["found"].mode_reason.endswith("3 files of texts changed.")
    assert planned["words"].mode == "incremental"
    outcome = build(folder)
    assert {each.name: each.action for each in outcome.tables} == {
        "found": "incremental",
        "words": "incremental",
    }
    assert sorted(log.read_text().split()) == ["a.txt", "d.txt"]
    with headwater.open(folder, settings=SETTINGS).query("SELECT path, word FROM words") as result:
        rows = [tuple(each.values()) for each in result.read_all().to_pylist()]
    wanted = {"a.txt": "other x", "b.txt": "b x", "d.txt": "d x"}
    assert sorted(rows) == [(path, word) for path, text in wanted.items() for word in text.split()]
    digests = {each.name: each.digest for each in outcome.tables}
    anew = headwater.open(folder, settings=SETTINGS).build(full=True)
    assert {each.name: each.digest for each in anew.tables} == digests


def test_the_record_lists_files_and_why_some_were_left_out(built: Path) -> None:
    manifest = last_manifest(built / ".headwater")
    assert manifest is not None
    (source,) = [each for each in manifest.sources if each.name == "texts"]
    assert source.kind == "files"
    assert {each.path: each.skip_reason for each in source.files} == {
        "a.txt": None,
        "bad.txt": None,
        "deep/b.txt": None,
        "large.txt": "it has more than 100 bytes",
    }


def test_a_file_that_changes_while_the_run_goes_on_ends_it_and_the_next_build_is_right(
    folder: Path, runtime: SessionRuntime
) -> None:
    file = folder / "data" / "a.txt"

    def meddle(step: Progress) -> None:
        if step.message.startswith("planning"):
            file.write_text("not what was pinned")

    outcome = headwater.open(folder, settings=SETTINGS).build(listen=meddle)
    assert isinstance(outcome.error, SourceChanged)
    assert "a.txt changed while the run went on" in outcome.error.message
    assert find_head((folder / ".headwater" / "tables" / "counts").as_uri()) is None
    file.write_text("one two")
    build(folder)
    with runtime.checkout() as session:
        frame = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / "counts"))
        assert frame.where("path = 'a.txt'").collect()[0]["words"] == 2


def test_a_query_shows_the_files_and_no_place_on_this_machine(built: Path) -> None:
    with headwater.open(built, settings=SETTINGS).query("SELECT * FROM texts ORDER BY path") as result:
        rows = result.read_all().to_pylist()
    assert [row["path"] for row in rows] == ["a.txt", "bad.txt", "deep/b.txt", "large.txt"]
    assert str(built) not in str(rows)


@pytest.mark.parametrize(
    ("old", "new", "error", "words"),
    [
        ('path="data"', 'path="nowhere"', SourceUnreadable, "no such folder"),
        ('"max_bytes": "100"', '"max_bytes": "all"', InvalidSetting, "max_bytes"),
        ('"include"', '"exclude"', InvalidSetting, "exclude"),
        ('files="texts"', 'files="words"', InvalidSetting, 'format="files"'),
        ('format="files"', 'format="text"', InvalidSetting, 'format="files"'),
        ("words INT,", "words INTEGERS,", headwater.HeadwaterError, "INTEGERS"),
        ("words INT,", "words INT, Path STRING,", InvalidSetting, "besides"),
    ],
)
def test_what_does_not_fit_is_a_typed_error_before_anything_is_written(
    folder: Path, old: str, new: str, error: type[headwater.HeadwaterError], words: str
) -> None:
    view = folder / "views" / "v.py"
    view.write_text(view.read_text().replace(old, new))
    with pytest.raises(error) as caught:
        headwater.open(folder, settings=SETTINGS).build()
    assert words in f"{caught.value} {caught.value.next_step}"
    assert caught.value.origin is not None
    assert caught.value.origin.path.endswith("v.py")
    assert not (folder / ".headwater" / "tables").exists()


def test_only_a_plain_function_is_an_extractor() -> None:
    with pytest.raises(NotInAView, match="@extractor"):
        headwater.extractor(files="texts", schema="n INT", name="n")(len)


def test_moments_are_in_utc(project_folder: MakeProject, runtime: SessionRuntime) -> None:
    text = (
        "import headwater\nfrom datetime import datetime\n"
        'headwater.source("texts", path="data", format="files")\n'
        '@headwater.extractor(files="texts", schema="at TIMESTAMP")\n'
        "def moments(path, content):\n    return {'at': datetime(2024, 2, 29, 12)}\n"
    )
    folder = project_folder(v_py=text)
    (folder / "data").mkdir()
    (folder / "data" / "a").touch()
    build(folder)
    with runtime.checkout() as session:
        frame = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / "moments"))
        assert frame.selectExpr("CAST(at AS STRING)").collect()[0][0] == "2024-02-29 12:00:00"
