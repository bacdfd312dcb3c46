"""What makes a view's rows depend on more than its inputs: each kind with its reason, an example, a remedy.

Example and remedy are queries over one table, `orders`: `order_id` is its key; several orders of a customer
can be placed at one time. Not here: how a plan is searched for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from headwater.errors import (
    ClockUsed,
    CollectionUnordered,
    FileMetadataUsed,
    FloatAggregated,
    FunctionUndeclared,
    LimitWithoutOrder,
    PartitionIdUsed,
    RandomUsed,
    ReflectionUsed,
    RowIdUsed,
    SampleUsed,
    SessionUsed,
    ShuffleUsed,
    SketchUsed,
    TieLeftOpen,
    UuidUsed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.errors import NotDeterministic
    from headwater.policies import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way in which a view can come out otherwise.

    Attributes:
        name: How settings call it.
        error: What is raised where it is refused; it has the code, and the remedy in words.
        default: What happens if nothing is set: it is refused, or warned of and recorded.
        why: Why the same inputs can give other rows.
        example: A query that has it.
        remedy: A query for the same purpose that does not.
        chance: What a view then has that makes every run differ, in words; empty if runs can be equal.
    """

    name: str
    error: type[NotDeterministic]
    default: Severity
    why: str
    example: str
    remedy: str
    chance: str = ""

    @property
    def code(self) -> str:
        """The code that findings and errors carry."""
        return self.error.code


