"""Files that exports are written to: each appears whole or not at all.

Not here: what is in them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from headwater.cpg import GraphTables
from headwater.errors import InvalidSetting, TargetNotEmpty

_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "csv": lambda table, place: pa_csv.write_csv(table, str(place)),
    "parquet": lambda table, place: pq.write_table(table, str(place), compression="zstd"),
}


def check_file(place: Path) -> None:
    """Sees to it that a file can be written there; one that is there will be replaced.

    Raises:
        InvalidSetting: a folder is there.
    """
    if place.is_dir():
        raise InvalidSetting(key="--out", value=str(place), expected="the name of a file, not of a folder")


def check_folder(place: Path) -> None:
    """Sees to it that a folder can be made there.

    Raises:
        TargetNotEmpty: something is there.
    """
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise TargetNotEmpty(path=str(place))


def write_pieces(place: Path, pieces: Iterable[bytes]) -> None:
    """Writes a file.

    Raises:
        InvalidSetting: it cannot be written.
    """
    check_file(place)
    with _appearing(place) as beside, beside.open("xb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())


def write_tables(place: Path, tables: GraphTables, form: str) -> list[Path]:
    """Writes a folder with nodes and edges; gives back their files.

    Raises:
        TargetNotEmpty: something is there.
        InvalidSetting: it cannot be written.
    """
    check_folder(place)
    files = {f"nodes.{form}": tables.nodes, f"edges.{form}": tables.edges}
    with _appearing(place) as beside:
        beside.mkdir()
        for name, table in files.items():
            _WRITERS[form](table, beside / name)
    return [place / name for name in files]


@contextmanager
def _appearing(place: Path) -> Generator[Path]:
    """A name beside the place, which becomes the place if all goes well, and is gone if not."""
    place = place.absolute()
    beside = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        yield beside
        beside.replace(place)
    except OSError as error:
        expected = f"a place that can be written ({error.strerror or error})"
        raise InvalidSetting(key="--out", value=str(place), expected=expected) from error
    finally:
        if beside.is_dir():
            shutil.rmtree(beside)
        elif beside.exists():
            beside.unlink()
