"""Scopes, bindings and sites are those of Python's own symbol table, and a few more that are told apart."""

from __future__ import annotations

import ast
import sys
import symtable
import sysconfig
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headwater.cpg.extract.scopes import ScopeEvidence, find_scopes

STDLIB = Path(sysconfig.get_paths()["stdlib"])
FILES = tuple(
    path for path in sorted(STDLIB.rglob("*.py")) if not {"site-packages", "lib2to3"} & set(path.parts)
)
FOLDED = ("<listcomp>", "<setcomp>", "<dictcomp>") if sys.version_info >= (3, 12) else ()
NAMES_OF_BLOCKS = {"<lambda>": "lambda", "<listcomp>": "listcomp", "<setcomp>": "setcomp"} | {
    "<dictcomp>": "dictcomp",
    "<genexpr>": "genexpr",
    "": "top",
}
KINDS = {"module": "module", "class": "class"} | dict.fromkeys(
    ("function", "lambda", "comprehension"), "function"
)


@dataclass
class Told:
    """One scope as the evidence tells it: its names, and of each what a symbol can be asked."""

    kind: str
    name: str
    line: int
    symbols: dict[str, dict[str, bool]] = field(default_factory=dict)
    children: list[Told] = field(default_factory=list)


def number(module: ast.Module) -> list[ast.AST]:
    """Give each node a row."""
    nodes = [ast.Pass(), *ast.walk(module)]
    for row, node in enumerate(nodes):
        node.__dict__["row"] = row
    return nodes


def told(module: ast.Module) -> Told:
    """The evidence as a tree that looks like a symbol table."""
    nodes = number(module)
    evidence = find_scopes(module)
    scopes, bindings = evidence.scopes, evidence.bindings
    trees: list[Told] = []
    for row, parent, kind, path in zip(
        scopes.node, scopes.parent, scopes.kind, scopes.qualpath, strict=True
    ):
        last = path.rpartition(".")[2].partition("#")[0]
        name = NAMES_OF_BLOCKS.get(last, last)
        tree = Told(KINDS.get(kind, kind), name, getattr(nodes[row], "lineno", 0))
        trees.append(tree)
        if parent is not None and kind != "annotation":
            trees[parent].children.append(tree)
    sites = sites_by_binding(evidence, nodes)
    for binding, scope in enumerate(bindings.scope):
        if bindings.kind[binding] != "instance_attr":
            known = bindings.mangled_name[binding] or bindings.name[binding]
            assert known not in trees[scope].symbols
            is_module = scopes.parent[scope] is None
            trees[scope].symbols[known] = answers(bindings.kind[binding], sites[binding], is_module)
    return trees[0]


def sites_by_binding(evidence: ScopeEvidence, nodes: list[ast.AST]) -> dict[int, set[str]]:
    """What there is of sites for each binding."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    sites, bindings = evidence.sites, evidence.bindings
    augmented = {node for node, kind in zip(sites.node, sites.def_kind, strict=True) if kind == "aug"}
    for binding, node, role, kind in zip(sites.binding, sites.node, sites.role, sites.def_kind, strict=True):
        if role == "declare" and isinstance(nodes[node], ast.Name):
            role = "lent"
        if role != "use" or node not in augmented:
            found[binding].add(kind or role)
        target = bindings.resolves_to[binding]
        if role in {"declare", "lent"} and bindings.kind[binding] == "global" and target is not None:
            found[target].add("declare")
    return found


def answers(kind: str, sites: set[str], is_module: bool) -> dict[str, bool]:
    """What Python's symbol would say."""
    defined = sites - {"use", "declare", "param", "import", "annotate"}
    bound_here = bool(defined - {"lent"} or sites & {"import", "annotate", "param"})
    goes_to_module = kind in {"global", "builtin"} and not is_module
    return {
        "parameter": kind == "param",
        "local": kind in {"param", "local", "class_attr", "import"} or (is_module and bound_here),
        "global": is_module or goes_to_module,
        "declared_global": bool(sites & {"declare", "lent"}) and (is_module or kind == "global"),
        "free": kind in {"free", "nonlocal"},
        "nonlocal": kind == "nonlocal",
        "imported": "import" in sites,
        "assigned": bool(defined or "annotate" in sites),
        "referenced": "use" in sites,
        "annotated": bool(sites & {"annotate", "ann"}),
    }


def asked(symbol: symtable.Symbol) -> dict[str, bool]:
    return {
        "parameter": symbol.is_parameter(),
        "local": symbol.is_local(),
        "global": symbol.is_global(),
        "declared_global": symbol.is_declared_global(),
        "free": symbol.is_free(),
        "nonlocal": symbol.is_nonlocal(),
        "imported": symbol.is_imported(),
        "assigned": symbol.is_assigned(),
        "referenced": symbol.is_referenced(),
        "annotated": symbol.is_annotated(),
    }


def differences(tree: Told, table: symtable.SymbolTable) -> list[str]:
    """Where the evidence and Python's symbol table do not say the same."""
    found: list[str] = []
    pairs = [(tree, table)]
    while pairs:
        mine, theirs = pairs.pop()
        place = f"{mine.kind} {mine.name}:{mine.line}"
        if (mine.kind, mine.name, mine.line) != (theirs.get_type(), theirs.get_name(), theirs.get_lineno()):
            found.append(f"{place} is {theirs}")
        symbols = {each.get_name(): each for each in theirs.get_symbols() if each.get_name()[0] != "."}
        found += [f"{place} {name}" for name in sorted(symbols.keys() ^ mine.symbols.keys())]
        for name in sorted(symbols.keys() & mine.symbols.keys()):
            expected = asked(symbols[name])
            wrong = [key for key, value in mine.symbols[name].items() if value != expected[key]]
            if wrong:
                found.append(f"{place} {name}: {wrong}")
        children = [sorted(mine.children, key=lambda each: (each.line, each.name))]
        tables = sorted(theirs.get_children(), key=lambda each: (each.get_lineno(), each.get_name()))
        if len(children[0]) != len(tables):
            found.append(f"{place} has {len(children[0])} scopes, not {len(tables)}")
        pairs += zip(children[0], tables, strict=False)
    return found


def compare(path: Path) -> list[str] | None:
    """The differences in a file; nothing of one that is no module of this Python."""
    content = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = symtable.symtable(content, str(path), "exec")
            module = ast.parse(content)
        except (SyntaxError, ValueError):
            return None
    return differences(told(module), table)
