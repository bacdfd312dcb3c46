"""Each rule's example really comes out otherwise over other partitions or in another run; its remedy not."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater.errors import ClockUsed, HeadwaterError, LimitWithoutOrder, NotDeterministic
from headwater.origin import Origin
from headwater.plan.catalyst import analysed_tree
from headwater.plan.determinism import Determinism, Unsteady, check_determinism, determinism_of
from headwater.plan.rules import RULES, RULES_BY_NAME, Rule

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.runtime import RunSession, SessionRuntime

KEYS = {"orders": (("order_id",),)}
SCHEMA = (
    "order_id BIGINT, customer_id BIGINT, placed_at TIMESTAMP, amount DOUBLE, tags ARRAY<STRING>, "
    "received_in STRING"
)
# The same rows in files of other numbers, sizes and orders.
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "up": lambda rows: rows.coalesce(1).sortWithinPartitions("order_id"),
    "down": lambda rows: rows.coalesce(1).sortWithinPartitions("order_id", ascending=False),
    "three": lambda rows: rows.repartition(3, "order_id"),
}
# More that is found, with what puts it right.
PAIRS = {
    "SELECT order_id, lag(order_id) OVER (PARTITION BY customer_id ORDER BY placed_at) AS l FROM orders": (
        "SELECT order_id, lag(order_id) OVER (PARTITION BY customer_id ORDER BY order_id) AS l FROM orders"
    ),
    "SELECT order_id, sum(order_id) OVER (ORDER BY placed_at ROWS UNBOUNDED PRECEDING) AS s FROM orders": (
        "SELECT order_id, sum(order_id) OVER (ORDER BY placed_at RANGE UNBOUNDED PRECEDING) AS s FROM orders"
    ),
    "SELECT order_id, first_value(order_id) OVER (ORDER BY placed_at) AS f FROM orders": (
        "SELECT order_id, first_value(order_id) OVER (ORDER BY placed_at, order_id) AS f FROM orders"
    ),
    "SELECT order_id, sum(amount) OVER (PARTITION BY customer_id) AS s FROM orders": (
        "SELECT order_id, sum(amount) OVER (PARTITION BY customer_id ORDER BY order_id "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS s FROM orders"
    ),
    "SELECT max_by(order_id, placed_at) AS m FROM orders": (
        "SELECT max_by(order_id, struct(placed_at, order_id)) AS m FROM orders"
    ),
    "SELECT order_id FROM orders ORDER BY placed_at LIMIT 3": (
        "SELECT order_id FROM orders ORDER BY placed_at, order_id LIMIT 3"
    ),
    "SELECT first(order_id) AS f FROM orders": "SELECT min(order_id) AS f FROM orders",
    "SELECT collect_set(order_id * 4294967297) AS c FROM orders": (
        "SELECT size(collect_set(order_id * 4294967297)) AS c FROM orders"
    ),
    "SELECT mode(order_id * 4294967297) AS m FROM orders": (
        "SELECT mode() WITHIN GROUP (ORDER BY order_id * 4294967297) AS m FROM orders"
    ),
    "SELECT max(f) AS f FROM (SELECT if(order_id < 9, 'a', 'A') COLLATE UTF8_LCASE AS f FROM orders)": (
        "SELECT max(f) AS f FROM (SELECT if(order_id < 9, 'a', 'A') AS f FROM orders)"
    ),
    "SELECT listagg(received_in, ',') AS l FROM orders": (
        "SELECT listagg(received_in, ',') WITHIN GROUP (ORDER BY received_in) AS l FROM orders"
    ),
    "SELECT avg(if(order_id = 0, 9007199254740992, 1)) AS a FROM orders": (
        "SELECT avg(CAST(if(order_id = 0, 9007199254740992, 1) AS DECIMAL(38, 0))) AS a FROM orders"
    ),
    "SELECT corr(order_id, amount) AS c FROM orders": (
        "SELECT customer_id, rank() OVER (PARTITION BY customer_id ORDER BY placed_at) AS r FROM orders"
    ),
    "SELECT histogram_numeric(order_id, 3) AS h FROM orders": (
        "SELECT approx_count_distinct(order_id) AS h, percentile(amount, 0.3) AS p FROM orders"
    ),
    "SELECT order_id, aes_encrypt(received_in, '0000111122223333') AS e FROM orders": (
        "SELECT order_id, aes_encrypt(received_in, '0000111122223333', 'ECB') AS e FROM orders"
    ),
}
ZONES = ("UTC", "Europe/Berlin", "Asia/Tokyo")


def _amount(number: int) -> float:
    """Large ones that cancel out, and small ones that get lost beside them."""
    return {0: 1e16, 5: -1e16}.get(number % 10, number / 10)


@pytest.fixture(scope="module")
def layouts(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rows of `orders` in each layout."""
    folder = tmp_path_factory.mktemp("layouts")
    start = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [
        (n, n % 3, start + timedelta(days=n % 2), _amount(n), list("abcdefgh"), f"file {n % 4}")
        for n in range(60)
    ]
    with runtime.checkout() as session:
        frame = session.spark.createDataFrame(rows, SCHEMA)
        for name, arrange in LAYOUTS.items():
            arrange(frame).write.parquet(str(folder / name))
    return folder


