"""Scopes, names and sites are those of Python's own symbol table; what differs is named here."""

from __future__ import annotations

import ast
import symtable
import sys
import sysconfig
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headwater.cpg.extract import extract_syntax
from headwater.cpg.extract.scopes import ScopeEvidence, find_scopes
from headwater.cpg.extract.syntax import walk_file
from headwater.cpg.extract.walk import row_of

STDLIB = Path(sysconfig.get_paths()["stdlib"])
FILES = tuple(
    path for path in sorted(STDLIB.rglob("*.py")) if not {"site-packages", "lib2to3"} & set(path.parts)
)
SHARES = 4
SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)  # one object for all trees
NAMES_OF_BLOCKS = {
    "": "top",
    "<lambda>": "lambda",
    "<listcomp>": "listcomp",
    "<setcomp>": "setcomp",
    "<dictcomp>": "dictcomp",
    "<genexpr>": "genexpr",
}
KINDS: dict[str, str] = {"lambda": "function", "comprehension": "function"}

# From 3.12 on, the symbol table has some comprehensions as a part of the scope around them.
FOLDED: frozenset[str] = frozenset(
    {"<listcomp>", "<setcomp>", "<dictcomp>"} if sys.version_info >= (3, 12) else ()
)
# What later Pythons call the scopes that they have added, and what they list there for themselves.
KINDS_OF_TABLES = {
    "type parameter": "type_params",
    "type parameters": "type_params",
    "type alias": "type_alias",
    "TypeVar bound": "annotation",
    "type variable": "annotation",
}
OF_PYTHON = frozenset({"__classdict__", "__type_params__"})


@dataclass
class Told:
    """One scope as the evidence tells it: its names, and of each what a symbol can be asked."""

    kind: str
    name: str
    line: int
    symbols: dict[str, dict[str, bool]] = field(default_factory=dict[str, dict[str, bool]])
    children: list[Told] = field(default_factory=list["Told"])
    folded: set[str] = field(default_factory=set[str])


def number(module: ast.Module) -> list[ast.AST]:
    """Give each node a row; the nodes come back by row."""
    nodes = [ast.Pass(), *(node for node in ast.walk(module) if not isinstance(node, SHARED))]
    for row, node in enumerate(nodes):
        node.__dict__["row"] = row
    return nodes


def last_name(qualpath: str) -> str:
    return qualpath.removesuffix(".<type_params>").rpartition(".")[2].partition("#")[0]


def told(evidence: ScopeEvidence, nodes: list[ast.AST]) -> Told:
    """The evidence as a tree that looks like a symbol table."""
    scopes, bindings = evidence.scopes, evidence.bindings
    trees: list[Told] = []
    for scope, (row, parent, kind) in enumerate(zip(scopes.node, scopes.parent, scopes.kind, strict=True)):
        last = last_name(scopes.qualpath[scope])
        if parent is not None and last in FOLDED:
            trees.append(trees[parent])
            continue
        tree = Told(KINDS.get(kind, kind), NAMES_OF_BLOCKS.get(last, last), getattr(nodes[row], "lineno", 0))
        trees.append(tree)
        if parent is not None and last != "<annotation>":
            trees[parent].children.append(tree)
    sites = sites_by_binding(evidence, nodes)
    for binding, scope in enumerate(bindings.scope):
        known = bindings.mangled_name[binding] or bindings.name[binding]
        if scope == 0 and bindings.kind[binding] == "builtin" and not sites[binding]:
            continue  # of the module only because functions read it
        if last_name(scopes.qualpath[scope]) in FOLDED:
            trees[scope].folded.add(known)
        elif bindings.kind[binding] != "instance_attr":
            assert known not in trees[scope].symbols
            trees[scope].symbols[known] = answers(bindings.kind[binding], sites[binding], scope == 0)
    return trees[0]


def sites_by_binding(evidence: ScopeEvidence, nodes: list[ast.AST]) -> dict[int, set[str]]:
    """What each binding has of sites: roles, and kinds of defs; a walrus in a comprehension is `lent` to it.

    What is declared in a function is declared for the module, and what is augmented is not used: so says
    the symbol table.
    """
    found: defaultdict[int, set[str]] = defaultdict(set)
    sites, bindings = evidence.sites, evidence.bindings
    augmented = {node for node, kind in zip(sites.node, sites.def_kind, strict=True) if kind == "aug"}
    for binding, node, role, kind in zip(sites.binding, sites.node, sites.role, sites.def_kind, strict=True):
        if role == "use" and node in augmented:
            continue
        is_lent = role == "declare" and isinstance(nodes[node], ast.Name)
        found[binding].add("lent" if is_lent else kind or role)
        target = bindings.resolves_to[binding]
        if role == "declare" and bindings.kind[binding] == "global" and target is not None:
            found[target].add(role)
    return found


