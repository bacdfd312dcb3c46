from __future__ import annotations

from headwater.functions import FunctionDefinition, FunctionSnapshot, function_snapshot

ONE = FunctionDefinition(
    name="one", version=1, statement="CREATE TEMPORARY FUNCTION one() RETURNS INT RETURN 1"
)
TWO = FunctionDefinition(
    name="two", version=1, statement="CREATE TEMPORARY FUNCTION two() RETURNS INT RETURN 2"
)


def test_the_digest_changes_when_and_only_when_a_definition_does() -> None:
    both = FunctionSnapshot(definitions=(ONE, TWO)).digest
    assert FunctionSnapshot(definitions=(TWO, ONE)).digest == both
    assert FunctionSnapshot(definitions=(ONE,)).digest != both
    newer = FunctionDefinition(name="two", version=2, statement=TWO.statement)
    assert FunctionSnapshot(definitions=(ONE, newer)).digest != both


def test_the_product_has_one_catalogue() -> None:
    assert function_snapshot() == function_snapshot()
