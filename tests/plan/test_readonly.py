"""A table of statements that must be refused, and of queries that must pass; each is tried for real."""

# ruff: noqa: E501  a statement stands on one line

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from headwater.errors import EngineFailed, HeadwaterError, NotReadOnly, NotResolved, SqlSyntax, UnknownDataset
from headwater.names import same_name
from headwater.plan import analyse_query, inspect_query
from headwater.plan.catalyst import read_plan
from headwater.plan.readonly import _ParsedLook, _query_error
from headwater.plan.tree import Node, Opaque

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.runtime import RunSession, SessionRuntime

LINE = "nobody may read this line"
KNOWN = ("people", "visits")

HOSTILE = (
    "SELECT input_file_name() FROM t",
    "SELECT input_file_block_start() FROM t",
    "SELECT current_user()",
    "SELECT current_user",
    "SELECT session_user(), user()",
    "SELECT * FROM node_id('a')",
    "DESCRIBE FUNCTION IDENTIFIER('ab' || 's')",
    "DESCRIBE FUNCTION IDENTIFIER('spark_catalog.default.abs')",
    "DROP TABLE people",
    "DROP VIEW people",
    "DROP TABLE IF EXISTS spark_catalog.default.canary",
    "CREATE TABLE x AS SELECT 1 AS a",
    "CREATE TABLE x (a INT) USING delta LOCATION '{out}'",
    "CREATE OR REPLACE TABLE delta.`{out}` AS SELECT 1 AS a",
    "CREATE TEMPORARY VIEW people AS SELECT 1 AS a",
    "CREATE OR REPLACE TEMP VIEW people AS SELECT 1 AS a",
    "CREATE VIEW x AS SELECT 1 AS a",
    "CREATE FUNCTION f AS 'java.lang.Runtime'",
    "CREATE TEMPORARY FUNCTION f() RETURNS INT RETURN 1",
    "CREATE DATABASE x",
    "CREATE NAMESPACE x",
    "DROP DATABASE default CASCADE",
    "ALTER TABLE people ADD COLUMN x INT",
    "ALTER VIEW people AS SELECT 1",
    "TRUNCATE TABLE people",
    "REPAIR TABLE people",
    "MSCK REPAIR TABLE people",
    "INSERT INTO people VALUES (9, 'x', array())",
    "INSERT OVERWRITE people SELECT * FROM people",
    "INSERT INTO delta.`{table}` SELECT * FROM people",
    "INSERT OVERWRITE DIRECTORY '{out}' USING parquet SELECT * FROM people",
    "INSERT OVERWRITE LOCAL DIRECTORY '{out}' STORED AS TEXTFILE SELECT 1",
    "INSERT INTO people REPLACE WHERE id = 1 SELECT 9, 'x', array()",
    "FROM people INSERT INTO a SELECT id INSERT INTO b SELECT name",
    "FROM people INSERT OVERWRITE DIRECTORY '{out}' USING csv SELECT id",
    "WITH x AS (SELECT 1 AS a) INSERT INTO delta.`{table}` SELECT * FROM x",
    "UPDATE delta.`{table}` SET id = 9",
    "UPDATE people SET id = 9",
    "DELETE FROM delta.`{table}`",
    "DELETE FROM people WHERE id = 1",
    "MERGE INTO delta.`{table}` t USING people s ON t.id = s.id WHEN MATCHED THEN DELETE",
    "VACUUM delta.`{table}` RETAIN 0 HOURS",
    "OPTIMIZE delta.`{table}`",
    "OPTIMIZE delta.`{table}` ZORDER BY (id)",
    "RESTORE TABLE delta.`{table}` TO VERSION AS OF 0",
    "CONVERT TO DELTA parquet.`{out}`",
    "DESCRIBE HISTORY delta.`{table}`",
    "DESCRIBE DETAIL delta.`{table}`",
    "GENERATE symlink_format_manifest FOR TABLE delta.`{table}`",
    "REORG TABLE delta.`{table}` APPLY (PURGE)",
    "CREATE TABLE delta.`{out}` SHALLOW CLONE delta.`{table}`",
    "SET spark.sql.ansi.enabled=false",
    "SET",
    "SET -v",
    "SET TIME ZONE 'UTC'",
    "SET VAR x = 1",
    "RESET",
    "RESET spark.sql.ansi.enabled",
    "SET CATALOG spark_catalog",
    "SET PATH = system.builtin",
    "ADD JAR '{file}'",
    "ADD FILE '{file}'",
    "ADD ARCHIVE '{file}'",
    "LIST JARS",
    "LIST FILES",
    "CACHE TABLE people",
    "CACHE LAZY TABLE x AS SELECT 1",
    "UNCACHE TABLE people",
    "CLEAR CACHE",
    "REFRESH TABLE people",
    "REFRESH '{folder}'",
    "REFRESH FUNCTION abs",
    "SHOW TABLES",
    "SHOW DATABASES",
    "SHOW FUNCTIONS",
    "SHOW COLUMNS IN people",
    "SHOW CREATE TABLE people",
    "SHOW TBLPROPERTIES people",
    "SHOW PARTITIONS people",
    "SHOW CATALOGS",
    "SHOW COLLATIONS",
    "SHOW PROCEDURES",
    "DESCRIBE TABLE people",
    "DESCRIBE people",
    "DESCRIBE EXTENDED delta.`{table}`",
    "DESCRIBE QUERY SELECT 1",
    "DESCRIBE DATABASE default",
    "DESCRIBE PROCEDURE x",
    "DESCRIBE FUNCTION spark_catalog.default.abs",
    "USE default",
    "USE CATALOG spark_catalog",
    "EXPLAIN SELECT 1",
    "EXPLAIN EXTENDED SELECT * FROM people",
    "EXPLAIN INSERT INTO people VALUES (1)",
    "ANALYZE TABLE people COMPUTE STATISTICS",
    "ANALYZE TABLES IN default COMPUTE STATISTICS",
    "CALL spark_catalog.system.proc()",
    "LOAD DATA LOCAL INPATH '{file}' INTO TABLE people",
    "GRANT SELECT ON people TO someone",
    "REVOKE ALL ON people FROM someone",
    "LOCK TABLE people EXCLUSIVE",
    "COMMENT ON TABLE people IS 'x'",
    "DECLARE VARIABLE x INT DEFAULT 1",
    "DECLARE OR REPLACE x = 5",
    "DROP TEMPORARY VARIABLE x",
    "EXECUTE IMMEDIATE 'SELECT 1'",
    "EXECUTE IMMEDIATE 'DROP TABLE people'",
    "BEGIN SELECT 1; END",
    "BEGIN DROP TABLE people; END",
    "BEGIN ATOMIC SELECT 1; END",
    "BEGIN DECLARE x INT DEFAULT 1; SELECT x; END",
    "SELECT 1; DROP TABLE people",
    "SELECT 1; SELECT 2",
    "SELECT 1;; DROP TABLE people;",
    "SELECT * FROM delta.`{table}`",
    "SELECT * FROM DELTA.`{table}`",
    "SELECT * FROM parquet.`{folder}`",
    "SELECT * FROM csv.`{file}`",
    "SELECT * FROM text.`{file}`",
    "SELECT * FROM json.`{file}`",
    "SELECT * FROM orc.`{file}`",
    "SELECT * FROM avro.`{file}`",
    "SELECT * FROM xml.`{file}`",
    "SELECT * FROM binaryFile.`{file}`",
    "SELECT * FROM `text`.`{file}`",
    "SELECT * FROM `org.apache.spark.sql.execution.datasources.text.TextFileFormat`.`{file}`",
    "SELECT * FROM jdbc.`jdbc:h2:mem:x`",
    "SELECT * FROM `{file}`",
    "SELECT * FROM `delta`.`file://{table}`",
    "TABLE text.`{file}`",
    "FROM text.`{file}` SELECT *",
    "FROM text.`{file}` |> SELECT *",
    "SELECT * FROM delta.`{table}` VERSION AS OF 0",
    "SELECT * FROM delta.`{table}@v0`",
    "SELECT * FROM people VERSION AS OF 0",
    "SELECT * FROM people TIMESTAMP AS OF '2020-01-01'",
    "SELECT * FROM people FOR SYSTEM_VERSION AS OF 0",
    "SELECT * FROM people@v0",
    "SELECT * FROM spark_catalog.default.canary",
    "SELECT * FROM default.canary",
    "SELECT * FROM canary",
    "SELECT * FROM global_temp.canary",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM system.information_schema.tables",
    "SELECT * FROM session.people",
    "SELECT * FROM system.session.people",
    "SELECT * FROM IDENTIFIER('text.`{file}`')",
    "SELECT * FROM IDENTIFIER('delta.`' || '{table}' || '`')",
    "SELECT * FROM IDENTIFIER(concat('peo', 'ple'))",
    "SELECT IDENTIFIER('reflect')('java.lang.System', 'getProperty', 'user.home')",
    "SELECT IDENTIFIER('ref' || 'lect')('java.lang.System', 'getProperty', 'user.home')",
    "SELECT (SELECT max(value) FROM text.`{file}`)",
    "SELECT 1 WHERE EXISTS (SELECT * FROM text.`{file}`)",
    "SELECT 1 WHERE 'x' IN (SELECT value FROM text.`{file}`)",
    "SELECT * FROM people, LATERAL (SELECT * FROM text.`{file}`) t",
    "WITH t AS (SELECT * FROM text.`{file}`) SELECT * FROM t",
    "WITH t AS (WITH u AS (SELECT * FROM text.`{file}`) SELECT * FROM u) SELECT * FROM t",
    "WITH RECURSIVE r(v) AS (SELECT value FROM text.`{file}` UNION ALL SELECT v FROM r WHERE false) SELECT * FROM r",
    "SELECT * FROM VALUES ((SELECT max(value) FROM text.`{file}`)) AS t(a)",
    "SELECT name FROM people GROUP BY GROUPING SETS ((name, (SELECT max(value) FROM text.`{file}`)))",
    "SELECT sum(id) OVER w FROM people WINDOW w AS (ORDER BY (SELECT max(value) FROM text.`{file}`))",
    "SELECT id FROM people ORDER BY (SELECT max(value) FROM text.`{file}`)",
    "SELECT id FROM people LIMIT (SELECT count(*) FROM text.`{file}`)",
    "SELECT transform(array(1), x -> (SELECT max(value) FROM text.`{file}`))",
    "SELECT id FROM people UNION SELECT value FROM text.`{file}`",
    "SELECT * FROM people PIVOT (max((SELECT max(value) FROM text.`{file}`)) FOR name IN ('a'))",
    "SELECT explode(array((SELECT max(value) FROM text.`{file}`)))",
    "SELECT * FROM explode(array((SELECT max(value) FROM text.`{file}`)))",
    "SELECT id FROM people LATERAL VIEW explode(array((SELECT max(value) FROM text.`{file}`))) x AS y",
    "SELECT * FROM range((SELECT count(*) FROM text.`{file}`))",
    "SELECT /*+ REPARTITION(2) */ * FROM text.`{file}`",
    "SELECT/**/*/**/FROM/**/text./**/`{file}`",
    "sElEcT * fRoM tExT.`{file}`",
    "SELECT TRANSFORM(id) USING 'cat {file}' AS (a) FROM people",
    "SELECT TRANSFORM(id) USING 'touch {out}' AS (a) FROM people",
    "FROM people MAP id USING 'cat {file}' AS a",
    "FROM people REDUCE id USING 'cat {file}' AS a",
    "SELECT * FROM (SELECT TRANSFORM(id) USING 'cat {file}' AS (a) FROM people)",
    "SELECT reflect('java.lang.System', 'getProperty', 'user.home')",
    "SELECT REFLECT('java.nio.file.Files', 'readString', 'x')",
    "SELECT `reflect`('java.lang.System', 'getProperty', 'user.home')",
    "SELECT java_method('java.lang.System', 'setProperty', 'canary', 'x')",
    "SELECT try_reflect('java.lang.System', 'getProperty', 'user.home')",
    "SELECT builtin.reflect('java.lang.System', 'getProperty', 'user.home')",
    "SELECT system.builtin.reflect('java.lang.System', 'getProperty', 'user.home')",
    "SELECT * FROM VALUES (reflect('java.lang.System', 'setProperty', 'canary', 'x')) AS t(a)",
    "SELECT id FROM people WHERE reflect('java.lang.System', 'setProperty', 'canary', 'x') = 'y'",
    "SELECT transform(array(1), x -> reflect('java.lang.System', 'setProperty', 'canary', 'x'))",
    "SELECT from_json('1', reflect('java.lang.System', 'setProperty', 'canary', 'x'))",
    "SELECT id FROM people LATERAL VIEW explode(array(reflect('java.lang.System', 'setProperty', 'canary', 'x'))) t AS y",
    "FROM people |> EXTEND reflect('java.lang.System', 'setProperty', 'canary', 'x') AS y",
    "SELECT from_protobuf(X'00', 'm', '{file}')",
    "SELECT to_protobuf(struct(1 AS a), 'm', '{file}')",
    "SELECT from_avro(X'00', '\"int\"', map('avroSchemaUrl', 'file://{file}'))",
    "SELECT from_xml('<p><a>1</a></p>', 'a INT', map('rowValidationXSDPath', '{file}'))",
    "SELECT schema_of_xml('<p><a>1</a></p>', map('rowValidationXSDPath', '{file}'))",
    "SELECT * FROM read_files('{file}')",
    "SELECT * FROM table_changes('people', 0)",
    "SELECT * FROM table_changes_by_path('{table}', 0)",
    "SELECT * FROM python_worker_logs()",
    "SELECT * FROM cloud_files('{file}')",
    "SELECT * FROM STREAM(people)",
    "SELECT * FROM STREAM people",
    "SELECT * FROM people WITH (path = '{file}')",
    "SELECT * FROM nothing_like_it(TABLE(people))",
    "SELECT * FROM people |> WHERE id IN (SELECT value FROM text.`{file}`)",
    "FROM people |> UNION (SELECT 1, value, array() FROM text.`{file}`)",
    "SELECT no_such_function(1)",
    "SELECT spark_catalog.default.f(1)",
    "SELECT * FROM people WHERE id = :x",
    "SELECT * FROM people WHERE id = ?",
    "SELECT",
    "SELEC 1",
    "(DROP TABLE people)",
    "SELECT * FROM (DROP TABLE people)",
    "CREATE FLOW f AS INSERT INTO people BY NAME SELECT 1",
    "CREATE STREAMING TABLE x AS SELECT 1",
    "CREATE MATERIALIZED VIEW x AS SELECT 1",
    "REFRESH MATERIALIZED VIEW x",
    "CREATE INDEX i ON TABLE people (id)",
    "SHOW EXTENSIONS",
    "DFS -ls /",
    "!ls",
    "SELECT xpath_string('<!DOCTYPE x SYSTEM \"file://{file}\"><x>1</x>', 'x')",
    "SELECT xpath('<!DOCTYPE x [<!ENTITY e SYSTEM \"file://{file}\">]><x>&e;</x>', 'x/text()')",
    "SELECT from_xml(name, 'a INT', options => map('rowValidationXSDPath', '{file}')) FROM people",
    "SELECT * FROM people VERSION AS OF (SELECT 0)",
    "SELECT * FROM people, text.`{file}`",
    "SELECT * FROM people JOIN text.`{file}` ON true",
    "SELECT count(*) FILTER (WHERE EXISTS (SELECT * FROM text.`{file}`)) FROM people",
    "SELECT CASE WHEN true THEN (SELECT max(value) FROM text.`{file}`) END",
    "SELECT id FROM people HAVING (SELECT max(value) FROM text.`{file}`) IS NULL",
    "SELECT id FROM people GROUP BY id HAVING (SELECT max(value) FROM text.`{file}`) IS NULL",
    "SELECT id FROM people QUALIFY row_number() OVER (ORDER BY (SELECT max(value) FROM text.`{file}`)) = 1",
    "SELECT named_struct('a', (SELECT max(value) FROM text.`{file}`)).a",
    "SELECT * FROM inline(array(struct((SELECT max(value) FROM text.`{file}`))))",
    "WITH people AS (SELECT * FROM text.`{file}`) SELECT 1",
    "SELECT * FROM people UNION ALL (SELECT * FROM (SELECT * FROM delta.`{table}`))",
)

