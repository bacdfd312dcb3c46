from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from headwater.delta.meanings import METADATA_KEY as WRITTEN_KEY
from headwater.errors import SemanticMismatch
from headwater.origin import Origin
from headwater.plan import analysed_tree, empty_relation
from headwater.plan.agreement import METADATA_KEY, SemanticCheck, SemanticColumn
from headwater.plan.semantics import semantics_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from headwater.plan.agreement import SemanticTypes
    from headwater.runtime import SessionRuntime

PLACE = Origin("views/v.sql", 1)
# What storage has noted in each field; `plain` has none of its own.
TABLES: Mapping[str, Mapping[str, str | None]] = {
    "nodes": {"id": "NodeId", "parent": "NodeId", "name": None, "rank": None},
    "edges": {"id": "EdgeId", "source": "NodeId", "target": "NodeId", "label": None},
    "plain": {"id": None, "of_node": None},
}


def column(name: str, meaning: str | None) -> StructField:
    kind = IntegerType() if name == "rank" else StringType()
    return StructField(name, kind, True, {METADATA_KEY: meaning} if meaning else {})


@pytest.fixture(scope="module")
def tables(runtime: SessionRuntime) -> Generator[SparkSession]:
    """A session for all tests here: they only look at plans."""
    inner = StructType([column("id", "NodeId"), column("name", None)])
    nested = StructType([StructField("who", inner), column("id", "EdgeId")])
    schemas = {
        name: StructType([column(*each) for each in columns.items()]) for name, columns in TABLES.items()
    }
    with runtime.checkout() as lent:
        for name, schema in {**schemas, "nested": nested}.items():
            empty_relation(lent, schema, name).createOrReplaceTempView(name)
        yield lent.spark


def semantics(
    frame: DataFrame,
    declared: Mapping[str, Mapping[str, str]] | None = None,
    promised: Mapping[str, str] | None = None,
) -> SemanticTypes:
    return semantics_of(analysed_tree(frame), "v", PLACE, declared or {}, promised or {})


def refusal(frame: DataFrame, promised: Mapping[str, str] | None = None) -> SemanticMismatch:
    with pytest.raises(SemanticMismatch) as caught:
        semantics(frame, promised=promised)
    assert caught.value.origin == PLACE
    return caught.value


def test_the_key_is_the_one_that_storage_writes() -> None:
    assert METADATA_KEY == WRITTEN_KEY


