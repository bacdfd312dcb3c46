from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import WarehouseNotWritable
from headwater.run.warehouse import Warehouse


def test_the_folder_is_made_and_ignores_itself(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "deep" / ".headwater")
    warehouse.prepare()
    warehouse.prepare()
    assert (warehouse.root / ".gitignore").read_text() == "*\n"
    assert warehouse.table_path("orders") == warehouse.root / "tables" / "orders"
    assert warehouse.ledger_path == warehouse.root / "ledger" / "events"


@pytest.mark.parametrize("place", ["/proc/headwater", "/sys/kernel/headwater"])
def test_a_folder_that_cannot_be_made_is_a_typed_error(place: str) -> None:
    with pytest.raises(WarehouseNotWritable) as caught:
        Warehouse(Path(place)).check_writable()
    assert place in caught.value.message
    assert "--warehouse" in caught.value.next_step


def test_a_file_in_the_way_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / ".headwater").write_text("")
    with pytest.raises(WarehouseNotWritable):
        Warehouse(tmp_path / ".headwater").check_writable()
    with pytest.raises(WarehouseNotWritable):
        Warehouse(tmp_path / ".headwater").prepare()


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    Warehouse(tmp_path / "deep" / ".headwater").check_writable()
    assert list(tmp_path.iterdir()) == []
