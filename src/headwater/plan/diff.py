"""Why two bundles of a view differ, in words: which operator, input, setting, function or policy.

Not here: whether tables differ, and by which rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from headwater.plan.bundle import IN_PYTHON
from headwater.plan.canonical import first_different_operator, operators_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.bundle import PlanBundle, PlannedInput

ChangeKind = Literal["new", "gone", "code", "schema", "function", "setting", "policy", "input"]
_SHOWN = 100


class PlanChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One difference between two plans of a view; `name` is the operator, input, setting or function.

    Of kind `schema`, the view says what it said, and is another because its inputs have other columns.
    """

    view: str
    kind: ChangeKind
    name: str = ""
    before: str = ""
    after: str = ""

    @property
    def words(self) -> str:
        """The difference as a person would say it."""
        match self.kind:
            case "new" | "gone":
                return f"'{self.view}' is {self.kind}"
            case "code":
                return f"its plan changed at {self.name}: was {_shown(self.before)}, is {_shown(self.after)}"
            case "schema":
                words = f"what it reads has other columns, so that its plan changed at {self.name}"
                return f"{words}: was {_shown(self.before)}, is {_shown(self.after)}"
            case _:
                return f"{self.kind} '{self.name}' was {_shown(self.before)}, is {_shown(self.after)}"


def changes_between(before: PlanBundle | None, after: PlanBundle | None) -> tuple[PlanChange, ...]:
    """What differs between two plans of one view, in the order of a fingerprint's parts."""
    if before is None:
        return (PlanChange(view=after.view, kind="new"),) if after else ()
    if after is None:
        return (PlanChange(view=before.view, kind="gone"),)
    parts = after.fingerprint.differing(before.fingerprint)
    found: list[PlanChange] = []
    if "code" in parts and (_is_rewritten(before, after) or "settings" not in parts):
        found.append(_code(before, after))
    if "functions" in parts:
        found += _entries(after.view, "function", _functions(before), _functions(after))
    if "settings" in parts:
        found += _entries(after.view, "setting", before.settings, after.settings)
    if "policies" in parts:
        found += _entries(after.view, "policy", _said(before), _said(after))
    if "inputs" in parts:
        inputs = ({each.name: _input(each) for each in bundle.inputs} for bundle in (before, after))
        found += _entries(after.view, "input", *inputs)
    return tuple(found)


def _code(before: PlanBundle, after: PlanBundle) -> PlanChange:
    one, two = first_different_operator(operators_in(before.analysed.text), operators_in(after.analysed.text))
    name = (two or one).partition(" ")[0]
    return PlanChange(
        view=after.view,
        kind="code" if _is_rewritten(before, after) else "schema",
        name="its columns" if name.startswith("[") else name,
        before=one,
        after=two,
    )


def _is_rewritten(before: PlanBundle, after: PlanBundle) -> bool:
    """Whether somebody changed the view, and not only what it reads."""
    if before.written is not None and after.written is not None:
        return before.written != after.written
    return before.plan_digest != after.plan_digest


def _functions(bundle: PlanBundle) -> dict[str, str]:
    """Digests by the names of functions; those of the project's own have other names with every body."""
    found: dict[str, list[str]] = {}
    for each in bundle.functions:
        own = each.name.removeprefix(IN_PYTHON)
        name = each.name if own == each.name else own.rpartition(":")[0]
        found.setdefault(name, []).append(each.digest)
    return {name: ", ".join(sorted(digests)) for name, digests in found.items()}


def _said(bundle: PlanBundle) -> dict[str, Any]:
    fixpoint = {} if bundle.fixpoint is None else {"fixpoint": bundle.fixpoint.schema}
    gates = {f"gate of {name}": gate for name, gate in bundle.gates.items()}
    return {**bundle.policy, **fixpoint, **gates}


def _input(each: PlannedInput) -> str:
    match each.kind:
        case "pin":
            return f"version {each.version} ({each.identity[:8]})"
        case "slot":
            return f"made by this run ({each.identity[:8]})"
        case "view":
            return f"plan {each.identity[:8]}"


def _entries(
    view: str, kind: ChangeKind, before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[PlanChange]:
    return [
        PlanChange(view=view, kind=kind, name=name, before=_text(before, name), after=_text(after, name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def _text(values: Mapping[str, Any], name: str) -> str:
    return str(values[name]) if name in values else ""


def _shown(text: str) -> str:
    if not text:
        return "nothing"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
