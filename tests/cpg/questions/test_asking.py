"""All questions by their names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from code_sample import SMALL_REPO, definitions_table

from headwater.cpg.questions import QUESTIONS, Asked, Graph, answer_to

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

FILES = {"main.py": "def f(): return g()\n\n\ndef g(): return 1\n"}
NAMES = {"NAME": "main.g", "FROM": "main.f", "TO": "main.g", "SOURCE": "main.g", "SINK": "main.f"}
COLUMNS = (
    *("decorated", "asked_for", "src_node_id", "dst_node_id", "file_id", "kind"),
    *("how", "def_id", "site_id", "node_id", "path", "line", "node_kind", "name"),
)


def table_of(sql: str) -> pa.Table:
    """What a graph of FILES answers, as far as it is asked here."""
    if "FROM definitions" in sql:
        return definitions_table(FILES)
    columns = {name: pa.array([], pa.string()) for name in COLUMNS}
    return pa.table(
        columns | {"preserves_value": pa.array([], pa.bool_()), "confidence": pa.array([], pa.float64())}
    )


@pytest.mark.parametrize("question", [each for each, asked in QUESTIONS.items() if asked.takes])
def test_a_question_takes_its_names(question: str) -> None:
    graph = Graph("small", Path("nowhere"), table_of)
    names = tuple(NAMES[each] for each in QUESTIONS[question].takes if not each.startswith("["))
    answer = answer_to(graph, Asked(question=question, names=names))
    assert answer.question == question


def test_questions_say_what_they_take_and_tell(snapshot: SnapshotAssertion) -> None:
    assert [f"{name} {' '.join(each.takes)}: {each.tells}" for name, each in QUESTIONS.items()] == snapshot


@pytest.mark.parametrize(
    ("depth", "usual", "steps"), [(None, 1, 1), (None, None, None), (3, 1, 3), (0, 1, None)]
)
def test_the_most_steps_are_those_asked_for(depth: int | None, usual: int | None, steps: int | None) -> None:
    assert Asked(question="callers", depth=depth).steps(usual) == steps


def test_the_small_repository_is_where_it_is_thought_to_be() -> None:
    assert (SMALL_REPO / "library" / "books.py").is_file()
