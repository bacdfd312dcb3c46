"""Delta sources in whole projects: what a definition and a location say is what is read and recorded."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import read_head
from headwater.errors import (
    HeadwaterError,
    InvalidSetting,
    ReaderFeatureMissing,
    ReaderVersionTooLow,
    ScanNotResolved,
    UnknownSetting,
    VersionNotFound,
    WriterFeatureMissing,
    WriterVersionTooLow,
)
from headwater.run import Project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.run import RunOutcome
    from headwater.runtime import RunSession, SessionRuntime


@pytest.fixture(scope="module")
def lake(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with two versions of rows: ids 0 to 2, then 0 to 5; a test that writes to it takes a copy."""
    table = tmp_path_factory.mktemp("lake") / "orders"
    with runtime.checkout() as session:
        rows = session.spark.range(3).selectExpr("id", "CAST(id AS STRING) AS amount")
        rows.coalesce(1).write.format("delta").save(str(table))
        more = session.spark.range(3, 6).selectExpr("id", "CAST(id AS STRING) AS amount")
        more.coalesce(1).write.format("delta").mode("append").save(str(table))
    return table


def project(make: Callable[..., Path], said: str, *, toml: str = "") -> Path:
    folder = make(
        lake_py=f"import headwater\nfrom headwater.delta import FeatureGate\n\n{said}\n",
        kept_sql="-- headwater: table\nSELECT * FROM orders\n",
    )
    file = folder / "headwater.toml"
    file.write_text(file.read_text() + toml)
    return folder


def built(folder: Path) -> RunOutcome:
    outcome = Project(folder).build()
    assert outcome.error is None, str(outcome.error)
    return outcome


def rows_of(folder: Path, sql: str = "SELECT * FROM kept") -> list[dict[str, Any]]:
    with Project(folder).query(sql) as result:
        return result.read_all().to_pylist()


def registration(outcome: RunOutcome, name: str = "orders") -> dict[str, Any]:
    manifest = json.loads(outcome.manifest.read_bytes())
    (found,) = [each for each in manifest["registrations"] if each["name"] == name]
    return found


def test_columns_defaults_and_casts_are_read_and_recorded(
    project_folder: Callable[..., Path], lake: Path
) -> None:
    folder = project(
        project_folder,
        f'headwater.source("orders", path="{lake}",\n'
        '    columns={"order_id": "id + 100", "amount": "amount", "country": "upper(country)"},\n'
        """    defaults={"country": "'de'", "amount": "'unused'"},\n"""
        '    schema="order_id INT, amount DECIMAL(5,1), country STRING")',
    )
    outcome = built(folder)
    found = sorted(rows_of(folder), key=lambda row: row["order_id"])
    assert [row["order_id"] for row in found] == [100, 101, 102, 103, 104, 105]
    assert {row["country"] for row in found} == {"DE"}
    assert str(found[3]["amount"]) == "3.0"
    done = registration(outcome)
    assert done["provider_kind"] == "delta_native"
    assert done["degraded"] is False
    assert {each["name"]: each["expression"] for each in done["columns"]} == {
        "order_id": "CAST((id + CAST(100 AS BIGINT)) AS INT)",
        "amount": "CAST(amount AS DECIMAL(5,1))",
        "country": "upper('de')",
    }
    assert done["options"]["defaults"] == [["country", "'de'"], ["amount", "'unused'"]]
    assert rows_of(folder, "SELECT count(*) AS n FROM orders WHERE country = 'DE'") == [{"n": 6}]
    assert Project(folder).build().status == "unchanged"


def test_a_version_that_is_named_stays(
    project_folder: Callable[..., Path], lake: Path, session: RunSession, tmp_path: Path
) -> None:
    table = shutil.copytree(lake, tmp_path / "orders")
    folder = project(project_folder, f'headwater.source("orders", path="{table}", version=0)')
    built(folder)
    assert len(rows_of(folder)) == 3
    one = session.spark.range(9, 10).selectExpr("id", "'x' AS amount")
    one.write.format("delta").mode("append").save(str(table))
    assert Project(folder).build().status == "unchanged"


def test_a_location_says_where_and_adds_its_gate(project_folder: Callable[..., Path], lake: Path) -> None:
    said = 'headwater.source("orders", path="nowhere", gate=FeatureGate(min_reader_version=1))'
    folder = project(project_folder, said, toml=f'\n[locations.Orders]\npath = "{lake}"\nversion = 0\n')
    outcome = built(folder)
    assert len(rows_of(folder)) == 3
    assert registration(outcome)["snapshot"]["version"] == 0
    toml = folder / "headwater.toml"
    toml.write_text(toml.read_text() + "gate = { min_writer_version = 7 }\n")
    with pytest.raises(WriterVersionTooLow) as caught:
        Project(folder).build()
    assert caught.value.origin is not None
    assert caught.value.origin.path.endswith("views/lake.py")