FLOWS = {
    "SELECT id, parent AS p, name FROM nodes": {"id": "NodeId", "p": "NodeId"},
    "SELECT upper(id) AS u, id || '' AS c, array(id) AS l, rank + 1 AS r FROM nodes": {},
    "SELECT coalesce(id, parent) a, nvl(id, parent) b, least(id, parent) c FROM nodes": dict.fromkeys(
        "abc", "NodeId"
    ),
    "SELECT coalesce(id, 'none') AS a, coalesce(id, name) AS b FROM nodes": {},
    "SELECT if(rank = 1, id, parent) AS a, if(rank = 1, id, NULL) AS b, nullif(id, 'x') AS c, "
    "CASE WHEN rank = 1 THEN id WHEN rank = 2 THEN parent END AS d, "
    "CASE rank WHEN 1 THEN id ELSE name END AS e, nvl2(name, id, parent) AS f, "
    "decode(rank, 1, id, parent) AS g FROM nodes": dict.fromkeys("abcdfg", "NodeId"),
    "SELECT CAST(id AS INT) AS a, CAST(NULL AS STRING) AS b FROM nodes": {"a": "NodeId"},
    "SELECT first(id) AS a, last(id) AS b, min(id) AS c, max(id) FILTER (WHERE rank > 1) AS d, "
    "any_value(id) AS e, max_by(id, rank) AS f, min_by(id, rank) AS g, mode(id) AS h, "
    "collect_list(id) AS i, count(id) AS j FROM nodes": dict.fromkeys("abcdefgh", "NodeId"),
    "SELECT parent, name, count(*) AS n FROM nodes GROUP BY parent, name": {"parent": "NodeId"},
    "SELECT parent, name, grouping(parent) AS g FROM nodes GROUP BY CUBE (parent, name)": {
        "parent": "NodeId"
    },
    "SELECT lag(id) OVER w AS a, lead(id, 2, parent) OVER w AS b, first_value(id) OVER w AS c, "
    "nth_value(id, 2) OVER w AS d, row_number() OVER w AS e, lag(id, 1, 'x') OVER w AS f "
    "FROM nodes WINDOW w AS (PARTITION BY parent ORDER BY rank)": dict.fromkeys("abcd", "NodeId"),
    "SELECT n.id AS n, e.id AS e, label FROM nodes AS n JOIN edges AS e ON n.id = e.source": {
        "n": "NodeId",
        "e": "EdgeId",
    },
    "SELECT * FROM (SELECT id AS k FROM nodes) FULL JOIN (SELECT target AS k FROM edges) USING (k)": {
        "k": "NodeId"
    },
    "SELECT id FROM nodes UNION ALL SELECT source FROM edges": {"id": "NodeId"},
    "SELECT id FROM nodes UNION SELECT NULL": {"id": "NodeId"},
    "SELECT id FROM nodes UNION ALL SELECT label FROM edges": {},
    "SELECT id FROM nodes INTERSECT SELECT source FROM edges": {"id": "NodeId"},
    "SELECT id FROM nodes EXCEPT SELECT label FROM edges": {"id": "NodeId"},
    "SELECT (SELECT max(source) FROM edges WHERE target = nodes.id) AS s FROM nodes": {"s": "NodeId"},
    "SELECT id FROM nodes WHERE EXISTS (SELECT 1 FROM edges WHERE source = nodes.id)": {"id": "NodeId"},
    "SELECT id FROM nodes WHERE (id, parent) IN (SELECT source, target FROM edges)": {"id": "NodeId"},
    "WITH a AS (SELECT id AS k, rank FROM nodes), b AS (SELECT k FROM a) "
    "SELECT a.k AS one, b.k AS two FROM a JOIN b ON a.k = b.k": {"one": "NodeId", "two": "NodeId"},
    "WITH RECURSIVE up AS (SELECT id, parent FROM nodes UNION ALL "
    "SELECT up.id, n.parent FROM up JOIN nodes AS n ON up.parent = n.id) SELECT * FROM up": {
        "id": "NodeId",
        "parent": "NodeId",
    },
    "WITH RECURSIVE up AS (SELECT id, name AS x FROM nodes UNION ALL "
    "SELECT x, id FROM up WHERE id <> x) SELECT * FROM up": {},
    "SELECT id, s FROM nodes, LATERAL (SELECT target AS s FROM edges WHERE source = nodes.id)": {
        "id": "NodeId",
        "s": "NodeId",
    },
    "SELECT * FROM (SELECT id, parent, rank FROM nodes) UNPIVOT (k FOR what IN (id, parent))": {
        "k": "NodeId"
    },
    "SELECT rank, k FROM nodes LATERAL VIEW stack(2, id, parent) AS k": {"k": "NodeId"},
    "SELECT rank, k FROM nodes LATERAL VIEW OUTER explode(array(id)) AS k": {},
    "SELECT id, x FROM nodes LATERAL VIEW posexplode(split(name, ',')) AS p, x": {"id": "NodeId"},
    "SELECT who.id AS a, who.name AS b FROM nested": {"a": "NodeId"},
    "SELECT i.* FROM nested, LATERAL inline(array(who)) AS i": {"id": "NodeId"},
    "SELECT named_struct('k', id).k AS a, struct(id) AS s FROM nodes": {"a": "NodeId"},
    "SELECT DISTINCT id FROM nodes WHERE id BETWEEN 'a' AND parent ORDER BY id LIMIT 3": {"id": "NodeId"},
    "SELECT id FROM nodes TABLESAMPLE (10 ROWS)": {"id": "NodeId"},
    "SELECT x FROM VALUES (1), (2) AS t(x)": {},
    "SELECT * FROM nodes PIVOT (max(id) FOR rank IN (1, 2))": dict.fromkeys(["parent", "1", "2"], "NodeId"),
}


@pytest.mark.parametrize("sql", FLOWS)
def test_a_semantic_type_goes_with_a_value_that_is_passed_on(tables: SparkSession, sql: str) -> None:
    assert semantics(tables.sql(sql)).by_column == FLOWS[sql]


