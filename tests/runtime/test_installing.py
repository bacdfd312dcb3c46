from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from headwater import functions as H
from headwater.functions import FUNCTIONS, SEMANTIC_TYPE_KEY
from headwater.runtime import RuntimeProfile, open_runtime

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.runtime import RunSession, SessionRuntime

NAMES = {each.name for each in FUNCTIONS}
PROFILE = RuntimeProfile(master="local[2]", driver_memory="2g")


@pytest.fixture
def spark(session: RunSession) -> SparkSession:
    session.spark.sql(
        "CREATE TEMPORARY VIEW things AS "
        "SELECT * FROM VALUES ('a', 'b', 1), ('c', 'd', 2), ('a', 'e', 3) AS t(a, b, n)"
    )
    return session.spark


def rows(spark: SparkSession, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in spark.sql(sql).collect()]


def shown(spark: SparkSession, kind: str) -> set[str]:
    return {row[0] for row in spark.sql(f"SHOW {kind} FUNCTIONS").collect()}


# --- what a session says of them -----------------------------------------------------------------------


def test_a_session_shows_every_function(spark: SparkSession) -> None:
    assert shown(spark, "USER") >= NAMES
    assert {row[0] for row in spark.sql("SHOW FUNCTIONS LIKE 'span_*'").collect()} == {
        "span_contains",
        "span_id",
        "span_len",
        "span_make",
        "span_overlaps",
    }


def test_no_name_is_one_of_sparks_own(runtime: SessionRuntime) -> None:
    plain = runtime._application.root.newSession()
    system = shown(plain, "SYSTEM")
    assert len(system) > 300
    assert not system & NAMES
    assert not shown(plain, "USER") & NAMES


def test_describe_function_tells_how_to_call_it(spark: SparkSession) -> None:
    for definition in FUNCTIONS:
        short = [row[0] for row in spark.sql(f"DESCRIBE FUNCTION {definition.name}").collect()]
        assert short[0] == f"Function: {definition.name}"
        assert short[2] == f"Usage: {definition.signature}\n{definition.doc}"
        long = spark.sql(f"DESCRIBE FUNCTION EXTENDED {definition.name}").collect()[-1][0]
        assert all(f"> {example.sql};" in long for example in definition.examples)


@pytest.mark.parametrize(
    "call", ["span_make(1)", "node_id()", "span_len(1, 2)", "utf8_normalize('a', 'NFC', true, 1)"]
)
def test_a_wrong_number_of_arguments_names_the_function(spark: SparkSession, call: str) -> None:
    with pytest.raises(AnalysisException, match=rf"The `{call.partition('(')[0]}` requires .* parameters"):
        spark.sql(f"SELECT {call}")


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("node_id(DISTINCT a)", "DISTINCT"),
        ("arg_max_det(DISTINCT a, n)", "DISTINCT"),
        ("node_id(a) FILTER (WHERE n > 1)", "FILTER"),
        ("count_if_det(n > 1) FILTER (WHERE n > 1)", "FILTER"),
        ("node_id(a) IGNORE NULLS", "IGNORE NULLS"),
        ("span_make(bstart => 1, bend => 2)", "Named parameters are not supported for function `span_make`"),
    ],
)
def test_what_a_call_cannot_have_is_an_error_that_names_it(spark: SparkSession, call: str, what: str) -> None:
    with pytest.raises(AnalysisException, match=what) as caught:
        spark.sql(f"SELECT {call} FROM things")
    assert f"`{call.partition('(')[0]}`" in str(caught.value)


def test_no_plan_holds_a_class_of_ours(spark: SparkSession) -> None:
    """No other class loader would know it."""
    for definition in FUNCTIONS:
        frame: Any = spark.sql(definition.examples[0].sql)
        assert '"class":"headwater' not in frame._jdf.queryExecution().analyzed().toJSON()


# --- where calls can stand -----------------------------------------------------------------------------