def test_a_location_of_nothing_is_refused(project_folder: Callable[..., Path], lake: Path) -> None:
    said = f'headwater.source("orders", path="{lake}")'
    folder = project(project_folder, said, toml='\n[locations.order]\npath = "x"\n')
    with pytest.raises(UnknownSetting, match="order") as caught:
        Project(folder).build()
    assert "orders" in caught.value.next_step
    assert caught.value.origin is not None
    assert caught.value.origin.line > 0


def test_only_a_path_can_be_said_of_what_is_no_delta_table(project_folder: Callable[..., Path]) -> None:
    said = 'headwater.source("orders", path="x.csv", format="csv", schema="id INT")'
    folder = project(project_folder, said, toml="\n[locations.orders]\nversion = 3\n")
    with pytest.raises(InvalidSetting, match="version"):
        Project(folder).build()


@pytest.mark.parametrize(
    ("gate", "error"),
    [
        ("min_reader_version=3", ReaderVersionTooLow),
        ("min_writer_version=7", WriterVersionTooLow),
        ('required_reader_features=("deletionVectors",)', ReaderFeatureMissing),
        ('required_writer_features=("rowTracking",)', WriterFeatureMissing),
    ],
)
def test_a_gate_that_is_closed_stops_a_build_before_anything_is_written(
    project_folder: Callable[..., Path], lake: Path, gate: str, error: type[HeadwaterError]
) -> None:
    said = f'headwater.source("orders", path="{lake}", gate=FeatureGate({gate}))'
    folder = project(project_folder, said)
    with pytest.raises(error) as caught:
        Project(folder).build()
    assert (caught.value.exit_code, str(lake) in caught.value.message) == (1, True)
    assert caught.value.origin is not None
    assert caught.value.origin.line == 4
    assert not (folder / ".headwater" / "tables").exists()


def test_a_gate_is_part_of_what_a_source_is(project_folder: Callable[..., Path], lake: Path) -> None:
    folder = project(project_folder, f'headwater.source("orders", path="{lake}")')
    built(folder)
    project(
        project_folder, f'headwater.source("orders", path="{lake}", gate=FeatureGate(min_reader_version=1))'
    )
    (table,) = built(folder).tables
    assert (table.action, "'orders'" in table.reason) == ("built", True)


def test_switching_pushdown_off_is_about_speed_alone(project_folder: Callable[..., Path], lake: Path) -> None:
    folder = project(project_folder, f'headwater.source("orders", path="{lake}")')
    built(folder)
    project(project_folder, f'headwater.source("orders", path="{lake}", pushdown=False)')
    assert Project(folder).build().status == "unchanged"


def test_single_files_and_the_file_of_each_row(project_folder: Callable[..., Path], lake: Path) -> None:
    said = f'headwater.source("orders", path="{lake}", file_column="data_file")'
    folder = project(project_folder, said)
    built(folder)
    files = sorted({row["data_file"] for row in rows_of(folder)})
    assert len(files) == 2
    assert all((lake / each).is_file() for each in files)
    project(project_folder, f'headwater.source("orders", path="{lake}", files=["{files[0]}"])')
    built(folder)
    assert len(rows_of(folder)) == 3


def test_an_expression_that_does_not_fit_names_its_source(
    project_folder: Callable[..., Path], lake: Path
) -> None:
    said = f'headwater.source("orders", path="{lake}", columns={{"id": "order_id"}})'
    with pytest.raises(ScanNotResolved, match="order_id") as caught:
        Project(project(project_folder, said)).build()
    assert caught.value.origin is not None
    assert caught.value.origin.line == 4


def test_a_version_that_is_not_there_is_exit_code_3(project_folder: Callable[..., Path], lake: Path) -> None:
    said = f'headwater.source("orders", path="{lake}", version=9)'
    with pytest.raises(VersionNotFound) as caught:
        Project(project(project_folder, said)).build()
    assert caught.value.exit_code == 3


def test_a_result_says_which_snapshots_it_was_read_from(
    project_folder: Callable[..., Path], lake: Path
) -> None:
    folder = project(project_folder, f'headwater.source("orders", path="{lake}")')
    built(folder)
    kept = (folder / ".headwater" / "tables" / "kept").as_uri()
    with Project(folder).query("SELECT * FROM orders JOIN kept USING (id)") as result:
        found = {(key.canonical_uri, key.version) for key in result.snapshots}
    assert found == {(lake.as_uri(), 1), (kept, read_head(kept).version)}
