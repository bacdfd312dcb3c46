"""The facts of a file in one numbering of nodes: what is added to the tree, and each kind of edge."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from headwater.cpg.extract import FileEvidence, extract_file
from headwater.cpg.extract.flow import reaching

STANDARD = Path(sysconfig.get_path("stdlib"))
FUNCTION = """\
def f(a, *rest):
    '''Doc.'''
    # why
    b = lambda c: a + c
    return [b(d) for d in rest]  # end
"""


def extracted(source: str) -> FileEvidence:
    return extract_file("repo", "a.py", source.encode())


def standard_files() -> list[Path]:
    found = sorted(each for each in STANDARD.rglob("*.py") if "site-packages" not in each.parts)
    return found[::40]


def ids_of(found: FileEvidence) -> list[str]:
    return found.syntax.nodes.node_id + found.facts.added.node_id


def told(source: str) -> list[str]:
    """A name for each node: its text, a def's qualname, and what it is of if it is in no tree.

    A statement that is an expression ends with a semicolon, so that the two differ.
    """
    found = extracted(source)
    nodes, added = found.syntax.nodes, found.facts.added
    names = ["file", "module"][: len(nodes.node_id)]
    for row in range(2, len(nodes.node_id)):
        text = source[nodes.bstart[row] : nodes.bend[row]].partition("\n")[0]
        names.append(nodes.qualname[row] or (f"{text};" if nodes.ast_kind[row] == "Expr" else text))
    for kind, name, owner, span, props in zip(
        added.node_kind, added.name, added.owner, added.span, added.props, strict=True
    ):
        by = "failed " if props == {"exit": "exception"} else ""
        where = source[slice(*span)] if span else name if owner is None else f"{name or ''}@{names[owner]}"
        names.append(f"{by}{kind.removeprefix('CFG_').lower()} {where}")
    return names


def edges(source: str, *kinds: str) -> list[tuple[str, ...]]:
    """The edges of these kinds in the words of `told`; the label stands last, if there is one."""
    names, columns = told(source), extracted(source).facts.relations.relations
    return [
        (*([kind] if len(kinds) > 1 else []), names[src], names[dst], *([label] if label else []))
        for kind, src, dst, label in zip(columns.kind, columns.src, columns.dst, columns.label, strict=True)
        if kind in kinds
    ]


def test_over_the_standard_library_numbers_are_in_range_and_nothing_is_there_twice() -> None:
    files = standard_files()
    assert len(files) > 30
    for file in files:
        path = file.relative_to(STANDARD).as_posix()
        found = extract_file("repo", path, file.read_bytes())
        ids, columns = ids_of(found), found.facts.relations.relations
        numbers = range(len(ids))
        assert len(set(ids)) == len(ids), path
        assert {*columns.src, *columns.dst, *found.facts.places} <= {*numbers}, path
        assert {*found.facts.defined, *found.facts.used} <= {*numbers}, path
        rows = [*zip(columns.kind, columns.src, columns.dst, columns.label, columns.ordinal, strict=True)]
        assert len(set(rows)) == len(rows), path
        scope_ids, binding_ids = found.facts.scope_ids, found.facts.binding_ids
        assert len(scope_ids) == len(set(scope_ids)) == len(found.facts.scopes.scopes.node), path
        assert len(binding_ids) == len(set(binding_ids)) == len(found.facts.scopes.bindings.name), path


def test_what_is_in_no_tree_comes_after_the_tree() -> None:
    source = "def f(a):\n    return print(a, f)  # end\n"
    # `f` and `print` in `f` stand for those of the module, so they are no nodes of their own.
    assert told(source)[len(extracted(source).syntax.nodes.node_id) :] == [
        *("binding f@module", "binding a@f", "binding print@module"),
        *("entry @module", "exit @module", "failed exit @module"),
        *("entry @f", "exit @f", "failed exit @f"),
        "comment # end",
    ]


def test_added_nodes_say_what_they_are_about() -> None:
    found = extracted("#!python\nx: int\ndef f(a): a = 1\n")
    added, kinds = found.facts.added, found.syntax.nodes.ast_kind
    about = {
        (kind, name): None if of is None else kinds[of]
        for kind, name, of in zip(added.node_kind, added.name, added.of, strict=True)
    }
    assert about["BINDING", "a"] == "arg"  # where it is bound first
    assert about["BINDING", "f"] == "FunctionDef"
    assert about["BINDING", "x"] is None  # annotated, never bound
    assert added.props[added.name.index("a")] == {"kind": "param"}
    assert added.props[added.node_kind.index("COMMENT")] == {"kind": "shebang"}


def test_binds_are_the_names_of_a_scope_that_stand_for_themselves() -> None:
    source = "x = 1\nclass C:\n    y = 2\n    def __init__(self):\n        self.z = x\n"
    assert edges(source, "BINDS") == [
        ("module", "binding x@module"),
        ("module", "binding C@module"),
        ("C", "binding y@C"),
        ("C", "binding __init__@C"),
        ("C.__init__", "binding self@C.__init__"),
        ("C", "binding z@C"),
    ]


def test_sites_refer_to_what_they_stand_for_wherever_that_is() -> None:
    source = "x = 1\ndef f():\n    global x\n    x += 1\n    del x\n"
    assert edges(source, "REFERS_TO") == [
        ("x", "binding x@module", "def"),
        ("f", "binding f@module", "def"),
        ("x", "binding x@module", "use"),
        ("x", "binding x@module", "def"),
        ("x", "binding x@module", "del"),
    ]


def test_a_builtin_is_one_name_of_the_module_whoever_reads_it() -> None:
    source = "def f(): print\nclass C:\n def g(self): print\n"
    assert [way for way in edges(source, "BINDS") if "print" in way[1]] == [
        ("module", "binding print@module")
    ]
    assert edges(source, "READS") == [("f", "binding print@module"), ("C.g", "binding print@module")]


@pytest.mark.parametrize(
    "source",
    [
        "class C:\n def f(self): super().f()",
        "class C:\n def f(__class__): super().f()",
        "def f(): global x, x; x += 1",
        "def f(z): [[(x := y) for _ in z] for y in z]",
        "class C:\n def f(self): self.a += self.a",
        "from __future__ import annotations\nclass C:\n x: C\n def f(self: C) -> x: pass",
        "match x:\n case [x] | {1: x, **y} | (x as y): x",
    ],
    ids=["super", "super-bound", "declared", "walrus", "attribute", "annotation", "patterns"],
)
def test_a_site_stands_for_a_name_once(source: str) -> None:
    columns = extracted(source).facts.relations.relations
    found = [*zip(columns.kind, columns.src, columns.dst, columns.label, columns.ordinal, strict=True)]
    assert len(set(found)) == len(found)


def test_defs_read_write_and_delete_names_each_once() -> None:
    source = "x = x\ndef f():\n    global x\n    x += x\n    del x\n"
    assert sorted(edges(source, "READS", "WRITES", "DELETES")) == [
        ("DELETES", "f", "binding x@module"),
        ("READS", "f", "binding x@module"),
        ("READS", "module", "binding x@module"),
        ("WRITES", "f", "binding x@module"),
        ("WRITES", "module", "binding f@module"),
        ("WRITES", "module", "binding x@module"),
    ]


def test_what_stands_in_the_head_of_a_def_is_done_by_the_def_around() -> None:
    source = "x = 1\n@x\ndef f(a: x = x()): x\nclass C(x): pass\nx = lambda b=x: b\n"
    assert sorted(edges(source, "READS")) == [
        ("f", "binding x@module"),
        ("lambda b=x: b", "binding b@lambda b=x: b"),
        ("module", "binding x@module"),
    ]
    nodes = extracted(source).syntax.nodes
    assert nodes.owner[nodes.node_kind.index("CALL")] == nodes.node_kind.index("MODULE")


@pytest.mark.parametrize(
    ("body", "held"),
    [
        ("return a, b", ["g"]),
        ("nonlocal a; a = 1", ["g"]),
        ("return lambda: a", ["g", "lambda: a"]),
        ("return b", []),
    ],
    ids=["free", "nonlocal", "passed-on", "global"],
)
def test_defs_capture_names_of_defs_around_them(body: str, held: list[str]) -> None:
    found = edges(f"b = 1\ndef f(a):\n    def g(): {body}\n", "CAPTURES")
    assert found == [(each.replace("g", "f.g"), "binding a@f") for each in held]


@pytest.mark.parametrize(
    ("source", "ways"),
    [
        (
            "if a: b\nelse: c",
            [
                ("CFG_NEXT", "entry @module", "a"),
                ("CFG_TRUE", "a", "b;"),
                ("CFG_FALSE", "a", "c;"),
                ("CFG_NEXT", "b;", "exit @module"),
                ("CFG_NEXT", "c;", "exit @module"),
            ],
        ),
        (
            "try: a\nexcept E: pass",
            [
                ("CFG_NEXT", "entry @module", "a;"),
                ("CFG_EXC", "a;", "except E: pass"),
                ("CFG_TRUE", "except E: pass", "pass"),
                ("CFG_NEXT", "a;", "exit @module"),
                ("CFG_NEXT", "pass", "exit @module"),
            ],
        ),
        (
            "while 1:\n if a: break\n if b: continue\n c",
            [
                ("CFG_NEXT", "entry @module", "1"),
                ("CFG_TRUE", "1", "a"),
                ("CFG_TRUE", "a", "break"),
                ("CFG_FALSE", "a", "b"),
                ("CFG_TRUE", "b", "continue"),
                ("CFG_NEXT", "continue", "1", "continue"),
                ("CFG_FALSE", "b", "c;"),
                ("CFG_NEXT", "c;", "1", "back"),
                ("CFG_NEXT", "break", "exit @module", "break"),
            ],
        ),
        (
            "match 1:\n case 2: pass",
            [
                ("CFG_NEXT", "entry @module", "1"),
                ("CFG_NEXT", "1", "case 2: pass"),
                ("CFG_NEXT", "case 2: pass", "pass", "case"),
                ("CFG_NEXT", "pass", "exit @module"),
                ("CFG_FALSE", "case 2: pass", "exit @module"),
            ],
        ),
        (
            "try: a\nfinally: pass\n'end'",
            [
                ("CFG_NEXT", "entry @module", "a;"),
                ("CFG_NEXT", "a;", "pass"),
                ("CFG_EXC", "a;", "pass"),
                ("CFG_NEXT", "pass", "'end';", "finally"),
                ("CFG_NEXT", "'end';", "exit @module"),
                ("CFG_NEXT", "pass", "failed exit @module", "finally"),
            ],
        ),
        (
            "a = (:\nb",
            [
                ("CFG_NEXT", "entry @module", "a = (:"),
                ("CFG_NEXT", "a = (:", "b;"),
                ("CFG_NEXT", "b;", "exit @module"),
            ],
        ),
    ],
    ids=["if", "try", "while", "match", "finally", "unparsed"],
)
def test_ways_lead_from_node_to_node(source: str, ways: list[tuple[str, ...]]) -> None:
    found = edges(source, "CFG_NEXT", "CFG_TRUE", "CFG_FALSE", "CFG_EXC")
    assert [way for way in found if way[0] != "CFG_EXC" or way[2] != "failed exit @module"] == ways


def test_an_exception_that_nothing_catches_leaves_by_an_end_of_its_own() -> None:
    source = "def f():\n    g()\n    return 1\n"
    assert edges(source, "CFG_EXC") == [("g();", "failed exit @f")]


def test_what_comes_before_or_after_on_every_way() -> None:
    source = "if a: b\nc"
    assert edges(source, "DOMINATES") == [
        ("entry @module", "a"),
        ("a", "b;"),
        ("a", "c;"),
        ("c;", "exit @module"),
        ("a", "failed exit @module"),
    ]
    assert edges(source, "POST_DOMINATES") == [
        ("a", "entry @module"),
        ("c;", "a"),
        ("c;", "b;"),
        ("exit @module", "c;"),
    ]


def test_a_node_that_is_met_twice_in_a_row_does_not_come_before_itself() -> None:
    found = edges("with a as (b, c): pass", "DOMINATES", "POST_DOMINATES")  # entered, then left by a failure
    assert [each for each in found if each[1] == each[2]] == []


def test_what_decides_about_what() -> None:
    assert edges("if a: b\nelse: c\nd", "CONTROL_DEP") == [("a", "b;", "true"), ("a", "c;", "false")]


def test_values_go_from_where_a_name_gets_one_to_where_it_is_read() -> None:
    source = "def f(a):\n    if a: b = 1\n    else: b, c = 2, a\n    return b\n"
    names, facts = told(source), extracted(source).facts
    rows = extracted(source).syntax.nodes.line
    pairs = {(names[src], rows[src], rows[dst]) for src, dst in zip(facts.defined, facts.used, strict=True)}
    assert pairs == {("a", 1, 2), ("a", 1, 3), ("b", 2, 4), ("b", 3, 4)}
    assert edges(source, "REACHING_DEF") == [
        (names[src], names[dst]) for src, dst in zip(facts.defined, facts.used, strict=True)
    ]


def test_a_value_does_not_go_past_another_of_the_same_name() -> None:
    source = "x = 1\nx = 2\nx\ndef f(): x"
    found = extracted(source)
    lines = found.syntax.nodes.line
    assert [lines[each] for each in found.facts.defined] == [2]
    assert [lines[each] for each in found.facts.used] == [3]  # and not into `f`, which is another def


def test_a_value_goes_into_the_comprehensions_of_its_def() -> None:
    assert ("a", "a") in edges("def f(a, c): return [a for b in c]", "REACHING_DEF")


def test_docstrings_and_comments_document_what_they_speak_of() -> None:
    assert edges(FUNCTION, "DOCUMENTS") == [
        ("'''Doc.'''", "f"),
        ("comment # why", "b = lambda c: a + c", "comment"),
        ("comment # end", "return [b(d) for d in rest]", "comment"),
    ]


def test_the_same_comment_twice_is_two_nodes() -> None:
    ids = ids_of(extracted("a  # same\nb  # same\ndef f():\n    c  # same\n"))
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    "source",
    ["a = (:\nb\nc = (:\nd\n", "from __future__ import annotations\ndef f(a: int): int\n"],
    ids=["diagnostics-of-one-code", "scopes-of-one-node"],
)
def test_what_is_alike_has_ids_of_its_own(source: str) -> None:
    found = extracted(source)
    for ids in (ids_of(found), found.facts.scope_ids, found.facts.binding_ids):
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("source", "codes"),
    [("a = (:\nb", ["syntax-error", "not-parsed"]), ("\0", ["null-bytes"]), ("return", ["compile-error"])],
    ids=["recovered", "failed", "refused"],
)
def test_what_is_wrong_is_a_node_of_the_file(source: str, codes: list[str]) -> None:
    found = extracted(source)
    assert [each.code for each in found.syntax.diagnostics] == codes
    assert edges(source, "HAS_DIAGNOSTIC") == [("file", f"diagnostic {code}") for code in codes]


def test_relations_of_syntax_are_among_the_edges() -> None:
    assert edges("f(a)", "ARGUMENT") == [("f(a)", "a")]


@pytest.mark.parametrize(
    "above",
    ["x = 1\n", "# why\n", "import f  # end\n", "def g(a):\n    return a  # end\n"],
    ids=["statement", "comment", "import", "function"],
)
def test_an_edit_above_a_function_changes_no_id_in_it(above: str) -> None:
    def ids_inside(source: str) -> list[tuple[str, str]]:
        found = extracted(source)
        nodes, added = found.syntax.nodes, found.facts.added
        inside = {nodes.qualname.index("f")}
        for row, owner in enumerate(nodes.owner):
            if owner in inside:
                inside.add(row)
        kept = [(nodes.node_kind[row], nodes.node_id[row]) for row in sorted(inside)]
        more = zip(added.node_kind, added.node_id, added.owner, strict=True)
        scopes = zip(found.facts.scope_ids, found.facts.scopes.scopes.node, strict=True)
        return [
            *kept,
            *((kind, node_id) for kind, node_id, owner in more if owner in inside),
            *(("SCOPE", scope_id) for scope_id, node in scopes if node in inside),
        ]

    before = ids_inside(FUNCTION)
    assert ids_inside(above + FUNCTION) == before
    kinds = [kind for kind, _ in before]
    assert {kind: kinds.count(kind) for kind in ("BINDING", "CFG_ENTRY", "CFG_EXIT", "COMMENT", "SCOPE")} == {
        "BINDING": 5,  # a, rest, b; c of the lambda, d of the comprehension
        "CFG_ENTRY": 2,  # the lambda is a def, too
        "CFG_EXIT": 4,
        "COMMENT": 2,
        "SCOPE": 3,
    }


def test_where_too_many_definitions_reach_too_many_uses_there_is_no_data_flow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reaching, "MOST_PAIRS", 0)
    found = extract_file("repo", "a.py", b"x = 1\ny = x\n").facts
    assert (found.defined, found.used) == ([], [])
    assert [each.code for each in found.said] == ["too-many-flows"]
    assert found.added.name[-1] == "too-many-flows"