REFUSED = {
    "SELECT * FROM nodes n JOIN edges e ON n.id = e.id": "compares nodes.id (NodeId) with edges.id (EdgeId)",
    "SELECT * FROM nodes JOIN edges USING (id)": "compares nodes.id (NodeId) with edges.id (EdgeId)",
    "SELECT * FROM edges NATURAL FULL JOIN (SELECT id FROM nodes)": (
        "compares edges.id (EdgeId) with nodes.id (NodeId)"
    ),
    "SELECT * FROM edges WHERE id = source": "compares edges.id (EdgeId) with edges.source (NodeId)",
    "SELECT * FROM edges WHERE id <=> source": "compares edges.id (EdgeId) with edges.source (NodeId)",
    "SELECT * FROM edges WHERE NOT (source < id)": "compares edges.source (NodeId) with edges.id (EdgeId)",
    "SELECT * FROM edges WHERE source >= id": "compares edges.source (NodeId) with edges.id (EdgeId)",
    "SELECT * FROM edges WHERE id BETWEEN source AND target": (
        "compares edges.id (EdgeId) with edges.source (NodeId)"
    ),
    "SELECT * FROM edges WHERE id IN ('x', label, target)": (
        "compares edges.id (EdgeId) with edges.target (NodeId)"
    ),
    "SELECT * FROM edges WHERE id IN (SELECT parent FROM nodes)": (
        "compares edges.id (EdgeId) with nodes.parent (NodeId)"
    ),
    "SELECT * FROM edges WHERE (source, id) NOT IN (SELECT id, parent FROM nodes)": (
        "compares edges.id (EdgeId) with nodes.parent (NodeId)"
    ),
    "SELECT * FROM edges WHERE struct(label, id) = struct(label, target)": (
        "compares edges.id (EdgeId) with edges.target (NodeId)"
    ),
    "SELECT * FROM edges WHERE EXISTS (SELECT 1 FROM nodes WHERE nodes.id = edges.id)": (
        "compares nodes.id (NodeId) with edges.id (EdgeId)"
    ),
    "SELECT (SELECT max(name) FROM nodes WHERE parent = edges.id) AS x FROM edges": (
        "compares nodes.parent (NodeId) with edges.id (EdgeId)"
    ),
    "SELECT * FROM edges, LATERAL (SELECT name FROM nodes WHERE nodes.id = edges.id)": (
        "compares nodes.id (NodeId) with edges.id (EdgeId)"
    ),
    "SELECT count_if(id = source) AS n FROM edges": "compares edges.id (EdgeId) with edges.source (NodeId)",
    "SELECT filter(array(1), x -> id = source) AS l FROM edges": (
        "compares edges.id (EdgeId) with edges.source (NodeId)"
    ),
    "SELECT nullif(id, source) AS x FROM edges": "compares edges.id (EdgeId) with edges.source (NodeId)",
    "SELECT id FROM nodes UNION ALL SELECT id FROM edges": "mixes nodes.id (NodeId) with edges.id (EdgeId)",
    "SELECT id FROM nodes INTERSECT SELECT id FROM edges": (
        "compares nodes.id (NodeId) with edges.id (EdgeId)"
    ),
    "SELECT id FROM nodes EXCEPT SELECT id FROM edges": "compares nodes.id (NodeId) with edges.id (EdgeId)",
    "SELECT coalesce(id, source) AS x FROM edges": "mixes edges.id (EdgeId) with edges.source (NodeId)",
    "SELECT CASE WHEN label = 'a' THEN id ELSE source END AS x FROM edges": (
        "mixes edges.id (EdgeId) with edges.source (NodeId)"
    ),
    "SELECT lag(id, 1, source) OVER (ORDER BY label) AS x FROM edges": (
        "mixes edges.id (EdgeId) with edges.source (NodeId)"
    ),
    "SELECT * FROM edges UNPIVOT (k FOR what IN (id, source))": (
        "mixes edges.id (EdgeId) with edges.source (NodeId)"
    ),
    "SELECT who.name FROM nested WHERE who.id = id": "compares who.id (NodeId) with nested.id (EdgeId)",
    "WITH a AS (SELECT max(id) AS k FROM edges), b AS (SELECT min(id) AS k FROM nodes) "
    "SELECT * FROM a WHERE k = (SELECT k FROM b)": "compares edges.id (EdgeId) with nodes.id (NodeId)",
    "WITH RECURSIVE r AS (SELECT id AS k, 1 AS n FROM nodes UNION ALL "
    "SELECT e.id, n + 1 FROM r JOIN edges AS e ON e.source = r.k) SELECT * FROM r": (
        "mixes nodes.id (NodeId) with edges.id (EdgeId)"
    ),
}


@pytest.mark.parametrize("sql", REFUSED)
def test_columns_that_mean_different_things_are_kept_apart(tables: SparkSession, sql: str) -> None:
    assert refusal(tables.sql(sql)).message == f"'v' {REFUSED[sql]}"


def test_an_untyped_column_goes_with_every_other(tables: SparkSession) -> None:
    sql = "SELECT plain.id FROM plain JOIN nodes ON plain.id = nodes.id JOIN edges ON plain.id = edges.id"
    assert semantics(tables.sql(sql)).by_column == {}


