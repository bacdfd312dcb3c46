from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql.connect.proto import expressions_pb2

from headwater import functions as H
from headwater.functions import FUNCTIONS, PLACEHOLDER, take_mark
from headwater.functions.templates import code_facts
from headwater.messages import messages_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.protobuf.message import Message
    from pyspark.sql import SparkSession


def parsed(content: bytes) -> Message:
    return expressions_pb2.Expression.FromString(content)


def every_template() -> dict[tuple[str, int], bytes]:
    return {(each.name, arity): each.template(arity).content for each in FUNCTIONS for arity in each.arities}


def made(source: str) -> Callable[..., object]:
    scope: dict[str, Any] = {}
    exec(compile(source, "made", "exec"), scope)  # noqa: S102  our own lines
    return scope["work"]


def test_a_template_has_a_placeholder_for_each_argument() -> None:
    for (name, arity), content in every_template().items():
        named = {
            cast("Any", message).unparsed_identifier
            for message in messages_of(parsed(content))
            if message.DESCRIPTOR.name == "UnresolvedAttribute"
        }
        assert named == {f"{PLACEHOLDER}{place}" for place in range(arity)}, name


def test_a_template_holds_no_mark_no_origin_and_no_counted_name() -> None:
    for (name, _), content in every_template().items():
        for message in messages_of(parsed(content)):
            assert take_mark(message) is None
            kind = message.DESCRIPTOR.name
            if kind == "Expression":
                assert not message.HasField("common")
            elif kind == "UnresolvedNamedLambdaVariable":
                assert cast("Any", message).name_parts[0].startswith(f"hw_{name}_")


def test_templates_are_equal_with_and_without_a_session(spark: SparkSession) -> None:
    with_one = every_template()
    assert spark.range(1).count() == 1
    from pyspark import SparkContext

    context, SparkContext._active_spark_context = SparkContext._active_spark_context, None
    try:
        assert every_template() == with_one
    finally:
        SparkContext._active_spark_context = context


def test_threads_may_build_templates_while_others_use_the_functions(spark: SparkSession) -> None:
    wanted = every_template()
    barrier = threading.Barrier(8, timeout=60)
    wrong: list[object] = []

    def build() -> None:
        barrier.wait()
        wrong.extend(key for key, content in every_template().items() if wanted[key] != content)

    def use() -> None:
        barrier.wait()
        for number in range(6):
            column = H.node_id(H.span_len(H.span_make("id", "id")), "id")
            kind = type(column).__module__
            if "connect" in kind or spark.range(number).select(column).columns != ["node_id"]:
                wrong.append(kind)

    threads = [threading.Thread(target=target) for target in (build, use) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_the_facts_of_code_do_not_change_when_it_moves_or_is_told_otherwise() -> None:
    plain = made("def work(x):\n    'One.'\n    return [y for y in x if y in {'a', 'b', 'c'}]\n")
    moved = made("# moved\n\n\ndef work(x):\n    'Two.'\n    return [y for y in x if y in {'c', 'b', 'a'}]\n")
    assert code_facts(plain) == code_facts(moved)


def test_the_facts_of_code_change_with_what_it_does_also_inside() -> None:
    sources = [
        "def work(x):\n    return [y for y in x if y in {'a', 'b'}]\n",
        "def work(x):\n    return [y for y in x if y in {'a', 'd'}]\n",
        "def work(x):\n    return [y + 1 for y in x]\n",
        "def work(x):\n    return [y + 2 for y in x]\n",
        "def work(x):\n    return sorted(x)\n",
        "def work(x):\n    return list(x)\n",
        "def work(x):\n    return list(x) + [True]\n",
        "def work(x):\n    return list(x) + [1]\n",
    ]
    facts = [repr(code_facts(made(source))) for source in sources]
    assert len(set(facts)) == len(sources)
    assert not any(" at 0x" in each for each in facts)
