"""Candidates by name alone, for calls of methods of which nothing else is known.

Not here: how little that counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import ATTR
from headwater.cpg.resolve.lookup import has_method
from headwater.cpg.resolve.objects import FUNCTION

if TYPE_CHECKING:
    from headwater.cpg.resolve.resolution import Program

_MOST = 3
_TYPES = ("str", "bytes", "list", "dict", "set", "int", "file", "tuple")


def guess_by_name(program: Program) -> dict[int, list[int]]:
    """For calls that reach nothing, by their variable: the methods of the name that is called, if few."""
    solver = program.solver
    wanted = {
        call.callee: call.site
        for call in solver.calls
        if call.dispatch == "" and not call.targets and call.callee >= 0 and not solver.has[call.callee]
    }
    if not wanted:
        return {}
    methods: dict[str, list[int]] = {}
    for function in solver.functions.values():
        if function.owner is not None:
            methods.setdefault(function.name, []).append(function.variable)
    guesses: dict[int, list[int]] = {}
    for file, base in zip(program.files, program.bases, strict=True):
        for op, target, name in zip(file.op, file.target, file.text, strict=True):
            if op == ATTR and name is not None and base + target in wanted:
                found = methods.get(name, ())
                if 0 < len(found) <= _MOST and not any(has_method(each, name) for each in _TYPES):
                    site = wanted[base + target]
                    guesses[site] = [solver.objects.get(FUNCTION, each) for each in found]
    return guesses
