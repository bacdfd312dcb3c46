"""`headwater ask`: a question about code, answered with its places.

Not here: how it is answered, and what an answer looks like.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.answers import answer_document, answer_dot, answer_lines, answer_mermaid
from headwater.cli.render import print_lines, write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.errors import WrongUsage
from headwater.inquiry import QUESTIONS, Asked, check_asked
from headwater.served import answer_from, socket_place, warehouse_of_graph

if TYPE_CHECKING:
    from headwater.inquiry import Answer

_SHOWN_FINDINGS = 200
_EXAMPLE = "headwater ask callers Cart.total --path src/shop"


def questions_text() -> str:
    """All questions, a line for each: what it takes, and what it tells."""
    heads = {" ".join([name, *each.takes]): each.tells for name, each in QUESTIONS.items()}
    width = max(map(len, heads))
    return "\n".join(f"{head:{width}}  {tells}" for head, tells in heads.items())


# The questions stand in a paragraph that is printed as it is written.
HELP = f"""Ask a code graph, as the last build left it: answers have places, and reasons.

A name is dotted, or the end of a dotted name (Cart.total), or path:line. While
`headwater serve` runs for the graph, answers come at once; else Spark is started.

\b
{questions_text()}

Example: {_EXAMPLE}
"""


_Question = Annotated[
    str | None, typer.Argument(metavar="QUESTION", help="One of those above. None: list them.")
]
_Names = Annotated[list[str] | None, typer.Argument(metavar="NAME", help="What it is about.")]
_Folder = Annotated[
    Path,
    typer.Option("--path", "-p", metavar="DIR", help="The repository's folder.", show_default="here"),
]
_Depth = Annotated[
    int | None,
    typer.Option(
        "--depth", metavar="N", min=0, help="The most steps, where edges are followed; 0: all there are."
    ),
]
_Diff = Annotated[
    str | None, typer.Option("--diff", metavar="REV", help="About what changed since a revision of git.")
]
_Since = Annotated[str | None, typer.Option("--since", metavar="REV", help="Compare with a revision of git.")]
_Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=0,
        help=f"The most findings; 0: all. Default: {_SHOWN_FINDINGS} as text, else all",
    ),
]
_Dot = Annotated[bool, typer.Option("--dot", help="A graph for Graphviz on stdout.")]
_Mermaid = Annotated[bool, typer.Option("--mermaid", help="A graph for Mermaid on stdout.")]
_NoServer = Annotated[bool, typer.Option("--no-server", help="Answer here, server or not.")]


@over_project
def ask(  # noqa: PLR0913, PLR0917  each is a flag that people type
    question: _Question = None,
    names: _Names = None,
    path: _Folder = Path(),
    depth: _Depth = None,
    diff: _Diff = None,
    since: _Since = None,
    limit: _Limit = None,
    dot: _Dot = False,
    mermaid: _Mermaid = False,
    no_server: _NoServer = False,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Ask a code graph; what the command line says of it is HELP."""
    if sum((shown.json, dot, mermaid)) > 1:
        raise WrongUsage(
            detail="--json, --dot and --mermaid ask for different forms", command="headwater ask"
        )
    if question is None:
        _list(shown)
        return
    words = tuple(_text(each) for each in names or ())
    asked = Asked(question=_text(question), names=words, depth=depth, diff=diff, since=since)
    check_asked(asked)
    answer = None if no_server else _served(path, place, asked, shown)
    if answer is None:
        answer = _found(path, place, asked, shown)
    if shown.json:
        write_json(answer_document(answer, limit or None))
    elif dot:
        sys.stdout.write(answer_dot(answer, limit or None))
    elif mermaid:
        sys.stdout.write(answer_mermaid(answer, limit or None))
    else:
        most = _SHOWN_FINDINGS if limit is None else limit or None
        print_lines(*answer_lines(answer, most, quiet=shown.quiet), no_color=shown.no_color)


def _served(path: Path, place: ProjectPlace, asked: Asked, shown: Shown) -> Answer | None:
    """The answer of a server that has the graph in memory; None if there is none."""
    served = socket_place(path, warehouse_of_graph(path, place.warehouse))
    answer = answer_from(served, asked)
    if shown.debug:
        words = "no server answers at" if answer is None else "answered by the server at"
        sys.stderr.write(f"{words} {served}\n")
    return answer


def _found(path: Path, place: ProjectPlace, asked: Asked, shown: Shown) -> Answer:
    """The answer of a graph that is read for it."""
    from headwater.cpg import answer_to  # noqa: PLC0415  who asks a server has no use for what follows
    from headwater.opening import graph_of  # noqa: PLC0415

    project = replace(place, graph=True).opened(path)
    with shown.progress() as listen:
        return answer_to(graph_of(project, listen), asked)


def _list(shown: Shown) -> None:
    if shown.json:
        listed = [
            {"question": name, "takes": each.takes, "tells": each.tells} for name, each in QUESTIONS.items()
        ]
        write_json({"questions": listed})
    else:
        example = f"Example: {_EXAMPLE}"
        print_lines(*questions_text().splitlines(), "", example, no_color=shown.no_color)


def _text(argument: str) -> str:
    """An argument without bytes that are no text."""
    return argument.encode("utf-8", "backslashreplace").decode()


ask.__doc__ = HELP