def answers(kind: str, sites: set[str], is_module: bool) -> dict[str, bool]:
    """What Python's symbol would say."""
    defined = sites - {"use", "declare", "param", "import", "annotate"}
    is_bound = bool(defined - {"lent"} or sites & {"import", "annotate", "param"})
    return {
        "parameter": kind == "param",
        "local": kind in {"param", "local", "class_attr", "import"} or (is_module and is_bound),
        "global": is_module or kind in {"global", "builtin"},
        "declared_global": bool(sites & {"declare", "lent"}) and (is_module or kind == "global"),
        "free": kind in {"free", "nonlocal"},
        "nonlocal": kind == "nonlocal",
        "imported": "import" in sites,
        "assigned": bool(defined or "annotate" in sites),
        "referenced": "use" in sites,
        "annotated": bool(sites & {"annotate", "ann"}),
    }


def differences(tree: Told, table: symtable.SymbolTable) -> list[str]:
    """Where the evidence and Python's symbol table do not say the same."""
    found: list[str] = []
    pairs = [(tree, table)]
    while pairs:
        mine, theirs = pairs.pop()
        place = f"{mine.kind} {mine.name}:{mine.line}"
        kind = KINDS_OF_TABLES.get(str(theirs.get_type()), str(theirs.get_type()))
        if (mine.kind, mine.name, mine.line) != (kind, theirs.get_name(), theirs.get_lineno()):
            found.append(f"{place} is {theirs}")
        # A name with a dot is no name of the file: the first iterable of a comprehension is `.0` inside.
        symbols = {each.get_name(): each for each in theirs.get_symbols() if each.get_name()[0] != "."}
        names = mine.symbols.keys() | mine.folded
        found += [f"{place} {name}" for name in sorted((symbols.keys() ^ names) - OF_PYTHON)]
        for name in sorted((mine.symbols.keys() & symbols.keys()) - mine.folded):
            wrong = wrong_answers(mine, name, symbols[name])
            found += [f"{place} {name}: {wrong}"] if wrong else []
        children = sorted(mine.children, key=lambda each: (each.line, each.name))
        tables = sorted(theirs.get_children(), key=lambda each: (each.get_lineno(), each.get_name()))
        found += [f"{place} has {len(children)} scopes"] if len(children) != len(tables) else []
        pairs += zip(children, tables, strict=False)
    return found


def wrong_answers(mine: Told, name: str, symbol: symtable.Symbol) -> list[str]:
    # `symtable` takes every scope of the name `top` for the module. The symbol table has names of a class
    # that an annotation scope sees for global.
    unsure = {"global"} if mine.name == "top" and mine.line else set[str]()
    unsure |= {"global", "free"} if mine.kind in KINDS_OF_TABLES.values() else set()
    return [
        question
        for question, answer in mine.symbols[name].items()
        if question not in unsure and getattr(symbol, f"is_{question}")() != answer
    ]


def names_without_site(evidence: ScopeEvidence, nodes: list[ast.AST]) -> list[str]:
    sited = set(evidence.sites.node)
    sited |= {  # `(x): int` says nothing of x
        row_of(node.target)
        for node in nodes
        if isinstance(node, ast.AnnAssign) and not node.simple and node.value is None
    }
    return [
        f"{ast.dump(node)} has no site"
        for row, node in enumerate(nodes)
        if isinstance(node, ast.Name | ast.arg | ast.ClassDef | ast.FunctionDef | ast.alias)
        and row not in sited
        and getattr(node, "name", "") != "*"
    ]


def compare(path: Path) -> list[str] | None:
    """The differences in a file; nothing of one that is no module of this Python."""
    source = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = symtable.symtable(source, str(path), "exec")  # pyright: ignore[reportArgumentType]
            module = ast.parse(source)
        except (SyntaxError, ValueError):
            return None
    nodes = number(module)
    evidence = find_scopes(module)
    scopes = evidence.scopes
    assert (
        len(set(scopes.qualpath))
        == len(scopes.qualpath)
        == len({*zip(scopes.node, scopes.kind, strict=True)})
    )
    sites = evidence.sites
    targets = evidence.bindings.resolves_to
    meant = [each if targets[each] is None else targets[each] for each in sites.binding]
    for bindings in (sites.binding, meant):
        assert len({*zip(bindings, sites.node, sites.role, strict=True)}) == len(sites.node)
    return [*differences(told(evidence, nodes), table), *names_without_site(evidence, nodes)]


@pytest.mark.parametrize("share", range(SHARES))
def test_the_standard_library_has_the_scopes_and_symbols_that_python_finds(share: int) -> None:
    compared = {str(path): compare(path) for path in FILES[share::SHARES]}
    assert sum(each is not None for each in compared.values()) > 200
    assert {path: each for path, each in compared.items() if each} == {}


def told_of(source: str) -> list[str]:
    module = ast.parse(source)
    nodes = number(module)
    return differences(told(find_scopes(module), nodes), symtable.symtable(source, "a.py", "exec"))


