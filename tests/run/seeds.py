"""A project with one of everything that a number can change for, and changes to it of a known cause."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakes import TOML

import headwater

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.run import Project, RunDiff
    from headwater.runtime import SessionRuntime

TABLES = {
    "orders": "SELECT * FROM VALUES (1L, 1, 10.00BD), (2L, 1, 5.50BD), (3L, 2, 0.00BD), (4L, 3, 7.25BD) "
    "AS t(id, customer, amount)",
    "customers": "SELECT * FROM VALUES (1, 'AT', 'ann'), (2, 'DE', 'bob'), (3, 'AT', 'cyd') "
    "AS t(id, country, name)",
    "archive": "SELECT * FROM VALUES (9L, 3, 10.00BD) AS t(id, customer, amount)",
}
FILES = {
    "headwater.toml": TOML,
    "wording.py": "MARK = '!'\n\n\ndef marked(text):\n    return text + MARK\n",
    "data/rates/one.csv": "currency,rate\nEUR,1.0\nUSD,0.9\n",
    "views/paid.sql": "SELECT * FROM orders WHERE amount > 0\n",
    "views/facts.sql": "-- headwater: table\nSELECT p.id, p.amount, n.country, n.label FROM paid p "
    "JOIN named n ON p.customer = n.id\n",
    "views/totals.sql": "-- headwater: table\nSELECT country, sum(amount) AS amount, count(*) AS orders "
    "FROM facts GROUP BY country\n",
    "views/priced.sql": "-- headwater: table\nSELECT r.currency, r.rate, l.most FROM rates r "
    "JOIN limits l ON r.currency = l.currency\n",
    "views/everyone.sql": "-- headwater: table\nSELECT * FROM customers\n",
    "views/moments.sql": "-- headwater: table\nSELECT n, date_format(timestamp_seconds(n * 3600), 'dd HH') "
    "AS hour FROM calendar\n",
    "views/sources.py": """import headwater

headwater.source("orders", path="lake/orders")
headwater.source("customers", path="lake/customers")
headwater.source(
    "rates",
    path="data/rates",
    format="csv",
    schema="currency STRING, rate STRING",
    options={"header": "true"},
)
headwater.source("limits", rows=[("EUR", 100), ("USD", 50)], schema="currency STRING, most INT")


@headwater.source
def calendar(spark):
    return spark.range(3).withColumnRenamed("id", "n")
""",
    "views/python.py": """from pyspark.sql import functions as F

import headwater
from wording import marked


@headwater.pure
def loud(text):
    return marked(text.upper())


@headwater.view
def named(customers):
    return customers.withColumn("label", F.udf(loud, "string")("name"))


@headwater.table
def texts(customers):
    names = [each.name for each in customers.schema.fields if each.dataType.typeName() == "string"]
    return customers.select("id", *[F.upper(name).alias(name) for name in names])
""",
}


@dataclass
class Seeded:
    """One copy of the project, to change and build."""

    folder: Path
    runtime: SessionRuntime
    settings: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def project(self) -> Project:
        return headwater.open(self.folder, profile="local", settings=self.settings)

    def build(self, *, full: bool = False) -> str:
        """The id of the run that a build makes."""
        outcome = self.project.build(full=full)
        assert outcome.error is None, outcome.error
        return outcome.run_id

    def edit(self, file: str, old: str, new: str) -> None:
        """Replaces a text in a file that has it."""
        path = self.folder / file
        text = path.read_text()
        assert old in text, (file, old)
        path.write_text(text.replace(old, new))

    def write(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text)

    def sql(self, text: str) -> None:
        """Runs a statement from outside; {name} is a table of the lake, {tables.name} a stored one."""
        lake = {name: f"delta.`{self.folder / 'lake' / name}`" for name in TABLES}
        with self.runtime.checkout() as session:
            stored = f"delta.`{self.folder / '.headwater' / 'tables'}/"
            session.spark.sql(text.replace("{stored}/", stored).format(**lake)).collect()

    def diff(self, before: str, after: str, *, rows: bool = False) -> RunDiff:
        return self.project.diff(before, after, rows=rows)


def make_seeded(folder: Path, runtime: SessionRuntime) -> Seeded:
    """The project as it is before anything is changed."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with runtime.checkout() as session:
        for name, sql in TABLES.items():
            session.spark.sql(sql).coalesce(1).write.format("delta").save(str(folder / "lake" / name))
    return Seeded(folder, runtime)


def _anew(seeded: Seeded) -> None:
    shutil.rmtree(seeded.folder / ".headwater" / "tables" / "everyone")
    seeded.sql("CREATE TABLE {stored}/everyone` USING delta AS SELECT 1 AS id, 'XX' AS country, 'x' AS name")