def _results(session: RunSession, folder: Path, sql: str, rule: Rule | None = None) -> set[str]:
    """What a query gives over each layout, as a set of rows."""
    found: set[str] = set()
    for name, zone in zip(LAYOUTS, ZONES, strict=True):
        if rule is not None and rule.name == "session":
            session.spark.conf.set("spark.sql.session.timeZone", zone)
        session.spark.read.parquet(str(folder / name)).createOrReplaceTempView("orders")
        found.add(repr(sorted(map(repr, session.spark.sql(sql).collect()))))
    return found


def _examined(session: RunSession, sql: str, **known: Any) -> Determinism:
    tree = analysed_tree(session.spark.sql(sql))
    arguments: dict[str, Any] = {"keys": KEYS, "sql": (sql,), **known}
    return determinism_of(tree, "v", **arguments)


def _ticket(number: int) -> str:
    return f"{number} {os.urandom(8).hex()}"


def test_examples_come_out_otherwise_and_remedies_do_not(session: RunSession, layouts: Path) -> None:
    session.spark.udf.register("ticket", _ticket)
    steady: list[str] = []
    unsteady: list[str] = []
    for rule in RULES:
        if len(_results(session, layouts, rule.example, rule)) == 1:
            steady.append(rule.name)
        if len(_results(session, layouts, rule.remedy, rule)) > 1:
            unsteady.append(rule.name)
    assert not steady, "examples that came out the same"
    assert not unsteady, "remedies that came out otherwise"


def test_what_else_is_found_is_no_false_alarm(session: RunSession, layouts: Path) -> None:
    for found, remedy in PAIRS.items():
        assert len(_results(session, layouts, found)) > 1, found
        assert len(_examined(session, found).findings) == 1, found
        assert len(_results(session, layouts, remedy)) == 1, remedy
        assert _examined(session, remedy).findings == (), remedy


def test_which_of_the_duplicates_stays_is_left_open(session: RunSession, layouts: Path) -> None:
    kept: set[str] = set()
    for name in LAYOUTS:
        orders = session.spark.read.parquet(str(layouts / name))
        kept.add(repr(sorted(map(repr, orders.dropDuplicates(["customer_id"]).collect()))))
    assert len(kept) > 1
    session.spark.createDataFrame([], SCHEMA).createOrReplaceTempView("orders")
    orders = session.spark.table("orders")
    report = determinism_of(analysed_tree(orders.dropDuplicates(["customer_id"])), "v", keys=KEYS)
    assert [(each.rule, each.rows) for each in report.findings] == [("tie", True)]
    for columns in (["order_id"], ["order_id", "amount"]):
        assert not determinism_of(analysed_tree(orders.dropDuplicates(columns)), "v", keys=KEYS).findings


def test_examples_are_found_by_their_rule_alone_and_remedies_are_clean(session: RunSession) -> None:
    session.spark.udf.register("ticket", _ticket)
    session.spark.createDataFrame([], SCHEMA).createOrReplaceTempView("orders")
    for rule in RULES:
        (finding,) = _examined(session, rule.example).findings
        assert (finding.code, finding.rule, finding.severity) == (rule.code, rule.name, rule.default)
        clean = _examined(session, rule.remedy)
        assert (clean.findings, clean.unsteady) == ((), Unsteady()), rule.name


def test_a_setting_goes_before_the_default(session: RunSession) -> None:
    session.spark.range(3).createOrReplaceTempView("t")
    sql = "SELECT id, now() AS seen, collect_list(id) OVER () AS ids FROM t"
    (clock, lists) = _examined(session, sql).findings
    assert (clock.severity, lists.severity) == ("refuse", "warn")
    report = _examined(session, sql, settings={"clock": "allow", "unordered-collection": "refuse"})
    assert [each.severity for each in report.findings] == ["allow", "refuse"]
    assert report.findings[0].arbitrary == ("seen",), "what is allowed is recorded, with what it reaches"
    assert report.unsteady.arbitrary == ("seen", "ids")
    assert report.refused == report.findings[1:]
    assert not report.is_replayable


