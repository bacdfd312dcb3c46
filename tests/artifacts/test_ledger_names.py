"""Every name of the contract is there, and each says what its rows are found by."""

from __future__ import annotations

import pytest

from headwater.artifacts import LEDGER_NAMES, LedgerEntry, ledger_columns
from headwater.errors import InvalidName
from headwater.names import check_name

# The contract's names, but for hw_functions: it is the catalogue itself, not a record of runs. And hw_rounds.
CONTRACT = (
    "hw_cache hw_capabilities hw_lineage hw_maintenance hw_materializations hw_mutations hw_plans hw_retries "
    "hw_rounds hw_runs hw_scans hw_settings hw_snapshots hw_tasks hw_violations run_manifest"
)


def test_every_name_of_the_contract_is_there() -> None:
    assert [each.sql_name for each in LEDGER_NAMES] == CONTRACT.split()


@pytest.mark.parametrize("entry", LEDGER_NAMES, ids=lambda entry: entry.sql_name)
def test_a_name_says_what_its_rows_are_of_and_found_by(entry: type[LedgerEntry]) -> None:
    columns = ledger_columns(entry)
    assert columns[entry.id_column] == columns[entry.named_by] == "STRING"
    assert next(iter(columns)) == entry.id_column
    assert entry.__doc__


def test_kinds_of_rows_are_told_apart() -> None:
    assert len({each.event for each in LEDGER_NAMES}) == len(LEDGER_NAMES)


@pytest.mark.parametrize("name", [*CONTRACT.split(), "hw_functions", "HW_Runs", "hw_whatever"])
def test_no_view_or_source_can_have_such_a_name(name: str) -> None:
    with pytest.raises(InvalidName, match=name):
        check_name(name)
