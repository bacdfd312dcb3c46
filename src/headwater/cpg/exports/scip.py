"""The occurrences of symbols as a SCIP index, which code search and editors read.

One document for each file that was read, with every place where a symbol is written and what is defined
there. Columns count UTF-8 bytes, so files in other encodings are left out, and so are notebooks, whose places
are not in the file. Not here: how a message becomes bytes, and how symbols are spelt.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.cpg.exports.grammar import is_local, last_part, scip_symbol
from headwater.cpg.exports.wire import message_field, number_field, packed_field, text_field
from headwater.cpg.graph import repository_id

if TYPE_CHECKING:
    import pyarrow as pa

    from headwater.cpg.exports.tables import GraphTables

DEFINITION, IMPORT, WRITE, TEST = 1, 2, 4, 32
_UTF8 = 1
_MODULE, _CLASS, _FUNCTION, _METHOD, _VARIABLE = 29, 7, 17, 26, 61
_KINDS = {
    "module": _MODULE,
    "class": _CLASS,
    "function": _FUNCTION,
    "lambda": _FUNCTION,
    "method": _METHOD,
    "variable": _VARIABLE,
}
_SUFFIX_KINDS = {"/": _MODULE, "#": _CLASS}
_LANGUAGES = frozenset({"python", "stub"})
_ENCODINGS = frozenset({"utf-8", "utf-8-sig", "ascii"})
_FILES = """
    SELECT file_id, path, line_starts, language, encoding, is_test FROM files
    WHERE repo_id = '{repo_id}' AND parse_status IN ('ok', 'recovered')
"""
_OCCURRENCES = """
    SELECT file_id, symbol, roles, bstart, bend FROM occurrences
    WHERE repo_id = '{repo_id}' AND bstart IS NOT NULL AND bend IS NOT NULL
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScipIndex:
    """An index, piece by piece, and what is in it.

    Args:
        pieces: its bytes.
        left_out: the files whose places cannot be told, and the symbols that the grammar does not have.
    """

    pieces: tuple[bytes, ...]
    documents: int
    occurrences: int
    symbols: int
    external_symbols: int
    left_out: tuple[str, ...]


def scip_queries(name: str) -> tuple[str, str]:
    """The queries for the files and the occurrences that `scip_index` takes, for a repository's name."""
    found = [" ".join(each.format(repo_id=repository_id(name)).split()) for each in (_FILES, _OCCURRENCES)]
    return found[0], found[1]