def test_calls_of_one_function_in_one_query_do_not_mix(spark: SparkSession) -> None:
    for name in ("node_id", "stable_hash_any", "utf8_null_if_blank"):
        for one, two in rows(spark, f"SELECT {name}(a), {name}(b) FROM things"):
            assert one != two
    ((low, high),) = rows(spark, "SELECT count_if_det(n > 1), count_if_det(n > 2) FROM things")
    assert (low, high) == (2, 1)
    nested = "SELECT x, y FROM (SELECT node_id(a), node_id(b) FROM things) AS t(x, y) WHERE x = y"
    assert rows(spark, nested) == []
    joined = (
        "SELECT count(*) FROM (SELECT node_id(a), n FROM things) l JOIN (SELECT node_id(a), n FROM things) r "
        "ON l.node_id = r.node_id AND l.n < r.n"
    )
    assert rows(spark, joined) == [(1,)]
    sides = "SELECT node_id(a) AS i FROM things UNION ALL SELECT node_id(b) FROM things"
    union = f"SELECT count(DISTINCT i) FROM ({sides})"
    assert rows(spark, union) == [(5,)]


def test_calls_stand_wherever_an_expression_can(spark: SparkSession) -> None:
    queries = {
        "SELECT n FROM things WHERE span_len(span_make(0, n)) = 2": [(2,)],
        "SELECT l.n, r.n FROM things l JOIN things r ON span_overlaps(span_make(l.n, l.n + 2), "
        "span_make(r.n, r.n + 2)) AND l.n < r.n ORDER BY 1": [(1, 2), (2, 3)],
        "SELECT node_id(a) = node_id('a'), count(*) FROM things GROUP BY node_id(a) "
        "HAVING any_value_det(n) < 2 AND node_id(a) <> '' ORDER BY 2": [(True, 2)],
        "SELECT count(*) FROM things GROUP BY node_id(a) ORDER BY node_id(a)": [(1,), (2,)],
        "SELECT arg_max_det(b, n) FROM things GROUP BY a ORDER BY arg_max_det(b, n)": [("d",), ("e",)],
        "SELECT CASE WHEN node_id(a) = node_id('a') THEN n END AS x FROM things ORDER BY x NULLS LAST": [
            (1,),
            (3,),
            (None,),
        ],
        "SELECT n FROM things WHERE node_id(b) IN (SELECT node_id(b) FROM things WHERE n > 2)": [(3,)],
        "SELECT n, (SELECT span_len(span_make(0, max(n))) FROM things) FROM things WHERE n = 1": [(1, 3)],
        "SELECT n, count(*) OVER (PARTITION BY node_id(a) ORDER BY cdf_change_rank('insert'), n) FROM things "
        "ORDER BY n": [(1, 1), (2, 1), (3, 2)],
        "SELECT n, x FROM things LATERAL VIEW explode(list_unique_sorted(array(n, 0, n))) AS x WHERE n = 2": [
            (2, 0),
            (2, 2),
        ],
        "WITH c AS (SELECT node_id(a) AS i FROM things) SELECT count(DISTINCT i) FROM c": [(2,)],
        "SELECT system.session.span_len(Span_Make(1, 4))": [(3,)],
        "SELECT `span_len`(`span_make`(1, 4))": [(3,)],
    }
    for query, wanted in queries.items():
        assert rows(spark, query) == wanted, query


def test_a_view_over_a_call_gives_the_same_as_the_call(spark: SparkSession) -> None:
    spark.sql("CREATE TEMPORARY VIEW named AS SELECT node_id(a) AS id, * FROM things")
    frame = spark.table("things")
    wanted = frame.select(H.node_id("a").alias("id"), "*").collect()
    assert spark.table("named").collect() == wanted
    assert frame.select(F.expr("node_id(a)").alias("id"), "*").collect() == wanted
    assert frame.selectExpr("node_id(a) AS id", "*").collect() == wanted
    assert frame.select(F.call_function("node_id", "a").alias("id"), "*").collect() == wanted


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("transform(array(map('b', 1, 'a', 2)), x -> map_keys(map_normalize(x)))", [["a", "b"]]),
        (
            "transform(array(map('b', 1)), hw_map_normalize_0 -> map_normalize(hw_map_normalize_0))",
            [{"b": 1}],
        ),
        ("transform(array(1, 2), x -> span_len(span_make(0, x)))", [1, 2]),
        ("transform(array(1), x -> transform(array(5), y -> span_len(span_make(x, y)))[0])", [4]),
        ("transform(array(1), x -> transform(array(x), x -> span_len(span_make(x, 9)))[0])", [8]),
        ("filter(array('a', ' '), hw_argument_0 -> utf8_null_if_blank(hw_argument_0) IS NOT NULL)", ["a"]),
        ("map_normalize(map('k', transform(array(2), k -> map_normalize(map(k, k)))))", {"k": [{2: 2}]}),
    ],
)
def test_variables_of_lambdas_do_not_mix_with_those_of_templates(
    spark: SparkSession, call: str, result: object
) -> None:
    assert rows(spark, f"SELECT {call}") == [(result,)]