def _all(*changes: Callable[[Seeded], None]) -> Callable[[Seeded], None]:
    def run(seeded: Seeded) -> None:
        for each in changes:
            each(seeded)

    return run


def sql(text: str) -> Callable[[Seeded], None]:
    return lambda seeded: seeded.sql(text)


def edit(file: str, old: str, new: str) -> Callable[[Seeded], None]:
    return lambda seeded: seeded.edit(file, old, new)


def write(file: str, text: str) -> Callable[[Seeded], None]:
    return lambda seeded: seeded.write(file, text)


def setting(key: str, value: str) -> Callable[[Seeded], None]:
    return lambda seeded: seeded.settings.update({key: value})


def remove(file: str) -> Callable[[Seeded], None]:
    return lambda seeded: (seeded.folder / file).unlink()


# What a cause is told by: its kind, its view, its name.
Told = tuple[str, str | None, str]
ORDERS: Told = ("input", "paid", "orders")
CUSTOMERS: set[Told] = {("input", "named", "customers")}
EVERYONE: Told = ("input", "everyone", "customers")
TEXTS: Told = ("input", "texts", "customers")
OF_CUSTOMERS: dict[str, set[Told]] = {
    "facts": CUSTOMERS,
    "totals": CUSTOMERS,
    "everyone": {EVERYONE},
    "texts": {TEXTS},
}
OF_ORDERS: dict[str, set[Told]] = {"facts": {ORDERS}, "totals": {ORDERS}}
ZONE: Told = ("setting", None, "spark.sql.session.timeZone")
PAID = edit("views/paid.sql", "amount > 0", "amount > 6")
PAID_CAUSE: Told = ("code", "paid", "Filter")
LOUD: Told = ("function", "named", "loud")
# What reads a table is made again with it, whichever of its columns that needs.
OF_LOUD: dict[str, set[Told]] = {"facts": {LOUD}, "totals": {LOUD}}
ADD_COLUMN = "ALTER TABLE {customers} ADD COLUMN (town STRING)"


def _for_all(*causes: Told) -> dict[str, set[Told]]:
    return {each: set(causes) for each in ("everyone", "facts", "moments", "priced", "texts", "totals")}


@dataclass(frozen=True)
class Seed:
    """A change, and the causes that each table that was made again, or differs, then has."""

    change: Callable[[Seeded], None]
    causes: dict[str, set[Told]]
    full: bool = False


