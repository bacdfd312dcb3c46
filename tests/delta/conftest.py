"""A table to write to, and the shortest way to say what is meant to happen to it."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from writers import PLAIN, Writer

from headwater.delta import (
    CommitNote,
    LogHead,
    Mutation,
    Receipt,
    commit_mutation,
    compute_content,
    find_head,
    read_head,
    read_pinned,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.runtime import RunSession


@dataclass
class Table:
    """A table of a test: `change` commits a mutation on its newest version under an id of its own."""

    session: RunSession
    path: Path
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def uri(self) -> str:
        return self.path.as_uri()

    @property
    def head(self) -> LogHead:
        return read_head(self.uri)

    @property
    def version(self) -> int:
        head = find_head(self.uri)
        return head.version if head else -1

    def meant(self, kind: type[Mutation], mutation_id: str | None = None, **fields: Any) -> Any:
        """A mutation of this table, not done yet."""
        note = CommitNote(
            pipeline="p",
            table="t",
            run_id="r",
            task_key="k",
            mutation_id=mutation_id or f"m{next(self.numbers)}",
        )
        said: dict[str, Any] = {"uri": self.uri, "base_version": self.version, "note": note, **fields}
        return kind(**said)

    def change(
        self, kind: type[Mutation], rows: Any = None, *, affected: Any = None, **fields: Any
    ) -> Receipt:
        return commit_mutation(self.session, self.meant(kind, **fields), rows, affected=affected)

    def sql(self, text: str) -> DataFrame:
        """What somebody else does to the table; {t} is the table."""
        return self.session.spark.sql(text.format(t=f"delta.`{self.path}`"))

    def rows(self, *columns: str) -> list[tuple[Any, ...]]:
        found = read_pinned(self.session, self.head.pin("t"))
        rows: list[Any] = (found.select(*columns) if columns else found).collect()
        return sorted(tuple(row) for row in rows)

    def check(self, receipt: Receipt) -> None:
        """The digest of a receipt is that of the table's rows, read anew."""
        assert receipt.content is not None
        assert receipt.content == compute_content(self.session, receipt.pin)

    def values(self, text: str) -> DataFrame:
        """Rows by SQL: the inside of VALUES, or a whole query."""
        return self.session.spark.sql(
            text if text.upper().startswith("SELECT") else f"SELECT * FROM VALUES {text}"
        )


@pytest.fixture
def table(session: RunSession, tmp_path: Path) -> Table:
    """A table that is not there yet."""
    return Table(session, tmp_path / "a b%é")


CopyTable = Callable[["Path"], "Path"]


@pytest.fixture(scope="session")
def writer() -> Iterator[Writer]:
    """A process that writes, and may not pass over permissions, even if root runs the tests."""
    plain = Writer(PLAIN)
    yield plain.ready()
    plain.close()


@pytest.fixture(scope="session")
def copy_six(writer: Writer, tmp_path_factory: pytest.TempPathFactory) -> CopyTable:
    """Makes a table at version 0, of the mutation `zero`, with the rows (0, 0) to (5, 0)."""
    made = tmp_path_factory.mktemp("six") / "table"
    rows = [[key, 0] for key in range(6)]
    writer.ask("append", uri=made.as_uri(), mutation_id="zero", base_version=-1, rows=rows)
    return lambda place: shutil.copytree(made, place)
