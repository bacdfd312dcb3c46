"""The text in a file's bytes, and the way back from the text's offsets to the file's.

`ast` counts columns in UTF-8 bytes of the decoded text, so all scanning works on that: the file itself where
it is UTF-8, a copy where it is not. Not here: any look at the syntax, but for the encoding's declaration.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from headwater.cpg.extract.evidence import Diagnostic

if TYPE_CHECKING:
    from headwater.cpg.extract.evidence import Newline

_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:[#\r\n]|$)")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_FIRST_LINES = 2
_UTF_8 = "utf-8"
# Encodings of domain names, whose decoders take a time that grows with the square of the length.
_NO_SOURCE = frozenset({"idna", "punycode"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A decoded file: `data` is `text` in UTF-8 without byte order mark, `starts` its lines' offsets.

    `shift` is what the byte order mark adds to an offset; `origins` gives, where the file is not UTF-8, each
    offset's place in the file.
    """

    text: str
    data: bytes
    starts: list[int]
    encoding: str
    shift: int
    origins: list[int] | None

    def original(self, offsets: list[int]) -> list[int]:
        """The same places in the bytes of the file."""
        if self.origins is not None:
            origins = self.origins
            return [origins[offset] for offset in offsets]
        return [offset + self.shift for offset in offsets] if self.shift else offsets


def read_source(content: bytes) -> SourceText | Diagnostic:
    """The text of a file by Python's own rules (PEP 263), or why there is none."""
    null = content.find(b"\0")
    if null >= 0:
        return _unread("null-bytes", "the file contains null bytes", null, null + 1)
    has_mark = content.startswith(codecs.BOM_UTF8)
    shift = len(codecs.BOM_UTF8) if has_mark else 0
    cookie = _cookie_of(content[shift:])
    try:
        codec = codecs.lookup(cookie or _UTF_8).name
    except (LookupError, ValueError):
        return _unread("unknown-encoding", f"no codec is named {cookie}")
    if codec in _NO_SOURCE:
        return _unread("unknown-encoding", f"{codec} is no encoding for source files")
    if has_mark and codec != _UTF_8:
        return _unread("unknown-encoding", f"a byte order mark of UTF-8, but declared as {cookie}")
    return _decoded(content, shift, codec)


def encoding_of(content: bytes) -> str | None:
    """The name of the codec that a file asks for, whether or not it can be decoded with it."""
    if content.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    try:
        return codecs.lookup(_cookie_of(content) or _UTF_8).name
    except (LookupError, ValueError):
        return None


def encoding_comment_of(content: bytes) -> int | None:
    """The offset of the comment that declares the encoding; the byte order mark is none of the content."""
    declared = _declaration_of(content)
    return None if declared is None else declared[0]


def line_starts_of(data: bytes) -> list[int]:
    """The offset of each line's first byte; of an empty text, 0."""
    lengths = [len(line) for line in data.splitlines(keepends=True)]
    return [0, *accumulate(lengths[:-1])]


def newline_of(content: bytes) -> Newline | None:
    """The line end that all lines of a file have, `mixed`, or nothing where there is none."""
    if b"\r" not in content:
        return "\n" if b"\n" in content else None
    match sorted(set(_LINE_END.findall(content))):
        case [b"\r\n"]:
            return "\r\n"
        case [b"\r"]:
            return "\r"
        case _:
            return "mixed"


def _cookie_of(content: bytes) -> str | None:
    declared = _declaration_of(content)
    return None if declared is None else declared[1].decode("latin-1")


def _declaration_of(content: bytes) -> tuple[int, bytes] | None:
    """Where the first two lines declare an encoding, and which; the second only if the first has no code."""
    begin = 0
    for line in content[: _end_of_first_lines(content)].splitlines(keepends=True):
        declared = _COOKIE.match(line)
        if declared:
            return begin + line.index(b"#"), declared[1]
        if not _BLANK.match(line):
            return None
        begin += len(line)
    return None


def _end_of_first_lines(content: bytes) -> int:
    end = 0
    for _ in range(_FIRST_LINES):
        found = _LINE_END.search(content, end)
        if found is None:
            return len(content)
        end = found.end()
    return end


def _decoded(content: bytes, shift: int, codec: str) -> SourceText | Diagnostic:
    body = content[shift:]
    try:
        text = body.decode(codec)
        data = body if codec == _UTF_8 else text.encode(_UTF_8)
        origins = None if data == body else _origins_of(body, text, codec)
    except UnicodeDecodeError as error:
        start, end = error.start + shift, error.end + shift
        return _unread("undecodable", f"not {codec}: {error.reason}", start, end)
    except (UnicodeError, LookupError, ValueError, TypeError) as error:  # codecs raise what they like
        return _unread("undecodable", f"not {codec}: {error}")
    return SourceText(
        text=text,
        data=data,
        starts=line_starts_of(data),
        encoding="utf-8-sig" if shift else codec,
        shift=shift,
        origins=origins,
    )


def _origins_of(body: bytes, text: str, codec: str) -> list[int]:
    """For each offset into the text's UTF-8 the offset into `body`: bytes are decoded one by one.

    What a codec writes between two characters (an escape that switches its tables) goes to the later one.
    """
    decoder = codecs.getincrementaldecoder(codec)()
    origins: list[int] = []
    pieces: list[str] = []
    begin = 0
    for place in range(len(body)):
        piece = decoder.decode(body[place : place + 1])
        if piece:
            origins += [begin] * len(piece.encode(_UTF_8))
            pieces.append(piece)
            begin = place + 1
    rest = decoder.decode(b"", final=True)
    origins += [begin] * len(rest.encode(_UTF_8))
    if "".join(pieces) + rest != text:
        message = "the codec decodes byte by byte to another text"
        raise UnicodeError(message)
    return [*origins, len(body)]


def _unread(code: str, message: str, bstart: int | None = None, bend: int | None = None) -> Diagnostic:
    return Diagnostic(stage="read", code=code, message=message, bstart=bstart, bend=bend)