def test_a_column_called_like_a_placeholder_is_a_column(spark: SparkSession) -> None:
    query = (
        "SELECT span_make(hw_argument_1, hw_argument_0) FROM VALUES (9, 4) AS t(hw_argument_0, hw_argument_1)"
    )
    assert [tuple(row[0]) for row in rows(spark, query)] == [(4, 9, "byte")]


def test_a_semantic_type_comes_through_sql(spark: SparkSession) -> None:
    schema = spark.sql("SELECT node_id(a) AS id, edge_id(a), upper(node_id(a)) AS other FROM things").schema
    assert [field.metadata.get(SEMANTIC_TYPE_KEY) for field in schema] == ["NodeId", "EdgeId", None]


# --- sessions ------------------------------------------------------------------------------------------


def test_what_a_clone_drops_or_replaces_the_others_keep(runtime: SessionRuntime) -> None:
    with runtime.checkout() as one, runtime.checkout() as two:
        one.spark.sql("DROP TEMPORARY FUNCTION node_id")
        one.spark.sql("DROP TEMPORARY FUNCTION span_len")
        one.spark.sql("CREATE TEMPORARY FUNCTION span_len(x INT) RETURNS INT RETURN -1")
        with pytest.raises(AnalysisException, match="node_id"):
            one.spark.sql("SELECT node_id(1)")
        assert rows(one.spark, "SELECT span_len(1)") == [(-1,)]
        assert rows(two.spark, "SELECT span_len(span_make(1, 3)), length(node_id(1))") == [(2, 37)]
    with runtime.checkout() as later:
        assert shown(later.spark, "USER") >= NAMES
        assert rows(later.spark, "SELECT span_len(span_make(1, 3))") == [(2,)]


def test_sessions_in_threads_use_them_at_once(runtime: SessionRuntime) -> None:
    barrier = threading.Barrier(8, timeout=60)
    seen: dict[int, list[tuple[Any, ...]]] = {}

    def run(number: int) -> None:
        with runtime.checkout() as session:
            barrier.wait()
            keys = f"map_keys(map_normalize(map('b', 1, 'a', {number})))"
            call = f"SELECT span_len(span_make(0, {number})), {keys}"
            seen[number] = [row for _ in range(3) for row in rows(session.spark, call)]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert seen == {number: [(number, ["a", "b"])] * 3 for number in range(8)}


def test_many_sessions_leave_nothing_behind(runtime: SessionRuntime) -> None:
    def registered() -> int:
        registry = runtime._prepared.sessionState().functionRegistry()
        return int(registry.listFunction().length())

    before = registered()
    for _ in range(200):
        runtime.new_session().release()
    assert registered() == before
    with runtime.checkout() as session:
        state = session.jvm_session.sessionState()
        assert state.functionRegistry().listFunction().length() == before


def test_a_family_that_is_switched_off_is_not_installed(runtime: SessionRuntime) -> None:
    without = open_runtime(replace(PROFILE, disabled_families=("cdf", "map")))
    with without.checkout() as session, runtime.checkout() as whole:
        gone = shown(whole.spark, "USER") - shown(session.spark, "USER")
        assert gone == {
            "cdf_change_rank",
            "cdf_is_delete",
            "cdf_is_upsert",
            "map_get_default",
            "map_normalize",
        }
        with pytest.raises(AnalysisException, match="map_normalize"):
            session.spark.sql("SELECT map_normalize(map(1, 1))")
        assert rows(session.spark, "SELECT span_len(span_make(1, 3))") == [(2,)]
    assert without.identity.results_digest != runtime.identity.results_digest
