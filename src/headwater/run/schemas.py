"""Answers a view that asks for a schema: from the last run's record while it is valid, else by the engine.

A recorded schema is kept under a digest of everything that could change it: the plan that was asked about,
every view it reaches, every source at its pin, and the settings. Not here: the offline session that asks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyspark.sql.types import StructType

from headwater.artifacts import SchemaRecord, SqlRecord
from headwater.digest import digest_of
from headwater.functions import find_function
from headwater.names import same_name
from headwater.pipeline import SourceSpec, ViewSpec
from headwater.plan import functions_in_parsed, names_in_parsed, parsed_tree, rehydrate
from headwater.run.compile import compile_views
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.artifacts import Manifest
    from headwater.origin import Origin
    from headwater.pipeline import PlanBytes
    from headwater.run.pins import SourcePins
    from headwater.run.sessions import LazySession
    from headwater.runtime import RunSession


class RecordedSchemas:
    """The oracle of one run; what it answered is recorded for the next."""

    def __init__(
        self, *, last: Manifest | None, results_digest: str, pins: SourcePins, engine: LazySession
    ) -> None:
        self._schemas = {each.key: each.schema for each in last.schemas} if last else {}
        known = [each for each in last.sql if each.functions is not None] if last else []
        self._texts = {each.digest: each for each in known}
        self._results_digest = results_digest
        self._pins = pins
        self._engine = engine
        self._asking: RunSession | None = None
        self._registered: dict[str, ViewSpec | SourceSpec] = {}
        self._used_schemas: dict[str, str] = {}
        self._used_texts: dict[str, SqlRecord] = {}

    def names_in(self, sql: str, origin: str) -> tuple[str, ...]:
        """The tables that a SQL text reads; see SchemaOracle."""
        return self._text(sql, origin, None).reads

    def reads_of(self, view: ViewSpec) -> tuple[str, ...]:
        """The tables that a view reads, those inside its SQL texts too; sorted, each once.

        What a fixpoint reads of itself is none of them.
        """
        names = {same_name(name): name for name in view.plan.reads}
        for sql in view.plan.sql:
            for name in self._text(sql, view.name, view.origin).reads:
                names.setdefault(same_name(name), name)
        if view.fixpoint is not None:
            names.pop(same_name(view.name), None)
        return tuple(sorted(names.values()))

    def functions_of(self, spec: ViewSpec | SourceSpec) -> tuple[str, ...]:
        """The functions of the catalogue that a view or source uses, in Python or in SQL texts; sorted."""
        if spec.plan is None:
            return ()
        called = {name for name in spec.plan.functions if find_function(name)}
        for sql in spec.plan.sql:
            called.update(self._text(sql, spec.name, spec.origin).functions or ())
        return tuple(sorted(called))

    def schema_of(self, relation: PlanBytes, reached: Mapping[str, ViewSpec | SourceSpec]) -> StructType:
        """The schema of a relation; see SchemaOracle."""
        key = self._key(relation, reached)
        if key not in self._schemas:
            self._schemas[key] = self._ask_engine(relation, reached).json()
        self._used_schemas[key] = self._schemas[key]
        return StructType.fromJson(json.loads(self._schemas[key]))

    @property
    def schema_records(self) -> tuple[SchemaRecord, ...]:
        """What this run asked and was told."""
        return tuple(
            SchemaRecord(key=key, schema=self._used_schemas[key]) for key in sorted(self._used_schemas)
        )

    @property
    def sql_records(self) -> tuple[SqlRecord, ...]:
        """What this run found in SQL texts."""
        return tuple(self._used_texts[key] for key in sorted(self._used_texts))

    def _key(self, relation: PlanBytes, reached: Mapping[str, ViewSpec | SourceSpec]) -> str:
        identities = {name: self._identity(spec) for name, spec in reached.items()}
        return digest_of([relation.digest, self._results_digest, identities])

    def _identity(self, spec: ViewSpec | SourceSpec) -> list[str | int | None]:
        if isinstance(spec, ViewSpec):
            return [spec.digest, int(spec.stored)]
        return self._pins.schema_identity_of(spec)

    def _ask_engine(self, relation: PlanBytes, reached: Mapping[str, ViewSpec | SourceSpec]) -> StructType:
        if any(self._registered.get(name, spec) != spec for name, spec in reached.items()):
            self._start_over()  # a fixpoint is one thing to itself and another to those that read it
        new = {name: spec for name, spec in reached.items() if name not in self._registered}
        session = self._register(new)
        with engine_errors():
            return rehydrate(session, relation.executable, "a view that asked for its schema").schema

    def _register(self, new: Mapping[str, ViewSpec | SourceSpec]) -> RunSession:
        """The session of all questions, in which every name is planned once, with `new` ones added."""
        session = self._asking = self._asking or self._engine.fresh()
        views = [spec for spec in new.values() if isinstance(spec, ViewSpec)]
        sources = [self._pins.pinned(spec) for spec in new.values() if isinstance(spec, SourceSpec)]
        reads = {view.name: self.reads_of(view) for view in views}
        compile_views(session, views, sources, reads, there=self._registered)
        self._registered.update(new)
        return session

    def _start_over(self) -> None:
        if self._asking is not None:
            self._asking.release()
        self._asking = None
        self._registered.clear()

    def _text(self, sql: str, owner: str, origin: Origin | None) -> SqlRecord:
        """Each text is parsed once, in this run or in the one that recorded it."""
        digest = digest_of(sql)
        if digest not in self._texts:
            tree = parsed_tree(self._engine.get(), sql, owner, origin)
            self._texts[digest] = SqlRecord(
                digest=digest,
                reads=names_in_parsed(tree, owner, origin),
                functions=tuple(name for name in functions_in_parsed(tree) if find_function(name)),
            )
        self._used_texts[digest] = self._texts[digest]
        return self._texts[digest]