HARMLESS = (
    "SELECT 1",
    "SELECT * FROM people",
    "select * from PEOPLE where ID > 1",
    "TABLE people",
    "FROM people SELECT id, name",
    "VALUES (1, 'a'), (2, 'b')",
    "SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(n, c)",
    "SELECT (SELECT max(id) FROM people) AS top",
    "SELECT id FROM people WHERE id IN (SELECT person FROM visits)",
    "SELECT id FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person = p.id)",
    "SELECT p.id, v.n FROM people p, LATERAL (SELECT count(*) AS n FROM visits WHERE person = p.id) v",
    "WITH a AS (SELECT id FROM people), b AS (SELECT id FROM a WHERE id > 1) SELECT * FROM b",
    "WITH people AS (SELECT id FROM people WHERE id > 1) SELECT * FROM people",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n",
    "SELECT id, row_number() OVER (PARTITION BY name ORDER BY id) AS r FROM people",
    "SELECT id, sum(id) OVER w FROM people WINDOW w AS (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "SELECT id, tag FROM people LATERAL VIEW explode(tags) x AS tag",
    "SELECT id, tag FROM people LATERAL VIEW OUTER posexplode(tags) x AS p, tag",
    "SELECT explode(tags) FROM people",
    "SELECT * FROM explode(array(1, 2, 3))",
    "SELECT * FROM people p, LATERAL explode(p.tags) AS t(tag)",
    "SELECT * FROM range(5)",
    "SELECT * FROM range(0, 10, 2, 1)",
    "SELECT * FROM stack(2, 1, 2, 3, 4)",
    "SELECT * FROM inline(array(struct(1, 'a'), struct(2, 'b')))",
    "SELECT * FROM json_tuple('{\"a\":1,\"b\":2}', 'a', 'b')",
    "SELECT * FROM variant_explode(parse_json('[1,2]'))",
    "SELECT transform(tags, t -> upper(t)), filter(tags, t -> t <> 'x'), aggregate(array(1,2), 0, (a, x) -> a + x) FROM people",
    "SELECT get_json_object('{\"a\":1}', '$.a'), from_json('{\"a\":1}', 'a INT').a, to_json(struct(1 AS a)), schema_of_json('{\"a\":1}')",
    "SELECT from_xml('<p><a>1</a></p>', 'a INT').a, to_xml(struct(1 AS a)), schema_of_xml('<p><a>1</a></p>')",
    "SELECT map('a', 1)['a'], named_struct('x', 1).x, tags[0], element_at(tags, 1) FROM people",
    "SELECT name, count(*) FROM people GROUP BY name",
    "SELECT name, id, count(*) FROM people GROUP BY GROUPING SETS ((name), (id), ())",
    "SELECT name, count(*), grouping(name) FROM people GROUP BY ROLLUP (name)",
    "SELECT name, id, count(*) FROM people GROUP BY CUBE (name, id)",
    "SELECT name, count(*) AS n FROM people GROUP BY ALL HAVING count(*) > 0 ORDER BY ALL",
    "SELECT * FROM (SELECT name, id FROM people) PIVOT (sum(id) FOR name IN ('ann' AS a, 'bob' AS b))",
    "SELECT * FROM (SELECT 1 AS a, 2 AS b) UNPIVOT (v FOR k IN (a, b))",
    "SELECT id FROM people UNION SELECT person FROM visits",
    "SELECT id FROM people EXCEPT SELECT person FROM visits",
    "SELECT id FROM people INTERSECT ALL SELECT person FROM visits",
    "SELECT DISTINCT name FROM people ORDER BY name DESC NULLS LAST LIMIT 2 OFFSET 1",
    "SELECT * FROM people JOIN visits ON id = person",
    "SELECT * FROM people p LEFT JOIN visits v ON p.id = v.person",
    "SELECT * FROM people p FULL OUTER JOIN visits v ON p.id = v.person",
    "SELECT * FROM people p LEFT ANTI JOIN visits v ON p.id = v.person",
    "SELECT * FROM people CROSS JOIN visits",
    "SELECT * FROM (SELECT id AS person FROM people) NATURAL JOIN visits",
    "SELECT * FROM (SELECT id AS person FROM people) JOIN visits USING (person)",
    "SELECT * FROM people TABLESAMPLE (50 PERCENT)",
    "SELECT * FROM people TABLESAMPLE (2 ROWS)",
    "FROM people |> WHERE id > 1 |> EXTEND id * 2 AS double |> SELECT id, double |> ORDER BY id DESC |> LIMIT 1",
    "FROM people |> AGGREGATE count(*) AS n GROUP BY name |> AS t |> SET n = n + 1 |> DROP name",
    "FROM people |> JOIN visits ON id = person |> SELECT id",
    "SELECT /*+ BROADCAST(v) */ p.id FROM people p JOIN visits v ON p.id = v.person",
    "SELECT 'DROP TABLE people; INSERT INTO people VALUES (1)' AS words -- DELETE FROM people",
    "SELECT /* CREATE TABLE x AS SELECT 1 */ 1",
    "SELECT CASE WHEN id = 1 THEN 'one' ELSE 'more' END, CAST(id AS STRING), id::STRING, try_cast(name AS INT), if(id > 1, 1, 2), coalesce(name, 'x') FROM people",
    "SELECT DATE '2026-01-02' + INTERVAL 1 DAY, extract(YEAR FROM DATE '2026-01-02'), date_trunc('MONTH', TIMESTAMP '2026-01-02 03:04:05'), INTERVAL '1-2' YEAR TO MONTH, make_interval(1, 2)",
    "SELECT current_date(), current_timestamp(), version(), uuid(), rand(1)",
    "SELECT mask('abc', upperChar => 'X'), date_part('year', DATE '2026-01-02'), trim(BOTH 'x' FROM 'xax'), position('a' IN 'ba'), overlay('abc' PLACING 'x' FROM 2)",
    "SELECT any_value(name), max_by(name, id), percentile_cont(0.5) WITHIN GROUP (ORDER BY id), count(*) FILTER (WHERE id > 1), listagg(name, ',') WITHIN GROUP (ORDER BY name), approx_count_distinct(id) FROM people",
    "SELECT * EXCEPT (tags) FROM people",
    "SELECT struct(*) FROM people",
    "SELECT name LIKE 'a%', name RLIKE 'a', name ILIKE ANY ('A%', 'b%'), id BETWEEN 1 AND 2, name IS NULL, id IS DISTINCT FROM 1 FROM people",
    "SELECT first_value(id) IGNORE NULLS OVER (ORDER BY id), lag(id, 1) OVER (ORDER BY id), ntile(2) OVER (ORDER BY id) FROM people",
    "SELECT parse_json('{\"a\":[1]}'):a[0]::INT, variant_get(parse_json('{\"a\":1}'), '$.a', 'int')",
    "SELECT id AS a, a + 1 AS b FROM people",
    "SELECT collate(name, 'UNICODE_CI') = 'ANN' FROM people",
    "SELECT `id` FROM `People` AS `p p`",
    "SELECT assert_true(true), typeof(1), hash(1), xxhash64(1), sha2('a', 256), aes_encrypt('a', '0000111122223333') IS NULL",
    "SELECT count(DISTINCT name), sum(id) FROM people",
    "SELECT session_window.start, count(*) FROM (SELECT TIMESTAMP '2026-01-01 00:00:00' AS ts) GROUP BY session_window(ts, '5 minutes')",
    "SELECT window.start, count(*) FROM (SELECT TIMESTAMP '2026-01-01 00:00:00' AS ts) GROUP BY window(ts, '5 minutes')",
    "SELECT NULL AS nothing, X'00FF' AS bytes, 1.5BD AS dec, 1e3 AS dbl, array() AS none",
    "SELECT id FROM people ORDER BY 1",
    "SELECT id FROM people SORT BY id",
    "SELECT id FROM people DISTRIBUTE BY id",
    "SELECT * FROM people WHERE id = (SELECT min(id) FROM (VALUES (1), (2)) AS t(id))",
    "SELECT * FROM IDENTIFIER('people')",
    "SELECT sum(c) FROM (SELECT count(*) AS c FROM people UNION ALL SELECT count(*) FROM visits);",
    "DESCRIBE FUNCTION abs",
    "DESCRIBE FUNCTION EXTENDED upper",
    "DESC FUNCTION array_sort",
    "SELECT id FROM people QUALIFY row_number() OVER (ORDER BY id) = 1",
    "SELECT /*+ REPARTITION(3), COALESCE(2) */ * FROM people",
    "SELECT /*+ REBALANCE(id) */ * FROM people",
    "SELECT count(*) FROM VALUES (CURRENT_DATE), (DATE '2026-01-01') AS t(d)",
    "SELECT * FROM VALUES (1 + 1), (abs(-3)) AS t(a)",
    "SELECT id FROM people WHERE name IN ('a', 'b') OR id IN (1, 2, 3)",
    "SELECT * FROM people LEFT JOIN LATERAL (SELECT n FROM visits WHERE person = id) ON true",
    "SELECT from_csv('1,2', 'a INT, b INT', map('sep', ',')), from_json('{}', 'a INT', map('mode', 'FAILFAST'))",
    "SELECT '${env:HOME}' AS words",
)


