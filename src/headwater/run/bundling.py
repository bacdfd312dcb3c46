"""A view's analysed tree becomes its bundle; open inputs of a bundle are filled in as they come to be known.

Not here: analysing views, and what a bundle's parts mean.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from headwater.digest import digest_of
from headwater.errors import UnknownTable
from headwater.functions import find_function, tags_of
from headwater.names import same_name
from headwater.pipeline import EVERY_TABLE
from headwater.plan import (
    IN_PYTHON,
    Fingerprint,
    PlanBundle,
    PlanFinding,
    PlannedColumn,
    PlannedFixpoint,
    PlannedFunction,
    PlannedInput,
    PlanText,
    Unsteady,
    canonical_text,
    check_determinism,
    determinism_of,
    find_nonlinear,
    lineage_of,
    semantics_of,
    type_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from headwater.names import TablePin
    from headwater.pipeline import ProjectConfig, SourceSpec, ViewSpec
    from headwater.plan import Determinism, Finding, PlanTree, SemanticTypes
    from headwater.run.pins import PinnedSource
    from headwater.runtime import RuntimeIdentity

_PACKAGES = Path(__file__).parents[2]
_V = TypeVar("_V")


@dataclass(frozen=True, kw_only=True)
class Bundling:
    """What all bundles of a pipeline have in common, and the inputs that are known so far, by name."""

    config: ProjectConfig
    identity: RuntimeIdentity
    functions_of: Callable[[ViewSpec], tuple[str, ...]]
    source_of: Callable[[str], PinnedSource | None]
    known: dict[str, PlannedInput] = field(default_factory=dict[str, PlannedInput])
    _meanings: dict[str, dict[str, str]] = field(default_factory=dict[str, "dict[str, str]"])
    _unsteady: dict[str, Unsteady] = field(default_factory=dict[str, Unsteady])
    _keys: dict[str, tuple[tuple[str, ...], ...]] = field(
        default_factory=dict[str, "tuple[tuple[str, ...], ...]"]
    )

    def add(self, view: ViewSpec, tree: PlanTree, reads: Sequence[str]) -> PlanBundle:
        """The bundle of a view whose inputs were all added before; it is an input of others from now on.

        Raises:
            NotDeterministic: the view has something that a rerun would not repeat.
            SemanticMismatch: it mixes up columns that stand for different things.
            PlanNotUnderstood: its lineage cannot be told.
        """
        found, semantics = self._determinism(view, tree), self._semantics(view, tree)
        functions, settings, gates = self._functions(view), self._settings(), self._gates(reads)
        inputs = tuple(self._input(name) for name in sorted(reads))
        analysed = PlanText(text=canonical_text(tree))
        policy: dict[str, Any] = dict(view.policy.lasting())
        fixpoint = _fixpoint(view, tree)
        bundle = PlanBundle(
            view=view.name,
            file=file_of(view, self.config),
            line=view.origin.line,
            language=view.language,
            stored=view.stored,
            plan=view.plan.executable,
            plan_digest=view.plan.digest,
            written=view.written,
            analysed=analysed,
            columns=_columns(tree, semantics),
            settings=settings,
            function_digest=self.identity.functions.digest,
            functions=functions,
            tags=tags_of(self.functions_of(view)),
            inputs=inputs,
            gates=gates,
            policy=policy,
            semantics=semantics.validations,
            lineage=lineage_of(tree, view.name, view.origin),
            findings=tuple(_finding(each) for each in found.findings),
            approximate=found.unsteady.approximate,
            keys=self.keys_of(view.name),
            fixpoint=fixpoint,
            fingerprint=Fingerprint(
                code=analysed.digest,
                functions=digest_of({each.name: each.digest for each in functions}),
                settings=digest_of(settings),
                policies=digest_of([policy, gates, view.stored, *([fixpoint.schema] if fixpoint else ())]),
                inputs=_inputs_digest(inputs),
            ),
        )
        self.planned(bundle)
        return bundle

    def planned(self, bundle: PlanBundle) -> None:
        """Makes a view an input of others: its plan, or the table that it will make."""
        kind = "slot" if bundle.stored else "view"
        self.known[same_name(bundle.view)] = PlannedInput(
            name=bundle.view, kind=kind, identity=bundle.fingerprint.digest
        )

    def taken_over(self, bundle: PlanBundle) -> PlanBundle:
        """The bundle of a view as another run has added it, over the inputs of this one.

        What views that read it would be planned by is not known of it: all of them are taken over, or none.
        """
        name = same_name(bundle.view)
        self._keys[name] = bundle.keys[len(self.config.keys.get(name, ())) :]
        filled = replace(self.filled(bundle), scans=())
        self.planned(filled)
        return filled

    def filled(self, bundle: PlanBundle) -> PlanBundle:
        """The same view with its inputs as they are known now."""
        inputs = tuple(self._input(each.name) for each in bundle.inputs)
        fingerprint = replace(bundle.fingerprint, inputs=_inputs_digest(inputs))
        return replace(bundle, inputs=inputs, fingerprint=fingerprint)

    def made(self, bundle: PlanBundle, pin: TablePin, content: str | None, *, is_fresh: bool = False) -> None:
        """Makes a table that is there an input of others.

        It is known by its content: equal rows are an equal input, whichever commit they came by. Rows that
        have no exact digest are known by the task that made them, if it makes the same ones each time.
        """
        if content is not None and not bundle.approximate:
            identity = digest_of(["content", content])
        elif not is_fresh:
            identity = digest_of(["task", bundle.fingerprint.digest])
        else:
            identity = digest_of(["commit", pin.version, pin.digest])
        self.known[same_name(pin.name)] = PlannedInput(
            name=pin.name, kind="pin", identity=identity, version=pin.version
        )

    def keys_of(self, name: str) -> tuple[tuple[str, ...], ...]:
        """What is unique of a view that was added: as the project declares it, and as its plan shows."""
        key = same_name(name)
        return (*self.config.keys.get(key, ()), *self._keys.get(key, ()))

    def _determinism(self, view: ViewSpec, tree: PlanTree) -> Determinism:
        said = self.config.determinism
        found = determinism_of(
            tree,
            view.name,
            settings={**said.get(EVERY_TABLE, {}), **said.get(same_name(view.name), {})},
            keys={name: found for name in _names_in(tree) if (found := self.keys_of(name))},
            functions=(*view.plan.pure, *self.own_functions),
            upstream=_by_name_in(tree, self._unsteady),
            sql=view.plan.sql,
            origin=view.origin,
        )
        check_determinism(found.findings)
        # A fixpoint reads what it makes. Its rows are told apart by all columns, so that whatever reaches one
        # of them reaches all: a second look would find nothing more.
        self._unsteady[same_name(view.name)] = found.unsteady
        # What is unique in one round need not be in all of them together.
        whole = (tuple(each.name for each in tree.columns),)
        self._keys[same_name(view.name)] = found.keys if view.fixpoint is None else whole
        return found

    def _semantics(self, view: ViewSpec, tree: PlanTree) -> SemanticTypes:
        if view.fixpoint is not None:
            self._meanings[same_name(view.name)] = dict(view.policy.semantic_types)
        declared = _by_name_in(tree, self._meanings)
        found = semantics_of(tree, view.name, view.origin, declared, dict(view.policy.semantic_types))
        self._meanings[same_name(view.name)] = dict(found.by_column)
        return found

    @cached_property
    def own_functions(self) -> tuple[str, ...]:
        """The names of the catalogue's functions in Python, as plans have them."""
        workers = (each.worker for each in self.identity.functions.definitions)
        return tuple(sorted({str(getattr(each, "__name__", "")) for each in workers if each is not None}))

    def _input(self, name: str) -> PlannedInput:
        if same_name(name) in self.known:
            return self.known[same_name(name)]
        source = self.source_of(name)
        if source is None:
            raise UnknownTable(view="", name=name)
        name, identity = source.spec.name, digest_of(source.content_identity)
        if source.pin is None:
            return PlannedInput(name=name, kind="slot", identity=identity)
        return PlannedInput(name=name, kind="pin", identity=identity, version=source.pin.version)

    def _functions(self, view: ViewSpec) -> tuple[PlannedFunction, ...]:
        found = [(name, find_function(name)) for name in self.functions_of(view)]
        own = [PlannedFunction(name=name, digest=each.behaviour) for name, each in found if each is not None]
        python = [
            PlannedFunction(name=f"{IN_PYTHON}{name}:{digest[:16]}", digest=digest)
            for name, digest in view.plan.python
        ]
        return tuple(sorted([*own, *python], key=lambda each: each.name))

    def _settings(self) -> dict[str, str]:
        versions = self.identity.versions
        return {
            **dict(self.identity.settings.results),
            **{f"storage.{key}": value for key, value in self.identity.storage},
            "version.delta": versions.delta,
            "version.scala": versions.scala,
            "version.spark": versions.spark,
        }

    def _gates(self, reads: Iterable[str]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for name in sorted(reads):
            source = None if same_name(name) in self.known else self.source_of(name)
            gate = source.spec.read.identity().get("gate") if source else None
            if isinstance(gate, dict) and gate:
                found[name] = gate
        return found


def _by_name_in(tree: PlanTree, values: Mapping[str, _V]) -> dict[str, _V]:
    """Values by the names that a tree has for its datasets; those are written in any case."""
    return {name: values[same_name(name)] for name in _names_in(tree) if same_name(name) in values}


def _names_in(tree: PlanTree) -> list[str]:
    return sorted({node.name or "" for node in tree.nodes() if node.is_boundary})


def _columns(tree: PlanTree, semantics: SemanticTypes) -> tuple[PlannedColumn, ...]:
    meanings = semantics.by_column
    return tuple(
        PlannedColumn(name=each.name, type=type_text(each.type), semantic_type=meanings.get(each.name))
        for each in tree.columns
    )


def _fixpoint(view: ViewSpec, tree: PlanTree) -> PlannedFixpoint | None:
    if view.fixpoint is None:
        return None
    found = find_nonlinear(tree, view.name)
    return PlannedFixpoint(
        schema=view.fixpoint.schema,
        max_rounds=view.fixpoint.max_rounds,
        linear=found is None,
        reason=found.detail if found else "",
    )


def _finding(found: Finding) -> PlanFinding:
    return PlanFinding(
        code=found.code,
        rule=found.rule,
        severity=found.severity,
        detail=found.detail,
        approximate=found.approximate,
        arbitrary=found.arbitrary,
        rows=found.rows,
    )


def file_of(spec: ViewSpec | SourceSpec, config: ProjectConfig) -> str:
    """Where something is defined: below the project, or below the package that the pipeline came with."""
    return os.path.relpath(spec.origin.path, _PACKAGES if config.declare else config.root)


def _inputs_digest(inputs: Iterable[PlannedInput]) -> str:
    return digest_of({each.name: each.identity for each in inputs})