SEEDS: dict[str, Seed] = {
    # code
    "a filter of a view that is not stored": Seed(PAID, {"facts": {PAID_CAUSE}, "totals": {PAID_CAUSE}}),
    "a filter that lets the same rows pass": Seed(
        edit("views/paid.sql", "amount > 0", "amount >= 0.01"), {"facts": {PAID_CAUSE}}
    ),
    "a query of a table": Seed(
        edit("views/totals.sql", "count(*)", "count(*) * 2"), {"totals": {("code", "totals", "Aggregate")}}
    ),
    "a column more": Seed(
        edit("views/totals.sql", "SELECT country", "SELECT country, max(id) AS newest"),
        {"totals": {("code", "totals", "its columns")}},
    ),
    "a view in python": Seed(
        edit("views/python.py", "F.upper(name)", "F.lower(name)"), {"texts": {("code", "texts", "Project")}}
    ),
    "a new table": Seed(
        write("views/few.sql", "-- headwater: table\nSELECT id FROM orders WHERE id < 3\n"),
        {"few": {("code", "few", "")}},
    ),
    "a table that is gone": Seed(remove("views/priced.sql"), {"priced": {("code", "priced", "")}}),
    "a view that becomes a table": Seed(
        edit("views/paid.sql", "SELECT", "-- headwater: table\nSELECT"),
        {"paid": {("code", "paid", "")}, "facts": {("code", "paid", "")}},
    ),
    "rows in the definition": Seed(
        edit("views/sources.py", '("USD", 50)', '("USD", 60)'), {"priced": {("code", "limits", "limits")}}
    ),
    "rows that a source makes": Seed(
        edit("views/sources.py", "spark.range(3)", "spark.range(4)"),
        {"moments": {("code", "calendar", "calendar")}},
    ),
    # data
    "rows appended": Seed(sql("INSERT INTO {orders} VALUES (5, 2, 3.00)"), OF_ORDERS),
    "rows deleted": Seed(sql("DELETE FROM {orders} WHERE id = 1"), OF_ORDERS),
    "rows updated": Seed(sql("UPDATE {customers} SET country = 'CH' WHERE id = 1"), OF_CUSTOMERS),
    "rows merged": Seed(
        sql(
            "MERGE INTO {orders} t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN "
            "UPDATE SET amount = 11"
        ),
        OF_ORDERS,
    ),
    "several commits": Seed(
        _all(*(sql(f"INSERT INTO {{orders}} VALUES ({each}, 2, 1.00)") for each in (6, 7, 8))), OF_ORDERS
    ),
    "an older version restored": Seed(
        _all(sql("DELETE FROM {orders}"), sql("RESTORE TABLE {orders} TO VERSION AS OF 0")),
        {"facts": {ORDERS}},
    ),
    "a file changed": Seed(
        edit("data/rates/one.csv", "USD,0.9", "USD,0.8"), {"priced": {("input", "priced", "rates")}}
    ),
    "a file more": Seed(
        write("data/rates/two.csv", "currency,rate\nUSD,0.7\n"), {"priced": {("input", "priced", "rates")}}
    ),
    "another place": Seed(edit("views/sources.py", 'path="lake/orders"', 'path="lake/archive"'), OF_ORDERS),
    # settings and policies
    "a time zone": Seed(setting("time_zone", "Europe/Vienna"), _for_all(ZONE)),
    "two settings": Seed(
        _all(setting("time_zone", "Asia/Tokyo"), setting("ansi", "false")),
        _for_all(ZONE, ("setting", None, "spark.sql.ansi.enabled")),
    ),
    "a policy": Seed(
        edit("headwater.toml", "[profiles", '[tables.totals]\norder_by = ["country"]\n\n[profiles'),
        {"totals": {("setting", "totals", "order_by")}},
    ),
    # functions
    "a function's body": Seed(edit("views/python.py", ".upper())", ".lower())"), OF_LOUD),
    "a module that a function uses": Seed(edit("wording.py", "text + MARK", "MARK + text"), OF_LOUD),
    "a constant that a function uses": Seed(edit("wording.py", "'!'", "'?'"), OF_LOUD),
    # schemas
    "a column of a source": Seed(
        sql(ADD_COLUMN),
        {
            "facts": {("schema", "named", "customers.town")},
            "everyone": {("schema", "everyone", "customers.town")},
            "texts": {("schema", "texts", "customers.town")},
        },
    ),
    "a column of another type": Seed(
        sql(
            "CREATE OR REPLACE TABLE {orders} USING delta AS SELECT id, customer, "
            "CAST(amount AS DECIMAL(12, 2)) AS amount FROM {orders}"
        ),
        {
            "facts": {ORDERS, ("schema", "paid", "orders.amount")},
            "totals": {ORDERS, ("schema", "paid", "orders.amount")},
        },
    ),
    "a declared schema": Seed(
        edit("views/sources.py", "rate STRING", "rate DOUBLE"), {"priced": {("schema", "priced", "rates")}}
    ),
    # writes from outside
    "rows of a table deleted": Seed(
        sql("DELETE FROM {stored}/facts` WHERE id = 1"), {"facts": {("outside_write", "facts", "facts")}}
    ),
    "a table written twice": Seed(
        _all(
            sql("UPDATE {stored}/totals` SET amount = 0"),
            sql("INSERT INTO {stored}/totals` VALUES ('X', 1, 1)"),
        ),
        {"totals": {("outside_write", "totals", "totals")}},
    ),
    "another table in its place": Seed(_anew, {"everyone": {("outside_write", "everyone", "everyone")}}),
    "rows of a source that was made": Seed(
        sql("INSERT INTO {stored}/calendar` VALUES (30)"),
        {"moments": {("outside_write", "calendar", "calendar")}},
    ),
    # several at once
    "code and data": Seed(
        _all(PAID, sql("UPDATE {customers} SET country = 'CH' WHERE id = 1")),
        {
            "facts": {PAID_CAUSE, *CUSTOMERS},
            "totals": {PAID_CAUSE, *CUSTOMERS},
            "everyone": {EVERYONE},
            "texts": {TEXTS},
        },
    ),
    "a function and a setting": Seed(
        _all(edit("wording.py", "'!'", "'?'"), setting("time_zone", "Europe/Vienna")),
        {**_for_all(ZONE), "facts": {ZONE, LOUD}, "totals": {ZONE, LOUD}},
    ),
    "data, code and a write from outside": Seed(
        _all(
            sql("INSERT INTO {orders} VALUES (5, 2, 3.00)"),
            edit("views/moments.sql", "'dd HH'", "'HH'"),
            sql("DELETE FROM {stored}/priced`"),
        ),
        {
            **OF_ORDERS,
            "moments": {("code", "moments", "Project")},
            "priced": {("outside_write", "priced", "priced")},
        },
    ),
    "a comment, and a column of a source": Seed(
        _all(edit("views/everyone.sql", "SELECT *", "-- all of them\nSELECT *"), sql(ADD_COLUMN)),
        {
            "facts": {("schema", "named", "customers.town")},
            "everyone": {("schema", "everyone", "customers.town")},
            "texts": {("schema", "texts", "customers.town")},
        },
    ),
    "nothing": Seed(lambda _: None, {}, full=True),
}
