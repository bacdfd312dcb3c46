"""Which parameter each argument of a call goes to, when the call reaches the function that is most likely.

Not here: which function that is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import KEYWORD_ONLY
from headwater.cpg.resolve.objects import FUNCTION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.cpg.resolve.flow.sites import Argument
    from headwater.cpg.resolve.objects import Function, Parameter
    from headwater.cpg.resolve.outcome import Outcome


@dataclass(frozen=True, slots=True)
class ArgumentRows:
    """One entry per argument of a written call, and one per parameter that gets none.

    `call` is the index of the call, `node` the argument's, which is missing for a parameter that gets none.
    `status` is bound (the parameter is known), missing (a parameter without a default gets nothing), extra
    (there is no parameter for it) or unknown (what is unpacked, and all that no function is known for).
    """

    call: list[int] = field(default_factory=list[int])
    idx: list[int | None] = field(default_factory=list["int | None"])
    node: list[int | None] = field(default_factory=list["int | None"])
    keyword: list[str | None] = field(default_factory=list["str | None"])
    star: list[str | None] = field(default_factory=list["str | None"])
    param_path: list[str | None] = field(default_factory=list["str | None"])
    param_node: list[int | None] = field(default_factory=list["int | None"])
    status: list[str] = field(default_factory=list[str])

    def add(
        self,
        call: int,
        written: tuple[int | None, int | None, str | None],
        status: str,
        parameter: tuple[str, int] | None = None,
    ) -> None:
        """One more; what is written is its index, its node and its text."""
        index, node, text = written
        self.call.append(call)
        self.idx.append(index)
        self.node.append(node)
        self.keyword.append(None if text in {None, "*", "**"} else text)
        self.star.append(text if text in {"*", "**"} else None)
        self.param_path.append(None if parameter is None else parameter[0])
        self.param_node.append(None if parameter is None else parameter[1])
        self.status.append(status)


def argument_rows(outcome: Outcome, written: Mapping[int, Sequence[Argument]]) -> ArgumentRows:
    """The arguments of all written calls, in the order of the calls.

    Args:
        outcome: the calls
        written: their arguments, by the variable of each call
    """
    rows = ArgumentRows()
    bases = outcome.program.bases
    for number, call in enumerate(outcome.order):
        if call.dispatch:
            continue
        base = bases[call.file]
        arguments = [(node - base, text) for node, text, _ in written.get(call.site, ())]
        function, is_bound = _function_of(outcome, number)
        if function is None:
            for index, (node, text) in enumerate(arguments):
                rows.add(number, (index, node, text), "unknown")
        else:
            _bind(outcome, rows, number, arguments, function, 1 if is_bound else 0)
    return rows


def _function_of(outcome: Outcome, number: int) -> tuple[Function | None, bool]:
    """The function that a call most likely reaches, and whether its first parameter is bound."""
    solver = outcome.program.solver
    winner = outcome.winner[number]
    if winner is None or solver.objects.kind[winner] != FUNCTION:
        return None, False
    call = outcome.order[number]
    function = solver.functions[solver.objects.of[winner]]
    is_bound = any(thing == winner and receiver >= 0 for thing, receiver in call.bound)
    if not call.bound and function.owner is not None:
        is_bound = True
    return function, is_bound


def _bind(
    outcome: Outcome,
    rows: ArgumentRows,
    number: int,
    arguments: Sequence[tuple[int, str | None]],
    function: Function,
    place: int,
) -> None:
    given = {each.variable for each in function.positional[:place]}
    is_open = False
    for index, (node, text) in enumerate(arguments):
        parameter: Parameter | None = None
        if text in {"*", "**"}:
            is_open = True
            rows.add(number, (index, node, text), "unknown")
            continue
        if text is None:
            parameter = function.positional[place] if place < len(function.positional) else function.rest
            place += 1
        else:
            parameter = function.named.get(text, function.keywords)
        if parameter is None or (is_open and text is None):
            rows.add(number, (index, node, text), "unknown" if is_open else "extra")
            continue
        given.add(parameter.variable)
        rows.add(number, (index, node, text), "bound", outcome.program.place(parameter.variable))
    if is_open:
        return
    needed = [*function.positional, *(each for each in function.named.values() if each.kind == KEYWORD_ONLY)]
    for each in needed:
        if each.variable not in given and each.variable not in function.defaults:
            rows.add(number, (None, None, None), "missing", outcome.program.place(each.variable))
