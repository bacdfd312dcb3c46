"""Questions that people ask of code: each is a function from a graph to an `Answer`, without any printing.

Code, code_query              definitions and edges in memory, and the query that gives them
Answer, Finding, Link         what an answer is
Graph                         a graph that can be asked
QUESTIONS, Asked, answer_to   all questions, and one way to answer each
callers, callees, refs, defs, impact, path
                              who calls, uses and breaks what
hierarchy, imports, cycles, dead, effects, exceptions, flow
                              classes, modules, what nothing needs, what is done to the world, ways of values
impact_since, api, hotspots   what changed since a revision, what is public, and what changes often
named, matching               what a name means
"""

from headwater.cpg.questions.asking import answer_to
from headwater.cpg.questions.calling import callees, callers, defs, impact, path, refs
from headwater.cpg.questions.changing import impact_since
from headwater.cpg.questions.churning import hotspots
from headwater.cpg.questions.classes import hierarchy
from headwater.cpg.questions.code import Code, code_query
from headwater.cpg.questions.doing import effects, exceptions
from headwater.cpg.questions.exposing import api
from headwater.cpg.questions.flows import flow
from headwater.cpg.questions.graph import Graph
from headwater.cpg.questions.modules import cycles, imports
from headwater.cpg.questions.naming import matching, named
from headwater.cpg.questions.unused import dead
from headwater.inquiry import QUESTIONS, Answer, Asked, Finding, Link

__all__ = [
    "QUESTIONS",
    "Answer",
    "Asked",
    "Code",
    "Finding",
    "Graph",
    "Link",
    "answer_to",
    "api",
    "callees",
    "callers",
    "code_query",
    "cycles",
    "dead",
    "defs",
    "effects",
    "exceptions",
    "flow",
    "hierarchy",
    "hotspots",
    "impact",
    "impact_since",
    "imports",
    "matching",
    "named",
    "path",
    "refs",
]
