"""Runs pytest and writes down who calls whom in a folder of source.

python bench/call_tracer.py OUT FOLDER PYTEST-ARGUMENT ...

It runs in the environment of the package that is measured, so it needs nothing but pytest. What it writes is
JSON: code objects of the folder (file, first line, name, the place of their first instruction), and calls
that they make: caller, span of the call, callee, and whether the caller calls by itself (`direct`) or through
code outside of the folder. A callee outside of the folder is a name, and so is a function written in C.
A generator or coroutine is called by who returned it before it began, otherwise by who lets it begin.
"""

from __future__ import annotations

import dis
import json
import sys
import threading
from pathlib import Path
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, GeneratorType
from typing import Any

import pytest

_LAZY_FLAGS = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators
_MOST_BETWEEN = 4  # frames outside of the folder, between two inside of it


class CallTracer:
    """What was seen so far; `note` is the profile function."""

    def __init__(self, folder: str) -> None:
        """Watches the code of the files below a folder."""
        self._folder = folder
        self._own: dict[CodeType, int] = {}
        self._starts: dict[CodeType, int] = {}
        self._makers: dict[int, tuple[FrameType, FrameType, int]] = {}
        self._direct: dict[tuple[CodeType, int, CodeType | str], None] = {}
        self._through: dict[tuple[CodeType, int, CodeType | str], None] = {}

    def note(self, frame: FrameType, event: str, arg: Any) -> None:
        """Takes one event of `sys.setprofile`."""
        if event == "call":
            self._note_call(frame)
        elif event == "c_call":
            if self._is_own(frame.f_code):
                self._direct[frame.f_code, frame.f_lasti, _name_of(arg)] = None
        elif event == "return" and isinstance(arg, GeneratorType | CoroutineType | AsyncGeneratorType):
            self._note_maker(frame, arg)

    def _is_own(self, code: CodeType) -> bool:
        found = self._own.get(code)
        if found is None:
            found = self._own[code] = int(code.co_filename.startswith(self._folder))
        return bool(found)

    def _note_maker(self, frame: FrameType, made: Any) -> None:
        inner: FrameType | None = next(
            (getattr(made, name) for name in ("gi_frame", "cr_frame", "ag_frame") if hasattr(made, name)),
            None,
        )
        if inner is not None and self._is_own(inner.f_code) and inner.f_lasti < self._start(inner.f_code):
            self._makers.setdefault(id(inner), (inner, frame, frame.f_lasti))

    def _start(self, code: CodeType) -> int:
        """Where the body of a generator begins."""
        found = self._starts.get(code)
        if found is None:
            found = next((each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"), 0)
            self._starts[code] = found
        return found

    def _note_call(self, frame: FrameType) -> None:
        code, caller = frame.f_code, frame.f_back
        if caller is None:
            return
        if not self._is_own(code):
            if self._is_own(caller.f_code):
                name = f"{frame.f_globals.get('__name__')}.{code.co_qualname}"
                self._direct[caller.f_code, caller.f_lasti, name] = None
            return
        at = caller.f_lasti
        if code.co_flags & _LAZY_FLAGS:
            if frame.f_lasti > self._start(code):
                return
            maker = self._makers.pop(id(frame), None)
            if maker is not None:
                caller, at = maker[1], maker[2]
        if self._is_own(caller.f_code):
            self._direct[caller.f_code, at, code] = None
            return
        between = 0
        while caller is not None and between < _MOST_BETWEEN and not self._is_own(caller.f_code):
            caller, between = caller.f_back, between + 1
        if caller is not None and self._is_own(caller.f_code):
            self._through[caller.f_code, caller.f_lasti, code] = None

    def told(self) -> dict[str, Any]:
        """All that was seen."""
        numbers: dict[CodeType, int] = {}
        calls: list[tuple[int, Any, int | str, bool]] = []
        for seen, is_direct in ((self._direct, True), (self._through, False)):
            for caller, at, callee in seen:
                known = callee if isinstance(callee, str) else numbers.setdefault(callee, len(numbers))
                source = numbers.setdefault(caller, len(numbers))
                calls.append((source, list(caller.co_positions())[at // 2], known, is_direct))
        return {"codes": [describe(each) for each in numbers], "calls": calls}


def describe(code: CodeType) -> tuple[str, int, str, list[int]]:
    """What a code object is known by: file, first line, name, and where its first instructions stand."""
    places = [
        (line, column)
        for line, _, column, _ in code.co_positions()
        if line is not None and column is not None and (line, column) != (code.co_firstlineno, 0)
    ]
    return code.co_filename, code.co_firstlineno, code.co_name, list(min(places, default=(0, 0)))


def _name_of(function: Any) -> str:
    """The name of a function written in C, with its module or type."""
    name = str(getattr(function, "__qualname__", function.__class__.__name__))
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else name


def main() -> int:
    """Traces one run of pytest."""
    out, folder, *arguments = sys.argv[1:]
    sys.path.insert(0, "")
    tracer = CallTracer(str(Path(folder).resolve()) + "/")
    threading.setprofile(tracer.note)
    sys.setprofile(tracer.note)
    try:
        code = pytest.main(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    Path(out).write_text(json.dumps(tracer.told()))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