def test_a_walrus_in_a_comprehension_of_a_module_binds_though_the_symbol_table_has_it_as_declared() -> None:
    assert told_of("f(x for y in z if (x := y))") == ["module top:0 x: ['local', 'assigned']"]
    assert told_of("def f(z): return [[x for _ in y if (x := y)] for y in z]") == []


def test_a_name_in_parentheses_is_not_annotated_and_without_a_value_is_not_there() -> None:
    assert told_of("(x): int = 1\n(y): int\nx: int") == []


def walked(source: str) -> ast.Module:
    """A module whose nodes have the rows that extraction gives them."""
    module = walk_file("repo", "a.py", source.encode()).module
    assert module is not None
    return module


def test_nodes_are_told_by_the_row_that_they_have_in_the_syntax() -> None:
    source = "import a.b\ndef f(c):\n  return a, c"
    nodes = extract_syntax("repo", "a.py", source.encode()).nodes
    module = walked(source)
    evidence = find_scopes(module)
    assert [nodes.ast_kind[row] for row in evidence.scopes.node] == ["Module", "FunctionDef"]
    assert evidence.scopes.node[0] == row_of(module) == 1
    assert [
        (evidence.bindings.name[binding], nodes.ast_kind[row], nodes.name[row])
        for binding, row in zip(evidence.sites.binding, evidence.sites.node, strict=True)
    ] == [
        ("a", "alias", "a.b"),
        ("f", "FunctionDef", "f"),
        ("c", "arg", "c"),
        ("a", "Name", "a"),
        ("c", "Name", "c"),
    ]


def test_the_columns_have_one_entry_each() -> None:
    evidence = find_scopes(walked("class C:\n  def f(self): self.x = __y\nprint([a for a in C])"))
    for columns in (evidence.scopes, evidence.bindings, evidence.sites):
        assert len({len(getattr(columns, name)) for name in columns.__slots__}) == 1


def test_an_empty_module_has_one_scope_and_no_name() -> None:
    evidence = find_scopes(walked(""))
    assert (evidence.scopes.kind, evidence.scopes.parent, evidence.scopes.qualpath) == (
        ["module"],
        [None],
        [""],
    )
    assert evidence.bindings.name == evidence.sites.node == []


def exported(source: str) -> list[str]:
    bindings = find_scopes(walked(source)).bindings
    return [name for name, each in zip(bindings.name, bindings.is_exported, strict=True) if each]


def test_public_names_of_a_module_that_it_does_not_import_are_exported() -> None:
    source = "import a\nfrom b import c\nd = e\n_f = 1\nclass G: h = 1\nc: int\ni: int"
    assert exported(source) == ["d", "G", "i"]
    assert exported("def f(a): global b, _c; b = _c = d = 1") == ["f", "b"]


def test_names_in_all_are_exported_and_no_other() -> None:
    assert exported("import a\nb = _c = 1\n__all__ = ['a', '_c', 'd']\ndef f(a): pass") == ["a", "_c"]


def test_a_builtin_is_not_exported() -> None:
    assert exported("__all__ = ['a', 'open', 'print']\na = open\ndef f(): print") == ["a"]


def deep(depth: int) -> str:
    return "".join(f"{' ' * level}if a:\n" for level in range(depth)) + " " * depth + "b = 1"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        pytest.param("b = " + "+".join(["a"] * 2_000), "b", id="sum"),
        pytest.param("b = a" + ".c" * 2_000, "b", id="attributes"),
        pytest.param("b = a" + "()" * 2_000, "b", id="calls"),
        pytest.param(deep(90), "b", id="blocks"),
        pytest.param("b = " + "lambda: " * 500 + "a", "b", id="lambdas"),
        pytest.param("b = " + "[" * 80 + "a" + " for a in a]" * 80, "b", id="comprehensions"),
    ],
)
def test_deep_code_is_no_harm(source: str, name: str) -> None:
    assert name in find_scopes(walked(source)).bindings.name


def test_code_that_is_deeper_than_this_parser_lets_it_be_is_no_harm() -> None:
    tree: ast.expr = ast.Name("a", ast.Load())
    for _ in range(10_000):
        tree = ast.BinOp(tree, ast.Add(), ast.Name("a", ast.Load()))
    module = ast.Module([ast.Expr(tree)], [])
    number(module)
    assert find_scopes(module).sites.binding == [0] * 10_001


@pytest.mark.parametrize(
    "source",
    [
        "nonlocal x",
        "def f(x): global x",
        "def f(): nonlocal x; x = 1",
        "def f(x, x): pass",
        "class C: [x for y in z if (x := y)]",
        "def f():\n  x = 1\n  global x",
        "def f(): from a import *",
        "return super",
    ],
)
def test_a_module_that_does_not_compile_has_scopes_too(source: str) -> None:
    assert find_scopes(walked(source)).scopes.kind[0] == "module"