@dataclass(frozen=True)
class Canary:
    """What a hostile statement could read or change."""

    folder: Path

    @property
    def places(self) -> dict[str, str]:
        return {
            "file": str(self.folder / "secret.txt"),
            "table": str(self.folder / "table"),
            "folder": str(self.folder),
            "out": str(self.folder / "out"),
        }

    def state(self) -> dict[str, str]:
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def canary(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Generator[Canary]:
    """A file, a Delta table that is also in the catalogue, and a global view, all with the secret in them."""
    folder = tmp_path_factory.mktemp("canary")
    (folder / "secret.txt").write_text(LINE + "\n")
    with runtime.checkout() as session:
        rows = session.spark.sql(f"SELECT 1L AS id, '{LINE}' AS name")
        rows.write.format("delta").save(str(folder / "table"))
        session.spark.sql(f"CREATE TABLE canary USING delta LOCATION '{folder}/table'")
        rows.createGlobalTempView("canary")
        yield Canary(folder)
        session.spark.sql("DROP TABLE canary")
        session.spark.catalog.dropGlobalTempView("canary")


@pytest.fixture(scope="module")
def people(runtime: SessionRuntime) -> Generator[RunSession]:
    """A session for all statements: what one of them left in it, the next would find."""
    with runtime.checkout() as session:
        rows = "VALUES (1L, 'ann', array('x', 'y')), (2L, 'bob', array('z')) AS t(id, name, tags)"
        session.spark.sql(f"SELECT * FROM {rows}").createOrReplaceTempView("people")
        session.spark.sql("SELECT * FROM VALUES (1L, 5) AS t(person, n)").createOrReplaceTempView("visits")
        yield session


@dataclass(frozen=True)
class World:
    """All that a statement could change; the settings stay in the JVM, which compares them faster."""

    files: dict[str, str]
    settings: tuple[Any, ...]

    @classmethod
    def seen(cls, people: RunSession, canary: Canary) -> World:
        sessions = (people, people.runtime.new_session())
        return cls(canary.state(), tuple(each.jvm_session.conf().getAll() for each in sessions))

    def is_still(self, now: World) -> bool:
        same = (before.equals(after) for before, after in zip(self.settings, now.settings, strict=True))
        return self.files == now.files and all(same)


@pytest.fixture(scope="module")
def world(people: RunSession, canary: Canary) -> World:
    """The world before the first statement, but after a query: those make their session a stricter one."""
    asked(people, "SELECT 1").collect()
    return World.seen(people, canary)


def asked(session: RunSession, sql: str) -> DataFrame:
    """The frame of a query over the two names that are known, as a project asks it."""
    query = inspect_query(session, sql)
    for name in query.reads:
        if same_name(name) not in KNOWN:
            raise UnknownDataset(name=name, known=KNOWN)
    return analyse_query(session, query, KNOWN)


@pytest.mark.parametrize("statement", HOSTILE)
def test_a_statement_that_does_more_than_read_is_refused(
    people: RunSession, canary: Canary, world: World, statement: str
) -> None:
    with pytest.raises((NotReadOnly, NotResolved, SqlSyntax, UnknownDataset)) as caught:
        asked(people, statement.format(**canary.places)).collect()
    error: HeadwaterError = caught.value
    assert error.exit_code == 1
    assert LINE not in f"{error} {error.next_step}"
    assert world.is_still(World.seen(people, canary))
    assert people.jvm.java.lang.System.getProperty("canary") is None
    assert people.spark.table("people").columns == ["id", "name", "tags"]


@pytest.mark.parametrize("sql", HARMLESS)
def test_a_query_that_only_reads_is_answered(people: RunSession, sql: str) -> None:
    java: Any = asked(people, sql)._jdf
    assert java.showString(5, 20, False)


def test_every_function_of_headwater_can_be_called(session: RunSession) -> None:
    """Those that run in Python, too; but nobody else's Python."""
    definitions = session.runtime.identity.functions.definitions
    examples = [example.sql for definition in definitions for example in definition.examples]
    assert len(asked(session, f"SELECT {', '.join(f'({sql})' for sql in examples)}").columns) == len(examples)
    session.spark.udf.register("borrowed", lambda: 1, "int")
    with pytest.raises((NotReadOnly, NotResolved)):
        asked(session, "SELECT borrowed()")


def test_the_tables_are_long_enough_to_mean_something() -> None:
    assert len(set(HOSTILE)) >= 200
    assert len(set(HARMLESS)) >= 90


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("SELECT 1", ()),
        ("SELECT * FROM B JOIN a", ("B", "a")),
        ("SELECT * FROM a JOIN A", ("a",)),
        ("WITH a AS (SELECT * FROM b) SELECT * FROM a", ("b",)),
        ("WITH a AS (SELECT * FROM A) SELECT * FROM a", ("A",)),
        ("WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b, c", ("c",)),
        ("WITH b AS (SELECT * FROM a), a AS (SELECT 1) SELECT * FROM a, b", ("a",)),
        ("WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT * FROM n) SELECT * FROM n", ()),
        ("SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a), a", ("a",)),
        ("SELECT * FROM VALUES ((SELECT max(x) FROM t)) AS v(x)", ("t",)),
        ("SELECT 1 FROM a GROUP BY GROUPING SETS ((x, (SELECT max(y) FROM t)))", ("a", "t")),
        ("SELECT sum(x) OVER w FROM a WINDOW w AS (ORDER BY (SELECT max(y) FROM t))", ("a", "t")),
        ("SELECT * FROM IDENTIFIER('t')", ("t",)),
        ("DESCRIBE FUNCTION abs", ()),
    ],
)
def test_the_names_that_a_query_reads_are_found_wherever_they_stand(
    session: RunSession, sql: str, reads: tuple[str, ...]
) -> None:
    found = inspect_query(session, sql).reads
    assert sorted(map(same_name, found)) == sorted(map(same_name, reads))


