"""Questions of a code graph: by the edges of `definitions`, against one plain table of all; and answers.

python bench/questions.py [FOLDER [WAREHOUSE]]

Without a folder it is Django's source, which pip brings; a warehouse is one that the folder's graph was built
in. Who calls and inherits from some definitions is asked of both tables in SQL, in turns: callers in a step,
impact from step to step until nothing new is found. Then every question is asked of a server by the real
command, once it has what it needs in memory.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from graph import fetch_django
from measuring import driver_memory, verdict

import headwater
from headwater.inquiry import QUESTIONS
from headwater.runtime import open_runtime
from headwater.serving import Server, socket_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.cpg import Graph
    from headwater.run import Project

HEADWATER = Path(sys.executable).parent / "headwater"
# Bars: how much faster the one is than the other, and seconds.
LEAST_RATIO, MOST_SECONDS = 5.0, 2.0
ROUNDS, SUBJECTS = 3, 3
TABLES = ("plain", "definitions")
# The kinds of edges that both tables have; calls count as in `definitions`.
CALLS = ("CALLS",)
IMPACT = ("CALLS", "INHERITS", "OVERRIDES")
EDGES = "SELECT edge_id, edge_kind, src_node_id, dst_node_id, file_id, rank, confidence FROM edges"


def write_plain(project: Project, spark: SparkSession, place: Path) -> None:
    """All edges of the graph as one plain table, a row for each, in no order."""
    file = place.with_suffix(".parquet")
    with project.query(EDGES) as result:
        rows = result.read_all()
    pq.write_table(rows, file)
    print(f"edges plain={len(rows)} rows", flush=True)
    spark.read.parquet(str(file)).repartition(8).write.format("delta").save(str(place))


def step(table: str, ids: list[str], kinds: tuple[str, ...]) -> str:
    """Who points to definitions by edges of some kinds, in SQL."""
    of, by = (", ".join(f"'{each}'" for each in some) for some in (kinds, ids))
    if table == "definitions":
        own = f"transform(filter(incoming, edge -> edge.edge_kind IN ({of})), edge -> edge.other_id)"
        return f"SELECT array_distinct({own}) FROM definitions WHERE node_id IN ({by})"  # noqa: S608
    where = f"dst_node_id IN ({by}) AND edge_kind IN ({of})"
    sure = "(edge_kind <> 'CALLS' OR rank = 1 OR confidence >= 0.5)"
    return f"SELECT collect_set(src_node_id) FROM plain WHERE {where} AND {sure}"  # noqa: S608


def found(spark: SparkSession, table: str, node: str, kinds: tuple[str, ...], *, far: bool) -> set[str]:
    """Who points to a definition; with `far`, who points to them, until nothing new is found."""
    known, front = {node}, [node]
    while front:
        rows = spark.sql(step(table, front, kinds)).collect()
        new = {each for row in rows for each in row[0]} - known
        known |= new
        front = sorted(new) if far else []
    return known


def compare(spark: SparkSession, question: str, ids: list[str], kinds: tuple[str, ...], *, far: bool) -> None:
    """Asks both tables in turns, and prints a line."""
    taken: dict[str, list[float]] = {table: [] for table in TABLES}
    are_same = True
    for number in range(ROUNDS + 1):
        for node in ids:
            answers: list[set[str]] = []
            for table in TABLES:
                began = time.perf_counter()
                answers.append(found(spark, table, node, kinds, far=far))
                taken[table] += [time.perf_counter() - began] if number else []  # the first warms both
            are_same = are_same and answers[0] == answers[1]
    plain, own = (statistics.median(taken[table]) for table in TABLES)
    words = "the same answers" if are_same else "other answers"
    figures = f"plain={plain:.2f}s definitions={own:.2f}s ratio={plain / own:.1f}"
    print(
        f"sql {question} {figures} bar={LEAST_RATIO} {verdict(plain / own >= LEAST_RATIO)}, {words}",
        flush=True,
    )


def show_plan(spark: SparkSession, node: str) -> None:
    """What is read of `definitions` for callers, as Spark plans it."""
    text: str = spark.sql(f"EXPLAIN FORMATTED {step('definitions', [node], CALLS)}").collect()[0][0]
    kept = ("Location", "PushedFilters", "ReadSchema")
    print(
        *(f"plan {line[:160]}" for line in text.splitlines() if line.startswith(kept)), sep="\n", flush=True
    )


def subjects_of(graph: Graph) -> list[int]:
    """Functions that a fair number of others call: not the busiest, whose impact is everything."""
    code = graph.code
    counts = {
        node: len(code.into(node, "CALLS")) for node, kind in enumerate(code.kinds) if kind == "function"
    }
    ranked = sorted((node for node in counts if not code.is_test[node]), key=lambda node: -counts[node])
    return ranked[20 : 20 + SUBJECTS] or ranked[:SUBJECTS]


def names_for(graph: Graph) -> dict[str, tuple[str, ...]]:
    """What each question is asked about."""
    code = graph.code
    busy = code.names[subjects_of(graph)[0]]
    classes = [node for node, kind in enumerate(code.kinds) if kind == "class"]
    base = code.names[max(classes, key=lambda node: len(code.into(node, "INHERITS")))]
    module = code.names[code.module_of(subjects_of(graph)[0]) or 0]
    special = {"hierarchy": (base,), "imports": (module,), "api": (module,), "path": (base, busy)}
    found = {"flow": (busy, busy), "hotspots": (), "dead": ()} | special
    return {name: found.get(name, (busy,) if each.takes else ()) for name, each in QUESTIONS.items()}


def ask_all(project: Project, graph: Graph) -> None:
    """Asks each question twice by the command, of a server, and prints how long the second answer takes."""
    place = ("--path", str(project.config.root), "--warehouse", str(project.warehouse.root))
    with Server(socket_of(project), lambda: graph, lambda: None) as server:
        ready = Event()
        thread = Thread(target=partial(server.serve, None, ready.set))
        thread.start()
        ready.wait()
        try:
            for question, names in names_for(graph).items():
                command = [str(HEADWATER), "ask", question, *names, *place, "--limit", "5"]
                first, second = (seconds_of(command) for _ in range(2))
                bar = verdict(second <= MOST_SECONDS)
                print(
                    f"ask {question} first={first:.2f}s warm={second:.2f}s bar={MOST_SECONDS}s {bar}",
                    flush=True,
                )
        finally:
            server.end()
            thread.join()


def seconds_of(command: list[str]) -> float:
    """How long somebody waits for a command, which must end well."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def compare_memory(spark: SparkSession, graph: Graph, ids: list[str]) -> None:
    """Callers and impact out of `definitions` in memory, as `ask` tells them, against the plain table."""
    names = [graph.code.names[graph.code.ids.index(each)] for each in ids]
    headwater.ask(graph, "callers", names[0])  # the first question of a server orders names by their ends
    for question, kinds, far in (("callers", CALLS, False), ("impact", IMPACT, True)):
        began = time.perf_counter()
        for name in names:
            headwater.ask(graph, question, name)
        own = (time.perf_counter() - began) / len(names)
        began = time.perf_counter()
        for node in ids:
            found(spark, "plain", node, kinds, far=far)
        plain = (time.perf_counter() - began) / len(ids)
        ratio = plain / own
        figures = f"plain={plain:.2f}s memory={own:.4f}s ratio={ratio:.0f}"
        print(f"ask {question} {figures} bar={LEAST_RATIO} {verdict(ratio >= LEAST_RATIO)}", flush=True)