def scip_index(
    files: pa.Table, occurrences: pa.Table, tables: GraphTables, *, root: str, version: str
) -> ScipIndex:
    """The index of a repository.

    Args:
        files: what the first query gave.
        occurrences: what the second gave.
        tables: all definitions, and what they inherit and override; other edges do not matter.
        root: the repository's folder, as a URI.
        version: the version of Headwater.
    """
    known = _Known.of(tables)
    by_file: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in occurrences.to_pylist():
        by_file[row["file_id"]].append(row)
    tool = text_field(1, "headwater") + text_field(2, version)
    metadata = message_field(2, tool) + text_field(3, root) + number_field(4, _UTF8)
    documents = [
        _Document(row, by_file[row["file_id"]], known)
        for row in sorted(files.to_pylist(), key=lambda row: row["path"])
        if _is_told(row)
    ]
    defined = {symbol for each in documents for symbol in each.defined}
    mentioned = {symbol for each in documents for symbol in each.mentioned}
    outside = sorted(mentioned - defined)
    external = [message_field(3, _external(symbol)) for symbol in outside]
    not_told = [row["path"] for row in files.to_pylist() if not _is_told(row)]
    return ScipIndex(
        pieces=(
            message_field(1, metadata),
            *(message_field(2, each.message()) for each in documents),
            *external,
        ),
        documents=len(documents),
        occurrences=sum(len(each.occurrences) for each in documents),
        symbols=sum(len(each.defined) for each in documents),
        external_symbols=len(external),
        left_out=tuple(sorted({*not_told, *known.unspeakable})),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of symbols that are not local, by their spelling in SCIP."""

    spelling: dict[str, str | None] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    of_path: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    above: dict[str, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))
    unspeakable: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, tables: GraphTables) -> _Known:
        known = cls()
        by_id: dict[str, str | None] = {}
        for row in tables.nodes.to_pylist():
            by_id[row["id"]] = symbol = known.spelt(row["symbol"])
            if symbol is not None and not row["is_external"]:
                known.rows.setdefault(symbol, row)
                known.of_path[row["path"]].append(symbol)
        for edge in tables.edges.to_pylist():
            if edge["kind"] in {"INHERITS", "OVERRIDES"}:
                source, target = by_id.get(edge["source"]), by_id.get(edge["target"])
                if source and target and source != target:
                    known.above[source][target] = edge["kind"] == "OVERRIDES"
        return known

    def spelt(self, symbol: str) -> str | None:
        if symbol not in self.spelling:
            self.spelling[symbol] = found = scip_symbol(symbol)
            if found is None:
                self.unspeakable.add(symbol)
        return self.spelling[symbol]


class _Document:
    """A file: its occurrences by place and symbol, and the symbols that it defines."""

    def __init__(self, file: dict[str, Any], rows: list[dict[str, Any]], known: _Known) -> None:
        self.file = file
        self.known = known
        self.occurrences: dict[tuple[int, int, str], int] = {}
        self.defined: set[str] = set(known.of_path.get(file["path"], ()))
        self._locals: dict[str, str] = {}
        for symbol in self.defined:
            if known.rows[symbol]["kind"] == "module":
                self.occurrences[0, 0, symbol] = DEFINITION
        for row in sorted(rows, key=lambda row: (row["bstart"], row["bend"], row["symbol"])):
            symbol = self._spelt(row["symbol"])
            if symbol is not None:
                key = (row["bstart"], row["bend"], symbol)
                self.occurrences[key] = self.occurrences.get(key, 0) | self._roles(symbol, row["roles"])
        self._define()
        self.occurrences = dict(sorted(self.occurrences.items()))
        self.mentioned = {symbol for *_, symbol in self.occurrences} | {
            each for symbol in self.defined for each in known.above.get(symbol, ())
        }

    def message(self) -> bytes:
        """The message `Document`."""
        return b"".join(
            (
                text_field(1, self.file["path"]),
                *(message_field(2, self._occurrence(*key, roles)) for key, roles in self.occurrences.items()),
                *(message_field(3, self._information(symbol)) for symbol in sorted(self.defined)),
                text_field(4, "python"),
                number_field(6, _UTF8),
            )
        )

    def _spelt(self, symbol: str) -> str | None:
        """Local symbols are numbered as they come."""
        if is_local(symbol):
            return self._locals.setdefault(symbol, f"local {len(self._locals)}")
        return self.known.spelt(symbol)

    def _roles(self, symbol: str, roles: int) -> int:
        """An import binds a name here, and yet its symbol is defined elsewhere."""
        is_import = roles & IMPORT and not is_local(symbol)
        return roles & ~DEFINITION if is_import else roles

    def _define(self) -> None:
        """Makes a definition of where a variable first gets its value, and tells tests."""
        defined = {symbol for (*_, symbol), roles in self.occurrences.items() if roles & DEFINITION}
        self.defined |= defined | {symbol for *_, symbol in self.occurrences if is_local(symbol)}
        for key, roles in sorted(self.occurrences.items()):
            symbol = key[2]
            if symbol in self.defined and symbol not in defined and roles & WRITE:
                self.occurrences[key] |= DEFINITION
                defined.add(symbol)
        if self.file["is_test"]:
            self.occurrences = {key: roles | TEST for key, roles in self.occurrences.items()}

    def _occurrence(self, start: int, end: int, symbol: str, roles: int) -> bytes:
        first, last = self._place(start), self._place(end)
        place = (*first, last[1]) if first[0] == last[0] else (*first, *last)
        return packed_field(1, place) + text_field(2, symbol) + number_field(3, roles)

    def _place(self, offset: int) -> tuple[int, int]:
        starts = self.file["line_starts"] or [0]
        line = max(bisect_right(starts, offset) - 1, 0)
        return line, offset - starts[line]

    def _information(self, symbol: str) -> bytes:
        if is_local(symbol):
            return text_field(1, symbol) + number_field(5, _VARIABLE)
        above = self.known.above.get(symbol, {})
        relationships = (
            message_field(4, text_field(1, other) + number_field(2, int(is_reference)) + number_field(3, 1))
            for other, is_reference in sorted(above.items())
        )
        row = self.known.rows.get(symbol, {"kind": ""})
        kind = number_field(5, _KINDS.get(row["kind"], 0))
        return text_field(1, symbol) + b"".join(relationships) + kind + text_field(6, last_part(symbol)[0])


def _external(symbol: str) -> bytes:
    name, suffix = last_part(symbol)
    kind = number_field(5, _SUFFIX_KINDS.get(suffix, 0))
    return text_field(1, symbol) + kind + text_field(6, name)


def _is_told(file: dict[str, Any]) -> bool:
    return file["language"] in _LANGUAGES and file["encoding"] in _ENCODINGS