def test_the_first_refused_finding_is_raised_with_place_code_and_remedy(session: RunSession) -> None:
    session.spark.range(3).createOrReplaceTempView("t")
    sql = "SELECT id, now() AS seen, first(id) OVER () AS one FROM t LIMIT 3"
    report = _examined(session, sql, origin=Origin("views/v.sql", 4))
    with pytest.raises(ClockUsed) as caught:
        check_determinism(report.findings)
    assert str(caught.value) == "HW-DET-001 views/v.sql:4: 'v' uses now (and 1 more)"
    assert caught.value.next_step == ClockUsed.advises
    with pytest.raises(LimitWithoutOrder, match=r"have no order$"):
        check_determinism(_examined(session, sql, settings={"clock": "warn"}).findings)
    check_determinism(report.findings[2:])
    check_determinism(())


def test_every_rule_has_an_error_of_its_own() -> None:
    kinds = [each.error for each in RULES]
    assert len(set(kinds)) == len({each.name for each in RULES}) == len(RULES) == len(RULES_BY_NAME)
    assert set(NotDeterministic.__subclasses__()) == set(kinds)
    assert all(issubclass(each, HeadwaterError) for each in kinds)
    assert [each.code for each in RULES] == [f"HW-DET-{n + 1:03}" for n in range(len(RULES))]


def test_a_word_for_a_time_in_values_is_seen_in_the_text(session: RunSession) -> None:
    (finding,) = _examined(session, "SELECT * FROM VALUES (1, date 'Today') AS t(k, d)").findings
    assert (finding.rule, finding.rows) == ("clock", True)
    for sql in (
        "SELECT * FROM VALUES (1, date '2026-01-01') AS t(k, d) -- not date'today'",
        "SELECT * FROM VALUES (1, date '2026-01-01', 'date') AS t(k, d, e)",
        "SELECT * FROM VALUES ('today') AS t(d)",
    ):
        assert _examined(session, sql).findings == ()


def test_what_inputs_have_goes_on(session: RunSession) -> None:
    session.spark.sql("SELECT 1L AS k, 1d AS d, 'a' AS s FROM range(3)").createOrReplaceTempView("up")
    given = {"up": Unsteady(approximate=("d",), arbitrary=("s",))}

    def of(sql: str, upstream: dict[str, Unsteady] = given) -> Unsteady:
        report = _examined(session, sql, upstream=upstream)
        assert report.findings == ()
        return report.unsteady

    assert of("SELECT k, d * 2 AS e, upper(s) AS t FROM up") == Unsteady(approximate=("e",), arbitrary=("t",))
    assert of("SELECT k, CAST(d AS INT) AS i FROM up") == Unsteady(arbitrary=("i",))
    assert of("SELECT k FROM up") == Unsteady()
    assert of("SELECT k FROM up WHERE d > 1") == Unsteady(arbitrary=("k",), rows=True)
    assert of("SELECT count(*) AS n FROM up") == Unsteady()
    assert of("SELECT count(*) AS n FROM up", {"UP": Unsteady(rows=True)}) == Unsteady(
        arbitrary=("n",), rows=True
    )
    assert of("SELECT max(d) AS d FROM up", {"other": Unsteady(rows=True)}) == Unsteady()


def test_keys_go_from_view_to_view(session: RunSession) -> None:
    session.spark.sql("SELECT 1L AS k, 1L AS c, 'a' AS s FROM range(3)").createOrReplaceTempView("t")
    totals = _examined(session, "SELECT c AS customer, count(*) AS n FROM t GROUP BY c")
    assert totals.keys == (("customer",),)
    session.spark.sql("SELECT 1L AS customer, 1L AS n FROM range(3)").createOrReplaceTempView("totals")
    top = "SELECT customer FROM totals ORDER BY n DESC, customer LIMIT 1"
    row = "SELECT *, row_number() OVER (ORDER BY n, customer) AS r FROM (SELECT *, 1 AS x FROM totals)"
    assert _examined(session, top, keys={"totals": totals.keys}).findings == ()
    assert _examined(session, row, keys={"totals": totals.keys}).findings == ()
    assert _examined(session, "SELECT count(*) AS n FROM t").keys == ((),), "at most one row"
    assert _examined(session, "SELECT * FROM totals LIMIT 1", keys={"totals": ((),)}).findings == ()