RULES: tuple[Rule, ...] = (
    Rule(
        name="clock",
        error=ClockUsed,
        default="refuse",
        why="A clock shows another time in the next run: `current_timestamp`, `now`, `current_date`, "
        "`date'today'`, and the texts `now`, `today`, `yesterday`, `tomorrow` cast to a date or timestamp.",
        example="SELECT order_id, current_timestamp() AS seen_at FROM orders",
        remedy="SELECT order_id, placed_at AS seen_at FROM orders",
        chance="a clock",
    ),
    Rule(
        name="random",
        error=RandomUsed,
        default="refuse",
        why="Each partition draws its own numbers in the order of its rows. A seed fixes the numbers and "
        "not which row gets which. `aes_encrypt` without an initialisation vector draws one too.",
        example="SELECT order_id, rand(7) AS lot FROM orders",
        remedy="SELECT order_id, pmod(xxhash64(order_id), 1000) / 1000 AS lot FROM orders",
        chance="random numbers",
    ),
    Rule(
        name="uuid",
        error=UuidUsed,
        default="refuse",
        why="The id of a row has nothing to do with the row, so the same row gets another id in the next "
        "run, and every join and every difference over it fails.",
        example="SELECT order_id, uuid() AS id FROM orders",
        remedy="SELECT order_id, sha2(CAST(order_id AS STRING), 256) AS id FROM orders",
        chance="random ids",
    ),
    Rule(
        name="sample",
        error=SampleUsed,
        default="refuse",
        why="Rows are drawn by their place in a partition. REPEATABLE fixes the places and not which rows "
        "lie there.",
        example="SELECT order_id FROM orders TABLESAMPLE (50 PERCENT) REPEATABLE (7)",
        remedy="SELECT order_id FROM orders WHERE pmod(xxhash64(order_id), 100) < 50",
        chance="a random sample",
    ),
    Rule(
        name="shuffle",
        error=ShuffleUsed,
        default="refuse",
        why="The order of the elements is drawn anew in each run.",
        example="SELECT order_id, shuffle(tags) AS tags FROM orders",
        remedy="SELECT order_id, array_sort(tags) AS tags FROM orders",
        chance="a random order",
    ),
    Rule(
        name="partition-id",
        error=PartitionIdUsed,
        default="refuse",
        why="How rows are spread over partitions depends on files, on settings and on the number of cores.",
        example="SELECT order_id, spark_partition_id() AS shard FROM orders",
        remedy="SELECT order_id, pmod(xxhash64(order_id), 8) AS shard FROM orders",
    ),
    Rule(
        name="row-id",
        error=RowIdUsed,
        default="refuse",
        why="`monotonically_increasing_id` and `zipWithIndex` number rows by partition and place; both "
        "change when a table's files are compacted, and nothing else did.",
        example="SELECT order_id, monotonically_increasing_id() AS n FROM orders",
        remedy="SELECT order_id, row_number() OVER (ORDER BY order_id) AS n FROM orders",
    ),
    Rule(
        name="file-metadata",
        error=FileMetadataUsed,
        default="refuse",
        why="The same rows lie in other files after the table was optimised, restored or copied: "
        "`input_file_name`, `input_file_block_start`, `input_file_block_length`, `_metadata`.",
        example="SELECT order_id, input_file_name() AS file FROM orders",
        remedy="SELECT order_id, received_in AS file FROM orders",
    ),
    Rule(
        name="limit-without-order",
        error=LimitWithoutOrder,
        default="refuse",
        why="LIMIT and OFFSET take the rows that come first, and without ORDER BY that is whoever was read "
        "first. A limit below EXISTS, of no rows, or of a single row's relation is no finding.",
        example="SELECT order_id FROM orders LIMIT 3",
        remedy="SELECT order_id FROM orders ORDER BY order_id LIMIT 3",
    ),
    Rule(
        name="reflect",
        error=ReflectionUsed,
        default="refuse",
        why="`reflect`, `java_method` and `try_reflect` call whatever the Java process has; nothing is "
        "known of what that depends on.",
        example="SELECT order_id, reflect('java.util.UUID', 'randomUUID') AS id FROM orders",
        remedy="SELECT order_id, sha2(CAST(order_id AS STRING), 256) AS id FROM orders",
    ),
    Rule(
        name="session",
        error=SessionUsed,
        default="refuse",
        why="The answer depends on who runs the view and where: `current_user`, `current_catalog`, "
        "`current_schema`, `current_path`, `current_timezone`, `version`, variables of the session.",
        example="SELECT order_id, current_timezone() AS zone FROM orders",
        remedy="SELECT order_id, 'UTC' AS zone FROM orders",
    ),
    Rule(
        name="python-function",
        error=FunctionUndeclared,
        default="refuse",
        why="Spark cannot see what a function in Python or Scala depends on: it may keep a state between "
        "rows, read a file or ask a clock. One that is declared depends on its arguments alone.",
        example="SELECT order_id, ticket(order_id) AS ticket FROM orders",
        remedy="SELECT order_id, hex(order_id) AS ticket FROM orders",
    ),
    Rule(
        name="float-aggregate",
        error=FloatAggregated,
        default="warn",
        why="Floating-point addition rounds at each step, so a sum depends on the order of its rows, and "
        "that on partitions. So do averages (of integers too, once their sum passes 2^53), variances, "
        "correlations and regressions. Minimum, maximum, count, and sums of decimals and integers do not.",
        example="SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id",
        remedy="SELECT customer_id, sum(CAST(amount AS DECIMAL(38, 4))) AS total FROM orders GROUP BY "
        "customer_id",
    ),
    Rule(
        name="tie",
        error=TieLeftOpen,
        default="warn",
        why="Of rows that tie, whichever was read first comes first. It is settled where the order, with "
        "the partition or group, has a key of the relation in it, or all of its columns. This goes for "
        "`row_number`, `lag`, `lead`, `ntile`, `nth_value`, `first_value` and `last_value`, for frames of "
        "ROWS, for `max_by` and `min_by`, for ORDER BY with LIMIT, for `dropDuplicates` by some columns. "
        "Texts that a collation holds equal tie in GROUP BY, DISTINCT, `min` and `max`. `rank`, "
        "`dense_rank`, `percent_rank`, `cume_dist` and frames of RANGE treat ties alike.",
        example="SELECT order_id, row_number() OVER (PARTITION BY customer_id ORDER BY placed_at) AS n "
        "FROM orders",
        remedy="SELECT order_id, row_number() OVER (PARTITION BY customer_id ORDER BY placed_at, order_id) "
        "AS n FROM orders",
    ),
    Rule(
        name="unordered-collection",
        error=CollectionUnordered,
        default="warn",
        why="The rows of a group have no order: `collect_list`, `collect_set`, `array_agg` and `listagg` "
        "list them as they come, `first`, `last`, `any_value` take whoever was there, `mode` takes one of "
        "the values that are equally frequent.",
        example="SELECT customer_id, collect_list(order_id) AS orders FROM orders GROUP BY customer_id",
        remedy="SELECT customer_id, array_sort(collect_list(order_id)) AS orders FROM orders GROUP BY "
        "customer_id",
    ),
    Rule(
        name="sketch",
        error=SketchUsed,
        default="warn",
        why="`approx_percentile`, `approx_top_k`, `histogram_numeric`, and sketches of the kinds hll, kll, "
        "theta and tuple keep a part of what they have seen, and which part can depend on the order of "
        "rows. `approx_count_distinct`, `count_min_sketch` and bitmaps do not.",
        example="SELECT approx_percentile(order_id, 0.5, 4) AS middle FROM orders",
        remedy="SELECT percentile(order_id, 0.5) AS middle FROM orders",
    ),
)

RULES_BY_NAME: Mapping[str, Rule] = MappingProxyType({each.name: each for each in RULES})
# Rules that make every run differ, wherever they are let pass, and what a view then has.
CHANCES: Mapping[str, str] = MappingProxyType({each.name: each.chance for each in RULES if each.chance})