def measure(folder: Path, warehouse: Path, scratch: Path) -> None:
    """Builds what there is no graph of yet, and prints all lines."""
    project = headwater.open(
        folder, graph=True, warehouse=warehouse, settings={"driver_memory": driver_memory()}
    )
    if not project.runs(1):
        project.build()
    graph = headwater.graph_of(project)
    ids = [graph.code.ids[node] for node in subjects_of(graph)]
    spark = open_runtime(project.profile).new_session().spark
    write_plain(project, spark, scratch / "plain")
    own = project.warehouse.root / "tables" / "definitions"
    for name, table in (("definitions", own), ("plain", scratch / "plain")):
        spark.read.format("delta").load(str(table)).createOrReplaceTempView(name)
    show_plan(spark, ids[0])
    compare(spark, "callers", ids, CALLS, far=False)
    compare(spark, "impact", ids, IMPACT, far=True)
    compare_memory(spark, graph, ids)
    ask_all(project, graph)


def main() -> None:
    """Measures the folder that is given, or Django's source."""
    with tempfile.TemporaryDirectory() as place:
        scratch = Path(place)
        folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else fetch_django(scratch)
        warehouse = Path(sys.argv[2]) if len(sys.argv) > 2 else scratch / "warehouse"  # noqa: PLR2004
        measure(folder, warehouse, scratch)


if __name__ == "__main__":
    main()
