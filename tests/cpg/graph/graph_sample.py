"""A small repository as evidence, made without a build, and words for its ids.

One file is in order, one has a statement that does not parse, one says nothing, one was left out, and on one
an extractor failed.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F

from headwater.cpg.evidence import EVIDENCE_COLUMNS, evidence_of
from headwater.cpg.extract import extract_file
from headwater.cpg.resolution import RESOLVED_FROM, resolve_rows
from headwater.cpg.resolve import Distributions
from headwater.digest import digest_of_bytes, stable_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

REPO = stable_id("repo", "sample")
LIBRARY = stable_id("repo", "library")
SMALL_REPO = Path(__file__).parents[3] / "examples" / "small_repo"
SHOP = b"""\
from . import base as b
class Basket(b.Base):
    limit = 3
def buy(basket, *names):
    if names:
        basket.add(*names, count=b)  # all
    return basket
"""
SOURCES: Mapping[str, bytes] = {
    "app/shop.py": SHOP,
    "app/wrong.pyi": b"x = (:\nprint(y)\n",
    "null.py": b"\0",
}
NOT_READ: Mapping[str, Mapping[str, str]] = {
    "failed.py": {"extract_error": "ValueError: 1"},
    "huge.py": {"skip_reason": "it is too large"},
}
_SCHEMA = (
    "repo_id STRING, path STRING, size_bytes BIGINT, content_sha256 STRING, skip_reason STRING, "
    "extract_error STRING, " + EVIDENCE_COLUMNS
)


@cache
def evidence_rows() -> list[dict[str, Any]]:
    """The rows of evidence, as plain values."""
    read: list[dict[str, Any]] = [
        {
            "repo_id": REPO,
            "path": path,
            "size_bytes": len(content),
            "content_sha256": digest_of_bytes(content),
        }
        | {
            name: value.to_pylist() if isinstance(value, pa.Array) else value
            for name, value in evidence_of(extract_file(REPO, path, content)).items()
        }
        for path, content in SOURCES.items()
    ]
    return [
        *read,
        *({"repo_id": REPO, "path": path, "size_bytes": 9, **why} for path, why in NOT_READ.items()),
    ]


def evidence_frame(spark: SparkSession) -> DataFrame:
    """The same as a frame."""
    rows: Any = evidence_rows()  # its types know no mappings
    return spark.createDataFrame(rows, _SCHEMA)


def library_frame(spark: SparkSession) -> DataFrame:
    """The evidence of the small repository among the examples."""
    rows: Any = [
        {"repo_id": LIBRARY, "path": path}
        | {
            name: value.to_pylist() if isinstance(value, pa.Array) else value
            for name, value in evidence_of(extract_file(LIBRARY, path, file.read_bytes())).items()
        }
        for file in sorted(SMALL_REPO.rglob("*.py"))
        for path in [file.relative_to(SMALL_REPO).as_posix()]
    ]
    return spark.createDataFrame(rows, _SCHEMA)


def resolution_frame(spark: SparkSession, evidence: DataFrame, repo_id: str) -> DataFrame:
    """What the files of a repository mean together, made of their evidence without a build."""
    columns = [f"{expression} AS {name}" for name, expression in RESOLVED_FROM.items()]
    asked = evidence.where("node_ids IS NOT NULL").selectExpr(*columns).toArrow()
    made = resolve_rows(asked, repo_id, Distributions(name="sample", version="1"))
    return spark.createDataFrame(made).withColumn("repo_id", F.lit(repo_id))


@cache
def names_of_ids() -> Mapping[str, str]:
    """Words for ids: of files, nodes, scopes, bindings, calls and points, each as the graph makes them."""
    named = {stable_id("node", REPO, "", "", 0, "REPO", ""): "repository"}
    for row in evidence_rows():
        named[stable_id("file", REPO, row["path"])] = row["path"]
        if "nodes" not in row:
            continue
        ids, nodes = row["node_ids"], row["nodes"]
        words = [_word_for(row, node) for node in nodes]
        named |= dict(zip(ids, words, strict=True))
        named |= {each["scope_id"]: f"scope {each['qualpath'] or 'module'}" for each in row["scopes"]}
        for each in row["bindings"]:
            named.setdefault(each["binding_id"], f"name {each['name']}")  # one that is no node
        named |= {
            stable_id("call", ids[each["node"]]): f"call {each['callee_text']}" for each in row["calls"]
        }
        for each in row["points"]:
            point = stable_id("cfg", ids[each["def_node"]], ids[each["node"]], each["kind"])
            named[point] = f"at {words[each['node']]}"
    return named


def _word_for(row: Mapping[str, Any], node: Mapping[str, Any]) -> str:
    """A def's kind and name, else the text and line; of what is in no tree its kind and what it is of.

    A statement that is an expression ends with a semicolon, so that the two differ.
    """
    kind, own = node["node_kind"], node["qualname"] or node["name"]
    if kind in {"FILE", "MODULE", "CLASS", "FUNCTION", "DIAGNOSTIC"}:
        return f"{kind.lower()} {own}"
    if kind in {"BINDING", "CFG_ENTRY", "CFG_EXIT"}:
        by = "failed " if kind == "CFG_EXIT" and node["props"] else ""
        owner = row["nodes"][node["owner"]]["name"]
        return " ".join([f"{by}{kind.lower().removeprefix('cfg_')}", *([own] if own else []), "of", owner])
    text = SOURCES[row["path"]][node["bstart"] : node["bend"]].decode().partition("\n")[0]
    return f"{text}{';' if node['ast_kind'] == 'Expr' else ''} {node['line']}"


def told(frame: DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of a frame in these columns, in order, with words in place of ids."""
    names = names_of_ids()
    rows: Any = frame.select(*columns).collect()
    told_rows = [
        tuple(names.get(value, value) if isinstance(value, str) else value for value in row) for row in rows
    ]
    return sorted(told_rows, key=str)