def test_declared_types_are_as_good_as_metadata(tables: SparkSession) -> None:
    declared = {"Plain": {"ID": "EdgeId", "of_node": "NodeId"}}
    sql = "SELECT plain.id, of_node FROM plain JOIN nodes ON of_node = nodes.id"
    found = semantics(tables.sql(sql), declared)
    assert found.columns == (
        SemanticColumn(column_name="id", semantic_type="EdgeId"),
        SemanticColumn(column_name="of_node", semantic_type="NodeId"),
    )
    with pytest.raises(SemanticMismatch, match=r"compares plain.id \(EdgeId\) with nodes.id \(NodeId\)"):
        semantics(tables.sql("SELECT name FROM plain JOIN nodes USING (id)"), declared)


def test_a_declaration_that_contradicts_the_schema_is_refused(tables: SparkSession) -> None:
    assert semantics(tables.sql("TABLE nodes"), {"nodes": {"id": "NodeId"}}).validations[0].rule == "read"
    with pytest.raises(SemanticMismatch) as caught:
        semantics(tables.sql("TABLE nodes"), {"nodes": {"id": "FileId"}})
    assert caught.value.message == "'v' reads nodes.id (NodeId) as the declared nodes.id (FileId)"


def test_metadata_in_an_alias_says_what_a_value_means_from_here(tables: SparkSession) -> None:
    edges = tables.table("edges")
    meant = edges.select(F.col("id").alias("id", metadata={METADATA_KEY: "NodeId"}), "source")
    assert semantics(meant.where("id = source")).by_column == {"id": "NodeId", "source": "NodeId"}
    worked_out = edges.select(F.upper("label").alias("file", metadata={METADATA_KEY: "FileId"}), "id")
    assert refusal(worked_out.where("file = id")).message == (
        "'v' compares v.file (FileId) with edges.id (EdgeId)"
    )
    noted = edges.select(F.col("id").alias("k", metadata={"comment": "an edge"}))
    assert semantics(noted).columns == (SemanticColumn(column_name="k", semantic_type="EdgeId"),)


def test_a_frame_inside_a_query_is_a_part_of_it(tables: SparkSession) -> None:
    edges = tables.sql("SELECT id AS k FROM edges")
    frame = tables.sql("SELECT k FROM {e}", e=edges)
    assert semantics(frame).by_column == {"k": "EdgeId"}


def test_a_function_in_python_means_what_its_schema_says(tables: SparkSession) -> None:
    schema = StructType([column("id", "NodeId"), column("name", None)])
    frame = tables.table("edges").select("id", "label").mapInPandas(lambda batches: batches, schema)
    assert semantics(frame).by_column == {"id": "NodeId"}


def test_a_column_written_under_a_promise_must_mean_it(tables: SparkSession) -> None:
    sql = "SELECT id, source AS from_node, label FROM edges"
    found = semantics(tables.sql(sql), promised={"ID": "EdgeId", "label": "SymbolId"})
    assert found.columns == (
        SemanticColumn(column_name="id", semantic_type="EdgeId", metadata_key=METADATA_KEY),
        SemanticColumn(column_name="from_node", semantic_type="NodeId", metadata_key=METADATA_KEY),
        SemanticColumn(column_name="label", semantic_type="SymbolId", metadata_key=METADATA_KEY),
    )
    error = refusal(tables.sql(sql), promised={"from_node": "EdgeId"})
    assert error.message == "'v' writes edges.source (NodeId) into v.from_node (EdgeId)"
    assert "headwater.semantic_type" in error.next_step


def test_every_validation_is_recorded_once(tables: SparkSession) -> None:
    sql = (
        "WITH n AS (SELECT id FROM nodes UNION ALL SELECT source FROM edges) "
        "SELECT a.id FROM n AS a JOIN n AS b ON a.id = b.id AND a.id = b.id"
    )
    found = semantics(tables.sql(sql), promised={"id": "NodeId"})
    nodes = {"column_name": "nodes.id", "semantic_type": "NodeId", "metadata_key": METADATA_KEY}
    assert found.validations == (
        SemanticCheck(rule="mixed", other_column="edges.source", **nodes),
        SemanticCheck(rule="compared", other_column="nodes.id", **nodes),
        SemanticCheck(rule="written", other_column="v.id", **nodes),
    )
    alone = semantics(tables.sql("SELECT name FROM nodes"), promised={"name": "SymbolId"}).validations
    assert [(each.rule, each.column_name, each.other_column) for each in alone] == [("written", "v.name", "")]