def test_a_variable_in_a_query_is_text(session: RunSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    frame = asked(session, "SELECT '${env:HOME} ${spark.master}' AS words")
    assert [row["words"] for row in frame.collect()] == ["${env:HOME} ${spark.master}"]


def test_the_error_names_what_was_found_and_what_to_do(people: RunSession) -> None:
    cases = {
        "DROP TABLE people": ("DropTable", "one SELECT"),
        "SELECT * FROM text.`/x`": ("text./x", "by name"),
        "SELECT reflect('a', 'b')": ("reflect, which runs code", "SELECT"),
        "SELECT xpath('<a/>', 'a')": ("xpath, which reads the file or address", "SELECT"),
        "SELECT * FROM read_files('/x')": ("read_files", "explode"),
        "SELECT * FROM people VERSION AS OF 1": ("AS OF", "last run"),
        "SELECT abss(1)": ("no function 'abss'", "Did you mean 'abs'?"),
        "DESCRIBE FUNCTION abss": ("no function 'abss'", "Did you mean 'abs'?"),
        "SELECT nme FROM people": ("`name`", "Correct the query"),
    }
    for sql, (found, remedy) in cases.items():
        with pytest.raises((NotReadOnly, NotResolved)) as caught:
            asked(people, sql)
        assert found in caught.value.message, sql
        assert remedy in caught.value.next_step, sql
    with pytest.raises(SqlSyntax) as wrong:
        asked(people, "SELECT 1\nFROM people WHERE )")
    assert (wrong.value.origin and str(wrong.value.origin)) == "SQL:2"


def test_a_look_goes_into_lists_and_stops_at_what_it_does_not_know(people: RunSession) -> None:
    parser = people.jvm_session.sessionState().sqlParser()
    plans = [
        read_plan(people.spark, parser.parsePlan(f"SELECT * FROM {name}"), is_resolved=False).root
        for name in ("a", "b")
    ]
    look = _ParsedLook(people)
    look.at(Node(kind="Union", sort="plan", fields={"children": tuple(plans), "odd": Opaque("java.lang.X")}))
    assert set(look.reads) == {"a", "b"}
    unknown = Node(kind="Union", sort="plan", fields={"odd": ((Opaque("some.SessionState"),),)})
    with pytest.raises(NotReadOnly, match="something unknown, SessionState"):
        look.at(unknown)


def test_an_inspection_leaves_no_active_session_behind(session: RunSession) -> None:
    sessions: Any = session.jvm.org.apache.spark.sql.classic.SparkSession
    before = sessions.getActiveSession().get()
    inspect_query(session, "SELECT 1")
    assert sessions.getActiveSession().get().equals(before)
    sessions.clearActiveSession()
    inspect_query(session, "SELECT 1")
    assert sessions.getActiveSession().isEmpty()


def test_a_lost_engine_is_not_the_fault_of_the_query() -> None:
    assert isinstance(_query_error(ConnectionResetError()), EngineFailed)


def test_a_plan_that_slips_by_the_parser_is_refused_after_analysis(
    people: RunSession, canary: Canary
) -> None:
    """The second look does not rely on the first: here the first never happened."""
    parser = people.jvm_session.sessionState().sqlParser()
    code = "SELECT reflect('java.lang.System', 'getProperty', 'user.home')"
    for sql in ("SELECT * FROM canary", "SELECT * FROM visits", "SHOW TABLES", code):
        query = inspect_query(people, "SELECT 1")
        slipped = type(query)(sql=sql, reads=(), plan=parser.parsePlan(sql))
        with pytest.raises(NotReadOnly):
            analyse_query(people, slipped, ("people",))
    text = parser.parsePlan(f"SELECT * FROM text.`{canary.places['file']}`")
    with pytest.raises(NotResolved):
        analyse_query(people, type(query)(sql="", reads=(), plan=text), ("people",))
